"""A fitted preparation of tables, and the statistics that it is fitted on, which may arrive in chunks."""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from modeseek._common.scaling import Moments, dominant
from modeseek._common.sphere import map_axes
from modeseek._common.storable import is_real, require, storable
from modeseek._common.text import listed
from modeseek._common.types import Array
from modeseek._storage.cells import STYLES
from modeseek._storage.errors import DataError, IncompleteRowsError
from modeseek._storage.table import Table, unique_names
from modeseek.prepare.config import MISSING, PrepareConfig, PrepareOptions
from modeseek.prepare.facts import ColumnFacts, column_facts
from modeseek.prepare.plan import MatrixColumn, Note, Plan, candidates, feature_values, make_plan
from modeseek.prepare.scaling import FeatureScaling, RowSample, fit_scaling, many_zeros, skewed_features


class Prepared(NamedTuple):
    """A table that is ready for clustering.

    Attributes
    ----------
    complete : (n,) boolean array
        The rows of the table that are kept.
    values : (m, d) array
        The features of these rows in the units of the table.
    X : (m, d) array
        The same, scaled.
    """

    complete: NDArray[np.bool_]
    values: Array
    X: Array


def _check(preparation: Preparation) -> None:
    features, fills, scaling, missing, _ = preparation
    require(missing in MISSING and features, "the preparation")
    require(all(feature.style in STYLES for feature in features), "the preparation")
    require(is_real(fills, 1) and len(fills) == len(scaling.shift) == len(features), "the preparation")


