"""DSMS chains on the paper's mixture, their states after any number of updates, and the jobs that run them."""

from collections.abc import Iterator, Sequence

import numpy as np

from modeseek.datasets import paper_mixture
from modeseek.meanshift.bandwidth import DrawPlan, make_policy
from modeseek.meanshift.chains import Chain, Problem, doubly_stochastic, make_problem
from modeseek.meanshift.types import BandwidthPolicy, ChainState, Draws
from modeseek.paper.experiment import SPREADS, Job, seed_for
from modeseek.paper.hyperparameters import Hyperparameters

# in the order of the figures: the policy of the theorems, then that of the paper's experiments as we interpret them
POLICIES = ("walk", "shrinking")


def paper_policy(name: str, settings: Hyperparameters) -> BandwidthPolicy:
    """Return a policy with the paper's range and nu."""
    return make_policy(name, settings.h_min, settings.h_max, settings.h_inf, settings.nu)


def policy_jobs(runs: int, cost: float) -> list[Job]:
    """Return a job for each interpretation of the paper's 0.65, policy and run."""
    cells = [{"spread": spread, "policy": policy} for spread in SPREADS for policy in POLICIES]
    return [Job(cell, run, cost) for cell in cells for run in range(runs)]


def paper_chain(n_per_cluster: int, policy: BandwidthPolicy, seed: int, job: Job) -> Chain:
    """Return a chain on the paper's mixture; the data and the chosen points of a run are the same for every policy.

    Examples
    --------
    >>> job = Job({"spread": "std", "policy": "walk"}, run=3)
    >>> chain = paper_chain(5, paper_policy("walk", Hyperparameters()), seed=0, job=job)
    >>> chain.init().points.shape
    (15, 2)
    """
    points = paper_mixture(n_per_cluster, spread=job.cell["spread"], random_state=seed_for(seed, job.run, 0))[0]
    return doubly_stochastic(make_problem(points), policy, seed=seed_for(seed, job.run, 1))


def states_at(given: Problem, policy: BandwidthPolicy, seed: int, counts: Sequence[int]) -> Iterator[ChainState]:
    """Yield the states of `doubly_stochastic` after the given numbers of updates, in increasing order.

    Examples
    --------
    >>> policy, given = paper_policy("walk", Hyperparameters()), make_problem([[0.0], [0.1], [0.5]])
    >>> states = list(states_at(given, policy, 1, [0, 2, 3]))
    >>> [state.k for state in states]
    [0, 2, 3]
    >>> chain = doubly_stochastic(given, policy, seed=1)
    >>> bool((states[-1].points == chain.sweep(chain.init())[0].points).all())
    True
    """
    plan, workspace, n = DrawPlan(given.weights, policy, seed), given.open(), len(given.points)
    last_shift = np.full(n, np.inf)
    h, k, sweep, waiting = policy.h_0, 0, -1, Draws(np.empty(0, dtype=np.intp), np.empty(0))
    for count in counts:
        while k < count:
            if not len(waiting.indices):
                sweep += 1
                waiting = plan.sweep(sweep, h).draws
            now, waiting = _split(waiting, count - k)
            last_shift = last_shift.copy()
            last_shift[now.indices] = workspace.shift_each(now)
            h, k = float(now.bandwidths[-1]), k + len(now.indices)
        yield ChainState(workspace.points, h, k, last_shift)


def _split(draws: Draws, at: int) -> tuple[Draws, Draws]:
    return Draws(draws.indices[:at], draws.bandwidths[:at]), Draws(draws.indices[at:], draws.bandwidths[at:])
