"""The explorer without a browser: data, settings, runs in pieces, threads, sweeps and exports."""

from __future__ import annotations

import csv
import io
import socket
import subprocess
import sys
import time

import numpy as np
import pytest

from modeseek._storage import DataError
from modeseek.datasets import paper_mixture
from modeseek.explorer import EXAMPLES, Live, Run, Settings, Subject, estimator_of, example, from_bytes, read_settings
from modeseek.explorer import data as data_module
from modeseek.explorer.clumps import SLOTS, Tracker
from modeseek.explorer.export import labels_csv, picture, python_code, stem
from modeseek.explorer.history import MOST, History
from modeseek.explorer.sweep import Sweep, settings_at
from modeseek.selection.bandwidths import Range

MIXTURE = "the paper's mixture (150 points)"
RANGE = {"h_min": 0.2, "h_inf": 0.6, "h_max": 1.6}
ALL = [
    Settings("dsms", **RANGE),
    Settings("dsms", **RANGE, policy="walk", seed=3),
    Settings("dsms", h_max=1.6),
    Settings("dsms", metric="cosine"),
    Settings("dsms", **RANGE, chains=4),
    Settings("sms", bandwidth=0.6, profile="triweight"),
    Settings("sms"),
    Settings("bms", bandwidth=0.6),
    Settings("ms", bandwidth=0.9),
    Settings("ms", bandwidth=0.9, profile="flat"),
    Settings("modeseek"),
]


@pytest.fixture(scope="module")
def subject():
    data = example(MIXTURE)
    return Subject.of(data, data.features, standardise=False)


def finished(subject, settings):
    run = Run(subject, settings)
    for _ in range(100_000):
        run.advance()
        if run.result is not None:
            return run
    raise AssertionError("it never ended")


# ---------------------------------------- runs


@pytest.mark.parametrize("settings", ALL, ids=str)
def test_a_run_in_pieces_ends_where_the_estimator_does(subject, settings):
    run = finished(subject, settings)
    model = estimator_of(settings).fit(subject.X)
    assert run.result.labels.tolist() == model.labels_.tolist()
    assert run.result.n_clusters == model.n_clusters_
    np.testing.assert_allclose(run.result.centers, model.cluster_centers_)
    if hasattr(model, "confidence_"):
        np.testing.assert_array_equal(run.result.confidence, model.confidence_)
    if settings.algorithm in ("dsms", "sms", "bms"):
        assert run.result.updates == model.n_updates_
        assert model.outcome_.value in run.result.message


def test_points_move_piece_by_piece_and_the_count_falls(subject):
    run = Run(subject, Settings("dsms", **RANGE))
    start = run.frame
    run.advance()
    assert 0 < run.frame.sweeps < 1
    assert run.between
    assert run.frame.updates == 19  # an eighth of 150, rounded up
    assert 0 < (run.frame.places != start.places).any(axis=1).sum() <= 19
    run.advance(whole=True)
    assert run.frame.sweeps == 1
    assert not run.between
    for _ in range(10):
        run.advance(whole=True)
    assert run.frame.clumps < start.clumps / 2


def test_the_history_has_bandwidths_levels_and_clumps(subject):
    run = finished(subject, Settings("dsms", **RANGE))
    sweeps, h = np.array(run.history.drawn).T
    assert (np.diff(sweeps) > 0).all()
    assert (h >= 0.2).all()
    assert (h <= 1.6).all()
    levels = np.array(run.history.levels)
    assert levels[-1, 1] > levels[0, 1] > 0
    assert levels[-1, 1] <= 1
    assert levels[-1, 2] == run.result.n_clusters


def test_a_long_history_stays_bounded():
    history = History()
    for sweep in range(2 * MOST):
        history.level(sweep, 0.5, 3)
    assert len(history.levels) <= MOST
    assert history.levels[-1][0] == 2 * MOST - 1


def test_the_range_found_is_known(subject):
    run = Run(subject, Settings("dsms", h_max=1.6))
    model = estimator_of(Settings("dsms", h_max=1.6)).fit(subject.X)
    assert run.h == (model.h_min_, model.h_inf_, model.h_max_)


def test_mode_seek_says_what_it_nearly_chose(subject):
    result = finished(subject, Settings("modeseek")).result
    assert result.message == "3 clusters by mixture, stability 0.97"
    assert all("stability" in other for other in result.others)


