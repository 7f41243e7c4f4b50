"""One estimator at many bandwidths: how many clusters there are at each, and how long a number lasts."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import partial
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
from modeseek.estimators.doubly_stochastic import DoublyStochasticMeanShift
from modeseek.estimators.mean_shift import MeanShift
from modeseek.meanshift.gpu_tasks import run_tasks_on_gpu

__all__ = ["BandwidthSweep", "Plateau", "sweep_bandwidths"]

# a grid goes from the median distance to a near neighbour to that to the farthest point; over so many points
NEAR, QUERIES = 3, 200


class Plateau(NamedTuple):
    """A run of bandwidths with one number of clusters.

    Attributes
    ----------
    n_clusters : int
    low, high : float
        The bandwidths between which it holds: halfway, in ratios, to the next of the grid.
    first, last : int
        Where they are in the grid.
    """

    n_clusters: int
    low: float
    high: float
    first: int
    last: int

    @property
    def lifetime(self) -> float:
        """The factor high / low: how far the bandwidth can change and leave the number as it is."""
        return self.high / self.low


@dataclass(frozen=True, eq=False)
class BandwidthSweep:
    """What an estimator finds at many bandwidths.

    Attributes
    ----------
    bandwidths : (m,) array
        From the smallest on.
    labels : (m, n) integer array
        Labels of the rows at each.
    n_clusters : (m,) integer array
        Clusters at each, noise aside.
    """

    bandwidths: Array
    labels: IntArray
    n_clusters: IntArray

    def plateaus(self) -> list[Plateau]:
        """Return the runs of bandwidths over which the number of clusters stays, from the smallest bandwidth on."""
        h, n = self.bandwidths, self.n_clusters
        starts = np.concatenate([[0], np.flatnonzero(np.diff(n)) + 1, [len(n)]])
        edges = np.concatenate([h[:1], np.sqrt(h[:-1]) * np.sqrt(h[1:]), h[-1:]])
        return [Plateau(int(n[a]), float(edges[a]), float(edges[b]), int(a), int(b) - 1) for a, b in pairwise(starts)]

    def longest(self) -> Plateau | None:
        """Return the plateau of two clusters or more that lasts longest; None if there is no such number."""
        several = [each for each in self.plateaus() if each.n_clusters > 1]
        return max(several, key=lambda each: each.lifetime, default=None)


def sweep_bandwidths(
    X: ArrayLike,
    bandwidths: ArrayLike | None = None,
    *,
    estimator: ChainClusterer | None = None,
    n_bandwidths: int = 25,
) -> BandwidthSweep:
    """Fit an estimator at each of many bandwidths.

    `modeseek.plots.plot_cluster_counts` draws the result.

    Parameters
    ----------
    X : array-like of shape (n, d)
        The data.
    bandwidths : array-like of shape (m,), optional
        Positive numbers. None: `n_bandwidths` of them in equal ratios, from the median distance between near
        neighbours to that between far points.
    estimator : MeanShift, BlurringMeanShift, StochasticMeanShift or DoublyStochasticMeanShift, optional
        What to fit; it is not changed. Default: `MeanShift()`. Clusters lighter than its `min_cluster_size` do not
        count. Of a DoublyStochasticMeanShift, bandwidths are h_inf, and h_min and h_max go with it.
    n_bandwidths : int, default=25
        How many, where none are given.

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
    if not isinstance(model, ChainClusterer) or not {"bandwidth", "h_inf"} & set(model.get_params()):
        raise TypeError(
            "estimator must be a MeanShift, BlurringMeanShift, StochasticMeanShift or DoublyStochasticMeanShift; "
            f"got {type(model).__name__}."
        )
    h = _grid(data, check_integer("n_bandwidths", n_bandwidths, low=2)) if bandwidths is None else _given(bandwidths)
    ratios = (1.0, 1.0)
    if isinstance(model, DoublyStochasticMeanShift):
        base = clone(model).fit(data)
        ratios = base.h_min_ / base.h_inf_, base.h_max_ / base.h_inf_
    labels = np.empty((len(h), len(data)), dtype=np.int32)

    def fit(bandwidth: float) -> IntArray:
        each = clone(model)
        if isinstance(model, DoublyStochasticMeanShift):
            each.set_params(h_min=ratios[0] * bandwidth, h_inf=bandwidth, h_max=ratios[1] * bandwidth)
        else:
            each.set_params(bandwidth=bandwidth)
        return each.fit(data).labels_

    tasks = [partial(fit, bandwidth) for bandwidth in h.tolist()]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AdviceWarning)  # the ends of a grid are far off by design
        # on a GPU all bandwidths at once
        done = run_tasks_on_gpu(tasks) if model.engine == "cuda" else ((row, task()) for row, task in enumerate(tasks))
        for row, found in done:
            labels[row] = found
    return BandwidthSweep(h, labels, labels.max(axis=1).astype(np.intp) + 1)


def _given(bandwidths: ArrayLike) -> Array:
    h = np.sort(np.asarray(bandwidths, dtype=np.float64))
    if h.ndim != 1 or not len(h) or not (np.isfinite(h) & (h > 0)).all():
        raise ValueError("bandwidths must be a list of finite numbers > 0; None chooses them from the data.")
    return np.unique(h)


def _grid(data: Array, n_bandwidths: int) -> Array:
    n = len(data)
    queries = data[np.linspace(0, n - 1, min(n, QUERIES)).astype(np.intp)]
    near, far = np.median(kth_distances(data, [min(NEAR + 1, n), n], queries), axis=0)
    # rows that all coincide, or mostly: any bandwidth will do
    far = far if far > 0 else 1.0
    # a little farther: at its rim the kernel is 0
    return np.geomspace(near if 0 < near < far else far / 100, 1.2 * far, n_bandwidths)
