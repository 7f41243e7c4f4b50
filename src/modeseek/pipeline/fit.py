"""A fit whose warnings become notes, and whose interruption is reported instead of raised."""

import time
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

from modeseek._common.hints import ScaleWarning
from modeseek._common.types import Stage
from modeseek.pipeline.options import PipelineJob


class Fit(NamedTuple):
    """How a fit ended.

    Attributes
    ----------
    seconds : float
        Its duration.
    interrupted : bool
        Whether Ctrl-C ended it.
    """

    seconds: float
    interrupted: bool


def run_fit(job: PipelineJob, fit: Callable[[], Any]) -> Fit:
    """Call `fit`, and add its warnings to the notes of the job."""
    if job.progress is not None:
        job.progress(Stage("clustering"))
    start, interrupted = time.perf_counter(), False
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        # the pipeline has its own note on this, with the name of the column
        warnings.simplefilter("ignore", ScaleWarning)
        try:
            fit()
        except KeyboardInterrupt:
            interrupted = True
    seconds = time.perf_counter() - start
    for text in dict.fromkeys(str(warning.message) for warning in caught):
        job.note(text)
    return Fit(seconds, interrupted)
