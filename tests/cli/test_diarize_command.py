"""The command `modeseek diarize`."""

import json
import re
import sys
from pathlib import Path

import numpy as np
import pytest

from commands import run as call
from modeseek.diarization import read_rttm, read_windows
from modeseek.diarization.rttm import parse_rttm

pytest.importorskip("pyannote.core")
EXAMPLES = Path(__file__).parents[2] / "examples"
CONVERSATION, TRUTH = EXAMPLES / "conversation.npz", EXAMPLES / "conversation.rttm"
ROWS = np.eye(8)[[0, 0, 0, 1, 1, 1]] + 0.01
TWO = "SPEAKER a 1 0 1 <NA> <NA> s <NA> <NA>\nSPEAKER b 1 0 1 <NA> <NA> s <NA> <NA>\n"  # recordings


def test_diarize_writes_rttm_timeline_and_json(tmp_path):
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


def test_diarize_prints_rttm(tmp_path):
    windows = read_windows(CONVERSATION)
    np.save(tmp_path / "e.npy", windows.embeddings)
    rows = "".join(f"{a},{b}\n" for a, b in windows.times)
    (tmp_path / "s.csv").write_text("start,end\n" + rows)
    status, text, _ = call("diarize", str(tmp_path / "e.npy"), "--segments", str(tmp_path / "s.csv"), "-q", "-o", "-")
    assert status == 0
    assert list(parse_rttm(text)) == ["e"]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--reference", str(TRUTH), "-o", str(TRUTH)], r"is also an input file"),
        (["--collar", "0.25"], r"need --reference FILE"),
        (["--uri", "my talk"], r"without blanks"),
        (["-o", "out.txt"], r"Known: \.rttm"),
        (["--segments", "NOT.csv"], r"no file"),
    ],
)
def test_invalid_command_arguments_are_rejected(arguments, says):
    status, _, err = call("diarize", str(CONVERSATION), *arguments)
    assert status == 2
    assert re.search(says, err), err


def test_messages_name_the_files(tmp_path):
    np.save(tmp_path / "e.npy", ROWS)
    status, _, err = call("diarize", str(tmp_path / "e.npy"))
    assert status == 2
    assert "give --segments FILE" in err
    (tmp_path / "e.csv").write_text("name,x\nAda,1\nBob,2\n")
    err = call("diarize", str(tmp_path / "e.csv"))[2]
    assert "'name' is not numeric" in err
    assert "--ignore" not in err  # not an option of this command
    (tmp_path / "s.csv").write_text("start,end\n0,1\n1,2\n")
    status, _, err = call("diarize", str(tmp_path / "e.npy"), "--segments", str(tmp_path / "s.csv"))
    assert status == 2
    assert re.search(r"e\.npy' has 6 embeddings, but there are 2 segments in '.*s\.csv'", err)
    (tmp_path / "two.rttm").write_text(TWO)
    status, _, err = call("diarize", str(CONVERSATION), "--reference", str(tmp_path / "two.rttm"))
    assert status == 2
    assert "no recording 'conversation'. It has a, b: choose one with --uri" in err


def test_without_pyannote_the_command_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyannote.metrics.diarization", None)
    status, _, err = call("diarize", str(CONVERSATION), "--reference", str(TRUTH))
    assert status == 2
    assert "pip install 'modeseek[diarization]'" in err
