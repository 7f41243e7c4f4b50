"""Fits of one estimator at many bandwidths: the number of clusters against the bandwidth."""

import warnings
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from modeseek._common.distances import kth_distances
from modeseek._common.hints import AdviceWarning
from modeseek._common.types import Array, IntArray
from modeseek._common.validation import check_integer, check_state
from modeseek.estimators.chain_clusterer import ChainClusterer
from modeseek.estimators.mean_shift import MeanShift
from modeseek.estimators.stepwise import prepare_fit

# an automatic grid starts at the median distance of points to this nearest neighbour
NEAR_NEIGHBOR = 3
# number of points over which medians are computed
MEDIAN_POINTS = 200


class Plateau(NamedTuple):
    """A range of bandwidths with the same number of clusters.

    Attributes
    ----------
    n_clusters : int
    low, high : float
        Ends of the range, half-way (in the logarithm) to the next bandwidths of the grid.
    first, last : int
        Indices of the first and the last bandwidth in the grid.

    Examples
    --------
    >>> plateau = sweep_bandwidths([[0.0], [0.1], [5.0]], [0.5, 1.0, 2.0, 20.0]).longest()
    >>> plateau.n_clusters, plateau.first, plateau.last
    (2, 0, 2)
    """

    n_clusters: int
    low: float
    high: float
    first: int
    last: int

    @property
    def lifetime(self) -> float:
        """The ratio high / low."""
        return self.high / self.low


@dataclass(frozen=True, eq=False)
class BandwidthSweep:
    """Labels of an estimator at many bandwidths.

    Attributes
    ----------
    bandwidths : (m,) array
        Bandwidths in increasing order.
    labels : (m, n) integer array
        Labels of the rows at each bandwidth.
    n_clusters : (m,) integer array
        Number of clusters at each bandwidth, not counting noise.

    Examples
    --------
    >>> sweep = sweep_bandwidths([[0.0], [0.1], [5.0]], [0.05, 1.0, 20.0])
    >>> sweep.n_clusters
    array([3, 2, 1])
    """

    bandwidths: Array
    labels: IntArray
    n_clusters: IntArray

    def plateaus(self) -> list[Plateau]:
        """Return the ranges of bandwidths with the same number of clusters, in increasing order."""
        h, n = self.bandwidths, self.n_clusters
        starts = np.concatenate([[0], np.flatnonzero(np.diff(n)) + 1, [len(n)]])
        edges = np.concatenate([h[:1], np.sqrt(h[:-1]) * np.sqrt(h[1:]), h[-1:]])
        return [Plateau(int(n[a]), float(edges[a]), float(edges[b]), int(a), int(b) - 1) for a, b in pairwise(starts)]

    def longest(self) -> Plateau | None:
        """Return the plateau with the largest lifetime, of those with at least two clusters; None if there are none."""
        several = [each for each in self.plateaus() if each.n_clusters > 1]
        return max(several, key=lambda each: each.lifetime, default=None)


def sweep_bandwidths(
    X: ArrayLike,
    bandwidths: ArrayLike | None = None,
    *,
    estimator: ChainClusterer | None = None,
    n_bandwidths: int = 25,
) -> BandwidthSweep:
    """Fit an estimator at each of several bandwidths.

    `modeseek.plots.plot_cluster_counts` draws the result.

    Parameters
    ----------
    X : array-like of shape (n, d)
        The data.
    bandwidths : array-like of shape (m,), optional
        Positive numbers. If None, a geometric sequence of `n_bandwidths` numbers, from the median distance of points to
        a near neighbour to 1.2 times the median distance to the farthest point.
    estimator : MeanShift, BlurringMeanShift, StochasticMeanShift or DoublyStochasticMeanShift, optional
        The estimator to fit; it is not changed. Default: `MeanShift()`. For a `DoublyStochasticMeanShift`, `bandwidths`
        are the values of `h_inf`, and `h_min` and `h_max` are scaled by the same factor.
    n_bandwidths : int, default=25
        Number of bandwidths, if `bandwidths` is None.

    Returns
    -------
    sweep : BandwidthSweep

    Examples
    --------
    >>> sweep = sweep_bandwidths([[0.0], [0.1], [5.0], [5.1], [9.0]], [0.01, 1.0, 2.0, 40.0])
    >>> sweep.n_clusters
    array([5, 3, 3, 1])
    >>> sweep.longest().n_clusters
    3
    """
    data = check_state(X, name="X")
    model = MeanShift() if estimator is None else estimator
    if not isinstance(model, ChainClusterer):
        raise TypeError(
            "estimator must be a MeanShift, BlurringMeanShift, StochasticMeanShift or DoublyStochasticMeanShift; "
            f"got {type(model).__name__}."
        )
    h = _grid(data, check_integer("n_bandwidths", n_bandwidths, low=2)) if bandwidths is None else _given(bandwidths)
    used = prepare_fit(model, data).settings if model._bandwidth_parameter == "h_max" else None

    def fit(bandwidth: float) -> IntArray:
        each = clone(model)
        if used is None:
            each.set_params(bandwidth=bandwidth)
        else:
            low, middle, high = (used.bandwidths[name] for name in ("h_min", "h_inf", "h_max"))
            each.set_params(h_min=low / middle * bandwidth, h_inf=bandwidth, h_max=high / middle * bandwidth)
        return each.fit(data).labels_

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AdviceWarning)  # the smallest and the largest bandwidths would cause warnings
        labels = np.array([fit(bandwidth) for bandwidth in h.tolist()], dtype=np.int32)
    return BandwidthSweep(h, labels, labels.max(axis=1).astype(np.intp) + 1)


def _given(bandwidths: ArrayLike) -> Array:
    h = np.asarray(bandwidths, dtype=np.float64)
    if h.ndim != 1 or not len(h) or not (np.isfinite(h) & (h > 0)).all():
        raise ValueError("bandwidths must be a list of finite numbers > 0, or None to choose them from the data.")
    return np.unique(h)


def _grid(data: Array, n_bandwidths: int) -> Array:
    n = len(data)
    queries = data[np.linspace(0, n - 1, min(n, MEDIAN_POINTS)).astype(np.intp)]
    near, far = np.median(kth_distances(data, [min(NEAR_NEIGHBOR + 1, n), n], queries), axis=0)
    # if most rows are equal, any bandwidth gives the same clusters
    far = far if far > 0 else 1.0
    # the factor 1.2 makes the bandwidth larger than the distance, because the kernel is 0 at distance h
    return np.geomspace(near if 0 < near < far else far / 100, 1.2 * far, n_bandwidths)
