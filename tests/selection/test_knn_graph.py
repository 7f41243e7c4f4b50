"""The nearest-neighbour graph and its subsamples."""

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

from inputs import knn_graph_of
from modeseek._common.neighbors import nearest_neighbors
from modeseek.selection.knn_graph import subsample


def test_a_subsample_has_the_neighbours_that_a_new_search_finds():
    X = np.random.default_rng(1).normal(size=(120, 2))
    graph = knn_graph_of(X)
    sample = subsample(graph, np.random.default_rng(0))
    assert len(sample) == len(sample.rows) == 84
    assert_array_equal(sample.coordinates, graph.coordinates[sample.rows])
    indices, distances = sample.neighbors
    expected = nearest_neighbors(X[sample.rows], indices.shape[1])
    # as far as the lists of the whole graph reach
    inside = expected.distances <= graph.neighbors.distances[sample.rows, -1][:, None]
    assert inside[:, :10].all()
    assert_array_equal(indices[inside], expected.indices[inside])
    assert_allclose(distances[inside], expected.distances[inside])
