"""Mean shift: every point climbs the density of the data. The class can replace scikit-learn's `MeanShift`."""

from dataclasses import KW_ONLY, dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from modeseek._common.distances import kth_distance
from modeseek._common.points import MAX_EXTENT, MIN_EXTENT, Points
from modeseek._common.types import Array, IntArray, Watcher
from modeseek._common.validation import check_choice, check_integer, check_number, check_state
from modeseek.estimators.chain_clusterer import ChainClusterer
from modeseek.estimators.result import FitData, FitResult, FitSettings, drop_small
from modeseek.meanshift.basins import Basins, find_points
from modeseek.meanshift.chains import Chain, Stopping, mean_shift
from modeseek.meanshift.climbing import Seeds, bin_seeds, moved_to_points, partition_by_modes
from modeseek.meanshift.kernels.profiles import FLAT, get_profile
from modeseek.meanshift.partition import Partition
from modeseek.selection.bandwidths.automatic import Algorithm


@dataclass(eq=False, repr=False)
class MeanShift(ChainClusterer):
    """Mean shift (MS).

    Every row is the start of a climber, a point that moves step by step to a mode (local maximum) of the density of the
    data. Each mode is a cluster. The data themselves do not move.

    This class has all parameters of `sklearn.cluster.MeanShift`, with the same meaning, and ``profile="flat"`` gives
    the same centres. There are three differences: a row is assigned to the mode that it climbed to, any bandwidth gives
    a result, and reaching `max_iter` issues a warning. See docs/from-sklearn-meanshift.md.

    Parameters
    ----------
    bandwidth : float, optional
        Bandwidth h, the radius of the kernel, in the units of X. With 0, only equal rows are in one cluster. If
        None, it is chosen from the data, see docs/choosing-the-range.md;
        ``bandwidth=modeseek.estimate_bandwidth(X)`` is scikit-learn's choice. With ``metric="cosine"``, h is
        the distance between unit vectors, sqrt(2 - 2 cos).
    seeds : array-like of shape (n_seeds, n_features), optional
        Points at which climbers start. If None, a climber starts at every row. A seed without a row within the
        bandwidth is moved to the nearest row. If no seed has a row within the bandwidth, the flat profile raises an
        error, as scikit-learn does.
    bin_seeding : bool, default=False
        If True, climbers start at the corners of a grid of width `bandwidth` that have rows around them. This
        is faster than starting at every row.
    min_bin_freq : int, default=1
        Minimum number of rows around a corner for `bin_seeding`.
    cluster_all : bool, default=True
        If False, a row becomes noise, label -1, if no centre is within the bandwidth of it.
    n_jobs : int, optional
        Number of threads, as in joblib. Labels do not depend on it.
    max_iter : int, default=300
        Maximum number of steps of a climber. With the flat profile, a climber that has not arrived by then takes
        one more step, as in scikit-learn.
    profile : {"biweight", "triweight", "quadweight", "flat", "gaussian"} or Profile, default="biweight"
        Shape of the kernel. "flat" is the kernel of scikit-learn.
    metric : {"euclidean", "cosine", "haversine"}, default="euclidean"
        With "cosine", rows are scaled to unit length and climbers stay on the unit sphere. With "haversine", X has two
        columns, latitude and longitude in degrees, and bandwidths are in metres; see docs/how-to-maps.md.
    assign_labels : {"basin", "nearest"}, default="basin"
        "basin" assigns a row to the mode that it climbed to, or to the mode of its nearest seed. "nearest"
        assigns it to the nearest centre, as scikit-learn does.
    tol : float, optional
        A climber stops when a step is at most `tol` times the bandwidth. If None, 1e-3 for the flat profile, as
        in scikit-learn, and 1e-4 otherwise. Climbers that come within about ten times this distance of each
        other are merged. With many climbers, a few of them (scouts) climb first. The other climbers stop where they
        come equally close to the path of a scout, and get its mode. With the flat profile, only climbers at the same
        position are merged, and there are no scouts.
    min_cluster_size : int, default=1
        Clusters with a smaller total weight become noise, label -1. The weight of a row is 1 unless `sample_weight`
        is given. 1 means no limit, also for weights below 1.
    outlier_fraction : float, default=0.0
        Upper bound on the share of rows that become noise because their `outlier_scores_` are the highest.
    sketch : {"auto", "grid", "sample"} or None, default=None
        Whether to cluster a sketch: weighted points that stand for many rows. "grid" uses the means of the rows
        in the cells of a grid, "sample" a random sample of 20,000 rows. "auto" uses one of the two, with a warning,
        if there are more than 50,000 rows. None uses every row. See docs/many-rows.md.
    resolution : float, default=1/16
        Maximum width of the grid cells of a sketch, relative to the smallest bandwidth.
    engine : {"auto", "brute", "moment_tree", "neighbor_lists", "reference", "cuda"}, default="auto"
        How sums over neighbours are computed. All engines are exact and differ in speed only, see
        docs/engines.md. `engine_` is the engine in force.
    verbose : int, default=0
        If 1, show progress in a terminal or a notebook.
    callbacks : sequence of callables, optional
        Functions that are called as ``f(state, info)`` after each sweep.
    record : bool, str, sequence of str or Record, optional
        Quantities to record in `trace_` after each sweep, in addition to the bandwidth and the largest shift:
        "clumps" (number of groups of climbers that are connected by distances below a quarter of the bandwidth),
        "diameter" (largest distance within a group), "gap" (smallest distance between groups) and "snapshots" (the
        positions of the climbers, in the order of `points_`). True records all of them. Plots of a run need them, see
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
        Cluster of each row; -1 for noise. Clusters are numbered by decreasing weight, or, with the flat profile, by
        decreasing density of the mode.
    n_clusters_ : int
        Number of clusters, not counting noise.
    cluster_centers_ : array of shape (n_clusters, n_features)
        Modes of the density.
    bandwidth_ : float
        The bandwidth in force.
    points_ : array of shape (n_samples or n_seeds, n_features)
        Position at which each climber stopped: one for each row, or for each seed.
    outcome_ : Outcome
        How the run ended. `outcome_.value` is a sentence, `outcome_.converged` a bool.
    partition_ : Partition
        The partition before small clusters became noise, with its diameter, gap and certificate.
    n_updates_ : int
        Number of updates of single points.
    n_iter_ : int
        Number of sweeps: the largest number of steps that a climber took, not counting scouts.
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
    BlurringMeanShift : Mean shift in which the data move, too.
    ModeSeek : Chooses a partition without a bandwidth.

    Examples
    --------
    >>> from modeseek import MeanShift
    >>> MeanShift(bandwidth=1.0).fit_predict([[0.0], [0.1], [5.0]])
    array([0, 0, 1])
    """

    _abbreviation: ClassVar[Algorithm] = "MS"

    bandwidth: float | None = None
    _: KW_ONLY
    seeds: ArrayLike | None = None
    bin_seeding: bool = False
    min_bin_freq: int = 1
    cluster_all: bool = True
    max_iter: int = 300
    assign_labels: str = "basin"
    tol: float | None = None
    sketch: str | None = None

    _remedy: ClassVar[str] = "Increase max_iter or tol."
    # the objective is that of points that move against each other
    _quantities: ClassVar[tuple[str, ...]] = ("clumps", "diameter", "gap", "snapshots")

    def _choose_settings(self, sample: Points, watch: Watcher | None, rounding: float = 0.0) -> FitSettings:
        return FitSettings(bandwidth=self._single_bandwidth(self.bandwidth, sample, watch, rounding, strict=False))

    def _solve(self, data: FitData, watch: Watcher | None) -> FitResult:
        basins = check_choice("assign_labels", self.assign_labels, ("basin", "nearest")) == "basin"
        points, profile = data.points, get_profile(self.profile)
        h = self._cell_unit(data.settings, points)
        seeds = self._seeds(points, h)
        chain, stopping = self._make_chain(data, seeds)
        result = self._run(chain, stopping, watch)
        last = result.state.points
        # scikit-learn counts the rows around a climber before its last step, which follows `max_iter` other steps
        climbed = chain.sweep(result.state)[0].points if profile is FLAT and not result.outcome.converged else last
        ends, reach = points.to_data(climbed), chain.problem.reach(h)
        found = partition_by_modes(points, seeds, climbed, reach, profile, last, basins=basins, n_jobs=self.n_jobs)
        modes = None
        if data.sketch is None and not (basins and seeds):
            steps, part = self.max_iter if basins else 0, found.partition
            modes = Basins(h, self._tolerance(), steps, profile, found.ends, found.end_modes, part.labels)
            data = _with_weightless(data, modes, self.n_jobs)
            points = data.points
        return self._chain_result(
            data,
            found.partition,
            self._final_labels(found.partition, points, h),
            basins=modes,
            settings=self._in_force(data, chain, stopping),
            outcome=result.outcome,
            n_updates=result.state.k,
            n_iter=max(result.sweeps, 1),
            points=ends[points.inverse] if seeds is None else ends,
            trace=result.trace.restored(points, climbers=seeds is not None),
        )

    def _make_chain(self, data: FitData, seeds: Seeds | None = None, *, scouts: bool = True) -> tuple[Chain, Stopping]:
        """Return the chain of climbers, and when to stop it. Without scouts, every climber climbs to its mode."""
        h, sweeps = self._cell_unit(data.settings, data.points), check_integer("max_iter", self.max_iter, low=1)
        start, most_steps = seeds.positions if seeds else data.points.values, sweeps if scouts else 0
        problem = self._problem(data.points, h)
        chain = mean_shift(problem, h, tol=self._tolerance(), queries=start, most_steps=most_steps)
        limit = 2 * sweeps * len(start) + 1  # never reached, although scouts climb twice
        return chain, Stopping(h / 4, max_sweeps=sweeps, max_updates=limit)

    def _tolerance(self) -> float:
        if self.tol is not None:
            return check_number("tol", self.tol, strict=False)
        return 1e-3 if get_profile(self.profile) is FLAT else 1e-4

    def _final_labels(self, part: Partition, points: Points, h: float) -> tuple[IntArray, Array]:
        """Return the labels of the points and the centres; without `cluster_all`, points far from them are noise."""
        labels, centers = drop_small(part, self.min_cluster_size)
        if not self.cluster_all and len(centers):
            modes = points.to_canonical(points.to_data(centers))
            labels = np.where(kth_distance(modes, 1, points.values) > h, -1, labels)
        return labels, centers

    def _cell_unit(self, settings: FitSettings, points: Points) -> float:
        """Return the bandwidth of the settings or, if it is 0, a positive one that gives the same result."""
        h = settings.smallest_bandwidth
        if h > 0:
            return float(np.clip(h, MIN_EXTENT, MAX_EXTENT))  # so that its square does not overflow
        # as with 0, no point is within this bandwidth of another: it is half the smallest distance of two points
        return float(kth_distance(points.values, 2).min()) / 2 if len(points.values) > 1 else 1.0

    def _seeds(self, points: Points, h: float) -> Seeds | None:
        """Return the initial positions of the climbers; None if they start at the points."""
        if self.seeds is None:
            if not self.bin_seeding:
                return None
            seeds = bin_seeds(points, h, check_integer("min_bin_freq", self.min_bin_freq, low=1))
        else:
            given = check_state(self.seeds, name="seeds").astype(points.values.dtype)
            d = points.n_features
            if given.shape[1] != d:
                raise ValueError(f"seeds has {given.shape[1]} features, but X has {d}.")
            seeds = Seeds(points.to_canonical(given))
        if not len(seeds.positions):
            return None
        if seeds.nearest is None:
            moved, isolated = moved_to_points(seeds.positions, points, h, self.n_jobs)
            if self.seeds is not None and isolated.all() and get_profile(self.profile) is FLAT:
                raise ValueError(
                    f"No point was within bandwidth={h:g} of any seed. Use other seeds or increase the bandwidth."
                )
            seeds = Seeds(moved)
        return seeds


def _with_weightless(data: FitData, basins: Basins, n_jobs: int | None) -> FitData:
    """Return the data after rows of weight 0 are assigned to points, as in `predict`."""
    if data.weightless is None:
        return data
    rows, positions = data.weightless
    inverse = data.points.inverse.copy()
    inverse[rows] = find_points(data.points, positions, basins, n_jobs=n_jobs)
    return replace(data, points=data.points._replace(inverse=inverse))
