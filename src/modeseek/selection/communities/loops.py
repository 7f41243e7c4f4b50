"""Compiled loops of the Louvain method, which SciPy and scikit-learn do not have.

Graphs are symmetric and in compressed rows: `start`, `column` and `weight`. Self-loops are kept apart in `loops`.
"""

from __future__ import annotations

import numpy as np

from modeseek._common.jit import cached

__all__ = ["jaccard_weights", "merge_communities", "move_nodes"]


@cached
def jaccard_weights(indices):  # type: ignore[no-untyped-def]
    """Return the Jaccard index between the neighbours of each point and those of each of its neighbours.

    A point counts as one of its own neighbours.
    """
    n, k = indices.shape
    weights, mark = np.zeros((n, k)), np.full(n, -1, dtype=np.int32)
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
    return weights


@cached
def move_nodes(start, column, weight, loops, resolution, order, sweeps):  # type: ignore[no-untyped-def]
    """Move nodes to the communities of their neighbours while that increases modularity; return the communities.

    Moving node i to community c changes the modularity, up to a factor, by w_ic - resolution * D_c D_i / D, minus the
    same for the community that it leaves. Here w_ic is the weight between i and c, D_i the degree of i, D_c the sum of
    degrees in c without i, and D the sum of all degrees.
    """
    n = len(start) - 1
    degree, community = 2.0 * loops, np.arange(n, dtype=np.int32)
    for i in range(n):
        for e in range(start[i], start[i + 1]):
            degree[i] += weight[e]
    total, whole = degree.copy(), degree.sum()
    link, seen = np.zeros(n), np.empty(n, dtype=np.int64)
    # after the first sweep, a node can gain only if a neighbour has moved to another community
    active = np.ones(n, dtype=np.bool_)
    for _ in range(sweeps):
        moved = False
        for i in order:
            if not active[i]:
                continue
            active[i] = False
            own, count = community[i], 0
            for e in range(start[i], start[i + 1]):
                c = community[column[e]]
                if link[c] == 0.0:
                    seen[count] = c
                    count += 1
                link[c] += weight[e]
            total[own] -= degree[i]
            best, gain = own, link[own] - resolution * total[own] * degree[i] / whole
            for place in range(count):
                c = seen[place]
                more = link[c] - resolution * total[c] * degree[i] / whole
                # more than rounding error, so that two nodes cannot swap for ever
                if more > gain + 1e-12 * degree[i]:
                    best, gain = c, more
            for place in range(count):
                link[seen[place]] = 0.0
            total[best] += degree[i]
            if best != own:
                community[i], moved = best, True
                for e in range(start[i], start[i + 1]):
                    if community[column[e]] != best:
                        active[column[e]] = True
        if not moved:
            break
    return community


@cached
def merge_communities(start, column, weight, loops, community):  # type: ignore[no-untyped-def]
    """Turn each community into one node; return the smaller graph and the community number of each node."""
    n = len(start) - 1
    number, count = np.full(n, -1, dtype=np.int32), 0
    label = np.empty(n, dtype=np.int32)
    for i in range(n):
        if number[community[i]] < 0:
            number[community[i]] = count
            count += 1
        label[i] = number[community[i]]
    # nodes by community, in order
    first = np.zeros(count + 1, dtype=np.int64)
    for i in range(n):
        first[label[i] + 1] += 1
    for c in range(count):
        first[c + 1] += first[c]
    members = np.empty(n, dtype=np.int64)
    for i in range(n):
        members[first[label[i]]] = i
        first[label[i]] += 1
    new_start, new_loops = np.zeros(count + 1, dtype=np.int64), np.zeros(count)
    new_column, new_weight = np.empty(len(column), dtype=np.int32), np.empty(len(column))
    link, seen, edges, place = np.zeros(count), np.empty(count, dtype=np.int64), 0, 0
    for c in range(count):
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
    return new_start, new_column[:edges].copy(), new_weight[:edges].copy(), new_loops, label
