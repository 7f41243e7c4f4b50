"""Variants of ModeSeek with one part changed, each given by a configuration of the selection."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ablation_basins import basin_note, basin_proposers
from contestants import Fitted
from labelled import Method, Task
from modeseek import ModeSeek
from modeseek.selection import DEFAULT, KnnGraph, SelectionConfig
from modeseek.selection.candidates import Partitions, Setting
from modeseek.selection.grid_proposers import PROPOSERS, Communities, Modes

AS_IS = "as is"


class Variant(NamedTuple):
    """ModeSeek with another configuration.

    Attributes
    ----------
    name : str
    says : str
        What is changed, for the page.
    config : callable
        Returns the configuration for a data set.
    """

    name: str
    says: str
    config: Callable[[Task], SelectionConfig]

    def fit(self, task: Task) -> Fitted:
        """Fit as `labelled.measure` expects; the note has the proposer of the result, and the number of basins."""
        model = ModeSeek(metric="cosine" if task.cosine else "euclidean", random_state=task.seed)
        model._config = self.config(task)
        model.fit(task.X)
        proposer = model.message_.partition(" clusters by ")[2].partition(",")[0] or "one cluster"
        return Fitted(model.labels_, proposer + basin_note(model._config), model)

    @property
    def method(self) -> Method:
        """The variant among the methods of `labelled`."""
        return Method(self.name, self.name, False, self.fit)


class FixedModes(Modes):
    """Modes at one setting: 8 neighbours, or the nearest number that the data allow, and 2 standard errors."""

    def partitions(self, graph: KnnGraph, only: Setting | None = None) -> Partitions:
        return super().partitions(graph, (float(min(graph.counts, key=lambda each: abs(each - 8))), 2.0))


class FixedCommunities(Communities):
    """Communities at one setting: 14 neighbours and resolution 1."""

    def partitions(self, graph: KnnGraph, only: Setting | None = None) -> Partitions:
        return super().partitions(graph, (14.0, 1.0))


PROPOSERS["fixed modes"] = FixedModes
PROPOSERS["fixed communities"] = FixedCommunities


def _set(**changes: object) -> Callable[[Task], SelectionConfig]:
    return lambda task: replace(DEFAULT, **changes)


def _basins(kind: str) -> Callable[[Task], SelectionConfig]:
    return lambda task: replace(DEFAULT, proposers=("communities", *basin_proposers(task, kind)))


_NO_MIXTURE = {"proposers": ("communities", "modes")}
_MODES_ONLY = {"communities_dimension": np.inf}
_NO_MERGE = {"modes": replace(DEFAULT.modes, standard_errors=(0.0,))}
_ALWAYS_CLUSTERS = dict.fromkeys(("min_stability", "min_stability_clear", "min_excess_prominence"), -np.inf)

VARIANTS = [
    Variant(AS_IS, "nothing is changed", _set()),
    Variant("modes only", "no communities, no mixture", _set(**_MODES_ONLY, **_NO_MIXTURE)),
    Variant("without the mixture", "modes or communities", _set(**_NO_MIXTURE)),
    Variant("without communities", "modes and the mixture, in every dimension", _set(**_MODES_ONLY)),
    Variant("communities everywhere", "in every dimension, and so no mixture", _set(communities_dimension=0.0)),
    Variant(
        "without the choice",
        "one setting: modes by 8 neighbours and 2 standard errors, communities by 14 neighbours at resolution 1; the "
        "mixture and the test for one cluster stay",
        _set(proposers=("fixed communities", "fixed modes", "mixture")),
    ),
    Variant(
        "without the merge",
        "every mode is a cluster, and only the number of neighbours is selected; communities, mixture and the test for "
        "one cluster stay",
        _set(**_NO_MERGE),
    ),
    Variant(
        "without merge and gate", "the same, without the test for one cluster", _set(**_NO_MERGE, **_ALWAYS_CLUSTERS)
    ),
    Variant("without smoothing", "neighbouring settings do not count", _set(smoothing=0.0)),
    Variant("without the finer term", "no bonus for more clusters", _set(entropy_weight=0.0)),
    Variant("without the gate", "no test for one cluster", _set(**_ALWAYS_CLUSTERS)),
    Variant("without PCA", "distances in all dimensions", _set(max_dimensions=10**9)),
    Variant("without the last step", "no spherical k-means under cosine", _set(refinement_steps=0)),
    Variant("SMS basins", "points of one basin of a chain at one bandwidth are never separated", _basins("SMS")),
    Variant("DSMS basins", "the same, of a chain with random bandwidths", _basins("DSMS")),
]
BASINS = ("SMS basins", "DSMS basins")
