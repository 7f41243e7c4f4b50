"""DSMS chains on the paper's mixture, their states after any number of updates, and the jobs that run them."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from modeseek._common.types import Array, IntArray
from modeseek.datasets import PAPER_CENTERS, paper_mixture, paper_std
from modeseek.meanshift.bandwidth import make_policy
from modeseek.meanshift.chains import Chain, doubly_stochastic, make_problem
from modeseek.meanshift.types import BandwidthPolicy, ChainState
from modeseek.paper.experiment import SPREADS, Hyperparameters, Job, grid_jobs, seed_for

# in the order of the figures: the policy of the theorems, then that of the paper's experiments as we interpret them
PANEL_POLICIES = ("walk", "shrinking")


class Mixture(NamedTuple):
    """Three Gaussians of `sizes` points in d dimensions; their centres are those of the paper times `apart`."""

    sizes: tuple[int, int, int] = (50, 50, 50)
    apart: float = 1.0
    d: int = 2

    @property
    def unit(self) -> float:
        """Factor by which centres and bandwidths grow with d, as distances within a Gaussian do: sqrt(d / 2)."""
        return float(np.sqrt(self.d / 2))

    def draw(self, seed: int, spread: str) -> tuple[Array, IntArray]:
        """Draw points, and return them with the number of the component of each point."""
        y = np.repeat(np.arange(3), self.sizes)
        centers = np.zeros((3, self.d))
        centers[:, :2] = self.unit * self.apart * PAPER_CENTERS[:, : self.d]
        return centers[y] + paper_std(spread) * np.random.default_rng(seed).standard_normal((len(y), self.d)), y


def paper_policy(name: str, settings: Hyperparameters) -> BandwidthPolicy:
    """Return a policy with the paper's range and nu."""
    return make_policy(name, settings.h_min, settings.h_max, settings.h_inf, settings.nu)


def policy_jobs(runs: int, cost: float) -> list[Job]:
    """Return a job for each spread, policy and run."""
    return grid_jobs(runs, lambda cell: cost, spread=SPREADS, policy=PANEL_POLICIES)


def paper_chain(n_per_cluster: int, settings: Hyperparameters, seed: int, job: Job) -> Chain:
    """Return a chain on the paper's mixture; in a run, every policy has the same data and random choices of points.

    Examples
    --------
    >>> chain = paper_chain(5, Hyperparameters(), seed=0, job=Job({"spread": "std", "policy": "walk"}, run=3))
    >>> chain.init().points.shape
    (15, 2)
    """
    points = paper_mixture(n_per_cluster, spread=job.cell["spread"], random_state=seed_for(seed, job.run, 0))[0]
    policy = paper_policy(job.cell["policy"], settings)
    return doubly_stochastic(make_problem(points), policy, seed=seed_for(seed, job.run, 1))


def states_at(chain: Chain, counts: Sequence[int]) -> Iterator[ChainState]:
    """Yield the states of a DSMS chain after the given numbers of updates, in increasing order.

    Examples
    --------
    >>> policy = paper_policy("walk", Hyperparameters())
    >>> chain = doubly_stochastic(make_problem([[0.0], [0.1], [0.5]]), policy, seed=1)
    >>> states = list(states_at(chain, [0, 2, 3]))
    >>> [state.k for state in states]
    [0, 2, 3]
    >>> bool((states[-1].points == chain.sweep(chain.init())[0].points).all())
    True
    """
    assert chain.parts is not None
    state, n = chain.init(), len(chain.problem.points)
    # a part of a sweep ends at one of `counts` or at the end of the sweep
    ends = sorted({0, *counts, *range(n, counts[-1] + n, n)})
    sizes = iter(np.diff(ends).tolist())
    if 0 in counts:
        yield state
    while state.k < counts[-1]:
        parts = chain.parts(state, lambda: next(sizes))
        for state, _ in parts:
            if state.k in counts:
                yield state
