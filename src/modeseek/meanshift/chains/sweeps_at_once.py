"""Several sweeps at a time, for a chain whose engine draws by itself."""

from modeseek.meanshift.chains.chain import Chain
from modeseek.meanshift.chains.stopping import Stopping
from modeseek.meanshift.types import ChainState, SweepsEnd, SweepsInfo

# number of sweeps that are applied at once at first, and of updates later
FIRST_SWEEPS = 32
MOST_UPDATES = 1 << 15


class SweepsAtOnce:
    """Applies several sweeps by one call of `Chain.skip`, and chooses how many.

    Parameters
    ----------
    chain : Chain
    stopping : Stopping
    """

    def __init__(self, chain: Chain, stopping: Stopping):
        self._chain, self._stopping, self._count = chain, stopping, FIRST_SWEEPS

    def apply(self, state: ChainState, sweeps: int, *, now: bool) -> tuple[ChainState, SweepsInfo] | None:
        """Apply sweeps until one of them may be the last, which `info.end` tells; None if this is not possible.

        `sweeps` is the number of sweeps before, and `now` whether the run may end before the next.
        """
        assert self._chain.skip is not None
        left = self._stopping.sweeps_left(self._chain, state, sweeps)
        if left <= 0:
            return None
        found = self._chain.skip(state, self._stopping.end_test(state, min(self._count, left), now=now))
        if found is None:
            return None
        state, info = found
        done = len(info.largest_shifts)
        if done == self._count:
            self._count = min(2 * done, max(FIRST_SWEEPS, MOST_UPDATES // len(state.points)))
        elif done:
            self._count = done
        if done == left and info.end is SweepsEnd.CONTINUE:
            info = info._replace(end=SweepsEnd.CHECK)  # of the limit
        return state, info
