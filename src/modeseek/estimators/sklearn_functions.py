"""Functions with the names, signatures and results of functions of `sklearn.cluster`."""

import numpy as np
from numpy.typing import ArrayLike

from modeseek._common.types import Array, IntArray
from modeseek.estimators.advice import warn
from modeseek.estimators.mean_shift import MeanShift
from modeseek.selection.bandwidths import estimate_bandwidth


def mean_shift(
    X: ArrayLike,
    *,
    bandwidth: float | None = None,
    seeds: ArrayLike | None = None,
    bin_seeding: bool = False,
    min_bin_freq: int = 1,
    cluster_all: bool = True,
    max_iter: int = 300,
    n_jobs: int | None = None,
) -> tuple[Array, IntArray]:
    """Cluster rows as `sklearn.cluster.mean_shift` does: a flat kernel, and labels by the nearest centre.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The data.
    bandwidth : float, optional
        The bandwidth. If None, ``estimate_bandwidth(X)``.
    seeds, bin_seeding, min_bin_freq, cluster_all, max_iter, n_jobs
        As in `MeanShift`.

    Returns
    -------
    cluster_centers : array of shape (n_clusters, n_features)
    labels : integer array of shape (n_samples,)
        Cluster of each row; -1 for noise.

    Examples
    --------
    >>> from modeseek import mean_shift
    >>> centers, labels = mean_shift([[0.0], [0.2], [5.0]], bandwidth=1.0)
    >>> labels
    array([0, 0, 1])
    """
    model = MeanShift(
        estimate_bandwidth(X, n_jobs=n_jobs) if bandwidth is None else bandwidth,
        seeds=seeds,
        bin_seeding=bin_seeding,
        min_bin_freq=min_bin_freq,
        cluster_all=cluster_all,
        max_iter=max_iter,
        n_jobs=n_jobs,
        profile="flat",
        assign_labels="nearest",
    ).fit(X)
    return model.cluster_centers_, model.labels_


def get_bin_seeds(X: Array, bin_size: float, min_bin_freq: int = 1) -> Array:
    """Return the seeds of `MeanShift(bin_seeding=True)`, as `sklearn.cluster.get_bin_seeds` does.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
        The data.
    bin_size : float
        Width of the grid. With 0, the seeds are X.
    min_bin_freq : int, default=1
        Minimum number of rows around a corner of the grid.

    Returns
    -------
    seeds : array of shape (n_seeds, n_features)
        Corners of the grid with enough rows around them, in the order of the rows. If every row has a different corner,
        X is returned, with a warning.

    Examples
    --------
    >>> import numpy as np
    >>> from modeseek import get_bin_seeds
    >>> get_bin_seeds(np.array([[0.1], [0.2], [2.1]]), bin_size=1.0)
    array([[0.],
           [2.]])
    """
    if bin_size == 0:
        return X
    corners, first, counts = np.unique(np.round(X / bin_size), axis=0, return_index=True, return_counts=True)
    kept = np.flatnonzero(counts >= min_bin_freq)
    if len(kept) == len(X):
        warn(f"Binning data failed with bin_size={bin_size:g}: using the rows as seeds.")
        return X
    return corners[kept[np.argsort(first[kept])]] * bin_size
