"""The four algorithms as constructors of one `Chain`.

Each is the operator S_h applied again and again; they differ in who moves, against what, and with which h:

- `mean_shift`: every query, against the data, which never move; fixed h;
- `blurring`: all points at once, against the current state; fixed h;
- `stochastic`: one random point (or a batch), against the current state; fixed h;
- `doubly_stochastic`: the same with a random h: a policy, not another loop.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from modeseek._common.types import Array, Geometry
from modeseek._common.validation import METRICS, check_choice, check_number, check_state, check_weights
from modeseek.meanshift.bandwidth import Constant, DrawPlan
from modeseek.meanshift.chains.climbers import Ascent, Climb
from modeseek.meanshift.engines import choose
from modeseek.meanshift.kernels.profiles import BIWEIGHT, Profile, get_profile
from modeseek.meanshift.types import BandwidthPolicy, ChainState, ClimbingWorkspace, Engine, SweepInfo, Workspace

__all__ = ["Chain", "Problem", "blurring", "doubly_stochastic", "make_problem", "mean_shift", "stochastic"]

# a bandwidth that a draw changes by less than this share of it counts as fixed
FROZEN = 1e-5
# climbers join in cells of this many times tol * h, where weights are continuous
TOGETHER = 10.0
# ... but not in wider ones than this share of h, however loose tol is: there labels begin to change
WIDEST = 5e-3
# in shares of h: what rounding alone can put between two climbers at one place
ROUNDING = 1e-9
# with fewer climbers times dimensions, what goes on around the sums costs what paths save (benchmarks/climbing.py)
PATHS_FROM = 30_000


@dataclass(frozen=True, eq=False)
class Problem:
    """What all algorithms are given: the points, their weights, the kernel, the space and an engine.

    Attributes
    ----------
    points : (n, d) array
        The initial state; for mean shift, the data. Centred data lose least to rounding.
    weights : (n,) array
    profile : Profile
    geometry : Geometry
    engine : Engine, optional
        Default: what `engines.choose` makes of "auto".
    n_jobs : int, optional
        Threads for simultaneous updates.
    """

    points: Array
    weights: Array
    profile: Profile = BIWEIGHT
    geometry: Geometry = field(default_factory=Geometry)
    engine: Engine | None = None
    n_jobs: int | None = None

    def __post_init__(self) -> None:
        if self.engine is None:
            object.__setattr__(self, "engine", choose("auto", self.profile, self.points))

    def open(self, points: Array | None = None) -> Workspace:
        """Open the engine's workspace on the points, or on others."""
        points = self.points if points is None else points
        assert self.engine is not None
        return self.engine.open(points, self.weights, self.profile, self.geometry, self.n_jobs)


def make_problem(
    points: ArrayLike,
    weights: ArrayLike | None = None,
    *,
    profile: str | Profile = "biweight",
    metric: str = "euclidean",
    engine: str = "auto",
    n_jobs: int | None = None,
) -> Problem:
    """Return a checked `Problem` from plain arrays and names; under cosine, points must be unit vectors."""
    state = check_state(points)
    geometry = Geometry(check_choice("metric", metric, METRICS))
    if geometry.spherical and not np.allclose(np.linalg.norm(state, axis=1), 1.0, atol=1e-5):
        raise ValueError('points must be unit vectors under metric="cosine": divide each row by its length.')
    kernel = get_profile(profile)
    return Problem(state, check_weights(weights, len(state)), kernel, geometry, choose(engine, kernel, state), n_jobs)


