"""The view of a Gaussian mixture: taken only if Gaussians are modes, come back, and predict what they have not seen.

It sees what density cannot: groups that overlap, and groups of few points. It also sees groups where there are none:
in a curve, a heavy tail, a uniform patch. So it must pass tests, each with a reason, before it may say anything.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from modeseek._common.types import Array, IntArray
from modeseek.metrics import rand_agreement
from modeseek.selection.mixture import (
    Found,
    Mixture,
    fit,
    kernel_log_density,
    log_density,
    posterior,
    saddle_depths,
    search,
    starts,
)
from modeseek.selection.mixture.em import FORMS
from modeseek.selection.mixture.search import level
from modeseek.selection.proposers.proposals import KnnGraph, Setting, is_trivial

__all__ = ["FEW", "Gaussians", "Retrial", "by_mixture"]

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
# parts held out where a mixture is only asked whether it would be admitted again
HELD_OUT_AGAIN = 2


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


def by_mixture(graph: KnnGraph, rng: np.random.Generator, *, clear: bool) -> Gaussians | None:
    """Return the partition of a Gaussian mixture, if it is to be believed.

    Parameters
    ----------
    graph : KnnGraph
    rng : Generator
        Of the sample, of what is held out and of uniform patches.
    clear : bool
        Whether the density itself shows clear modes: then the mixture must be better, else only not worse.
    """
    rows = _sample(len(graph.weights), rng)
    points, weights = np.ascontiguousarray(graph.coordinates[rows]), graph.weights[rows]
    found = search(points, weights, most=MOST_COMPONENTS)
    if found is None or not _are_modes(found):
        return None
    labels = _labels(found.mixture, graph.coordinates)
    if is_trivial(labels, graph.weights):
        return None
    trial = _hold_out(points, weights, found.mixture, labels[rows], rng, HELD_OUT)
    k = len(found.mixture.weights)
    if not _predicts(trial, k, len(graph.weights), clear=clear):
        return None
    tiles = _tiles(points, len(graph.weights), clear=clear)
    if tiles and found.gain <= _gain_of_uniform(points, weights, k, found.mixture.form, rng):
        return None
    return Gaussians(labels, _setting(found.mixture), trial.stability)


class Retrial:
    """Whether thinned data would admit a mixture of the same components and form, and what it makes of them.

    The tests are those of `by_mixture`, with fewer parts held out and uniform patches that are drawn once for all. They
    still cost more than the partition, so that every other call goes by the verdict of the one before.

    Parameters
    ----------
    setting : (float, float)
        Of the mixture that was admitted.
    """

    def __init__(self, setting: Setting):
        self._k, self._form = int(setting[0]), FORMS[int(setting[1])]
        self._uniform: float | None = None
        self._calls, self._admitted = 0, False

    def __call__(self, graph: KnnGraph, labels: IntArray, rng: np.random.Generator, *, clear: bool) -> IntArray | None:
        """Return labels by a mixture of the graph, or None where it is not admitted.

        Parameters
        ----------
        graph : KnnGraph
        labels : (n,) integer array
            Another partition of its points, to hint at.
        rng : Generator
        clear : bool
            Whether the density itself shows clear modes.
        """
        rows = _sample(len(graph.weights), rng)
        points, weights = np.ascontiguousarray(graph.coordinates[rows]), graph.weights[rows]
        hint = np.unique(labels[rows], return_inverse=True)[1]
        mixture = _fitted(points, weights, self._k, self._form, hint)
        if mixture is None:
            return None
        again = _labels(mixture, graph.coordinates)
        if self._calls % 2 == 0:
            self._admitted = not is_trivial(again, graph.weights) and self._passes(
                points, weights, mixture, again[rows], rng, n=len(again), clear=clear
            )
        self._calls += 1
        return again if self._admitted else None

    def _passes(
        self,
        points: Array,
        weights: Array,
        mixture: Mixture,
        labels: IntArray,
        rng: np.random.Generator,
        *,
        n: int,
        clear: bool,
    ) -> bool:
        found = Found(mixture, _single(points, weights) - mixture.bic)
        if not _are_modes(found):
            return False
        trial = _hold_out(points, weights, mixture, labels, rng, HELD_OUT_AGAIN)
        if not _predicts(trial, self._k, n, clear=clear):
            return False
        if not _tiles(points, n, clear=clear):
            return True
        if self._uniform is None:
            self._uniform = _gain_of_uniform(points, weights, self._k, self._form, rng)
        return found.gain > self._uniform


class _Trial(NamedTuple):
    """How a mixture did on what it had not seen: stability, and standard errors ahead of the best kernel density."""

    stability: float
    ahead: float


def _are_modes(found: Found) -> bool:
    k = len(found.mixture.weights)
    return k < MOST_COMPONENTS and found.gain > LEAST_GAIN and float(saddle_depths(found.mixture).min()) > DIP


def _predicts(trial: _Trial, k: int, n: int, *, clear: bool) -> bool:
    """Return whether a mixture of k components came back on what was held out, and told it as well as it must."""
    if trial.stability < STABLE:
        return False
    if n < FEW:
        return k <= SEVERAL
    return trial.ahead >= (BETTER if clear or k > SEVERAL else NOT_WORSE)


def _tiles(points: Array, n: int, *, clear: bool) -> bool:
    """Return whether Gaussians might tile a uniform patch here, so that they must gain more than they would there."""
    return n >= FEW and not clear and points.shape[1] <= PLANE


def _hold_out(
    points: Array, weights: Array, mixture: Mixture, labels: IntArray, rng: np.random.Generator, count: int
) -> _Trial:
    n = len(points)
    agreement, gaussian, kernel = [], [], []
    for _ in range(count):
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


def _gain_of_uniform(points: Array, weights: Array, k: int, form: str, rng: np.random.Generator) -> float:
    """Return what a mixture hardly gains on uniform points of the same spread."""
    middle = np.average(points, axis=0, weights=weights)
    spread = np.sqrt(np.average(np.square(points - middle), axis=0, weights=weights))
    gains = []
    for _ in range(PATCHES):
        patch = (rng.random(points.shape) - 0.5) * np.sqrt(12.0) * spread
        mixture = _fitted(patch, weights, k, form)
        gains.append(_single(patch, weights) - mixture.bic if mixture is not None else 0.0)
    return float(np.mean(gains) + BEYOND * np.std(gains, ddof=1))


def _single(points: Array, weights: Array) -> float:
    """Return the information criterion of the best single Gaussian."""
    ones = [fit(points, weights, np.zeros(len(points), dtype=np.intp), form) for form in FORMS]
    return min((each.bic for each in ones if each is not None), default=np.inf)


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
