"""Pictures of runs, scales and several partitions: what they show, what they say, and ugly data."""

import ast
import re

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.figure import Figure
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs
from sklearn.exceptions import NotFittedError
from sklearn.mixture import GaussianMixture

from modeseek import BlurringMeanShift, DoublyStochasticMeanShift, MeanShift, ModeSeek, StochasticMeanShift
from modeseek.bandwidth import Shrinking
from modeseek.chain import ChainResult, Outcome, Series, Stopping, Trace, as_record, run, setting, stochastic
from modeseek.estimators import BandwidthSweep, sweep_bandwidths
from modeseek.plots import (
    animation,
    palette,
    plot_bandwidths,
    plot_clusters,
    plot_coassociation,
    plot_comparison,
    plot_course,
    plot_scales,
    plot_trajectories,
    save_figure,
)
from modeseek.plots.trajectories import MOST_PATHS
from modeseek.plots.watched import some_rows
from modeseek.prominence import mode_tree, scale_tree
from modeseek.types import ChainState

X, _ = make_blobs([40, 30, 20], centers=[(0, 0), (6, 0), (0, 6)], random_state=0)


@pytest.fixture(scope="module")
def model():
    return DoublyStochasticMeanShift(0.5, 3.0, 1.2, record="all", random_state=0).fit(X)


@pytest.fixture
def ax():
    return Figure().subplots()


def texts(ax):
    return " | ".join(text.get_text() for text in ax.texts)


def legend(ax):
    return [text.get_text() for text in ax.get_legend().texts]


def film_like(values, k=None):
    """A run with given snapshots."""
    values = np.asarray(values, dtype=float)
    k = np.arange(len(values)) * values.shape[1] if k is None else k
    state = ChainState(values[-1], 1.0, int(k[-1]), np.zeros(values.shape[1]))
    trace = Trace(h=Series(np.arange(1, 4), np.ones(3)), snapshots=Series(np.asarray(k), values))
    return ChainResult(state, Outcome.CERTIFIED, trace, len(values) - 1, 0.0)


# ---------------------------------------- clusters


def test_an_estimator_brings_labels_centres_and_confidence(ax):
    found = ModeSeek(random_state=0).fit(X)
    plot_clusters(X, found, ax=ax)
    assert legend(ax)[:3] == [f"{label}  ({size})" for label, size in enumerate(np.bincount(found.labels_))]
    assert_allclose(ax.collections[1].get_offsets(), found.cluster_centers_)
    assert "less certain" in texts(ax)


def test_any_estimator_with_labels(ax):
    plot_clusters(X, KMeans(3, n_init=1, random_state=0).fit(X), ax=ax)
    assert len(legend(ax)) == 3
    assert len(ax.collections[1].get_offsets()) == 3
    with pytest.raises(TypeError, match="GaussianMixture has no labels_: give labels"):
        plot_clusters(X, GaussianMixture(2).fit(X), ax=ax)
    with pytest.raises(NotFittedError):
        plot_clusters(X, ModeSeek(), ax=ax)


def test_names_of_features_come_with_the_estimator(ax):
    frame = pytest.importorskip("pandas").DataFrame(X, columns=["width", "height"])
    plot_clusters(frame, BlurringMeanShift(2.0).fit(frame), ax=ax)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("width", "height")


@pytest.mark.parametrize("n_features", [1, 2])
def test_points_in_doubt_have_a_ring_and_are_drawn_last(n_features, ax):
    confidence = np.full(len(X), 0.9)
    confidence[[3, 50]] = 0.4
    confidence[7], labels = 0.0, np.repeat([0, 1, -1], 30)
    labels[7] = -1  # noise is in no doubt
    plot_clusters(X[:, :n_features], labels, confidence=confidence, ax=ax)
    points = ax.collections[0]
    widths = points.get_linewidths()
    assert min(widths[-2:]) > max(widths[:-2])
    assert_allclose(sorted(points.get_offsets()[-2:, 0]), sorted(X[[3, 50], 0]))
    assert_allclose(points.get_edgecolors()[-1][:3], mpl.colors.to_rgb("#333333"))
    assert legend(ax)[-1] == "confidence < 0.75  (2)"


