"""Plots of merge trees and of alternative partitions."""

import matplotlib as mpl
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import make_blobs
from sklearn.exceptions import NotFittedError

from inputs import SEEDS, random_graph
from modeseek import ModeSeek
from modeseek.estimators.alternatives import listed_alternatives
from modeseek.plots import palette, plot_alternatives, plot_prominence, plot_tree, save_figure
from modeseek.plots.tree_layout import layout_hills, order_modes
from modeseek.selection.modes import merge_tree, point_tree
from modeseek.selection.select import Candidate

X, _ = make_blobs([90, 60, 50], centers=[(0, 0), (5, 0), (0, 5)], random_state=0)
# hills of 5, 3 and 4 with saddles at 2 and 1
ROW = point_tree([5.0, 2.0, 3.0, 1.0, 4.0], [[0, 1], [1, 2], [2, 3], [3, 4]], [2.0, 2.0, 1.0, 1.0])


@pytest.fixture(scope="module")
def model():
    return ModeSeek(random_state=0).fit(X)


@pytest.fixture
def ax():
    return Figure().subplots()


def legend(ax):
    return [text.get_text() for text in ax.get_legend().texts]


def texts(ax):
    return " | ".join(text.get_text().replace("\n", " ") for text in ax.texts)


# ---------------------------------------- prominence


def test_prominence_positions_and_colors(ax):
    assert plot_prominence(merge_tree(ROW), level=2.0, title="hills", ax=ax) is ax
    small, large = ax.collections
    assert_allclose(small.get_offsets(), [[3.0, 1.0]])
    drawn = dict(zip(map(tuple, np.asarray(large.get_offsets())), large.get_facecolors(), strict=True))
    finite = drawn.pop((4.0, 3.0))
    [(place, never)] = drawn.items()
    assert place[0] == 5.0
    assert place[1] > 3.0
    assert_allclose(finite[:3], mpl.colors.to_rgb(palette(2)[1]))
    assert_allclose(never[:3], mpl.colors.to_rgb(palette(2)[0]))
    assert "never\nmerges" in [tick.get_text() for tick in ax.get_yticklabels()]
    assert legend(ax) == ["0  (4)", "1  (1)"]
    assert "3 modes; 1 in grey are not clusters" in texts(ax)
    assert "level 2" in texts(ax)
    assert ax.get_title(loc="left") == "hills"


def test_marker_sizes_follow_the_weight(ax):
    plot_prominence(merge_tree(ROW, weights=[1, 1, 1, 1, 50]), level=2.0, ax=ax)
    large = ax.collections[1]
    # the size of the highest is that of all
    assert large.get_sizes()[0] > large.get_sizes()[1] * 1.05
    assert_allclose(large.get_offsets()[0][0], 5.0)


def test_without_a_level_there_is_one_cluster(ax):
    plot_prominence(merge_tree(ROW), ax=ax)
    assert len(ax.collections[1].get_offsets()) == 1
    assert not ax.lines
    assert legend(ax) == ["0  (5)"]


def test_level_and_clusters_of_an_estimator(model, ax):
    plot_prominence(model, ax=ax)
    assert model.n_clusters_ == 3
    assert legend(ax) == [f"{label}  ({size})" for label, size in enumerate(np.bincount(model.labels_))]
    assert ax.lines[0].get_ydata()[0] == model.tree_.level
    other = Figure().subplots()
    plot_prominence(model, level=0.0, ax=other)
    assert len(other.collections[1].get_offsets()) == len(model.tree_)


def test_noise_is_grey():
    light = ModeSeek(min_cluster_size=55, random_state=0).fit(X)
    assert light.n_clusters_ == 2
    for plot in (plot_prominence, plot_tree):
        ax = plot(light, ax=Figure().subplots())
        assert legend(ax)[-1] == f"noise  ({(light.labels_ == -1).sum()})"
    gone = ModeSeek(min_cluster_size=1000, random_state=0).fit(X)
    for plot in (plot_prominence, plot_tree):
        assert legend(plot(gone, ax=Figure().subplots())) == ["noise  (200)"]


# ---------------------------------------- the tree


@given(SEEDS, st.sampled_from([0.0, 0.3, 1.0, np.inf]))
def test_hills_are_clusters_with_one_peak_per_mode(seed, level):
    tree = merge_tree(point_tree(*random_graph(seed)))
    found = layout_hills(tree, level)
    places = np.concatenate([hill.points for hill in found])
    assert_array_equal(np.sort(places), np.arange(len(tree.weights)))
    labels = tree.cut(min(level, 1e9))
    for hill in found:
        assert len(set(labels[hill.points])) == 1
        assert tree.row[hill.mode] in hill.points
        # no more peaks than modes: the outline of a hill rises and falls with the density
        heights = tree.point_tree.heights[hill.points]
        steps = np.sign(np.diff(heights))
        steps = steps[steps != 0]
        n_peaks = 1 + int(((steps[:-1] < 0) & (steps[1:] > 0)).sum())
        assert n_peaks <= np.isin(tree.row, hill.points).sum()


