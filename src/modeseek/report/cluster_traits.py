"""Descriptions of clusters: distinguishing features, typical rows, second choices of doubtful rows."""

from collections import Counter
from typing import NamedTuple

import numpy as np

from modeseek._common.scaling import Scaling
from modeseek._common.types import Array, IntArray
from modeseek.estimators.table import MIN_EFFECT
from modeseek.report.report_data import ExtraColumn, ReportData

# columns with at most this many distinct values are summarised by the frequency of each value
MAX_CATEGORIES = 20


class Trait(NamedTuple):
    """A feature whose mean differs between a cluster and the other rows.

    Attributes
    ----------
    feature : int
        Index of the feature.
    mean, others : float
        Mean in the cluster and mean of all other rows, in the original units.
    effect : float
        Their difference in standard deviations of the feature.
    spread : float
        Standard deviation of the feature over all rows.
    """

    feature: int
    mean: float
    others: float
    effect: float
    spread: float


class SecondChoice(NamedTuple):
    """The cluster of the second largest membership of a row, and that membership."""

    cluster: int
    membership: float


def distinguishing_features(data: ReportData, n_most: int) -> list[list[Trait]]:
    """Return for each cluster up to `n_most` features whose mean differs most from that of all other rows.

    Differences are measured in standard deviations of the feature. Features that differ by less than `MIN_EFFECT` are
    left out.
    """
    scaling, means = _standardized_means(data)
    sizes, n = data.table.sizes, data.table.n_rows
    found: list[list[Trait]] = []
    for c, size in enumerate(sizes):
        if size == n:
            found.append([])
            continue
        # standardized features have mean 0 over all rows
        others = -means[c] * size / (n - size)
        effect = means[c] - others
        order = np.argsort(-np.abs(effect), kind="stable")[:n_most]
        inside, outside = scaling.undo(means[c]), scaling.undo(others)
        found.append(
            [
                Trait(int(j), float(inside[j]), float(outside[j]), float(effect[j]), float(scaling.factor[j]))
                for j in order
                if abs(effect[j]) >= MIN_EFFECT
            ]
        )
    return found


def feature_separation(data: ReportData) -> Array:
    """Return for each feature the share of its variance that lies between clusters."""
    _, means = _standardized_means(data)
    return (data.table.sizes[:, None] * means**2).sum(axis=0) / data.table.n_rows


def typical_rows(data: ReportData) -> IntArray:
    """Return for each cluster the row nearest to the mean of the cluster.

    It has the smallest sum of squared distances to the rows of the cluster. Distances are measured between rows as they
    were clustered. Of equally near rows, the first is returned.
    """
    rows = np.flatnonzero(data.labels >= 0)
    labels = data.labels[rows]
    distances = ((data.X[rows] - _cluster_means(data, data.X)[labels]) ** 2).sum(axis=1)
    order = np.lexsort((rows, distances, labels))
    return rows[order[np.searchsorted(labels[order], np.arange(data.table.n_clusters))]]


def second_choices(data: ReportData, rows: IntArray) -> list[SecondChoice | None]:
    """Return the second choice of each of the given rows; None if the result has no memberships."""
    if not len(rows) or data.result is None or data.result.memberships is None:
        return [None] * len(rows)
    memberships = data.result.row_memberships(rows)[:, data.cluster_labels]
    memberships[np.arange(len(rows)), data.labels[rows]] = -1.0
    second = memberships.argmax(axis=1)
    return [
        SecondChoice(int(c), float(membership)) if membership > 0 else None
        for c, membership in zip(second, memberships[np.arange(len(rows)), second], strict=True)
    ]


def categorical_columns(data: ReportData) -> list[ExtraColumn]:
    """Return the extra columns with at most `MAX_CATEGORIES` distinct values."""
    most = min(MAX_CATEGORIES, data.table.n_rows - 1)
    return [column for column in data.extra if 1 < len(set(column.cells)) <= most]


def composition(column: ExtraColumn, rows: IntArray, n_most: int) -> list[str]:
    """Return the most frequent values of a column among some rows, with their shares.

    Examples
    --------
    >>> composition(ExtraColumn("tree", ("ash", "elm", "elm", "", "oak")), np.arange(5), 2)
    ['elm: 40%', '(empty): 20%', '…']
    """
    counts = Counter(column.cells[i] for i in rows)
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    shares = [f"{value or '(empty)'}: {format_share(count, len(rows))}" for value, count in ranked[:n_most]]
    return shares + (["…"] if len(ranked) > n_most else [])


def format_share(count: int, total: int) -> str:
    """Return a share in per cent; only a complete share is "100%".

    Examples
    --------
    >>> format_share(2, 3), format_share(999, 1000), format_share(1, 1000), format_share(5, 5)
    ('67%', '>99%', '<1%', '100%')
    """
    if 0 < count < total:
        percent = 100 * count / total
        return ">99%" if percent > 99.5 else "<1%" if percent < 0.5 else f"{percent:.0f}%"
    return "100%" if count else "0%"


def _standardized_means(data: ReportData) -> tuple[Scaling, Array]:
    scaling = Scaling.fit(data.original, standardize=True)
    return scaling, _cluster_means(data, scaling.apply(data.original))


def _cluster_means(data: ReportData, values: Array) -> Array:
    rows = np.flatnonzero(data.labels >= 0)
    if not len(rows):
        return np.zeros((0, values.shape[1]))
    order = rows[np.argsort(data.labels[rows], kind="stable")]
    starts = np.concatenate([[0], np.cumsum(data.table.sizes)[:-1]])
    return np.add.reduceat(values[order], starts, axis=0) / data.table.sizes[:, None]
