"""The compiled loops of `communities`; graphs are symmetric, in compressed rows, with self-loops apart."""

from __future__ import annotations

import numpy as np

from modeseek._common.jit import cached

__all__ = ["gather", "move", "shared"]


def _shared(indices):  # type: ignore[no-untyped-def]
    """Return the Jaccard index of each point's list with the list of each of its neighbours; a point is in its own."""
    n, k = indices.shape
    weights, mark = np.zeros((n, k)), np.full(n, -1)
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


def _move(start, column, weight, loops, resolution, order, sweeps):  # type: ignore[no-untyped-def]
    """Move nodes to the community of a neighbour while modularity rises; return the community of each.

    Moving i from its own to c changes the modularity by (w_ic - resolution * W_c W_i / W) less the same for its own,
    up to a factor, with w_ic the weight between i and c, W_c that of the degrees in c, without i.
    """
    n = len(start) - 1
    degree, community = 2.0 * loops, np.arange(n)
    for i in range(n):
        for e in range(start[i], start[i + 1]):
            degree[i] += weight[e]
    total, whole = degree.copy(), degree.sum()
    link, seen = np.zeros(n), np.empty(n, dtype=np.int64)
    # after the first sweep, only nodes with a neighbour that has left them have a reason to move
    awake = np.ones(n, dtype=np.bool_)
    for _ in range(sweeps):
        moved = False
        for i in order:
            if not awake[i]:
                continue
            awake[i] = False
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
                # a little more than rounding, or two nodes could change places for ever
                if more > gain + 1e-12 * degree[i]:
                    best, gain = c, more
            for place in range(count):
                link[seen[place]] = 0.0
            total[best] += degree[i]
            if best != own:
                community[i], moved = best, True
                for e in range(start[i], start[i + 1]):
                    if community[column[e]] != best:
                        awake[column[e]] = True
        if not moved:
            break
    return community


def _gather(start, column, weight, loops, community):  # type: ignore[no-untyped-def]
    """Make one node of each community; return the smaller graph and the number of each node's community."""
    n = len(start) - 1
    number, count = np.full(n, -1), 0
    label = np.empty(n, dtype=np.int64)
    for i in range(n):
        if number[community[i]] < 0:
            number[community[i]] = count
            count += 1
        label[i] = number[community[i]]
    members = np.argsort(label, kind="mergesort")
    new_start, new_loops = np.zeros(count + 1, dtype=np.int64), np.zeros(count)
    new_column, new_weight = np.empty(len(column), dtype=np.int64), np.empty(len(column))
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
                    new_loops[c] += weight[e] / 2.0  # seen from both ends
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


shared = cached(_shared)
move = cached(_move)
gather = cached(_gather)
