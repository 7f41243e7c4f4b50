"""Pictures of scales and of several partitions: what they show, what they say, and ugly data."""

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.figure import Figure
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs

from modeseek import BlurringMeanShift, DoublyStochasticMeanShift, MeanShift, ModeSeek, StochasticMeanShift
from modeseek.estimators import BandwidthSweep, sweep_bandwidths
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


def test_plateaus_of_a_sweep():
    sweep = BandwidthSweep(np.array([1.0, 2.0, 4.0, 8.0, 16.0]), np.zeros((5, 1)), np.array([9, 3, 3, 1, 1]))
    nine, three, one = sweep.plateaus()
    assert (nine.n_clusters, three.n_clusters, one.n_clusters) == (9, 3, 1)
    assert_allclose([nine.low, nine.high, three.high, one.high], [1.0, 2**0.5, 2**2.5, 16.0])
    assert three.lifetime == pytest.approx(4.0)
    assert (three.first, three.last) == (1, 2)
    assert sweep.longest() == three
    assert BandwidthSweep(np.ones(1), np.zeros((1, 1)), np.ones(1, int)).longest() is None


@pytest.mark.parametrize("cls", [MeanShift, BlurringMeanShift, StochasticMeanShift, DoublyStochasticMeanShift])
def test_a_sweep_is_what_fits_give(cls):
    estimator = cls() if cls in (MeanShift, BlurringMeanShift) else cls(random_state=0)
    if cls is DoublyStochasticMeanShift:
        estimator.set_params(h_min=0.5, h_inf=1.0, h_max=2.0)
    sweep = sweep_bandwidths(X, [2.0, 1.0], estimator=estimator)
    assert_array_equal(sweep.bandwidths, [1.0, 2.0])
    if cls is DoublyStochasticMeanShift:
        alone = estimator.set_params(h_min=1.0, h_inf=2.0, h_max=4.0).fit(X)
    else:
        assert estimator.bandwidth is None
        alone = estimator.set_params(bandwidth=2.0).fit(X)
    assert_array_equal(sweep.labels[1], alone.labels_)
    assert sweep.n_clusters[1] == alone.n_clusters_


def test_the_grid_goes_from_many_clusters_to_one():
    sweep = sweep_bandwidths(X, n_bandwidths=12)
    assert len(sweep.bandwidths) == 12
    assert sweep.n_clusters[0] > 10
    assert sweep.n_clusters[-1] == 1
    assert sweep.longest().n_clusters == 3
    for rows in (np.zeros((5, 2)), np.zeros((1, 2)), [[0.0], [1.0]]):
        assert sweep_bandwidths(rows, n_bandwidths=3).n_clusters[-1] == 1


def test_bad_sweeps():
    with pytest.raises(ValueError, match="bandwidths must be a list of finite numbers > 0"):
        sweep_bandwidths(X, [1.0, -1.0])
    for bad in (ModeSeek(), KMeans()):
        with pytest.raises(TypeError, match=r"estimator must be a MeanShift, .*got"):
            sweep_bandwidths(X, [1.0], estimator=bad)


def test_scales_of_a_sweep():
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


def test_scales_of_a_tree():
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


def test_estimators_bring_chains_or_memberships(ax):
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


def test_a_million_points_of_two_hundred_clusters(ax):
    votes = np.random.default_rng(0).integers(0, 200, (2, 1_000_000))
    plot_coassociation(votes, labels=votes[0], ax=ax)
    assert ax.images[0].get_array().shape == (1000, 1000)
    assert "1,000 of 1,000,000 points drawn" in texts(ax)
    ax.figure.canvas.draw()


def test_few_points_go_together(ax):
    plot_coassociation([[0]], ax=ax)
    ax.figure.canvas.draw()


# ---------------------------------------- comparison


def test_a_flow_says_who_moved(ax):
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


def test_noise_stays_noise(ax):
    plot_comparison([-1, -1, 0, 0], [-1, 0, 0, 0], ax=ax)
    assert "1 of 4 points changed cluster" in texts(ax)
    assert "noise  (2)" in texts(ax)
    assert "noise  (1)" in texts(ax)
    for one, other in (([-1, -1], [0, 1]), ([0, 1], [-1, -1]), ([0], [0]), (["a", "b"], ["b", "-1"])):
        plot_comparison(one, other, ax=Figure().subplots()).figure.canvas.draw()


def test_the_same_partition_under_other_names(ax):
    labels = np.random.default_rng(0).integers(0, 5, 100)
    plot_comparison(labels, np.array(list("vwxyz"))[labels], ax=ax)
    assert "0 of 100 points changed cluster (0%)" in texts(ax)


@pytest.mark.parametrize("n", [40, 200])
def test_many_clusters_become_a_matrix_with_a_diagonal(n, ax):
    rng = np.random.default_rng(0)
    first = np.concatenate([np.arange(n), rng.integers(0, n, 4000)])
    second = rng.permutation(n)[first]
    plot_comparison(first, second, ax=ax)
    assert_allclose(ax.images[0].get_array(), np.eye(n))
    assert f"0 of {n + 4000:,} points changed cluster" in texts(ax)
    assert len(ax.get_xticks()) <= 20


def test_counts_stand_in_a_small_matrix(ax):
    plot_comparison([0, 0, 0, 1], [1, 1, 0, 0], kind="matrix", ax=ax)
    assert sorted(text.get_text() for text in ax.texts[1:]) == ["1", "1", "2"]


def test_estimators_are_compared(ax, model):
    plot_comparison(model, KMeans(3, n_init=1, random_state=0).fit(X), ax=ax)
    assert "of 90 points changed cluster" in texts(ax)


def test_a_comparison_of_a_million(ax):
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
    with pytest.raises(ValueError, match="names must be two"):
        plot_comparison([0], [0], names="both")
