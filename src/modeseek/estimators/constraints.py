"""Must-link and cannot-link pairs: checks, share of satisfied pairs, and changes of a result to satisfy all pairs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order, connected_components

from modeseek._common.types import Array, IntArray
from modeseek.estimators.regrouped import regrouped
from modeseek.estimators.result import FitResult

KINDS = ("must_link", "cannot_link")


class ContradictoryConstraints(ValueError):
    """Constraints that no partition satisfies.

    Attributes
    ----------
    pair : tuple of int
        The two rows of the cannot-link.
    chain : tuple of int
        Rows from the first to the second row of the pair, each with a must-link to the next; empty if the two rows are
        equal.
    """

    def __init__(self, pair: tuple[int, int], chain: tuple[int, ...]) -> None:
        self.pair, self.chain = pair, chain
        reason = f"must-links connect them: {' - '.join(map(str, chain))}" if chain else "they are equal rows"
        super().__init__(f"rows {pair[0]} and {pair[1]} have a cannot-link, but {reason}. Remove one of these pairs.")


class Constraints(NamedTuple):
    """Pairs of points, as integer arrays of shape (m, 2)."""

    must_link: IntArray
    cannot_link: IntArray

    @property
    def n_pairs(self) -> int:
        """Number of pairs."""
        return len(self.must_link) + len(self.cannot_link)

    def satisfied(self, labels: IntArray) -> float:
        """Return the share of the pairs that a partition satisfies; if there are both kinds, the mean of two shares."""
        together, apart = (labels[pairs[:, 0]] == labels[pairs[:, 1]] for pairs in self)
        return float(np.mean([each.mean() for each in (together, ~apart) if len(each)]))

    def of(self, points: IntArray) -> Constraints:
        """Return the constraints with each index i replaced by points[i]."""
        return Constraints(points[self.must_link], points[self.cannot_link])


def check_constraints(given: Any, inverse: IntArray) -> Constraints | None:
    """Convert constraints of rows into constraints of points; None if there are none.

    Parameters
    ----------
    given : mapping or None
        Pairs of rows, with the keys `KINDS`.
    inverse : integer array
        Index of the point of each row.
    """
    if given is None:
        return None
    if not isinstance(given, Mapping) or not given.keys() <= set(KINDS):
        raise TypeError(f'constraints must be a dictionary with "must_link" and "cannot_link"; got {given!r}.')
    rows = Constraints(*(_check_pairs(kind, given.get(kind), len(inverse)) for kind in KINDS))
    _check_contradictions(rows, inverse)
    return rows.of(inverse) if rows.n_pairs else None


def _check_pairs(kind: str, pairs: Any, n: int) -> IntArray:
    found = np.asarray([] if pairs is None else pairs)
    if not found.size:
        return np.zeros((0, 2), dtype=np.intp)
    if found.ndim != 2 or found.shape[1] != 2 or found.dtype.kind not in "iu":
        raise ValueError(f"{kind} must be pairs of row numbers, of shape (m, 2); got shape {found.shape}.")
    if found.min() < 0 or found.max() >= n:
        raise ValueError(f"{kind} has row {int(found.max() if found.max() >= n else found.min())}, but X has {n} rows.")
    return found.astype(np.intp)


def _check_contradictions(rows: Constraints, inverse: IntArray) -> None:
    """Raise an error if must-links connect the two rows of a cannot-link, or if the two rows are equal."""
    n = len(inverse)
    # each row is linked to the first row that is equal to it
    first = np.unique(inverse, return_index=True)[1][inverse]
    left = np.concatenate([rows.must_link[:, 0], np.arange(n)])
    right = np.concatenate([rows.must_link[:, 1], first])
    graph = csr_array((np.ones(len(left)), (left, right)), shape=(n, n))
    group = connected_components(graph, directed=False)[1]
    for a, b in rows.cannot_link.tolist():
        if group[a] == group[b]:
            before = breadth_first_order(graph, a, directed=False)[1]
            chain = [b]
            while chain[-1] != a:
                chain.append(int(before[chain[-1]]))
            raise ContradictoryConstraints((a, b), () if inverse[a] == inverse[b] else tuple(chain[::-1]))


def with_constraints(result: FitResult, constraints: Constraints) -> FitResult:
    """Return the result after points were moved so that all constraints are satisfied.

    Points that must-links connect form a group, which moves as a whole. Groups are placed one after the other, the
    heaviest first. A group is placed in the cluster that has most of its weight, if its cannot-links allow that, or in
    the nearest allowed cluster, or else in a new one.
    """
    labels, points = result.index.labels, result.index.points
    n, k = len(labels), result.n_clusters
    left, right = constraints.must_link.T
    group = connected_components(csr_array((np.ones(len(left)), (left, right)), shape=(n, n)), directed=False)[1]
    involved = np.unique(group[np.concatenate([constraints.must_link.ravel(), constraints.cannot_link.ravel()])])
    members = {int(each): np.flatnonzero(group == each) for each in involved}
    apart: dict[int, set[int]] = {each: set() for each in members}
    for a, b in group[constraints.cannot_link].tolist():
        apart[a].add(b)
        apart[b].add(a)
    new = labels.copy()
    place: dict[int, int] = {}
    for each in sorted(members, key=lambda each: -points.weights[members[each]].sum()):
        rows = members[each]
        taken = {place[other] for other in apart[each] if other in place}
        votes = np.bincount(labels[rows], weights=points.weights[rows], minlength=k)
        wanted = [int(label) for label in np.argsort(-votes, kind="stable") if votes[label] > 0]
        allowed = [label for label in [*wanted, *_nearest_clusters(result, rows)] if label not in taken]
        # if no cluster is allowed, take the first new one that is allowed
        place[each] = allowed[0] if allowed else next(label for label in range(k, k + n) if label not in taken)
        new[rows] = place[each]
    if (new == labels).all():
        return result
    moved = int((new != labels)[points.inverse].sum())
    return regrouped(result, new, f"{moved} row{'s'[: moved > 1]} moved to satisfy the constraints")


def _nearest_clusters(result: FitResult, rows: IntArray) -> list[int]:
    """Return all clusters, from the nearest to the points `rows` to the farthest.

    Near clusters have near centres or, without coordinates, many edges from these points.
    """
    index = result.index
    if index.neighbors is not None:
        near = np.bincount(index.labels[index.neighbors.indices[rows]].ravel(), minlength=result.n_clusters)
        return [int(label) for label in np.argsort(-near, kind="stable")]
    values: Array = index.points.values
    centers = index.points.to_canonical(result.centers)
    distances = np.linalg.norm(centers - values[rows].mean(axis=0), axis=1)
    return [int(label) for label in np.argsort(distances, kind="stable")]
