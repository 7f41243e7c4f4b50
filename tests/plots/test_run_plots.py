"""Plots of runs: trajectories, bandwidths and traces."""

import ast
import re

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.figure import Figure
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import make_blobs
from sklearn.exceptions import NotFittedError

from modeseek import BlurringMeanShift, DoublyStochasticMeanShift, MeanShift, ModeSeek, StochasticMeanShift
from modeseek.meanshift.bandwidth import Shrinking
from modeseek.meanshift.chains import (
    ChainResult,
    Outcome,
    Series,
    Stopping,
    Trace,
    as_record,
    make_problem,
    run,
    stochastic,
)
from modeseek.meanshift.types import ChainState
from modeseek.plots import (
    animation,
    palette,
    plot_bandwidths,
    plot_comparison,
    plot_trace,
    plot_trajectories,
    save_figure,
)
from modeseek.plots.sources import sample_rows
from modeseek.plots.trajectories import MAX_PATHS

X, _ = make_blobs([40, 30, 20], centers=[(0, 0), (6, 0), (0, 6)], random_state=0)


@pytest.fixture(scope="module")
def model():
    return DoublyStochasticMeanShift(0.5, 3.0, 1.2, record="all", random_state=0).fit(X)


@pytest.fixture
def ax():
    return Figure().subplots()


def texts(ax):
    return " | ".join(text.get_text().replace("\n", " ") for text in ax.texts)


def legend(ax):
    return [text.get_text() for text in ax.get_legend().texts]


def film_like(values, k=None):
    """A run with given snapshots."""
    values = np.asarray(values, dtype=float)
    k = np.arange(len(values)) * values.shape[1] if k is None else k
    state = ChainState(values[-1], 1.0, int(k[-1]), np.zeros(values.shape[1]))
    trace = Trace(h=Series(np.arange(1, 4), np.ones(3)), snapshots=Series(np.asarray(k), values))
    return ChainResult(state, Outcome.CERTIFIED, trace, len(values) - 1, 0.0)


# ---------------------------------------- trajectories


def test_paths_start_at_the_data_and_end_at_the_final_points(model, ax):
    assert plot_trajectories(model, title="ways", feature_names=["a", "b"], ax=ax) is ax
    paths = np.array(ax.collections[0].get_segments())
    assert paths.shape == (len(X), len(model.trace_.snapshots.k), 2)
    order = np.lexsort(paths[:, 0].T)
    assert_allclose(paths[order, 0], X[np.lexsort(X.T)], rtol=1e-9)
    assert_allclose(paths[order, -1], model.points_[np.lexsort(X.T)], rtol=1e-9)
    assert (ax.get_xlabel(), ax.get_title(loc="left")) == ("a", "ways")
    assert legend(ax) == [f"{label}  ({size})" for label, size in enumerate(np.bincount(model.labels_))]


def test_ends_have_the_colors_of_clusters(model, ax):
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
        assert ax.get_ylabel() == "number of updates"
        assert_allclose(ax.collections[0].get_segments()[0][:, 1], fitted.trace_.snapshots.k)
    else:
        assert "of variance" in ax.get_xlabel()


def test_note_states_that_paths_are_sampled(ax):
    n = 1_000_000
    values = np.random.default_rng(0).normal(size=(2, n, 2))
    labels = np.zeros(n, dtype=int)
    labels[-1] = 1
    plot_trajectories(film_like(values), labels=labels, ax=ax)
    assert len(ax.collections[0].get_segments()) == MAX_PATHS
    assert "2,000 of 1,000,000 paths drawn" in texts(ax)
    # the lone one is there
    assert len(np.unique(ax.collections[2].get_facecolors(), axis=0)) == 2
    assert legend(ax) == ["0  (999,999)", "1  (1)"]


def test_chain_result_has_one_color_without_labels(ax):
    chain = stochastic(make_problem(X), 2.0, seed=0)
    result = run(chain, Stopping(0.5), record=as_record("snapshots"))
    plot_trajectories(result, ax=ax)
    assert ax.get_legend() is None
    assert len(np.unique(ax.collections[2].get_facecolors(), axis=0)) == 1
    with pytest.raises(ValueError, match="labels must have one entry for each of the 90 points"):
        plot_trajectories(result, labels=[0], ax=ax)


def test_paths_of_noise_of_one_point_and_of_seeds():
    gone = BlurringMeanShift(1.0, min_cluster_size=1000, record="snapshots").fit(X)
    assert legend(plot_trajectories(gone, ax=Figure().subplots())) == ["noise  (90)"]
    one = BlurringMeanShift(1.0, record="all").fit([[1.0, 2.0]])
    plot_trajectories(one, ax=Figure().subplots()).figure.canvas.draw()
    plot_trace(one, figure=Figure()).canvas.draw()
    seeded = MeanShift(2.0, seeds=[[0.0, 0.0], [6.0, 0.0]], record="snapshots").fit(X)
    ax = plot_trajectories(seeded, ax=Figure().subplots())
    assert len(ax.collections[0].get_segments()) == 2


def test_sample_rows_has_each_cluster():
    labels = np.r_[np.zeros(10_000, int), np.arange(1, 50)]
    rows = sample_rows(labels, 100)
    assert len(rows) == len(set(rows)) == 100
    assert set(labels[rows]) == set(range(50))
    assert_array_equal(np.sort(sample_rows(labels[:5], 100)), np.arange(5))


