"""What sets clusters apart, which rows are typical of them, and which are in doubt."""

from __future__ import annotations

from collections import Counter
from math import floor, log10
from typing import NamedTuple

import numpy as np

from modeseek._common.scaling import Scaling
from modeseek._common.types import Array, IntArray
from modeseek.report.subject import Extra, Subject

__all__ = [
    "Rival",
    "Trait",
    "composition",
    "figure",
    "of_kinds",
    "rivals",
    "separation",
    "share",
    "traits",
    "typical_rows",
]

# a mean that is nearer to the others', in standard deviations, tells little
LEAST_EFFECT = 0.25
# beyond this many distinct values a column has no shares worth telling
MOST_KINDS = 20
# memberships are looked at where they fit in memory
MOST_MEMBERSHIPS = 20_000_000


class Trait(NamedTuple):
    """A feature by which a cluster differs.

    Attributes
    ----------
    feature : int
    mean, others : float
        Means in the cluster and in all other rows, in the data's own units.
    effect : float
        Their difference, in standard deviations of the feature.
    spread : float
        That standard deviation.
    """

    feature: int
    mean: float
    others: float
    effect: float
    spread: float


class Rival(NamedTuple):
    """The cluster that a row might belong to instead, and how often it went with that."""

    cluster: int
    share: float


def traits(subject: Subject, most: int) -> list[list[Trait]]:
    """Return for each cluster the features whose mean lies furthest from that of all other rows.

    Furthest in standard deviations; at most `most`, and only those that lie clearly apart.
    """
    scaling, means = _standardised_means(subject)
    sizes, n = subject.sizes, subject.n_rows
    found: list[list[Trait]] = []
    for c, size in enumerate(sizes):
        if size == n:
            found.append([])
            continue
        # the mean of all is 0, so that of the others follows
        others = -means[c] * size / (n - size)
        effect = means[c] - others
        order = np.argsort(-np.abs(effect), kind="stable")[:most]
        own, rest = scaling.undo(means[c]), scaling.undo(others)
        found.append(
            [
                Trait(int(j), float(own[j]), float(rest[j]), float(effect[j]), float(scaling.factor[j]))
                for j in order
                if abs(effect[j]) >= LEAST_EFFECT
            ]
        )
    return found


def separation(subject: Subject) -> Array:
    """Return for each feature the share of its variance that lies between clusters."""
    _, means = _standardised_means(subject)
    return (subject.sizes[:, None] * means**2).sum(axis=0) / subject.n_rows


def typical_rows(subject: Subject) -> IntArray:
    """Return for each cluster the row nearest to its mean, as clustered; of rows equally near, the first.

    No other row has a smaller sum of squared distances to the rows of its cluster.
    """
    rows = np.flatnonzero(subject.labels >= 0)
    labels = subject.labels[rows]
    distances = ((subject.X[rows] - _means(subject, subject.X)[labels]) ** 2).sum(axis=1)
    order = np.lexsort((rows, distances, labels))
    return rows[order[np.searchsorted(labels[order], np.arange(len(subject.clusters)))]]


def rivals(subject: Subject, rows: IntArray) -> list[Rival | None]:
    """Return for each row the cluster that it went with most often after its own; None where nothing tells."""
    none: list[Rival | None] = [None] * len(rows)
    too_many = subject.n_rows * len(subject.clusters) > MOST_MEMBERSHIPS
    if not len(rows) or too_many or not hasattr(subject.model, "memberships_"):
        return none
    shares = subject.model.memberships_[rows]
    shares[np.arange(len(rows)), subject.labels[rows]] = -1.0
    best = shares.argmax(axis=1)
    return [
        Rival(int(c), float(share)) if share > 0 else None
        for c, share in zip(best, shares[np.arange(len(rows)), best], strict=True)
    ]


def of_kinds(subject: Subject) -> list[Extra]:
    """Return the columns that were not clustered by and have few enough values to be counted."""
    most = min(MOST_KINDS, subject.n_rows - 1)
    return [each for each in subject.extra if 1 < len(set(each.cells)) <= most]


def composition(column: Extra, members: IntArray, most: int) -> list[str]:
    """Say how the values of a column are shared out among some rows, the most frequent first.

    Examples
    --------
    >>> composition(Extra("tree", ("ash", "elm", "elm", "", "oak")), np.arange(5), 2)
    ['elm 40%', '(empty) 20%', '…']
    """
    counts = Counter(column.cells[i] for i in members)
    # ties by name, so that a page repeats
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    told = [f"{value or '(empty)'} {share(count, len(members))}" for value, count in ranked[:most]]
    return told + (["…"] if len(ranked) > most else [])


def share(count: int, total: int) -> str:
    """Return a share in per cent; only what is all is 100%.

    Examples
    --------
    >>> share(2, 3), share(999, 1000), share(1, 1000), share(5, 5)
    ('67%', '>99%', '<1%', '100%')
    """
    if 0 < count < total:
        percent = 100 * count / total
        return ">99%" if percent > 99.5 else "<1%" if percent < 0.5 else f"{percent:.0f}%"
    return "100%" if count else "0%"


def figure(value: float, spread: float) -> str:
    """Return a number with the digits that matter beside the spread of its kind.

    Examples
    --------
    >>> figure(5076.016, 801.9), figure(47.505, 5.46), figure(2007.853, 0.8), figure(1.5e9, 2e8), figure(0.0, 0.0)
    ('5,076', '47.5', '2,007.85', '1.5e+09', '0')
    """
    if spread <= 0 or not np.isfinite(spread):
        return f"{value:,.6g}"
    decimals = max(0, 1 - floor(log10(spread)))
    if abs(value) < 1e7 and decimals <= 6:
        return f"{round(value, decimals) + 0.0:,.{decimals}f}"
    digits = 2 if value == 0 else max(3, 2 + floor(log10(abs(value))) - floor(log10(spread)))
    return f"{value:.{min(digits, 15)}g}"


def _standardised_means(subject: Subject) -> tuple[Scaling, Array]:
    scaling = Scaling.fit(subject.original, standardize=True)
    return scaling, _means(subject, scaling.apply(subject.original))


def _means(subject: Subject, values: Array) -> Array:
    rows = np.flatnonzero(subject.labels >= 0)
    if not len(rows):
        return np.zeros((0, values.shape[1]))
    order = rows[np.argsort(subject.labels[rows], kind="stable")]
    sizes = subject.sizes
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    return np.add.reduceat(values[order], starts, axis=0) / sizes[:, None]
