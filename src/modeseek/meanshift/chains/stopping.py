"""When a run ends, and how it says so."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import numpy as np

from modeseek._common.validation import check_choice, check_integer, check_number, check_tau
from modeseek.meanshift.chains.algorithms import Chain
from modeseek.meanshift.partition import is_certified
from modeseek.meanshift.types import ChainState, Ending

__all__ = ["RULES", "Outcome", "Stopping"]

RULES = ("certificate", "shifts")


class Outcome(Enum):
    """How a run ended; the value is the message."""

    CERTIFIED = "certified: no later update can change the partition"
    SMALL_SHIFTS = "the last shifts of enough points were below the threshold"
    CLIMBED = "every point has climbed to its mode"
    CHOSEN = "the most stable of the proposed partitions was chosen"
    UPDATE_LIMIT = "stopped at the limit on updates before the partition was final"
    TIME_LIMIT = "stopped at the limit on time before the partition was final"
    INTERRUPTED = "interrupted before the partition was final; what was done is kept"

    @property
    def converged(self) -> bool:
        """Whether the run ended by itself."""
        return self in (Outcome.CERTIFIED, Outcome.SMALL_SHIFTS, Outcome.CLIMBED, Outcome.CHOSEN)


@dataclass(frozen=True)
class Stopping:
    """When to stop.

    Attributes
    ----------
    tau : float
        Distance at which clusters are read off; below half the smallest bandwidth.
    threshold : float
        A shift up to this length counts as small (absolute; the paper takes 1e-6). Mean shift has its own `tol`.
    fraction : float
        Share of the points whose last shift must be small.
    rule : {"certificate", "shifts"}
        "certificate" stops when no later update can change the partition. Small shifts then end a run only where
        the bandwidth has come to rest (they mean something there: Theorem 1) or nobody knows its upper end.
        "shifts" is the paper's rule alone.
    max_updates : int, optional
        Limit on single-point updates, looked at after each sweep; None means max(10^7, 200 n).
    max_sweeps : int, optional
        Limit on the sweeps of this run.
    max_time : float, optional
        Limit on seconds, kept to within a block of a fraction of a second; a sweep that it cuts short does not count.
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
        """Check tau against the chain's smallest bandwidth."""
        check_tau(self.tau, chain.h_min)

    def limit(self, chain: Chain) -> int:
        """Return the limit on updates in force."""
        n = len(chain.problem.points)
        return max(10**7, 200 * n) if self.max_updates is None else self.max_updates

    def ending(self, chain: Chain) -> Ending:
        """Return the rule in plain numbers, for an engine that runs a chain by itself; it knows no limit on time."""
        return Ending(
            self.tau, self.threshold, self.fraction, self.rule == "certificate", self.limit(chain), self.max_sweeps
        )

    def check(self, chain: Chain, state: ChainState, sweeps: int, seconds: float) -> Outcome | None:
        """Return the outcome if the run is over, else None."""
        if chain.upper is None:
            if chain.arrived is not None and chain.arrived(state).all():
                return Outcome.CLIMBED
        elif self.rule == "certificate":
            # by updates since the very start, so that a run that goes on looks when the whole run would have looked
            if _due(state.k // len(state.points)) and is_certified(
                state.points, self.tau, chain.upper(state), chain.problem.geometry
            ):
                return Outcome.CERTIFIED
            if self._small(state) and chain.frozen(state):
                return Outcome.SMALL_SHIFTS
        elif self._small(state):
            return Outcome.SMALL_SHIFTS
        if state.k >= self.limit(chain) or (self.max_sweeps is not None and sweeps >= self.max_sweeps):
            return Outcome.UPDATE_LIMIT
        if self.max_time is not None and seconds >= self.max_time:
            return Outcome.TIME_LIMIT
        return None

    def _small(self, state: ChainState) -> bool:
        small = np.count_nonzero(state.last_shift <= self.threshold) / len(state.last_shift)
        return bool(small >= self.fraction)


def _due(sweeps: int) -> bool:
    """Whether the certificate is looked for: every sweep at first, then ever more rarely, a few per cent late."""
    return sweeps <= 32 or sweeps % (sweeps // 32) == 0