def test_large_data_are_shown_as_a_sample(monkeypatch):
    monkeypatch.setattr(data_module, "MOST_SHOWN", 100)
    data = example(MIXTURE)
    sampled = Subject.of(data, data.features, standardise=False)
    assert sampled.sampled
    run = finished(sampled, Settings("dsms", **RANGE))
    assert run.frame.places.shape == (100, 2)
    assert len(run.result.labels) == 150
    assert (run.frame.colours == run.result.labels[sampled.shown]).all()


@pytest.mark.parametrize("columns", [["x"], ["x", "y"]])
def test_movement_is_seen_on_the_axes_of_the_data(subject, columns):
    run = Run(Subject.of(subject.data, columns, standardise=False), Settings("bms", bandwidth=0.6))
    np.testing.assert_allclose(run.frame.places[:, 0], subject.raw[:, 0], rtol=1e-6)
    across = run.frame.places[:, 1]
    run.advance()
    if len(columns) == 1:
        np.testing.assert_array_equal(across, run.frame.places[:, 1])


def test_many_features_are_seen_by_components():
    data = example("iris (150, four features)")
    run = Run(Subject.of(data, data.features, standardise=True), Settings("bms"))
    assert "principal component 1" in run.axes[0]
    before = np.ptp(run.frame.places, axis=0)
    run.advance(whole=True)
    assert (np.ptp(run.frame.places, axis=0) < before).all()


# ---------------------------------------- colours


def test_a_clump_keeps_its_colour_when_it_takes_in_another():
    tracker = Tracker(10)
    first = tracker.follow(np.array([0, 0, 0, 0, 1, 1, 1, 2, 2, 3])).copy()
    assert first[9] == SLOTS  # alone: grey
    merged = tracker.follow(np.array([1, 1, 1, 1, 0, 0, 0, 1, 1, 1]))
    assert set(merged[:4]) == set(first[:4])
    assert set(merged[4:7]) == set(first[4:7])


def test_more_clumps_than_colours_are_grey():
    slots = Tracker(100).follow(np.repeat(np.arange(50), 2))
    assert len(set(slots.tolist())) == SLOTS + 1


# ---------------------------------------- threads


def live(subject, settings, pace=float("inf")):
    return Live(lambda cancelled: Run(subject, settings, cancelled), pace)


def until(condition):
    limit = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < limit
        time.sleep(0.002)


def test_a_live_run_stands_still_until_it_is_told(subject):
    run = live(subject, Settings("dsms", **RANGE))
    until(lambda: run.now is not None)
    assert (run.playing, run.now.updates) == (False, 0)
    run.step()
    until(lambda: run.now.sweeps == 1)
    run.step()
    until(lambda: run.now.sweeps == 2)
    assert not run.ended
    run.play()
    assert run.wait()
    assert run.run.result.labels.tolist() == estimator_of(Settings("dsms", **RANGE)).fit_predict(subject.X).tolist()


def test_a_live_run_pauses_and_closes(subject):
    run = live(subject, Settings("dsms", **RANGE), pace=50)
    run.play()
    until(lambda: run.now is not None and run.now.updates > 0)
    run.pause()
    until(lambda: not run.playing)
    run.close()
    run._thread.join(60)
    assert not run._thread.is_alive()
    assert not run.ended


def test_what_goes_wrong_on_the_thread_is_said():
    data = from_bytes("zero.csv", b"x,y\n0,0\n1,2\n2,1\n")
    run = live(Subject.of(data, data.features, standardise=False), Settings("sms", metric="cosine"))
    assert run.wait()
    assert "row 0 of X is all zeros" in run.failure


# ---------------------------------------- settings


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"h_max": "wide"}, "h_max must be a number > 0, or empty to take it from the data; got 'wide'"),
        ({"h_min": "-1"}, "h_min must be a number > 0"),
        ({"h_min": "inf"}, "h_min must be a number > 0"),
        ({"h_min": "2", "h_max": "1"}, "h_min must not exceed h_max"),
        ({"h_min": "1", "h_max": "2", "h_inf": "3"}, "h_inf must lie in"),
        ({"algorithm": "sms", "bandwidth": "0"}, "bandwidth must be a number > 0"),
        ({"seed": "1.5"}, "seed must be a whole number"),
        ({"chains": "0"}, "chains must be a whole number from 1"),
        ({"nu": "quick"}, "nu must be"),
        ({"policy": "shrink"}, "Did you mean 'shrinking'"),
    ],
)
def test_bad_settings_name_their_field(words, message):
    with pytest.raises(ValueError, match=message.replace("(", r"\(")):
        read_settings(words)


