"""Scores of a clustering against known labels: ACP, ALP and K, in the paper's and in Ajmera's weighting."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from modeseek._common.types import Array, IntArray

__all__ = ["acp", "alp", "best_jaccard", "k_score", "rand_agreement"]

NOISE = -1


class Contingency(NamedTuple):
    """How many rows of label r lie in cluster q, for the pairs that occur.

    Attributes
    ----------
    counts : (m,) array
        Rows of each pair that occurs, n_qr > 0.
    clusters, labels : (m,) integer array
        The pair: its cluster q and its label r.
    cluster_sizes : (Q,) array
        Rows of each cluster, n_q.
    label_sizes : (R,) array
        Rows of each label, n_r.
    """

    counts: Array
    clusters: IntArray
    labels: IntArray
    cluster_sizes: Array
    label_sizes: Array


def acp(y_true: ArrayLike, labels: ArrayLike, *, weighted: bool = False) -> float:
    """Average cluster purity: how far a cluster holds one label only.

    With n_qr rows of label r in cluster q, n_q rows in cluster q and N rows in all,

        ACP = (1 / Q) sum_q sum_r (n_qr / n_q)^2,

    and with `weighted=True` the average over clusters is weighted by n_q / N.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        True labels: numbers or strings. Rows whose true label is -1 are left out.
    labels : array-like of shape (n,)
        Clusters as found. Points labelled -1 (noise) count as one cluster each.
    weighted : bool, default=False
        False averages over clusters as the paper does, so that a singleton counts as much as a whole cluster;
        True weights by size (Ajmera 2002).

    Returns
    -------
    float
        A number in (0, 1]; 1 where no cluster mixes labels.

    References
    ----------
    J. Ajmera, H. Bourlard, I. Lapidot, I. McCowan, "Unknown-multiple speaker clustering using HMM", 2002.

    Examples
    --------
    >>> acp([0, 0, 1, 1], [0, 0, 0, 1])  # the clusters' purities are (2/3)^2 + (1/3)^2 = 5/9 and 1
    0.777...
    >>> acp([0, 0, 1, 1], [0, 0, 0, 1], weighted=True)  # 3/4 of 5/9 and 1/4 of 1
    0.666...
    """
    table = _contingency(y_true, labels)
    return _average_purity(table.counts, table.clusters, table.cluster_sizes, weighted)


def alp(y_true: ArrayLike, labels: ArrayLike, *, weighted: bool = False) -> float:
    """Average label purity: how far a label is kept in one cluster.

    With n_qr rows of label r in cluster q, n_r rows of label r and N rows in all,

        ALP = (1 / R) sum_r sum_q (n_qr / n_r)^2,

    and with `weighted=True` the average over labels is weighted by n_r / N.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        True labels: numbers or strings. Rows whose true label is -1 are left out.
    labels : array-like of shape (n,)
        Clusters as found. Points labelled -1 (noise) count as one cluster each.
    weighted : bool, default=False
        False averages over labels as the paper does; True weights by size (Ajmera 2002).

    Returns
    -------
    float
        A number in (0, 1]; 1 where no label is split.

    Examples
    --------
    >>> alp([0, 0, 1, 1], [0, 0, 0, 1])  # label 0 is whole, label 1 is split in halves: 1 and 1/2
    0.75
    """
    table = _contingency(y_true, labels)
    return _average_purity(table.counts, table.labels, table.label_sizes, weighted)


def k_score(y_true: ArrayLike, labels: ArrayLike, *, weighted: bool = False) -> float:
    """Return the geometric mean of ACP and ALP, the paper's K = sqrt(ACP * ALP).

    Report it beside the number of clusters: unweighted, left-over singletons push ACP up.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        True labels: numbers or strings. Rows whose true label is -1 are left out.
    labels : array-like of shape (n,)
        Clusters as found. Points labelled -1 (noise) count as one cluster each.
    weighted : bool, default=False
        False for the paper's averages, True for Ajmera's, weighted by size.

    Returns
    -------
    float
        A number in (0, 1]; 1 where clusters and labels are the same partition.

    Examples
    --------
    >>> k_score(["a", "a", "b"], [7, 7, 3])
    1.0
    >>> k_score([0, 0, 1, 1], [0, 0, 0, 1])
    0.763...
    """
    table = _contingency(y_true, labels)
    purity = _average_purity(table.counts, table.clusters, table.cluster_sizes, weighted)
    wholeness = _average_purity(table.counts, table.labels, table.label_sizes, weighted)
    return float(np.sqrt(purity * wholeness))


def rand_agreement(first: IntArray, second: IntArray, weights: Array | None = None) -> float:
    """Return the adjusted Rand index of two partitions given as whole numbers from 0 on.

    scikit-learn's `adjusted_rand_score` takes any labels, and for small data most of its time to look at them. A point
    of weight 3 is three points, and one of weight 1/2 counts half in each of its pairs.

    Examples
    --------
    >>> rand_agreement(np.array([0, 0, 1, 1]), np.array([1, 1, 0, 0]))
    1.0
    >>> rand_agreement(np.array([0, 0, 1]), np.array([0, 1, 1]), np.array([2.0, 1.0, 1.0]))
    0.0
    """
    number = first.astype(np.int64) * (int(second.max()) + 1) + second
    if weights is None:
        mass = alone = float(len(first))
        sizes = [np.unique(number, return_counts=True)[1], np.bincount(first), np.bincount(second)]
    else:
        mass, alone = float(weights.sum()), float((weights * np.minimum(weights, 1.0)).sum())
        cells = np.unique(number, return_inverse=True)[1]
        sizes = [np.bincount(which, weights=weights) for which in (cells, first, second)]
    # alone: what the squares count of points with themselves
    both, one, other = (float(np.square(size, dtype=np.float64).sum()) - alone for size in sizes)
    pairs, most = mass * mass - alone, (one + other) / 2
    expected = one * other / pairs if pairs > 0 else most
    # equal up to rounding: both are one cluster, or both are single points
    return 1.0 if most - expected <= 1e-12 * alone else (both - expected) / (most - expected)


def best_jaccard(labels: IntArray, found: IntArray, weights: Array | None = None) -> Array:
    """Return for each label, 0, 1, ..., its largest Jaccard index with a cluster of another partition.

    The index of two sets is the weight of what they share over the weight of what lies in either; a label without
    points has 0.

    Examples
    --------
    >>> best_jaccard(np.array([0, 0, 0, 1]), np.array([5, 5, 2, 2])).round(2)
    array([0.67, 0.5 ])
    """
    m = int(found.max()) + 1
    pairs, which = np.unique(labels.astype(np.int64) * m + found, return_inverse=True)
    own, other = pairs // m, pairs % m
    shared = np.bincount(which, weights=weights)
    sizes, sizes_found = np.bincount(labels, weights=weights), np.bincount(found, weights=weights)
    best = np.zeros(len(sizes))
    np.maximum.at(best, own, shared / (sizes[own] + sizes_found[other] - shared))
    return best


def _average_purity(counts: Array, groups: IntArray, sizes: Array, weighted: bool) -> float:
    # bincount adds up n_qr^2 within each group; n_q >= 1 because only groups that occur have a number
    squares = np.bincount(groups, weights=counts * counts, minlength=len(sizes))
    if weighted:
        return float((squares / sizes).sum() / sizes.sum())
    return float((squares / (sizes * sizes)).mean())


def _contingency(y_true: ArrayLike, labels: ArrayLike) -> Contingency:
    truth, truth_missing = _codes("y_true", y_true)
    found, found_noise = _codes("labels", labels)
    if len(truth) != len(found):
        raise ValueError(
            f"y_true and labels must have the same length; got {len(truth)} and {len(found)}: "
            "give one true label and one cluster for each row."
        )
    known = ~truth_missing
    if not known.any():
        raise ValueError(
            "y_true is -1 for every row, and such rows are left out: nothing is left to score; "
            "give the true label of at least one row."
        )
    # each noise point becomes a cluster of its own, numbered after the others
    found = np.where(found_noise, len(found) + np.arange(len(found)), found)
    truth = np.unique(truth[known], return_inverse=True)[1].reshape(-1)
    found = np.unique(found[known], return_inverse=True)[1].reshape(-1)
    n_labels = int(truth.max()) + 1
    # one number for each pair: at most n^2, which 64 bits hold up to three thousand million rows
    pairs, counts = np.unique(found.astype(np.int64) * n_labels + truth, return_counts=True)
    return Contingency(
        counts=counts.astype(np.float64),
        clusters=pairs // n_labels,
        labels=pairs % n_labels,
        cluster_sizes=np.bincount(found).astype(np.float64),
        label_sizes=np.bincount(truth).astype(np.float64),
    )


def _codes(name: str, values: ArrayLike) -> tuple[IntArray, NDArray[np.bool_]]:
    """Give numbers to the distinct values, 0, 1, ..., and mark those that are -1."""
    array = np.asarray(values)
    if array.ndim != 1:
        raise ValueError(f"{name} must be one-dimensional, one entry for each row; got shape {array.shape}.")
    if array.size == 0:
        raise ValueError(f"{name} is empty: give at least one row.")
    if array.dtype.kind == "c":
        raise ValueError(f"{name} must be whole numbers or strings; got complex numbers.")
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        row = int(np.argmin(np.isfinite(array)))
        raise ValueError(f"{name} is {array[row]} in row {row}: mark rows without a label with -1.")
    if array.dtype.kind == "O":
        # a dictionary, since values of mixed types have no order to sort by; NaN is what differs from itself
        for row, value in enumerate(array):
            if value is None or value != value:
                raise ValueError(f"{name} is {value} in row {row}: mark rows without a label with -1.")
        numbers: dict[object, int] = {}
        codes = np.array([numbers.setdefault(value, len(numbers)) for value in array], dtype=np.intp)
        return codes, np.array([value in (NOISE, "-1") for value in array], dtype=bool)
    codes = np.unique(array, return_inverse=True)[1].reshape(-1)
    # numpy makes strings of a list that mixes -1 and strings
    noise = array == "-1" if array.dtype.kind in "UST" else array == NOISE
    return codes, np.broadcast_to(noise, array.shape)
