"""Communities: edge weights against sets, and graphs whose communities are known."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from modeseek._common.neighbors import nearest_neighbors
from modeseek.selection.communities import nested_communities, shared_neighbor_graph

SEEDS = st.integers(0, 10_000)


def random_graph(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 40))
    weights = rng.random((n, n)) * (rng.random((n, n)) < 0.2)
    weights[0, 1] = 1.0  # at least one edge
    weights = weights + weights.T
    np.fill_diagonal(weights, 0.0)
    return weights, csr_array(weights)


def modularity(weights, labels, resolution):
    degrees, whole = weights.sum(axis=1), weights.sum()
    same = labels[:, None] == labels[None, :]
    return float(((weights - resolution * np.outer(degrees, degrees) / whole) * same).sum() / whole)


@given(SEEDS, st.floats(0.1, 5))
def test_merging_two_communities_would_not_raise_the_modularity(seed, resolution):
    weights, graph = random_graph(seed)
    labels = next(nested_communities(graph, [resolution], seed=seed))
    found = modularity(weights, labels, resolution)
    assert found >= modularity(weights, np.arange(len(weights)), resolution) - 1e-12
    # merging two communities would not help either: the last level tried
    for a in range(labels.max() + 1):
        for b in range(a):
            assert modularity(weights, np.where(labels == a, b, labels), resolution) <= found + 1e-9


@given(SEEDS)
def test_shared_neighbours_by_sets(seed):
    rng = np.random.default_rng(seed)
    n, k = 12, 4
    indices = np.array([rng.permutation(np.delete(np.arange(n), i))[:k] for i in range(n)])
    graph = shared_neighbor_graph(indices)
    lists = [{i, *row} for i, row in enumerate(indices.tolist())]
    expected = np.zeros((n, n))
    for i in range(n):
        for j in indices[i]:
            expected[i, j] += len(lists[i] & lists[j]) / len(lists[i] | lists[j])
    assert_allclose(graph.toarray(), expected + expected.T)


def test_a_ring_of_cliques():
    n_cliques, size = 8, 6
    n = n_cliques * size
    weights = np.kron(np.eye(n_cliques), np.ones((size, size)))
    for c in range(n_cliques):
        other = ((c + 1) * size + 1) % n
        weights[c * size, other] = weights[other, c * size] = 1.0
    np.fill_diagonal(weights, 0.0)
    labels = next(nested_communities(csr_array(weights), [1.0]))
    assert_array_equal(labels, np.repeat(np.arange(n_cliques), size))


def test_blobs_are_communities():
    X, y = make_blobs(600, n_features=8, centers=6, random_state=3)
    graph = shared_neighbor_graph(nearest_neighbors(X, 20).indices)
    labels = next(nested_communities(graph, [0.25]))
    assert adjusted_rand_score(y, labels) > 0.95


def test_the_higher_the_resolution_the_more_communities():
    X, _ = make_blobs(300, centers=1, random_state=0)
    graph = shared_neighbor_graph(nearest_neighbors(X, 10).indices)
    counts = [next(nested_communities(graph, [resolution])).max() + 1 for resolution in (0.1, 1.0, 8.0)]
    assert counts == sorted(counts)
    assert counts[0] < counts[-1]


def test_the_seed_determines_the_communities():
    _, graph = random_graph(5)
    first, second = (next(nested_communities(graph, [1.0], seed=3)) for _ in range(2))
    assert_array_equal(first, second)
