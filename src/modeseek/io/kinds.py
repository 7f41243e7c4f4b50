"""What may stand in a file of a model: a closed list of types, and what each of their parts must be.

Compiled code trusts indices and loops over links, so whatever it is handed after a load is looked at here first.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from scipy.sparse import csr_array

from modeseek._common.points import Points
from modeseek._common.scaling import Scaling
from modeseek._common.types import Geometry
from modeseek._common.validation import METRICS
from modeseek.estimators.result import FitResult, FitSettings, PointIndex
from modeseek.meanshift.bandwidth import Anchored, Constant, LogLog, Power, Shrinking, Uniform, Walk
from modeseek.meanshift.chains import Outcome, Record, Series, Trace
from modeseek.meanshift.partition import Partition
from modeseek.selection.candidates import Candidate
from modeseek.selection.modes import MergeTree, PointTree
from modeseek.sketches import Grid, GridCells, Sample, Sketch, SketchPoints
from modeseek.sketches.grid import MAX_OFFSET
from modeseek.sketches.sketch import DEFAULT as SKETCHES

__all__ = ["KINDS", "Kind", "check_kind", "expect", "flag", "maybe", "number", "of", "reals", "text", "whole", "wholes"]

Kind: TypeAlias = Callable[[Any], bool]


def expect(holds: Any, what: str) -> None:
    """Refuse what does not hold."""
    if not holds:
        raise ValueError(what)


def number(value: Any) -> bool:
    """Return whether it is a real number, of Python's or NumPy's."""
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)


def whole(value: Any) -> bool:
    """Return whether it is a whole number."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def flag(value: Any) -> bool:
    """Return whether it is true or false."""
    return isinstance(value, (bool, np.bool_))


def text(value: Any) -> bool:
    """Return whether it is text."""
    return isinstance(value, str)


def reals(ndim: int, *, finite: bool = True) -> Kind:
    """Return the kind of arrays of real numbers."""

    def is_such(value: Any) -> bool:
        right = isinstance(value, np.ndarray) and value.ndim == ndim and value.dtype in (np.float64, np.float32)
        return right and (not finite or bool(np.isfinite(value).all()))

    return is_such


def wholes(ndim: int, kind: type = np.int64) -> Kind:
    """Return the kind of arrays of whole numbers."""
    return lambda value: isinstance(value, np.ndarray) and value.ndim == ndim and value.dtype == kind


def of(*types: type) -> Kind:
    """Return the kind of objects of these types."""
    return lambda value: isinstance(value, types)


def maybe(kind: Kind) -> Kind:
    """Return the kind that may also be None."""
    return lambda value: value is None or kind(value)


def _within(array: Any, low: int, high: int) -> bool:
    return not array.size or bool(array.min() >= low and array.max() < high)


def _points(points: Points) -> None:
    n, d = points.values.shape
    expect(n and d and points.weights.shape == (n,) and points.offset.shape == (d,), "points of one shape")
    expect((points.weights > 0).all() and _within(points.inverse, -1, n), "weights and rows of points")


def _tree(tree: PointTree) -> None:
    n = len(tree.heights)
    expect(n and all(len(each) == n for each in tree), "a tree of one length")
    top = tree.prominence == np.inf
    expect((tree.prominence >= 0).all() and ((tree.saddle == -np.inf) == top).all(), "prominence in a tree")
    expect(_within(tree.target, 0, n), "targets within the tree")
    # whoever follows targets must arrive: at a top, which is its own target
    ends = tree.target
    for _ in range(n.bit_length()):
        ends = ends[ends]
    expect((top[ends] & (tree.target[ends] == ends)).all(), "ways that end in a tree")


def _scale_tree(tree: MergeTree) -> None:
    n = len(tree.point_tree.heights)
    expect(tree.weights.shape == (n,) and (tree.weights > 0).all(), "weights of a tree")
    expect(_within(tree.inverse, 0, n), "rows of a tree")


def _grid(grid: Grid) -> None:
    offsets = isinstance(grid.offset, tuple) and all(type(each) is int for each in grid.offset)
    expect(offsets and 1 <= len(grid.offset) <= SKETCHES.max_dimensions, "offsets of a grid")
    expect(all(abs(each) < 32 * MAX_OFFSET for each in grid.offset), "offsets of a grid")
    # tables are as long as the limit says
    expect(1 <= grid.limit <= SKETCHES.max_cells and abs(grid.exponent) < 1000, "the size of a grid")


def _cells(cells: GridCells) -> None:
    m, d = cells.keys.shape
    expect(d == len(cells.grid.offset) and m <= cells.grid.limit and 0 <= cells.level < 62, "cells of a grid")
    expect(cells.counts.shape == (m,) and cells.sums.shape == (m, d), "cells of one shape")
    expect((cells.counts > 0).all(), "weights of cells")


def _sample(sample: Sample) -> None:
    m = len(sample.rows)
    expect(m <= sample.size and sample.keys.shape == sample.counts.shape == (m,), "a sample of one length")
    expect((sample.counts > 0).all() and np.isfinite(sample.weight), "weights of a sample")


def _survey(survey: Sketch) -> None:
    d = survey.sample.rows.shape[1]
    expect(survey.cells is None or survey.cells.keys.shape[1] == d, "a survey in one space")


def _partition(part: Partition) -> None:
    m = len(part.sizes)
    expect(len(part.centers) == m and _within(part.labels, 0, m), "a partition's clusters")


