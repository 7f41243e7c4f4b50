"""Scores of a clustering against known labels (ACP, ALP and K), and agreement between partitions."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from modeseek._common.types import Array, IntArray

__all__ = ["acp", "alp", "best_jaccard", "k_score", "rand_agreement"]

NOISE = -1


def acp(y_true: ArrayLike, labels: ArrayLike, *, weighted: bool = False) -> float:
    """Return the average cluster purity: 1 if no cluster has rows of different labels.

    With n_qr rows of label r in cluster q, n_q rows in cluster q and N rows in all,

        ACP = (1 / Q) sum_q sum_r (n_qr / n_q)^2,

    and with `weighted=True` the average over clusters is weighted by n_q / N.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        True labels: numbers or strings. Rows whose true label is -1 are ignored.
    labels : array-like of shape (n,)
        Cluster of each row. Each row of cluster -1 (noise) counts as a cluster of its own.
    weighted : bool, default=False
        False averages over clusters as the paper does, so that a cluster of one row counts as much as a large one.
        True weights clusters by their size (Ajmera 2002).

    Returns
    -------
    float
        A number in (0, 1].

    References
    ----------
    J. Ajmera, H. Bourlard, I. Lapidot, I. McCowan, "Unknown-multiple speaker clustering using HMM", 2002.

    Examples
    --------
    >>> acp([0, 0, 1, 1], [0, 0, 0, 1])  # the purities are (2/3)^2 + (1/3)^2 = 5/9 and 1
    0.777...
    >>> acp([0, 0, 1, 1], [0, 0, 0, 1], weighted=True)  # 3/4 of 5/9 and 1/4 of 1
    0.666...
    """
    return _purities(y_true, labels, weighted)[0]


def alp(y_true: ArrayLike, labels: ArrayLike, *, weighted: bool = False) -> float:
    """Return the average label purity: 1 if no label is spread over several clusters.

    With n_qr rows of label r in cluster q, n_r rows of label r and N rows in all,

        ALP = (1 / R) sum_r sum_q (n_qr / n_r)^2,

    and with `weighted=True` the average over labels is weighted by n_r / N.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        True labels: numbers or strings. Rows whose true label is -1 are ignored.
    labels : array-like of shape (n,)
        Cluster of each row. Each row of cluster -1 (noise) counts as a cluster of its own.
    weighted : bool, default=False
        False averages over labels as the paper does. True weights labels by their size (Ajmera 2002).

    Returns
    -------
    float
        A number in (0, 1].

    Examples
    --------
    >>> alp([0, 0, 1, 1], [0, 0, 0, 1])  # label 0 lies in one cluster, label 1 in two halves: 1 and 1/2
    0.75
    """
    return _purities(y_true, labels, weighted)[1]


def k_score(y_true: ArrayLike, labels: ArrayLike, *, weighted: bool = False) -> float:
    """Return the geometric mean of ACP and ALP, the paper's K = sqrt(ACP * ALP).

    Report it together with the number of clusters: many clusters of one row increase the unweighted ACP.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        True labels: numbers or strings. Rows whose true label is -1 are ignored.
    labels : array-like of shape (n,)
        Cluster of each row. Each row of cluster -1 (noise) counts as a cluster of its own.
    weighted : bool, default=False
        If True, the averages in ACP and ALP are weighted by size (Ajmera 2002); if False, they are those of the paper.

    Returns
    -------
    float
        A number in (0, 1]; 1 if clusters and labels are the same partition.

    Examples
    --------
    >>> k_score(["a", "a", "b"], [7, 7, 3])
    1.0
    >>> k_score([0, 0, 1, 1], [0, 0, 0, 1])
    0.763...
    """
    cluster_purity, label_purity = _purities(y_true, labels, weighted)
    return float(np.sqrt(cluster_purity * label_purity))


def rand_agreement(first: IntArray, second: IntArray, weights: Array | None = None) -> float:
    """Return the adjusted Rand index of two partitions, given as integer labels 0, 1, ...

    scikit-learn's `adjusted_rand_score` accepts any labels, but is slower and has no weights. Here, a point of weight 3
    equals three points, and a point of weight 1/2 counts half in each pair.

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
    # `alone` is the part of the squares that pairs each point with itself
    both, one, other = (float(np.square(size, dtype=np.float64).sum()) - alone for size in sizes)
    pairs, most = mass * mass - alone, (one + other) / 2
    expected = one * other / pairs if pairs > 0 else most
    # 0 / 0 if both partitions have one cluster, or both have only clusters of one point: they are equal, so return 1
    return 1.0 if most - expected <= 1e-12 * alone else (both - expected) / (most - expected)


def best_jaccard(labels: IntArray, found: IntArray, weights: Array | None = None) -> Array:
    """Return for each cluster 0, 1, ... of `labels` its largest Jaccard index with a cluster of `found`.

    The Jaccard index of two sets is the weight of their intersection over the weight of their union. A cluster without
    points has index 0.

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


def _purities(y_true: ArrayLike, labels: ArrayLike, weighted: bool) -> tuple[float, float]:
    """Return ACP and ALP."""
    truth, unknown = _encode("y_true", y_true)
    found, noise = _encode("labels", labels)
    if len(truth) != len(found):
        raise ValueError(
            f"y_true and labels must have the same length; got {len(truth)} and {len(found)}: "
            "give one true label and one cluster for each row."
        )
    if unknown.all():
        raise ValueError("y_true is -1 for every row: give the true label of at least one row.")
    found = np.where(noise, len(found) + np.arange(len(found)), found)
    truth, found = (np.unique(each[~unknown], return_inverse=True)[1] for each in (truth, found))
    n_labels = int(truth.max()) + 1
    # one number for each pair of cluster and label
    pairs, counts = np.unique(found.astype(np.int64) * n_labels + truth, return_counts=True)
    squares = counts.astype(np.float64) * counts
    purities = []
    for group, members in ((pairs // n_labels, found), (pairs % n_labels, truth)):
        sizes = np.bincount(members).astype(np.float64)
        purity = np.bincount(group, weights=squares) / (sizes if weighted else sizes * sizes)
        purities.append(float(purity.sum() / sizes.sum() if weighted else purity.mean()))
    return purities[0], purities[1]


def _encode(name: str, values: ArrayLike) -> tuple[IntArray, NDArray[np.bool_]]:
    """Return the values encoded as integers 0, 1, ..., and a mask of the values that are -1."""
    array = np.asarray(values)
    if array.ndim != 1:
        raise ValueError(f"{name} must be one-dimensional, one entry for each row; got shape {array.shape}.")
    if array.size == 0:
        raise ValueError(f"{name} is empty: give at least one row.")
    if array.dtype.kind == "c":
        raise ValueError(f"{name} must contain integers or strings; got complex numbers.")
    missing = array != array  # NaN differs from itself
    if array.dtype.kind == "f":
        missing = ~np.isfinite(array)
    elif array.dtype.kind == "O":
        missing = missing | np.array([value is None for value in array])
    if np.any(missing):
        row = int(np.argmax(missing))
        raise ValueError(f"{name} is {array[row]} in row {row}: use -1 for rows without a label.")
    if array.dtype.kind == "O":
        # a dictionary, because values of mixed types cannot be sorted
        numbers: dict[object, int] = {}
        codes = np.array([numbers.setdefault(value, len(numbers)) for value in array], dtype=np.intp)
        return codes, np.array([value in (NOISE, "-1") for value in array], dtype=bool)
    # NumPy turns a list of -1 and strings into strings
    return np.unique(array, return_inverse=True)[1], array == ("-1" if array.dtype.kind in "UST" else NOISE)
