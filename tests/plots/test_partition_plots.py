"""Plots of cluster counts and of several partitions."""

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.figure import Figure
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs

from modeseek import DoublyStochasticMeanShift, MeanShift, ModeSeek
from modeseek.estimators import BandwidthSweep
from modeseek.plots import (
    palette,
    plot_cluster_counts,
    plot_coassociation,
    plot_comparison,
)
from modeseek.selection.modes import merge_tree, point_tree

X, _ = make_blobs([40, 30, 20], centers=[(0, 0), (6, 0), (0, 6)], random_state=0)


@pytest.fixture(scope="module")
def model():
    return DoublyStochasticMeanShift(0.5, 3.0, 1.2, random_state=0).fit(X)


@pytest.fixture
def ax():
    return Figure().subplots()


def texts(ax):
    return " | ".join(text.get_text().replace("\n", " ") for text in ax.texts)


def legend(ax):
    return [text.get_text() for text in ax.get_legend().texts]


# ---------------------------------------- scales


def test_cluster_counts_of_a_sweep():
    figure = plot_cluster_counts(
        BandwidthSweep(np.array([1.0, 2.0, 4.0, 8.0, 16.0]), np.zeros((5, 1)), np.array([60, 3, 3, 1, 1])),
        title="scales",
        figure=Figure(),
    )
    above, below = figure.axes
    assert above.get_title(loc="left") == "scales"
    assert (above.get_xscale(), above.get_yscale()) == ("log", "log")
    assert "3 clusters" in texts(above)
    assert "1 cluster from here on" in texts(above)
    stairs = above.patches[0].get_data()
    assert_array_equal(stairs.values, [60, 3, 1])
    assert_allclose(stairs.edges, [1.0, 2**0.5, 2**2.5, 16.0])
    tops = [patch.get_paths()[0].vertices[:, 1].max() for patch in below.collections]
    assert_allclose(tops[:2], [2**0.5, 4.0])  # the lifetimes


def test_cluster_counts_of_a_tree():
    # peaks of 5, 4 and 3 with saddles at 1 and 2
    tree = merge_tree(point_tree([5.0, 2.0, 3.0, 1.0, 4.0], [[0, 1], [1, 2], [2, 3], [3, 4]], [2, 2, 1, 1]), level=2.0)
    above, below = plot_cluster_counts(tree, figure=Figure()).axes
    stairs = above.patches[0].get_data()
    assert_array_equal(stairs.values, [3, 2, 1])
    assert_allclose(stairs.edges[:3], [0.0, 1.0, 3.0])
    assert tree.cut(2.0).max() + 1 == 2
    assert "chosen level" in texts(above)
    assert "1 cluster from here on" in texts(above)
    assert below.get_ylabel() == "lifetime (difference)"
    for rows in (X, X[:1], X[:2]):
        plot_cluster_counts(ModeSeek(random_state=0).fit(rows), figure=Figure()).canvas.draw()


# ---------------------------------------- co-association


def test_rows_are_ordered_by_cluster_and_cells_are_shares(ax):
    votes = np.array([[0, 1, 0, 1, 2], [0, 1, 0, 1, 0], [1, 0, 1, 0, 1], [0, 1, 1, 1, 2]])
    plot_coassociation(votes, labels=[0, 1, 0, 1, -1], ax=ax)
    order = [0, 2, 1, 3, 4]
    expected = (votes[:, order][:, :, None] == votes[:, order][:, None]).mean(axis=0)
    assert_allclose(ax.images[0].get_array(), expected)
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["0", "1", "noise"]
    assert "share of 4 partitions" in ax.figure.axes[1].get_ylabel()


def test_coassociation_of_estimators(ax):
    several = DoublyStochasticMeanShift(0.5, 3.0, 1.2, n_chains=4, random_state=0).fit(X)
    plot_coassociation(several, ax=ax)
    assert ax.images[0].get_array().shape == (90, 90)
    found = ModeSeek(random_state=0).fit(X)
    other = plot_coassociation(found, ax=Figure().subplots())
    square = np.asarray(other.images[0].get_array())
    assert_allclose(np.diag(square), 1.0)
    first = found.labels_ == 0
    assert square[: first.sum(), : first.sum()].mean() > 0.9
    with pytest.raises(ValueError, match="fit with n_chains=16"):
        plot_coassociation(DoublyStochasticMeanShift(0.5, 3.0, 1.2, random_state=0).fit(X))
    with pytest.raises(TypeError, match=r"source must be a fitted ModeSeek, .*got MeanShift"):
        plot_coassociation(MeanShift(1.0).fit(X))
    with pytest.raises(ValueError, match="labels must have one entry for each of the 90 points"):
        plot_coassociation(found, labels=[0])
    with pytest.raises(ValueError, match=r"source must be an estimator, or an array .*got shape \(3,\)"):
        plot_coassociation([0, 1, 2])


