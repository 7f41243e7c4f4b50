"""Files that attack `diarize` and `segment`: a result, or one line that says what is wrong, and nothing written."""

import struct
import warnings
import zlib
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from commands import inside, run

pytest.importorskip("skimage")

rng = np.random.default_rng(0)
X = rng.normal(size=(30, 8)) + 5 * np.repeat(np.eye(3, 8), 10, axis=0)
TIMES = np.arange(30)[:, None] * 0.5 + [0, 1.0]
GREY = np.repeat(np.repeat(rng.random((3, 4)), 6, axis=0), 6, axis=1)


def changed(value):
    rows = X.copy()
    rows[0, 0] = value
    return rows


def ends(folder, *arguments):
    """Run a command; return its status and the last line of its errors."""
    before = inside(folder)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        status, out, err = run(*arguments, "-q")
    assert status in (0, 2), err
    assert out == ""
    assert "Traceback" not in err
    if status == 2:
        assert err.splitlines()[-1].startswith("error: ")
        assert inside(folder) == before
    return status, err


# ---------------------------------------- diarize

EMBEDDINGS = {
    "one huge number": (changed(1e300), TIMES, ""),
    "huge numbers": (X * 1e300, TIMES, ""),
    "tiny numbers": (X * 1e-310, TIMES, ""),
    "NaN": (changed(np.nan), TIMES, "has NaN or infinity"),
    "zeros": (np.zeros((30, 8)), TIMES, "is all zeros"),
    "equal rows": (np.ones((30, 8)), TIMES, ""),
    "one row": (X[:1], TIMES[:1], ""),
    "no rows": (X[:0], TIMES[:0], "one row per window"),
    "no columns": (X[:, :0], TIMES, "one row per window"),
    "a number": (np.array(3.0), TIMES, r"one row per window; got ()"),
    "a vector": (X[:, 0], TIMES, r"one row per window; got (30,)"),
    "three dimensions": (X[None], TIMES, r"one row per window; got (1, 30, 8)"),
    "objects": (np.array([[{}]] * 30), TIMES, "never loaded"),
    "complex": (X + 1j, TIMES, "must be real numbers"),
    "times that overflow": (X, TIMES * 1e307, "give start and end in seconds"),
    "equal times": (X, np.tile([0, 1.0], (30, 1)), "has the times of two others"),
    "times without end": (X, np.where(TIMES > 5, np.inf, TIMES), "finite numbers"),
    "reversed times": (X, TIMES[:, ::-1], "not duration"),
    "unsorted times": (X, TIMES[::-1], ""),
    "integer times beyond 2^53": (X, (TIMES * 2).astype(np.int64) + 2**62, "give start and end in seconds"),
    "text as times": (X, TIMES.astype(str), "must be numbers of shape (n, 2)"),
}


@pytest.mark.parametrize("case", EMBEDDINGS)
def test_embeddings(case, tmp_path):
    rows, times, says = EMBEDDINGS[case]
    np.savez(tmp_path / "s.npz", X=rows, times=times)
    status, err = ends(
        tmp_path, "diarize", tmp_path / "s.npz", "-o", tmp_path / "o.rttm", "--json", tmp_path / "o.json"
    )
    assert status == (2 if says else 0)
    assert says in err


SEGMENTS = {
    "binary": b"\x00\xff\x80",
    "UTF-16": ("start,end\n" + "".join(f"{a},{b}\n" for a, b in TIMES.tolist())).encode("utf-16"),
    "infinite": b"start,end\n" + b"0,1e400\n" * 30,
    "long cell": b"start,end\n" + b"0,1" + b" " * 200_000 + b"\n" + b"0,1\n" * 29,
    "open quote": b'start,end\n"0,1\n' * 30,
    "zero byte": b"start,end\n0,1\0\n" * 30,
}


@pytest.mark.parametrize("case", SEGMENTS)
def test_segments(case, tmp_path):
    np.save(tmp_path / "e.npy", X)
    (tmp_path / "s.csv").write_bytes(SEGMENTS[case])
    status, _ = ends(
        tmp_path, "diarize", tmp_path / "e.npy", "--segments", tmp_path / "s.csv", "-o", tmp_path / "o.rttm"
    )
    assert status == (0 if case == "UTF-16" else 2)


