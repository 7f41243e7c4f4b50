"""The generator Philox 4x64 on the device: the uniform numbers of `modeseek.meanshift.bandwidth.draws`."""

import numpy as np

from modeseek.meanshift.bandwidth import draws
from modeseek.meanshift.engines.cuda.kernels.block import device

FIRST_MULTIPLIER, SECOND_MULTIPLIER = map(np.uint64, draws.MULTIPLIERS)
HALF_WORD = np.uint64(32)
LOW_HALF = np.uint64(0xFFFFFFFF)
UNUSED_BITS = np.uint64(draws.UNUSED_BITS)
ZERO = np.uint64(0)


def round_keys(seed: int, chain: int) -> np.ndarray:
    """Return the keys of all rounds, shape (rounds, 2), computed on the host, where integers do not overflow."""
    words = zip((seed, chain), draws.KEY_STEPS, strict=True)
    columns = [[(word + number * step) % 2**64 for number in range(draws.ROUNDS)] for word, step in words]
    return np.array(columns, dtype=np.uint64).T.copy()


@device
def _product(x, multiplier):  # type: ignore[no-untyped-def]
    """Return the upper and the lower 64 bits of a product."""
    a, b = x & LOW_HALF, x >> HALF_WORD
    low, high = multiplier & LOW_HALF, multiplier >> HALF_WORD
    p, q, r = a * low, a * high, b * low
    middle = (p >> HALF_WORD) + (q & LOW_HALF) + (r & LOW_HALF)
    upper = b * high + (q >> HALF_WORD) + (r >> HALF_WORD) + (middle >> HALF_WORD)
    return upper, (p & LOW_HALF) | ((middle & LOW_HALF) << HALF_WORD)


@device
def uniform_pair(keys, counter):  # type: ignore[no-untyped-def]
    """Return the first two uniform numbers of the block with counter (counter, 0, 0, 0)."""
    c0, c1, c2, c3 = np.uint64(counter), ZERO, ZERO, ZERO
    for number in range(draws.ROUNDS):
        high0, low0 = _product(c0, FIRST_MULTIPLIER)
        high1, low1 = _product(c2, SECOND_MULTIPLIER)
        c0, c1, c2, c3 = high1 ^ c1 ^ keys[number, 0], low1, high0 ^ c3 ^ keys[number, 1], low0
    return np.float64(c0 >> UNUSED_BITS) * 2.0**-53, np.float64(c1 >> UNUSED_BITS) * 2.0**-53
