"""The merge tree of points, against a direct computation for each level."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from inputs import SEEDS, random_graph, same
from modeseek.selection.modes import cut, cuts, level_for, peaks, point_tree


def flooded(heights, edges, saddles, level):
    """Merge components from the highest saddle down if the prominence of the lower peak is below the level."""
    component = np.arange(len(heights))
    order = np.lexsort((edges.max(axis=1), edges.min(axis=1), -saddles))
    for (i, j), s in zip(edges[order], saddles[order], strict=True):
        a, b = component[i], component[j]
        if a == b:
            continue
        # a component goes by the name of its peak: the highest point, of equals the first
        low, high = sorted((a, b), key=lambda c: (heights[c], -c))
        if heights[low] - s < level or heights[low] == s:
            component[component == low] = high
    return component


@given(SEEDS, st.floats(0, 3))
def test_cuts_agree_with_a_direct_computation(seed, level):
    heights, edges, saddles = random_graph(seed)
    tree = point_tree(heights, edges, saddles)
    assert same(cut(tree, level), flooded(heights, edges, saddles, level))


@given(SEEDS)
def test_labels_count_from_the_highest_mode(seed):
    heights, edges, saddles = random_graph(seed)
    labels = cut(point_tree(heights, edges, saddles), 0.3)
    tops = [heights[labels == label].max() for label in range(labels.max() + 1)]
    assert tops == sorted(tops, reverse=True)


@given(SEEDS)
def test_levels_nest(seed):
    tree = point_tree(*random_graph(seed))
    fine, coarse = cut(tree, 0.2), cut(tree, 0.9)
    assert len(np.unique(np.column_stack([fine, coarse]), axis=0)) == fine.max() + 1


@given(SEEDS)
def test_cuts_follow_the_targets_of_points_that_are_no_modes(seed):
    tree = point_tree(*random_graph(seed))
    for level, labels in zip((0.0, 0.2, 0.9, 1e9), cuts(tree, (0.0, 0.2, 0.9, 1e9)), strict=True):
        is_mode = (tree.prominence >= level) & (tree.prominence > 0)
        modes = sorted(np.flatnonzero(is_mode), key=lambda i: -tree.heights[i])
        for i, label in enumerate(labels):
            while not is_mode[i]:
                i = tree.target[i]
            assert modes[label] == i


@given(SEEDS)
def test_the_order_and_direction_of_edges_do_not_matter(seed):
    heights, edges, saddles = random_graph(seed)
    rng = np.random.default_rng(seed + 1)
    order = rng.permutation(len(edges))
    turned = np.where(rng.random((len(edges), 1)) < 0.5, edges, edges[:, ::-1])
    first, second = point_tree(heights, edges, saddles), point_tree(heights, turned[order], saddles[order])
    assert_array_equal(first.prominence, second.prominence)
    assert_array_equal(first.target, second.target)


@given(SEEDS, st.integers(1, 8))
def test_level_for_gives_the_number_if_possible(seed, n_clusters):
    tree = point_tree(*random_graph(seed))
    found = cut(tree, level_for(tree, n_clusters)).max() + 1
    own = np.unique(tree.prominence[np.isfinite(tree.prominence)])
    levels = [0.0, *(own[1:] + own[:-1]) / 2, 1e9]
    possible = {int(cut(tree, level).max()) + 1 for level in levels}
    if n_clusters in possible:
        assert found == n_clusters
    else:
        assert found in possible


@given(SEEDS)
def test_the_number_of_clusters_is_that_of_the_prominent_peaks(seed):
    heights, edges, saddles = random_graph(seed)
    tree = point_tree(heights, edges, saddles)
    for level in (0.1, 0.5, 1.0):
        assert cut(tree, level).max() + 1 == (tree.prominence >= level).sum()


def test_two_peaks_by_hand():
    # heights 5, 2, 4 in a row; the saddles are 2 and, by a long edge, 1
    tree = point_tree([5.0, 2.0, 4.0], [[0, 1], [1, 2]], [2.0, 1.0])
    assert_array_equal(tree.prominence, [np.inf, 0.0, 3.0])
    assert_array_equal(tree.target, [0, 0, 1])
    assert_array_equal(peaks(tree), [0, 2])
    assert_array_equal(cut(tree, 3.0), [0, 0, 1])
    assert_array_equal(cut(tree, 3.1), [0, 0, 0])


def test_without_edges_every_point_is_a_component():
    tree = point_tree([1.0, 2.0], np.empty((0, 2)), np.empty(0))
    assert_array_equal(cut(tree, 5.0), [1, 0])
    assert level_for(tree, 1) == 0.0


@pytest.mark.parametrize("level", [-0.1, np.nan])
def test_bad_levels(level):
    with pytest.raises(ValueError, match="level must be"):
        cut(point_tree([1.0], np.empty((0, 2)), []), level)