class Chain(NamedTuple):
    """An algorithm: where it starts and how it goes on. The state is carried, the info is never fed back.

    Attributes
    ----------
    name : str
    problem : Problem
    h_min : float
        Smallest bandwidth that can be drawn, per-point scale included.
    init : callable
        () -> ChainState, before the first update.
    sweep : callable
        ChainState -> (ChainState, SweepInfo): about n updates.
    upper : callable or None
        ChainState -> largest bandwidth still to come, per-point scale included; None where data never move and
        so nothing can be certified: then `frozen` tells when the run is over.
    frozen : callable
        ChainState -> whether what is left to happen is settled. Where points move against each other: the next draw
        cannot change the bandwidth (by more than 1e-5 of it), or nobody knows how far it can go, so that small
        shifts mean something, or are all there is to go by. Where data never move: every query has arrived.
    arrived : callable, optional
        ChainState -> which queries have arrived, where data never move.
    plan : DrawPlan, optional
        What chance decides, where it decides anything: all that an engine needs to run the chain by itself.
    parameters : dict, optional
        Other numbers that the chain was made with, by name.
    """

    name: str
    problem: Problem
    h_min: float
    init: Callable[[], ChainState]
    sweep: Callable[[ChainState], tuple[ChainState, SweepInfo]]
    upper: Callable[[ChainState], float] | None
    frozen: Callable[[ChainState], bool]
    arrived: Callable[[ChainState], Array] | None = None
    plan: DrawPlan | None = None
    parameters: dict[str, float] | None = None


def _start(points: Array, h: float) -> ChainState:
    return ChainState(points, float(h), 0, np.full(len(points), np.inf))


def _always(state: ChainState) -> bool:
    return True


class _Held:
    """A workspace and the state it holds, so that a sweep continues from whichever state it is given."""

    def __init__(self, problem: Problem):
        self._problem = problem
        self._workspace: Workspace | None = None
        self._points: Array | None = None

    def at(self, points: Array) -> Workspace:
        if self._workspace is None:
            # always where the chain starts: an engine may arrange itself by what it is opened on
            self._workspace, self._points = self._problem.open(), self._problem.points
        if points is not self._points:
            self._workspace.load(points)
        self._points = None  # until the sweep is over the workspace is between states
        return self._workspace

    def leave(self) -> Array:
        assert self._workspace is not None
        self._points = self._workspace.points
        return self._points


def mean_shift(
    problem: Problem, h: float, *, tol: float = 1e-6, queries: Array | None = None, most_steps: int = 300
) -> Chain:
    """Return plain mean shift: every query climbs the density of the data, which never move.

    Climbers that have come together climb as one. Where weights fall continuously to 0 at the rim, that is in cells of
    side 10 * tol * h, at most 0.005 h: about as far from each other as from the mode when they stop. Other weights,
    like flat ones, have plateaus on which neighbours part, so there climbers join when only rounding (1e-9 h) is
    between them.

    Where weights are continuous and climbers are many, some go ahead, in the first sweep. The others stop where they
    enter a cell (the same ones) on the path of one that arrived, and take its end.

    On a GPU, up to three dimensions, everyone climbs alone, and to the end in one sweep.

    Parameters
    ----------
    problem : Problem
    h : float
    tol : float
        A query has arrived when a shift is at most tol * h; from then on it rests.
    queries : (m, d) array, optional
        Where climbers start. Default: at the data.
    most_steps : int
        One that goes ahead and has not arrived after so many steps leaves no path; 0: nobody goes ahead.
    """
    check_number("bandwidth", h)
    start = problem.points if queries is None else queries
    side = h * max(min(TOGETHER * tol, WIDEST) if problem.profile.proven else 0.0, ROUNDING)
    # other weights let climbers stop only where their places agree to rounding, which saves next to nothing
    pays = problem.profile.proven and start.size >= PATHS_FROM
    workspace = problem.open()
    climb: Climb | Ascent
    if isinstance(workspace, ClimbingWorkspace) and workspace.climbs:
        climb = Ascent(workspace, start, h, tol, max(most_steps, 1))
    else:
        climb = Climb(workspace, start, h, tol, side, most_steps if pays else 0)

    def arrived(state: ChainState) -> Array:
        return ~climb.climbing(state)

    return Chain(
        "mean shift",
        problem,
        h,
        climb.begin,
        climb.sweep,
        None,
        lambda state: bool(arrived(state).all()),
        arrived,
        parameters={"bandwidth": float(h), "tol": float(tol), "most steps": int(most_steps)},
    )