@storable(_check)
class Preparation(NamedTuple):
    """Converts rows of a table to rows of a matrix.

    Attributes
    ----------
    features : tuple of MatrixColumn
    fills : (d,) array
        The medians that replace missing values, if `missing` is "median".
    scaling : FeatureScaling
    missing : {"drop", "median", "error"}
    missing_values : tuple of str
        Cells that stand for missing values.
    """

    features: tuple[MatrixColumn, ...]
    fills: Array
    scaling: FeatureScaling
    missing: str
    missing_values: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the features."""
        return tuple(feature.name for feature in self.features)

    def values(self, table: Table) -> Array:
        """Return the features of a table, with NaN for missing values."""
        return feature_values(table.with_missing(self.missing_values), self.features)

    def apply(self, table: Table, values: Array | None = None) -> Prepared:
        """Prepare rows of a table; `values` are their features with NaN for missing values, if known."""
        values = self.values(table) if values is None else values
        gaps = np.isnan(values)
        if self.missing == "error" and gaps.any():
            table.refuse_gaps(values, self.names)
        if self.missing == "median":
            values = np.where(gaps, self.fills, values)
        complete = np.asarray(np.isfinite(values).all(axis=1))
        values = values[complete] if not complete.all() else values
        return Prepared(complete, values, self.scaling.apply(values))


@storable()
class Statistics(NamedTuple):
    """Statistics of the rows on which a preparation is fitted.

    Attributes
    ----------
    facts : dict of str to ColumnFacts
        Facts of the columns that may become features; before the first row is added, those of the first chunk.
    features : tuple of MatrixColumn
        The features that the following fields are about.
    incomplete : int
        Number of rows with missing values.
    sample : RowSample
        Rows of these features, with NaN for missing values.
    moments : Moments
        Mean and standard deviation of the complete rows.
    """

    facts: dict[str, ColumnFacts]
    features: tuple[MatrixColumn, ...]
    incomplete: int
    sample: RowSample
    moments: Moments

    @classmethod
    def start(cls, table: Table, options: PrepareOptions) -> Statistics:
        """Return the statistics of no rows; the features are those of the first chunk of the table."""
        table = table.with_missing(options.missing_values)
        if options.strict:
            names = table.features(options.columns, options.ignore).names
            return _EMPTY._restarted(tuple(map(MatrixColumn, names)))
        facts = table_facts(table, candidates(table, options), options.config)
        try:
            features = make_plan(table, facts, options).features
        except DataError:
            if table.first_row is None or options.columns is not None:
                raise
            features = ()
        return _EMPTY._replace(facts=facts)._restarted(features)

    def _restarted(self, features: tuple[MatrixColumn, ...]) -> Statistics:
        """Return the statistics of no rows, for other features."""
        return Statistics(self.facts, features, 0, RowSample.empty(len(features)), Moments.empty(len(features)))

    def add(self, table: Table, options: PrepareOptions, *, known: bool = False) -> tuple[Statistics, Array]:
        """Return the statistics updated with the rows of a table, and the features of these rows.

        The features are NaN for missing values, and for text unless `strict` is true. If `known`, the table is the one
        that the statistics started with, so that `facts` are its facts.
        """
        table = table.with_missing(options.missing_values)
        if options.strict:
            values = table.features(self.columns).values
        else:
            values = feature_values(table, self.features, refuse=False)
        config = options.config
        facts = self.facts if known else table_facts(table, tuple(self.facts), config)
        if self.sample.seen:
            facts = {name: each.join(facts[name], config) for name, each in self.facts.items()}
        complete = np.isfinite(values).all(axis=1)
        if options.missing == "error" and not complete.all():
            table.refuse_gaps(values, [feature.name for feature in self.features])
        whole = values[complete] if not complete.all() else values
        incomplete = self.incomplete + int((~complete).sum())
        moments = self.moments.add(whole) if len(whole) else self.moments
        return Statistics(facts, self.features, incomplete, self.sample.add(values, config), moments), values

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the features, without repetitions."""
        return tuple(dict.fromkeys(feature.column for feature in self.features))

    @property
    def _gaps(self) -> dict[str, int]:
        """The number of missing values of each column of numbers that has any."""
        numbers = dict.fromkeys(feature.column for feature in self.features if feature.level is None)
        return {name: self.facts[name].missing for name in numbers if self.facts[name].missing}

    def next_pass(self, table: Table, options: PrepareOptions) -> Statistics | None:
        """Return what the next pass over all rows begins with; None if no other pass is needed.

        If the facts of all rows contradict those of the first chunk, `table`, the features change.
        """
        features = self._plan(table, options).features
        return None if features == self.features else self._restarted(features)

    def _plan(self, table: Table, options: PrepareOptions) -> Plan:
        return Plan(self.features, ()) if options.strict else make_plan(table, self.facts, options)

    def fit(self, table: Table, options: PrepareOptions, metric: str = "euclidean") -> tuple[Preparation, list[Note]]:
        """Return the preparation and the notes on the data.

        Raises
        ------
        IncompleteRowsError
            If no row is complete.
        """
        sample, names = self.sample.rows, [feature.name for feature in self.features]
        if options.missing != "median" and self.incomplete == self.sample.seen:
            raise IncompleteRowsError(table.source, self._gaps)
        notes = [*self._plan(table, options).notes, *self._missing_notes(options)]
        fills = _medians(sample)
        if options.missing == "median":
            rows = np.where(np.isnan(sample), fills, sample)
        else:
            rows = sample[np.isfinite(sample).all(axis=1)]
        skewed = skewed_features(rows, options.config) & ~_indicators(self.features, rows)
        zeros = skewed & many_zeros(rows, options.config)
        skewed &= ~zeros
        notes += _scale_notes(options, metric, names, rows, skewed, zeros) + _value_notes(options, self.features, rows)
        notes += _code_notes(names, rows) + _map_notes(names, rows, metric)
        moments = None if options.missing == "median" else self.moments
        scaling = fit_scaling(str(options.scale), rows, skewed, moments)
        codes = tuple(map(str, options.missing_values))
        return Preparation(self.features, fills, scaling, options.missing, codes), notes

    def spreads(self, preparation: Preparation) -> Array:
        """Return the standard deviation of each feature, in the units of the table; 1 for constant features."""
        if preparation.missing != "median":
            return self.moments.scaling()[1]
        rows = np.where(np.isnan(self.sample.rows), preparation.fills, self.sample.rows)
        return Moments.empty(rows.shape[1]).add(rows).scaling()[1]

    def _missing_notes(self, options: PrepareOptions) -> list[Note]:
        if not self.incomplete:
            return []
        where = listed([f"{name} {n:,}" for name, n in self._gaps.items()])
        rows = f"missing values in {self.incomplete:,} of {self.sample.seen:,} rows ({where})"
        if options.missing == "median":
            return [Note(f"{rows}, which medians replace")]
        return [Note(f"{rows}, which get no cluster; medians can replace the values", "missing", "median")]


_EMPTY = Statistics({}, (), 0, RowSample.empty(0), Moments.empty(0))


