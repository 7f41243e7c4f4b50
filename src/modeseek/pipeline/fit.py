"""The check of rows before a fit, and a fit whose warnings become notes and whose interruption is reported."""

import time
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from modeseek._common.hints import ScaleWarning
from modeseek._common.types import Array, Stage
from modeseek._storage import DataError, Table
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


def check_directions(job: PipelineJob, table: Table, complete: NDArray[np.bool_], scaled: Array) -> None:
    """Raise an error with the line of the first all-zero row, if the metric is "cosine"."""
    zero = ~scaled.any(axis=1) if job.metric == "cosine" else np.zeros(1, bool)
    if zero.any():
        raise DataError(
            f"{table.source}: {table.place(int(np.flatnonzero(complete)[np.argmax(zero)]))} is all zeros and has no "
            "direction, which the cosine metric needs: remove the row, or use the euclidean metric."
        )


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