def blurring(problem: Problem, h: float) -> Chain:
    """Return blurring mean shift: all points move at once, against the current state."""
    check_number("bandwidth", h)
    held = _Held(problem)

    def sweep(state: ChainState) -> tuple[ChainState, SweepInfo]:
        workspace = held.at(state.points)
        new = workspace.shift_all(state.points, h)
        workspace.load(new)
        last_shift = np.linalg.norm(new.astype(np.float64) - state.points, axis=1)
        info = SweepInfo(np.full(1, h), float(last_shift.max()))
        return ChainState(held.leave(), h, state.k + len(new), last_shift), info

    def start() -> ChainState:
        return _start(problem.points, h)

    own = {"bandwidth": float(h)}
    return Chain("blurring mean shift", problem, h, start, sweep, lambda state: h, _always, parameters=own)


def stochastic(
    problem: Problem,
    h: float,
    *,
    seed: int,
    chain: int = 0,
    order: str = "random",
    batch_size: int = 1,
    scales: Array | None = None,
) -> Chain:
    """Return stochastic mean shift: `doubly_stochastic` at one bandwidth."""
    return doubly_stochastic(
        problem, Constant(h), seed=seed, chain=chain, order=order, batch_size=batch_size, scales=scales
    )._replace(name="stochastic mean shift")


def doubly_stochastic(
    problem: Problem,
    policy: BandwidthPolicy,
    *,
    seed: int,
    chain: int = 0,
    order: str = "random",
    batch_size: int = 1,
    scales: Array | None = None,
) -> Chain:
    """Return doubly stochastic mean shift: a random point moves, with a bandwidth drawn by the policy.

    Parameters
    ----------
    problem : Problem
    policy : BandwidthPolicy
    seed, chain : int
        Key of the draws; chains of one seed are independent.
    order : {"random", "reshuffled", "even"}
    batch_size : int
        How many distinct points move at once: 1 is the paper's algorithm, n is blurring.
    scales : (n,) array, optional
        Factors on the bandwidth, one for each point.
    """
    plan = DrawPlan(problem.weights, policy, seed, chain, order, batch_size, scales)
    narrowest, widest = (1.0, 1.0) if scales is None else (float(scales.min()), float(scales.max()))
    held = _Held(problem)

    def sweep(state: ChainState) -> tuple[ChainState, SweepInfo]:
        draws, path = plan.sweep(state.k // plan.updates, state.h)
        workspace = held.at(state.points)
        lengths = workspace.shift_each(draws)
        chosen = draws.indices >= 0
        last_shift = state.last_shift.copy()
        last_shift[draws.indices[chosen]] = lengths[chosen]  # a point drawn twice keeps its last
        info = SweepInfo(path, float(lengths.max()))
        return ChainState(held.leave(), float(path[-1]), state.k + plan.updates, last_shift), info

    def draws_done(state: ChainState) -> int:
        return state.k // plan.updates * plan.steps

    def upper(state: ChainState) -> float:
        return policy.upper(state.h, draws_done(state)) * widest

    def frozen(state: ChainState) -> bool:
        if np.isinf(upper(state)):
            return True
        ends = [policy.draw(np.array([u]), state.h, draws_done(state))[0] for u in (0.0, 1.0 - 2.0**-53)]
        return bool(np.allclose(ends, state.h, rtol=FROZEN, atol=0.0))

    return Chain(
        "doubly stochastic mean shift",
        problem,
        policy.h_min * narrowest,
        lambda: _start(problem.points, policy.h_0),
        sweep,
        upper,
        frozen,
        plan=plan,
    )
