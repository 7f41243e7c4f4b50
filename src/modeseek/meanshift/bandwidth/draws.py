"""The random draws of a chain: which point moves, and at which bandwidth.

The draws come from the generator Philox 4x64. With the key (seed, chain), it maps a counter to four 64-bit words.
Update k = 1, 2, ... uses the counter (k, 0, 0, 0): word 0 selects the point, word 1 the bandwidth. With batches of
b > 1 points, step s = 1, 2, ... uses the counter (s, 0, 0, 0) for the bandwidth and the counters (., s, 0, 0) for the
points. The upper 53 bits of a word give a uniform number on [0, 1). So the draws depend only on (seed, chain, k). Block
size, engine, number of workers and resumption cannot change them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from modeseek._common.resources import check_time
from modeseek._common.types import Array, IntArray
from modeseek._common.validation import check_choice, check_integer
from modeseek.meanshift.bandwidth.policies import Anchored, PolicyCode, Uniform, encode_policy
from modeseek.meanshift.bandwidth.walks import RangePolicy
from modeseek.meanshift.types import BandwidthPolicy, Draws

ORDERS = ("random", "reshuffled", "even")
# for short sweeps, random words are generated in advance: as many as were used so far, within these limits
MIN_AHEAD = 256
MAX_AHEAD = 4096
# Philox 4x64: rounds, multipliers, steps of the two words of the key after each round, and dropped low bits of a word
ROUNDS = 10
MULTIPLIERS = (0xD2E7470EE14C6C93, 0xCA5A826395121157)
KEY_STEPS = (0x9E3779B97F4A7C15, 0xBB67AE8584CAA73B)
UNUSED_BITS = 11
# relative amount by which rounding may take a draw out of its bounds
BOUND_RTOL = 1e-12
# the bandwidth is considered fixed if the next draw changes it by at most this share
FROZEN_RTOL = 1e-5


def uniforms(seed: int, chain: int, first: int, count: int, page: int = 0, width: int = 4) -> Array:
    """Return uniform numbers on [0, 1), shape (count, width), for the counters (first, page), (first + 1, page), ...

    Examples
    --------
    >>> bool((uniforms(0, 0, 5, 2) == uniforms(0, 0, 1, 10)[4:6]).all())
    True
    """
    # NumPy's Philox increments the counter before it generates, hence first - 1
    counter = ((page << 64) + first - 1) % 2**256
    words = np.random.Philox(key=(chain << 64) + seed, counter=counter).random_raw(4 * count)
    return (words.reshape(count, 4)[:, :width] >> np.uint64(11)) * 2.0**-53


NO_VALUES = np.empty(0)


class DrawCode(NamedTuple):
    """Arguments for compiled code that makes the draws of a chain, starting after `first` updates.

    Attributes
    ----------
    key : (2,) array
        Key of Philox; empty if the draws are passed as arrays.
    policy : PolicyCode
    max_delta : float
        Largest delta of `Anchored`.
    square : float
        The exponent 2. It is a variable, because compiled code rounds x ** 2 differently if the exponent is constant.
    nu : array
        nu_k for each update and for the one after the last; empty if the policy does not need it.
    cumulative, scales : arrays
        Cumulative sums of the weights, and the local scale of each point; empty if all weights or scales are 1.
    reshuffled : bool
        Whether each sweep visits each point once.
    first : int
        Number of updates before these draws.
    widest : float
        Largest local scale.
    reach : float
        Factor by which the engine widens all bandwidths; see `Problem.reach`.
    """

    key: NDArray[np.uint64]
    policy: PolicyCode
    max_delta: float
    square: float
    nu: Array
    cumulative: Array
    scales: Array
    reshuffled: bool
    first: int
    widest: float
    reach: float

    @classmethod
    def given(cls) -> DrawCode:
        """Return the placeholder for draws that are passed as arrays."""
        policy = PolicyCode(0, 1.0, 1.0, 1.0, 0, 0.0)
        return cls(np.empty(0, dtype=np.uint64), policy, 0.0, 2.0, NO_VALUES, NO_VALUES, NO_VALUES, False, 0, 1.0, 1.0)


class SweepDraws(NamedTuple):
    """The draws of one sweep.

    Attributes
    ----------
    draws : Draws
        Input of the engine; bandwidths include the local scale.
    path : (m,) array
        The bandwidths drawn by the policy, one for each step.
    """

    draws: Draws
    path: Array


@dataclass(frozen=True, eq=False)
class DrawPlan:
    """All random draws of one chain, as a function of the number of the sweep.

    Attributes
    ----------
    weights : (n,) array
        A point is drawn with probability proportional to its weight, unless order is "even".
    policy : BandwidthPolicy
        Distribution of the bandwidths.
    seed, chain : int
        Key of the draws.
    order : {"random", "reshuffled", "even"}
        "random" draws each point independently (the paper). "reshuffled" visits each point once per sweep, in a new
        random order. "even" draws independently, with equal probabilities for all weights.
    batch_size : int
        Number of distinct points that move at once: 1 is SMS, n is BMS.
    local_scales : (n,) array, optional
        Factor on the bandwidth for each point.
    """

    weights: Array
    policy: BandwidthPolicy
    seed: int
    chain: int = 0
    order: str = "random"
    batch_size: int = 1
    local_scales: Array | None = None

    def __post_init__(self) -> None:
        check_choice("order", self.order, ORDERS)
        check_integer("batch_size", self.batch_size, low=1)

    @cached_property
    def batch(self) -> int:
        """Number of points that move at once: `batch_size`, or n if that is smaller."""
        return min(self.batch_size, len(self.weights))

    @cached_property
    def steps(self) -> int:
        """Number of steps in a sweep: about n points move in a sweep, and `batch` points in a step."""
        return -(-len(self.weights) // self.batch)

    @cached_property
    def updates(self) -> int:
        """Number of single-point updates in a sweep."""
        return len(self.weights) if self.order == "reshuffled" else self.steps * self.batch

    def sweep(self, number: int, h: float) -> SweepDraws:
        """Return the draws of sweep `number`, counted from 0; h is the bandwidth of the policy before this sweep."""
        first = number * self.steps
        words = self._words(first)
        path = _check_path(self.policy.draw(words[:, 1].copy(), h, first), len(words), self.policy, h, first)
        if self.batch > 1:
            indices = self._batches(first)
        elif self.order == "reshuffled":
            indices = np.argsort(words[:, 0], kind="stable")
        else:
            indices = self._weighted(words[:, 0])
        bandwidths = path if self.batch == 1 else np.repeat(path[:, None], self.batch, axis=1)
        if self.local_scales is not None:
            bandwidths = bandwidths * self.local_scales[indices]
        return SweepDraws(Draws(indices, bandwidths), path)

    def encoded(self, first: int, count: int, reach: float) -> DrawCode:
        """Return the `DrawCode` of `count` draws after the `first` ones.

        The policy must be built-in, and points must move one at a time. `reach` is a factor on all bandwidths.
        """
        policy, scales = encode_policy(self.policy), self.local_scales
        assert policy is not None
        assert self.batch == 1
        uses_nu = isinstance(self.policy, RangePolicy) and not isinstance(self.policy, Uniform)
        return DrawCode(
            np.array([self.seed, self.chain], dtype=np.uint64),
            policy,
            self.policy.max_delta if isinstance(self.policy, Anchored) else 0.0,
            2.0,
            self.policy.nu_after(first, count + 1) if uses_nu else NO_VALUES,  # type: ignore[attr-defined]
            NO_VALUES if self._cumulative_weights is None else self._cumulative_weights,
            NO_VALUES if scales is None else scales,
            self.order == "reshuffled",
            first,
            1.0 if scales is None else float(scales.max()),
            reach,
        )

    def upper(self, k: int, h: float) -> float:
        """Return the policy's upper bound of all bandwidths after k draws, given h_k = h."""
        return _check_upper(self.policy, h, k)

    def _words(self, first: int) -> Array:
        """Return two uniform numbers for each step of a sweep, if possible from numbers generated in advance."""
        ahead = self.__dict__.get("_ahead")
        if ahead is None or not ahead[0] <= first <= ahead[0] + len(ahead[1]) - self.steps:
            sweeps = max(1, int(np.clip(first, MIN_AHEAD, MAX_AHEAD)) // self.steps)
            ahead = first, uniforms(self.seed, self.chain, first + 1, sweeps * self.steps, width=2)
            if sweeps > 1:
                self.__dict__["_ahead"] = ahead  # as `cached_property` stores it, because the class is frozen
        low = first - ahead[0]
        return ahead[1][low : low + self.steps]

    @cached_property
    def _cumulative_weights(self) -> Array | None:
        equal = self.order == "even" or (self.weights == 1.0).all()
        return None if equal else np.cumsum(self.weights)

    def _weighted(self, u: Array) -> IntArray:
        n, cumulative = len(self.weights), self._cumulative_weights
        found = u * n if cumulative is None else np.searchsorted(cumulative, u * cumulative[-1], side="right")
        return np.minimum(found.astype(np.intp), n - 1)

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
            # the b smallest of n exponential variables with rates w select b distinct points by weight
            clocks = -np.log1p(-keys) / rates
            indices[step] = np.argpartition(clocks, b - 1)[:b]
        return indices


class PolicyBoundsError(ValueError):
    """A bandwidth policy violates its declared bounds, which could make a certificate wrong.

    Attributes
    ----------
    policy : BandwidthPolicy
    draw : int
        Number of the draw, counted from 1.
    """

    def __init__(self, policy: BandwidthPolicy, draw: int, problem: str):
        super().__init__(f"policy {type(policy).__name__}: {problem}. Correct h_min or upper.")
        self.policy, self.draw = policy, draw


def _check_upper(policy: BandwidthPolicy, h: float, k: int) -> float:
    high = policy.upper(h, k)
    if not high >= policy.h_min * (1 - BOUND_RTOL):
        raise PolicyBoundsError(policy, k, f"upper is {high:.6g} after {k} draws, below h_min = {policy.h_min:.6g}")
    return high


def _check_path(path: Array, m: int, policy: BandwidthPolicy, h: float, k: int) -> Array:
    """Check that the draws k + 1, ..., k + m after the bandwidth h are within the policy's bounds."""
    path = np.asarray(path, dtype=np.float64)
    if path.shape != (m,) or not (path.min() > 0 and path.max() < np.inf):  # false for NaN
        raise ValueError(
            f"policy {type(policy).__name__}.draw must return one finite bandwidth > 0 for each of the {m} uniforms."
        )
    low, high = policy.h_min, _check_upper(policy, h, k)
    outside = (path < low * (1 - BOUND_RTOL)) | (path > high * (1 + BOUND_RTOL))
    if outside.any():
        draw = int(np.argmax(outside))
        drawn = f"draw {k + draw + 1} is {path[draw]:.6g}"
        raise PolicyBoundsError(policy, k + draw + 1, f"{drawn}, outside [h_min, upper] = [{low:.6g}, {high:.6g}]")
    later = policy.upper(float(path[-1]), k + m)
    if not later <= high * (1 + BOUND_RTOL):
        grown = f"upper grows from {high:.6g} after {k} draws to {later:.6g} after {k + m}"
        raise PolicyBoundsError(policy, k + m, grown)
    return path
