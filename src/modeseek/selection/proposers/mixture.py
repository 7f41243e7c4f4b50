"""Proposer: a Gaussian mixture, for clusters that overlap and for few points.

A mixture also finds components where there are no clusters: in a curve, a heavy tail, a uniform square. It is proposed
only if it passes several tests, each of which guards against one of these cases.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from modeseek._common.types import Array, IntArray
from modeseek.selection.candidates import Candidate, is_trivial
from modeseek.selection.knn_graph import KnnGraph
from modeseek.selection.mixture import FORMS, FoundMixture, Mixture, saddle_depths, search_mixtures
from modeseek.selection.mixture.checks import best_single_bic, component_labels, fit_components, hold_out, uniform_gain
from modeseek.selection.progress import SelectionProgress
from modeseek.selection.proposers.base import Proposer, Repeat
from modeseek.selection.proposers.modes import Modes

__all__ = ["MixtureProposer"]


class MixtureProposer(Proposer):
    """The best Gaussian mixture, if it passes all tests.

    The setting is (number of components, index of the covariance form in `mixture.FORMS`).
    """

    name = "mixture"

    def applies(self, graph: KnnGraph) -> bool:
        return graph.dimension < self.config.communities_dimension

    def propose(self, graph: KnnGraph, seed: int, progress: SelectionProgress) -> list[Candidate]:
        progress.report(f"proposals by {self.name}")
        config, rng = self.config.mixture, np.random.default_rng(seed)
        sample = Sample.draw(graph, rng, config.max_points)
        found = search_mixtures(sample.points, sample.weights, config)
        if found is None:
            return []
        k, form = len(found.mixture.weights), found.mixture.form
        labels = component_labels(found.mixture, graph.coordinates)
        if is_trivial(labels, graph.weights):
            return []
        uniform = partial(uniform_gain, sample.points, sample.weights, k, form, rng, config)
        stability = self.test(graph, sample, found, rng, n_splits=config.n_holdouts, uniform=uniform)
        if stability is None:
            return []
        setting = float(k), float(FORMS.index(form))
        return [Candidate(self.name, setting, labels, int(labels.max()) + 1, stability, stability)]

    def is_significant(self, candidate: Candidate, graph: KnnGraph) -> bool:
        return True  # `propose` has tested it

    def repeat(self, candidate: Candidate) -> Repeat:
        return _RepeatMixture(self, candidate)

    def note(self, graph: KnnGraph) -> str:
        few = self.config.mixture.few_points
        return f"with fewer than {few} points, such groups may occur by chance" if len(graph) < few else ""

    def has_clear_modes(self, graph: KnnGraph) -> bool:
        """Return whether the density itself shows clear modes."""
        return Modes(self.config).excess_prominence(graph) >= self.config.clear_excess_prominence

    def test(
        self,
        graph: KnnGraph,
        sample: Sample,
        found: FoundMixture,
        rng: np.random.Generator,
        *,
        n_splits: int,
        uniform: Callable[[], float],
    ) -> float | None:
        """Return the stability of a mixture on held-out points, or None if it fails a test.

        Parameters
        ----------
        graph : KnnGraph
        sample : Sample
            The points that the mixture was fitted to.
        found : FoundMixture
        rng : Generator
            For the splits into training and held-out points.
        n_splits : int
        uniform : callable
            Returns the gain that the mixture must exceed in low dimension.
        """
        config, k = self.config.mixture, len(found.mixture.weights)
        # too many components tile a shape; components without a saddle between them are one mode
        if k >= config.max_components or found.gain <= config.min_gain:
            return None
        if saddle_depths(found.mixture, config).min() <= config.min_saddle_depth:
            return None
        held_out = hold_out(sample.points, sample.weights, found.mixture, rng, n_splits=n_splits, config=config)
        if held_out.stability < config.min_stability:
            return None
        if len(graph) < config.few_points:
            return held_out.stability if k <= config.few_components else None
        # without clear modes, more than three Gaussians mostly tile a curve
        clear = self.has_clear_modes(graph)
        if held_out.lead < (config.strict_margin if clear or k > config.few_components else config.margin):
            return None
        low_dimension = sample.points.shape[1] <= config.uniform_dimensions
        if low_dimension and not clear and found.gain <= uniform():
            return None
        return held_out.stability


class Sample(NamedTuple):
    """The points that a mixture is fitted to.

    Attributes
    ----------
    rows : (m,) integer array
        Which points of the graph these are.
    points : (m, d) array
    weights : (m,) array
    """

    rows: IntArray
    points: Array
    weights: Array

    @classmethod
    def draw(cls, graph: KnnGraph, rng: np.random.Generator, max_points: int) -> Sample:
        """Return all points of a graph, or `max_points` random ones."""
        rows = np.sort(rng.permutation(len(graph))[:max_points])
        return cls(rows, np.ascontiguousarray(graph.coordinates[rows]), graph.weights[rows])


class _RepeatMixture:
    """Fits the mixture of a candidate to subsamples, and tests whether it would be proposed there.

    The tests take longer than the fit. Therefore every other call uses the verdict of the call before it, and the gain
    on uniform data is computed once.
    """

    def __init__(self, proposer: MixtureProposer, candidate: Candidate):
        self._proposer, self._config, self._labels = proposer, proposer.config.mixture, candidate.labels
        self._k, self._form = int(candidate.setting[0]), FORMS[int(candidate.setting[1])]
        self._uniform_gain: float | None = None
        self._calls, self._passed = 0, False

    def __call__(self, graph: KnnGraph, rng: np.random.Generator) -> IntArray | None:
        sample = Sample.draw(graph, rng, self._config.max_points)
        hint = self._labels[graph.rows[sample.rows]]
        mixture = fit_components(sample.points, sample.weights, self._k, self._form, self._config, hint=hint)
        if mixture is None:
            return None
        labels = component_labels(mixture, graph.coordinates)
        if self._calls % 2 == 0:
            self._passed = not is_trivial(labels, graph.weights) and self._test(graph, sample, mixture, rng)
        self._calls += 1
        return labels if self._passed else None

    def _test(self, graph: KnnGraph, sample: Sample, mixture: Mixture, rng: np.random.Generator) -> bool:
        if not self._config.n_holdouts_subsample:
            return True
        found = FoundMixture(mixture, best_single_bic(sample.points, sample.weights, self._config) - mixture.bic)
        uniform, n_splits = partial(self._uniform, sample, rng), self._config.n_holdouts_subsample
        return self._proposer.test(graph, sample, found, rng, n_splits=n_splits, uniform=uniform) is not None

    def _uniform(self, sample: Sample, rng: np.random.Generator) -> float:
        if self._uniform_gain is None:
            self._uniform_gain = uniform_gain(sample.points, sample.weights, self._k, self._form, rng, self._config)
        return self._uniform_gain
