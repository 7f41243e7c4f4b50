"""The draws: which point moves at which bandwidth, from a counter-based generator.

The recipe. Philox 4x64 with key (seed, chain) turns a counter into four 64-bit words. Update k = 1, 2, ... owns the
block with counter (k, 0, 0, 0): word 0 chooses the point, word 1 the bandwidth. Batches of b > 1 points own, per
step s = 1, 2, ..., the block (s, 0, 0, 0) for their bandwidth and blocks (., s, 0, 0) for their members.
A word becomes a uniform number on [0, 1) by its upper 53 bits. So the draws are a function of (seed, chain, k)
alone: block size, engine, number of workers and resumption cannot change them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from modeseek._common.resources import check_time
from modeseek._common.types import Array, IntArray
from modeseek._common.validation import check_choice, check_integer
from modeseek.meanshift.types import BandwidthPolicy, Draws

__all__ = ["ORDERS", "DrawPlan", "SweepDraws", "uniforms"]

ORDERS = ("random", "reshuffled", "even")
# blocks made at once, for as many whole sweeps as they hold: few for a chain that begins, then as many as it has had
AHEAD = (256, 4096)


def uniforms(seed: int, chain: int, first: int, count: int, page: int = 0, width: int = 4) -> Array:
    """Return (count, width) uniforms on [0, 1), the first of each block: counters (first, page), (first + 1, page), ...

    Examples
    --------
    >>> bool((uniforms(0, 0, 5, 2) == uniforms(0, 0, 1, 10)[4:6]).all())
    True
    """
    # NumPy's Philox counts up before it generates, so it is set one short of the first counter
    counter = ((page << 64) + first - 1) % 2**256
    words = np.random.Philox(key=(chain << 64) + seed, counter=counter).random_raw(4 * count)
    return (words.reshape(count, 4)[:, :width] >> np.uint64(11)) * 2.0**-53


class SweepDraws(NamedTuple):
    """A sweep's draws and the policy's path behind them.

    Attributes
    ----------
    draws : Draws
        What an engine applies; bandwidths are scaled per point.
    path : (m,) array
        The policy's bandwidths, one per step.
    """

    draws: Draws
    path: Array


@dataclass(frozen=True, eq=False)
class DrawPlan:
    """Who moves, and with which bandwidth: everything that chance decides for one chain.

    Attributes
    ----------
    weights : (n,) array
        A point is drawn with probability proportional to its weight, unless order is "even".
    policy : BandwidthPolicy
        How bandwidths are drawn.
    seed, chain : int
        Key of the draws.
    order : {"random", "reshuffled", "even"}
        "random" draws every point anew (the paper); "reshuffled" visits each once per sweep, in a new random order;
        "even" draws every point anew, with the same chance whatever its weight.
    batch_size : int
        How many distinct points move at once; 1 is SMS, n is BMS.
    scales : (n,) array, optional
        Factors on the bandwidth, one for each point.
    """

    weights: Array
    policy: BandwidthPolicy
    seed: int
    chain: int = 0
    order: str = "random"
    batch_size: int = 1
    scales: Array | None = None

    def __post_init__(self) -> None:
        check_choice("order", self.order, ORDERS)
        check_integer("batch_size", self.batch_size, low=1)

    @cached_property
    def batch(self) -> int:
        """Points that move at once: `batch_size`, at most all."""
        return min(self.batch_size, len(self.weights))

    @cached_property
    def steps(self) -> int:
        """Steps in a sweep: as many as it takes to move n points."""
        return -(-len(self.weights) // self.batch)

    @cached_property
    def updates(self) -> int:
        """Single-point updates in a sweep."""
        return len(self.weights) if self.order == "reshuffled" else self.steps * self.batch

    def sweep(self, number: int, h: float) -> SweepDraws:
        """Return the draws of sweep 0, 1, ..., given the policy's bandwidth h before it."""
        first = number * self.steps
        words = self._words(number)
        path = _checked(self.policy.draw(words[:, 1].copy(), h, first), self.steps, self.policy)
        if self.batch > 1:
            indices = self._batches(first)
        elif self.order == "reshuffled":
            indices = np.argsort(words[:, 0], kind="stable")
        else:
            indices = self._weighted(words[:, 0])
        bandwidths = path if self.batch == 1 else np.repeat(path[:, None], self.batch, axis=1)
        if self.scales is not None:
            bandwidths = bandwidths * self.scales[indices]
        return SweepDraws(Draws(indices, bandwidths), path)

    def _words(self, number: int) -> Array:
        """Return the two words of each step of a sweep; those of small sweeps are made several sweeps at a time."""
        first, made = number * self.steps, self.__dict__.get("_made")
        if made is None or not made[0] <= first < made[0] + len(made[1]):
            sweeps = max(1, int(np.clip(first, *AHEAD)) // self.steps)
            made = first, uniforms(self.seed, self.chain, first + 1, sweeps * self.steps, width=2)
            if sweeps > 1:
                self.__dict__["_made"] = made  # in one step, as `cached_property` keeps what it finds
        low = first - made[0]
        return made[1][low : low + self.steps]

    @cached_property
    def _ladder(self) -> Array | None:
        even = self.order == "even" or (self.weights == 1.0).all()
        return None if even else np.cumsum(self.weights)

    def _weighted(self, u: Array) -> IntArray:
        n, ladder = len(self.weights), self._ladder
        # rungs 1, 2, ..., n need no search
        rungs = u * n if ladder is None else np.searchsorted(ladder, u * ladder[-1], side="right")
        return np.minimum(rungs.astype(np.intp), n - 1)

    def _batches(self, first: int) -> IntArray:
        n, b = len(self.weights), self.batch
        rates = 1.0 if self.order == "even" else self.weights
        blocks = -(-n // 4)
        indices = np.full((self.steps, b), -1, dtype=np.intp)
        if self.order == "reshuffled":
            keys = uniforms(self.seed, self.chain, 1, blocks, page=first + 1).ravel()[:n]
            indices.ravel()[:n] = np.argsort(keys, kind="stable")
            return indices
        for step in range(self.steps):
            check_time()
            keys = uniforms(self.seed, self.chain, 1, blocks, page=first + step + 1).ravel()[:n]
            # the b first arrivals of exponential clocks with rates w: b distinct points, drawn by weight
            clocks = -np.log1p(-keys) / rates
            indices[step] = np.argpartition(clocks, b - 1)[:b]
        return indices


def _checked(path: Array, m: int, policy: BandwidthPolicy) -> Array:
    path = np.asarray(path, dtype=np.float64)
    if path.shape != (m,) or not (path.min() > 0 and path.max() < np.inf):  # NaN is neither
        raise ValueError(
            f"policy {type(policy).__name__}.draw must return one finite bandwidth > 0 for each of the {m} uniforms."
        )
    return path
