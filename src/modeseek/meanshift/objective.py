"""The mean-shift operator S_h, the density, the objective L_h and its gradient.

In all functions, `points` is a state of shape (n, d), and `profile` is a name or a `Profile`. A point of weight w_j
counts as w_j coincident points that move together.
"""

from collections.abc import Iterator
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from modeseek._common.distances import BLOCK
from modeseek._common.types import Array
from modeseek._common.validation import check_number, check_state, check_weights
from modeseek.meanshift.kernels.profiles import Profile, get_profile
from modeseek.meanshift.types import ProfileLike

__all__ = [
    "block_gradient",
    "density",
    "gradient",
    "kernel_mass",
    "max_norm",
    "mean_shift_vector",
    "objective",
    "shift",
    "shift_vector",
]

ProfileSpec: TypeAlias = str | Profile
Weights: TypeAlias = ArrayLike | None


def mean_shift_vector(x: Array, h: float, points: Array, weights: Array, profile: ProfileLike) -> Array:
    """Return m_h(x) = S_h(x) - x for one query, without validation; the reference engine uses this sum.

    It is computed as a weighted mean of the differences x_j - x. This form is accurate if all differences are small,
    and exactly zero for coincident points. A query without any point within h does not move.

    Parameters
    ----------
    x : (d,) array
    h : float
    points : (n, d) array
    weights : (n,) array
    profile : Profile

    Examples
    --------
    >>> from modeseek.meanshift.kernels.profiles import BIWEIGHT
    >>> mean_shift_vector(np.zeros(1), 1.0, np.array([[0.0], [0.5], [9.0]]), np.ones(3), BIWEIGHT)
    array([0.21428571])
    """
    difference = points.astype(np.float64) - x
    g = weights * profile.weight(np.square(difference).sum(axis=1) / h**2)
    total = g.sum()
    return g @ difference / total if total > 0 else np.zeros(len(x))


def shift_vector(
    x: ArrayLike, points: ArrayLike, h: float, *, profile: ProfileSpec = "biweight", weights: Weights = None
) -> Array:
    """Return the shift vectors m_h(x) = S_h(x) - x of one query (d,) or several (m, d).

    Examples
    --------
    >>> points = [[0.0], [0.5], [9.0]]
    >>> shift_vector([0.0], points, h=1.0)  # shift([0.0], ...) - [0.0]
    array([0.21428571])
    """
    points, w, kernel = check_inputs(points, h, profile, weights)
    queries = np.asarray(x, dtype=np.float64)
    rows = np.atleast_2d(queries)
    if rows.shape[1] != points.shape[1]:
        raise ValueError(f"x has {rows.shape[1]} coordinates, but points have {points.shape[1]}.")
    return np.array([mean_shift_vector(row, h, points, w, kernel) for row in rows]).reshape(queries.shape)


def shift(
    x: ArrayLike, points: ArrayLike, h: float, *, profile: ProfileSpec = "biweight", weights: Weights = None
) -> Array:
    """Return S_h(x) = sum_j w_j G((x - x_j)/h) x_j / sum_j w_j G((x - x_j)/h) of one query or several.

    Examples
    --------
    >>> shift([0.0], [[0.0], [0.5], [9.0]], h=1.0)  # the weights are 1, 0.75 and 0
    array([0.21428571])
    """
    return np.asarray(x, dtype=np.float64) + shift_vector(x, points, h, profile=profile, weights=weights)


def density(
    x: ArrayLike, points: ArrayLike, h: float, *, profile: ProfileSpec = "biweight", weights: Weights = None
) -> Array:
    """Return D(x) = 1 / (W h^d) sum_j w_j K((x - x_j)/h) at queries (m, d), where W is the total weight.

    As in the paper, K is not normalised to an integral of 1.

    Examples
    --------
    >>> density([[0.0], [0.5]], [[0.0]], h=1.0)
    array([1.    , 0.5625])
    """
    points, w, kernel = check_inputs(points, h, profile, weights)
    queries = np.atleast_2d(np.asarray(x, dtype=np.float64))
    values = np.concatenate([kernel.k(t) @ w for _, _, t in _blocks(queries, points, h)])
    return values / (w.sum() * h ** points.shape[1])


