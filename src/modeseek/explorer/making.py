"""From settings to a chain on a subject, as the estimators would make it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from modeseek._common.points import Points
from modeseek._common.types import Array
from modeseek.explorer.data import Subject
from modeseek.explorer.settings import Settings
from modeseek.meanshift.bandwidth import Constant, DrawPlan, make_policy
from modeseek.meanshift.chains import Chain, Problem, Stopping, blurring, doubly_stochastic, mean_shift, stochastic
from modeseek.meanshift.engines import choose
from modeseek.meanshift.kernels.profiles import FLAT, get_profile
from modeseek.meanshift.types import ChainState, Draws, Workspace
from modeseek.selection.bandwidths import Range, complete_range

__all__ = ["Made", "Sweeping", "make"]

TOL = 1e-6
MOST_ITERATIONS = 300


class Made(NamedTuple):
    """A chain with what a run needs to know of it.

    Attributes
    ----------
    points : Points
    chain : Chain
    stopping : Stopping
    h : Range
        The range in force; three times the bandwidth where there is one only.
    plan : DrawPlan or None
        What chance decides, where points move one by one: a sweep can then be cut in pieces.
    """

    points: Points
    chain: Chain
    stopping: Stopping
    h: Range
    plan: DrawPlan | None


def make(subject: Subject, settings: Settings) -> Made:
    """Make the chain of some settings; what is None in them is taken from the data."""
    points = subject.points(settings.metric)
    h = _range(subject, points, settings)
    profile = get_profile(settings.profile)
    engine = choose("auto", profile, points.values, h.h_max)
    problem = Problem(points.values, points.weights, profile, points.geometry, engine)
    if settings.algorithm == "ms":
        tol = 1e-3 if profile is FLAT else 1e-4
        # nobody goes ahead: all shall be seen climbing
        chain = mean_shift(problem, h.h_max, tol=tol, most_steps=0)
        limit = MOST_ITERATIONS * len(points.values) + 1
        return Made(points, chain, Stopping(h.h_max / 4, max_sweeps=MOST_ITERATIONS, max_updates=limit), h, None)
    plan = None
    if settings.algorithm == "bms":
        chain = blurring(problem, h.h_max)
    elif settings.algorithm == "sms":
        chain = stochastic(problem, h.h_max, seed=settings.seed)
        plan = DrawPlan(problem.weights, Constant(h.h_max), settings.seed)
    else:
        policy = make_policy(settings.policy, h.h_min, h.h_max, h.h_inf, settings.nu)
        chain = doubly_stochastic(problem, policy, seed=settings.seed)
        plan = DrawPlan(problem.weights, policy, settings.seed)
    return Made(points, chain, Stopping(chain.h_min / 4, threshold=TOL * chain.h_min), h, plan)


def _range(subject: Subject, points: Points, settings: Settings) -> Range:
    if settings.algorithm != "dsms":
        h = subject.automatic(points).single if settings.bandwidth is None else settings.bandwidth
        return Range(h, h, h)
    if settings.h_min is not None and settings.h_inf is not None and settings.h_max is not None:
        return Range(settings.h_min, settings.h_inf, settings.h_max)
    return complete_range(settings.h_min, settings.h_inf, settings.h_max, subject.automatic(points))


@dataclass
class Sweeping:
    """A sweep cut in pieces: the same draws in the same order, so what comes out is what `Chain.sweep` gives.

    Parameters
    ----------
    problem : Problem
    plan : DrawPlan
    """

    problem: Problem
    plan: DrawPlan
    _workspace: Workspace | None = None

    def begin(self, state: ChainState) -> None:
        """Draw for the sweep that follows a state."""
        self._draws, self._path = self.plan.sweep(state.k // self.plan.updates, state.h)
        self._state, self._done = state, 0
        self._last = state.last_shift.copy()
        self._longest = 0.0
        if self._workspace is None:
            self._workspace = self.problem.open()

    @property
    def left(self) -> int:
        """Updates to go."""
        return len(self._path) - self._done

    @property
    def done(self) -> int:
        """Updates done."""
        return self._done

    def go(self, count: int) -> Array:
        """Make so many updates, or those that are left; return the bandwidths drawn."""
        assert self._workspace is not None
        piece = slice(self._done, self._done + count)
        indices = self._draws.indices[piece]
        lengths = self._workspace.shift_each(Draws(indices, self._draws.bandwidths[piece]))
        self._last[indices] = lengths  # a point drawn twice keeps its last
        self._longest = max(self._longest, float(np.max(lengths, initial=0.0)))
        self._done += len(indices)
        return self._path[piece]

    def now(self) -> ChainState:
        """Return where the chain is; between two sweeps for the eye only."""
        assert self._workspace is not None
        h = float(self._path[self._done - 1]) if self._done else self._state.h
        return ChainState(self._workspace.points, h, self._state.k + self._done, self._last)

    @property
    def longest(self) -> float:
        """The longest move so far."""
        return self._longest