# ---------------------------------------- bandwidths


def test_bandwidths_and_their_range(model, ax):
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
    assert ("h = 1.2 in all updates" in texts(ax)) == (policy == "constant")
    # lines: three of the range, and the walk's path
    assert len(ax.lines) == {"constant": 0, "walk": 4}.get(policy, 3)


class CoinToss:
    """The policy of docs/adding-a-bandwidth-policy.md."""

    h_0 = h_min = 0.5
    large = 2.0

    def draw(self, uniforms, h, k):
        return np.where(uniforms < 0.5, self.h_min, self.large)

    def upper(self, h, k):
        return self.large


def test_range_of_a_custom_policy(ax):
    plot_bandwidths(DoublyStochasticMeanShift(policy=CoinToss(), random_state=0).fit(X), ax=ax)
    band = ax.collections[0].get_paths()[0].vertices
    assert set(band[:, 1]) == {0.5, 2.0}
    assert "h_max 2" in texts(ax)


def test_labels_of_the_range_do_not_overlap(ax):
    plot_bandwidths(DoublyStochasticMeanShift(1.0, 9.0, 1.001, random_state=0).fit(X), ax=ax)
    places = [text.get_position()[1] for text in ax.texts if text.get_text().startswith("h_")]
    assert np.diff(places).min() > 0.3


def test_note_counts_the_draws_shown(model, ax):
    plot_bandwidths(model, ax=ax)
    path = model.trace_.h
    assert (f"{len(path.k):,} of {path.k[-1]:,} draws shown" in texts(ax)) == (len(path.k) < path.k[-1])
    assert ax.get_xlabel() == "update k"
    batches = StochasticMeanShift(1.2, batch_size=30, random_state=0).fit(X)
    assert plot_bandwidths(batches, ax=Figure().subplots()).get_xlabel() == "draw k"


# ---------------------------------------- the course


def test_trace_draws_recorded_quantities(model):
    figure = plot_trace(model, title="course", figure=Figure())
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


def test_some_quantities_on_given_axes(model):
    axes = Figure().subplots(1, 2)
    plot_trace(model, quantities=["gap", "clumps"], axes=axes)
    assert [ax.get_title(loc="left") for ax in axes] == ["gap between clumps", "number of clumps"]
    with pytest.raises(ValueError, match="axes must have one entry for each of gap, clumps, diameter; got 2"):
        plot_trace(model, quantities=["gap", "clumps", "diameter"], axes=axes)
    with pytest.raises(ValueError, match=r"quantities must be one of .*Did you mean 'clumps'\?"):
        plot_trace(model, quantities=["clump"], axes=axes)


def test_one_clump_has_no_gap():
    fitted = BlurringMeanShift(50.0, record=["gap", "diameter"]).fit(X)
    figure = plot_trace(fitted, figure=Figure())
    assert "no gap: there is one clump" in texts(figure.axes[1])
    figure.canvas.draw()


def test_mean_shift_has_no_limit_of_the_gap():
    figure = plot_trace(MeanShift(1.5, record="all").fit(X), figure=Figure())
    assert len(figure.axes) == 3
    assert figure.axes[2].get_legend() is None


# ---------------------------------------- all of them


@pytest.mark.parametrize("plot", [plot_trajectories, plot_trace, animation.animate])
def test_error_states_how_to_record(plot):
    plain = BlurringMeanShift(2.0).fit(X)
    with pytest.raises(ValueError, match=r"fit with record=\['") as caught:
        plot(plain)
    names = re.search(r"record=(\[.*?\])", str(caught.value)).group(1)
    plt.switch_backend("agg")
    drawn = plot(plain.set_params(record=ast.literal_eval(names)).fit(X))
    assert drawn is not None
    plt.gcf().canvas.draw()
    plt.close("all")
    by_hand = run(stochastic(make_problem(X), 2.0, seed=0), Stopping(0.5))
    with pytest.raises(ValueError, match=r"run with record=Record\("):
        plot(by_hand)


@pytest.mark.parametrize("plot", [plot_trajectories, plot_trace, plot_bandwidths, animation.animate])
def test_wrong_sources(plot):
    with pytest.raises(TypeError, match=r"source must be a fitted MeanShift, .*got ModeSeek"):
        plot(ModeSeek(random_state=0).fit(X))
    with pytest.raises(TypeError, match=r"or the ChainResult of a run; got list"):
        plot([1, 2])
    with pytest.raises(NotFittedError):
        plot(BlurringMeanShift())


def test_notes_name_the_first_of_several_chains():
    several = DoublyStochasticMeanShift(0.5, 3.0, 1.2, n_chains=3, record="all", random_state=0).fit(X)
    assert "first of 3 chains, colours by the consensus of all" in texts(
        plot_trajectories(several, ax=Figure().subplots())
    )
    assert "first of 3 chains" in texts(plot_bandwidths(several, ax=Figure().subplots()))
    assert "first of 3 chains" in plot_trace(several, figure=Figure()).get_supxlabel()


def test_files_are_reproducible(model, tmp_path):
    for name in ("a", "b"):
        figure = Figure(layout="constrained", figsize=(12, 4))
        axes = figure.subplots(1, 3)
        plot_trajectories(model, ax=axes[0])
        plot_bandwidths(model, ax=axes[1])
        plot_comparison(model, model, ax=axes[2])
        save_figure(tmp_path / f"{name}.png", figure)
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()
