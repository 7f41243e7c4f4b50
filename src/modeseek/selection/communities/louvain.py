"""Communities of a graph of neighbours: groups with more weight inside than chance would put there."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from modeseek._common.types import Array, IntArray
from modeseek._common.validation import check_number

__all__ = ["Graph", "graph_of", "louvain", "modularity", "neighbour_graph"]

MOST_SWEEPS, MOST_LEVELS = 20, 20


class Graph(NamedTuple):
    """A symmetric graph with positive weights, in compressed rows: every edge is there from both ends.

    Attributes
    ----------
    start : (n + 1,) integer array
    column : (m,) integer array
    weight : (m,) array
    """

    start: IntArray
    column: IntArray
    weight: Array


def graph_of(weights: csr_array) -> Graph:
    """Return the graph of a matrix of weights, with both directions added up and its diagonal left out."""
    both = csr_array(weights + weights.T)
    both.setdiag(0.0)
    both.eliminate_zeros()
    both.sort_indices()
    return Graph(both.indptr.astype(np.int64), both.indices.astype(np.int64), both.data.astype(np.float64))


def neighbour_graph(indices: IntArray) -> Graph:
    """Return the graph of shared neighbours: points and their neighbours, by how much their lists have in common.

    Parameters
    ----------
    indices : (n, k) integer array
        The neighbours of each point, itself not among them.
    """
    from modeseek.selection.communities.kernels import shared

    n, k = indices.shape
    weights = shared(np.ascontiguousarray(indices, dtype=np.int64))
    rows = np.repeat(np.arange(n), k)
    return graph_of(csr_array((weights.ravel(), (rows, indices.ravel())), shape=(n, n)))


def modularity(graph: Graph, labels: IntArray, resolution: float = 1.0) -> float:
    """Return the modularity: the share of weight inside communities, less `resolution` times that of chance.

    Examples
    --------
    >>> pair = graph_of(csr_array(np.array([[0, 1, 0, 0], [0, 0, 0, 0], [0, 0, 0, 1], [0, 0, 0, 0.0]])))
    >>> modularity(pair, np.array([0, 0, 1, 1]))
    0.5
    """
    rows = np.repeat(np.arange(len(graph.start) - 1), np.diff(graph.start))
    whole = graph.weight.sum()
    inside = graph.weight[labels[rows] == labels[graph.column]].sum()
    degrees = np.bincount(labels[rows], weights=graph.weight)
    return float(inside / whole - resolution * np.square(degrees / whole).sum())


def louvain(graph: Graph, resolution: float = 1.0, *, seed: int = 0) -> IntArray:
    """Return communities of high modularity, by moving nodes and then whole communities (Louvain).

    Parameters
    ----------
    graph : Graph
    resolution : float
        The higher, the smaller the communities.
    seed : int
        Of the order in which nodes are visited.

    Returns
    -------
    labels : (n,) integer array
        In the order of first members.

    References
    ----------
    V. D. Blondel, J.-L. Guillaume, R. Lambiotte, E. Lefebvre, "Fast unfolding of communities in large networks",
    Journal of Statistical Mechanics, 2008.

    Examples
    --------
    >>> ring = np.roll(np.eye(6), 1, axis=1) * [0.1, 1, 1, 0.1, 1, 1]
    >>> louvain(graph_of(csr_array(ring)))
    array([0, 0, 0, 1, 1, 1])
    """
    from modeseek.selection.communities.kernels import gather, move

    check_number("resolution", resolution)
    rng = np.random.default_rng(seed)
    start, column, weight = graph
    loops, labels = np.zeros(len(start) - 1), np.arange(len(start) - 1)
    for _ in range(MOST_LEVELS):
        n = len(start) - 1
        community = move(start, column, weight, loops, float(resolution), rng.permutation(n), MOST_SWEEPS)
        start, column, weight, loops, numbers = gather(start, column, weight, loops, community)
        labels = numbers[labels]
        if len(start) - 1 == n:
            break
    return labels.astype(np.intp)
