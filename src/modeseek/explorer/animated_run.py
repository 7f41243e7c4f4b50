"""The run of an estimator, computed frame by frame for the animation."""

import time
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from modeseek._common.types import Array, IntArray
from modeseek.estimators.alternatives import chosen_one, listed_alternatives
from modeseek.estimators.matching import matched_labels
from modeseek.estimators.result import FitResult
from modeseek.estimators.stepwise import StepwiseFit
from modeseek.explorer.clump_colors import ClumpColors
from modeseek.explorer.prepared_data import PreparedData
from modeseek.explorer.run_history import RunHistory, relative_objective
from modeseek.explorer.run_settings import RunSettings
from modeseek.meanshift.components import components
from modeseek.meanshift.types import ChainState


class AnimationFrame(NamedTuple):
    """The points and the numbers that the page shows at one time of a run.

    Attributes
    ----------
    positions : (m, 2) float32 array
        Positions of the points that are drawn.
    colors : (m,) uint8 array
        Colour of each point: a number of `ClumpColors`, or its cluster after the end of the run (255 for noise).
    clumps : int
        Number of groups of drawn points closer than tau; the number of clusters after the end.
    updates : int
        Number of single-point updates.
    sweeps : float
        Number of sweeps.
    h : float
        The last bandwidth.
    shift : float
        Largest shift of the sweep.
    """

    positions: Array
    colors: IntArray
    clumps: int
    updates: int = 0
    sweeps: float = 0.0
    h: float = np.nan
    shift: float = np.nan


class Alternative(NamedTuple):
    """A partition that ModeSeek considered and did not choose.

    Attributes
    ----------
    n_clusters : int
    note : str
        Its rating, such as "expected agreement 0.87".
    colors : (m,) uint8 array
        Colour of each drawn point, as in `AnimationFrame`. A cluster that matches a cluster of the chosen partition has
        its colour.
    """

    n_clusters: int
    note: str
    colors: IntArray

    def __str__(self) -> str:
        return f"{self.n_clusters} clusters ({self.note})"


