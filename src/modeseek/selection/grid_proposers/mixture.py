"""Proposer: a Gaussian mixture, for clusters that overlap and for few points.

A mixture also finds components where there are no clusters: in a curve, a heavy tail, a uniform square. It is proposed
only if it passes several tests, each of which guards against one of these cases.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from modeseek._common.types import IntArray
from modeseek.selection.candidates import Candidate, is_trivial
from modeseek.selection.grid_proposers.base import Proposer, Repeat
from modeseek.selection.grid_proposers.modes import Modes
from modeseek.selection.knn_graph import KnnGraph
from modeseek.selection.mixture import FORMS, FoundMixture, MixtureSample, component_labels, saddle_depths
from modeseek.selection.progress import SelectionProgress

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
        rng = np.random.default_rng(seed)
        sample = self.sample(graph, rng)[0]
        found = sample.search()
        if found is None:
            return []
        k, form = len(found.mixture.weights), found.mixture.form
        labels = component_labels(found.mixture, graph.coordinates)
        if is_trivial(labels, graph.weights):
            return []
        n_splits = self.config.mixture.n_holdouts
        stability = self.test(graph, sample, found, rng, n_splits, lambda: sample.uniform_gain(k, form, rng))
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

    def sample(self, graph: KnnGraph, rng: np.random.Generator) -> tuple[MixtureSample, IntArray]:
        """Return the points that mixtures are fitted to, all or random ones, and their rows in the graph."""
        rows = np.sort(rng.permutation(len(graph))[: self.config.mixture.max_points])
        points = np.ascontiguousarray(graph.coordinates[rows])
        return MixtureSample(points, graph.weights[rows], self.config.mixture), rows

    def has_clear_modes(self, graph: KnnGraph) -> bool:
        """Return whether the density itself shows clear modes."""
        return Modes(self.config).excess_prominence(graph) >= self.config.clear_excess_prominence

    def test(
        self,
        graph: KnnGraph,
        sample: MixtureSample,
        found: FoundMixture,
        rng: np.random.Generator,
        n_splits: int,
        uniform_gain: Callable[[], float],
    ) -> float | None:
        """Return the stability of a mixture on held-out points, or None if it fails a test.

        Parameters
        ----------
        graph : KnnGraph
        sample : MixtureSample
            The points that the mixture was fitted to.
        found : FoundMixture
        rng : Generator
            For the splits into training and held-out points.
        n_splits : int
        uniform_gain : callable
            Returns the gain that the mixture must exceed in low dimension.
        """
        config, k = self.config.mixture, len(found.mixture.weights)
        # too many components tile a shape; components without a saddle between them are one mode
        if k >= config.max_components or found.gain <= config.min_gain:
            return None
        if saddle_depths(found.mixture, config).min() <= config.min_saddle_depth:
            return None
        held_out = sample.hold_out(found.mixture, rng, n_splits)
        if held_out.stability < config.min_stability:
            return None
        if len(graph) < config.few_points:
            return held_out.stability if k <= config.few_components else None
        # without clear modes, more than three Gaussians mostly tile a curve
        clear = self.has_clear_modes(graph)
        if held_out.lead < (config.strict_margin if clear or k > config.few_components else config.margin):
            return None
        low_dimension = sample.points.shape[1] <= config.uniform_dimensions
        return None if low_dimension and not clear and found.gain <= uniform_gain() else held_out.stability


class _RepeatMixture:
    """Fits the mixture of a candidate to subsamples, and tests whether it would be proposed there.

    The tests take longer than the fit. Therefore every other call uses the verdict of the call before it, and the gain
    on uniform data is computed once.
    """

    def __init__(self, proposer: MixtureProposer, candidate: Candidate):
        self._proposer, self._labels = proposer, candidate.labels
        self._k, self._form = int(candidate.setting[0]), FORMS[int(candidate.setting[1])]
        self._uniform_gain: float | None = None
        self._calls, self._passed = 0, False

    def __call__(self, graph: KnnGraph, rng: np.random.Generator) -> IntArray | None:
        sample, rows = self._proposer.sample(graph, rng)
        mixture = sample.fit(self._k, self._form, hint=self._labels[graph.rows[rows]])
        if mixture is None:
            return None
        labels = component_labels(mixture, graph.coordinates)
        if self._calls % 2 == 0:
            found = FoundMixture(mixture, sample.gain(mixture))
            self._passed = not is_trivial(labels, graph.weights) and self._test(graph, sample, found, rng)
        self._calls += 1
        return labels if self._passed else None

    def _test(self, graph: KnnGraph, sample: MixtureSample, found: FoundMixture, rng: np.random.Generator) -> bool:
        def uniform_gain() -> float:
            if self._uniform_gain is None:
                self._uniform_gain = sample.uniform_gain(self._k, self._form, rng)
            return self._uniform_gain

        n_splits = sample.config.n_holdouts_subsample
        return not n_splits or self._proposer.test(graph, sample, found, rng, n_splits, uniform_gain) is not None
