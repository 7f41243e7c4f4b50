"""MeanShift: every point climbs the density of the data; a drop-in for scikit-learn's."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass

import numpy as np
from numpy.typing import ArrayLike

from modeseek._common.distances import kth_distance
from modeseek._common.points import MAX_EXTENT, MIN_EXTENT, Points
from modeseek._common.types import Watcher
from modeseek._common.validation import check_choice, check_integer, check_number, check_state
from modeseek.estimators.chain_clusterer import ChainClusterer, partition_of_rows
from modeseek.estimators.result import FitData, FitResult, FitSettings, drop_small, make_result
from modeseek.meanshift.chains import Record, Stopping, as_record, mean_shift
from modeseek.meanshift.climbing import Seeds, bin_seeds, moved_to_points, partition_by_modes
from modeseek.meanshift.kernels.profiles import FLAT, get_profile

__all__ = ["MeanShift"]


@dataclass(eq=False, repr=False)
class MeanShift(ChainClusterer):
    """Mean shift (MS): every point climbs to a mode of the data's density, and the modes are the clusters.

    It takes all parameters of `sklearn.cluster.MeanShift`, with their meaning. `profile="flat"` gives its centres.
    Unlike there, a point's label is that of the mode it climbed to, any bandwidth gives an answer, and reaching the
    limit on iterations gives a warning.

    Parameters
    ----------
    bandwidth : float, optional
        Radius h of the kernel; 0 puts only equal rows together. None: chosen from the data, see
        docs/choosing-the-range.md; scikit-learn's own choice is `bandwidth=modeseek.estimate_bandwidth(X)`.
    seeds : array-like of shape (n_seeds, n_features), optional
        Where climbers start; every point by default. A seed with no point within the bandwidth starts at the nearest.
    bin_seeding : bool, default=False
        Start from the corners of a grid of width `bandwidth` that have points around them, instead of every point:
        faster.
    min_bin_freq : int, default=1
        Bins with fewer points give no seed.
    cluster_all : bool, default=True
        If False, points farther than the bandwidth from every centre become noise, label -1.
    n_jobs : int, optional
        Threads. Labels do not depend on it.
    max_iter : int, default=300
        Most steps of a climber.
    profile : {"biweight", "triweight", "quadweight", "flat", "gaussian"} or Profile, default="biweight"
        Shape of the kernel; "flat" is scikit-learn's.
    metric : {"euclidean", "cosine"}, default="euclidean"
        Under "cosine" rows are scaled to unit length and climbers stay on the sphere.
    assign_labels : {"basin", "nearest"}, default="basin"
        "basin" labels a point by the mode it climbed to (where seeds climb for it: by its nearest seed's mode);
        "nearest" by the nearest centre, as scikit-learn does.
    tol : float, optional
        A climber has arrived when a step is at most tol * bandwidth. None: 1e-3 for "flat", as in scikit-learn, and
        1e-4 otherwise. Climbers within about ten times that of each other climb as one ("flat": only at one place),
        and of many, some go ahead and the others stop that close to their paths ("flat": they do not).
    min_cluster_size : int, default=1
        Clusters lighter than this become noise, label -1.
    sketch : {"auto", "grid", "sample"} or None, default=None
        Whether to run on weighted points that stand for many rows: cells of a grid with the mean of their rows, or a
        sample. "auto" does so above 50,000 rows and says so in a warning; None takes every row. See docs/scale.md.
    resolution : float, default=1/16
        How wide cells of the grid may be, over the smallest bandwidth.
    engine : {"auto", "brute", "moment_tree", "neighbor_lists", "cuda", "reference"}, default="auto"
        All are exact; they differ in speed, and `engine_` tells which was taken. See docs/engines.md.
    verbose : int, default=0
        1 shows progress on a terminal.
    callbacks : sequence of callables, optional
        Each is called as f(state, info) after every sweep.
    record : "all", name, sequence of names or Record, optional
        What to keep of the run in `trace_` besides the bandwidth and the largest shifts, after every sweep: "clumps",
        "diameter", "gap", "snapshots" (of the climbers, in the rows of `points_`; where some go ahead, the others may
        take their ends in one step). Pictures of a run need it, see `modeseek.plots`; `Record` also
        says how often.
    checkpoint : str or path-like, optional
        A file for how far the run has come, saved now and then and at the end. The same fit goes on from it, and gives
        bit for bit what it gives in one piece; other data or settings are refused. See docs/how-to-checkpoints.md.
    checkpoint_every : float, default=60
        Seconds between two saves.

    Attributes
    ----------
    labels_, cluster_centers_, n_clusters_, outcome_, partition_, n_updates_, engine_, trace_
        As in `DoublyStochasticMeanShift`. Centres are modes, highest first with "flat", heaviest first otherwise.
    points_ : array
        Where each climber ended: one row for each row of X, or for each seed.
    sketch_ : SketchPoints
        If the fit ran on a sketch: its points, their weights and the width of its cells.
    bandwidth_ : float
        The bandwidth in force.
    n_iter_ : int
        Sweeps: most steps that a climber took, but for those that go ahead.

    Examples
    --------
    >>> from modeseek import MeanShift
    >>> MeanShift(bandwidth=1.0).fit_predict([[0.0], [0.1], [5.0]])
    array([0, 0, 1])
    """

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

    def _choose_settings(self, sample: Points, watch: Watcher | None) -> FitSettings:
        if self.bandwidth is not None:
            return FitSettings(bandwidth=check_number("bandwidth", self.bandwidth, strict=False))
        return FitSettings(bandwidth=self._single_bandwidth(None, sample, watch))

    def _solve(self, data: FitData, watch: Watcher | None) -> FitResult:
        check_choice("assign_labels", self.assign_labels, ("basin", "nearest"))
        points, profile = data.points, get_profile(self.profile)
        h = self._finest(data.settings, points)
        seeds = self._seeds(points, h)
        tol = (1e-3 if profile is FLAT else 1e-4) if self.tol is None else check_number("tol", self.tol, strict=False)
        sweeps = check_integer("max_iter", self.max_iter, low=1)
        start = seeds.positions if seeds else points.values
        chain = mean_shift(self._problem(points, h), h, tol=tol, queries=start, most_steps=sweeps)
        limit = 2 * sweeps * len(start) + 1  # never reached: scouts may climb a second time
        stopping = Stopping(h / 4, max_sweeps=sweeps, max_updates=limit)
        result = self._run(chain, stopping, watch)
        basins = self.assign_labels == "basin"
        part = partition_by_modes(points, seeds, result.state.points, h, profile, basins=basins, n_jobs=self.n_jobs)
        labels, centers = drop_small(part, self.min_cluster_size)
        if not self.cluster_all and len(centers):
            modes = points.to_canonical(points.to_data(centers))
            labels = np.where(kth_distance(modes, 1, points.values) > h, -1, labels)
        ends = points.to_data(result.state.points)
        return make_result(
            type(self).__name__,
            data,
            labels,
            centers,
            outcome=result.outcome,
            message=result.outcome.value,
            settings=self._in_force(data, chain, stopping),
            partition=partition_of_rows(part, points),
            n_updates=result.state.k,
            n_iter=max(result.sweeps, 1),
            points=ends[points.inverse] if seeds is None else ends,
            trace=result.trace.restored(points, climbers=seeds is not None),
        )

    def _finest(self, settings: FitSettings, points: Points) -> float:
        """Return a positive bandwidth that stands for the one of the settings, which may be 0."""
        assert settings.bandwidth is not None
        if settings.bandwidth > 0:
            return float(np.clip(settings.bandwidth, MIN_EXTENT, MAX_EXTENT))  # so that its square does not overflow
        # half the smallest distance between two points reaches no other point either
        return float(kth_distance(points.values, 2).min()) / 2 if len(points.values) > 1 else 1.0

    def _record(self) -> Record:
        # L_h is of points that move against each other; these climb a density that stays
        return as_record(self.record, ("clumps", "diameter", "gap", "snapshots"))

    def _remedy(self) -> str:
        return "Raise max_iter or tol."

    def _seeds(self, points: Points, h: float) -> Seeds | None:
        """Return where climbers start; None: at the points."""
        if self.seeds is None:
            if not self.bin_seeding:
                return None
            seeds = bin_seeds(points, h, check_integer("min_bin_freq", self.min_bin_freq, low=1))
        else:
            given = check_state(self.seeds, name="seeds").astype(points.values.dtype)
            d = points.values.shape[1]
            if given.shape[1] != d:
                raise ValueError(f"seeds has {given.shape[1]} features where X has {d}.")
            seeds = Seeds(points.to_canonical(given))
        if not len(seeds.positions):
            return None
        if seeds.nearest is None:
            seeds = Seeds(moved_to_points(seeds.positions, points, h, self.n_jobs))
        return seeds
