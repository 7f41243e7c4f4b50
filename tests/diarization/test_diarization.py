"""Speakers: turns, RTTM, wishes, short windows, memory, drop-ins, the command, and mistakes as people make them."""

from __future__ import annotations

import importlib
import json
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.figure import Figure

from commands import run as call
from modeseek._storage import DataError
from modeseek.diarization import (
    Diarization,
    Preparation,
    PyannoteClustering,
    Search,
    SpeakerClusterer,
    Speakers,
    Turn,
    diarize,
    find_turns,
    plot_timeline,
    read_rttm,
    read_segments,
    read_windows,
    score,
    write_rttm,
)
from modeseek.diarization import speakers as speakers_module
from modeseek.diarization.linkage import by_linkage, silhouette
from modeseek.diarization.rttm import parse_rttm, rttm_lines
from modeseek.diarization.scores import true_speakers
from modeseek.diarization.turns import slices_of, turns_of

core = pytest.importorskip("pyannote.core")
EXAMPLES = Path(__file__).parents[2] / "examples"
TWO = "SPEAKER a 1 0 1 <NA> <NA> s <NA> <NA>\nSPEAKER b 1 0 1 <NA> <NA> s <NA> <NA>\n"  # recordings
CONVERSATION, TRUTH = EXAMPLES / "conversation.npz", EXAMPLES / "conversation.rttm"


def voices(sizes, *, d=32, noise=0.5, seed=0):
    """Return rows around random directions, and whose they are."""
    rng = np.random.default_rng(seed)
    means = rng.normal(size=(len(sizes), d)) / np.sqrt(d)
    who = np.repeat(np.arange(len(sizes)), sizes)
    return means[who] + noise * rng.normal(size=(len(who), d)) / np.sqrt(d), who


def same(first, second):
    """Return whether two labellings are the same partition."""
    pairs = set(zip(np.asarray(first).tolist(), np.asarray(second).tolist(), strict=True))
    return len(pairs) == len(set(first)) == len(set(second))


@pytest.fixture(scope="module")
def conversation():
    windows = read_windows(CONVERSATION)
    return find_turns(windows.embeddings, windows.times, uri="conversation")


# turns


def test_windows_are_cut_in_the_middle_of_what_they_share():
    times = np.array([[2.0, 3.5], [0.0, 1.5], [1.0, 2.5]])  # in any order
    assert slices_of(times).tolist() == [[2.25, 3.5], [0.0, 1.25], [1.25, 2.25]]
    assert slices_of(times, "keep") is times


@given(st.lists(st.tuples(st.floats(0.05, 3), st.booleans()), min_size=1, max_size=20), st.floats(0.5, 3))
@settings(max_examples=50, deadline=None)
def test_no_moment_has_two_speakers_or_is_lost(steps, length):
    """The union of the slices is the union of the windows, and slices do not overlap."""
    starts = np.cumsum([step for step, _ in steps])
    times = np.column_stack([starts, starts + length])
    slices = slices_of(times)
    assert (slices[1:, 0] >= slices[:-1, 1] - 1e-9).all()
    union = core.Timeline([core.Segment(*pair) for pair in times.tolist()]).support().duration()
    assert np.isclose((slices[:, 1] - slices[:, 0]).sum(), union)
    turns = turns_of(slices, np.array([int(who) for _, who in steps]), np.ones(len(steps)), ["a", "b"])
    assert np.isclose(sum(turn.end - turn.start for turn in turns), union)


def test_two_may_speak_at_once_where_segments_are_turns():
    times = np.array([[0.0, 4.0], [1.0, 2.0]])
    with pytest.raises(ValueError, match=r"segments\[1\] lies within segments\[0\].*overlapping=\"keep\""):
        slices_of(times)
    assert len(turns_of(slices_of(times, "keep"), np.array([0, 1]), np.ones(2), ["a", "b"])) == 2


def test_turns_that_overlap_count_once_in_confidence():
    turns = turns_of(np.array([[0.0, 2.0], [1.0, 3.0]]), np.array([0, 0]), np.array([1.0, 0.4]), ["a"])
    assert turns == [Turn(0.0, 3.0, "a", pytest.approx((2.0 + 0.4) / 3))]