@pytest.mark.parametrize("heights", [[5.0, 2.0, 4.0], [5.0, 3.0, 2.0, 4.0, 3.5], [3.5, 4.0, 2.0, 5.0]])
def test_valley_between_two_peaks_is_visible(heights):
    path = np.column_stack([np.arange(len(heights) - 1), np.arange(1, len(heights))])
    [hill] = layout_hills(merge_tree(point_tree(heights, path, np.full(len(path), 9.0))), np.inf)
    outline = [heights[point] for point in hill.points]
    first, second = sorted((outline.index(5.0), outline.index(4.0)))
    assert min(outline[first:second]) == 2.0


def test_hills_are_on_both_sides_of_their_elder():
    # 9 meets 4 at 3, 5 at 2 and 6 at 1
    heights, edges = [9.0, 4.0, 5.0, 6.0], [[0, 1], [0, 2], [0, 3]]
    tree = merge_tree(point_tree(heights, edges, [3.0, 2.0, 1.0]))
    assert [int(tree.height[mode]) for mode in order_modes(tree, 4)] == [5, 9, 4, 6]


@given(SEEDS)
def test_lines_do_not_cross(seed):
    tree = merge_tree(point_tree(*random_graph(seed)))
    order = order_modes(tree, len(tree))
    assert sorted(order) == list(range(len(tree)))
    place = np.argsort(order)
    for mode in np.flatnonzero(tree.elder >= 0):
        low, high = sorted((place[mode], place[tree.elder[mode]]))
        for between in order[low + 1 : high]:
            # what stands between has ended above the line
            assert tree.saddle[between] >= tree.saddle[mode]


def test_lines_go_from_the_top_to_the_saddle_and_the_elder(ax):
    plot_tree(merge_tree(ROW), level=0.5, ax=ax)
    lines = {line.get_ydata()[0]: line for line in ax.lines}
    assert_allclose(lines[3.0].get_ydata(), [3.0, 2.0, 2.0])
    assert_allclose(lines[4.0].get_ydata(), [4.0, 1.0, 1.0])
    assert_allclose(lines[5.0].get_ydata(), [5.0, 1.0, 1.0])  # as far down as it is met
    for height in (3.0, 4.0):
        assert lines[height].get_xdata()[-1] == lines[5.0].get_xdata()[0]
    assert ax.get_ylim()[0] < 1.0
    assert ax.get_ylim()[1] > 5.0


def test_width_of_hills_is_their_weight(ax):
    plot_tree(merge_tree(ROW, weights=[1, 1, 1, 1, 7]), level=2.0, ax=ax)
    widths = {
        mpl.colors.to_hex(patch.get_facecolor()[0]).upper(): np.ptp(patch.get_paths()[0].vertices[:, 0])
        for patch in ax.collections
    }
    # the valley at 1 belongs to one of them
    assert widths.keys() == set(palette(2))
    assert sum(widths.values()) == pytest.approx(11)
    assert max(widths.values()) >= 7
    assert "2 hills with 1 minor mode" in texts(ax)


def test_each_hill_of_an_estimator_is_one_cluster(model, ax):
    plot_tree(model, ax=ax)
    colours = [mpl.colors.to_hex(patch.get_facecolor()[0]).upper() for patch in ax.collections]
    assert sorted(colours) == sorted(palette(3))


def test_sample_of_points_keeps_peaks_and_weights(model):
    whole = layout_hills(model.tree_, model.tree_.level)
    some = layout_hills(model.tree_, model.tree_.level, max_points=60)
    assert [hill.mode for hill in some] == [hill.mode for hill in whole]
    assert sum(len(hill.points) for hill in some) <= 60 + len(model.tree_)
    for hill, full in zip(some, whole, strict=True):
        assert model.tree_.inverse[model.tree_.row[hill.mode]] in hill.points
        assert hill.weights.sum() == pytest.approx(full.weights.sum())


def test_a_few_isolated_points_do_not_stretch_the_plot(ax):
    heights = np.r_[np.linspace(5, 4, 1000), -500.0]
    edges = np.column_stack([np.arange(1000), np.arange(1, 1001)])
    plot_tree(merge_tree(point_tree(heights, edges, heights[1:])), ax=ax)
    assert ax.get_ylim()[0] > 3


@pytest.mark.parametrize("rows", [np.zeros((1, 2)), np.eye(2), np.random.default_rng(0).normal(size=(10, 2))])
def test_few_points(rows):
    small = ModeSeek(random_state=0).fit(rows)
    for plot in (plot_prominence, plot_tree):
        ax = plot(small, ax=Figure().subplots())
        ax.figure.canvas.draw()
        assert legend(ax) == [f"0  ({len(rows)})"]
    figure = plot_alternatives(small, rows, figure=Figure())
    assert figure.axes[0].get_title(loc="left") == "chosen: 1 cluster"


