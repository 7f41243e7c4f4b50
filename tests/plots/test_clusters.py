"""The plot of a clustering, and its files."""

import sys

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from numpy.testing import assert_allclose
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs
from sklearn.exceptions import NotFittedError
from sklearn.mixture import GaussianMixture

from modeseek import BlurringMeanShift, ModeSeek
from modeseek._storage.errors import DataError
from modeseek.plots import palette, plot_clusters, save_figure
from modeseek.plots.projection import MAX_EXACT_FEATURES, project
from modeseek.plots.style import file_figure

RNG = np.random.default_rng(0)
PLANE = RNG.normal(size=(60, 2))
LABELS = np.repeat([0, 1, -1], 20)


@pytest.fixture
def ax():
    return Figure().subplots()


def texts(ax):
    return " | ".join(text.get_text() for text in ax.texts)


def legend(ax):
    return [text.get_text() for text in ax.get_legend().texts]


def test_two_features(ax):
    assert plot_clusters(LABELS, PLANE, feature_names=["width", "height"], title="birds", ax=ax) is ax
    assert [ax.get_xlabel(), ax.get_ylabel(), ax.get_title(loc="left")] == ["width", "height", "birds"]
    assert legend(ax) == ["0  (20)", "1  (20)", "noise  (20)"]
    drawn = ax.collections[0].get_offsets()
    assert_allclose(sorted(drawn.tolist()), sorted(PLANE.tolist()))


def test_points_have_the_color_of_their_cluster(ax):
    plot_clusters(LABELS, PLANE, ax=ax)
    drawn, colours = np.asarray(ax.collections[0].get_offsets()), ax.collections[0].get_facecolors()
    for cluster, colour in [(0, palette(2)[0]), (1, palette(2)[1]), (-1, "#B4B4B4")]:
        for point in PLANE[cluster == LABELS]:
            row = np.flatnonzero((drawn == point).all(axis=1))
            assert_allclose(colours[row, :3], [mpl.colors.to_rgb(colour)])


def test_centers_are_marked(ax):
    plot_clusters(LABELS, PLANE, centers=[[0.5, 0.5], [1, 2]], ax=ax)
    assert_allclose(ax.collections[1].get_offsets(), [[0.5, 0.5], [1, 2]])
    assert "crosses: centres" in texts(ax)


@pytest.mark.parametrize("n_clusters", [2, 40])
def test_centers_leave_tight_clusters_visible(n_clusters, ax):
    # all points of a cluster coincide with its centre
    centers = np.c_[np.arange(n_clusters), np.arange(n_clusters) % 5].astype(float)
    labels = np.repeat(np.arange(n_clusters), 20)
    plot_clusters(labels, centers[labels], centers=centers, ax=ax)
    canvas = FigureCanvasAgg(ax.figure)
    canvas.draw()
    picture = np.asarray(canvas.buffer_rgba())[:, :, :3].astype(int)
    columns, rows = ax.transData.transform(centers).round().astype(int).T
    for color, found in zip(palette(n_clusters), picture[len(picture) - rows, columns], strict=True):
        assert np.abs(found - 255 * np.array(mpl.colors.to_rgb(color))).max() < 10


def test_principal_components(ax):
    X = RNG.normal(size=(200, 4)) * [10, 5, 1, 0.1] + 100
    plot_clusters(np.zeros(200, int), X, centers=X[:1], feature_names=list("abcd"), ax=ax)
    total = np.cov(X.T).trace()
    share = np.linalg.eigvalsh(np.cov(X.T))[::-1] / total
    assert ax.get_xlabel() == f"principal component 1 ({share[0]:.0%} of variance)"
    assert ax.get_ylabel() == f"principal component 2 ({share[1]:.0%} of variance)"
    # a centre that is a point lies on that point
    centre = np.asarray(ax.collections[1].get_offsets())
    assert np.abs(np.asarray(ax.collections[0].get_offsets()) - centre).sum(axis=1).min() < 1e-9


def test_projection_against_an_svd():
    X = RNG.normal(size=(50, 6)) * np.arange(1, 7)
    U, S, _ = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
    assert_allclose(np.abs(project(X, None).apply(X)), np.abs(U[:, :2] * S[:2]), atol=1e-9)


def test_very_many_features():
    X = np.zeros((30, MAX_EXACT_FEATURES + 1))
    X[:, 0], X[:, 1] = RNG.normal(size=30) * 10, RNG.normal(size=30)
    view = project(X, None)
    U, S, _ = np.linalg.svd(X[:, :2] - X[:, :2].mean(axis=0), full_matrices=False)  # the rest is zero
    assert_allclose(np.abs(view.apply(X)), np.abs(U * S), atol=1e-6)
    assert project(X[:1], None).apply(X[:1]).shape == (1, 2)