# speakers


def test_few_and_uneven_speakers_are_all_found():
    """Communities of ModeSeek alone merge the small ones here; the second opinion sees them."""
    rows, who = voices((20, 9, 5, 4, 3))
    found = Search().speakers(rows)
    assert same(found.labels, who)
    assert np.bincount(found.labels).tolist() == [20, 9, 5, 4, 3]  # 0 has most
    assert "linkage" in found.message


def test_length_and_scale_do_not_count():
    rows, _ = voices((12, 8, 6))
    first = Search().speakers(rows)
    second = Search().speakers(rows * np.random.default_rng(1).uniform(0.1, 10, (len(rows), 1)))
    assert (first.labels == second.labels).all()


@pytest.mark.parametrize("wish", [2, 3, 4, 7])
def test_a_number_is_kept_to(wish):
    rows, _ = voices((15, 12, 10, 8))
    assert Search(num_speakers=wish).speakers(rows).n_speakers == wish


def test_bounds_are_kept_to():
    rows, _ = voices((15, 12, 10, 8))
    assert Search(max_speakers=3).speakers(rows).n_speakers <= 3
    assert Search(min_speakers=5).speakers(rows).n_speakers >= 5
    assert Search(max_speakers=1).speakers(rows).n_speakers == 1


def test_short_windows_have_no_say_and_little_confidence():
    rows, who = voices((14, 12, 10))
    times = np.column_stack([np.arange(36.0), np.arange(36.0) + 0.9])
    times[::4, 1] = times[::4, 0] + 0.3
    stray = rows.copy()
    stray[0] = np.random.default_rng(5).normal(size=rows.shape[1])
    found = find_turns(stray, times).speakers
    assert not found.clustered[::4].any()
    assert found.clustered.sum() == 27
    assert (found.confidence[::4] <= 0.5).all()
    assert found.confidence[1::4].min() > 0.5
    assert same(found.labels[1:], who[1:])
    # where all are short, all have a say
    assert find_turns(rows, times, min_duration=5.0).speakers.clustered.all()


def test_many_windows_are_thinned_and_all_get_a_speaker(monkeypatch):
    monkeypatch.setattr(speakers_module, "MANY", 60)
    rows, who = voices((80, 70, 50))
    found = Search().speakers(rows)
    assert found.clustered.sum() <= 60
    assert same(found.labels, who)
    assert found.confidence.shape == (200,)


def test_overlapping_windows_are_not_taken_for_speakers():
    """Windows that share most of their sound are close: counted as they are, each stretch looks like somebody."""
    rng = np.random.default_rng(0)
    means = rng.normal(size=(3, 24)) / np.sqrt(24)
    who = np.repeat([0, 1, 2, 0, 1, 2], 40)
    drift = rng.normal(size=(240, 24)) / np.sqrt(24)
    for row in range(1, 240):
        drift[row] = 0.95 * drift[row - 1] + 0.31 * drift[row]
    rows = means[who] + 0.8 * drift
    times = np.column_stack([0.25 * np.arange(240), 0.25 * np.arange(240) + 3.0])
    assert find_turns(rows, times).speakers.n_speakers <= 6


def test_the_silhouette_is_that_of_scikit_learn():
    from sklearn.metrics import silhouette_score

    rows, who = voices((9, 6, 4, 1))
    unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    apart = np.maximum(1 - unit @ unit.T, 0)
    np.fill_diagonal(apart, 0)
    assert silhouette(apart, who) == pytest.approx(silhouette_score(apart, who, metric="precomputed"))


def test_noise_gets_no_steady_second_opinion():
    rows = np.random.default_rng(0).normal(size=(80, 32))
    found = by_linkage(rows / np.linalg.norm(rows, axis=1, keepdims=True), least=1, most=np.inf, seed=0)
    assert found.stability < speakers_module.STEADY


@pytest.mark.parametrize(
    "preparation", [Preparation(centre=True), Preparation(components=8), Preparation(components=8, whiten=True)]
)
def test_preparations_keep_clear_speakers(preparation):
    rows, who = voices((20, 18, 15, 12), noise=0.3)
    found = Search(preparation=preparation).speakers(rows.astype(np.float32))
    assert same(found.labels, who)