def test_the_threshold_of_doubt(ax):
    confidence = np.linspace(0, 1, len(X))
    plot_clusters(X, np.zeros(len(X), int), confidence=confidence, doubtful=0.5, ax=ax)
    assert legend(ax)[-1] == f"confidence < 0.5  ({(confidence < 0.5).sum()})"
    other = plot_clusters(X, np.zeros(len(X), int), confidence=confidence, doubtful=None, ax=Figure().subplots())
    assert legend(other) == [f"0  ({len(X)})"]
    with pytest.raises(ValueError, match="doubtful must be a finite number"):
        plot_clusters(X, np.zeros(len(X), int), doubtful=-1, ax=ax)


@pytest.mark.parametrize("n_features", [1, 2, 5])
def test_two_hundred_clusters_have_numbers(n_features, ax):
    labels = np.repeat(np.arange(200), 5)
    points = np.random.default_rng(0).normal(size=(200, n_features))[labels] * 100
    plot_clusters(points, labels, confidence=np.full(1000, 0.5), centers=points[::5], ax=ax)
    ax.figure.canvas.draw()
    numbers = [text.get_text() for text in ax.texts if text.get_text().isdigit()]
    assert len(numbers) == len(set(numbers)) > 10
    assert f"200 clusters; {len(numbers)} of the largest numbered; ringed: confidence < 0.75  (1,000)" in texts(ax)


def test_the_largest_clusters_are_numbered_first(ax):
    labels = np.r_[np.zeros(50, int), np.arange(1, 30)]
    plot_clusters(np.zeros((len(labels), 2)), labels, ax=ax)  # all in one place: there is room for one
    assert [text.get_text() for text in ax.texts if text.get_text().isdigit()] == ["0"]


# ---------------------------------------- trajectories


def test_paths_go_from_the_data_to_the_ends(model, ax):
    assert plot_trajectories(model, title="ways", feature_names=["a", "b"], ax=ax) is ax
    paths = np.array(ax.collections[0].get_segments())
    assert paths.shape == (len(X), len(model.trace_.snapshots.k), 2)
    order = np.lexsort(paths[:, 0].T)
    assert_allclose(paths[order, 0], X[np.lexsort(X.T)], rtol=1e-9)
    assert_allclose(paths[order, -1], model.points_[np.lexsort(X.T)], rtol=1e-9)
    assert (ax.get_xlabel(), ax.get_title(loc="left")) == ("a", "ways")
    assert legend(ax) == [f"{label}  ({size})" for label, size in enumerate(np.bincount(model.labels_))]


def test_ends_have_the_colours_of_clusters(model, ax):
    plot_trajectories(model, ax=ax)
    ends = ax.collections[2]
    for place, colour in zip(ends.get_offsets(), ends.get_facecolors(), strict=True):
        row = np.linalg.norm(model.points_ - place, axis=1).argmin()
        assert_allclose(colour[:3], mpl.colors.to_rgb(palette(model.n_clusters_)[model.labels_[row]]))


@pytest.mark.parametrize("n_features", [1, 3, 300])
def test_paths_in_other_dimensions(n_features, ax):
    data = np.random.default_rng(0).normal(size=(30, n_features))
    fitted = BlurringMeanShift(record="snapshots").fit(data)
    plot_trajectories(fitted, ax=ax)
    ax.figure.canvas.draw()
    assert len(ax.collections[0].get_segments()) == 30
    if n_features == 1:
        assert ax.get_ylabel() == "updates"
        assert_allclose(ax.collections[0].get_segments()[0][:, 1], fitted.trace_.snapshots.k)
    else:
        assert "of variance" in ax.get_xlabel()


def test_a_million_points_are_sampled_and_the_picture_says_so(ax):
    n = 1_000_000
    values = np.random.default_rng(0).normal(size=(2, n, 2))
    labels = np.zeros(n, dtype=int)
    labels[-1] = 1
    plot_trajectories(film_like(values), labels=labels, ax=ax)
    assert len(ax.collections[0].get_segments()) == MOST_PATHS
    assert "2,000 of 1,000,000 paths drawn" in texts(ax)
    # the lone one is there
    assert len(np.unique(ax.collections[2].get_facecolors(), axis=0)) == 2
    assert legend(ax) == ["0  (999,999)", "1  (1)"]