def test_fields_that_the_algorithm_does_not_have_are_not_read():
    assert read_settings({"algorithm": "modeseek", "h_max": "wide"}) == Settings("modeseek")


# ---------------------------------------- data


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_load(name):
    data = example(name)
    assert data.truth == "label"
    assert "label" not in data.features


def test_columns_of_a_file_are_sorted_out():
    text = b"name,size,gap,kind\na,1,1,u\nb,2,,v\nc,3,3,u\n"
    data = from_bytes("C:\\folder\\things.csv", text)
    assert (data.name, data.numeric, data.truth) == ("things.csv", ("size",), None)
    assert "Column 'gap' has missing or infinite values" in " ".join(data.notes)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.xlsx", b"PK", "unknown ending '.xlsx'"),
        ("a.csv", b"", "'a.csv' is empty"),
        ("a.csv", b"x,y\na,b\nc,d\n", "no column of numbers"),
        ("a.npy", b"nothing", "'a.npy'"),
    ],
)
def test_bad_files_are_named(name, content, message):
    with pytest.raises(DataError, match=message) as caught:
        from_bytes(name, content)
    assert "upload" not in str(caught.value)


def test_no_column_is_an_error(subject):
    with pytest.raises(DataError, match="tick at least one"):
        Subject.of(subject.data, [], standardise=False)


# ---------------------------------------- sweeps


def test_a_sweep_finds_fewer_clusters_at_wider_bandwidths(subject):
    calls = []
    truth = subject.data.truth_labels("label")
    sweep = Sweep(subject, Settings("bms"), 0.3, 3.0, 6, truth, lambda: calls.append(1))
    sweep.start()
    sweep.wait()
    assert not sweep.failure
    assert len(sweep.rows) == 6
    assert len(calls) == 7
    assert sweep.rows[0].clusters == 1
    assert sweep.rows[-1].clusters > 20
    assert max(row.agreement for row in sweep.rows) > 0.4
    row = sweep.rows[3]
    again = finished(subject, settings_at(Settings("bms"), row.h, sweep.base)).result
    assert again.n_clusters == row.clusters


def test_a_sweep_of_ranges_keeps_their_ratios():
    at = settings_at(Settings("dsms", seed=4), 2.0, Range(0.5, 0.75, 1.0))
    assert (at.h_min, at.h_inf, at.h_max, at.seed) == (1.0, 1.5, 2.0, 4)


def test_a_sweep_can_be_given_up(subject):
    sweep = Sweep(subject, Settings("dsms"), None, None, 50, done=lambda: sweep.cancel())
    sweep.start()
    sweep.wait()
    assert sweep.ended
    assert len(sweep.rows) == 1


@pytest.mark.parametrize(
    ("settings", "ends", "message"),
    [
        (Settings("modeseek"), (None, None), "ModeSeek has no bandwidth"),
        (Settings("ms"), (2.0, 1.0), "from must be below to"),
        (Settings("ms"), (-1.0, 1.0), "from must be"),
    ],
)
def test_bad_sweeps_are_refused(subject, settings, ends, message):
    with pytest.raises(ValueError, match=message):
        Sweep(subject, settings, *ends, 5)


# ---------------------------------------- exports


def test_rows_come_back_with_cluster_and_confidence():
    text = b'cluster,x,y\nold,0,0\n"a, b",0.1,0\nold,5,5\n'
    data = from_bytes("things.csv", text)
    chosen = Subject.of(data, ["x", "y"], standardise=False)
    result = finished(chosen, Settings("dsms", h_min=1.0, h_inf=1.0, h_max=1.0, chains=3)).result
    rows = list(csv.DictReader(io.StringIO(labels_csv(chosen, result).decode())))
    assert [row["cluster"] for row in rows] == ["old", "a, b", "old"]
    assert [row["cluster_2"] for row in rows] == ["0", "0", "1"]
    assert [float(row["confidence"]) for row in rows] == [1.0, 1.0, 1.0]


