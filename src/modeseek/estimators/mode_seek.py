"""ModeSeek: clustering without parameters, which returns the best of many proposed partitions."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array

from modeseek._common.points import Points
from modeseek._common.rounding import spread_rounded
from modeseek._common.text import counted
from modeseek._common.types import Array, Geometry, IntArray, Stage, Watcher
from modeseek._common.validation import METRICS, check_choice, check_integer, seed_of
from modeseek.estimators.advice import advise_on_size
from modeseek.estimators.base import BaseClusterer
from modeseek.estimators.constraints import Constraints, check_constraints, with_constraints
from modeseek.estimators.memory import FitMemory, check_fit_memory
from modeseek.estimators.precomputed import data_from_distances
from modeseek.estimators.regrouped import with_limited_size
from modeseek.estimators.result import FitData, FitResult, FitSettings, drop_small, make_result, membership_fields
from modeseek.estimators.selection_points import of_distinct_points, weighted_by_rows
from modeseek.meanshift.chains import Outcome
from modeseek.meanshift.engines.cuda.engine import why_unavailable
from modeseek.meanshift.partition import partition_of
from modeseek.selection import (
    DEFAULT,
    ClusterBounds,
    SelectionConfig,
    prepare_data,
    select_partition,
)
from modeseek.selection.graph_data import graph_config, graph_data, left_out
from modeseek.selection.modes import single_mode_tree
from modeseek.selection.proposers.modes import density_tree
from modeseek.sketches import SketchConfig, is_dask

ENGINES = ("auto", "exact", "approximate", "cuda")


@dataclass(eq=False, repr=False, kw_only=True)
class ModeSeek(BaseClusterer):
    """Clustering without parameters: the best of the partitions that several methods propose.

    `ModeSeek` builds a k-nearest-neighbour graph and collects partitions from several proposers: modes of the density,
    communities of the graph, clusters of its spanning tree, Ward's method, k-means, Gaussian mixtures and mean shift.
    Features describe each partition, for example how much lower the density is between clusters, and how well the
    partition is reproduced on subsamples. From the features, a small model that was trained on synthetic data predicts
    how well the partition agrees with the true clusters. The partition with the best prediction is returned. A single
    cluster is one of the candidates. Rows are labelled as noise only if `min_cluster_size` or `outlier_fraction` is
    set.

    See docs/mode-seek.md for the steps, and docs/quality.md for results on labelled data.

    Parameters
    ----------
    metric : {"euclidean", "cosine", "haversine", "precomputed"}, default="euclidean"
        With "cosine", rows are scaled to unit length. With "haversine", X has two columns, latitude and longitude in
        degrees; see docs/how-to-maps.md. With "precomputed", X holds distances between rows: a square array, or a
        sparse graph of nearest neighbours; see docs/how-to-neighbor-graphs.md.
    n_clusters : int, optional
        Number of clusters. If None, it is chosen from the data.
    min_clusters, max_clusters : int, optional
        Bounds on the number of clusters. Setting `min_clusters` to 2 or more excludes a single cluster.
    min_cluster_size : int, default=1
        Clusters with a smaller total weight become noise, label -1. The weight of a row is 1 unless `sample_weight`
        is given. 1 means no limit, also for weights below 1.
    max_cluster_size : int, optional
        Clusters with a larger total weight are split into parts; see docs/layers.md. The number of clusters may then
        be above `n_clusters` and `max_clusters`.
    outlier_fraction : float, default=0.0
        Upper bound on the share of rows that become noise because their `outlier_scores_` are the highest.
    sketch : {"auto", "sample"} or None, default="auto"
        Whether to cluster a random sample of 200,000 rows and give every other row the label of the nearest sampled
        row. "sample" always does so, "auto" with more than 1,000,000 rows, with a warning. None uses every row.
    engine : {"auto", "exact", "approximate", "cuda"}, default="auto"
        How nearest neighbours are searched. "auto" is exact below 40,000 distinct rows, and for any number of rows in
        up to eight dimensions. Otherwise it is "approximate", which finds most of the neighbours in less time;
        `message_` says so. "cuda" is exact and uses an NVIDIA GPU, or a tree on the CPU in up to eight dimensions. Data
        with more than 32 features are searched in their first 32 principal components.
    n_jobs : int, optional
        Number of threads, as in joblib. Labels do not depend on it.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the subsamples from which `memberships_`, `confidence_` and the stabilities are computed. Labels do not
        depend on it.
    verbose : int, default=0
        If 1, show progress in a terminal or a notebook.
    callbacks : sequence of callables, optional
        Functions that are called as ``f(stage)`` at each step, with a `modeseek._common.types.Stage`: name,
        done, total.

    Attributes
    ----------
    labels_ : integer array of shape (n_samples,)
        Cluster of each row; -1 for noise. Clusters are numbered by decreasing weight.
    n_clusters_ : int
        Number of clusters, not counting noise.
    cluster_centers_ : array of shape (n_clusters, n_features)
        Mean of the rows of each cluster. Not present if the metric is "precomputed".
    memberships_ : array of shape (n_samples, n_clusters)
        Share of the subsamples in which a row belongs to each cluster. Rows sum to 1; rows of noise are 0.
    confidence_ : array of shape (n_samples,)
        Membership of each row in its cluster: an estimate of the probability that the row stays in its
        cluster if 70 % of the rows are clustered again. docs/confidence.md shows how accurate it is.
    cluster_stability_ : array of shape (n_clusters,)
        Mean Jaccard index of each cluster with the most similar cluster of each subsample. Unlike the
        confidence, it is also low if subsamples split the cluster or merge it with others.
    stability_ : float
        Mean adjusted Rand index of the partition with the partitions of the subsamples.
    alternatives_ : list of Candidate
        The best partitions with different numbers of clusters; nearly equal partitions and the single cluster are left
        out. The chosen partition is first if it is one of these, and the others are in order of their predicted
        quality. Each has an `expected_agreement`, the predicted adjusted Rand index with the true clusters, and a
        `stability`. Their `labels` have one entry for each distinct row.
    tree_ : MergeTree
        Merge tree of the modes of the density, with their prominence. ``tree_.clusters(4)`` returns labels for
        four clusters, and `modeseek.plots.plot_tree` draws the tree. The density is estimated from the chosen number of
        neighbours, or from a medium number if the partition does not consist of modes.
    outcome_ : Outcome
        How the fit ended: `Outcome.CHOSEN`, or `Outcome.INTERRUPTED` after Ctrl-C.
    message_ : str
        A sentence that describes the chosen partition, and why it was preferred to the second best one.
    interrupted_ : bool
        Whether the fit was interrupted by Ctrl-C. The result is then the best partition of the proposers that had
        finished. `memberships_`, `confidence_` and `cluster_stability_` are missing if there were too few subsamples
        for them.
    sketch_ : SketchPoints
        The sample and its weights. Only if the fit ran on a sample.
    probabilities_ : array of shape (n_samples,)
        Membership of each row in its cluster; 0 for noise. See docs/ecosystem.md.
    outlier_scores_ : array of shape (n_samples,)
        How far the density at each row is below that of its cluster, from 0 to 1. See docs/ecosystem.md.
    layers_ : list of Layer
        Nested partitions from coarse to fine, computed on access. See docs/layers.md.
    result_ : FitResult
        All results of the fit in one frozen object.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : array of str of shape (n_features,)
        Names of the features. Only if X has names that are all strings.

    See Also
    --------
    DoublyStochasticMeanShift : Mean shift with a random bandwidth.

    Examples
    --------
    >>> from modeseek import ModeSeek
    >>> from sklearn.datasets import make_blobs
    >>> X, y = make_blobs(300, centers=5, cluster_std=0.6, random_state=4)
    >>> model = ModeSeek(random_state=0).fit(X)
    >>> model.n_clusters_, model.confidence_.shape
    (5, (300,))
    """

    n_clusters: int | None = None
    min_clusters: int | None = None
    max_clusters: int | None = None
    max_cluster_size: int | None = None
    engine: str = "auto"
    random_state: Any = None

    _config: ClassVar[SelectionConfig] = DEFAULT
    _sketch_config: ClassVar[SketchConfig] = SketchConfig(max_rows=1_000_000, sample_rows=200_000)
    _fit_memory: ClassVar[FitMemory] = FitMemory(point=4_500.0, coordinate=8.0, pair=30.0, pair_limit=1.3e8)

    _metrics: ClassVar[tuple[str, ...]] = (*METRICS, "precomputed")

    def fit(self, X: ArrayLike, y: Any = None, sample_weight: ArrayLike | None = None, constraints: Any = None) -> Self:
        """Cluster the rows of X.

        Ctrl-C raises `KeyboardInterrupt`. If there is a partial result by then, it is stored first, in `labels_` and
        the other attributes. Otherwise the estimator is left unfitted.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The data. May be a `dask.array` or a `dask.dataframe`, see docs/how-to-dask.md. With
            ``metric="precomputed"``, an array or sparse array of shape (n_samples, n_samples) with distances.
        y : ignored
            Present for consistency with scikit-learn.
        sample_weight : array-like of shape (n_samples,), optional
            A row of weight 3 counts as three equal rows. A row of weight 0 has no influence and gets the label of the
            nearest row of positive weight.
        constraints : dict, optional
            Pairs of row numbers, as arrays of shape (m, 2). The two rows of a pair in ``constraints["must_link"]`` get
            the same label, and the two rows of a pair in ``constraints["cannot_link"]`` get different labels. See
            docs/constraints.md.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        if constraints is not None and (is_dask(X) or self.min_cluster_size > 1 or self.outlier_fraction):
            raise ValueError("constraints need an array X (not Dask), min_cluster_size=1 and outlier_fraction=0.")
        return self._fit_input(X, sample_weight, constraints)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = tags.input_tags.sparse = self.metric == "precomputed"
        return tags

    def _check_parameters(self) -> Geometry:
        geometry = super()._check_parameters()
        if self.max_cluster_size is not None:
            check_integer("max_cluster_size", self.max_cluster_size, low=max(1, self.min_cluster_size))
        if geometry.metric == "precomputed" and self.sketch == "sample":
            raise ValueError('sketch="sample" needs coordinates, which metric="precomputed" does not have: use "auto".')
        return geometry

    def _fit_data(self, rows: Array, weights: Array, geometry: Geometry, watch: Watcher | None) -> FitData:
        if geometry.metric != "precomputed":
            return super()._fit_data(rows, weights, geometry, watch)
        n, config = rows.shape[0], self._config.data
        check_fit_memory(type(self).__name__, self._memory(n, 1, 8), (n, 1), 8)
        return data_from_distances(rows, weights, geometry, min(config.n_neighbors, max(1, n - 1)))

    def _placed(self, rows: Array) -> Array:
        if self.metric == "precomputed":
            raise ValueError('metric="precomputed" needs the distances between all rows at once: use fit(X).')
        return super()._placed(rows)

    def _choose_settings(self, sample: Points, watch: Watcher | None, rounding: float = 0.0) -> FitSettings:
        if self.sketch == "grid":
            raise ValueError('sketch="grid" needs a bandwidth, which ModeSeek does not have: use sketch="sample".')
        return FitSettings()

    def _solve(self, data: FitData, watch: Watcher | None) -> FitResult:
        points, n = weighted_by_rows(data), len(data.points.values)
        engine = check_choice("engine", self.engine, ENGINES)
        if engine == "cuda" and (reason := why_unavailable()) is not None:
            raise ValueError(f'engine="cuda" cannot be used here: {reason}. Use engine="auto".')
        watch = self._with_callbacks(watch)
        bounds = self._bounds(n)
        constraints = check_constraints(data.constraints, points.inverse)
        if n < 3:
            k = n if bounds.min_clusters > 1 else 1
            result = self._selection_result(
                data,
                np.arange(n, dtype=np.intp) % k,
                np.eye(n, k) if k > 1 else np.ones((n, 1)),
                np.ones(k),
                outcome=Outcome.CHOSEN,
                message=f"{'one cluster' if k == 1 else counted(k, 'cluster')}: fewer than three distinct rows",
                stability=1.0,
                tree=single_mode_tree(points.inverse, points.weights),
            )
            return self._adjusted(result, constraints)
        advise_on_size(type(self).__name__, n)
        config, spread, inverse = self._config, None, points.inverse
        if data.neighbors is None:
            # a rounded value stands for an interval: its copies are spread over the rounding step
            spread = spread_rounded(points)
            spread_points = points if spread is None else spread.points
            prepared = prepare_data(spread_points, engine=engine, config=config, n_jobs=self.n_jobs, watch=watch)
        else:
            prepared, config = graph_data(data.neighbors, points.weights), graph_config(config)
        found = select_partition(
            prepared,
            seed=seed_of(self.random_state),
            bounds=bounds,
            watch=watch,
            n_jobs=self.n_jobs,
            config=config,
            knowledge=constraints if constraints is None or spread is None else constraints.of(spread.first),
        )
        if spread is not None:
            found, inverse = of_distinct_points(found, spread), spread.first[inverse]
            data = replace(data, settings=replace(data.settings, rounded=spread.columns))
        result = self._selection_result(
            data,
            found.labels,
            found.memberships if found.has_confidence else None,
            found.cluster_stability,
            outcome=Outcome.INTERRUPTED if found.interruption else Outcome.CHOSEN,
            message=found.message + left_out(prepared, config),
            stability=found.stability,
            alternatives=tuple(found.candidates),
            tree=density_tree(prepared, inverse, found.mode_setting),
        )
        return self._adjusted(result, constraints)

    def _adjusted(self, result: FitResult, constraints: Constraints | None) -> FitResult:
        """Split clusters that are too large, and satisfy constraints."""
        if self.max_cluster_size is not None:
            result = with_limited_size(result, self.max_cluster_size, self.n_jobs)
        if constraints is None:
            return result
        most = self.n_clusters or self.max_clusters or np.inf
        result = with_constraints(result, constraints)
        if result.n_clusters > most and self.max_cluster_size is None:
            raise ValueError(f"constraints need {result.n_clusters} clusters or more, but at most {most} are allowed.")
        return result

    def _selection_result(
        self,
        data: FitData,
        numbers: IntArray,
        memberships: Array | csr_array | None,
        cluster_stability: Array,
        **fields: Any,
    ) -> FitResult:
        points = data.points
        part = partition_of(points.values, points.weights, numbers, points.geometry, diameter=0.0, gap=0.0)
        labels, centers = drop_small(part, self.min_cluster_size)
        if memberships is not None:
            fields |= membership_fields(data, labels, numbers, memberships, cluster_stability)
        return make_result(type(self).__name__, data, labels, centers, **fields)

    def _with_callbacks(self, watch: Watcher | None) -> Watcher | None:
        watchers = [*([] if watch is None else [watch]), *(self.callbacks or ())]

        def call_all(stage: Stage) -> None:
            for watcher in watchers:
                watcher(stage)

        return call_all if watchers else None

    def _bounds(self, n_distinct: int) -> ClusterBounds:
        low, high = self.min_clusters, self.max_clusters
        for name, value in (("n_clusters", self.n_clusters), ("min_clusters", low)):
            if value is not None and check_integer(name, value, low=1) > n_distinct:
                raise ValueError(f"{name}={value} is larger than the number of distinct rows of X, {n_distinct}.")
        if high is not None:
            check_integer("max_clusters", high, low=1)
        if self.n_clusters is not None:
            return ClusterBounds(self.n_clusters, self.n_clusters)
        if low is not None and high is not None and low > high:
            raise ValueError(f"min_clusters={low} is larger than max_clusters={high}.")
        return ClusterBounds(low or 1, np.inf if high is None else high)
