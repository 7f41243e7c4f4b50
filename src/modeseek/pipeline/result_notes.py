"""Notes on a result: columns whose values follow from the clusters, and columns with visibly rounded values."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from modeseek._common.text import listed
from modeseek._common.types import Array, IntArray
from modeseek.estimators.result import FitResult
from modeseek.pipeline.options import PipelineConfig
from modeseek.prepare import Note, TablePreparer
from modeseek.prepare.scaling import NORMAL_QUARTILE_RANGE

# extreme values determine the standard deviation of a feature if its interquartile range is below this share of the
# one that a normal distribution with this standard deviation has
STRETCHED = 0.5


def result_notes(fit: FitResult, preparer: TablePreparer, config: PipelineConfig) -> list[Note]:
    """Return the notes on the result of a fit; `preparer` prepared the rows for this fit."""
    notes = []
    if fit.settings.rounded:
        names = [preparer.preparation_.names[column] for column in fit.settings.rounded]
        notes.append(Note(f"visibly rounded: {listed(names)}; values are treated as intervals of one rounding step"))
    followed = _followed(fit, preparer, config)
    if followed:
        columns = "column" if len(followed) == 1 else "columns"
        values = listed([f"{name} ({count} values)" for name, count in followed.items()])
        text = f"the clusters follow {columns} {values}; try without {'it' if len(followed) == 1 else 'them'}"
        notes.append(Note(text, "ignore", ",".join(followed)))
    return notes


def filled_notes(labels: IntArray, filled: NDArray[np.bool_]) -> list[Note]:
    """Return a note on clusters in which medians replace missing values of most rows; `filled` says in which rows."""
    sizes = np.bincount(labels[labels >= 0])
    found = np.flatnonzero(2 * np.bincount(labels[filled & (labels >= 0)], minlength=len(sizes)) > sizes)
    if not 0 < len(found) < len(sizes):
        return []
    text = f"medians replace missing values of most rows in {'cluster' if len(found) == 1 else 'clusters'}"
    return [Note(f"{text} {listed([*map(str, found)])}; such rows can be left out", "missing", "drop")]


def stretched_features(fit: FitResult, preparer: TablePreparer) -> list[str]:
    """Return the features that are scaled by a standard deviation which a few extreme values determine."""
    points = fit.index.points
    if preparer.scale not in ("standard", "log") or len(preparer.preparation_.features) < 2:
        return []
    low, high = np.percentile(points.values, [25, 75], axis=0)
    small = (high > low) & (high - low < STRETCHED * NORMAL_QUARTILE_RANGE * points.values.std(axis=0))
    columns = points.frame.columns if len(points.frame.columns) else np.arange(len(small))
    return [preparer.preparation_.names[column] for column in sorted(columns[small])]


def _followed(fit: FitResult, preparer: TablePreparer, config: PipelineConfig) -> dict[str, int]:
    """Return the columns that the clusters follow (see `PipelineConfig`), and their numbers of values."""
    points, labels = fit.index.points, fit.index.labels
    kept = labels >= 0
    if fit.n_clusters < 2 or len(preparer.kept_columns_) < 2:
        return {}
    rows = preparer.inverse_transform(points.to_data(points.values[kept]))
    columns = np.array([feature.column for feature in preparer.preparation_.features])
    found = {}
    for name in preparer.kept_columns_:
        values, count = _numbered(rows[:, columns == name], config.followed_values)
        if count > 1 and _known_share(labels[kept], values, points.weights[kept]) >= config.followed_share:
            found[name] = count
    # the note advises to leave these columns out, and one column must remain
    return found if len(found) < len(preparer.kept_columns_) else {}


def _numbered(features: Array, most: int) -> tuple[IntArray, int]:
    """Return integers from 0 that identify the values, and the number of distinct values; 0 if it exceeds `most`."""
    # text with three or more levels has one feature for each level
    column = features[:, 0] if features.shape[1] == 1 else features.argmax(axis=1).astype(np.float64)
    # the values come from an inverse transform, which has rounding errors
    column = np.round(column / max(np.abs(column).max(), np.finfo(np.float64).tiny), 9)
    if len(np.unique(column[:1000])) > most:
        return np.zeros(len(column), dtype=np.intp), 0
    values, numbers = np.unique(column, return_inverse=True)
    return numbers, len(values) if len(values) <= most else 0


def _known_share(labels: IntArray, values: IntArray, weights: Array) -> float:
    """Return the share of rows whose value follows from the cluster; rows with the most frequent value do not count."""
    counts = np.zeros((labels.max() + 1, values.max() + 1))
    np.add.at(counts, (labels, values), weights)
    by_chance = counts.sum(axis=0).max()
    return float((counts.max(axis=1).sum() - by_chance) / max(counts.sum() - by_chance, np.finfo(np.float64).tiny))
