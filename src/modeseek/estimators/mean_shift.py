"""MeanShift: every point climbs the density of the data; a drop-in for scikit-learn's."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from modeseek._common.distances import kth_distance
from modeseek._common.neighbors import nearest
from modeseek._common.points import MAX_EXTENT, MIN_EXTENT, Points
from modeseek._common.types import Array, IntArray, Watcher
from modeseek._common.unique_rows import sorted_unique_rows
from modeseek._common.validation import check_choice, check_integer, check_number, check_state
from modeseek.estimators.chain_clusterer import ChainClusterer, partition_of_rows
from modeseek.estimators.result import FitData, FitResult, FitSettings, drop_small, make_result
from modeseek.meanshift.chains import ChainResult, Record, RecordSpec, Stopping, as_record, mean_shift
from modeseek.meanshift.engines.weight_within_radius import weight_within_radius
from modeseek.meanshift.kernels.profiles import FLAT, Profile, get_profile
from modeseek.meanshift.partition import Partition, components, diameter_of, gap_of, merge_modes, partition_of
from modeseek.meanshift.types import Callback

__all__ = ["MeanShift"]


class _Modes(NamedTuple):
    """Modes and who climbed to them: `labels` of the climbers, `centers` of the modes."""

    labels: IntArray
    centers: Array


class _Seeds(NamedTuple):
    """Where climbers start, in the points' coordinates.

    `own` is the nearest seed of each point, as far as the making of seeds tells it (-1 where not): a point rounds to
    the nearest corner of a grid, so where that corner is a seed nobody has to look for a nearer one.
    """

    places: Array
    own: IntArray | None = None


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

    def __init__(
        self,
        bandwidth: float | None = None,
        *,
        seeds: ArrayLike | None = None,
        bin_seeding: bool = False,
        min_bin_freq: int = 1,
        cluster_all: bool = True,
        n_jobs: int | None = None,
        max_iter: int = 300,
        profile: str | Profile = "biweight",
        metric: str = "euclidean",
        assign_labels: str = "basin",
        tol: float | None = None,
        min_cluster_size: int = 1,
        sketch: str | None = None,
        resolution: float = 1 / 16,
        engine: str = "auto",
        verbose: int = 0,
        callbacks: Sequence[Callback] | None = None,
        record: RecordSpec = None,
        checkpoint: str | os.PathLike[str] | None = None,
        checkpoint_every: float = 60.0,
    ):
        self.bandwidth = bandwidth
        self.seeds = seeds
        self.bin_seeding = bin_seeding
        self.min_bin_freq = min_bin_freq
        self.cluster_all = cluster_all
        self.n_jobs = n_jobs
        self.max_iter = max_iter
        self.profile = profile
        self.metric = metric
        self.assign_labels = assign_labels
        self.tol = tol
        self.min_cluster_size = min_cluster_size
        self.sketch = sketch
        self.resolution = resolution
        self.engine = engine
        self.verbose = verbose
        self.callbacks = callbacks
        self.record = record
        self.checkpoint = checkpoint
        self.checkpoint_every = checkpoint_every

    def _choose_settings(self, sample: Points, watch: Watcher | None) -> FitSettings:
        if self.bandwidth is not None:
            return FitSettings(bandwidth=check_number("bandwidth", self.bandwidth, strict=False))
        return FitSettings(bandwidth=self._single_bandwidth(None, sample, watch))

    def _solve(self, data: FitData, watch: Watcher | None) -> FitResult:
        check_choice("assign_labels", self.assign_labels, ("basin", "nearest"))
        points = data.points
        h = self._finest(data.settings, points)
        seeds = self._seeds(points, h)
        flat = get_profile(self.profile) is FLAT
        tol = (1e-3 if flat else 1e-4) if self.tol is None else check_number("tol", self.tol, strict=False)
        sweeps = check_integer("max_iter", self.max_iter, low=1)
        queries = seeds.places if seeds else points.values
        chain = mean_shift(self._problem(points, h), h, tol=tol, queries=queries, most_steps=sweeps)
        limit = 2 * sweeps * len(queries) + 1  # never reached: climbers that go ahead may climb twice
        stopping = Stopping(h / 4, max_sweeps=sweeps, max_updates=limit)
        result = self._run(chain, stopping, watch)
        part = self._partition(points, seeds, result, h)
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

    def _seeds(self, points: Points, h: float) -> _Seeds | None:
        """Return where climbers start; None means at the points."""
        if self.seeds is not None:
            given = check_state(self.seeds, name="seeds").astype(points.values.dtype)
            d = points.values.shape[1]
            if given.shape[1] != d:
                raise ValueError(f"seeds has {given.shape[1]} features where X has {d}.")
            seeds = _Seeds(points.to_canonical(given))
        elif self.bin_seeding:
            seeds = self._bin_seeds(points, h)
        else:
            return None
        if len(seeds.places) == 0:
            return None
        if seeds.own is None:
            # a climber with nobody in reach would never move
            lonely = kth_distance(points.values, 1, seeds.places, n_jobs=self.n_jobs) > h
            if lonely.any():
                home = nearest(points.values, seeds.places[lonely], n_jobs=self.n_jobs)
                seeds.places[lonely] = points.values[home]
        return seeds

    def _bin_seeds(self, points: Points, h: float) -> _Seeds:
        """Return scikit-learn's bin seeds: corners of the grid of width h that enough points round to."""
        frequency = check_integer("min_bin_freq", self.min_bin_freq, low=1)
        rows = points.values.astype(np.float64) + points.offset
        rounded = np.round(rows / h)
        first, inverse = sorted_unique_rows(rounded)
        enough = np.bincount(inverse, weights=points.weights) >= frequency
        corners = rounded[first[enough]] * h
        if points.geometry.spherical:
            corners = corners[np.linalg.norm(corners, axis=1) > 0]
        places = np.ascontiguousarray(points.to_canonical(corners).astype(points.values.dtype))
        # half a diagonal is the farthest that a point can be from its corner: within reach up to three dimensions,
        # if the corner is where it should be
        sharp = np.finfo(places.dtype).eps * np.abs(rows).max() < 1e-3 * h
        near = not points.geometry.spherical and rows.shape[1] <= 3 and sharp
        return _Seeds(places, np.where(enough, np.cumsum(enough) - 1, -1)[inverse] if near else None)

    def _modes(self, points: Points, climber_weights: Array, ends: Array, h: float) -> _Modes:
        """Tell which climbers ended at one mode."""
        if get_profile(self.profile) is not FLAT:
            part = partition_of(ends, climber_weights, components(ends, h / 4), points.geometry)
            return _Modes(part.labels, part.centers)
        # flat weights have plateaus, so ends within h of a higher one belong to it, as in scikit-learn
        first, inverse = sorted_unique_rows(np.round(ends.astype(np.float64) / (1e-9 * h)))
        heights = weight_within_radius(ends[first], points.values, h, points.weights, n_jobs=self.n_jobs)
        labels, kept = merge_modes(ends[first], heights, h)
        return _Modes(labels[inverse], ends[first][kept])

    def _partition(self, points: Points, seeds: _Seeds | None, result: ChainResult, h: float) -> Partition:
        """Hand the modes on from the climbers to the points."""
        # climbers that came together ended at one place: one of them stands for all
        first, climbers = sorted_unique_rows(result.state.points)
        ends = result.state.points[first]
        modes = self._modes(points, np.bincount(climbers, weights=None if seeds else points.weights), ends, h)
        labels = self._labels_of(points, seeds, _Modes(modes.labels[climbers], modes.centers))
        sizes = np.bincount(labels, weights=points.weights, minlength=len(modes.centers))
        diameter, gap = diameter_of(ends, modes.labels), gap_of(ends, modes.labels)
        return Partition(labels, modes.centers, sizes, diameter, gap)

    def _labels_of(self, points: Points, seeds: _Seeds | None, modes: _Modes) -> IntArray:
        if self.assign_labels == "nearest":
            return nearest(modes.centers, points.values, n_jobs=self.n_jobs)
        if seeds is None:
            return modes.labels
        if seeds.own is None:
            return modes.labels[nearest(seeds.places, points.values, n_jobs=self.n_jobs)]
        own = seeds.own.copy()
        astray = np.flatnonzero(own < 0)
        own[astray] = nearest(seeds.places, points.values[astray], n_jobs=self.n_jobs)
        return modes.labels[own]