def test_whitened_rows_have_one_spread():
    rows, _ = voices((50, 50, 50), d=6)
    x = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    projected = Preparation(whiten=True)._project(x - x.mean(axis=0))
    assert np.allclose(np.cov(projected.T, bias=True), np.eye(projected.shape[1]), atol=1e-8)


# RTTM and segments


def test_rttm_comes_back(tmp_path, conversation):
    write_rttm(tmp_path / "a.rttm", conversation)
    (uri, back), *_ = read_rttm(tmp_path / "a.rttm").items()
    assert uri == "conversation"
    assert len(back) == len(conversation.turns)
    assert back.labels() == sorted(conversation.names)
    turns = parse_rttm((tmp_path / "a.rttm").read_text())["conversation"]
    assert [round(turn.confidence, 2) for turn in turns] == [round(t.confidence, 2) for t in conversation.turns]
    write_rttm(tmp_path / "b.rttm", back)  # an Annotation too
    assert read_rttm(tmp_path / "b.rttm")["conversation"].get_timeline() == back.get_timeline()


def test_pyannote_reads_what_we_write(tmp_path, conversation):
    util = pytest.importorskip("pyannote.database.util")
    write_rttm(tmp_path / "a.rttm", conversation)
    theirs = util.load_rttm(str(tmp_path / "a.rttm"))["conversation"]
    assert theirs.labels() == conversation.annotation.labels()
    assert theirs.get_timeline().duration() == pytest.approx(conversation.annotation.get_timeline().duration(), abs=0.1)


def test_other_lines_are_passed_over():
    text = ";; made by hand\n\nSPKR-INFO a 1 <NA> <NA> <NA> unknown ann <NA> <NA>\n"
    text += "SPEAKER a 1 0 1 <NA> <NA> ann <NA> <NA>\n"
    assert parse_rttm(text) == {"a": [Turn(0.0, 1.0, "ann")]}


