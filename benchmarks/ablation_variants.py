"""ModeSeek with one part changed at a time: constants and functions of the library, replaced while a fit runs."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np

from ablation_basins import basins, tie, tied_trees
from contestants import Fitted
from labelled import Method, Task
from modeseek import ModeSeek
from modeseek.estimators import mode_seek
from modeseek.selection import select
from modeseek.selection.proposers import proposals

AS_IS = "as is"
# what "without the choice" takes in place of all settings: (neighbours, standard errors), (list, resolution)
FIXED = {"modes": (8.0, 2.0), "communities": (14.0, 1.0)}


class Change(NamedTuple):
    """An attribute of a module or class, and what takes its place."""

    owner: Any
    name: str
    value: Any


class Variant(NamedTuple):
    """ModeSeek with some changes; they are made when a fit begins, so that one may build on what is there then."""

    name: str
    says: str
    changes: Callable[[], tuple[Change, ...]]

    def fit(self, task: Task) -> Fitted:
        """Fit as `labelled.measure` wants it; the note has the view that was chosen, and basins if there were any."""
        with changed(self.changes()):
            model = ModeSeek(metric="cosine" if task.cosine else "euclidean", random_state=task.seed).fit(task.X)
        view = model.message_.partition(" clusters by ")[2].partition(",")[0]
        made = getattr(model, "n_basins_", None)
        return Fitted(model.labels_, f"{view or 'one cluster'}{'' if made is None else f'; {made} basins'}", model)

    @property
    def method(self) -> Method:
        """The variant among the methods of `labelled`."""
        return Method(self.name, self.name, False, self.fit)


@contextmanager
def changed(changes: tuple[Change, ...]) -> Iterator[None]:
    """Make changes, and undo them at the end; a name that the library does not have is an error."""
    with ExitStack() as stack:
        for change in changes:
            stack.enter_context(patch.object(*change))
        yield


class Shared:
    """What fits of one set and seed have in common: worked out once, its time counted for each.

    Views of a graph, thinned graphs and mixtures depend on little that variants change. They are known by the
    graph itself (each variant that changes it has its own), the state of the random numbers, and the constants
    that they read.
    """

    def __init__(self) -> None:
        self._known: dict[Any, tuple[Any, ...]] = {}
        self._saved = 0.0

    def taken(self) -> float:
        """Return the seconds that were saved since this was last asked."""
        saved, self._saved = self._saved, 0.0
        return saved

    def changes(self) -> tuple[Change, ...]:
        """Return what makes the library ask here first."""
        subsample, mixture, excess_prominence, graph = (
            select.subsample,
            select.by_mixture,
            select.excess_prominence,
            ModeSeek._knn_graph,
        )

        def shared_landscape(model: ModeSeek, points: Any) -> Any:
            reduced = points.values.shape[1] > mode_seek.MOST_DIMENSIONS
            return self._once(("graph", reduced), lambda: graph(model, points))

        def shared_mixture(view: Any, rng: np.random.Generator, *, clear: bool) -> Any:
            return self._once(("mixture", clear), lambda: mixture(view, rng, clear=clear), view, rng)

        return (
            Change(ModeSeek, "_knn_graph", shared_landscape),
            Change(
                select, "subsample", lambda view, rng: self._once("subsample", lambda: subsample(view, rng), view, rng)
            ),
            Change(select, "by_mixture", shared_mixture),
            Change(
                select,
                "excess_prominence",
                lambda view: self._once("excess_prominence", lambda: excess_prominence(view), view),
            ),
            Change(select, "GRIDS", {name: self._view(name, propose) for name, propose in select.GRIDS.items()}),
        )

    def _view(self, name: str, propose: Callable[..., Any]) -> Callable[..., Any]:
        def shared(view: Any, only: Any = None) -> Any:
            return self._once((name, only, proposals.ERRORS), lambda: propose(view, only), view)

        return shared

    def _once(
        self, what: Any, work: Callable[[], Any], view: Any = None, rng: np.random.Generator | None = None
    ) -> Any:
        key = (what, id(view), None if rng is None else str(rng.bit_generator.state))
        if key in self._known:
            result, seconds, after, _ = self._known[key]
            self._saved += seconds
            if rng is not None:
                rng.bit_generator.state = after
            return result
        start = time.perf_counter()
        result = work()
        after = None if rng is None else rng.bit_generator.state
        # the graph is kept, so that nothing else gets its id
        self._known[key] = (result, time.perf_counter() - start, after, view)
        return result


def _no_mixture(*_: Any, **__: Any) -> None:
    return None


def _fixed_grids() -> Mapping[str, Callable[..., Any]]:
    def fixed(name: str, propose: Callable[..., Any]) -> Callable[..., Any]:
        def at(graph: Any, only: Any = None) -> Any:
            first, second = FIXED[name]
            # fewer points than any set here has may not allow that many neighbours
            allowed = graph.counts if name == "modes" else (first,)
            setting = (float(min(allowed, key=lambda each: abs(each - first))), second)
            return propose(graph, setting)

        return at

    return {name: fixed(name, propose) for name, propose in select.GRIDS.items()}


def _basins(kind: str) -> Callable[[], tuple[Change, ...]]:
    def changes() -> tuple[Change, ...]:
        graph, subsample = ModeSeek._knn_graph, select.subsample

        def with_basins(model: ModeSeek, points: Any) -> Any:
            found = graph(model, points)
            if found.dimension >= select.COMMUNITIES_FROM:  # nobody asks for modes
                return found
            tied = tie(found, basins(points, kind, model.random_state))
            model.n_basins_ = int(tied.basins.max()) + 1
            return tied

        def tied_thin(view: Any, rng: np.random.Generator) -> Any:
            some = subsample(view, rng)
            known = getattr(view, "basins", None)
            if known is not None:
                some.graph.basins = known[some.rows]
            return some

        return (
            Change(ModeSeek, "_knn_graph", with_basins),
            Change(select, "subsample", tied_thin),
            Change(proposals, "trees", tied_trees),
        )

    return changes


def _set(*changes: tuple[Any, str, Any]) -> Callable[[], tuple[Change, ...]]:
    return lambda: tuple(Change(*each) for each in changes)


_MODES = (select, "COMMUNITIES_FROM", np.inf)
_NO_MIXTURE = (select, "by_mixture", _no_mixture)
_NO_MERGE = (proposals, "ERRORS", (0.0,))
_NO_GATE = (select, "_passes", lambda best, graph: True)

VARIANTS = [
    Variant(AS_IS, "nothing is changed", _set()),
    Variant("modes only", "no communities, no mixture", _set(_MODES, _NO_MIXTURE)),
    Variant("without the mixture", "modes or communities", _set(_NO_MIXTURE)),
    Variant("without communities", "modes and the mixture, in every dimension", _set(_MODES)),
    Variant("communities everywhere", "in every dimension, and so no mixture", _set((select, "COMMUNITIES_FROM", 0.0))),
    Variant(
        "without the choice",
        "one setting: modes by 8 neighbours and 2 standard errors, communities by lists of 14 at resolution 1; the "
        "mixture and the gate stay",
        lambda: (Change(select, "GRIDS", _fixed_grids()),),
    ),
    Variant(
        "without the merge",
        "every mode is a cluster, and only the count of neighbours is chosen; communities, mixture and gate stay",
        _set(_NO_MERGE),
    ),
    Variant("without merge and gate", "the same, and no gate", _set(_NO_MERGE, _NO_GATE)),
    Variant("without smoothing", "settings next to one say nothing about it", _set((select, "NEXT_TO_IT", 0.0))),
    Variant("without the finer term", "stability alone", _set((select, "FINER", 0.0))),
    Variant("without the gate", "the best proposal is always believed", _set(_NO_GATE)),
    Variant("without PCA", "distances in all dimensions", _set((mode_seek, "MOST_DIMENSIONS", 10**9))),
    Variant(
        "without the last step",
        "on the sphere, no spherical k-means",
        _set((mode_seek, "_Polish", lambda points: None)),
    ),
    Variant("SMS basins", "points of one basin of a chain at one bandwidth are tied together", _basins("SMS")),
    Variant("DSMS basins", "the same, of a chain with random bandwidths", _basins("DSMS")),
]
BASINS = ("SMS basins", "DSMS basins")
