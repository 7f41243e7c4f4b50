"""The paper's statements about random draws, as simulations: submartingale, Lemma 1, and the absorption of walks."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.distance import pdist
from scipy.stats import beta

from modeseek._common.resources import check_memory
from modeseek._common.types import Array, IntArray
from modeseek._common.validation import check_state, check_weights
from modeseek.meanshift.bandwidth import DrawPlan, Walk, uniforms
from modeseek.meanshift.kernels.profiles import Profile, get_profile
from modeseek.meanshift.objective import mean_shift_vector
from modeseek.meanshift.types import BandwidthPolicy

# number of distances that are computed at a time
TOGETHER = 1 << 15
# a walk within this relative distance of an end of its range has reached it
END_RTOL = 1e-3
EPS = float(np.finfo(np.float64).eps)


class Submartingale(NamedTuple):
    """A Monte Carlo estimate of E[L_{h_{k+1}}(X^(k+1))] - L_{h_k}(X^(k)) from one state.

    Attributes
    ----------
    mean : float
        Mean of the differences over the draws.
    margin : float
        The true mean differs from `mean` by at most this, except with probability `error`.
    error : float
    std : float
        Standard deviation of the differences, for intervals that assume a normal distribution of the mean.
    """

    mean: float
    margin: float
    error: float
    std: float

    @property
    def refuted(self) -> bool:
        """Whether the true mean is negative; the probability of a wrong answer is at most `error`."""
        return self.mean + self.margin < 0


def submartingale(
    points: ArrayLike,
    policy: BandwidthPolicy,
    *,
    h: float | None = None,
    k: int = 0,
    n_draws: int = 2000,
    error: float = 1e-6,
    seed: int = 0,
    profile: str | Profile = "biweight",
    weights: ArrayLike | None = None,
    index: int | None = None,
) -> Submartingale:
    """Draw many next updates from one state, and compare the mean of L with its current value.

    The margin is Maurer and Pontil's two-sided empirical Bernstein bound:
    sqrt(2 V ln(4 / error) / m) + 7 B ln(4 / error) / (3 (m - 1)), with the sample variance V and the range of L,
    B = W (W + 1) k(0) / 2, where W is the total weight.

    Parameters
    ----------
    points : (n, d) array
        The state X^(k).
    policy : BandwidthPolicy
    h : float, optional
        h_k. Default: the initial bandwidth of the policy.
    k : int
        Number of earlier draws.
    n_draws : int
        Number of next updates to draw.
    error : float
        Probability that the margin is too small.
    seed : int
    profile : str or Profile
    weights : (n,) array, optional
        Default: 1 for each point. A point is drawn with probability proportional to its weight.
    index : int, optional
        The point that moves, if the order of the updates determines it. By default, the point is drawn too.

    Examples
    --------
    >>> from modeseek.meanshift.bandwidth import Walk
    >>> found = submartingale([[0.0], [0.3], [0.9]], Walk(0.5, 2.0), n_draws=500)
    >>> found.refuted, found.mean > 0
    (False, True)
    """
    state, kernel = check_state(points).astype(np.float64), get_profile(profile)
    n = len(state)
    pairs, numbers = n * (n - 1) / 2, n_draws * n * state.shape[1]
    check_memory(
        8.0 * (2 * pairs + max(TOGETHER, pairs) + 3 * numbers),
        f"the change of L_h over all pairs of {n:,} points and {n_draws:,} draws",
        "Take fewer points or draws.",
    )
    now_h, w = policy.h_0 if h is None else h, check_weights(weights, n)
    words = uniforms(seed, 0, 1, n_draws)
    cumulative = np.cumsum(w)
    indices = np.minimum(np.searchsorted(cumulative, words[:, 0] * cumulative[-1], side="right"), n - 1)
    if index is not None:
        indices = np.full(n_draws, index)
    bandwidths = np.array([policy.draw(u, now_h, k)[0] for u in words[:, 1:2]])
    differences = _changes(state, w, now_h, indices, bandwidths, kernel)
    spread = w.sum() * (w.sum() + 1) / 2 * float(kernel.k(np.zeros(1))[0])
    log = np.log(4.0 / error)
    margin = np.sqrt(2 * differences.var(ddof=1) * log / n_draws) + 7 * spread * log / (3 * (n_draws - 1))
    return Submartingale(float(differences.mean()), float(margin), error, float(differences.std(ddof=1)))


def _changes(state: Array, w: Array, h: float, indices: IntArray, bandwidths: Array, kernel: Profile) -> Array:
    """Return L_h' after an update of point i at bandwidth h', minus L_h before it, for each of several (i, h')."""
    squares, pairs = pdist(state, "sqeuclidean"), np.outer(w, w)[np.triu_indices(len(w), 1)]
    # first the effect of the new bandwidth on all pairs, then the effect of the move on pairs with the moved point
    step = max(1, TOGETHER // max(1, len(squares)))
    blocks = [bandwidths[start : start + step, None] for start in range(0, len(bandwidths), step)]
    changes = np.concatenate([kernel.k(squares / block**2) @ pairs for block in blocks])
    changes -= kernel.k(squares / h**2) @ pairs
    moves = [mean_shift_vector(state[i], b, state, w, kernel) for i, b in zip(indices, bandwidths, strict=True)]
    away = state[None, :, :] - state[indices, None, :]
    before, after = (
        np.square(x).sum(axis=2) / bandwidths[:, None] ** 2 for x in (away, away - np.array(moves)[:, None])
    )
    rows = kernel.k(after) - kernel.k(before)
    rows[np.arange(len(indices)), indices] = 0.0
    return changes + w[indices] * (rows @ w)


class GradientPaths(NamedTuple):
    """Gradients of L_{h_{k+1}} at X^(k) along many runs from one state, for k = 0, 1, ... (columns).

    Attributes
    ----------
    selected : (runs, updates) array
        Length of the gradient block of the point that update k moves. By Corollary 1, it tends to 0.
    largest : (runs, updates) array
        Length of the longest gradient block. By Proposition 3, it tends to 0.
    """

    selected: Array
    largest: Array


def gradient_paths(
    points: ArrayLike,
    policy: BandwidthPolicy,
    *,
    n_runs: int,
    n_updates: int,
    seed: int = 0,
    profile: str | Profile = "biweight",
    weights: ArrayLike | None = None,
    order: str = "random",
) -> GradientPaths:
    """Run many chains from one state, all at once, and return the lengths of their gradients before each update.

    Run r has the draws of `doubly_stochastic(..., seed=seed, chain=r, order=order)`. Each update computes n^2 distances
    in each run.

    Examples
    --------
    >>> from modeseek.meanshift.bandwidth import Constant
    >>> paths = gradient_paths([[0.0], [0.0], [0.0], [0.5]], Constant(1.0), n_runs=100, n_updates=5)
    >>> paths.largest.shape
    (100, 5)
    """
    start, kernel = check_state(points).astype(np.float64), get_profile(profile)
    w, n = check_weights(weights, len(start)), len(start)
    memory = 8.0 * n_runs * (3 * n * n * start.shape[1] + 4 * n_updates)
    check_memory(memory, f"{n_runs:,} runs of {n:,} points", "Take fewer runs or points.")
    indices, bandwidths = (np.empty((n_runs, n_updates), dtype) for dtype in (np.intp, np.float64))
    for run in range(n_runs):
        plan, h = DrawPlan(w, policy, seed, run, order), policy.h_0
        for sweep in range(-(-n_updates // n)):
            draws = plan.sweep(sweep, h).draws
            part = slice(sweep * n, min((sweep + 1) * n, n_updates))
            indices[run, part], bandwidths[run, part] = (each[: part.stop - part.start] for each in draws)
            h = float(draws.bandwidths[-1])
    states, runs = np.repeat(start[None], n_runs, axis=0), np.arange(n_runs)
    found = GradientPaths(np.empty((n_runs, n_updates)), np.empty((n_runs, n_updates)))
    for k in range(n_updates):
        i, h2 = indices[:, k], bandwidths[:, k, None, None] ** 2
        difference = states[:, None, :, :] - states[:, :, None, :]  # [run, i, j] = x_j - x_i
        g = w * kernel.weight(np.square(difference).sum(axis=3) / h2)
        sums = np.einsum("rij,rijd->rid", g, difference)
        lengths = np.linalg.norm(2.0 / h2 * w[:, None] * sums, axis=2)
        found.selected[:, k], found.largest[:, k] = lengths[runs, i], lengths.max(axis=1)
        states[runs, i] += sums[runs, i] / g[runs, i].sum(axis=1)[:, None]
    return found


class Lemma1(NamedTuple):
    """Both sides of Lemma 1 for p = 0, 1, ...

    Attributes
    ----------
    share : (m,) array
        Share of runs with T_{k_0 + p} < M whose selected gradients are all below epsilon from k_0 to M - 1, where M
        is the length of the runs. The proof of the lemma bounds this event too.
    bound : (m,) array
        (1 - 1/n)^p.
    lowest : (m,) array
        Lower confidence bound of the probability, valid for all p together except with probability `error`.
    error : float
    """

    share: Array
    bound: Array
    lowest: Array
    error: float

    @property
    def refuted(self) -> bool:
        """Whether a probability exceeds its bound; the probability of a wrong answer is at most `error`."""
        return bool((self.lowest > self.bound).any())


def lemma1(paths: GradientPaths, smallest_share: float, *, epsilon: float, k_0: int = 1, error: float = 1e-6) -> Lemma1:
    """Compare the frequency of Lemma 1's event with its bound, for every p that the length of the runs allows.

    Parameters
    ----------
    paths : GradientPaths
    smallest_share : float
        Smallest probability with which a point is drawn: 1/n, or min(w) / W with weights in order "random".
    epsilon : float
        The lemma's epsilon.
    k_0 : int
        The lemma's k_0 >= 1. T_p is the p-th k at which the longest block is at least epsilon.
    error : float
        Probability that `refuted` is wrong.

    Examples
    --------
    >>> from modeseek.meanshift.bandwidth import Constant
    >>> paths = gradient_paths([[0.0], [0.0], [0.0], [0.5]], Constant(1.0), n_runs=100, n_updates=5)
    >>> found = lemma1(paths, 1 / 4, epsilon=3.0)
    >>> found.bound.round(2), found.refuted
    (array([1.  , 0.75, 0.56, 0.42, 0.32]), False)
    """
    n_runs, n_updates = paths.selected.shape
    small = (paths.selected[:, k_0:] < epsilon).all(axis=1)
    large = (paths.largest >= epsilon).sum(axis=1)
    p = np.arange(n_updates - k_0 + 1)
    counts = np.array([(small & (large >= k_0 + each)).sum() for each in p])
    # Clopper and Pearson's bound; 0 for a count of 0
    lowest = np.where(counts > 0, beta.ppf(error / len(p), np.maximum(counts, 1), n_runs - counts + 1), 0.0)
    return Lemma1(counts / n_runs, (1.0 - smallest_share) ** p, lowest, error)


class AbsorbedShares(NamedTuple):
    """Shares of simulated walks that are at h_min, at h_max, and in between after some draws."""

    to_min: float
    to_max: float
    inside: float


def simulate_absorption(walk: Walk, *, n_paths: int = 10_000, n_draws: int = 500, seed: int = 0) -> AbsorbedShares:
    """Simulate paths of a walk, and return the shares within 0.1 % of either end of the range.

    `Walk.absorption` has the closed formula.

    Examples
    --------
    >>> shares = simulate_absorption(Walk(0.2, 1.6, 0.6), n_paths=50, n_draws=100)
    >>> 0 <= shares.to_min <= 1
    True
    """
    words = uniforms(seed, 0, 1, n_paths * n_draws)[:, 1].reshape(n_paths, n_draws)
    h = walk_paths(walk, words)[:, -1]
    low, high = h <= walk.h_min * (1 + END_RTOL), h >= walk.h_max * (1 - END_RTOL)
    return AbsorbedShares(float(low.mean()), float(high.mean()), float(1.0 - low.mean() - high.mean()))


def walk_paths(walk: Walk, words: Array, h: ArrayLike | None = None) -> Array:
    """Return many paths of a walk, computed together.

    Up to rounding, row p equals the result of `walk.draw` for row p of the uniforms.

    Parameters
    ----------
    walk : Walk
    words : (p, m) array
        Uniform numbers on [0, 1), one row for each path.
    h : float or (p,) array, optional
        Initial bandwidths. Default: the initial bandwidth of the walk.

    Returns
    -------
    (p, m) array

    Examples
    --------
    >>> walk = Walk(0.2, 1.6, 0.6)
    >>> words = np.array([[0.3, 0.6, 0.1], [0.5, 0.2, 0.9]])
    >>> bool(np.allclose(walk_paths(walk, words)[1], walk.draw(words[1], walk.h_0, 0)))
    True
    """
    n_paths, n_draws = words.shape
    paths, now = np.empty((n_draws, n_paths)), np.broadcast_to(walk.h_0 if h is None else h, n_paths)
    steps = zip(walk.nu(np.arange(1.0, n_draws + 1)), np.ascontiguousarray(words.T), strict=True)
    for j, (nu, u) in enumerate(steps):
        room = np.minimum((now / walk.h_min) ** 2 - 1.0, 1.0 - (now / walk.h_max) ** 2)
        room = np.where(room > 8 * EPS, room, 0.0)  # as in `Walk.draw`: rounding errors count as 0
        if not room.any():  # all walks are absorbed and stay where they are
            paths[j:] = now
            break
        delta = np.minimum(nu, room)
        now = np.clip(now / np.sqrt(1.0 - delta + 2.0 * delta * u), walk.h_min, walk.h_max)
        paths[j] = now
    return paths.T
