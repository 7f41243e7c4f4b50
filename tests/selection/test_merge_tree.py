"""The merge tree of modes: its table against cuts of the tree, exports, and `tree_` of ModeSeek."""

import pickle
import sys
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.cluster.hierarchy import fcluster, is_valid_linkage
from sklearn.datasets import make_blobs

from inputs import SEEDS, random_graph, same
from modeseek import ModeSeek
from modeseek.selection import DEFAULT
from modeseek.selection.modes import cut, merge_tree, peaks, point_tree


def tree_of(seed):
    return merge_tree(point_tree(*random_graph(seed)))


def reached(heights, edges, saddles, start, level):
    """Return the points that are connected to a point above a level."""
    found = {start}
    while True:
        passes = edges[saddles >= level]
        new = {int(b) for pair in passes for a, b in (pair, pair[::-1]) if int(a) in found} - found
        if not new:
            return found
        found |= new


@given(SEEDS)
def test_modes_are_sorted_and_parents_are_higher(seed):
    tree = tree_of(seed)
    assert_array_equal(tree.row, peaks(tree.point_tree))
    assert (tree.prominence[:-1] >= tree.prominence[1:]).all()
    for kin in (tree.parent, tree.elder):
        assert_array_equal(kin == -1, np.isinf(tree.prominence))
        own = np.flatnonzero(kin >= 0)
        # of saddles that differ in their last digit alone, prominences may be rounded to the same
        assert (tree.prominence[kin[own]] >= tree.prominence[own]).all()
        assert (tree.height[kin[own]] >= tree.height[own]).all()
    own = np.flatnonzero(tree.parent >= 0)
    assert (tree.prominence[tree.parent[own]] > tree.prominence[own]).all()
    assert (tree.saddle[tree.elder[own]] < tree.saddle[own]).all()
    assert_allclose(tree.height - tree.saddle, tree.prominence)


@given(SEEDS)
def test_a_mode_merges_into_its_parent(seed):
    tree = tree_of(seed)
    for mode in np.flatnonzero(tree.parent >= 0):
        # the next level at which anything is kept
        above = tree.prominence[tree.prominence > tree.prominence[mode]].min()
        labels = cut(tree.point_tree, min(above, tree.prominence[mode] + 1.0))
        assert labels[tree.row[mode]] == labels[tree.row[tree.parent[mode]]]
        # ... and not before
        labels = cut(tree.point_tree, tree.prominence[mode])
        assert labels[tree.row[mode]] != labels[tree.row[tree.parent[mode]]]


@given(SEEDS)
def test_the_size_is_that_of_the_cluster_when_it_merges(seed):
    heights, edges, saddles = random_graph(seed)
    weights = np.random.default_rng(seed).integers(1, 9, len(heights)).astype(float)
    tree = merge_tree(point_tree(heights, edges, saddles), weights=weights)
    largest = tree.prominence[np.isfinite(tree.prominence)].max(initial=0.0)
    for mode, level in enumerate(np.minimum(tree.prominence, largest + 1.0)):
        # of modes of equal prominence those listed later go first
        if (tree.prominence == tree.prominence[mode]).sum() == 1 or np.isinf(tree.prominence[mode]):
            labels = cut(tree.point_tree, level)
            assert tree.size[mode] == weights[labels == labels[tree.row[mode]]].sum()


@given(SEEDS)
def test_the_elder_is_the_highest_mode_beyond_the_saddle(seed):
    heights, edges, saddles = random_graph(seed)
    tree = tree_of(seed)
    for mode in np.flatnonzero(tree.elder >= 0):
        beyond = reached(
            heights, edges, np.minimum(saddles, heights[edges].min(axis=1)), tree.row[mode], tree.saddle[mode]
        )
        assert tree.row[tree.elder[mode]] in beyond
        assert tree.height[tree.elder[mode]] == heights[list(beyond)].max()


@given(SEEDS, st.floats(0.01, 3))
def test_linkage_has_the_clusters_of_every_level(seed, level):
    tree = tree_of(seed)
    linkage = tree.to_linkage()
    assert linkage.shape == (len(tree) - 1, 4)
    if len(tree) > 1:
        assert is_valid_linkage(linkage)
        assert linkage[-1, 3] == len(tree)
        # SciPy merges at the level itself, here a mode of that prominence stays
        below = np.nextafter(level, 0.0)
        assert same(fcluster(linkage, below, "distance"), tree.cut(level)[tree.row])


