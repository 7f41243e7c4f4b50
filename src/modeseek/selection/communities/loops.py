"""Compiled loops of the Louvain method, which SciPy and scikit-learn do not have.

Compiled functions end in `_loop` and allocate no arrays: the function around each does.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from modeseek._common.jit import cached_loop, loop_part
from modeseek._common.types import Array, IntArray

__all__ = ["Graph", "jaccard_weights", "merge_communities", "move_nodes"]


class Graph(NamedTuple):
    """A symmetric graph in compressed rows.

    Attributes
    ----------
    start : (n + 1,) array
        First edge of each node, and the number of edges.
    column : (e,) array of int32
        The node at the other end of each edge.
    weight : (e,) array
        Positive.
    loops : (n,) array
        Weight of the edge from each node to itself; these edges are not in the other arrays.
    """

    start: IntArray
    column: IntArray
    weight: Array
    loops: Array


class Nodes(NamedTuple):
    """Nodes while they move between communities.

    Attributes
    ----------
    community, degree : (n,) arrays
        Community and sum of the weights of each node.
    total : (n,) array
        Sum of the degrees in each community.
    active : (n,) boolean array
        Whether a node can gain: after its first visit, only if a neighbour has moved to another community.
    """

    community: IntArray
    degree: Array
    total: Array
    active: Array


class Visits(NamedTuple):
    """Edges in the order of the visits, so that each sweep reads them one after the other.

    Attributes
    ----------
    order : (n,) array
        The node of each visit.
    begin : (n + 1,) array
        First edge of each visit.
    near, pull : (e,) arrays
        Node at the other end of each edge, and its weight.
    """

    order: IntArray
    begin: IntArray
    near: IntArray
    pull: Array


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


@loop_part
def _sum_degrees(graph, nodes):  # type: ignore[no-untyped-def]
    """Write the degrees of nodes and of communities of one node; return their sum."""
    degree, whole = nodes.degree, 0.0
    for i in range(len(degree)):
        for e in range(graph.start[i], graph.start[i + 1]):
            degree[i] += graph.weight[e]
        nodes.total[i] = degree[i]
    for i in range(len(degree)):
        whole += degree[i]
    return whole


@loop_part
def _sort_edges(graph, visits):  # type: ignore[no-untyped-def]
    order, begin, near, pull = visits
    for step in range(len(order)):
        first, count = graph.start[order[step]], graph.start[order[step] + 1] - graph.start[order[step]]
        begin[step + 1] = begin[step] + count
        for e in range(count):
            near[begin[step] + e], pull[begin[step] + e] = graph.column[first + e], graph.weight[first + e]


@loop_part
def _best_community(i, step, visits, nodes, link, seen, resolution, whole):  # type: ignore[no-untyped-def]
    """Return the community in which node i increases modularity most; `nodes.total` does not contain it then.

    `link` is 0 before and after. It receives the weights between the node and the communities of its neighbours, and
    `seen` these communities.
    """
    community, degree, total, _ = nodes
    own, count = community[i], 0
    for e in range(visits.begin[step], visits.begin[step + 1]):
        c = community[visits.near[e]]
        # without a branch, which processors could not predict
        seen[count] = c
        count += link[c] == 0.0
        link[c] += visits.pull[e]
    total[own] -= degree[i]
    best, gain = own, link[own] - resolution * total[own] * degree[i] / whole
    for place in range(count):
        c = seen[place]
        more = link[c] - resolution * total[c] * degree[i] / whole
        link[c] = 0.0
        # more than rounding error, so that two nodes cannot swap for ever
        if more > gain + 1e-12 * degree[i]:
            best, gain = c, more
    return best


@cached_loop
def _move_loop(graph, visits, nodes, resolution, sweeps, link, seen):  # type: ignore[no-untyped-def]
    community, degree, total, active = nodes
    whole = _sum_degrees(graph, nodes)
    _sort_edges(graph, visits)
    for _ in range(sweeps):
        moved = False
        for step in range(len(visits.order)):
            i = visits.order[step]
            if not active[i]:
                continue
            active[i] = False
            own, best = community[i], _best_community(i, step, visits, nodes, link, seen, resolution, whole)
            total[best] += degree[i]
            if best != own:
                community[i], moved = best, True
                for e in range(visits.begin[step], visits.begin[step + 1]):
                    active[visits.near[e]] |= community[visits.near[e]] != best
        if not moved:
            break


def move_nodes(graph: Graph, resolution: float, order: IntArray, sweeps: int) -> IntArray:
    """Move nodes to the communities of their neighbours while that increases modularity; return the communities.

    Moving node i to community c changes the modularity, up to a factor, by w_ic - resolution * D_c D_i / D, minus the
    same for the community that it leaves. Here w_ic is the weight between i and c, D_i the degree of i, D_c the sum of
    degrees in c without i, and D the sum of all degrees.
    """
    n = len(order)
    community = np.arange(n, dtype=np.int32)
    nodes = Nodes(community, 2.0 * graph.loops, np.empty(n), np.ones(n, dtype=np.bool_))
    begin, near, pull = np.zeros(n + 1, dtype=np.int64), np.empty_like(graph.column), np.empty_like(graph.weight)
    link, seen = np.zeros(n), np.empty(n, dtype=np.int32)
    _move_loop(graph, Visits(order, begin, near, pull), nodes, resolution, sweeps, link, seen)
    return community


@cached_loop
def _merge_loop(graph, label, members, link, seen, merged):  # type: ignore[no-untyped-def]
    start, column, weight, loops = graph
    n, edges, place = len(label), 0, 0
    for c in range(len(merged.loops)):
        found = 0
        while place < n and label[members[place]] == c:
            i = members[place]
            place += 1
            merged.loops[c] += loops[i]
            for e in range(start[i], start[i + 1]):
                other = label[column[e]]
                if other == c:
                    merged.loops[c] += weight[e] / 2.0  # the edge occurs from both ends
                    continue
                if link[other] == 0.0:
                    seen[found] = other
                    found += 1
                link[other] += weight[e]
        for q in range(found):
            merged.column[edges], merged.weight[edges] = seen[q], link[seen[q]]
            link[seen[q]] = 0.0
            edges += 1
        merged.start[c + 1] = edges


def merge_communities(graph: Graph, community: IntArray) -> tuple[Graph, IntArray]:
    """Turn each community into one node; return the smaller graph and the community number of each node."""
    from modeseek.selection.partition_loops import compact

    label, count = compact(community, len(community))
    members = np.argsort(label, kind="stable")
    size = len(graph.column)
    start, column = np.zeros(count + 1, dtype=np.int64), np.empty(size, dtype=np.int32)
    merged = Graph(start, column, np.empty(size), np.zeros(count))
    _merge_loop(graph, label, members, np.zeros(count), np.empty(count, dtype=np.int32), merged)
    edges = start[-1]
    return merged._replace(column=column[:edges].copy(), weight=merged.weight[:edges].copy()), label