@pytest.mark.parametrize("standardise", [False, True])
def test_the_code_gives_the_labels(tmp_path, standardise):
    X, _ = paper_mixture(15, random_state=0)
    path = tmp_path / "it's.csv"
    path.write_text("kind,a b,c\n" + "".join(f"k,{x!r},{y!r}\n" for x, y in X.tolist()))
    data = data_module.from_file(path)
    chosen = Subject.of(data, ["c", "a b"], standardise=standardise)
    settings = Settings("dsms", **RANGE)
    code = python_code(chosen, settings).replace("print(model.labels_)", "print(model.labels_.tolist())")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str(finished(chosen, settings).result.labels.tolist())


@pytest.mark.parametrize("name", [MIXTURE, "wine (178, thirteen features)"])
def test_the_code_of_an_example_needs_no_file(name):
    data = example(name)
    chosen = Subject.of(data, data.features[:2], standardise=data.standardise)
    settings = Settings("sms", bandwidth=0.7)
    scope = {}
    exec(python_code(chosen, settings).replace("print(model.labels_)", ""), scope)
    assert scope["model"].labels_.tolist() == finished(chosen, settings).result.labels.tolist()


@pytest.mark.parametrize(("suffix", "begins"), [(".png", b"\x89PNG"), (".svg", b"<?xml")])
def test_pictures(suffix, begins):
    data = from_bytes("<b>$x$.csv", b"$a$,<i>b</i>\n0,0\n0.1,0\n5,5\n")
    chosen = Subject.of(data, data.features, standardise=True)
    settings = Settings("sms", bandwidth=1.0)
    content = picture(chosen, settings, finished(chosen, settings).result, suffix)
    assert content.startswith(begins)
    assert b"<i>b" not in content


def test_files_are_named_plainly():
    data = from_bytes("../<b>x.csv", b"x\n1\n2\n")
    assert stem(Subject.of(data, data.features, standardise=True)) == "b-x"
    assert stem(Subject.of(example(MIXTURE), ["x"], standardise=True)) == "the-papers-mixture"


# ---------------------------------------- the command


def test_without_panel_the_command_says_what_to_install(monkeypatch):
    from test_cli import refused

    monkeypatch.setitem(sys.modules, "panel", None)
    monkeypatch.delitem(sys.modules, "modeseek.explorer.page.server", raising=False)
    refused("modeseek explore needs Panel and Bokeh: pip install 'modeseek[explore]'", "explore", "--no-browser")


def test_a_missing_file_and_a_taken_port_are_refused(tmp_path):
    pytest.importorskip("panel")
    from test_cli import refused

    refused("there is no file", "explore", tmp_path / "none.csv", "--no-browser")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        refused(f"--port {port} is in use", "explore", "--port", port, "--no-browser")


def test_many_points_are_sent_as_an_image(rng):
    pytest.importorskip("panel")
    from modeseek.explorer.page.view import Explorer

    rows = "".join(f"{x},{y}\n" for x, y in rng.normal(size=(4000, 2)).tolist())
    page = Explorer(from_bytes("many.csv", b"x,y\n" + rows.encode()))
    stage = page.sides[0].stage
    image = stage._image.data["image"][0]
    assert image.dtype == np.uint32
    assert 1000 < (image > 0).sum() < image.size / 2
    assert len(stage._points.data["x"]) == 0  # nothing has come together yet
    page.close()


def test_the_page_does_what_is_asked_at_its_next_tick():
    pytest.importorskip("panel")
    from modeseek.explorer.page.view import Explorer

    page = Explorer(from_bytes("<i>.csv", b"x,y\n0,0\n0.1,0\n5,5\n5,5.1\n"))
    assert "&lt;i&gt;.csv" in page.data_form.about.object
    page.speed.value = "as fast as it goes"
    page.run_button.clicks += 1
    page.tick()
    until(lambda: page.sides[0].live is not None and page.sides[0].live.ended)
    page.tick()
    assert page.run_button.label == "Run again"
    page.data_form.columns.value = []
    page.tick()
    assert "tick at least one" in page.message.object
    assert page.sides[0].live is not None  # what was there stays
    page.close()
