"""Renumbering of clusters, so that their numbers agree with those of an earlier clustering."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linear_sum_assignment

from modeseek._common.resources import check_memory
from modeseek._common.types import IntArray


def matched_clusters(overlap: NDArray[Any]) -> tuple[IntArray, IntArray]:
    """Return the pairs of clusters of two partitions that have most rows in common in total.

    Parameters
    ----------
    overlap : array of shape (a, b)
        Number of rows that each pair of clusters has in common. Pairs without common rows are not matched.

    Examples
    --------
    >>> matched_clusters(np.array([[5, 3, 0], [4, 0, 0], [0, 0, 0]]))
    (array([0, 1]), array([1, 0]))
    """
    rows, columns = linear_sum_assignment(overlap, maximize=True)
    shared = overlap[rows, columns] > 0
    return rows[shared], columns[shared]


def matched_labels(labels: ArrayLike, previous: ArrayLike) -> IntArray:
    """Renumber clusters so that as many rows as possible keep their earlier number.

    Parameters
    ----------
    labels : integer array of shape (n_samples,)
        Cluster of each row; negative for noise, which stays noise.
    previous : integer array of shape (n_samples,)
        Earlier cluster of each row; negative if the row had none.

    Returns
    -------
    labels : integer array of shape (n_samples,)
        The same clusters with new numbers. A cluster that matches no earlier cluster gets a number that no earlier
        cluster has. The number of an earlier cluster without a match is not used.

    Examples
    --------
    >>> matched_labels([0, 0, 0, 1, 1, 2], previous=[1, 1, 1, 0, 0, 0])
    array([1, 1, 1, 0, 0, 2])
    """
    new, old = np.asarray(labels), np.asarray(previous)
    if new.shape != old.shape:
        raise ValueError(f"labels and previous must have the same length; got {new.shape} and {old.shape}.")
    n_new, n_old = new.max(initial=-1) + 1, old.max(initial=-1) + 1
    both = (new >= 0) & (old >= 0)
    check_memory(16.0 * n_new * n_old, f"matching {n_new:,} clusters with {n_old:,}", "Reduce the number of clusters.")
    overlap = np.zeros((n_new, n_old))
    np.add.at(overlap, (new[both], old[both]), 1.0)
    rows, columns = matched_clusters(overlap)
    numbers = np.full(n_new, -1)
    numbers[rows] = columns
    numbers[numbers < 0] = n_old + np.arange((numbers < 0).sum())
    return np.where(new < 0, new, numbers[new] if n_new else new)


def match_to_model(model: Any, previous: Any) -> IntArray:
    """Return the labels of a fitted estimator with the cluster numbers of an estimator fitted earlier."""
    points = model.result_.index.points
    if "precomputed" in (points.geometry.metric, previous.result_.index.points.geometry.metric):
        raise ValueError(
            'match_labels needs coordinates, which metric="precomputed" does not have. If both models have the same '
            "rows, use modeseek.estimators.matching.matched_labels(model.labels_, previous.labels_)."
        )
    earlier = previous.predict(points.to_data(points.values))
    return matched_labels(model.result_.in_memory().labels, earlier[points.inverse])