def kernel_mass(
    x: ArrayLike, points: ArrayLike, h: float, *, profile: ProfileSpec = "biweight", weights: Weights = None
) -> Array:
    """Return sum_j w_j G((x - x_j)/h), the denominator of S_h, at queries (m, d).

    Examples
    --------
    >>> kernel_mass([[0.0]], [[0.0], [1.0], [2.0]], h=1.0, profile="flat")
    array([2.])
    """
    points, w, kernel = check_inputs(points, h, profile, weights)
    queries = np.atleast_2d(np.asarray(x, dtype=np.float64))
    return np.concatenate([kernel.weight(t) @ w for _, _, t in _blocks(queries, points, h)])


def objective(points: ArrayLike, h: float, *, profile: ProfileSpec = "biweight", weights: Weights = None) -> float:
    """Return L_h(X) = sum over i <= j of K((x_i - x_j)/h).

    With weights, it is the sum over i < j of w_i w_j K plus the sum over i of w_i (w_i + 1)/2 K(0), as if point i were
    w_i coincident points.

    Examples
    --------
    >>> objective([[0.0], [0.5]], h=1.0)  # 1 + 1 + (1 - 0.25)^2
    2.5625
    """
    points, w, kernel = check_inputs(points, h, profile, weights)
    pairs = sum(float(w[start:stop] @ kernel.k(t) @ w) for start, stop, t in _blocks(points, points, h))
    at_zero = float(kernel.k(np.zeros(1))[0])
    return (pairs + at_zero * float(w.sum())) / 2.0


def gradient(points: ArrayLike, h: float, *, profile: ProfileSpec = "biweight", weights: Weights = None) -> Array:
    """Return the gradient of L_h, shape (n, d).

    Its block i is (2 / h^2) sum_j w_i w_j G((x_i - x_j)/h) (x_j - x_i).

    Examples
    --------
    >>> points = [[0.0], [0.5], [9.0]]
    >>> gradient(points, h=1.0)
    array([[ 1.5],
           [-1.5],
           [ 0. ]])
    """
    points, w, kernel = check_inputs(points, h, profile, weights)
    return np.array([_block_gradient(i, h, points, w, kernel) for i in range(len(points))])


def block_gradient(
    i: int, points: ArrayLike, h: float, *, profile: ProfileSpec = "biweight", weights: Weights = None
) -> Array:
    """Return block i of the gradient of L_h, shape (d,).

    Examples
    --------
    >>> points = [[0.0], [0.5], [9.0]]
    >>> block_gradient(0, points, h=1.0)
    array([1.5])
    """
    points, w, kernel = check_inputs(points, h, profile, weights)
    return _block_gradient(i, h, points, w, kernel)


def max_norm(blocks: ArrayLike) -> float:
    """Return the norm used in the theorems: the largest Euclidean norm of the rows of an (n, d) array.

    Examples
    --------
    >>> max_norm([[3.0, 4.0], [0.0, 1.0]])
    5.0
    """
    return float(np.linalg.norm(np.atleast_2d(blocks), axis=1).max())


def _block_gradient(i: int, h: float, points: Array, weights: Array, profile: ProfileLike) -> Array:
    difference = points - points[i]
    g = weights * profile.weight(np.square(difference).sum(axis=1) / h**2)
    return 2.0 / h**2 * weights[i] * (g @ difference)


def check_inputs(points: ArrayLike, h: float, profile: ProfileSpec, weights: Weights) -> tuple[Array, Array, Profile]:
    """Return the points in float64, their weights and the profile, after checks of all arguments."""
    check_number("h", h)
    state = check_state(points).astype(np.float64)
    return state, check_weights(weights, len(state)), get_profile(profile)


def _blocks(queries: Array, points: Array, h: float) -> Iterator[tuple[int, int, Array]]:
    """Yield (start, stop, t) with t = |x - x_j|^2 / h^2 for blocks of queries, computed from differences."""
    step = max(1, BLOCK // max(1, len(points)))
    for start in range(0, len(queries), step):
        block = queries[start : start + step]
        t = np.zeros((len(block), len(points)))
        for c in range(points.shape[1]):
            t += np.square(block[:, c, None] - points[None, :, c])
        yield start, start + len(block), t / h**2