@pytest.mark.parametrize("n_features", [1, 2])
def test_outliers_do_not_squeeze_the_plot(n_features, ax):
    points = np.append(np.random.default_rng(0).normal(size=(300, 2)), [[0.0, 900.0], [800.0, 0.0]], axis=0)
    plot_clusters(np.zeros(302, dtype=int), points[:, :n_features], ax=ax)
    assert ax.get_xlim()[1] < 10
    assert ax.get_ylim()[1] < 100
    outside = n_features  # one for each direction
    assert sum(len(each.get_offsets()) for each in ax.collections if each.get_zorder() == 4) == outside
    assert any(f"triangles: {outside} point" in each.get_text() for each in ax.texts)


def test_one_feature(ax):
    values = np.r_[RNG.normal(size=50), RNG.normal(size=30) + 9][:, None]
    labels = np.repeat([0, 1], [50, 30])
    labels[:3] = -1
    plot_clusters(labels, values, centers=[[0.0], [9.0]], feature_names=["length"], ax=ax)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("length", "number of points")
    assert legend(ax) == ["0  (47)", "1  (30)", "noise  (3)"]
    # stacked: the last group's tops are the whole histogram
    assert sum(bar.get_height() for group in ax.containers for bar in group) == 80
    assert min(ax.get_yticks()) >= 0


@pytest.mark.parametrize("n_features", [1, 2, 3, 5])
@pytest.mark.parametrize("labels", [[0], [-1]])
def test_one_point(n_features, labels, ax):
    plot_clusters(labels, np.ones((1, n_features)), ax=ax)
    ax.figure.canvas.draw()


def test_all_points_are_noise_and_equal(ax):
    plot_clusters([-1] * 5, np.zeros((5, 3)), ax=ax)
    assert legend(ax) == ["noise  (5)"]
    assert "0% of variance" in ax.get_xlabel()


def test_many_clusters_have_a_note_instead_of_a_legend(ax):
    labels = np.r_[np.arange(40), -1, -1]
    plot_clusters(labels, RNG.normal(size=(42, 2)), ax=ax)
    assert ax.get_legend() is None
    assert "40 clusters, 2 noise points in grey" in texts(ax)


def test_note_states_that_points_are_sampled(ax):
    plot_clusters(np.zeros(50_001, int), RNG.normal(size=(50_001, 2)), ax=ax)
    assert len(ax.collections[0].get_offsets()) == 50_000
    assert "50,000 of 50,001 points drawn" in texts(ax)
    assert legend(ax) == ["0  (50,001)"]


def test_confidence_is_opacity(ax):
    plot_clusters([0, 0], PLANE[:2], confidence=[0, 1], ax=ax)
    assert np.ptp(ax.collections[0].get_facecolors()[:, 3]) > 0.5
    assert "faint: low confidence" in texts(ax)


def test_pyplot_figure_without_axes():
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.switch_backend("agg")
    ax = plot_clusters(LABELS, PLANE)
    assert plt.gcf() is ax.figure
    plt.close(ax.figure)


@pytest.mark.parametrize("n", [0, 1, 7, 8, 12, 13, 50, 200])
def test_palette_colors_differ(n):
    colours = palette(n)
    assert len(set(colours)) == n
    if n > 1:
        rgb = np.array([mpl.colors.to_rgb(colour) for colour in colours])
        distances = np.linalg.norm(rgb[:, None] - rgb[None], axis=2) + 9 * np.eye(n)
        assert distances.min() > (0.2 if n <= 12 else 0.01)


@pytest.mark.parametrize("suffix", [".png", ".svg", ".pdf"])
def test_files_are_reproducible(tmp_path, suffix):
    for name in ("a", "b"):
        save_figure(
            tmp_path / (name + suffix), plot_clusters(LABELS, PLANE, ax=file_figure().subplots(), title="birds").figure
        )
    first, second = ((tmp_path / (name + suffix)).read_bytes() for name in ("a", "b"))
    assert first == second
    assert first.startswith({".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF"}[suffix])


def test_saving_does_not_import_pyplot(tmp_path, monkeypatch):
    pyplot = sys.modules.get("matplotlib.pyplot", object())
    ours = [module for name, module in sys.modules.items() if name.startswith("modeseek")]
    assert not any(value is pyplot for module in ours for value in vars(module).values())
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)  # importing it is an error
    save_figure(tmp_path / "a.png", plot_clusters([0, 1], [[0, 0], [1, 1]], ax=file_figure().subplots()).figure)


def test_failures_leave_no_file(tmp_path):
    with pytest.raises(ValueError, match="labels must have one entry"):
        plot_clusters([0], PLANE, ax=file_figure().subplots())
    with pytest.raises(DataError, match=r"unknown ending '.pgn'. Did you mean '.png'\?"):
        save_figure(tmp_path / "a.pgn", plot_clusters(LABELS, PLANE, ax=file_figure().subplots()).figure)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"labels": [0, 1]}, "labels must have one entry for each of the 60 points"),
        ({"centers": [[0.0, 0.0, 0.0]]}, "centers has 3 features, but X has 2"),
        ({"confidence": np.full(60, 1.5)}, "confidence must be numbers in"),
        ({"confidence": [0.5]}, "confidence must have one entry"),
        ({"feature_names": ["a"]}, "feature_names must name the 2 features of X; got 1"),
        ({"X": np.full((60, 2), np.nan)}, "X contains NaN"),
    ],
)
def test_errors_name_the_argument(options, message, ax):
    arguments = {"X": PLANE, "labels": LABELS, "ax": ax, **options}
    with pytest.raises(ValueError, match=message):
        plot_clusters(arguments.pop("labels"), arguments.pop("X"), **arguments)