def table_facts(table: Table, names: tuple[str, ...], config: PrepareConfig) -> dict[str, ColumnFacts]:
    """Return the facts about the columns of a table."""
    at = {name: j for j, name in enumerate(unique_names(table.columns))}
    return {name: column_facts(table.data.column(at[name]), config) for name in names}


def _medians(sample: Array) -> Array:
    """Return the median of the values of each column that are not missing; 0 if all are."""
    return np.array([np.median(column[~np.isnan(column)]) if np.isfinite(column).any() else 0.0 for column in sample.T])


def _indicators(features: tuple[MatrixColumn, ...], rows: Array) -> NDArray[np.bool_]:
    """Return which features have at most two values."""
    low, high = rows.min(axis=0), rows.max(axis=0)
    return np.array([feature.level is not None for feature in features]) | ((rows == low) | (rows == high)).all(axis=0)


def _value_notes(options: PrepareOptions, features: tuple[MatrixColumn, ...], rows: Array) -> list[Note]:
    """Return a note on columns with so few different values that each may become a cluster."""
    config, few = options.config, {}
    for feature, column in zip(features, rows.T, strict=True):
        count = len(np.unique(column))
        if feature.level is None and 2 < count <= config.few_values and len(rows) >= config.min_rows_per_value * count:
            few[feature.column] = count
    if not few or len(few) == len(features):
        return []
    values = listed([f"{name} ({count})" for name, count in few.items()])
    return [Note(f"few different values, each of which may become a cluster: {values}", "ignore", ",".join(few))]


def _code_notes(names: list[str], rows: Array) -> list[Note]:
    """Return a note on columns in which -999 or a similar number lies far outside the other values, more than once."""
    found: dict[str, str] = {}
    for name, column in zip(names, rows.T, strict=True):
        values, counts = np.unique(column, return_counts=True)
        for code, others, count in ((values[0], values[1:], counts[0]), (values[-1], values[:-1], counts[-1])):
            nines = len(others) > 1 and count > 1 and re.fullmatch(r"-?99+", f"{code:.10g}")
            if nines and np.abs(others - code).min() >= np.ptp(others):
                found[f"{name} ({code:.10g})"] = f"{code:.10g}"
    if not found:
        return []
    codes = ",".join(dict.fromkeys(found.values()))
    return [Note(f"may stand for missing values: {listed([*found])}", "missing_values", codes)]


def _map_notes(names: list[str], rows: Array, metric: str) -> list[Note]:
    """Return a note on columns of longitude and latitude that are not used as places on the globe."""
    found = map_axes(names)
    if found is None or metric == "cosine" or (np.abs(rows[:, found]) > (180, 90)).any():
        return []
    longitude, latitude = found
    both = f"{names[latitude]} and {names[longitude]}"
    chosen = f"{names[latitude]},{names[longitude]}"
    if metric == "haversine":
        right = (latitude, longitude) == (0, 1) and len(names) == 2
        return [] if right else [Note(f"the metric haversine needs {both} alone, in this order", "columns", chosen)]
    text = f"{both} are treated as coordinates of a plane; for distances on the globe, use"
    if (latitude, longitude) == (0, 1) and len(names) == 2:
        return [Note(f"{text} the metric haversine", "metric", "haversine")]
    return [Note(f"{text} these two columns alone, in this order, with the metric haversine", "columns", chosen)]


def _scale_notes(
    options: PrepareOptions,
    metric: str,
    names: list[str],
    rows: Array,
    skewed: NDArray[np.bool_],
    zeros: NDArray[np.bool_],
) -> list[Note]:
    found, spiked = ([name for name, each in zip(names, mask, strict=True) if each] for mask in (skewed, zeros))
    if options.scale == "log":
        notes = [Note(f"logarithms of {listed(found)}")] if found else []
        if spiked:
            notes.append(Note(f"no logarithm, because many values are 0: {listed(spiked)}"))
        return notes or [Note("no column is heavily skewed: no logarithms")]
    notes = []
    if found and metric == "euclidean":
        more = "the logarithm" if len(found) == 1 else "logarithms"
        notes.append(Note(f"heavily skewed: {listed(found)}; {more} may show clusters better", "scale", "log"))
    largest = dominant(rows) if options.scale == "none" and metric == "euclidean" else None
    if largest is not None:
        text = f"column '{names[largest[0]]}' varies {largest[1]:,.0f} times as much as the others"
        notes.append(Note(f"{text}, so that it alone determines the clusters; scale the features", "scale", "standard"))
    return notes