def test_turns_that_touch_still_touch_when_rounded():
    lines = rttm_lines([Turn(0.0, 1.00049, "a"), Turn(1.00049, 2.0, "b"), Turn(3.0, 3.0001, "c")], "x")
    assert [line.split()[3:5] for line in lines] == [["0.000", "1.000"], ["1.000", "1.000"]]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.csv", "start,end\n0.0,1.5\n2.0,3.0\n"),
        ("b.csv", "speaker,start,duration\nann,0.0,1.5\nbob,2.0,1.0\n"),
        ("c.tsv", "onset\toffset\n0.0\t1.5\n2.0\t3.0\n"),
        ("d.lab", "0.0 1.5 speech\n2.0 3.0\n"),
        ("e.rttm", "SPEAKER x 1 0 1.5 <NA> <NA> s <NA> <NA>\nSPEAKER x 1 2 1 <NA> <NA> s <NA> <NA>\n"),
        ("f.csv", "0.0,1.5\n2.0,3.0\n"),
    ],
)
def test_segments_are_read(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    assert read_segments(tmp_path / name).tolist() == [[0.0, 1.5], [2.0, 3.0]]


# scores and pictures


def made(times, labels, names=2):
    """Return a diarization made by hand."""
    times, labels = np.array(times, dtype=float), np.array(labels)
    found = Speakers(labels, np.ones(len(labels)), np.eye(names), np.ones(len(labels), bool), "by hand")
    return Diarization(turns_of(times, labels, np.ones(len(labels)), ["SPEAKER_00", "SPEAKER_01"]), times, times, found)


def test_scores_of_a_known_error():
    reference = core.Annotation()
    reference[core.Segment(0, 6)], reference[core.Segment(6, 10)] = "ann", "bob"
    found = score(made([[0, 4], [4, 8], [9, 12]], [0, 1, 1]), reference)
    # 2 s of ann as bob, 1 s missed (8 to 9), 2 s of false alarm
    assert (found.confusion, found.missed, found.false_alarm) == pytest.approx((0.2, 0.1, 0.2))
    assert found.der == pytest.approx(0.5)
    assert (found.found, found.true) == (2, 2)
    assert 0 < found.jer < 1
    assert score(made([[0, 6], [6, 10]], [0, 1]), reference)[:8] == pytest.approx((0, 0, 0, 0, 0, 1, 1, 1))


def test_windows_go_to_whom_most_of_them_is():
    reference = core.Annotation()
    reference[core.Segment(0, 2)], reference[core.Segment(1.5, 5)] = "ann", "bob"
    assert true_speakers(reference, np.array([[0.0, 1.0], [1.0, 3.0], [6.0, 7.0]])).tolist() == [0, 1, -1]


def test_the_timeline_has_a_lane_for_everyone(conversation):
    ax = plot_timeline(conversation, reference=read_rttm(TRUTH)["conversation"], ax=Figure().subplots())
    assert [label.get_text() for label in ax.get_yticklabels()] == conversation.names
    missed = core.Annotation()
    missed[core.Segment(0, 1), 0], missed[core.Segment(1, 2), 1], missed[core.Segment(5, 6), 2] = "ann", "bob", "cat"
    ax = plot_timeline(made([[0, 1], [1, 2]], [0, 1]), reference=missed, ax=Figure().subplots())
    assert ax.get_yticklabels()[2].get_text() == "cat (reference)"


def test_sure_windows_are_drawn_darker(conversation):
    ax = plot_timeline(conversation, ax=Figure().subplots())
    shades = np.concatenate([np.ravel(each.get_alpha()) for each in ax.collections])
    assert shades.max() == pytest.approx(1.0, abs=0.06)
    assert shades.min() < 0.6


# drop-ins


def test_the_call_shape_of_pyannote():
    rng = np.random.default_rng(0)
    who = np.array([[0, 1], [0, 2], [1, 2], [2, 0]] * 8)
    means = rng.normal(size=(3, 32)) / np.sqrt(32)
    rows = means[who] + 0.4 * rng.normal(size=(32, 2, 32)) / np.sqrt(32)
    active = np.ones((32, 10, 2))
    active[3, :, 1] = 0  # silent, though there is an embedding
    rows[5, 0] = np.nan
    said = SimpleNamespace(data=active, sliding_window=SimpleNamespace(duration=10.0, step=10.0))
    hard, soft, centroids = PyannoteClustering()(
        embeddings=rows, segmentations=said, num_clusters=None, min_clusters=1, max_clusters=20, file={}, frames=None
    )
    assert hard[3, 1] == hard[5, 0] == -2
    assert soft.shape == (32, 2, 3)
    assert centroids.shape == (3, 32)
    heard = hard >= 0
    assert same(hard[heard], who[heard])
    assert (soft[heard].argmax(axis=1) == hard[heard]).all()
    assert np.isfinite(soft).all()


def test_pyannote_with_a_number_and_all_bounds():
    """Its pipelines hand over all three, and bounds beyond the number of embeddings."""
    rows, _ = voices((6, 6))
    hard, _, _ = PyannoteClustering()(rows[:, None, :], num_clusters=2, min_clusters=2, max_clusters=2)
    assert set(hard.ravel()) == {0, 1}
    hard, soft, centroids = PyannoteClustering()(np.full((3, 2, 8), np.nan), min_clusters=1, max_clusters=np.int64(4))
    assert (hard == -2).all()
    assert soft.shape == (3, 2, 1)
    assert centroids.shape == (1, 8)


def test_speakers_of_one_chunk_are_different_if_asked():
    rows, _ = voices((8, 8))
    pairs = np.stack([rows[:8], rows[:8] + 0.01], axis=1)  # one voice, twice in each chunk
    pairs = np.concatenate([pairs, np.stack([rows[8:], rows[:8]], axis=1)])
    hard, _, _ = PyannoteClustering(constrained=True)(pairs, num_clusters=2)
    assert (hard[:, 0] != hard[:, 1]).all()


def test_predict_as_spectral_cluster_has_it():
    rows, who = voices((10, 8, 6))
    assert same(SpeakerClusterer(min_clusters=1, max_clusters=20).predict(rows), who)
    assert SpeakerClusterer(min_clusters=100, max_clusters=200).predict(rows[:5]).shape == (5,)


# the command, and the example


def test_the_example_is_told_apart(conversation):
    found = score(conversation, read_rttm(TRUTH)["conversation"])
    assert (found.found, found.true) == (5, 5)
    assert found.der < 0.03  # ten short windows have two voices in them


def test_the_command(tmp_path):
    out, picture, record = tmp_path / "o.rttm", tmp_path / "t.png", tmp_path / "r.json"
    status, text, err = call(
        *("diarize", str(CONVERSATION), "-o", str(out), "--reference", str(TRUTH)),
        *("--timeline", str(picture), "--json", str(record)),
    )
    assert status == 0, err
    assert re.search(r"5 speakers, \d+ turns in 99 windows of conversation", text)
    assert re.search(r"DER [\d.]+% \(missed.*JER", text)
    assert "speakers found 5, true 5" in text
    assert picture.read_bytes()[1:4] == b"PNG"
    assert json.loads(record.read_text())["scores"]["found"] == 5
    assert len(read_rttm(out)["conversation"].labels()) == 5


def test_the_command_prints_rttm(tmp_path):
    windows = read_windows(CONVERSATION)
    np.save(tmp_path / "e.npy", windows.embeddings)
    rows = "".join(f"{a},{b}\n" for a, b in windows.times)
    (tmp_path / "s.csv").write_text("start,end\n" + rows)
    status, text, _ = call("diarize", str(tmp_path / "e.npy"), "--segments", str(tmp_path / "s.csv"), "-q", "-o", "-")
    assert status == 0
    assert list(parse_rttm(text)) == ["e"]


# mistakes


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("SPEAKER x 1 3.0", r"line 2: 4 fields, but a turn has 9 or 10: SPEAKER file"),
        ("SPEAKER x 1 3,0 1 <NA> <NA> a <NA> <NA>", r"line 2: the start is '3,0', which is no number.*decimal point"),
        ("SPEAKER x 1 3 0 <NA> <NA> a <NA> <NA>", r"line 2: the duration is 0, which is not above 0.*not an end"),
        ("SPEAKER x 1 -3 1 <NA> <NA> a <NA> <NA>", r"line 2: the start is -3, below 0"),
        ("SPEAKER x 1 nan 1 <NA> <NA> a <NA> <NA>", r"line 2: the start is 'nan', which is no number"),
        ("SPEKER x 1 3 1 <NA> <NA> a <NA> <NA>", r"line 2: 'SPEKER'.*Did you mean 'SPEAKER'"),
        ("SPEAKER x 1 3 1 <NA> <NA> Ann Lee <NA> <NA>", r"line 2: 11 fields.*no blanks"),
        ("SPEAKER x 1 3 1 <NA> <NA> <NA> <NA> <NA>", r"line 2: no speaker \(field 8"),
    ],
)
def test_bad_lines_of_rttm(tmp_path, line, says):
    (tmp_path / "r.rttm").write_text(f"SPEAKER x 1 0 1 <NA> <NA> a <NA> <NA>\n{line}\n")
    with pytest.raises(DataError, match=says):
        read_rttm(tmp_path / "r.rttm")


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("a.csv", "start,end\n0,1\n2,0.5\n", r"line 3\): it goes from 2 to 0.5.*called duration"),
        ("b.csv", "who,word\na,hi\nb,ho\n", r"must have the columns start and end.*who, word"),
        ("c.lab", "0 16000000 a\n", r"line 1: .*HTK counts in units of 100 ns"),
        ("d.lab", "0 1 a\n1.0 b\n", r"line 2: '1.0 b' is no segment"),
        ("e.srt", "x", r"unknown ending '.srt'.*\.csv"),
        ("f.rttm", TWO, r"turns of 2 recordings"),
        ("g.rttm", "", r"no SPEAKER lines"),
    ],
)
def test_bad_segments(tmp_path, name, text, says):
    (tmp_path / name).write_text(text)
    with pytest.raises(DataError, match=says):
        read_segments(tmp_path / name)


