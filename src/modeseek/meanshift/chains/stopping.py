"""Stopping rules of a run, and the outcomes they lead to."""

from dataclasses import dataclass
from enum import Enum
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from modeseek._common.storable import storable
from modeseek._common.validation import check_choice, check_integer, check_number, check_tau
from modeseek.meanshift.certificate import is_certified
from modeseek.meanshift.chains.chain import Chain
from modeseek.meanshift.types import ChainState, Ending, EndTest

RULES = ("certificate", "shifts")
# the certificate is checked after each of the first sweeps, and later each time the number of sweeps grows by about 3 %
CHECK_EVERY_SWEEP = 32


@storable()
class Outcome(Enum):
    """Why a fit ended; the value is the message.

    Examples
    --------
    >>> Outcome.CERTIFIED.value, Outcome.CERTIFIED.converged
    ('certified: no later update can change the partition', True)
    """

    CERTIFIED = "certified: no later update can change the partition"
    SMALL_SHIFTS = "the last shifts of enough points were below the threshold"
    CLIMBED = "every point has climbed to its mode"
    CHOSEN = "the best of the proposed partitions was chosen"
    UPDATE_LIMIT = "stopped at the limit on updates before the partition was final"
    TIME_LIMIT = "stopped at the limit on time before the partition was final"
    INTERRUPTED = "interrupted before the partition was final; the last complete state is kept"

    @property
    def converged(self) -> bool:
        """Whether the fit ended by itself, and not by a limit or an interruption."""
        return self in (Outcome.CERTIFIED, Outcome.SMALL_SHIFTS, Outcome.CLIMBED, Outcome.CHOSEN)


@dataclass(frozen=True)
class Stopping:
    """Conditions that end a run.

    Attributes
    ----------
    tau : float
        Points closer than tau share a cluster. It must be below half the smallest bandwidth.
    threshold : float
        A shift of at most this length counts as small. The length is in the units of the points, and the paper uses
        1e-6. Mean shift uses its parameter `tol` instead.
    fraction : float
        Share of the points whose last shift must be small.
    rule : {"certificate", "shifts"}
        "certificate" stops when no later update can change the partition. Under this rule, small shifts stop a run only
        if the bandwidth no longer changes, which is the case of Theorem 1, or if it has no known upper bound.
        "shifts" is the rule of the paper.
    max_updates : int, optional
        Limit on single-point updates, checked after each sweep. Default: max(10^7, 200 n).
    max_sweeps : int, optional
        Limit on the sweeps of this run.
    max_time : float, optional
        Limit in seconds. An incomplete sweep is dropped.

    Examples
    --------
    >>> from modeseek.meanshift.chains import make_problem, run, stochastic
    >>> chain = stochastic(make_problem([[0.0], [0.1], [5.0]]), 1.0, seed=0)
    >>> run(chain, Stopping(tau=0.05, max_sweeps=1)).sweeps
    1
    """

    tau: float
    threshold: float = 1e-6
    fraction: float = 1.0
    rule: str = "certificate"
    max_updates: int | None = None
    max_sweeps: int | None = None
    max_time: float | None = None

    def __post_init__(self) -> None:
        check_number("tau", self.tau)
        check_number("threshold", self.threshold, strict=False)
        check_choice("rule", self.rule, RULES)
        if not 0 < check_number("fraction", self.fraction) <= 1:
            raise ValueError(f"fraction must be in (0, 1]; got {self.fraction!r}.")
        if self.max_updates is not None:
            check_integer("max_updates", self.max_updates, low=1)
        if self.max_sweeps is not None:
            check_integer("max_sweeps", self.max_sweeps, low=1)
        if self.max_time is not None:
            check_number("max_time", self.max_time)

    def check_fit(self, chain: Chain) -> None:
        """Raise an error if tau is too large for the chain's smallest bandwidth."""
        check_tau(self.tau, chain.h_min)

    def limit(self, chain: Chain) -> int:
        """Return the limit on updates."""
        n = len(chain.problem.points)
        return max(10**7, 200 * n) if self.max_updates is None else self.max_updates

    def ending(self, chain: Chain) -> Ending:
        """Return the rule as numbers, without the time limit, for an engine that runs whole chains."""
        return Ending(
            self.tau, self.threshold, self.fraction, self.rule == "certificate", self.limit(chain), self.max_sweeps
        )

    def sweeps_left(self, chain: Chain, state: ChainState, sweeps: int) -> int:
        """Return the number of sweeps of n updates until a limit is reached."""
        left = -(-(self.limit(chain) - state.k) // len(state.points))
        return left if self.max_sweeps is None else min(left, self.max_sweeps - sweeps)

    def end_test(self, state: ChainState, count: int, *, now: bool) -> EndTest:
        """Return a condition that is necessary for the run to end after each of the next `count` sweeps.

        With `now`, the run may also end before the first of them.
        """
        done, certificate = state.k // len(state.points), self.rule == "certificate"
        return EndTest(self.threshold, self.fraction, certificate, self.tau, now, _due(done, count, certificate))

    def check(self, chain: Chain, state: ChainState, sweeps: int, seconds: float) -> Outcome | None:
        """Return the outcome if the run is over, else None."""
        if chain.upper is None:
            if chain.arrived is not None and chain.arrived(state).all():
                return Outcome.CLIMBED
        elif self.rule == "certificate":
            # counted in updates since the start of the chain, so that a resumed run checks at the same states
            if _is_due(state.k // len(state.points)) and is_certified(
                state.points,
                self.tau,
                h_min=chain.h_min,
                h_upper=chain.upper(state),
                geometry=chain.problem.geometry,
            ):
                return Outcome.CERTIFIED
            if self._shifts_are_small(state) and chain.frozen(state):
                return Outcome.SMALL_SHIFTS
        elif self._shifts_are_small(state):
            return Outcome.SMALL_SHIFTS
        if state.k >= self.limit(chain) or (self.max_sweeps is not None and sweeps >= self.max_sweeps):
            return Outcome.UPDATE_LIMIT
        if self.max_time is not None and seconds >= self.max_time:
            return Outcome.TIME_LIMIT
        return None

    def _shifts_are_small(self, state: ChainState) -> bool:
        small = np.count_nonzero(state.last_shift <= self.threshold) / len(state.last_shift)
        return bool(small >= self.fraction)


def _is_due(sweeps: int) -> bool:
    return sweeps % max(1, sweeps // CHECK_EVERY_SWEEP) == 0


@lru_cache(maxsize=16)  # chains of one ensemble need the same flags
def _due(done: int, count: int, certificate: bool) -> NDArray[np.bool_]:
    """Return `count` + 1 flags: whether the certificate is checked before the first sweep, and after each sweep."""
    return np.array([certificate and _is_due(done + sweep) for sweep in range(count + 1)])