def test_coassociation_samples_many_points(ax):
    votes = np.random.default_rng(0).integers(0, 200, (2, 1_000_000))
    plot_coassociation(votes, labels=votes[0], ax=ax)
    assert ax.images[0].get_array().shape == (1000, 1000)
    assert "1,000 of 1,000,000 points drawn" in texts(ax)
    ax.figure.canvas.draw()


def test_coassociation_of_one_point(ax):
    plot_coassociation([[0]], ax=ax)
    ax.figure.canvas.draw()


# ---------------------------------------- comparison


def test_flow_counts_points_that_change_cluster(ax):
    first, second = np.repeat([0, 1], [6, 4]), np.array([7, 7, 7, 7, 7, 3, 3, 3, 3, 9])
    plot_comparison(first, second, names=("before", "after"), title="flow", ax=ax)
    assert "2 of 10 points changed cluster (20%)" in texts(ax)
    for words in ("before", "after", "0  (6)", "1  (4)", "7  (5)", "3  (4)", "9  (1)"):
        assert words in texts(ax)
    ribbons = [patch for patch in ax.patches if isinstance(patch, mpl.patches.PathPatch)]
    assert len(ribbons) == 4
    pale = [patch for patch in ribbons if patch.get_alpha() < 0.5]
    assert len(pale) == 2
    blocks = [patch for patch in ax.patches if isinstance(patch, mpl.patches.Rectangle)]
    # a cluster has the colour of the one it is matched with
    colours = [mpl.colors.to_hex(block.get_facecolor()).upper() for block in blocks]
    assert colours[:2] == palette(3)[:2]
    assert sorted(colours[2:]) == sorted(palette(3))


def test_noise_is_matched_with_noise(ax):
    plot_comparison([-1, -1, 0, 0], [-1, 0, 0, 0], ax=ax)
    assert "1 of 4 points changed cluster" in texts(ax)
    assert "noise  (2)" in texts(ax)
    assert "noise  (1)" in texts(ax)
    for one, other in (([-1, -1], [0, 1]), ([0, 1], [-1, -1]), ([0], [0]), (["a", "b"], ["b", "-1"])):
        plot_comparison(one, other, ax=Figure().subplots()).figure.canvas.draw()


def test_renamed_clusters_are_equal(ax):
    labels = np.random.default_rng(0).integers(0, 5, 100)
    plot_comparison(labels, np.array(list("vwxyz"))[labels], ax=ax)
    assert "0 of 100 points changed cluster (0%)" in texts(ax)


@pytest.mark.parametrize("n", [40, 200])
def test_many_clusters_are_a_matrix(n, ax):
    rng = np.random.default_rng(0)
    first = np.concatenate([np.arange(n), rng.integers(0, n, 4000)])
    second = rng.permutation(n)[first]
    plot_comparison(first, second, ax=ax)
    assert_allclose(ax.images[0].get_array(), np.eye(n))
    assert f"0 of {n + 4000:,} points changed cluster" in texts(ax)
    assert len(ax.get_xticks()) <= 20


def test_small_matrix_shows_counts(ax):
    plot_comparison([0, 0, 0, 1], [1, 1, 0, 0], kind="matrix", ax=ax)
    assert sorted(text.get_text() for text in ax.texts[1:]) == ["1", "1", "2"]


def test_comparison_of_estimators(ax, model):
    plot_comparison(model, KMeans(3, n_init=1, random_state=0).fit(X), ax=ax)
    assert "of 90 points changed cluster" in texts(ax)


def test_comparison_of_many_points(ax):
    labels = np.random.default_rng(0).integers(-1, 10, 1_000_000)
    plot_comparison(labels, (labels + 2) // 2, ax=ax)
    ax.figure.canvas.draw()


def test_bad_comparisons():
    with pytest.raises(ValueError, match="first has 2 labels and second has 3: pass labels of the same points"):
        plot_comparison([0, 1], [0, 1, 2])
    with pytest.raises(ValueError, match="second must have one label for each point"):
        plot_comparison([0, 1], [[0, 1]])
    with pytest.raises(ValueError, match=r"kind must be one of 'auto', 'flow', 'matrix'.*Did you mean 'flow'"):
        plot_comparison([0], [0], kind="flows")
    with pytest.raises(ValueError, match="names must have two entries"):
        plot_comparison([0], [0], names="both")
