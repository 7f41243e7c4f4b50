"""The paper's statements about one update or one state, as checks of given states and chains.

A point of weight w stands for w coincident points that move together.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import nnls

from modeseek._common.types import Array
from modeseek._common.validation import check_number, check_state, check_tau
from modeseek.meanshift.certificate import meets_theorem2
from modeseek.meanshift.chains import Chain
from modeseek.meanshift.components import components, diameter_of, gap_of
from modeseek.meanshift.kernels.profiles import Profile
from modeseek.meanshift.objective import block_gradient, check_inputs, gradient, max_norm, shift_vector
from modeseek.meanshift.types import ChainState

EPS = float(np.finfo(np.float64).eps)
# errors are divided by the length of the gradient, or by this share of its upper bound 2 w_i W |k'(0)| / h if larger
GRADIENT_FLOOR = 1e-3
# step of the central differences, in units of h
STEP = 1e-6


class Proposition1(NamedTuple):
    """The inequalities of Proposition 1 and of Corollary 1's proof at one update.

    Attributes
    ----------
    increase, least_increase : float
        L_h after the update minus L_h before it, and the lower bound 2 |k'(0)| w_i^2 |shift|^2 / h^2 of the increase.
    gradient, largest_gradient : float
        Length of the block gradient, and its upper bound 2 W |k'(0)| w_i |shift| / h^2, where W is the total weight
        (n if all weights are 1).
    corollary1 : float
        Upper bound of the squared gradient in the proof of Corollary 1: 2 W^2 |k'(0)| increase / h^2.
    rounding : float
        Bound on the rounding error of the increase.
    """

    increase: float
    least_increase: float
    gradient: float
    largest_gradient: float
    corollary1: float = np.inf
    rounding: float = 0.0

    @property
    def holds(self) -> bool:
        """Whether all inequalities hold, up to rounding."""
        increases = self.increase >= self.least_increase - self.rounding
        bounded = self.gradient <= self.largest_gradient * (1.0 + 1e-9)
        # the bound of Corollary 1 is proportional to the increase, and so is its rounding error
        share = self.corollary1 / self.increase if self.increase > self.rounding else np.inf
        small = self.gradient**2 <= (self.corollary1 + share * self.rounding) * (1.0 + 1e-9)
        return bool(increases and bounded and small)


def proposition1(
    points: ArrayLike, i: int, h: float, *, profile: str | Profile = "biweight", weights: ArrayLike | None = None
) -> Proposition1:
    """Update point i of a state at bandwidth h, and evaluate both sides of each inequality of Proposition 1.

    Examples
    --------
    >>> proposition1([[0.0], [0.5], [0.7]], 0, 1.0).holds
    True
    """
    state, w, kernel = check_inputs(points, h, profile, weights)
    vector = shift_vector(state[i], state, h, profile=kernel, weights=w)
    after = state[i] + vector
    others = np.arange(len(state)) != i
    # only pairs with i change, so only they are summed: in a difference of two values of L, a small increase would be
    # lost to rounding
    before_k, after_k = (kernel.k(np.square((state[others] - x) / h).sum(axis=1)) for x in (state[i], after))
    slope, total = float(kernel.weight(np.zeros(1))[0]), float(w.sum())
    length, increase = float(np.linalg.norm(vector)), float(w[i] * (w[others] @ (after_k - before_k)))
    return Proposition1(
        increase,
        2.0 * slope * w[i] ** 2 * length**2 / h**2,
        float(np.linalg.norm(block_gradient(i, state, h, profile=kernel, weights=w))),
        2.0 * total * slope * w[i] * length / h**2,
        2.0 * total**2 * slope * increase / h**2,
        64 * EPS * w[i] * total * slope,
    )


def gradient_error(
    points: ArrayLike, h: float, *, profile: str | Profile = "biweight", weights: ArrayLike | None = None
) -> float:
    """Return the largest relative difference between a block of the gradient of L_h and central differences.

    The difference of block i is divided by the length of the block, or by a thousandth of its upper bound
    2 w_i W |k'(0)| / h if that is larger; W is the total weight. So the result does not depend on the scale of the
    weights.

    Examples
    --------
    >>> gradient_error([[0.0], [0.5], [0.7]], 1.0, weights=[1e-4, 2e-4, 1e-4]) < 1e-6
    True
    """
    state, w, kernel = check_inputs(points, h, profile, weights)
    exact, numeric = gradient(state, h, profile=kernel, weights=w), np.zeros_like(state)
    for i, x in enumerate(state):
        for axis, unit in enumerate(np.eye(state.shape[1])):
            # only pairs with i change; their distances are in units of h
            sides = [np.square((state - x - sign * STEP * h * unit) / h).sum(axis=1) for sign in (1.0, -1.0)]
            change = kernel.k(sides[0]) - kernel.k(sides[1])
            change[i] = 0.0
            numeric[i, axis] = w[i] * (w @ change) / (2.0 * STEP * h)
    bound = 2.0 * w * w.sum() * float(kernel.weight(np.zeros(1))[0]) / h
    length = np.maximum(np.linalg.norm(exact, axis=1), GRADIENT_FLOOR * bound)
    return float((np.linalg.norm(exact - numeric, axis=1) / length).max())


class Theorem1(NamedTuple):
    """The two sides of Theorem 1 for a state.

    Attributes
    ----------
    gradient : float
        Max norm of the gradient of L_h.
    critical : bool
        Whether it is zero, up to rounding.
    separated : bool
        Whether every two points coincide or are at least h apart; more than h apart if the profile has a positive
        weight at distance h, as flat weights have.
    """

    gradient: float
    critical: bool
    separated: bool

    @property
    def holds(self) -> bool:
        """Whether the state is both critical and separated, or neither."""
        return self.critical == self.separated


def theorem1(
    points: ArrayLike, h: float, *, profile: str | Profile = "biweight", weights: ArrayLike | None = None
) -> Theorem1:
    """Compare "the gradient of L_h vanishes" with "points coincide or are at least h apart".

    Examples
    --------
    >>> theorem1([[0.0], [0.0], [1.0]], 1.0), theorem1([[0.0], [0.9]], 1.0).holds
    (Theorem1(gradient=0.0, critical=True, separated=True), True)
    >>> theorem1([[0.0], [1.0]], 1.0, profile="flat")  # flat weights include distance h
    Theorem1(gradient=2.0, critical=False, separated=False)
    """
    state, w, kernel = check_inputs(points, h, profile, weights)
    norm = max_norm(gradient(state, h, profile=kernel, weights=w))
    critical = separated = True
    closed = float(kernel.weight(np.ones(1))[0]) > 0
    for x in state:
        difference = state - x
        t = np.square(difference / h).sum(axis=1)
        g = w * kernel.weight(t)
        terms = g[:, None] * difference
        terms /= max(float(np.abs(terms).max()), np.finfo(np.float64).tiny)  # squares of tiny terms would vanish
        # relative to the terms of the sum, so that neither small distances nor small weights count as zero
        rounding = 16 * EPS * len(state) * float(np.linalg.norm(terms, axis=1).sum())
        critical &= bool(np.linalg.norm(terms.sum(axis=0)) <= rounding)
        # from the distances alone, because this side of the theorem does not depend on the weights
        apart = t > 1 if closed else t >= 1
        separated &= bool((apart | (difference == 0).all(axis=1)).all())
    return Theorem1(norm, critical, separated)


class Theorem2(NamedTuple):
    """Diameter and gap of the components of a state at tau, and whether the two conditions of Theorem 2 hold."""

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
    return Theorem2(diameter, gap, meets_theorem2(diameter, gap, tau, h_min))


def hull_distance(points: ArrayLike, original: ArrayLike) -> float:
    """Return the largest distance of the points from the convex hull of the rows of `original`.

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
    """Return whether the partition at tau stays the same after each of some further sweeps.

    Examples
    --------
    >>> from modeseek.meanshift.chains import Stopping, make_problem, partition, run, stochastic
    >>> chain = stochastic(make_problem([[0.0], [0.1], [5.0]]), 1.0, seed=0)
    >>> result = run(chain, Stopping(tau=0.05))
    >>> partition_stays(chain, result.state, 0.05)
    True
    """
    before = components(state.points, tau)
    for _ in range(sweeps):
        state, _ = chain.sweep(state)
        after = components(state.points, tau)
        pairs = np.unique(np.column_stack([before, after]), axis=0)
        if not len(pairs) == before.max() + 1 == after.max() + 1:
            return False
    return True


def gradient_norms(chain: Chain, *, sweeps: int, start: ChainState | None = None) -> Array:
    """Return the max norm of the gradient of L_{h_{k+1}} at X^(k), before the first sweep and after each sweep.

    Proposition 3 says that this norm tends to 0. h_{k+1} is the bandwidth of the next update.

    Returns
    -------
    (sweeps + 1,) array
        The first entry belongs to the initial state.

    Examples
    --------
    >>> from modeseek.meanshift.chains import make_problem, stochastic
    >>> chain = stochastic(make_problem([[0.0], [0.1], [5.0]]), 1.0, seed=0)
    >>> norms = gradient_norms(chain, sweeps=20)
    >>> bool(norms[-1] < norms[0])
    True
    """
    problem, state = chain.problem, chain.init() if start is None else start
    norms = []
    for _ in range(sweeps + 1):
        following, info = chain.sweep(state)
        h = float(info.bandwidths[0])
        norms.append(max_norm(gradient(state.points, h, profile=problem.profile, weights=problem.weights)))
        state = following
    return np.array(norms)