def test_a_run_by_hand_has_one_colour_unless_told(ax):
    chain = stochastic(setting(X), 2.0, seed=0)
    result = run(chain, Stopping(0.5), record=as_record("snapshots"))
    plot_trajectories(result, ax=ax)
    assert ax.get_legend() is None
    assert len(np.unique(ax.collections[2].get_facecolors(), axis=0)) == 1
    with pytest.raises(ValueError, match="labels must have one entry for each of the 90 points"):
        plot_trajectories(result, labels=[0], ax=ax)


def test_noise_only_one_point_and_seeds():
    gone = BlurringMeanShift(1.0, min_cluster_size=1000, record="snapshots").fit(X)
    assert legend(plot_trajectories(gone, ax=Figure().subplots())) == ["noise  (90)"]
    one = BlurringMeanShift(1.0, record="all").fit([[1.0, 2.0]])
    plot_trajectories(one, ax=Figure().subplots()).figure.canvas.draw()
    plot_course(one, figure=Figure()).canvas.draw()
    seeded = MeanShift(2.0, seeds=[[0.0, 0.0], [6.0, 0.0]], record="snapshots").fit(X)
    ax = plot_trajectories(seeded, ax=Figure().subplots())
    assert len(ax.collections[0].get_segments()) == 2


def test_some_rows_have_one_of_each():
    labels = np.r_[np.zeros(10_000, int), np.arange(1, 50)]
    rows = some_rows(labels, 100)
    assert len(rows) == len(set(rows)) == 100
    assert set(labels[rows]) == set(range(50))
    assert_array_equal(np.sort(some_rows(labels[:5], 100)), np.arange(5))


# ---------------------------------------- bandwidths


def test_the_path_the_range_and_where_it_closes(model, ax):
    plot_bandwidths(model, title="h", ax=ax)
    points = ax.collections[-1].get_offsets()
    assert_allclose(points[:, 1], model.trace_.h.values)
    assert ax.get_xscale() == "log"
    assert texts(ax).endswith("h_min 0.5 | h_inf 1.2 | h_max 3")
    band = ax.collections[0].get_paths()[0].vertices
    policy = Shrinking(0.5, 3.0, 1.2)
    last = int(model.trace_.h.k[-1])
    # the band at the last draw is what that draw came from
    high = band[band[:, 0] == last, 1].max()
    assert high == pytest.approx(policy.upper(1.2, last - 1))
    inside = np.interp(points[:, 0], *np.unique(band[band[:, 1] > 1.2], axis=0).T)
    assert (points[:, 1] <= inside + 0.02).all()


@pytest.mark.parametrize("policy", ["walk", "uniform", "anchored", "constant"])
def test_other_policies(policy, ax):
    fitted = DoublyStochasticMeanShift(0.5, 3.0, 1.2, policy=policy, random_state=0).fit(X)
    plot_bandwidths(fitted, ax=ax)
    ax.figure.canvas.draw()
    assert ("h_inf 1.2" in texts(ax)) == (policy != "constant")
    assert ("h = 1.2 throughout" in texts(ax)) == (policy == "constant")
    # lines: three of the range, and the walk's path
    assert len(ax.lines) == {"constant": 0, "walk": 4}.get(policy, 3)


def test_names_of_close_ends_do_not_overlap(ax):
    plot_bandwidths(DoublyStochasticMeanShift(1.0, 9.0, 1.001, random_state=0).fit(X), ax=ax)
    places = [text.get_position()[1] for text in ax.texts if text.get_text().startswith("h_")]
    assert np.diff(places).min() > 0.3


def test_draws_that_were_dropped_are_said(model, ax):
    plot_bandwidths(model, ax=ax)
    path = model.trace_.h
    assert (f"{len(path.k):,} of {path.k[-1]:,} draws" in texts(ax)) == (len(path.k) < path.k[-1])
    assert ax.get_xlabel() == "update k"
    batches = StochasticMeanShift(1.2, batch_size=30, random_state=0).fit(X)
    assert plot_bandwidths(batches, ax=Figure().subplots()).get_xlabel() == "draw k"


# ---------------------------------------- the course


