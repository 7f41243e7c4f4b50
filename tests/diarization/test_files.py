"""RTTM files and files of segments."""

import pytest
from voices import CONVERSATION

from modeseek._storage.errors import DataError
from modeseek.diarization import Turn, find_turns, read_rttm, read_segments, read_windows, write_rttm
from modeseek.diarization.rttm import parse_rttm, rttm_lines

core = pytest.importorskip("pyannote.core")
TWO = "SPEAKER a 1 0 1 <NA> <NA> s <NA> <NA>\nSPEAKER b 1 0 1 <NA> <NA> s <NA> <NA>\n"  # recordings


@pytest.fixture(scope="module")
def conversation():
    windows = read_windows(CONVERSATION)
    return find_turns(windows.embeddings, windows.times, uri="conversation")


def test_rttm_round_trip(tmp_path, conversation):
    write_rttm(tmp_path / "a.rttm", conversation)
    (uri, back), *_ = read_rttm(tmp_path / "a.rttm").items()
    assert uri == "conversation"
    assert len(back) == len(conversation.turns)
    assert back.labels() == sorted(conversation.names)
    turns = parse_rttm((tmp_path / "a.rttm").read_text())["conversation"]
    assert [round(turn.confidence, 2) for turn in turns] == [round(t.confidence, 2) for t in conversation.turns]
    write_rttm(tmp_path / "b.rttm", back)
    assert read_rttm(tmp_path / "b.rttm")["conversation"].get_timeline() == back.get_timeline()


def test_pyannote_reads_the_written_rttm(tmp_path, conversation):
    util = pytest.importorskip("pyannote.database.util")
    write_rttm(tmp_path / "a.rttm", conversation)
    theirs = util.load_rttm(str(tmp_path / "a.rttm"))["conversation"]
    assert theirs.labels() == conversation.annotation.labels()
    assert theirs.get_timeline().duration() == pytest.approx(conversation.annotation.get_timeline().duration(), abs=0.1)


def test_other_line_types_are_skipped():
    text = ";; made by hand\n\nSPKR-INFO a 1 <NA> <NA> <NA> unknown ann <NA> <NA>\n"
    text += "SPEAKER a 1 0 1 <NA> <NA> ann <NA> <NA>\n"
    assert parse_rttm(text) == {"a": [Turn(0.0, 1.0, "ann")]}


def test_adjacent_turns_stay_adjacent_when_rounded():
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
def test_segment_formats(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    assert read_segments(tmp_path / name).tolist() == [[0.0, 1.5], [2.0, 3.0]]


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("SPEAKER x 1 3.0", r"line 2: 4 fields, but a turn has 9 or 10: SPEAKER file"),
        (
            "SPEAKER x 1 3,0 1 <NA> <NA> a <NA> <NA>",
            r"line 2: the start is '3,0', which is not.*decimal point",
        ),
        (
            "SPEAKER x 1 3 0 <NA> <NA> a <NA> <NA>",
            r"line 2: the duration is 0, but must be positive",
        ),
        ("SPEAKER x 1 -3 1 <NA> <NA> a <NA> <NA>", r"line 2: the start is -3, but times are"),
        ("SPEAKER x 1 nan 1 <NA> <NA> a <NA> <NA>", r"line 2: the start is 'nan', which is not a number"),
        ("SPEKER x 1 3 1 <NA> <NA> a <NA> <NA>", r"line 2: 'SPEKER'.*Did you mean 'SPEAKER'"),
        ("SPEAKER x 1 3 1 <NA> <NA> Ann Lee <NA> <NA>", r"line 2: 11 fields.*spaces"),
        ("SPEAKER x 1 3 1 <NA> <NA> <NA> <NA> <NA>", r"line 2: field 8 is <NA>"),
    ],
)
def test_malformed_rttm_lines_are_rejected(tmp_path, line, says):
    (tmp_path / "r.rttm").write_text(f"SPEAKER x 1 0 1 <NA> <NA> a <NA> <NA>\n{line}\n")
    with pytest.raises(DataError, match=says):
        read_rttm(tmp_path / "r.rttm")


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("a.csv", "start,end\n0,1\n2,0.5\n", r"line 3\): start is 2 and end is 0.5.*name the second column duration"),
        ("b.csv", "who,word\na,hi\nb,ho\n", r"must have the columns start and end.*who, word"),
        ("c.lab", "0 16000000 a\n", r"line 1: .*HTK counts in units of 100 ns"),
        ("d.lab", "0 1 a\n1.0 b\n", r"line 2: '1.0 b' is not a segment"),
        ("e.srt", "x", r"unknown ending '.srt'.*\.csv"),
        ("f.rttm", TWO, r"turns of 2 recordings"),
        ("g.rttm", "", r"no SPEAKER lines"),
    ],
)
def test_malformed_segment_files_are_rejected(tmp_path, name, text, says):
    (tmp_path / name).write_text(text)
    with pytest.raises(DataError, match=says):
        read_segments(tmp_path / name)
