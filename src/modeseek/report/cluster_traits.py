"""Descriptions of clusters: typical rows, doubtful rows and their second choices, columns with few values."""

from collections import Counter
from typing import NamedTuple

import numpy as np

from modeseek._common.types import Array, IntArray
from modeseek.report.report_data import ExtraColumn, ReportData

# columns with at most this many distinct values are summarised by the frequency of each value
MAX_CATEGORIES = 20
# clusters and doubtful rows that the tables list
MAX_CLUSTERS = 40
MAX_DOUBTFUL = 30


class SecondChoice(NamedTuple):
    """The cluster of the second largest membership of a row, and that membership."""

    cluster: int
    membership: float


def feature_separation(data: ReportData) -> Array:
    """Return for each feature the share of its variance that lies between clusters."""
    means = data.scaling.apply(data.table.centers)
    return (data.table.sizes[:, None] * means**2).sum(axis=0) / data.table.n_rows


def typical_rows(data: ReportData) -> IntArray:
    """Return for each cluster the row nearest to the mean of the cluster.

    It has the smallest sum of squared distances to the rows of the cluster. Distances are measured between rows as they
    were clustered. Of equally near rows, the first is returned.
    """
    rows = np.flatnonzero(data.labels >= 0)
    labels = data.labels[rows]
    distances = ((data.X[rows] - data.cluster_means(data.X, data.table.sizes)[labels]) ** 2).sum(axis=1)
    order = np.lexsort((rows, distances, labels))
    return rows[order[np.searchsorted(labels[order], np.arange(data.table.n_clusters))]]


def doubtful_rows(data: ReportData) -> IntArray:
    """Return the doubtful rows, the least confident first."""
    rows = np.flatnonzero(data.doubtful)
    return rows if data.confidence is None else rows[np.argsort(data.confidence[rows], kind="stable")]


def named_rows(data: ReportData) -> IntArray:
    """Return the rows that the tables of the report name."""
    return np.append(typical_rows(data)[data.table.largest(MAX_CLUSTERS)], doubtful_rows(data)[:MAX_DOUBTFUL])


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