def test_the_course_has_what_was_recorded(model):
    figure = plot_course(model, title="course", figure=Figure())
    assert [ax.get_title(loc="left") for ax in figure.axes] == [
        "objective L_h",
        "number of clumps",
        "diameter of the widest clump",
        "gap between clumps",
    ]
    for ax, name in zip(figure.axes, ("objective", "clumps", "diameter", "gap"), strict=True):
        series = getattr(model.trace_, name)
        line = ax.lines[0]
        assert_array_equal(line.get_xdata(), series.k)
        known = np.isfinite(line.get_ydata())
        assert_allclose(line.get_ydata()[known], series.values[known])
    assert model.outcome_.value in figure.get_supxlabel()
    assert figure.get_suptitle() == "course"
    assert legend(figure.axes[2]) == ["tau = 0.125"]
    # certified: at the end the gap is above its line
    gap, bound = (line.get_ydata()[-1] for line in figure.axes[3].lines)
    assert gap > bound


def test_some_quantities_on_axes_of_ones_own(model):
    axes = Figure().subplots(1, 2)
    plot_course(model, quantities=["gap", "clumps"], axes=axes)
    assert [ax.get_title(loc="left") for ax in axes] == ["gap between clumps", "number of clumps"]
    with pytest.raises(ValueError, match="axes must be one for each of gap, clumps, diameter; got 2"):
        plot_course(model, quantities=["gap", "clumps", "diameter"], axes=axes)
    with pytest.raises(ValueError, match=r"quantities must be one of .*Did you mean 'clumps'\?"):
        plot_course(model, quantities=["clump"], axes=axes)


def test_one_clump_has_no_gap():
    fitted = BlurringMeanShift(50.0, record=["gap", "diameter"]).fit(X)
    figure = plot_course(fitted, figure=Figure())
    assert "one clump: no gap" in texts(figure.axes[1])
    figure.canvas.draw()


def test_mean_shift_has_no_certificate_to_draw():
    figure = plot_course(MeanShift(1.5, record="all").fit(X), figure=Figure())
    assert len(figure.axes) == 3
    assert figure.axes[2].get_legend() is None


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
    figure = plot_scales(
        BandwidthSweep(np.array([1.0, 2.0, 4.0, 8.0, 16.0]), np.zeros((5, 1)), np.array([60, 3, 3, 1, 1])),
        title="scales",
        figure=Figure(),
    )
    above, below = figure.axes
    assert above.get_title(loc="left") == "scales"
    assert (above.get_xscale(), above.get_yscale()) == ("log", "log")
    assert "3 clusters" in texts(above)
    assert "one cluster" in texts(below)
    stairs = above.patches[0].get_data()
    assert_array_equal(stairs.values, [60, 3, 1])
    assert_allclose(stairs.edges, [1.0, 2**0.5, 2**2.5, 16.0])
    tops = [patch.get_paths()[0].vertices[:, 1].max() for patch in below.collections]
    assert_allclose(tops[:2], [2**0.5, 4.0])  # the lifetimes


def test_scales_of_a_tree():
    # peaks of 5, 4 and 3 with saddles at 1 and 2
    tree = scale_tree(mode_tree([5.0, 2.0, 3.0, 1.0, 4.0], [[0, 1], [1, 2], [2, 3], [3, 4]], [2, 2, 1, 1]), level=2.0)
    above, below = plot_scales(tree, figure=Figure()).axes
    stairs = above.patches[0].get_data()
    assert_array_equal(stairs.values, [3, 2, 1])
    assert_allclose(stairs.edges[:3], [0.0, 1.0, 3.0])
    assert tree.cut(2.0).max() + 1 == 2
    assert "chosen" in texts(above)
    assert below.get_ylabel() == "lifetime (difference)"
    for rows in (X, X[:1], X[:2]):
        plot_scales(ModeSeek(random_state=0).fit(rows), figure=Figure()).canvas.draw()


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
    assert "2 of 10 points moved (20%)" in texts(ax)
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
    assert "1 of 4 points moved" in texts(ax)
    assert "noise  (2)" in texts(ax)
    assert "noise  (1)" in texts(ax)
    for one, other in (([-1, -1], [0, 1]), ([0, 1], [-1, -1]), ([0], [0]), (["a", "b"], ["b", "-1"])):
        plot_comparison(one, other, ax=Figure().subplots()).figure.canvas.draw()


def test_the_same_partition_under_other_names(ax):
    labels = np.random.default_rng(0).integers(0, 5, 100)
    plot_comparison(labels, np.array(list("vwxyz"))[labels], ax=ax)
    assert "0 of 100 points moved (0%)" in texts(ax)


