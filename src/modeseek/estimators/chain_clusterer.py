"""Base class of the four mean shifts: make a chain, run it, read off the clusters."""

import os
from dataclasses import dataclass, replace
from math import hypot, sqrt
from typing import Any, ClassVar

from sklearn.exceptions import ConvergenceWarning

from modeseek._common.points import Points
from modeseek._common.sphere import meters_to_chord
from modeseek._common.types import Array, Geometry, IntArray, Watcher
from modeseek._common.validation import check_number, check_tau
from modeseek.estimators.advice import advise_on_bandwidth, advise_on_engine, warn
from modeseek.estimators.base import BaseClusterer
from modeseek.estimators.result import FitData, FitResult, FitSettings, drop_small, make_result
from modeseek.meanshift.chains.chain import Chain
from modeseek.meanshift.chains.checkpoint import Checkpoint
from modeseek.meanshift.chains.problem import Problem
from modeseek.meanshift.chains.progress import ChainProgress
from modeseek.meanshift.chains.run import ChainResult, partition, run
from modeseek.meanshift.chains.stopping import Outcome, Stopping
from modeseek.meanshift.chains.trace import STATE_QUANTITIES, Record, RecordSpec, as_record
from modeseek.meanshift.engines import choose
from modeseek.meanshift.kernels.profiles import Profile, get_profile
from modeseek.meanshift.partition import Partition
from modeseek.meanshift.types import Callback
from modeseek.selection.bandwidths import Range, automatic_range
from modeseek.selection.bandwidths.automatic import Algorithm
from modeseek.sketches import Sketch, SketchPoints


