"""The four mean-shift algorithms, as functions that return a `Chain`.

All of them apply the operator S_h repeatedly. They differ in which points move, against which points, and in h:

- `mean_shift`: every query moves against the data, which stay fixed; one bandwidth;
- `blurring`: all points move at once against the current state; one bandwidth;
- `stochastic`: one random point, or a batch, moves against the current state; one bandwidth;
- `doubly_stochastic`: as `stochastic`, with a bandwidth drawn by a policy for each update.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple, TypeAlias

import numpy as np

from modeseek._common.types import Array
from modeseek._common.validation import check_number
from modeseek.meanshift.bandwidth import Constant, DrawPlan, LocalFactor, encode_policy
from modeseek.meanshift.bandwidth.draws import FROZEN_RTOL
from modeseek.meanshift.chains.climbers import ClimbConfig, Climbers, EngineClimbers
from modeseek.meanshift.chains.problem import Problem
from modeseek.meanshift.types import (
    BandwidthPolicy,
    ChainState,
    ClimbingWorkspace,
    Draws,
    EndTest,
    SweepInfo,
    SweepsInfo,
    Workspace,
)

# the state after a sweep, or a part of one, and what happened in it
Swept: TypeAlias = tuple[ChainState, SweepInfo]
# returns the number of draws in the next part of a sweep
PartSize: TypeAlias = Callable[[], int]


def _always(state: ChainState) -> bool:
    return True


class Chain(NamedTuple):
    """An algorithm on a problem: the initial state and the step from one state to the next.

    Attributes
    ----------
    name : str
        Name of the algorithm, for messages and checkpoints.
    problem : Problem
    h_min : float
        Smallest bandwidth that can be drawn, including the local scale.
    init : callable
        () -> ChainState before the first update.
    sweep : callable
        ChainState -> (ChainState, SweepInfo) after about n updates. A pure function of the state.
    upper : callable or None
        ChainState -> upper bound of all later bandwidths, including the local scale. None where points move
        against fixed data, so that nothing can be certified.
    frozen : callable
        ChainState -> whether small shifts may end the run, because the next draw changes the bandwidth by less than
        1e-5 of its value or because `upper` is infinite.
    arrived : callable, optional
        ChainState -> boolean array of the queries that have reached their modes. Only where data stay fixed.
    plan : DrawPlan, optional
        The random draws, if there are any. An engine that runs whole chains needs nothing else.
    parameters : dict, optional
        Further numbers that define the chain, by name. A checkpoint compares them.
    parts : callable, optional
        (ChainState, PartSize) -> iterator of (ChainState, SweepInfo): one sweep in several parts, for displays. The
        last state is the one that `sweep` returns. Each info has the bandwidths of its part only.
    skip : callable, optional
        (ChainState, EndTest) -> the state after several sweeps, up to one after which the run may end; None if the
        engine cannot apply several at once. The states are those of `sweep`.
    """

    name: str
    problem: Problem
    h_min: float
    init: Callable[[], ChainState]
    sweep: Callable[[ChainState], Swept]
    upper: Callable[[ChainState], float] | None
    frozen: Callable[[ChainState], bool] = _always
    arrived: Callable[[ChainState], Array] | None = None
    plan: DrawPlan | None = None
    parameters: dict[str, float] | None = None
    parts: Callable[[ChainState, PartSize], Iterator[Swept]] | None = None
    skip: Callable[[ChainState, EndTest], tuple[ChainState, SweepsInfo] | None] | None = None


class _ReusedWorkspace:
    """One workspace for all sweeps of a chain; the state is loaded only if the workspace does not hold it already."""

    def __init__(self, problem: Problem):
        self._problem = problem
        self._workspace: Workspace | None = None
        self._points: Array | None = None

    def opened(self) -> Workspace:
        if self._workspace is None:
            # opened with the initial state even if a run is resumed, because engines choose their data structures from
            # it
            self._workspace, self._points = self._problem.open(), self._problem.points
        return self._workspace

    def at(self, points: Array) -> Workspace:
        workspace = self.opened()
        if points is not self._points:
            workspace.load(points)
        self._points = None  # an interrupted sweep leaves the workspace in an unknown state
        return workspace

    def leave(self) -> Array:
        assert self._workspace is not None
        self._points = self._workspace.points
        return self._points


def mean_shift(
    problem: Problem,
    h: float,
    *,
    tol: float = 1e-6,
    queries: Array | None = None,
    most_steps: int = 300,
    config: ClimbConfig | None = None,
) -> Chain:
    """Return plain mean shift: every query climbs the density of the data, which stay fixed.

    Queries that meet are merged: see `ClimbConfig`. If there are many queries and the kernel weights are continuous, a
    few scouts climb first, during the first sweep. The other queries stop when they enter a cell on the path of a scout
    and take its mode. On a GPU, in up to three dimensions, every query climbs alone and reaches its mode in one sweep.

    Parameters
    ----------
    problem : Problem
    h : float
    tol : float
        A query has arrived when its shift is at most tol * h. It does not move after that.
    queries : (m, d) array, optional
        Starting points. Default: the data.
    most_steps : int
        A scout that has not arrived after this many steps leaves no path. 0 disables scouts.
    config : ClimbConfig, optional
        When queries are merged, and when scouts are used.

    Examples
    --------
    >>> from modeseek.meanshift.chains import Stopping, make_problem, partition, run
    >>> problem = make_problem([[0.0], [0.1], [5.0]])
    >>> chain = mean_shift(problem, 1.0)
    >>> partition(chain, run(chain, Stopping(tau=0.05)), tau=0.05).labels
    array([0, 0, 1])
    """
    check_number("bandwidth", h)
    config = ClimbConfig() if config is None else config
    start = problem.points if queries is None else queries
    workspace = problem.open()
    climbers: Climbers | EngineClimbers
    if isinstance(workspace, ClimbingWorkspace) and workspace.climbs:
        climbers = EngineClimbers(workspace, start, problem.reach(h), tol, max(most_steps, 1))
    else:
        continuous = problem.profile.smooth
        side = h * config.cell_side(tol, continuous=continuous)
        # without continuous weights, cells are so small that paths save little
        scouts = continuous and start.size >= config.scouts_from
        climbers = Climbers(
            lambda x: workspace.shift_all(x, problem.reach(h)), start, h, tol, side, most_steps if scouts else 0, config
        )

    def arrived(state: ChainState) -> Array:
        return ~climbers.climbing(state)

    return Chain(
        "mean shift",
        problem,
        h,
        climbers.begin,
        climbers.sweep,
        upper=None,
        arrived=arrived,
        parameters={"bandwidth": float(h), "tol": float(tol), "most steps": int(most_steps)},
    )


def blurring(problem: Problem, h: float) -> Chain:
    """Return blurring mean shift: all points move at once against the current state.

    Examples
    --------
    >>> from modeseek.meanshift.chains import Stopping, make_problem, partition, run
    >>> problem = make_problem([[0.0], [0.1], [5.0]])
    >>> chain = blurring(problem, 1.0)
    >>> partition(chain, run(chain, Stopping(tau=0.05)), tau=0.05).labels
    array([0, 0, 1])
    """
    check_number("bandwidth", h)
    reused = _ReusedWorkspace(problem)

    def sweep(state: ChainState) -> Swept:
        workspace = reused.at(state.points)
        new = workspace.shift_all(state.points, problem.reach(h))
        workspace.load(new)
        last_shift = np.linalg.norm(new.astype(np.float64) - state.points, axis=1)
        info = SweepInfo(np.full(1, h), float(last_shift.max()))
        return ChainState(reused.leave(), h, state.k + len(new), last_shift), info

    return Chain(
        "blurring mean shift",
        problem,
        h,
        lambda: ChainState.initial(problem.points, h),
        sweep,
        upper=lambda state: problem.reach(h),
        parameters={"bandwidth": float(h)},
    )


def stochastic(
    problem: Problem,
    h: float,
    *,
    seed: int,
    chain: int = 0,
    order: str = "random",
    batch_size: int = 1,
    local_scales: Array | None = None,
    local_factor: LocalFactor | None = None,
) -> Chain:
    """Return stochastic mean shift: `doubly_stochastic` with a constant bandwidth.

    Examples
    --------
    >>> from modeseek.meanshift.chains import Stopping, make_problem, partition, run
    >>> problem = make_problem([[0.0], [0.1], [5.0]])
    >>> chain = stochastic(problem, 1.0, seed=0)
    >>> partition(chain, run(chain, Stopping(tau=0.05)), tau=0.05).labels
    array([0, 0, 1])
    """
    return doubly_stochastic(
        problem,
        Constant(h),
        seed=seed,
        chain=chain,
        order=order,
        batch_size=batch_size,
        local_scales=local_scales,
        local_factor=local_factor,
    )._replace(name="stochastic mean shift")


def doubly_stochastic(
    problem: Problem,
    policy: BandwidthPolicy,
    *,
    seed: int,
    chain: int = 0,
    order: str = "random",
    batch_size: int = 1,
    local_scales: Array | None = None,
    local_factor: LocalFactor | None = None,
) -> Chain:
    """Return doubly stochastic mean shift: a random point moves, with a bandwidth drawn by the policy.

    Parameters
    ----------
    problem : Problem
    policy : BandwidthPolicy
    seed, chain : int
        Key of the random draws. Chains with the same seed and different `chain` are independent.
    order : {"random", "reshuffled", "even"}
        How the moving points are drawn: see `DrawPlan`.
    batch_size : int
        Number of distinct points that move at once: 1 is the paper's algorithm, n is blurring mean shift.
    local_scales : (n,) array, optional
        Factor on the bandwidth for each point.
    local_factor : LocalFactor, optional
        Factor on the bandwidth from the position and the density of the point that moves. Not on a GPU.

    Examples
    --------
    >>> from modeseek.meanshift.chains import Stopping, make_problem, partition, run
    >>> problem = make_problem([[0.0], [0.1], [5.0]])
    >>> from modeseek.meanshift.bandwidth import Shrinking
    >>> chain = doubly_stochastic(problem, Shrinking(0.2, 1.6, 0.6), seed=0)
    >>> partition(chain, run(chain, Stopping(tau=0.05)), tau=0.05).labels
    array([0, 0, 1])
    """
    if local_factor is not None and problem.engine.name == "cuda":
        raise ValueError(
            "local_factor is a Python function, which the engine 'cuda' cannot call: use another engine, for example "
            "engine='brute'."
        )
    plan = DrawPlan(problem.weights, policy, seed, chain, order, batch_size, local_scales)
    narrowest, widest = (1.0, 1.0) if local_scales is None else (float(local_scales.min()), float(local_scales.max()))
    if local_factor is not None:
        narrowest, widest = narrowest * local_factor.low, widest * local_factor.high
    reused = _ReusedWorkspace(problem)

    def parts(state: ChainState, size: PartSize) -> Iterator[Swept]:
        draws, path = plan.sweep(state.k // plan.updates, state.h)
        done, largest = 0, 0.0
        while done < plan.steps:
            rows = slice(done, done + size())
            workspace = reused.at(state.points)
            indices, bandwidths = draws.indices[rows], path[rows]
            part = Draws(indices, problem.reach(draws.bandwidths[rows]))
            if local_factor is None:
                lengths = workspace.shift_each(part)
            else:
                lengths = local_factor.shift_each(workspace, part, problem.weights, problem.profile)
            if indices.ndim == 2:  # -1 pads the last batch
                indices, lengths = indices[indices >= 0], lengths[indices >= 0]
            last_shift = state.last_shift.copy()
            last_shift[indices] = lengths  # a point drawn twice keeps its last shift
            done, largest = rows.stop, max(largest, float(lengths.max()))
            state = ChainState(reused.leave(), float(bandwidths[-1]), state.k + len(indices), last_shift)
            yield state, SweepInfo(bandwidths, largest, int(done >= plan.steps))

    def sweep(state: ChainState) -> Swept:
        return next(parts(state, lambda: plan.steps))

    def skip(state: ChainState, test: EndTest) -> tuple[ChainState, SweepsInfo] | None:
        most = reused.opened().most_sweeps
        if not most:
            return None
        test = test._replace(due=test.due[: most + 1])
        steps, last_shift = plan.steps, state.last_shift.copy()
        code = plan.encoded(state.k // steps * steps, (len(test.due) - 1) * steps, problem.reach(1.0))
        info = reused.at(state.points).shift_sweeps(code, state.h, last_shift, test)
        drawn, points = info.bandwidths, reused.leave()
        return ChainState(points, float(drawn[-1]) if len(drawn) else state.h, state.k + len(drawn), last_shift), info

    # a user-defined policy is checked after each sweep
    skips = plan.batch == 1 and local_factor is None and encode_policy(policy) is not None

    def draws_done(state: ChainState) -> int:
        return state.k // plan.updates * plan.steps

    def upper(state: ChainState) -> float:
        return problem.reach(plan.upper(draws_done(state), state.h) * widest)

    def frozen(state: ChainState) -> bool:
        if np.isinf(upper(state)):
            return True
        ends = [policy.draw(np.array([u]), state.h, draws_done(state))[0] for u in (0.0, 1.0 - 2.0**-53)]
        return bool(np.allclose(ends, state.h, rtol=FROZEN_RTOL, atol=0.0))

    return Chain(
        "doubly stochastic mean shift",
        problem,
        policy.h_min * narrowest,
        lambda: ChainState.initial(problem.points, policy.h_0),
        sweep,
        upper,
        frozen,
        plan=plan,
        parameters=None if local_factor is None else {"low": local_factor.low, "high": local_factor.high},
        parts=parts,
        skip=skip if skips else None,
    )
