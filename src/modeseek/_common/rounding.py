"""Rounded columns: find the rounding step, and spread rows within it.

Rounded values lie on a lattice. If its planes are farther apart than neighbouring rows, estimates of the density have a
maximum on each plane. A rounded value therefore stands for an interval, and the rows with this value, called its
copies, are spread over the interval.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from modeseek._common.distances import kth_distance
from modeseek._common.points import Points
from modeseek._common.types import Array, IntArray


@dataclass(frozen=True)
class RoundingConfig:
    """When a column counts as rounded.

    Attributes
    ----------
    min_levels : int
        A column with fewer distinct values is taken for categories or small counts, and not changed.
    min_rows_per_level : float
        Smallest mean number of rows for each distinct value.
    tolerance : float
        Largest deviation of differences from multiples of the step, in steps.
    max_divisor : int
        The step is the smallest difference, divided by a whole number up to this one.
    window : int
        Number of neighbouring differences on each side that determine the step around a value.
    coarser : tuple of int
        Multiples of the step to which part of the values may be rounded.
    coarser_share : float
        Smallest share of rows that are rounded to such a multiple.
    neighbor : int
        Steps are compared with the median distance from a row to its `neighbor`-th nearest distinct row.
    min_share : float
        Steps below this share of the median distance have no visible effect.
    repeated : float
        With at least this mean number of rows for each distinct row, steps of any size have an effect.
    n_queries : int
        Number of rows from which the median is estimated.
    max_rows : int
        Largest number of rows after spreading, unless more are distinct.
    """

    min_levels: int = 15
    min_rows_per_level: float = 2.0
    tolerance: float = 0.05
    max_divisor: int = 6
    window: int = 3
    coarser: tuple[int, ...] = (2, 4, 5, 8, 10, 20, 25, 50, 100)
    coarser_share: float = 0.5
    neighbor: int = 3
    min_share: float = 0.5
    repeated: float = 1.5
    n_queries: int = 500
    max_rows: int = 200_000


DEFAULT = RoundingConfig()


@dataclass(frozen=True, eq=False)
class SpreadPoints:
    """Points whose copies are spread within the rounding steps.

    Attributes
    ----------
    points : Points
        One point for each copy.
    origin : (m,) integer array
        The distinct point that each copy comes from, ascending.
    columns : tuple of int
        The columns of the data that are spread.
    variance : float
        Mean squared displacement along one coordinate, over all copies and coordinates.
    """

    points: Points
    origin: IntArray
    columns: tuple[int, ...]
    variance: float

    @property
    def first(self) -> IntArray:
        """Index of the first copy of each distinct point."""
        return np.flatnonzero(np.diff(self.origin, prepend=-1))

    def mean(self, values: Array) -> Array:
        """Return the weighted mean of `values`, one row for each copy, over the copies of each distinct point."""
        weights = self.points.weights[:, None]
        return np.add.reduceat(values * weights, self.first) / np.add.reduceat(weights, self.first)


def spread_rounded(points: Points, config: RoundingConfig = DEFAULT) -> SpreadPoints | None:
    """Return points with copies spread within the rounding steps; None if no column is visibly rounded.

    The result depends only on the points and their weights. Copies of one value are spread evenly, in an order that is
    random and independent for each column.

    Examples
    --------
    >>> from modeseek._common.points import canonical_points
    >>> from modeseek._common.types import Geometry
    >>> rows = np.round(np.random.default_rng(0).normal(size=(1000, 2)), 1)
    >>> spread = spread_rounded(canonical_points(rows, np.ones(1000), Geometry()))
    >>> spread.points.values.shape, spread.columns
    ((1000, 2), (0, 1))
    """
    if points.geometry.spherical:
        return None
    values, weights = points.values, points.weights
    steps = rounding_steps(values, weights, config)
    rounded = np.flatnonzero(steps.any(axis=0))
    if len(rounded) and weights.sum() < config.repeated * len(values):
        queries = values[np.linspace(0, len(values) - 1, min(len(values), config.n_queries)).astype(np.intp)]
        near = float(np.median(kth_distance(values, min(config.neighbor + 1, len(values)), queries)))
        typical = np.median(np.repeat(steps[:, rounded], _copies(weights, config), axis=0), axis=0)
        rounded = rounded[typical >= config.min_share * near]
    if not len(rounded):
        return None
    copies = _copies(weights, config)
    origin = np.repeat(np.arange(len(values)), copies)
    spread = values[origin].astype(np.float64)
    for column in rounded:
        spread[:, column] += _offsets(values[origin, column], int(column)) * steps[origin, column]
    copied = points._replace(
        values=spread.astype(values.dtype), weights=(weights / copies)[origin], inverse=np.arange(len(origin))
    )
    columns = points.frame.columns[rounded] if len(points.frame.columns) else rounded
    return SpreadPoints(
        copied, origin, tuple(sorted(columns.tolist())), float(np.square(spread - values[origin]).mean())
    )


def rounding_steps(values: Array, weights: Array, config: RoundingConfig = DEFAULT) -> Array:
    """Return the rounding step of each value, as an array of the shape of `values`; 0 in columns that are not rounded.

    A column may have several steps: prices may be rounded to 1 below 100 and to 10 above, or most of them to 10 and
    some to 1.

    Examples
    --------
    >>> column = np.concatenate([np.arange(20.0), np.arange(20.0, 200.0, 10.0)])[:, None]
    >>> rounding_steps(column, np.full(38, 3.0))[[0, -1]].ravel()
    array([ 1., 10.])
    """
    return np.column_stack([_column_steps(column.astype(np.float64), weights, config) for column in values.T])


def _column_steps(column: Array, weights: Array, config: RoundingConfig) -> Array:
    order = np.argsort(column, kind="stable")
    differences = np.diff(column[order])
    # values that differ by a rounding error are equal
    new = differences > 1e-9 * (column[order[-1]] - column[order[0]])
    gaps = np.diff(column[order][np.append(True, new)])
    if len(gaps) + 1 < config.min_levels or weights.sum() < config.min_rows_per_level * (len(gaps) + 1):
        return np.zeros(len(column))
    multiples = _multiples(gaps, config)
    if multiples is None:
        return np.zeros(len(column))
    pad = np.pad(multiples, config.window)  # zeros do not change a greatest common divisor
    windows = np.lib.stride_tricks.sliding_window_view(pad, 2 * config.window)
    level = np.empty(len(column), dtype=np.intp)
    level[order] = np.append(0, np.cumsum(new))
    places = np.append(0, np.cumsum(multiples))
    coarser = _coarser_multiples(places, np.bincount(level, weights=weights), config)
    widths = np.maximum(np.gcd.reduce(windows, axis=1), coarser)
    return (widths * (gaps.sum() / multiples.sum()))[level]


def _multiples(gaps: Array, config: RoundingConfig) -> IntArray | None:
    """Return the gaps between neighbouring distinct values as multiples of one step; None if no step fits."""
    for divisor in range(1, config.max_divisor + 1):
        step = float(gaps.min()) / divisor
        small = gaps < 20 * step
        step = float(gaps[small].sum() / np.rint(gaps[small] / step).sum())  # a mean is more accurate than one gap
        multiples = np.rint(gaps / step)
        if np.abs(gaps / step - multiples).max() <= config.tolerance and multiples.min() > 0:
            return multiples.astype(np.int64)
    return None


def _coarser_multiples(places: IntArray, weights: Array, config: RoundingConfig) -> IntArray:
    """Return for each place on the lattice the coarsest multiple of the step that its rows are rounded to, or 1.

    The search goes from fine to coarse multiples. If most rows are rounded to 10 steps, about half of them are also
    multiples of 20 steps, which is no evidence of rounding to 20.
    """
    # one frequent value, such as 0, is no evidence of rounding
    weights = np.where(weights == weights.max(), 0.0, weights)
    chain = [(1, np.ones(len(places), dtype=bool))]
    while True:
        multiple, on_multiple = chain[-1]
        found = {}
        for each in (each for each in config.coarser if each > multiple and each % multiple == 0):
            residues = np.where(on_multiple, places % each, each)
            rows = np.bincount(residues, weights=weights, minlength=each)[:each]
            on_each = residues == np.argmax(rows)
            if _often(weights, on_each, on_multiple, multiple / each, config) and on_each.sum() >= config.min_levels:
                found[each] = float(rows.max()), on_each
        if not found:
            break
        best = max(found, key=lambda each: (found[each][0], each))
        chain.append((best, found[best][1]))
    widths = np.ones(len(places), dtype=np.int64)
    for (fine, on_fine), (multiple, on_multiple) in reversed([*pairwise(chain)]):
        # rows on coarser multiples are no evidence of rounding to this multiple
        if _often(np.where(widths == 1, weights, 0.0), on_multiple, on_fine, fine / multiple, config):
            widths[on_multiple & (widths == 1)] = multiple
    return widths


def _often(weights: Array, places: Array, finer: Array, ratio: float, config: RoundingConfig) -> bool:
    """Return whether clearly more rows are at `places` than expected: a share `ratio` of the rows at `finer` places."""
    rows, finer_rows = float(weights[places].sum()), float(weights[finer].sum())
    return rows - ratio * finer_rows >= config.coarser_share * (1 - ratio) * finer_rows > 0


def _copies(weights: Array, config: RoundingConfig) -> IntArray:
    unit = max(1.0, float(weights.sum()) / config.max_rows)
    return np.maximum(1, np.rint(weights / unit)).astype(np.intp)


def _offsets(values: Array, seed: int) -> Array:
    """Return offsets from -1/2 to 1/2 that are spread evenly among equal values."""
    random = np.random.Generator(np.random.Philox(key=seed)).random(len(values))
    order = np.lexsort((random, values))
    starts = np.flatnonzero(np.append(True, np.diff(values[order]) != 0))
    counts = np.diff(np.append(starts, len(values)))
    offsets = np.empty(len(values))
    offsets[order] = (np.arange(len(values)) - np.repeat(starts, counts) + 0.5) / np.repeat(counts, counts) - 0.5
    return offsets


def rounding_note(columns: tuple[int, ...], n_columns: int) -> str:
    """Return a note that columns are rounded and how they are treated; "" for no columns.

    Examples
    --------
    >>> rounding_note((1,), 4)
    '1 of 4 columns is visibly rounded, and its values are treated as intervals of one rounding step'
    """
    if not columns:
        return ""
    which = "the column is" if n_columns == 1 else f"{len(columns)} of {n_columns} columns "
    if n_columns > 1:
        which += "is" if len(columns) == 1 else "are"
    whose = "its" if len(columns) == 1 else "their"
    return f"{which} visibly rounded, and {whose} values are treated as intervals of one rounding step"
