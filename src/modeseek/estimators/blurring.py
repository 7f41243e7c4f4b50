"""Blurring mean shift: all points move at once."""

from dataclasses import KW_ONLY, dataclass

from modeseek._common.points import Points
from modeseek._common.types import Watcher
from modeseek.estimators.chain_clusterer import ChainClusterer
from modeseek.estimators.result import FitData, FitSettings
from modeseek.meanshift.bandwidth import Constant
from modeseek.meanshift.chains import Chain, Stopping, blurring


@dataclass(eq=False, repr=False)
class BlurringMeanShift(ChainClusterer):
    """Blurring mean shift (BMS).

    In each sweep, every point is replaced by the weighted mean of the points around it. All points move at once. They
    collapse into groups, which are the clusters. The run ends as soon as it is certain that the partition can no longer
    change. Nothing is random.

    Parameters
    ----------
    bandwidth : float, optional
        Bandwidth h, the radius of the kernel, in the units of X. If None, it is chosen from the data, see
        docs/choosing-the-range.md. With ``metric="cosine"``, h is the distance between unit vectors, sqrt(2 - 2
        cos).
    profile : {"biweight", "triweight", "quadweight", "flat", "gaussian"} or Profile, default="biweight"
        Shape of the kernel. The theorems of the paper do not cover "flat" and "gaussian".
    metric : {"euclidean", "cosine", "haversine"}, default="euclidean"
        With "cosine", rows are scaled to unit length and points stay on the unit sphere. With "haversine", X has two
        columns, latitude and longitude in degrees, and bandwidths are in metres; see docs/how-to-maps.md.
    tol : float, default=1e-6
        Shifts up to `tol` times the smallest bandwidth count as zero.
    tau : float, optional
        Points closer than `tau` at the end of the run belong to the same cluster. Must be below half of the
        smallest bandwidth. If None, a quarter of the smallest bandwidth.
    max_updates : int, optional
        Maximum number of updates of single points, checked after each sweep of about n updates. If None,
        max(10^7, 200 n).
    max_time : float, optional
        Maximum time of a run in seconds. An incomplete sweep is dropped.
    min_cluster_size : int, default=1
        Clusters with a smaller total weight become noise, label -1. The weight of a row is 1 unless `sample_weight`
        is given. 1 means no limit, also for weights below 1.
    outlier_fraction : float, default=0.0
        Upper bound on the share of rows that become noise because their `outlier_scores_` are the highest.
    sketch : {"auto", "grid", "sample"} or None, default="auto"
        Whether to cluster a sketch: weighted points that stand for many rows. "grid" uses the means of the rows
        in the cells of a grid, "sample" a random sample of 20,000 rows. "auto" uses one of the two, with a warning,
        if there are more than 50,000 rows. None uses every row. See docs/many-rows.md.
    resolution : float, default=1/16
        Maximum width of the grid cells of a sketch, relative to the smallest bandwidth.
    engine : {"auto", "brute", "moment_tree", "neighbor_lists", "reference", "cuda"}, default="auto"
        How sums over neighbours are computed. All engines are exact and differ in speed only, see
        docs/engines.md. `engine_` is the engine in force.
    n_jobs : int, optional
        Number of threads, as in joblib. Labels do not depend on it.
    verbose : int, default=0
        If 1, show progress in a terminal or a notebook.
    callbacks : sequence of callables, optional
        Functions that are called as ``f(state, info)`` after each sweep.
    record : bool, str, sequence of str or Record, optional
        Quantities to record in `trace_` after each sweep, in addition to the bandwidths and the largest shift:
        "clumps" (number of groups of points that are connected by distances below `tau`), "diameter" (largest distance
        within a group), "gap" (smallest distance between groups), "objective" (takes time proportional to n^2) and
        "snapshots" (the positions of all rows). True records all of them. Plots of a run need them, see
        `modeseek.plots`. A `Record` also sets how often each quantity is recorded.
    checkpoint : str or path-like, optional
        File in which the state of the run is saved at intervals and at the end. If the file exists, the fit
        resumes from it and gives the same result as an uninterrupted fit. A file that was saved with other data or
        parameters raises an error. See docs/how-to-checkpoints.md.
    checkpoint_every : float, default=60
        Number of seconds between two saves.

    Attributes
    ----------
    labels_ : integer array of shape (n_samples,)
        Cluster of each row; -1 for noise. Clusters are numbered by decreasing weight.
    n_clusters_ : int
        Number of clusters, not counting noise.
    cluster_centers_ : array of shape (n_clusters, n_features)
        Mean of the final positions of the rows of each cluster.
    bandwidth_ : float
        The bandwidth in force.
    points_ : array of shape (n_samples, n_features)
        Final position of each row.
    outcome_ : Outcome
        How the run ended. `outcome_.value` is a sentence, `outcome_.converged` a bool.
    partition_ : Partition
        The partition before small clusters became noise, with its diameter, gap and certificate.
    n_updates_ : int
        Number of updates of single points.
    engine_ : str
        The engine in force.
    trace_ : Trace
        The recorded quantities, each as a `Series` of values against the number of updates k.
    sketch_ : SketchPoints
        Points of the sketch, their weights and the width of the grid cells. Only if the fit ran on a sketch.
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
    StochasticMeanShift : One random point moves at a time.
    MeanShift : Points climb the density of the data, which do not move.

    Examples
    --------
    >>> from modeseek import BlurringMeanShift
    >>> BlurringMeanShift(1.0).fit_predict([[0.0], [0.1], [5.0]])
    array([0, 0, 1])
    """

    bandwidth: float | None = None
    _: KW_ONLY
    tau: float | None = None
    max_updates: int | None = None
    max_time: float | None = None

    def _choose_settings(self, sample: Points, watch: Watcher | None, rounding: float = 0.0) -> FitSettings:
        h = self._single_bandwidth(self.bandwidth, sample, watch, rounding)
        return FitSettings(bandwidth=h, policy=Constant(h))

    def _make_chain(self, data: FitData) -> tuple[Chain, Stopping]:
        h = data.settings.largest_bandwidth
        chain = blurring(self._problem(data.points, h), h)
        return chain, self._stopping(chain, self.tau, self.max_updates, self.max_time)
