"""The proposers: one interface, and their compiled loops against SciPy and NumPy."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components, minimum_spanning_tree
from scipy.spatial.distance import cdist
from sklearn.cluster import HDBSCAN
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from inputs import DEGENERATE, labels_of_points, raw_rows, selection_data_of
from modeseek.selection.config import DEFAULT
from modeseek.selection.proposers import PROPOSERS
from modeseek.selection.proposers.centers_loops import k_means
from modeseek.selection.proposers.mean_shift_loops import components_within, run_chain
from modeseek.selection.proposers.modes import Modes
from modeseek.selection.proposers.samples import ward_clusters
from modeseek.selection.proposers.spanning_tree_loops import condensed_labels, single_linkage, spanning_forest

X, Y = make_blobs(200, centers=[(0, 0), (6, 0), (0, 6)], random_state=0)


@pytest.mark.parametrize("name", PROPOSERS)
def test_clear_clusters_are_among_the_proposals(name):
    data = selection_data_of(X)
    proposer = PROPOSERS[name](DEFAULT)
    found = proposer.propose(data, np.random.default_rng(0))
    truth = labels_of_points(X, Y)
    assert max(adjusted_rand_score(truth, each.labels) for each in found) > 0.97
    for each in found:
        assert each.proposer == name
        assert each.labels.dtype == np.int32
        assert each.labels.shape == (200,)
        assert each.labels.min() == 0
        assert len(each.setting) == 2
    again = proposer.propose(data, np.random.default_rng(0))
    for one, other in zip(found, again, strict=True):
        assert_array_equal(one.labels, other.labels)


@pytest.mark.parametrize("name", [name for name, each in PROPOSERS.items() if not each.needs_coordinates])
def test_graph_proposers_use_the_graph_only(name):
    data = selection_data_of(np.random.default_rng(0).normal(size=(150, 2)))
    nothing = np.full((150, 2), np.nan)
    bare = replace(data, points=nothing, components=nothing, coordinates=nothing)
    proposer = PROPOSERS[name](DEFAULT)
    pairs = zip(*(proposer.propose(each, np.random.default_rng(0)) for each in (data, bare)), strict=True)
    for one, other in pairs:
        assert_array_equal(one.labels, other.labels)


@pytest.mark.parametrize("name", PROPOSERS)
@pytest.mark.parametrize("kind", [kind for kind in DEGENERATE if kind != "single"])
@pytest.mark.parametrize("n", [4, 9, 40])
def test_degenerate_data_have_proposals_or_none(name, kind, n):
    for d in (1, 40):
        rows = raw_rows(kind, np.random.default_rng(n), n, d)
        if len(np.unique(rows, axis=0)) >= 3:
            for each in PROPOSERS[name](DEFAULT).propose(selection_data_of(rows), np.random.default_rng(0)):
                assert each.labels.min() == 0


@pytest.mark.parametrize("wanted", [1, 2, 3, 5, 20])
def test_modes_with_a_number_of_clusters(wanted):
    found = Modes().with_clusters(selection_data_of(np.random.default_rng(0).normal(size=(300, 2))), wanted)
    assert found.labels.max() + 1 == wanted


def test_the_spanning_tree_is_that_of_scipy():
    points = np.random.default_rng(0).normal(size=(60, 2))
    distances = cdist(points, points)
    left, right = np.triu_indices(60, 1)
    order = np.argsort(distances[left, right])
    left, right = left[order].astype(np.int32), right[order].astype(np.int32)
    kept = spanning_forest(60, left, right)
    assert_allclose(distances[left[kept], right[kept]].sum(), minimum_spanning_tree(distances).sum())


@pytest.mark.parametrize("method", ["eom", "leaf"])
@pytest.mark.parametrize("seed", range(3))
def test_condensed_clusters_are_those_of_hdbscan(method, seed):
    points, _ = make_blobs(150, centers=5, cluster_std=1.2, random_state=seed)
    distances = cdist(points, points)
    core = np.sort(distances, axis=1)[:, 4]
    reach = np.maximum(distances, np.maximum(core[:, None], core))
    left, right = np.triu_indices(150, 1)
    order = np.argsort(reach[left, right], kind="stable")
    left, right = left[order].astype(np.int32), right[order].astype(np.int32)
    kept = spanning_forest(150, left, right)
    left, right = left[kept], right[kept]
    child, size = single_linkage(150, left, right, np.ones(150))
    labels = condensed_labels(150, child, reach[left, right], size, 10.0, method == "leaf")
    expected = (
        HDBSCAN(min_cluster_size=10, min_samples=5, cluster_selection_method=method, copy=True).fit(points).labels_
    )
    both = (labels >= 0) & (expected >= 0)
    assert labels.max() == expected.max()
    assert both.mean() > 0.8 * (expected >= 0).mean()
    assert adjusted_rand_score(labels[both], expected[both]) > 0.9  # ties between distances are broken differently


@pytest.mark.parametrize("k", [1, 2, 5, 30])
def test_cuts_of_a_linkage_are_those_of_scipy(k):
    tree = linkage(np.random.default_rng(0).normal(size=(30, 2)), "ward")
    assert adjusted_rand_score(ward_clusters(tree, k), fcluster(tree, k, "maxclust")) == 1.0


def test_k_means_by_its_definition():
    points = np.random.default_rng(0).normal(size=(80, 3))
    weights = np.random.default_rng(1).uniform(0.5, 2.0, 80)
    labels = (np.arange(80) % 4).astype(np.int32)
    start, found = k_means(points, weights, labels, 4, 100)
    assert_allclose(start, [points[labels == c].mean(axis=0) for c in range(4)])
    nearest = cdist(points, found).argmin(axis=1)
    for c in range(4):
        own = nearest == c
        assert_allclose(found[c], np.average(points[own], axis=0, weights=weights[own]))


def test_a_chain_by_its_definition():
    points = np.random.default_rng(0).normal(size=(20, 2))
    weights = np.random.default_rng(1).uniform(0.5, 2.0, 20)
    order, bandwidths = np.random.default_rng(2).random(40), np.random.default_rng(3).uniform(0.5, 2.0, 40)
    found = run_chain(points, weights, order, bandwidths, 2)
    x = points.copy()
    for word, h in zip(order, bandwidths, strict=True):
        i = int(word * 20)
        w = weights * np.maximum(1 - np.square(x - x[i]).sum(axis=1) / h**2, 0.0)
        x[i] = w @ x / w.sum()
    assert_allclose(found, x)


def test_components_within_a_radius():
    points = np.random.default_rng(0).random((100, 2))
    near = coo_array(cdist(points, points) < 0.08)
    assert_array_equal(components_within(points, 0.08), connected_components(near)[1])
