"""The check of rows before a fit, and a call of `fit` that turns warnings into notes and reports Ctrl-C."""

import time
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from modeseek._common.hints import ScaleWarning
from modeseek._common.types import Array, Stage
from modeseek._storage.errors import DataError
from modeseek._storage.table import Table
from modeseek.pipeline.options import PipelineJob


class Fit(NamedTuple):
    """How a fit ended.

    Attributes
    ----------
    seconds : float
        Duration of the fit.
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
    """Call `fit`, add its warnings to the notes of the job, and return how it ended."""
    if job.progress is not None:
        job.progress(Stage("clustering"))
    start, interrupted = time.perf_counter(), False
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        # the preparer writes a note about this, with the name of the column
        warnings.simplefilter("ignore", ScaleWarning)
        try:
            fit()
        except KeyboardInterrupt:
            interrupted = True
    seconds = time.perf_counter() - start
    for text in dict.fromkeys(str(warning.message) for warning in caught):
        job.note(text)
    return Fit(seconds, interrupted)
