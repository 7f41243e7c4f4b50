"""ModeSeek: clusters with nothing to set."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar

import numpy as np

from modeseek._common.points import Points
from modeseek._common.types import Array, IntArray, Stage, Watcher
from modeseek._common.validation import check_integer, seed_of
from modeseek.estimators.base import BaseClusterer
from modeseek.estimators.result import FitData, FitResult, FitSettings, drop_small, make_result, membership_fields
from modeseek.meanshift.chains import Outcome
from modeseek.meanshift.partition import partition_of
from modeseek.selection import (
    DEFAULT,
    ClusterBounds,
    KnnGraph,
    Selection,
    SelectionConfig,
    build_knn_graph,
    merge_clusters,
    select_partition,
)
from modeseek.selection.modes import single_mode_tree
from modeseek.selection.proposers.modes import density_tree
from modeseek.selection.spherical import SphericalKMeans
from modeseek.sketches import SketchConfig

__all__ = ["ModeSeek"]


class ModeSeek(BaseClusterer):
    """Clusters with nothing to set: a view of the data proposes partitions, and the most stable one is taken.

    A density by nearest neighbours gives modes that merge by prominence. Where the data fill many dimensions, a graph
    of shared neighbours gives communities instead. Each is asked at several scales. Points are taken away at random
    many times, and a partition is as good as what of it stays. A Gaussian mixture comes before modes if its components
    are modes of their own, come back, and predict points that were held out: it sees groups that overlap. If nothing
    is clear of what chance makes of so many points, the answer is one cluster.

    docs/mode-seek.md has the steps, docs/quality.md what it reaches.

    Parameters
    ----------
    metric : {"euclidean", "cosine"}, default="euclidean"
        Under "cosine" rows are scaled to unit length.
    n_clusters : int, optional
        A number of clusters to look for. None: found.
    min_clusters, max_clusters : int, optional
        Bounds on it.
    min_cluster_size : int, default=1
        Clusters lighter than this become noise, label -1.
    sketch : {"auto", "sample"} or None, default="auto"
        Whether to look at a sample of 50,000 rows and give the others the label of the nearest. "auto" does so above
        100,000 rows and says so in a warning; None looks at every row.
    n_jobs : int, optional
        Threads for the search of neighbours. Labels do not depend on it.
    random_state : int, RandomState, Generator or None
        Seed of the thinnings.
    verbose : int, default=0
        1 shows progress in a terminal or a notebook.
    callbacks : sequence of callables, optional
        Each is called as f(stage) at every step of the way, with a `modeseek._common.types.Stage`: name, done, total.

    Attributes
    ----------
    labels_ : integer array of shape (n_samples,)
        Cluster of each row, 0 being the heaviest; -1 for noise.
    n_clusters_ : int
        Number of clusters, noise aside.
    cluster_centers_ : array of shape (n_clusters, n_features)
        Means of the clusters.
    memberships_ : array of shape (n_samples, n_clusters)
        How often a row went with each cluster when others were taken away; rows add up to 1 (0 for noise).
    confidence_ : array of shape (n_samples,)
        The membership in its own cluster: about how often the row would keep its cluster if 70 % of the rows were
        clustered afresh. docs/confidence.md tells how near that comes, and where it fails.
    cluster_stability_ : array of shape (n_clusters,)
        How much of each cluster comes back when points are taken away: mean Jaccard index with the closest cluster of
        thinned data. Unlike confidence it also falls where a cluster is split or merged.
    stability_ : float
        Mean adjusted Rand index of the partition with those of thinned data.
    alternatives_ : list of Candidate
        The best few partitions that differ, with their stability; labels are those of distinct rows.
    tree_ : MergeTree
        How the modes of the density merge, with their prominence: at the count of neighbours that was chosen where
        modes were, else at a middle one. `tree_.clusters(4)` gives labels; `modeseek.plots.plot_tree` draws it.
    message_ : str
        What was chosen, in words.
    interrupted_ : bool
        Whether Ctrl-C came before the end, and what is here is the best so far: proposals are then judged by fewer
        thinnings, and where there were hardly any for it, `memberships_`, `confidence_` and `cluster_stability_` are
        not there.
    sketch_ : SketchPoints
        If the fit ran on a sketch: its points, their weights.
    n_features_in_ : int
    feature_names_in_ : array of str

    Examples
    --------
    >>> from modeseek import ModeSeek
    >>> from sklearn.datasets import make_blobs
    >>> X, y = make_blobs(300, centers=5, cluster_std=0.6, random_state=4)
    >>> model = ModeSeek(random_state=0).fit(X)
    >>> model.n_clusters_, model.confidence_.shape
    (5, (300,))
    """

    def __init__(
        self,
        *,
        metric: str = "euclidean",
        n_clusters: int | None = None,
        min_clusters: int | None = None,
        max_clusters: int | None = None,
        min_cluster_size: int = 1,
        sketch: str | None = "auto",
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        callbacks: Sequence[Callable[[Stage], None]] | None = None,
    ):
        self.metric = metric
        self.n_clusters = n_clusters
        self.min_clusters = min_clusters
        self.max_clusters = max_clusters
        self.min_cluster_size = min_cluster_size
        self.sketch = sketch
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.callbacks = callbacks

    _config: ClassVar[SelectionConfig] = DEFAULT
    _many: ClassVar[int] = 100_000
    _sketch_config: ClassVar[SketchConfig] = SketchConfig(sample_size=50_000)

    def _choose_settings(self, sample: Points, watch: Watcher | None) -> FitSettings:
        if self.sketch == "grid":
            raise ValueError('sketch="grid" needs a bandwidth to measure cells by: take "sample" for ModeSeek.')
        return FitSettings()

    def _solve(self, data: FitData, watch: Watcher | None) -> FitResult:
        points, watch = data.points, self._report_to(watch)
        bounds = self._bounds(len(points.values))
        if len(points.values) < 3:
            n = len(points.values)
            return self._selection_result(
                data,
                np.zeros(n, dtype=np.intp),
                np.ones((n, 1)),
                np.ones(1),
                outcome=Outcome.CHOSEN,
                message="one cluster: fewer than three distinct rows",
                stability=1.0,
                tree=single_mode_tree(points.inverse, points.weights),
            )
        graph = build_knn_graph(points, config=self._config, n_jobs=self.n_jobs, watch=watch)
        found = self._choose(points, graph, bounds, watch)
        # a single cluster comes from no candidate
        modes = found.n_clusters > 1 and found.candidates[0].proposer == "modes"
        return self._selection_result(
            data,
            found.labels,
            found.memberships if found.has_confidence else None,
            found.cluster_stability,
            outcome=Outcome.INTERRUPTED if found.interruption else Outcome.CHOSEN,
            message=found.message,
            stability=found.stability,
            alternatives=tuple(found.candidates),
            tree=density_tree(graph, points.inverse, found.candidates[0].setting if modes else None),
        )

    def _selection_result(
        self, data: FitData, numbers: IntArray, memberships: Array | None, cluster_stability: Array, **fields: Any
    ) -> FitResult:
        points = data.points
        part = partition_of(points.values, points.weights, numbers, points.geometry, diameter=0.0, gap=0.0)
        labels, centers = drop_small(part, self.min_cluster_size)
        if memberships is not None:
            fields |= membership_fields(data, labels, numbers, memberships, cluster_stability)
        return make_result(type(self).__name__, data, labels, centers, **fields)

    def _choose(self, points: Points, graph: KnnGraph, bounds: ClusterBounds, watch: Watcher | None) -> Selection:
        seed = seed_of(self.random_state)
        config, spherical = self._config, points.geometry.spherical
        refine = SphericalKMeans(points.values, config.refinement_steps) if spherical else None
        select = partial(select_partition, graph, seed=seed, refine=refine, watch=watch, config=config)
        found = select(bounds=bounds)
        if bounds.contains(found.n_clusters):
            return found
        if found.interruption:
            raise KeyboardInterrupt("ModeSeek: interrupted before there were as many clusters as asked for")
        # nobody proposed so few: of those with more, the best is merged
        more = select(bounds=ClusterBounds(bounds.min_clusters))
        if more.n_clusters > bounds.max_clusters:
            return merge_clusters(more, points.values, int(bounds.max_clusters))
        return replace(
            found, message=f"{found.message}; no partition with {bounds.min_clusters} clusters or more was found"
        )

    def _report_to(self, line: Watcher | None) -> Watcher | None:
        watchers = [*([] if line is None else [line]), *(self.callbacks or ())]

        def tell(stage: Stage) -> None:
            for watcher in watchers:
                watcher(stage)

        return tell if watchers else None

    def _bounds(self, n_distinct: int) -> ClusterBounds:
        for name in ("n_clusters", "min_clusters", "max_clusters"):
            wish = getattr(self, name)
            if wish is not None and check_integer(name, wish, low=1) > n_distinct and name != "max_clusters":
                raise ValueError(f"{name}={wish} is more than X has distinct rows, {n_distinct}: give a smaller one.")
        if self.n_clusters is not None:
            return ClusterBounds(self.n_clusters, self.n_clusters)
        if self.min_clusters is not None and self.max_clusters is not None and self.min_clusters > self.max_clusters:
            raise ValueError(
                f"min_clusters={self.min_clusters} is above max_clusters={self.max_clusters}: give a smaller one."
            )
        return ClusterBounds(self.min_clusters or 1, np.inf if self.max_clusters is None else self.max_clusters)
