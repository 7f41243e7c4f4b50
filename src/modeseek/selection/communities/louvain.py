"""The graph of shared neighbours, and its communities by the Louvain method."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
from scipy.sparse import csr_array

from modeseek._common.types import IntArray
from modeseek.selection.config import DEFAULT, CommunitiesConfig


def shared_neighbor_graph(indices: IntArray) -> csr_array:
    """Return the graph of points and their neighbours, weighted by the Jaccard index of their neighbour lists.

    Parameters
    ----------
    indices : (n, k) integer array
        The neighbours of each point, without itself.

    Returns
    -------
    graph : (n, n) sparse array
        Symmetric; the weights of both directions are added up.
    """
    from modeseek.selection.communities.loops import jaccard_weights

    n, k = indices.shape
    near = np.ascontiguousarray(indices, dtype=np.int32)
    weights = jaccard_weights(near)
    weights[near == np.arange(n, dtype=np.int32)[:, None]] = 0.0
    starts = np.arange(0, n * k + 1, k, dtype=np.int32 if n * k < 1 << 31 else np.int64)
    directed = csr_array((weights.ravel(), near.ravel(), starts), shape=(n, n))
    # transposing sorts the columns of each row; SciPy adds sorted arrays several times as fast, and leaves out zeros
    back = directed.T.tocsr()
    back.sum_duplicates()
    graph: csr_array = back.T.tocsr() + back
    return graph


def nested_communities(
    graph: csr_array, resolutions: Iterable[float], *, seed: int = 0, config: CommunitiesConfig = DEFAULT.communities
) -> Iterator[IntArray]:
    """Yield communities of high modularity by the Louvain method, for falling resolutions.

    Each partition starts from the communities of the one before.

    Parameters
    ----------
    graph : (n, n) sparse array
        Symmetric, with positive weights and an empty diagonal.
    resolutions : iterable of float
        A higher resolution gives smaller communities.
    seed : int
        Seed of the order in which nodes are visited.
    config : CommunitiesConfig

    Yields
    ------
    labels : (n,) array of int32
        Numbered by their first members.

    References
    ----------
    V. D. Blondel, J.-L. Guillaume, R. Lambiotte, E. Lefebvre, "Fast unfolding of communities in large networks",
    Journal of Statistical Mechanics, 2008.

    Examples
    --------
    >>> ring = np.roll(np.eye(6), 1, axis=1) * [0.1, 1, 1, 0.1, 1, 1]
    >>> next(nested_communities(csr_array(ring + ring.T), [1.0]))
    array([0, 0, 0, 1, 1, 1], dtype=int32)
    """
    from modeseek.selection.communities.loops import Graph, merge_communities, move_nodes

    rng = np.random.default_rng(seed)
    n = graph.shape[0]
    start, column = graph.indptr.astype(np.int64), graph.indices.astype(np.int32, copy=False)
    merged = Graph(start, column, graph.data.astype(np.float64, copy=False), np.zeros(n))
    labels = np.arange(n, dtype=np.int32)
    for resolution in resolutions:
        for _ in range(config.max_levels):
            size = len(merged.loops)
            community = move_nodes(merged, float(resolution), rng.permutation(size), config.max_sweeps)
            merged, numbers = merge_communities(merged, community)
            labels = numbers[labels]
            if len(merged.loops) == size:
                break
        yield labels
