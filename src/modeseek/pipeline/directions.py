"""A check for rows of zeros, which have no direction for the cosine metric."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from modeseek._common.types import Array
from modeseek._storage import DataError, Table
from modeseek.pipeline.options import PipelineJob


def check_directions(job: PipelineJob, table: Table, complete: NDArray[np.bool_], scaled: Array) -> None:
    """Raise a `DataError` with the place of the first all-zero row of `scaled`, if the metric is "cosine"."""
    zero = ~scaled.any(axis=1) if job.metric == "cosine" else np.zeros(1, bool)
    if zero.any():
        raise DataError(
            f"{table.source}: {table.place(int(np.flatnonzero(complete)[np.argmax(zero)]))} is all zeros and has no "
            "direction, which the cosine metric needs: remove the row, or use the euclidean metric."
        )