@pytest.mark.parametrize("n", [40, 200])
def test_many_clusters_become_a_matrix_with_a_diagonal(n, ax):
    rng = np.random.default_rng(0)
    first = np.concatenate([np.arange(n), rng.integers(0, n, 4000)])
    second = rng.permutation(n)[first]
    plot_comparison(first, second, ax=ax)
    assert_allclose(ax.images[0].get_array(), np.eye(n))
    assert f"0 of {n + 4000:,} points moved" in texts(ax)
    assert len(ax.get_xticks()) <= 20


def test_counts_stand_in_a_small_matrix(ax):
    plot_comparison([0, 0, 0, 1], [1, 1, 0, 0], kind="matrix", ax=ax)
    assert sorted(text.get_text() for text in ax.texts[1:]) == ["1", "1", "2"]


def test_estimators_are_compared(ax, model):
    plot_comparison(model, KMeans(3, n_init=1, random_state=0).fit(X), ax=ax)
    assert "of 90 points moved" in texts(ax)


def test_a_comparison_of_a_million(ax):
    labels = np.random.default_rng(0).integers(-1, 10, 1_000_000)
    plot_comparison(labels, (labels + 2) // 2, ax=ax)
    ax.figure.canvas.draw()


def test_bad_comparisons():
    with pytest.raises(ValueError, match="first has 2 labels and second has 3: give labels of the same points"):
        plot_comparison([0, 1], [0, 1, 2])
    with pytest.raises(ValueError, match="second must have one label for each point"):
        plot_comparison([0, 1], [[0, 1]])
    with pytest.raises(ValueError, match=r"kind must be one of 'auto', 'flow', 'matrix'.*Did you mean 'flow'"):
        plot_comparison([0], [0], kind="flows")
    with pytest.raises(ValueError, match="names must be two"):
        plot_comparison([0], [0], names="both")


# ---------------------------------------- all of them


@pytest.mark.parametrize("plot", [plot_trajectories, plot_course, animation.animate])
def test_what_was_not_recorded_is_said_with_what_to_type(plot):
    plain = BlurringMeanShift(2.0).fit(X)
    with pytest.raises(ValueError, match=r"fit with record=\['") as caught:
        plot(plain)
    names = re.search(r"record=(\[.*?\])", str(caught.value)).group(1)
    plt.switch_backend("agg")
    drawn = plot(plain.set_params(record=ast.literal_eval(names)).fit(X))
    assert drawn is not None
    plt.gcf().canvas.draw()
    plt.close("all")
    by_hand = run(stochastic(setting(X), 2.0, seed=0), Stopping(0.5))
    with pytest.raises(ValueError, match=r"run with record=Record\("):
        plot(by_hand)


@pytest.mark.parametrize("plot", [plot_trajectories, plot_course, plot_bandwidths, animation.animate])
def test_wrong_sources(plot):
    with pytest.raises(TypeError, match="source must have run a chain, and ModeSeek runs none"):
        plot(ModeSeek(random_state=0).fit(X))
    with pytest.raises(TypeError, match=r"source must be a fitted estimator of modeseek or the ChainResult.*got list"):
        plot([1, 2])
    with pytest.raises(NotFittedError):
        plot(BlurringMeanShift())


def test_several_chains_say_whose_path_it_is():
    several = DoublyStochasticMeanShift(0.5, 3.0, 1.2, n_chains=3, record="all", random_state=0).fit(X)
    assert "first chain, colours by what 3 chains agree on" in texts(plot_trajectories(several, ax=Figure().subplots()))
    assert "the first of 3 chains" in texts(plot_bandwidths(several, ax=Figure().subplots()))
    assert "the first of 3 chains" in plot_course(several, figure=Figure()).get_supxlabel()


def test_the_same_picture_is_the_same_file(model, tmp_path):
    for name in ("a", "b"):
        figure = Figure(layout="constrained", figsize=(12, 4))
        axes = figure.subplots(1, 3)
        plot_trajectories(model, ax=axes[0])
        plot_bandwidths(model, ax=axes[1])
        plot_comparison(model, model, ax=axes[2])
        save_figure(tmp_path / f"{name}.png", figure)
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()