def test_linkage_of_connected_components():
    tree = merge_tree(point_tree([1.0, 2.0, 0.5], np.empty((0, 2)), np.empty(0)))
    assert_array_equal(tree.to_linkage()[:, 2], [np.inf, np.inf])
    assert_array_equal(tree.to_linkage(top=7.0)[:, 2], [7.0, 7.0])
    two = merge_tree(point_tree([5.0, 2.0, 4.0], [[0, 1], [1, 2]], [2.0, 1.0]))
    for top in (2.9, np.nan):
        with pytest.raises(ValueError, match="top must be at least the largest finite prominence, 3"):
            two.to_linkage(top=top)


def test_the_parent_may_differ_from_the_elder():
    # 9 and 8 with a saddle at 5; a small hill of 3 hangs at the slope of 8, by a saddle at 2
    tree = merge_tree(point_tree([9.0, 5.0, 8.0, 2.0, 3.0], [[0, 1], [1, 2], [2, 3], [3, 4]], [5.0, 5.0, 2.0, 2.0]))
    assert_array_equal(tree.height, [9.0, 8.0, 3.0])
    assert_array_equal(tree.parent, [-1, 0, 1])
    assert_array_equal(tree.elder, [-1, 0, 0])
    assert_array_equal(tree.size, [5.0, 3.0, 1.0])


def test_the_heaviest_cluster_is_first():
    # the lower hill has more weight, and its point stands for two rows
    tree = merge_tree(
        point_tree([3.0, 1.0, 2.0], [[0, 1], [1, 2]], [1.0, 1.0]), weights=[1, 1, 5], inverse=[2, 0, 2, 1], level=0.5
    )
    assert_array_equal(tree.cut(0.5), [0, 1, 0, 1])
    assert_array_equal(tree.row, [1, 0])
    assert_array_equal(tree.clusters(2), [0, 1, 0, 1])
    assert_array_equal(tree.clusters(1), [0, 0, 0, 0])
    assert tree.level_for(2) == 0.5
    with pytest.raises(ValueError, match="prominence must be a finite number >= 0"):
        tree.cut(-1.0)
    with pytest.raises(ValueError, match="n_clusters must be"):
        tree.clusters(0)


def test_table_and_dataframe(monkeypatch):
    tree = tree_of(3)
    table, frame = tree.table(), tree.to_dataframe()
    for name in table.dtype.names:
        assert_array_equal(table[name], getattr(tree, name))
        assert_array_equal(frame[name], getattr(tree, name))
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r"use table\(\)"):
        tree.to_dataframe()


# ---------------------------------------- the tree of ModeSeek


def test_the_selected_level_gives_the_labels():
    X, _ = make_blobs(300, centers=5, cluster_std=0.9, random_state=4)
    X = np.concatenate([X, X[:50]])
    weights = np.r_[np.ones(340), np.zeros(10)]
    model = ModeSeek(random_state=0)
    model._config = replace(DEFAULT, proposers=("modes",))
    model.fit(X, sample_weight=weights)
    assert model.alternatives_[0].proposer == "modes"
    assert_array_equal(model.tree_.cut(model.tree_.level), model.labels_)
    assert model.tree_.n_neighbors == model.alternatives_[0].setting[0]
    assert model.tree_.size[np.isinf(model.tree_.prominence)].sum() == 340
    again = pickle.loads(pickle.dumps(model)).tree_
    assert_array_equal(again.cut(1.0), model.tree_.cut(1.0))


def test_one_cluster_has_no_level():
    model = ModeSeek(random_state=0).fit(np.random.default_rng(0).normal(size=(200, 2)))
    assert model.n_clusters_ == 1
    assert model.tree_.level is None
    assert model.tree_.clusters(3).max() == 2


def test_communities_have_a_tree_too():
    X, _ = make_blobs(150, n_features=60, centers=3, random_state=2)
    model = ModeSeek(random_state=0).fit(X)
    assert len(model.tree_.cut(0.5)) == 150
    assert (model.tree_.level is None) == (model.alternatives_[0].proposer != "modes")


@pytest.mark.parametrize("X", [np.ones((4, 2)), np.eye(2), np.zeros((1, 3))])
def test_few_points_have_one_mode(X):
    tree = ModeSeek(random_state=0).fit(X).tree_
    assert len(tree) == 1
    assert tree.size.tolist() == [len(X)]
    assert_array_equal(tree.cut(0.0), np.zeros(len(X)))