ROWS, TIMES = np.eye(8)[[0, 0, 0, 1, 1, 1]] + 0.01, np.column_stack([np.arange(6.0), np.arange(6.0) + 1])


@pytest.mark.parametrize(
    ("embeddings", "segments", "options", "says"),
    [
        (ROWS, TIMES[:5], {}, r"6 embeddings and 5 segments: give one segment for each embedding"),
        (ROWS, TIMES.ravel()[:6], {}, r"shape \(n, 2\), start and end"),
        (ROWS, np.column_stack([TIMES[:, 0], np.ones(6)]), {}, r"segments\[1\] ends at 1.*not start and duration"),
        (ROWS, [("a", "b")] * 6, {}, r"pairs of numbers"),
        (ROWS * np.nan, TIMES, {}, r"row 0 of embeddings .*NaN"),
        (ROWS * 0, TIMES, {}, r"row 0 of embeddings .*all zeros"),
        (ROWS[None], TIMES, {}, r"shape \(n, d\).*PyannoteClustering"),
        (ROWS, TIMES, {"min_speakers": 4, "max_speakers": 2}, r"min_speakers=4 is above max_speakers=2"),
        (ROWS, TIMES, {"num_speakers": 9}, r"num_speakers=9 is more than there are embeddings, 6"),
        (ROWS, TIMES, {"num_speakers": 3, "max_speakers": 2}, r"num_speakers=3 does not keep to max_speakers=2"),
        (ROWS, TIMES, {"overlapping": "kepe"}, r"Did you mean 'keep'"),
        (ROWS, TIMES, {"min_duration": -1}, r"min_duration"),
        (ROWS, TIMES, {"components": 0}, r"components must be a whole number >= 1"),
    ],
)
def test_mistakes_in_a_call(embeddings, segments, options, says):
    with pytest.raises(ValueError, match=says):
        diarize(embeddings, segments, **options)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--reference", str(TRUTH), "-o", str(TRUTH)], r"is a file that is read: give the result another name"),
        (["--collar", "0.25"], r"give --reference FILE"),
        (["--uri", "my talk"], r"without blanks"),
        (["-o", "out.txt"], r"Known: \.rttm"),
        (["--segments", "NOT.csv"], r"no file"),
    ],
)
def test_mistakes_at_the_command(arguments, says):
    status, _, err = call("diarize", str(CONVERSATION), *arguments)
    assert status == 2
    assert re.search(says, err), err