# ---------------------------------------- estimators, confidence and numbers

X, _ = make_blobs([40, 30, 20], centers=[(0, 0), (6, 0), (0, 6)], random_state=0)


def test_labels_centers_and_confidence_of_an_estimator(ax):
    found = ModeSeek(random_state=0).fit(X)
    plot_clusters(found, X, ax=ax)
    assert legend(ax)[:3] == [f"{label}  ({size})" for label, size in enumerate(np.bincount(found.labels_))]
    assert_allclose(ax.collections[1].get_offsets(), found.cluster_centers_)
    assert "faint: low confidence; crosses: centres" in texts(ax)


def test_any_estimator_with_labels(ax):
    plot_clusters(KMeans(3, n_init=1, random_state=0).fit(X), X, ax=ax)
    assert len(legend(ax)) == 3
    assert len(ax.collections[1].get_offsets()) == 3
    with pytest.raises(TypeError, match="GaussianMixture has no labels_: pass labels"):
        plot_clusters(GaussianMixture(2).fit(X), X, ax=ax)
    with pytest.raises(NotFittedError):
        plot_clusters(ModeSeek(), X, ax=ax)


def test_feature_names_of_an_estimator(ax):
    frame = pytest.importorskip("pandas").DataFrame(X, columns=["width", "height"])
    plot_clusters(BlurringMeanShift(2.0).fit(frame), frame, ax=ax)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("width", "height")


@pytest.mark.parametrize("n_features", [1, 2])
def test_doubtful_points_have_a_ring_and_are_drawn_last(n_features, ax):
    confidence = np.full(len(X), 0.9)
    confidence[[3, 50]] = 0.4
    confidence[7], labels = 0.0, np.repeat([0, 1, -1], 30)
    labels[7] = -1  # noise is in no doubt
    plot_clusters(labels, X[:, :n_features], confidence=confidence, ax=ax)
    points = ax.collections[0]
    widths = points.get_linewidths()
    assert min(widths[-2:]) > max(widths[:-2])
    assert_allclose(sorted(points.get_offsets()[-2:, 0]), sorted(X[[3, 50], 0]))
    assert_allclose(points.get_edgecolors()[-1][:3], mpl.colors.to_rgb("#333333"))
    assert legend(ax)[-1] == "confidence < 0.75  (2)"


def test_threshold_of_doubtful_points(ax):
    confidence = np.linspace(0, 1, len(X))
    plot_clusters(np.zeros(len(X), int), X, confidence=confidence, doubtful=0.5, ax=ax)
    assert legend(ax)[-1] == f"confidence < 0.5  ({(confidence < 0.5).sum()})"
    other = plot_clusters(np.zeros(len(X), int), X, confidence=confidence, doubtful=None, ax=Figure().subplots())
    assert legend(other) == [f"0  ({len(X)})"]
    with pytest.raises(ValueError, match="doubtful must be a finite number"):
        plot_clusters(np.zeros(len(X), int), X, doubtful=-1, ax=ax)


@pytest.mark.parametrize("n_features", [1, 2, 5])
def test_two_hundred_clusters_have_numbers(n_features, ax):
    labels = np.repeat(np.arange(200), 5)
    points = np.random.default_rng(0).normal(size=(200, n_features))[labels] * 100
    plot_clusters(labels, points, confidence=np.full(1000, 0.5), centers=points[::5], ax=ax)
    ax.figure.canvas.draw()
    numbers = [text.get_text() for text in ax.texts if text.get_text().isdigit()]
    assert len(numbers) == len(set(numbers)) > 10
    assert f"200 clusters; {len(numbers)} of the largest numbered; ringed: confidence < 0.75" in texts(ax)


def test_long_notes_are_wrapped(ax):
    plot_clusters(np.r_[np.arange(89), -1], X, confidence=np.full(90, 0.5), title="long", ax=ax)
    note = ax.texts[-1].get_text()
    assert len(note.splitlines()) == 2
    assert max(map(len, note.splitlines())) < 80


def test_the_largest_clusters_are_numbered_first(ax):
    labels = np.r_[np.zeros(50, int), np.arange(1, 30)]
    plot_clusters(labels, np.zeros((len(labels), 2)), ax=ax)  # all in one place: there is room for one
    assert [text.get_text() for text in ax.texts if text.get_text().isdigit()] == ["0"]
