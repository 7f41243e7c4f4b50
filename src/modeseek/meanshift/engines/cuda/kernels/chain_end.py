"""The device function that tests whether a chain has ended, and the outcomes."""

from collections.abc import Callable
from functools import cache
from typing import Any

from numba import cuda

from modeseek.meanshift.engines.cuda.kernels.block import block_of, device
from modeseek.meanshift.engines.cuda.kernels.certificate import certifier
from modeseek.meanshift.engines.cuda.kernels.policies import frozen, upper
from modeseek.meanshift.engines.cuda.kernels.single_shift import KernelSpec

# Names in `modeseek.meanshift.chains.Outcome`, and their positions.
OUTCOMES = ("CERTIFIED", "SMALL_SHIFTS", "UPDATE_LIMIT", "INTERRUPTED")
CERTIFIED = OUTCOMES.index("CERTIFIED")
SMALL_SHIFTS = OUTCOMES.index("SMALL_SHIFTS")
UPDATE_LIMIT = OUTCOMES.index("UPDATE_LIMIT")
INTERRUPTED = OUTCOMES.index("INTERRUPTED")


@cache
def end_checker(spec: KernelSpec) -> Callable[..., Any]:
    """Return the device function ``(chains, number, state, h, k, sweeps, lengths, partial)`` that tests for the end.

    It returns the outcome of the chain, or -1 if it continues; as `modeseek.meanshift.chains.Stopping.check`. `state`
    is the tuple (x, n, stride, d), and `lengths` has the squared lengths of the last moves.
    """
    threads, certified = spec.threads, certifier(spec)
    block = block_of(threads)
    sync, total = block.sync, block.total.block

    @device
    def shifts_are_small(lengths, n, threshold, fraction, partial):  # type: ignore[no-untyped-def]
        small = 0.0
        for j in range(cuda.threadIdx.x, n, threads):
            small += 1.0 if lengths[j] <= threshold * threshold else 0.0
        small = total(partial, 0, small)
        sync()
        return small / n >= fraction

    @device
    def check(chains, number, state, h, k, sweeps, lengths, partial):  # type: ignore[no-untyped-def]
        n, policy = state[1], chains.policies[number]
        if chains.by_certificate[number] == 1.0:
            count = k // n
            due = count <= 32 or count % (count // 32) == 0
            widest = upper(policy, h, k) * chains.max_scale[number]
            if due and certified(state, chains.tau[number], widest, chains.rounding[number], partial):
                return CERTIFIED
        small = shifts_are_small(lengths, n, chains.threshold[number], chains.fraction[number], partial)
        if small and (chains.by_certificate[number] == 0.0 or frozen(policy, h, k)):
            return SMALL_SHIFTS
        return UPDATE_LIMIT if k >= chains.max_updates[number] or sweeps >= chains.max_sweeps[number] else -1

    return check