def _shares(shares: csr_array) -> None:
    shares.check_format(full_check=True)
    expect(np.isfinite(shares.data).all(), "shares that are numbers")


def _scaling(scaling: Scaling) -> None:
    expect(scaling.shift.shape == scaling.factor.shape and (scaling.factor > 0).all(), "scaling")


def _nothing(value: Any) -> None:
    return None


def _candidates(value: Any) -> bool:
    return isinstance(value, tuple) and all(isinstance(each, Candidate) for each in value)


_series = maybe(of(Series))
_nus = of(LogLog, Power)
_bandwidth = maybe(number)
_ranged = {"h_min": number, "h_max": number, "h_inf": maybe(number), "nu": _nus}
_TRACE = ("h", "shift", "clumps", "diameter", "gap", "objective", "snapshots")

# for each type what its parts are called and must be, and what must hold between them
KINDS: dict[type, tuple[dict[str, Kind], Callable[[Any], None]]] = {
    Geometry: ({"metric": text}, lambda it: expect(it.metric in METRICS, "a metric")),
    Points: (
        {
            "values": reals(2),
            "weights": reals(1),
            "inverse": wholes(1),
            "offset": reals(1),
            "geometry": of(Geometry),
        },
        _points,
    ),
    Partition: (
        {
            "labels": wholes(1),
            "centers": reals(2),
            "sizes": reals(1),
            "diameter": number,
            "gap": number,
            "certified": flag,
            "theorem2": flag,
        },
        _partition,
    ),
    FitSettings: (
        {
            **dict.fromkeys(("bandwidth", "h_min", "h_inf", "h_max"), _bandwidth),
            "policy": maybe(of(Constant, Shrinking, Walk, Uniform, Anchored)),
            "tau": maybe(number),
            "engine": maybe(text),
            "single_updates": flag,
        },
        _nothing,
    ),
    PointIndex: (
        {
            "points": of(Points),
            "labels": wholes(1),
            "sketch": maybe(of(SketchPoints)),
            "sketch_points": maybe(wholes(1)),
        },
        _nothing,
    ),
    FitResult: (
        {
            "algorithm": text,
            "labels": wholes(1),
            "centers": reals(2),
            "sizes": wholes(1),
            **dict.fromkeys(("n_noise", "n_rows"), whole),
            "outcome": of(Outcome),
            "message": text,
            "index": of(PointIndex),
            "settings": of(FitSettings),
            "memberships": maybe(of(csr_array)),
            **dict.fromkeys(("weights", "confidence", "cluster_stability"), maybe(reals(1))),
            "stability": maybe(number),
            "alternatives": _candidates,
            "tree": maybe(of(MergeTree)),
            "trace": maybe(of(Trace)),
            "partition": maybe(of(Partition)),
            **dict.fromkeys(("n_updates", "n_iter"), maybe(whole)),
            "points": maybe(reals(2)),
            "chain_labels": maybe(wholes(2)),
        },
        _nothing,
    ),
    Series: (
        {"k": wholes(1), "values": lambda value: any(reals(ndim, finite=False)(value) for ndim in (1, 2, 3))},
        lambda it: expect(len(it.k) == len(it.values), "a series of one length"),
    ),
    Trace: (dict.fromkeys(_TRACE, _series), _nothing),
    Record: ({**dict.fromkeys(_TRACE, maybe(whole)), "limit": whole}, _nothing),
    Grid: ({"exponent": whole, "offset": of(tuple), "limit": whole}, _grid),
    GridCells: (
        {"grid": of(Grid), "level": whole, "keys": wholes(2), "counts": reals(1), "sums": reals(2)},
        _cells,
    ),
    Sample: (
        {"size": whole, "keys": wholes(1, np.uint64), "rows": reals(2), "counts": reals(1), "weight": number},
        _sample,
    ),
    Sketch: ({"cells": maybe(of(GridCells)), "sample": of(Sample)}, _survey),
    # the rest of these two is made of what is kept
    SketchPoints: ({"source": of(GridCells, Sample), "resolution": maybe(number), "weight": number}, _nothing),
    MergeTree: (
        {
            "point_tree": of(PointTree),
            "weights": reals(1),
            "inverse": wholes(1),
            "level": maybe(number),
            "n_neighbors": maybe(whole),
        },
        _scale_tree,
    ),
    PointTree: (
        {
            "heights": reals(1),
            "prominence": reals(1, finite=False),
            "target": wholes(1),
            "saddle": reals(1, finite=False),
        },
        _tree,
    ),
    Candidate: (
        {
            "proposer": text,
            "setting": lambda value: isinstance(value, tuple) and all(number(each) for each in value),
            "labels": wholes(1),
            "n_clusters": whole,
            "stability": number,
            "score": number,
        },
        _nothing,
    ),
    Scaling: ({"shift": reals(1), "factor": reals(1)}, _scaling),
    csr_array: ({}, _shares),
    Outcome: ({}, _nothing),
    LogLog: ({}, _nothing),
    Power: ({"a": number}, _nothing),
    Constant: ({"h": number}, _nothing),
    Shrinking: (_ranged, _nothing),
    Walk: (_ranged, _nothing),
    Uniform: (_ranged, _nothing),
    Anchored: (_ranged, _nothing),
}


def check_kind(parts: dict[str, Any], kinds: dict[str, Kind], of_what: str) -> None:
    """Check that parts have the names and the types that they must have."""
    expect(set(parts) == set(kinds), f"the parts of {of_what}")
    for name, value in parts.items():
        expect(kinds[name](value), f"{name} of {of_what}")
