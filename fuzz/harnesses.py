"""What is fuzzed: a reader, the files it is for, and what must hold of whatever it takes.

To add a reader, write a function that reads a path and asserts what must hold, make a seed or two in `seeds.py`, and
add a line to `HARNESSES`.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from archives import ods_of, unsparse, xlsx_of
from seals import mutated, sealed

from modeseek._common.hints import AdviceWarning, CheckpointWarning
from modeseek._storage.chunks import open_chunks
from modeseek._storage.errors import DataError
from modeseek._storage.image_files import read_image
from modeseek._storage.reading import read_arrays, read_table
from modeseek._storage.table import Table
from modeseek._storage.writing import write_table
from modeseek.diarization import read_rttm, read_segments
from modeseek.diarization.rttm import read_turns
from modeseek.diarization.segment_files import read_windows
from modeseek.io import read_model
from modeseek.meanshift.bandwidth import Shrinking
from modeseek.meanshift.chains import Chain, Checkpoint, Record, Stopping, doubly_stochastic, make_problem
from modeseek.meanshift.ensemble import make_chains, run_chains

__all__ = ["CORPUS", "HARNESSES", "Harness", "attempt", "chains", "run_of_chains"]

CORPUS = Path(__file__).parent / "corpus"
# bytes of a block, so few that even small inputs have several
BLOCK = 64


class Harness(NamedTuple):
    """A reader to be fuzzed.

    Attributes
    ----------
    suffix : str
        Ending of the file that it reads.
    read : callable
        Reads a path. It may raise a ValueError (a DataError is one) that names the file; all else is a finding.
    longest : int
        Bytes of the longest input.
    made : callable
        Makes the bytes of the file of an input.
    mutated : callable, optional
        Changes an input, with a seed, besides what the fuzzer does to bytes; may return None.
    """

    suffix: str
    read: Callable[[Path], None]
    longest: int = 1024
    made: Callable[[bytes], bytes] = bytes
    mutated: Callable[[bytes, int], bytes | None] | None = None


class Escape(Exception):
    """A reader did what no file may make it do."""


# what a file may not lead to; compiling is not among it, as headers of NumPy are literals of Python
FORBIDDEN = ("pickle.find_class", "subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.fork", "os.putenv")
WRITES = os.O_WRONLY | os.O_RDWR
FORBIDDEN += ("socket.connect", "socket.bind", "shutil.rmtree")
_watched: list[Path] = []


def _compiling() -> bool:
    """Numba keeps what it has compiled in pickles."""
    frame = sys._getframe(2)
    while frame is not None and not str(frame.f_globals.get("__name__")).startswith("numba."):
        frame = frame.f_back  # type: ignore[assignment]
    return frame is not None


def _watch(event: str, arguments: tuple[Any, ...]) -> None:
    if not _watched:
        return
    if event in FORBIDDEN and not _compiling():
        raise Escape(f"{event} {arguments}")
    if event == "os.rename" or (event == "open" and isinstance(arguments[2], int) and arguments[2] & WRITES):
        target = arguments[event == "os.rename"]
        named = os.fsdecode(target) if isinstance(target, (str, bytes, os.PathLike)) else ""
        if Path(named).parent != _watched[-1].parent and not _compiling():
            raise Escape(f"{event} {arguments}")


@contextmanager
def _guarded(path: Path) -> Iterator[None]:
    """Raise `Escape` where a reader starts a program, loads code, opens a connection or writes beside its file."""
    if not getattr(sys, "_modeseek_watched", False):
        sys.addaudithook(_watch)
        sys._modeseek_watched = True  # type: ignore[attr-defined]
    _watched.append(path)
    try:
        yield
    finally:
        _watched.clear()


def attempt(harness: Harness, data: bytes, path: Path) -> str:
    """Read one input; return why it was refused, or "" where it was taken. Any other end is raised: a finding."""
    path.write_bytes(harness.made(data))
    try:
        with warnings.catch_warnings(), _guarded(path):
            warnings.simplefilter("error")
            harness.read(path)
    except ValueError as error:
        if str(path) not in str(error):
            raise
        return str(error)
    return ""


def _table(path: Path) -> None:
    """Whole and in blocks, all columns and only those that are numbers: the same rows, or refused every way."""
    try:
        whole = read_table(path)
    except DataError:
        try:
            list(open_chunks([path], chunk_bytes=BLOCK).read())
        except DataError:
            raise
        raise AssertionError("read in blocks, and refused whole") from None
    assert len(whole.columns) == len(whole.cells) > 0
    assert all(len(cells) == whole.n_rows for cells in whole.cells)
    chunks = open_chunks([path], chunk_bytes=BLOCK)
    parts = [chunk.table for chunk in chunks.read()]
    for j, cells in enumerate(whole.cells):
        assert _same(cells, np.concatenate([part.cells[j] for part in parts])), whole.columns[j]
    values = _numbers(whole)
    fast = [chunk.table.features(whole.features().names).values for chunk in chunks.read(only=whole.features().names)]
    assert _same(values, np.concatenate(fast))


def _numbers(table: Table) -> np.ndarray:
    values = table.features().values
    assert values.dtype == np.float64
    assert values.shape[0] == table.n_rows
    assert np.isfinite(values).all()
    return values


def _same(one: np.ndarray, two: np.ndarray) -> bool:
    if one.dtype.kind != "O":
        return np.array_equal(one, two, equal_nan=one.dtype.kind == "f")
    return len(one) == len(two) and repr(one.tolist()) == repr(two.tolist())


def _whole(path: Path) -> None:
    """All rows, which are then written in formats with and without types, and read again."""
    table = read_table(path)
    assert len(table.columns) == len(table.cells) > 0
    assert all(len(cells) == table.n_rows for cells in table.cells)
    for ending in (".csv", ".jsonl", ".parquet"):
        target = Path(f"{path}{ending}")
        try:
            write_table(table, target, {})
        except DataError:
            continue
        if ending != ".csv":  # a row of empty cells is a blank line
            assert read_table(target).n_rows == table.n_rows


def _archive(path: Path) -> None:
    _numbers(read_table(path))


def _arrays(path: Path) -> None:
    windows = read_windows(path)
    assert all(array.dtype.kind != "O" for array in read_arrays(path).values())
    assert windows.times is None or windows.times.dtype == np.float64


def _rttm(path: Path) -> None:
    for turns in read_turns(path).values():
        assert all(0 <= turn.start < turn.end < np.inf for turn in turns)
    read_rttm(path)


def _segments(path: Path) -> None:
    times = read_segments(path)
    assert times.ndim == 2
    assert times.shape[1] == 2
    assert np.isfinite(times).all()
    assert (times[:, 0] >= 0).all()
    assert (times[:, 1] > times[:, 0]).all()


def _picture(path: Path) -> None:
    values = read_image(path).values
    assert isinstance(values, np.ndarray)
    assert values.size
    assert values.dtype.kind in "biuf"
    assert np.asarray(values).ravel()[-1] is not None


def _model(path: Path) -> None:
    """Whatever is taken can be asked, and answers with a cluster that is there, or refuses in a known way."""
    warnings.simplefilter("ignore", AdviceWarning)
    warnings.filterwarnings("ignore", category=UserWarning, module="sklearn")
    model = read_model(path).model
    fitted, rows = hasattr(model, "labels_"), np.ones((2, min(getattr(model, "n_features_in_", 1), 64)))
    try:
        if fitted:
            labels = model.predict(rows)
            assert labels.shape == (2,)
            assert (labels >= -1).all()
            assert (labels < max(model.n_clusters_, 1)).all()
        if hasattr(model, "tree_"):
            model.tree_.cut(0.5)
        if "_stream" in vars(model):
            model.partial_fit(rows)
    # what an estimator says of parameters that it cannot work with
    except (ValueError, TypeError, AttributeError):
        pass


def chains() -> list[Chain]:
    """Return the chains whose checkpoints are in the corpus."""
    points = make_problem(np.array([[0.0, 0.0], [0.1, 0.0], [0.0, 0.2], [3.0, 3.0], [3.1, 3.0]]), engine="reference")
    return make_chains(partial(doubly_stochastic, points, Shrinking(0.4, 1.6, 0.8), seed=0), 2)


def run_of_chains(path: Path, sweeps: int) -> None:
    """Run the chains, or resume them from a checkpoint."""
    stopping = Stopping(tau=0.1, threshold=0.0, max_sweeps=sweeps)
    record = Record(clumps=1, gap=2, objective=3, snapshots=1, limit=16)
    results = run_chains(chains(), stopping, n_jobs=1, record=record, checkpoint=Checkpoint(path))
    assert all(np.isfinite(result.state.points).all() for result in results)
    assert results[0].trace.snapshots is not None


def _checkpoint(path: Path) -> None:
    """Check that a run can resume from every accepted checkpoint, for one or two sweeps."""
    warnings.simplefilter("ignore", CheckpointWarning)
    run_of_chains(path, 3)


HARNESSES = {
    "csv": Harness(".csv", _table, 512),
    "tsv": Harness(".tsv", _table, 512),
    "parquet": Harness(".parquet", _table, 4096),
    "npy": Harness(".npy", _table, 512),
    "npz": Harness(".npz", _archive, 2048),
    "gz": Harness(".csv.gz", _table, 512),
    "bz2": Harness(".csv.bz2", _table, 512),
    "xz": Harness(".csv.xz", _table, 512),
    "zst": Harness(".csv.zst", _table, 512),
    "arrow": Harness(".arrow", _whole, 4096),
    "json": Harness(".jsonl", _whole, 512),
    "xlsx": Harness(".xlsx", _whole, 8192),
    "xlsx-sealed": Harness(".xlsx", _whole, 1024, xlsx_of),
    "ods-sealed": Harness(".ods", _whole, 1024, ods_of),
    "sqlite": Harness(".db", _whole, 4096),
    "duckdb": Harness(".duckdb", _whole, 8192, unsparse),
    "windows": Harness(".npz", _arrays, 2048),
    "rttm": Harness(".rttm", _rttm, 512),
    "lab": Harness(".lab", _segments, 256),
    "segments": Harness(".csv", _segments, 256),
    "png": Harness(".png", _picture, 1024),
    "jpeg": Harness(".jpg", _picture, 2048),
    "bmp": Harness(".bmp", _picture, 1024),
    "webp": Harness(".webp", _picture, 1024),
    "tiff": Harness(".tif", _picture, 1024),
    "array": Harness(".npy", _picture, 512),
    "model": Harness(".modeseek", _model, 6144),
    "model-sealed": Harness(".modeseek", _model, 8192, sealed, mutated),
    "checkpoint": Harness(".ckpt", _checkpoint, 6144),
    "checkpoint-sealed": Harness(".ckpt", _checkpoint, 8192, sealed, mutated),
}
