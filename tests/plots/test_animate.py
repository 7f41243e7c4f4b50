"""Animations: frames, texts, and files that appear only when complete."""

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.animation import FFMpegWriter
from numpy.testing import assert_allclose
from PIL import Image
from test_run_plots import film_like

from modeseek import BlurringMeanShift, DoublyStochasticMeanShift
from modeseek._storage.errors import DataError
from modeseek.datasets import paper_mixture
from modeseek.plots import animate, animation

X, _ = paper_mixture(15, random_state=0)


@pytest.fixture(scope="module")
def model():
    return DoublyStochasticMeanShift(0.4, 1.8, 0.9, record=["snapshots"], random_state=0).fit(X)


@pytest.fixture
def plt():
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pyplot.switch_backend("agg")
    yield pyplot
    pyplot.close("all")


def test_gif(model, tmp_path):
    path = tmp_path / "a.gif"
    assert animate(model, path, seconds=1, title="Settling") is None
    with Image.open(path) as film:
        assert film.info["loop"] == 0
        assert film.n_frames > 8
        first = np.asarray(film.convert("RGB")).astype(int)
        film.seek(film.n_frames - 1)
        assert film.info["duration"] >= 1000  # the end stays
        assert np.abs(np.asarray(film.convert("RGB")).astype(int) - first).max() > 100
    assert [file.name for file in tmp_path.iterdir()] == ["a.gif"]
    animate(model, tmp_path / "b.gif", seconds=1, title="Settling")
    assert path.read_bytes() == (tmp_path / "b.gif").read_bytes()


def test_without_a_path_the_animation_is_returned(model, plt):
    film = animate(model, seconds=1, feature_names=["width", "height"])
    ax = plt.gcf().axes[0]
    plt.gcf().canvas.draw()
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("width", "height")
    frames = list(film.new_frame_seq())
    assert frames[0] == 0
    assert frames[-1] == len(model.trace_.snapshots.k) - 1
    points, words = film._func(frames[0])
    assert_allclose(np.sort(points.get_offsets(), axis=0), np.sort(X, axis=0))
    assert words.get_text().split()[:2] == ["update", "0"]
    film._func(frames[-1])
    assert_allclose(np.sort(points.get_offsets(), axis=0), np.sort(model.points_, axis=0))
    assert f"{model.n_clusters_} clusters" in words.get_text()
    assert f"{model.n_updates_:,}" in words.get_text()
    assert f"h = {model.trace_.h.values[-1]:.3g}" in words.get_text()


def test_note_states_that_points_are_sampled(plt):
    values = np.random.default_rng(0).normal(size=(2, 1_000_000, 2))
    film = animate(film_like(values), seconds=0.2)
    ax = plt.gcf().axes[0]
    plt.gcf().canvas.draw()
    assert "4,000 of 1,000,000 points drawn" in " ".join(text.get_text() for text in ax.texts)
    assert len(film._func(0.0)[0].get_offsets()) == 4000


@pytest.mark.parametrize("rows", [X[:1], X[:2], X[:, :1], np.random.default_rng(0).normal(size=(20, 300))])
def test_few_points_noise_and_many_features(rows, tmp_path):
    for options in ({}, {"min_cluster_size": 1000}):
        fitted = BlurringMeanShift(record="snapshots", **options).fit(rows)
        animate(fitted, tmp_path / "a.gif", seconds=0.2)
        assert (tmp_path / "a.gif").read_bytes()[:3] == b"GIF"


def test_most_frames_show_movement():
    places = np.array([0.0, 0.0, 0.0, 9.0, 9.0])[:, None, None]
    times = animation._frame_times(places, 100)
    assert (np.diff(times) >= 0).all()
    assert ((times > 2) & (times < 3)).sum() > 80
    assert times[-1] == 4


def test_mp4_needs_ffmpeg(model, tmp_path, monkeypatch):
    monkeypatch.setattr(FFMpegWriter, "isAvailable", classmethod(lambda cls: False))
    with pytest.raises(DataError, match=r"\.mp4 needs the program ffmpeg.*conda install ffmpeg.*ends in \.gif"):
        animate(model, tmp_path / "a.mp4")
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(not FFMpegWriter.isAvailable(), reason="there is no ffmpeg")
def test_mp4(model, tmp_path):
    animate(model, tmp_path / "a.mp4", seconds=0.5)
    assert b"ftyp" in (tmp_path / "a.mp4").read_bytes()[:16]


def test_failures_leave_no_file(model, tmp_path, monkeypatch):
    with pytest.raises(DataError, match=r"unknown ending '.giff'. Did you mean '.gif'\?"):
        animate(model, tmp_path / "a.giff")
    with pytest.raises(DataError, match="there is no folder"):
        animate(model, tmp_path / "there" / "a.gif")
    with pytest.raises(ValueError, match="seconds must be a finite number > 0"):
        animate(model, tmp_path / "a.gif", seconds=0)

    def broken(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(animation, "_write_gif", broken)
    with pytest.raises(KeyboardInterrupt):
        animate(model, tmp_path / "a.gif")
    assert not list(tmp_path.iterdir())
    assert mpl.is_interactive() is False
