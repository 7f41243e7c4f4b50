"""The theory, executed: each statement of the paper as a check that users can run on states and chains of their own.

Statements with weights are those of the copies: a point of weight w is w coincident points that move together.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import nnls
from scipy.spatial.distance import pdist

from modeseek._common.resources import check_memory
from modeseek._common.types import Array, IntArray
from modeseek._common.validation import check_number, check_state, check_tau, check_weights
from modeseek.meanshift.bandwidth import Constant, Walk, uniforms
from modeseek.meanshift.chains import Chain
from modeseek.meanshift.components import components, diameter_of, gap_of
from modeseek.meanshift.kernels.profiles import Profile, get_profile
from modeseek.meanshift.objective import block_gradient, gradient, max_norm, mean_shift_vector, objective, shift_vector
from modeseek.meanshift.types import BandwidthPolicy, ChainState

__all__ = [
    "STATEMENTS",
    "AbsorbedShares",
    "Proposition1",
    "Submartingale",
    "Theorem1",
    "Theorem2",
    "gradient_error",
    "gradient_norms",
    "hull_distance",
    "partition_stays",
    "proposition1",
    "proven",
    "simulate_absorption",
    "submartingale",
    "theorem1",
    "theorem2",
    "walk_paths",
]

# distances that are looked at together where next updates are drawn
TOGETHER = 1 << 15
EPS = float(np.finfo(np.float64).eps)
STATEMENTS = ("proposition 1", "theorem 1", "submartingale", "vanishing gradient", "theorem 2")


def proven(
    policy: BandwidthPolicy,
    *,
    profile: str | Profile = "biweight",
    metric: str = "euclidean",
    local_scale: bool = False,
    order: str = "random",
    batch_size: int = 1,
) -> dict[str, bool]:
    """Tell which statements of the paper are proven for a set-up; the certificate of a run holds for all of them.

    Examples
    --------
    >>> from modeseek.meanshift.bandwidth import Shrinking
    >>> proven(Walk(0.2, 1.6))["theorem 2"], proven(Shrinking(0.2, 1.6))["theorem 2"]
    (True, False)
    """
    covered = get_profile(profile).smooth and metric == "euclidean" and not local_scale and batch_size == 1
    walk = covered and isinstance(policy, Walk) and order == "random"
    # the first two speak of an update at one given h: that of the fixed bandwidth, or the one the walk has drawn
    single = covered and isinstance(policy, (Constant, Walk))
    return dict(zip(STATEMENTS, (single, single, walk, walk, walk), strict=True))


class Proposition1(NamedTuple):
    """Both inequalities of Proposition 1 at one update.

    Attributes
    ----------
    increase, least_increase : float
        L_h after less before, and its lower bound 2 |k'(0)| w_i^2 |shift|^2 / h^2.
    gradient, largest_gradient : float
        Length of the block gradient, and its upper bound 2 W |k'(0)| w_i |shift| / h^2, W the total weight (n if all
        weights are 1).
    rounding : float
        What rounding can do to the increase.
    """

    increase: float
    least_increase: float
    gradient: float
    largest_gradient: float
    rounding: float = 0.0

    @property
    def holds(self) -> bool:
        """Whether both hold, up to rounding."""
        increases = self.increase >= self.least_increase - self.rounding
        return bool(increases and self.gradient <= self.largest_gradient * (1.0 + 1e-9))


def proposition1(
    points: ArrayLike, i: int, h: float, *, profile: str | Profile = "biweight", weights: ArrayLike | None = None
) -> Proposition1:
    """Update point i of a state at bandwidth h and measure both sides of Proposition 1's inequalities.

    Examples
    --------
    >>> proposition1([[0.0], [0.5], [0.7]], 0, 1.0).holds
    True
    """
    state, kernel = check_state(points).astype(np.float64), get_profile(profile)
    w = check_weights(weights, len(state))
    vector = shift_vector(state[i], state, h, profile=kernel, weights=w)
    after = state[i] + vector
    others = np.arange(len(state)) != i
    # only pairs with i change, so only they are summed: the whole of L would drown a small increase in rounding
    before_k, after_k = (kernel.k(np.square((state[others] - x) / h).sum(axis=1)) for x in (state[i], after))
    slope = float(kernel.weight(np.zeros(1))[0])
    length = float(np.linalg.norm(vector))
    return Proposition1(
        float(w[i] * (w[others] @ (after_k - before_k))),
        2.0 * slope * w[i] ** 2 * length**2 / h**2,
        float(np.linalg.norm(block_gradient(i, state, h, profile=kernel, weights=w))),
        2.0 * float(w.sum()) * slope * w[i] * length / h**2,
        64 * float(np.finfo(np.float64).eps) * w[i] * float(w.sum()) * slope,
    )


def gradient_error(
    points: ArrayLike,
    h: float,
    *,
    profile: str | Profile = "biweight",
    weights: ArrayLike | None = None,
    step: float = 1e-6,
) -> float:
    """Return how far the gradient of L_h is from central differences, relative to its max norm (at least 1 / h)."""
    state = check_state(points).astype(np.float64)
    exact = gradient(state, h, profile=profile, weights=weights)
    numeric = np.empty_like(exact)
    for index in np.ndindex(*state.shape):
        sides = []
        for sign in (1.0, -1.0):
            moved = state.copy()
            moved[index] += sign * step * h
            sides.append(objective(moved, h, profile=profile, weights=weights))
        numeric[index] = (sides[0] - sides[1]) / (2.0 * step * h)
    return max_norm(exact - numeric) / max(max_norm(exact), 1.0 / h)


class Theorem1(NamedTuple):
    """The two sides of Theorem 1 for a state.

    Attributes
    ----------
    gradient : float
        Max norm of the gradient of L_h.
    critical : bool
        Whether it is zero, up to rounding.
    separated : bool
        Whether every two points coincide or are at least h apart.
    """

    gradient: float
    critical: bool
    separated: bool

    @property
    def holds(self) -> bool:
        """Whether both say the same."""
        return self.critical == self.separated


def theorem1(
    points: ArrayLike, h: float, *, profile: str | Profile = "biweight", weights: ArrayLike | None = None
) -> Theorem1:
    """Compare "the gradient of L_h vanishes" with "points coincide or are at least h apart".

    Examples
    --------
    >>> theorem1([[0.0], [0.0], [1.0]], 1.0), theorem1([[0.0], [0.9]], 1.0).holds
    (Theorem1(gradient=0.0, critical=True, separated=True), True)
    """
    state, kernel = check_state(points).astype(np.float64), get_profile(profile)
    w = check_weights(weights, len(state))
    norm = max_norm(gradient(state, h, profile=kernel, weights=w))
    critical = separated = True
    for x in state:
        difference = state - x
        g = w * kernel.weight(np.square(difference / h).sum(axis=1))
        terms = g[:, None] * difference
        terms /= max(float(np.abs(terms).max()), np.finfo(np.float64).tiny)  # squares of tiny terms would vanish
        # relative to the terms of the sum, so that neither small distances nor small weights count as zero
        rounding = 16 * EPS * len(state) * float(np.linalg.norm(terms, axis=1).sum())
        critical &= bool(np.linalg.norm(terms.sum(axis=0)) <= rounding)
        separated &= bool(((g == 0) | (difference == 0).all(axis=1)).all())
    return Theorem1(norm, critical, separated)


class Theorem2(NamedTuple):
    """The two conditions of Theorem 2 for a state, read off at tau."""

    diameter: float
    gap: float
    holds: bool


def theorem2(points: ArrayLike, tau: float, h_min: float) -> Theorem2:
    """Check diameter < tau and gap > h_min - tau for the components at tau < h_min / 2.

    Examples
    --------
    >>> theorem2([[0.0], [0.01], [1.0]], 0.1, 0.5).holds
    True
    """
    state = check_state(points)
    tau = check_tau(tau, check_number("h_min", h_min))
    labels = components(state, tau)
    diameter, gap = diameter_of(state, labels), gap_of(state, labels)
    return Theorem2(diameter, gap, diameter < tau and gap > h_min - tau)


def hull_distance(points: ArrayLike, original: ArrayLike) -> float:
    """Return the largest distance of the points from the convex hull of the original ones.

    With A the matrix of the corners minus x, and lambda the non-negative least-squares solution of A lambda = 0 and
    sum(lambda) = 1, the point of the hull nearest to x is x + A lambda / sum(lambda).

    Examples
    --------
    >>> round(hull_distance([[0.5], [1.5]], [[0.0], [1.0]]), 12)
    0.5
    """
    corners = np.unique(check_state(original).astype(np.float64), axis=0)
    return max(_distance_from_hull(x, corners) for x in check_state(points).astype(np.float64))


def _distance_from_hull(x: Array, corners: Array) -> float:
    away = (corners - x).T
    scale = max(float(np.abs(away).max()), 1e-300)
    shares, _ = nnls(np.vstack([away / scale, np.ones(len(corners))]), np.append(np.zeros(len(x)), 1.0))
    return scale * float(np.linalg.norm(away / scale @ shares)) / float(shares.sum())


def partition_stays(chain: Chain, state: ChainState, tau: float, *, sweeps: int = 20) -> bool:
    """Return whether the partition at tau is the same after every one of some further sweeps."""
    before = components(state.points, tau)
    for _ in range(sweeps):
        state, _ = chain.sweep(state)
        after = components(state.points, tau)
        pairs = np.unique(np.column_stack([before, after]), axis=0)
        if not len(pairs) == before.max() + 1 == after.max() + 1:
            return False
    return True


def gradient_norms(chain: Chain, *, sweeps: int, start: ChainState | None = None) -> Array:
    """Return the max norm of the gradient of L_h after each sweep of a chain, at its bandwidth then; it tends to 0.

    Returns
    -------
    (sweeps + 1,) array
        The first entry is that of the start.
    """
    problem, state = chain.problem, chain.init() if start is None else start
    norms = []
    for sweep in range(sweeps + 1):
        if sweep:
            state, _ = chain.sweep(state)
        norms.append(max_norm(gradient(state.points, state.h, profile=problem.profile, weights=problem.weights)))
    return np.array(norms)


class Submartingale(NamedTuple):
    """A Monte Carlo look at E[L_{h_{k+1}}(X^(k+1))] - L_{h_k}(X^(k)) from one state.

    Attributes
    ----------
    mean : float
        Mean of the differences over the draws.
    margin : float
        The true mean lies within this of `mean`, except with probability `error`.
    error : float
    std : float
        Standard deviation of the differences, for intervals that suppose a normal law of the mean.
    """

    mean: float
    margin: float
    error: float
    std: float

    @property
    def refuted(self) -> bool:
        """Whether the true mean is negative, wrongly said with probability at most `error`."""
        return self.mean + self.margin < 0

    @property
    def confirmed(self) -> bool:
        """Whether the true mean is not negative, wrongly said with probability at most `error`."""
        return self.mean - self.margin >= 0


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
) -> Submartingale:
    """Draw many next updates from one state and compare the mean of L with the value now.

    The margin is Maurer and Pontil's empirical Bernstein bound, both sides:
    sqrt(2 V ln(4 / error) / m) + 7 B ln(4 / error) / (3 (m - 1)), with V the sample variance and
    B = n (n + 1) k(0) / 2, the range of L.

    Parameters
    ----------
    points : (n, d) array
        The state X^(k).
    policy : BandwidthPolicy
    h : float, optional
        h_k; default the policy's start.
    k : int
        Draws done before.
    n_draws : int
        How many next updates to draw.
    error : float
        Probability that the margin is too small.
    seed : int
    profile : str or Profile
    """
    state, kernel = check_state(points).astype(np.float64), get_profile(profile)
    n = len(state)
    pairs, numbers = n * (n - 1) / 2, n_draws * n * state.shape[1]
    check_memory(
        8.0 * (2 * pairs + max(TOGETHER, pairs) + 3 * numbers),
        f"the change of L_h over all pairs of {n:,} points and {n_draws:,} draws",
        "Take fewer points or draws.",
    )
    now_h = policy.h_0 if h is None else h
    words = uniforms(seed, 0, 1, n_draws)
    indices = (words[:, 0] * n).astype(np.intp)
    bandwidths = np.array([policy.draw(u, now_h, k)[0] for u in words[:, 1:2]])
    differences = _changes(state, now_h, indices, bandwidths, kernel)
    spread = n * (n + 1) / 2 * float(kernel.k(np.zeros(1))[0])
    log = np.log(4.0 / error)
    margin = np.sqrt(2 * differences.var(ddof=1) * log / n_draws) + 7 * spread * log / (3 * (n_draws - 1))
    return Submartingale(float(differences.mean()), float(margin), error, float(differences.std(ddof=1)))


def _changes(state: Array, h: float, indices: IntArray, bandwidths: Array, kernel: Profile) -> Array:
    """Return L_h' after one update of point i at h' less L_h now, for each of several (i, h')."""
    squares, ones = pdist(state, "sqeuclidean"), np.ones(len(state))
    # all that the bandwidth does to a state at rest, then what the move does to the pairs of the point that moved
    step = max(1, TOGETHER // max(1, len(squares)))
    blocks = [bandwidths[start : start + step, None] for start in range(0, len(bandwidths), step)]
    changes = np.concatenate([kernel.k(squares / block**2).sum(axis=1) for block in blocks])
    changes -= kernel.k(squares / h**2).sum()
    moves = [mean_shift_vector(state[i], b, state, ones, kernel) for i, b in zip(indices, bandwidths, strict=True)]
    away = state[None, :, :] - state[indices, None, :]
    before, after = (
        np.square(x).sum(axis=2) / bandwidths[:, None] ** 2 for x in (away, away - np.array(moves)[:, None])
    )
    rows = kernel.k(after) - kernel.k(before)
    rows[np.arange(len(indices)), indices] = 0.0
    return changes + rows.sum(axis=1)


class AbsorbedShares(NamedTuple):
    """Where simulated walks are after some draws: shares at either end and in between."""

    to_min: float
    to_max: float
    inside: float


def simulate_absorption(
    walk: Walk, *, n_paths: int = 10_000, n_draws: int = 500, tolerance: float = 1e-3, seed: int = 0
) -> AbsorbedShares:
    """Simulate paths of a walk and tell which share has come within a relative tolerance of either end.

    `Walk.absorption` has the closed formula.
    """
    words = uniforms(seed, 0, 1, n_paths * n_draws)[:, 1].reshape(n_paths, n_draws)
    h = walk_paths(walk, words)[:, -1]
    low, high = h <= walk.h_min * (1 + tolerance), h >= walk.h_max * (1 - tolerance)
    return AbsorbedShares(float(low.mean()), float(high.mean()), float(1.0 - low.mean() - high.mean()))


def walk_paths(walk: Walk, words: Array, h: ArrayLike | None = None) -> Array:
    """Return many paths of a walk, all a step at a time: row p is `walk.draw` of row p of the uniforms, up to rounding.

    Parameters
    ----------
    walk : Walk
    words : (p, m) array
        Uniforms on [0, 1), those of a path in a row.
    h : float or (p,) array, optional
        Where paths start. Default: where the walk does.

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
        room = np.where(room > 8 * EPS, room, 0.0)  # as in `Walk.draw`: a few units of rounding are 0
        if not room.any():  # all are absorbed: the rest of every path is what it is now
            paths[j:] = now
            break
        delta = np.minimum(nu, room)
        now = np.clip(now / np.sqrt(1.0 - delta + 2.0 * delta * u), walk.h_min, walk.h_max)
        paths[j] = now
    return paths.T