class AnimatedRun:
    """The fit of an estimator, computed frame by frame. Missing bandwidths are chosen from the data.

    Parameters
    ----------
    data : PreparedData
    settings : RunSettings
    cancelled : callable, optional
        Function without arguments that returns whether to stop. It is called during fits that cannot be animated.

    Attributes
    ----------
    frame : AnimationFrame
        The current frame.
    result : FitResult or None
        None until the run has ended.
    history : RunHistory
    alternatives : tuple of Alternative
        Other partitions that ModeSeek considered, the best first.
    chosen_note : str
        Rating of the chosen partition, as in `Alternative.note`; "" if the partition has none.
    bandwidths : dict
        Bandwidths of the run by parameter name, including those chosen from the data.
    start : (m, 2) array
        Positions of the drawn points before the run.
    axes : (str, str)
        Labels of the axes.
    between_sweeps : bool
        Whether the last frame is at the end of a sweep.
    """

    def __init__(self, data: PreparedData, settings: RunSettings, cancelled: Callable[[], bool] = lambda: False):
        self.data, self.settings, self._cancelled = data, settings, cancelled
        self._model: Any = settings.make_estimator().set_params(callbacks=[self._check_cancelled])
        self.result: FitResult | None = None
        self.history = RunHistory()
        self.alternatives: tuple[Alternative, ...] = ()
        self.chosen_note = ""
        self.bandwidths: dict[str, float] = {}
        self.between_sweeps = True
        self._fit: StepwiseFit | None = None
        if settings.moves:
            filled = settings.with_range(lambda: data.automatic_range(self._model))
            self._model.set_params(**filled.parameters, n_jobs=-1 if settings.n_chains > 1 else None)
            self._fit = StepwiseFit(self._model, data.X, part_size=self._part_size)
            self.bandwidths = self._fit.data.settings.bandwidths
        points = data.canonical(settings.metric) if self._fit is None else self._fit.data.points
        self._project = data.projector(points)
        self.start, self.axes = self._project.start, self._project.axes
        shown = len(data.shown)
        self._clump_colors = ClumpColors(shown)
        self.frame = AnimationFrame(self.start, self._clump_colors.update(np.arange(shown)), shown)
        self._part, self._whole = data.config.first_part, False
        self._sweep_shift, self._count_due = 0.0, 0.0
        if self._fit is not None:
            self._show(self._fit, self._fit.sweeps.state, 0.0, np.nan)
            self._record(self._fit)

    def advance(self, *, whole: bool = False) -> None:
        """Compute the next frame or, if `whole`, the rest of the sweep; do nothing after the end of the run."""
        if self.result is not None:
            return
        fit = self._fit
        if fit is None:
            self._end(self._model_result())
            chosen = chosen_one(self._model)
            self.chosen_note = "" if chosen is None else f"expected agreement {chosen.expected_agreement:.2f}"
            self.alternatives = tuple(
                Alternative(
                    each.n_clusters, f"expected agreement {each.expected_agreement:.2f}", self._matched(each.labels)
                )
                for each in listed_alternatives(self._model)
            )
            return
        self._whole = whole
        began, before = time.perf_counter(), self.frame
        if (step := next(fit.sweeps, None)) is not None:
            state, info = step
            self._adapt_part(time.perf_counter() - began)
            self._sweep_shift = max(self._sweep_shift, info.largest_shift)
            self.between_sweeps = bool(info.sweeps)
            done = fit.sweeps.sweeps + (0 if info.sweeps else (state.k - fit.sweeps.state.k) / len(state.points))
            self.history.add_bandwidths(before.sweeps, done, info.bandwidths)
            self._show(fit, state, float(done), self._sweep_shift)
            if info.sweeps:
                self._sweep_shift = 0.0
                self._record(fit)
        if fit.sweeps.outcome is not None:
            self._end(fit.result() if fit.is_whole_fit else self._model_result())

    def _part_size(self) -> int:
        assert self._fit is not None
        n = len(self._fit.data.points.values)
        return min(self._part, n if self._whole else -(-n // self.data.config.parts_per_sweep))

    def _adapt_part(self, seconds: float) -> None:
        factor = np.clip(self.data.config.part_seconds / max(seconds, 1e-6), 0.2, 2.0)
        self._part = int(np.clip(self._part * factor, 16, len(self.data.X)))

    def _model_result(self) -> FitResult:
        """Fit the estimator: frames of several chains, of mean shift and of ModeSeek show only a part of the fit."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # no warnings: the page shows the outcome
            self._model.fit(self.data.X)
        return self._model.result_

    def _matched(self, labels: IntArray) -> IntArray:
        matched = matched_labels(labels, self._model.labels_)
        return (matched[self.data.shown] % 255).astype(np.uint8)

    def _check_cancelled(self, *_: object) -> None:
        if self._cancelled():
            raise KeyboardInterrupt

    def _end(self, result: FitResult) -> None:
        labels = result.labels[self.data.shown]
        colors = np.where(labels < 0, 255, labels % 255).astype(np.uint8)  # colours repeat after 255 clusters
        self.frame = self.frame._replace(colors=colors, clumps=result.n_clusters)
        self.result = result

    def _show(self, fit: StepwiseFit, state: ChainState, sweeps: float, shift: float) -> None:
        colors, clumps, config = self.frame.colors, self.frame.clumps, self.data.config
        rows, began = self._project.rows, time.perf_counter()
        if len(rows) <= config.max_clump_points or began >= self._count_due:
            labels = components(state.points[rows], fit.stopping.tau)
            colors, clumps = self._clump_colors.update(labels), int(labels.max()) + 1
            ended = time.perf_counter()
            self._count_due = ended + (ended - began) / config.clump_time_share
        self.frame = AnimationFrame(self._project(state.points), colors, clumps, state.k, sweeps, state.h, shift)

    def _record(self, fit: StepwiseFit) -> None:
        h = self.bandwidths.get("h_inf") or self.bandwidths["bandwidth"]
        level = relative_objective(fit.sweeps.state.points, fit.chain, h, self.data.config.objective_points)
        self.history.add_level(fit.sweeps.sweeps, level, self.frame.clumps)
