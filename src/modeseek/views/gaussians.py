"""The view of a Gaussian mixture: taken only if Gaussians are modes, come back, and predict what they have not seen.

It sees what density cannot: groups that overlap, and groups of few points. It also sees groups where there are none:
in a curve, a heavy tail, a uniform patch. So it must pass tests, each with a reason, before it may say anything.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from modeseek.metrics import rand_agreement
from modeseek.mixture import Found, Mixture, dips, fit, kernel_log_density, log_density, posterior, search, starts
from modeseek.mixture.em import FORMS
from modeseek.mixture.search import level
from modeseek.types import Array, IntArray
from modeseek.views.proposals import Landscape, Setting, is_trivial

__all__ = ["FEW", "Gaussians", "by_mixture", "refit"]

# fewer components than this: where it takes as many, they tile a shape
MOST_COMPONENTS, MOST_POINTS = 10, 500
# odds of ten to one that who clusters has clusters: what the information criterion may lack
LEAST_GAIN = -2.0 * float(np.log(10.0))
# between any two components the log density must dip
DIP = 0.05
HELD_OUT, SHARE, STABLE = 8, 0.7, 0.75
# better than kernels by so many standard errors where the density has clear modes, else not worse by so many; more than
# three Gaussians without clear modes mostly tile a curve, and must be better too
BETTER, NOT_WORSE, SEVERAL = 2.0, -1.0, 3
# fewer points cannot be told from noise by any test: the mixture is believed, and its confidence says the rest
FEW = 64
# in few dimensions Gaussians tile a uniform patch too: the gain must be beyond what they gain there
PLANE, PATCHES, BEYOND = 3, 16, 1.5


class Gaussians(NamedTuple):
    """An admitted mixture.

    Attributes
    ----------
    labels : (n,) integer array
    setting : (float, float)
        Components, and the number of their form among `mixture.FORMS`.
    stability : float
        Mean adjusted Rand index with mixtures of thinned data.
    """

    labels: IntArray
    setting: Setting
    stability: float


def by_mixture(landscape: Landscape, rng: np.random.Generator, *, clear: bool) -> Gaussians | None:
    """Return the partition of a Gaussian mixture, if it is to be believed.

    Parameters
    ----------
    landscape : Landscape
    rng : Generator
        Of the sample, of what is held out and of uniform patches.
    clear : bool
        Whether the density itself shows clear modes: then the mixture must be better, else only not worse.
    """
    rows = _sample(len(landscape.weights), rng)
    points, weights = np.ascontiguousarray(landscape.coordinates[rows]), landscape.weights[rows]
    found = search(points, weights, most=MOST_COMPONENTS)
    if found is None or not _are_modes(found):
        return None
    labels = _labels(found.mixture, landscape.coordinates)
    if is_trivial(labels, landscape.weights):
        return None
    trial = _hold_out(points, weights, found.mixture, labels[rows], rng)
    if trial.stability < STABLE:
        return None
    many = len(found.mixture.weights) > SEVERAL
    if len(landscape.weights) < FEW:
        if many:
            return None
    else:
        if trial.ahead < (BETTER if clear or many else NOT_WORSE):
            return None
        if not clear and points.shape[1] <= PLANE and not _beyond_uniform(points, weights, found, rng):
            return None
    return Gaussians(labels, _setting(found.mixture), trial.stability)


def refit(landscape: Landscape, setting: Setting, labels: IntArray, rng: np.random.Generator) -> IntArray:
    """Return the partition of a landscape by a mixture of given components and form, with another to hint at."""
    rows = _sample(len(landscape.weights), rng)
    points = np.ascontiguousarray(landscape.coordinates[rows])
    hint = np.unique(labels[rows], return_inverse=True)[1]
    mixture = _fitted(points, landscape.weights[rows], int(setting[0]), FORMS[int(setting[1])], hint)
    if mixture is None:
        return np.zeros(len(landscape.weights), dtype=np.intp)
    return _labels(mixture, landscape.coordinates)


class _Trial(NamedTuple):
    """How a mixture did on what it had not seen: stability, and standard errors ahead of the best kernel density."""

    stability: float
    ahead: float


def _are_modes(found: Found) -> bool:
    k = len(found.mixture.weights)
    return k < MOST_COMPONENTS and found.gain > LEAST_GAIN and float(dips(found.mixture).min()) > DIP


def _hold_out(points: Array, weights: Array, mixture: Mixture, labels: IntArray, rng: np.random.Generator) -> _Trial:
    n = len(points)
    agreement, gaussian, kernel = [], [], []
    for _ in range(HELD_OUT):
        order = rng.permutation(n)
        seen, unseen = order[: round(SHARE * n)], order[round(SHARE * n) :]
        hint = np.unique(labels[seen], return_inverse=True)[1]
        again = _fitted(points[seen], weights[seen], len(mixture.weights), mixture.form, hint)
        if again is None:
            return _Trial(0.0, -np.inf)
        agreement.append(rand_agreement(labels, _labels(again, points)))
        gaussian.append(log_density(again, points[unseen]))
        kernel.append(kernel_log_density(points[seen], weights[seen], points[unseen]))
    settings = [each for each in kernel[0] if all(each in one for one in kernel)]
    rivals = {each: np.concatenate([one[each] for one in kernel]) for each in settings}
    best = max(settings, key=lambda each: float(rivals[each].mean()))
    ahead = np.concatenate(gaussian) - rivals[best]
    return _Trial(float(np.mean(agreement)), float(ahead.mean() / (ahead.std() / np.sqrt(n) + 1e-12)))


def _beyond_uniform(points: Array, weights: Array, found: Found, rng: np.random.Generator) -> bool:
    """Return whether the mixture gains more than it would on uniform points of the same spread."""
    k, form = len(found.mixture.weights), found.mixture.form
    middle = np.average(points, axis=0, weights=weights)
    spread = np.sqrt(np.average(np.square(points - middle), axis=0, weights=weights))
    gains = []
    for _ in range(PATCHES):
        patch = (rng.random(points.shape) - 0.5) * np.sqrt(12.0) * spread
        mixture = _fitted(patch, weights, k, form)
        ones = [fit(patch, weights, np.zeros(len(patch), dtype=np.intp), each) for each in FORMS]
        single = min(each.bic for each in ones if each is not None)
        gains.append(single - mixture.bic if mixture is not None else 0.0)
    return found.gain > float(np.mean(gains) + BEYOND * np.std(gains, ddof=1))


def _fitted(points: Array, weights: Array, k: int, form: str, hint: IntArray | None = None) -> Mixture | None:
    """Return the likelier of the fits from Ward's tree and from a partition to hint at, or what is there of them."""
    found = [fit(points, weights, level(starts(points), k), form)]
    if hint is not None and int(hint.max()) + 1 == k:
        found.append(fit(points, weights, hint, form))
    return min((each for each in found if each is not None), key=lambda each: each.bic, default=None)


def _labels(mixture: Mixture, points: Array) -> IntArray:
    return np.unique(posterior(mixture, points).argmax(axis=1), return_inverse=True)[1]


def _setting(mixture: Mixture) -> Setting:
    return float(len(mixture.weights)), float(FORMS.index(mixture.form))


def _sample(n: int, rng: np.random.Generator) -> IntArray:
    return np.sort(rng.permutation(n)[:MOST_POINTS])
