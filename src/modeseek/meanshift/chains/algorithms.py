"""The four mean-shift algorithms, as functions that return a `Chain`.

All of them apply the operator S_h repeatedly. They differ in which points move, against which points, and in h:

- `mean_shift`: every query moves against the data, which stay fixed; one bandwidth;
- `blurring`: all points move at once against the current state; one bandwidth;
- `stochastic`: one random point, or a batch, moves against the current state; one bandwidth;
- `doubly_stochastic`: as `stochastic`, with a bandwidth drawn by a policy for each update.
"""

import numpy as np

from modeseek._common.types import Array
from modeseek._common.validation import check_number
from modeseek.meanshift.bandwidth import Constant, DrawPlan, LocalFactor
from modeseek.meanshift.chains.chain import Chain, ReusedWorkspace, Swept
from modeseek.meanshift.chains.climbers import ClimbConfig, Climbers, EngineClimbers
from modeseek.meanshift.chains.problem import Problem
from modeseek.meanshift.chains.random_updates import RandomUpdates
from modeseek.meanshift.types import BandwidthPolicy, ChainState, ClimbingWorkspace, SweepInfo


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
    reused = ReusedWorkspace(problem)

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
    updates = RandomUpdates(problem, policy, plan, local_factor, (narrowest, widest), ReusedWorkspace(problem))
    return updates.chain("doubly stochastic mean shift")
