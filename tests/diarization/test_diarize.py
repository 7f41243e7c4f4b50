"""`diarize` and `find_turns`: invalid arguments, and the optional dependency."""

import subprocess
import sys

import numpy as np
import pytest

from modeseek.diarization import diarize, find_turns, write_rttm

pytest.importorskip("pyannote.core")


ROWS, TIMES = np.eye(8)[[0, 0, 0, 1, 1, 1]] + 0.01, np.column_stack([np.arange(6.0), np.arange(6.0) + 1])


@pytest.mark.parametrize(
    ("embeddings", "segments", "options", "says"),
    [
        (ROWS, TIMES[:5], {}, r"6 embeddings and 5 segments: give one segment per embedding"),
        (ROWS, TIMES.ravel()[:6], {}, r"shape \(n, 2\), start and end"),
        (
            ROWS,
            np.column_stack([TIMES[:, 0], np.ones(6)]),
            {},
            r"segments\[1\] starts at 1 and ends at 1: .*not duration",
        ),
        (ROWS, [("a", "b")] * 6, {}, r"pairs of numbers"),
        (ROWS * np.nan, TIMES, {}, r"row 0 of embeddings .*NaN"),
        (ROWS * 0, TIMES, {}, r"row 0 of embeddings .*all zeros"),
        (ROWS[None], TIMES, {}, r"shape \(n, d\).*PyannoteClustering"),
        (ROWS, TIMES, {"min_speakers": 4, "max_speakers": 2}, r"min_speakers=4 is larger than max_speakers=2"),
        (ROWS, TIMES, {"num_speakers": 9}, r"num_speakers=9 is larger than the number of embeddings, 6"),
        (
            ROWS,
            TIMES,
            {"num_speakers": 3, "max_speakers": 2},
            r"num_speakers=3 contradicts min_speakers=None and max_speakers=2",
        ),
        (ROWS, TIMES, {"overlapping": "kepe"}, r"Did you mean 'keep'"),
        (ROWS, TIMES, {"min_duration": -1}, r"min_duration"),
        (ROWS, TIMES, {"components": 0}, r"components must be a whole number >= 1"),
    ],
)
def test_invalid_arguments_are_rejected(embeddings, segments, options, says):
    with pytest.raises(ValueError, match=says):
        diarize(embeddings, segments, **options)


def test_without_pyannote_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyannote.core", None)
    with pytest.raises(ImportError, match=r"pip install 'modeseek\[diarization\]'"):
        diarize(ROWS, TIMES)


def test_import_does_not_import_pyannote():
    code = "import sys, modeseek, modeseek.diarization; print([n for n in sys.modules if n.startswith('pyannote')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_find_turns_does_not_need_pyannote(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "pyannote.core", None)
    found = find_turns(ROWS, TIMES)
    write_rttm(tmp_path / "a.rttm", found)
    assert (tmp_path / "a.rttm").read_text().startswith("SPEAKER a 1 0.000")
