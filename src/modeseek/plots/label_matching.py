"""Which clusters of two partitions belong together."""

from __future__ import annotations

import numpy as np
from scipy.optimize import linear_sum_assignment

from modeseek._common.resources import check_memory
from modeseek._common.types import IntArray

__all__ = ["alike"]


def alike(labels: IntArray, known: IntArray) -> IntArray:
    """Renumber clusters as those of a known partition that they share most points with; its noise counts for none.

    Examples
    --------
    >>> alike(np.array([1, 1, 0, 2]), np.array([0, 0, 1, 1]))
    array([0, 0, 1, 2])
    """
    a, b = int(labels.max()) + 1, int(known.max()) + 1
    check_memory(16.0 * a * b, f"matching {a:,} clusters with {b:,}", "Give fewer clusters.")
    shared = np.zeros((int(labels.max()) + 1, int(known.max()) + 1))
    np.add.at(shared, (labels[known >= 0], known[known >= 0]), 1.0)
    mine, theirs = linear_sum_assignment(-shared)
    name = np.full(len(shared), -1, dtype=np.intp)
    name[mine] = theirs
    rest = np.flatnonzero(name < 0)
    free = np.setdiff1d(np.arange(len(shared) + shared.shape[1]), theirs)
    name[rest] = free[: len(rest)]
    return name[labels]
