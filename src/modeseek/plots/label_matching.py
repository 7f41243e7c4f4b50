"""Match the clusters of two partitions."""

from __future__ import annotations

import numpy as np
from scipy.optimize import linear_sum_assignment

from modeseek._common.resources import check_memory
from modeseek._common.types import IntArray

__all__ = ["match_labels"]


def match_labels(labels: IntArray, reference: IntArray) -> IntArray:
    """Renumber clusters after those of a reference partition so that as many points as possible keep their number.

    Clusters without a partner get new numbers. Points with the reference label -1 do not count.

    Examples
    --------
    >>> match_labels(np.array([1, 1, 0, 2]), np.array([0, 0, 1, 1]))
    array([0, 0, 1, 2])
    """
    a, b = int(labels.max()) + 1, int(reference.max()) + 1
    check_memory(16.0 * a * b, f"matching {a:,} clusters with {b:,}", "Reduce the number of clusters.")
    shared = np.zeros((a, b))
    np.add.at(shared, (labels[reference >= 0], reference[reference >= 0]), 1.0)
    matched, partners = linear_sum_assignment(-shared)
    numbers = np.full(a, -1, dtype=np.intp)
    numbers[matched] = partners
    rest = np.flatnonzero(numbers < 0)
    numbers[rest] = np.setdiff1d(np.arange(a + b), partners)[: len(rest)]
    return numbers[labels]
