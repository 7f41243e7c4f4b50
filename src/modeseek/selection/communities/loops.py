"""Compiled loops of the Louvain method, which SciPy and scikit-learn do not have.

Graphs are symmetric and in compressed rows: `start`, `column` and `weight`. Self-loops are kept apart in `loops`.
Compiled functions end in `_loop` and allocate no arrays: the function around each does.
"""

from __future__ import annotations

import numpy as np

from modeseek._common.jit import cached_loop
from modeseek._common.types import Array, IntArray

__all__ = ["jaccard_weights", "merge_communities", "move_nodes"]


@cached_loop
def _jaccard_loop(indices, mark, weights):  # type: ignore[no-untyped-def]
    n, k = indices.shape
    for i in range(n):
        mark[i] = i
        for j in range(k):
            mark[indices[i, j]] = i
        for j in range(k):
            other = indices[i, j]
            both = 1 if mark[other] == i else 0
            for q in range(k):
                if mark[indices[other, q]] == i:
                    both += 1
            weights[i, j] = both / (2 * (k + 1) - both)


def jaccard_weights(indices: IntArray) -> Array:
    """Return the Jaccard index between the neighbours of each point and those of each of its neighbours.

    A point counts as one of its own neighbours.
    """
    weights = np.empty(indices.shape)
    _jaccard_loop(indices, np.full(len(indices), -1, dtype=np.int32), weights)
    return weights


@cached_loop
def _move_loop(  # type: ignore[no-untyped-def]
    start, column, weight, degree, resolution, order, sweeps, community, total, link, seen, active, begin, near, pull
):
    whole = 0.0
    for i in range(len(degree)):
        for e in range(start[i], start[i + 1]):
            degree[i] += weight[e]
        total[i] = degree[i]
    for i in range(len(degree)):
        whole += degree[i]
    # edges in the order of the visits, so that each sweep reads them one after the other
    for step in range(len(order)):
        i = order[step]
        begin[step + 1] = begin[step] + start[i + 1] - start[i]
        for e in range(start[i + 1] - start[i]):
            near[begin[step] + e], pull[begin[step] + e] = column[start[i] + e], weight[start[i] + e]
    for _ in range(sweeps):
        moved = False
        for step in range(len(order)):
            i = order[step]
            if not active[i]:
                continue
            active[i] = False
            own, count = community[i], 0
            for e in range(begin[step], begin[step + 1]):
                c = community[near[e]]
                # without a branch, which processors could not predict
                seen[count] = c
                count += link[c] == 0.0
                link[c] += pull[e]
            total[own] -= degree[i]
            best, gain = own, link[own] - resolution * total[own] * degree[i] / whole
            for place in range(count):
                c = seen[place]
                more = link[c] - resolution * total[c] * degree[i] / whole
                link[c] = 0.0
                # more than rounding error, so that two nodes cannot swap for ever
                if more > gain + 1e-12 * degree[i]:
                    best, gain = c, more
            total[best] += degree[i]
            if best != own:
                community[i], moved = best, True
                for e in range(begin[step], begin[step + 1]):
                    active[near[e]] |= community[near[e]] != best
        if not moved:
            break


def move_nodes(
    start: IntArray,
    column: IntArray,
    weight: Array,
    loops: Array,
    resolution: float,
    order: IntArray,
    sweeps: int,
) -> IntArray:
    """Move nodes to the communities of their neighbours while that increases modularity; return the communities.

    Moving node i to community c changes the modularity, up to a factor, by w_ic - resolution * D_c D_i / D, minus the
    same for the community that it leaves. Here w_ic is the weight between i and c, D_i the degree of i, D_c the sum of
    degrees in c without i, and D the sum of all degrees.
    """
    n = len(start) - 1
    community, seen = np.arange(n, dtype=np.int32), np.empty(n, dtype=np.int32)
    # after the first sweep, a node can gain only if a neighbour has moved to another community
    active = np.ones(n, dtype=np.bool_)
    degree, total, link, begin = 2.0 * loops, np.empty(n), np.zeros(n), np.zeros(n + 1, dtype=np.int64)
    near, pull = np.empty_like(column), np.empty_like(weight)
    _move_loop(
        start, column, weight, degree, resolution, order, sweeps, community, total, link, seen, active,
        begin, near, pull,
    )  # fmt: skip
    return community


@cached_loop
def _merge_loop(start, column, weight, loops, label, members, link, seen, new_start, new_column, new_weight, new_loops):  # type: ignore[no-untyped-def]
    n, edges, place = len(label), 0, 0
    for c in range(len(new_loops)):
        found = 0
        while place < n and label[members[place]] == c:
            i = members[place]
            place += 1
            new_loops[c] += loops[i]
            for e in range(start[i], start[i + 1]):
                other = label[column[e]]
                if other == c:
                    new_loops[c] += weight[e] / 2.0  # the edge occurs from both ends
                    continue
                if link[other] == 0.0:
                    seen[found] = other
                    found += 1
                link[other] += weight[e]
        for q in range(found):
            new_column[edges], new_weight[edges] = seen[q], link[seen[q]]
            link[seen[q]] = 0.0
            edges += 1
        new_start[c + 1] = edges


def merge_communities(
    start: IntArray, column: IntArray, weight: Array, loops: Array, community: IntArray
) -> tuple[IntArray, IntArray, Array, Array, IntArray]:
    """Turn each community into one node; return the smaller graph and the community number of each node."""
    from modeseek.selection.partition_loops import compact

    label, count = compact(community, len(community))
    members = np.argsort(label, kind="stable")
    new_start, new_loops = np.zeros(count + 1, dtype=np.int64), np.zeros(count)
    new_column, new_weight = np.empty(len(column), dtype=np.int32), np.empty(len(column))
    link, seen = np.zeros(count), np.empty(count, dtype=np.int32)
    _merge_loop(
        start, column, weight, loops, label, members, link, seen, new_start, new_column, new_weight, new_loops
    )  # fmt: skip
    edges = new_start[-1]
    return new_start, new_column[:edges].copy(), new_weight[:edges].copy(), new_loops, label