def test_many_clusters_have_no_legend(ax):
    many = merge_tree(point_tree(np.arange(200.0), np.empty((0, 2)), []))
    plot_tree(many, ax=ax, level=1.0)
    assert ax.get_legend() is None
    ax.figure.canvas.draw()
    assert len({tuple(patch.get_facecolor()[0]) for patch in ax.collections}) == 200


# ---------------------------------------- alternatives


def candidate(labels, view="modes", stability=0.5):
    labels = np.asarray(labels)
    return Candidate(view, (7.0, 1.0), labels, len(set(labels.tolist())), stability, stability)


def test_chosen_partition_is_first_and_not_repeated(model):
    figure = plot_alternatives(model, X, figure=Figure())
    titles = [ax.get_title(loc="left") for ax in figure.axes]
    others = listed_alternatives(model)
    assert titles == ["chosen: 3 clusters", *(f"{each.n_clusters} clusters" for each in others)]
    for each, ax in zip((model.alternatives_[0], *others), figure.axes, strict=True):
        assert f"by {each.proposer}, expected agreement {each.expected_agreement:.2f}" in texts(ax)
    widths = [ax.spines["left"].get_linewidth() for ax in figure.axes]
    assert widths[0] > max(widths[1:])


def test_alternatives_are_mapped_to_rows_and_matched_in_color(model):
    twice = ModeSeek(random_state=0).fit(np.concatenate([X, X]))
    # distinct rows are in another order than the data
    points = np.empty(len(X), dtype=int)
    points[twice.tree_.inverse[: len(X)]] = np.arange(len(X))
    split = np.where(twice.labels_[:200] == 0, 0, 1)[points]
    twice.alternatives_ = [candidate(split, "communities", 0.25)]
    figure = plot_alternatives(twice, np.concatenate([X, X]), figure=Figure())
    panel = figure.axes[1]
    assert "by communities, expected agreement 0.25" in texts(panel)
    drawn, colours = np.asarray(panel.collections[0].get_offsets()), panel.collections[0].get_facecolors()
    assert len(drawn) == 400
    for row in range(0, 200, 20):
        [first, second] = np.flatnonzero((drawn == X[row]).all(axis=1))
        assert_array_equal(colours[first], colours[second])
        own = mpl.colors.to_rgb(palette(3)[0])
        assert (tuple(colours[first][:3]) == own) == (twice.labels_[row] == 0)


@pytest.mark.parametrize("n_features", [1, 2, 5])
def test_any_number_of_features(n_features):
    data, _ = make_blobs(60, n_features=n_features, centers=3, random_state=1)
    fitted = ModeSeek(random_state=0, min_clusters=2).fit(data)
    figure = plot_alternatives(fitted, data, figure=Figure())
    figure.canvas.draw()
    assert len(figure.axes[0].collections[0].get_offsets()) == 60


# ---------------------------------------- all of them


def test_bad_input(model):
    for plot in (plot_prominence, plot_tree):
        with pytest.raises(TypeError, match="source must be a MergeTree or a fitted ModeSeek; got list"):
            plot([1, 2])
        with pytest.raises(ValueError, match="level must be a finite number >= 0"):
            plot(model, level=-1.0)
        with pytest.raises(NotFittedError):
            plot(ModeSeek())
    with pytest.raises(NotFittedError):
        plot_alternatives(ModeSeek(), X)
    with pytest.raises(ValueError, match="X has 3 rows, but the estimator was fitted on 200"):
        plot_alternatives(model, X[:3])


def test_files_are_reproducible(model, tmp_path):
    for name in ("a", "b"):
        figure = Figure(layout="constrained")
        for plot, ax in zip((plot_prominence, plot_tree), figure.subplots(1, 2), strict=True):
            plot(model, ax=ax)
        save_figure(tmp_path / f"{name}.png", figure)
        save_figure(tmp_path / f"{name}.svg", plot_alternatives(model, X, figure=Figure()))
    for suffix in ("png", "svg"):
        assert (tmp_path / f"a.{suffix}").read_bytes() == (tmp_path / f"b.{suffix}").read_bytes()


def test_pyplot_is_used_only_without_axes():
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.switch_backend("agg")
    tree = merge_tree(ROW)
    for plot in (plot_prominence, plot_tree):
        ax = plot(tree)
        assert plt.gcf() is ax.figure
        plt.close(ax.figure)
    figure = plot_alternatives(ModeSeek().fit(np.eye(2)), np.eye(2))
    assert plt.gcf() is figure
    plt.close(figure)