@dataclass(eq=False, repr=False, kw_only=True)
class ChainClusterer(BaseClusterer):
    """Base class of the mean shifts: a subclass implements `_choose_settings` and `_make_chain`."""

    profile: str | Profile = "biweight"
    tol: float | None = 1e-6
    resolution: float = 1 / 16
    engine: str = "auto"
    record: RecordSpec = None
    checkpoint: str | os.PathLike[str] | None = None
    checkpoint_every: float = 60.0

    # parameter of the largest bandwidth
    _bandwidth_parameter: ClassVar[str] = "bandwidth"
    # the algorithm for which bandwidths are chosen
    _abbreviation: ClassVar[Algorithm] = "BMS"
    # what to do if a run met a limit
    _remedy: ClassVar[str] = "Increase max_updates or max_time, or use larger bandwidths."
    # what `record` may name
    _quantities: ClassVar[tuple[str, ...]] = STATE_QUANTITIES

    def _make_chain(self, data: FitData) -> tuple[Chain, Stopping]:
        """Return the chain to run and when to stop it."""
        raise NotImplementedError

    def _solve(self, data: FitData, watch: Watcher | None) -> FitResult:
        chain, stopping = self._make_chain(data)
        return self._result_of(data, chain, stopping, self._run(chain, stopping, watch))

    def _result_of(self, data: FitData, chain: Chain, stopping: Stopping, result: ChainResult) -> FitResult:
        """Return the result of a chain that has ended."""
        points, part = data.points, partition(chain, result, stopping.tau)
        return self._chain_result(
            data,
            part,
            drop_small(part, self.min_cluster_size),
            settings=self._in_force(data, chain, stopping),
            outcome=result.outcome,
            n_updates=result.state.k,
            points=points.to_data(result.state.points)[points.inverse],
            trace=result.trace.restored(points),
        )

    def _chain_result(
        self, data: FitData, part: Partition, final: tuple[IntArray, Array], *, outcome: Outcome, **fields: Any
    ) -> FitResult:
        """Return the result of a partition; `final` has labels and centres after small clusters became noise, -1."""
        points, (labels, centers) = data.points, final
        of_rows = replace(part, labels=part.labels[points.inverse], centers=points.to_data(part.centers))
        fields = {"outcome": outcome, "message": outcome.value, "partition": of_rows} | fields
        return make_result(type(self).__name__, data, labels, centers, **fields)

    def _in_force(self, data: FitData, chain: Chain, stopping: Stopping) -> FitSettings:
        return replace(data.settings, engine=chain.problem.engine.name, tau=stopping.tau)

    def _run(self, chain: Chain, stopping: Stopping, watch: Watcher | None) -> ChainResult:
        own: list[Callback] = [] if watch is None else [ChainProgress(watch, chain, stopping)]
        result = self._run_chain(chain, stopping, [*own, *(self.callbacks or ())], self._checkpoint(watch))
        if result.outcome is Outcome.INTERRUPTED and not result.sweeps:
            raise KeyboardInterrupt(f"{type(self).__name__}: interrupted before the first sweep; there is no result")
        self._warn_unless_converged(result.outcome, result.state.k)
        return result

    def _run_chain(
        self, chain: Chain, stopping: Stopping, callbacks: list[Callback], checkpoint: Checkpoint | None
    ) -> ChainResult:
        return run(chain, stopping, record=self._record(), callbacks=callbacks, checkpoint=checkpoint)

    def _check_parameters(self) -> Geometry:
        self._checkpoint()
        return super()._check_parameters()

    def _checkpoint(self, watch: Watcher | None = None) -> Checkpoint | None:
        """Return the file in which the run is saved; raise an exception if it cannot be written."""
        return None if self.checkpoint is None else Checkpoint(self.checkpoint, self.checkpoint_every, watch)

    def _record(self) -> Record:
        return as_record(self.record, self._quantities)

    def _problem(self, points: Points, h: float) -> Problem:
        """Return the points with the kernel and the engine; h is the largest bandwidth."""
        profile = get_profile(self.profile)
        chains, one_by_one = self._count_chains(), self._moves_one_by_one()
        engine = choose(self.engine, profile, points.values, h, chains=chains, one_by_one=one_by_one)
        advise_on_engine(type(self).__name__, engine.name, *points.values.shape)
        return Problem(points.values, points.weights, engine, profile, points.geometry, self.n_jobs)

    def _count_chains(self) -> int:
        return 1

    def _moves_one_by_one(self) -> bool:
        """Return whether an update moves a single point."""
        return False

    @property
    def _has_automatic_bandwidth(self) -> bool:
        return getattr(self, self._bandwidth_parameter) is None

    def _single_bandwidth(
        self, bandwidth: float | None, sample: Points, watch: Watcher | None, rounding: float, *, strict: bool = True
    ) -> float:
        """Return the given bandwidth, checked, or an automatic one. If `strict`, 0 is not allowed."""
        if bandwidth is None:
            return self._automatic_range(sample, watch, rounding).h_inf
        return self._in_points(check_number("bandwidth", bandwidth, strict=strict))

    def _in_points(self, length: float) -> float:
        """Convert a length in the units of parameters to the units of points: metres to chords under haversine."""
        return meters_to_chord(length) if self.metric == "haversine" else length

    def _automatic_range(self, sample: Points, watch: Watcher | None, rounding: float) -> Range:
        """Return the range for points spread within their rounding steps, widened for the rounded points.

        The widened kernel has the variance of the kernel plus that of the spread, `rounding`.
        """
        found = automatic_range(
            sample.values, sample.weights, geometry=sample.geometry, algorithm=self._abbreviation, watch=watch
        )
        # h^2 / (d + 6) is the variance of the biweight kernel along a coordinate
        extra = sqrt((sample.values.shape[1] + 6) * rounding)
        return Range(*(hypot(h, extra) for h in found)) if rounding else found

    def _points_of_sketch(self, sketch: Sketch, settings: FitSettings, sample: Points, kind: str) -> SketchPoints:
        h, resolution = self._cell_unit(settings, sample), check_number("resolution", self.resolution)
        return sketch.points(h, resolution, kind, self._sketch_config)

    def _cell_unit(self, settings: FitSettings, points: Points) -> float:
        """Return the smallest bandwidth; `resolution` is the width of grid cells relative to it."""
        return settings.smallest_bandwidth

    def _memory(self, n: int, d: int, itemsize: int) -> float:
        record = self._record()
        snapshots = 0 if record.snapshots is None else record.snapshot_limit(max(1, n * d))
        # a snapshot is in memory three times: as a state, in an array, and as rows of X
        return super()._memory(n, d, itemsize) + 3.0 * 8 * snapshots * n * d

    def _stopping(self, chain: Chain, tau: float | None, max_updates: int | None, max_time: float | None) -> Stopping:
        threshold = check_number("tol", self.tol, strict=False) * chain.h_min
        tau = check_tau(None if tau is None else self._in_points(check_number("tau", tau)), chain.h_min)
        return Stopping(tau, threshold=threshold, max_updates=max_updates, max_time=max_time)

    def _warn_unless_converged(self, outcome: Outcome, updates: int, labels: str = "those of the last state") -> None:
        # an interruption is raised instead, after the result is stored
        if not outcome.converged and outcome is not Outcome.INTERRUPTED:
            warn(
                f"{type(self).__name__} {outcome.value} ({updates:,} updates); labels_ are {labels}. {self._remedy}",
                ConvergenceWarning,
            )

    def _advise(self, result: FitResult) -> None:
        super()._advise(result)
        if result.n_clusters and getattr(self, self._bandwidth_parameter) is not None:
            advise_on_bandwidth(result, self._bandwidth_parameter)

    def _interruption(self, result: FitResult) -> str:
        return f"{result.message} ({result.n_updates:,} updates)"

    @property
    def _title(self) -> str:
        # the abbreviations of the paper: DSMS, SMS, BMS, MS
        return "".join(letter for letter in type(self).__name__ if letter.isupper())