@pytest.mark.parametrize("name", ["a b.npz", "a\nb\t.npz", "é.npz", "<b>.npz", "a\u2028b.npz"])
def test_names_of_recordings(name, tmp_path):
    """A line end in the name of the file was refused by a traceback after the work."""
    np.savez(tmp_path / name, X=X, times=TIMES)
    assert ends(tmp_path, "diarize", tmp_path / name, "-o", tmp_path / "o.rttm")[0] == 0
    for line in (tmp_path / "o.rttm").read_text().splitlines():
        assert len(line.split()) == 10


@pytest.mark.parametrize("times", ["inf 1", "-5 1", "1e300 1e300", "1 0", "1 nan", "x 1"])
def test_references(times, tmp_path):
    pytest.importorskip("pyannote.metrics")
    np.savez(tmp_path / "s.npz", X=X, times=TIMES)
    (tmp_path / "r.rttm").write_text(f"SPEAKER s 1 {times} <NA> <NA> a <NA> <NA>\n")
    given = ["--reference", tmp_path / "r.rttm", "--timeline", tmp_path / "o.png"]
    assert ends(tmp_path, "diarize", tmp_path / "s.npz", *given, "-o", tmp_path / "o.rttm")[0] == 2


# ---------------------------------------- segment

ARRAYS = {
    "one pixel": (GREY[:1, :1], ""),
    "one row": (GREY[:1], ""),
    "equal pixels": (np.zeros((9, 9)), ""),
    "bits": (GREY > 0.5, ""),
    "huge numbers": (GREY * 1e300, ""),
    "both signs": ((GREY - 0.5) * 1e300, ""),
    "tiny numbers": (GREY * 1e-300, ""),
    "big-endian": (GREY.astype(">f4"), ""),
    "NaN": (np.where(GREY > 0.5, np.nan, GREY), "has NaN or infinity"),
    "infinity": (np.where(GREY > 0.5, np.inf, GREY), "has NaN or infinity"),
    "complex": (GREY + 1j, "is not an image"),
    "objects": (np.array([[None]]), "Python objects"),
    "text": (np.array([["a"]]), "is not an image"),
    "records": (np.zeros((4, 4), [("a", "f4")]), "is not an image"),
    "no pixels": (np.zeros((0, 5)), "is not an image"),
    "a number": (np.array(1.0), "--overlay is for images"),
    "a vector": (np.zeros(7), "--overlay is for images"),
    "64-bit integers": (np.full((4, 4), 2**63, np.uint64), "must be uint8"),
}


@pytest.mark.parametrize("case", ARRAYS)
def test_arrays(case, tmp_path):
    """The boundaries of an image of bits were drawn after the work, and a traceback was printed."""
    values, says = ARRAYS[case]
    np.save(tmp_path / "i.npy", values)
    outputs = ["-o", tmp_path / "o.npy", "--overlay", tmp_path / "o.png", "--json", tmp_path / "o.json"]
    status, err = ends(tmp_path, "segment", tmp_path / "i.npy", *outputs)
    assert status == (2 if says else 0)
    assert says in err


def chunk(kind, content):
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


def png(width, *more):
    header = struct.pack(">IIBBBBB", width, width, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + b"".join([chunk(b"IHDR", header), *more, chunk(b"IEND", b"")])


IMAGES = {
    "declares 10 GB": png(60_000, chunk(b"IDAT", zlib.compress(bytes(10**6)))),
    "text of 100 MB": png(8, chunk(b"zTXt", b"a\0\0" + zlib.compress(bytes(10**8))), chunk(b"IDAT", b"")),
    "no pixels": png(0, chunk(b"IDAT", zlib.compress(b""))),
    "cut short": png(8, chunk(b"IDAT", zlib.compress(bytes(99))))[:60],
}


@pytest.mark.parametrize("case", IMAGES)
def test_images(case, tmp_path):
    (tmp_path / "i.png").write_bytes(IMAGES[case])
    assert ends(tmp_path, "segment", tmp_path / "i.png", "-o", tmp_path / "o.npy")[0] == 2


@pytest.mark.parametrize("axis", ["3", "-4", "99999999999999999999"])
def test_axes_that_do_not_exist(axis, tmp_path):
    """IndexError."""
    Image.fromarray(np.zeros((9, 9, 3), np.uint8)).save(tmp_path / "i.png")
    given = ["segment", tmp_path / "i.png", "-o", tmp_path / "o.npy", "--channel-axis", axis]
    assert "must be an axis of" in ends(tmp_path, *given)[1]
    assert not Path(tmp_path, "o.npy").exists()