def test_times_and_counts_are_named_by_file(tmp_path):
    np.save(tmp_path / "e.npy", ROWS)
    status, _, err = call("diarize", str(tmp_path / "e.npy"))
    assert status == 2
    assert "give --segments FILE" in err
    (tmp_path / "s.csv").write_text("start,end\n0,1\n1,2\n")
    status, _, err = call("diarize", str(tmp_path / "e.npy"), "--segments", str(tmp_path / "s.csv"))
    assert status == 2
    assert re.search(r"e\.npy' has 6 embeddings and '.*s\.csv' 2 segments", err)
    (tmp_path / "two.rttm").write_text(TWO)
    status, _, err = call("diarize", str(CONVERSATION), "--reference", str(tmp_path / "two.rttm"))
    assert status == 2
    assert "no recording called 'conversation'; it has a, b: name one with --uri" in err


def test_without_the_extra_it_says_what_to_type(monkeypatch):
    def absent(name):
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)

    monkeypatch.setattr(importlib, "import_module", absent)
    with pytest.raises(ImportError, match=r"pip install 'modeseek\[diarization\]'"):
        diarize(ROWS, TIMES)
    status, _, err = call("diarize", str(CONVERSATION), "--reference", str(TRUTH))
    assert status == 2
    assert "pip install 'modeseek[diarization]'" in err


def test_imports_bring_nothing_of_pyannote():
    code = "import sys, modeseek, modeseek.diarization; print([n for n in sys.modules if n.startswith('pyannote')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_turns_need_nothing_of_pyannote(monkeypatch, tmp_path):
    monkeypatch.setattr(importlib, "import_module", lambda name: 1 / 0)
    found = find_turns(ROWS, TIMES)
    write_rttm(tmp_path / "a.rttm", found)
    assert (tmp_path / "a.rttm").read_text().startswith("SPEAKER a 1 0.000")
