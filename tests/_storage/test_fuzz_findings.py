"""Faults that the fuzzer found, each with a minimal file, and all inputs of its corpus."""

from __future__ import annotations

import io
import json
import lzma
import math
import re
import sys
import tracemalloc
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from modeseek import StochasticMeanShift
from modeseek._storage.chunks import open_chunks
from modeseek._storage.container import read_container, write_container
from modeseek._storage.errors import DataError, TextColumnError
from modeseek._storage.formats.declared_size import sheet_bytes
from modeseek._storage.image_files import read_image
from modeseek._storage.reading import read_arrays, read_table
from modeseek._storage.unpacking import limit_unpacked
from modeseek._storage.writing import check_writable, write_table
from modeseek.diarization import read_rttm, read_segments
from modeseek.io import load, save
from modeseek.io.models import StoredModel
from modeseek.meanshift.chains.checkpoint import StoredRuns
from modeseek.prepare import TablePreparer
from modeseek.sketches import SketchLayout

FUZZ = Path(__file__).parents[2] / "fuzz"
sys.path.insert(0, str(FUZZ))
from harnesses import CORPUS, HARNESSES, Escape, Harness, attempt, run_of_chains  # noqa: E402


@pytest.mark.parametrize("name", HARNESSES)
def test_stored_inputs_end_as_documented(name, tmp_path):
    if name in ("png", "jpeg", "bmp", "webp", "tiff"):
        pytest.importorskip("skimage")
    if name == "rttm":
        pytest.importorskip("pyannote.core")
    if name.startswith(("xlsx", "ods")):
        pytest.importorskip("python_calamine")
    if name == "duckdb":
        pytest.importorskip("duckdb")
    inputs = sorted((CORPUS / name).iterdir())
    ends = [attempt(HARNESSES[name], each.read_bytes(), tmp_path / f"input{HARNESSES[name].suffix}") for each in inputs]
    assert "" in ends, "a corpus of refusals only tests nothing"


def test_the_corpus_is_small():
    assert {each.name for each in CORPUS.iterdir()} == set(HARNESSES)
    assert sum(path.stat().st_size for path in CORPUS.rglob("*") if path.is_file()) < 200_000


def refused(path, read=read_table):
    with pytest.raises(DataError) as caught:
        read(path)
    assert str(path) in str(caught.value)
    return str(caught.value)


def npy(header: str, body: bytes = b"") -> bytes:
    text = header.encode() + b"\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + body


@pytest.mark.parametrize(
    "header",
    [
        "{'descr': '<f8', 'fortran_order': False, 'shape': (",  # was tokenize.TokenError
        "{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999999999999,)}",  # was OverflowError
        "{'descr': '<f8', 'fortran_order': False, 'shape': (" + "(" * 150 + ")" * 150 + ",)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (-1,)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000,)}",  # declares 8 TB
    ],
)
def test_headers_of_npy(header, tmp_path):
    path = tmp_path / "a.npy"
    path.write_bytes(npy(header))
    refused(path)
    refused(path, lambda path: open_chunks([path]))
    refused(path, read_arrays)
    refused(path, read_image)
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
        archive.writestr("X.npy", npy(header))
    refused(tmp_path / "a.npz")
    refused(tmp_path / "a.npz", read_arrays)


def test_numbers_beyond_float64_are_refused_without_a_warning(tmp_path):
    """The cast of a signalling NaN, and of a long double beyond float64, issued a warning."""
    path = tmp_path / "a.npy"
    path.write_bytes(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (1,)}", b"\x01\x00\xa0\x7f"))
    with pytest.raises(DataError, match="a missing value"):
        read_table(path).features()
    if np.finfo(np.longdouble).max > np.finfo(float).max:
        np.save(path, np.array([np.longdouble(10) ** 400]))
        with pytest.raises(DataError, match="an infinite value"):
            read_table(path).features()


@pytest.mark.parametrize(
    ("place", "value", "match"),
    [
        (8, 1, "encrypted"),  # was RuntimeError
        (8, 0x40, "encrypt|damaged"),  # strong encryption: was NotImplementedError
        (8, 0x20, "damaged"),  # patched data
        (10, 77, "damaged"),  # an unknown way of packing
        (6, 200, "cut short or not a NumPy file"),  # a version of ZIP from the future
    ],
)
def test_archives_that_zipfile_cannot_read(place, value, match, tmp_path):
    path, file = tmp_path / "a.npz", io.BytesIO()
    np.savez(file, X=np.ones((2, 2)))
    data = bytearray(file.getvalue())
    data[data.index(b"PK\x01\x02") + place] = value
    path.write_bytes(data)
    for read in (read_table, read_arrays):
        with pytest.raises(DataError, match=match):
            read(path)


def parquet(path, table, **options):
    pq.write_table(table, path, **options)
    return path


def both(path):
    """Read whole and in blocks."""
    read_table(path)
    list(open_chunks([path]).read())


@pytest.mark.parametrize(
    "notes",
    [b"", b"no JSON", b"\xff", b"[1]", b"3", json.dumps({"index_columns": 3}).encode(), b'{"index_columns": ["z", 1]}'],
)
def test_unreadable_pandas_metadata_are_ignored(notes, tmp_path):
    """They raised errors of JSON and Unicode, although the numbers can be read."""
    table = pa.table({"a": [1.0, 2.0]}).replace_schema_metadata({"pandas": notes})
    path = parquet(tmp_path / "a.parquet", table)
    assert read_table(path).row_names == ()
    assert open_chunks([path]).columns == ("a",)


def test_dates_beyond_python_pass_through_but_are_no_features(tmp_path):
    path = parquet(tmp_path / "a.parquet", pa.table({"a": pa.array([2**30], pa.date32()), "x": [1.5]}))
    for table in (read_table(path), next(open_chunks([path]).read()).table):
        with pytest.raises(TextColumnError, match="column 'a' is not numeric"):
            table.features()
        write_table(table, tmp_path / "b.parquet", {})
        assert pq.read_table(tmp_path / "b.parquet").equals(pq.read_table(path))
        write_table(table, tmp_path / "b.csv", {})
        assert "out of range" in (tmp_path / "b.csv").read_text()


def test_column_names_that_are_not_text_are_refused(tmp_path):
    path = parquet(tmp_path / "a.parquet", pa.table({"name": [1.0, 2.0]}), store_schema=False)
    path.write_bytes(path.read_bytes().replace(b"name", b"na\xfce"))
    refused(path, both)
    refused(path, lambda path: list(open_chunks([path]).read()))


def test_a_truncated_column_is_refused_in_chunks_too(tmp_path, monkeypatch):
    """In chunks, Arrow read such a file as one without rows, without an error."""
    path = parquet(tmp_path / "a.parquet", pa.table({"a": [1.0, 2.0], "b": [3.0, 4.0]}))
    monkeypatch.setattr(pq.ParquetFile, "iter_batches", lambda *args, **options: iter(()))
    with pytest.raises(DataError, match="holds 0 of 2 rows: it is damaged"):
        list(open_chunks([path]).read())


@pytest.mark.parametrize("times", ["1e308 1e308", "5 1e-300"])
def test_turns_without_an_end(times, tmp_path):
    """A turn that ends at infinity, or where it begins."""
    path = tmp_path / "a.rttm"
    path.write_text(f"SPEAKER talk 1 {times} <NA> <NA> ann <NA> <NA>\n")
    assert "line 1" in refused(path, read_rttm)


def test_durations_whose_sum_overflows(tmp_path):
    """NumPy warned, and the end was infinite."""
    path = tmp_path / "a.csv"
    path.write_text("start,duration\n0,1\n1e308,1e308\n")
    assert "line 3" in refused(path, read_segments)


def test_arrays_that_are_not_images(tmp_path):
    """An archive was returned as an array, and records as pixels."""
    path, file = tmp_path / "a.npy", io.BytesIO()
    np.savez(file, X=np.ones((2, 2)))
    path.write_bytes(file.getvalue())
    assert "archive" in refused(path, read_image)
    for array in (np.array(["a"]), np.zeros(2, dtype=[("a", "i4")]), np.array([1j]), np.zeros((0, 3))):
        np.save(path, array)
        assert "not an image" in refused(path, read_image)


def test_a_tiff_that_declares_a_terabyte_is_refused_before_allocation(tmp_path):
    tifffile = pytest.importorskip("tifffile")
    path = tmp_path / "a.tif"
    tifffile.imwrite(path, np.zeros((64, 64), np.uint8), compression="zlib", metadata=None)
    with tifffile.TiffFile(path, mode="r+") as file:
        for tag in ("ImageWidth", "ImageLength", "RowsPerStrip"):
            file.pages[0].tags[tag].overwrite(60_000)
    assert "unpacks to 3.6 GB" in refused(path, read_image)


@pytest.mark.parametrize("big", [False, True])
def test_a_tiff_with_a_cycle_of_pages_is_refused(big, tmp_path):
    """tifffile followed the cycle without end."""
    tifffile = pytest.importorskip("tifffile")
    path = tmp_path / "a.tif"
    tifffile.imwrite(path, np.zeros((4, 4), np.uint8), bigtiff=big, metadata=None)
    assert read_image(path).values.shape == (4, 4)
    with tifffile.TiffFile(path) as file:
        first = file.pages[0].offset
    data = bytearray(path.read_bytes())
    wide, counted, tag = (8, 8, 20) if big else (4, 2, 12)
    tags = int.from_bytes(data[first : first + counted], "little")
    end = first + counted + tags * tag
    data[end : end + wide] = first.to_bytes(wide, "little")
    path.write_bytes(data)
    assert "cycle" in refused(path, read_image)


# each with a valid checksum; the run that continued from it ended in an error, or continued from nonsense
HOSTILE = {
    "points that are no numbers": lambda run: run.state.points.fill(np.nan),
    "points far out": lambda run: run.state.points.fill(1e200),
    "shifts that are no numbers": lambda run: run.state.last_shift.fill(np.nan),
    "no bandwidth": lambda run: run._replace(state=run.state._replace(h=0.0)),
    "a bandwidth that cannot be squared": lambda run: run._replace(state=run.state._replace(h=1e200)),
    "fewer updates than none": lambda run: run._replace(state=run.state._replace(k=-1)),
    "updates beyond all counts": lambda run: run._replace(state=run.state._replace(k=1 << 62)),
    "half an update": lambda run: run._replace(state=run.state._replace(k=1.5)),
    "sweeps in words": lambda run: run._replace(sweeps="1"),
    "no time": lambda run: run._replace(seconds=-1.0),
    "an interval of nothing": lambda run: entries(run, "gap", every=0),
    "a quantity that is missing": lambda run: run.trace.pop("gap") and None,
    "a quantity too many": lambda run: run.trace.update(diameter=run.trace["gap"]),
    "entries of another shape": lambda run: entries(run, "h", at=np.zeros((3, 1), np.int64)),
    "entries that are no whole numbers": lambda run: entries(run, "h", at=1.0 * run.trace["h"].at),
    "values of another shape": lambda run: entries(run, "h", values=run.trace["h"].values[:, None]),
    "snapshots of another shape": lambda run: entries(run, "snapshots", values=np.zeros((2, 3))),
    "early draws of two lengths": lambda run: run._replace(early=run.early._replace(k=run.early.k[:-1])),
    "early draws in a table": lambda run: run._replace(early=run.early._replace(k=run.early.k[:, None])),
    "values that are true or false": lambda run: entries(run, "h", values=run.trace["h"].values > 0),
    "early draws that are whole numbers": lambda run: run._replace(early=run.early._replace(values=run.early.k)),
    "draws that overflow": lambda run: run.trace["h"].at.fill(1 << 62),
}


def entries(run, name, **changes):
    return run._replace(trace=run.trace | {name: run.trace[name]._replace(**changes)})


@pytest.mark.parametrize("what", HOSTILE)
@pytest.mark.filterwarnings("ignore::modeseek._common.hints.CheckpointWarning")
def test_hostile_checkpoints_are_refused(what, tmp_path):
    path = tmp_path / "run.ckpt"
    run_of_chains(path, 1)
    run_of_chains(path, 2)  # as it is, runs continue from it
    stored = read_container(path, "checkpoint", StoredRuns, "Run it again.")
    changed = HOSTILE[what](stored.runs[0]) or stored.runs[0]
    write_container(path, "checkpoint", stored._replace(runs=(changed, *stored.runs[1:])))
    before = path.read_bytes()
    assert "wrong part" in refused(path, lambda path: run_of_chains(path, 3))
    assert path.read_bytes() == before


@pytest.mark.filterwarnings("ignore::modeseek._common.hints.CheckpointWarning")
def test_an_identity_with_arrays_is_refused(tmp_path):
    """Comparing it with that of the run raised NumPy's error."""
    run_of_chains(tmp_path / "run.ckpt", 1)
    stored = read_container(tmp_path / "run.ckpt", "checkpoint", StoredRuns, "")
    write_container(tmp_path / "run.ckpt", "checkpoint", stored._replace(identity={"tau": np.arange(3)}))
    assert "identity of StoredRuns" in refused(tmp_path / "run.ckpt", lambda path: run_of_chains(path, 3))


def test_a_chunk_of_blank_lines_in_a_file_with_one_column(tmp_path):
    """An empty filter has no type."""
    (tmp_path / "a.csv").write_text("b\n1\n\n\n\n\n\n2\n")
    chunks = open_chunks([tmp_path / "a.csv"], chunk_bytes=2)
    assert [cell for chunk in chunks.read() for cell in chunk.table.cells[0]] == ["1", "2"]


def test_a_single_quote_is_a_cell_of_a_file_split_at_blanks(tmp_path):
    """It was skipped as a blank row, and then there were no rows."""
    (tmp_path / "a.csv").write_text('"a ""b"","2\n"')
    assert "line 2: expected 2 fields as in line 1, found 1" in refused(tmp_path / "a.csv")


def test_a_stream_with_a_sketch_beside_waiting_rows_is_refused(tmp_path):
    """It was accepted, and the next batch failed at an assertion."""
    path = tmp_path / "a.modeseek"
    save(StochasticMeanShift(1.0, random_state=0).partial_fit([[0.0], [1.0]]), path)
    assert load(path).partial_fit([[2.0]]).finalize().n_clusters_ >= 1
    stored = read_container(path, "model", StoredModel, "Save it again.")
    sketch = SketchLayout.of(np.ones((2, 1))).empty().add(np.ones((2, 1)))
    stream = replace(stored.state.stream, sketch=sketch)
    write_container(path, "model", stored._replace(state=stored.state._replace(stream=stream)))
    assert "pending batches beside a sketch" in refused(path, load)


@pytest.mark.parametrize(
    "does",
    [
        lambda path: __import__("pickle").loads(b"cos\nsystem\n."),
        lambda path: __import__("subprocess").run(["true"]),
        lambda path: Path(path.parent.parent / "elsewhere").write_text(""),
        lambda path: path.rename(path.parent.parent / "elsewhere"),
    ],
    ids=["pickle", "program", "writes", "moves"],
)
def test_the_fuzzer_detects_a_reader_with_side_effects(does, tmp_path):
    (tmp_path / "a").mkdir()
    with pytest.raises(Escape):
        attempt(Harness(".x", does), b"", tmp_path / "a" / "input.x")


def test_an_image_that_declares_a_huge_size_is_refused_before_allocation(tmp_path):
    """300 bytes became 38 million pixels; Pillow detects the format from the content, not from the ending."""
    image = pytest.importorskip("PIL.Image")
    path = tmp_path / "a.bmp"
    image.fromarray(np.zeros((2, 4), np.uint8)).save(path)
    data = bytearray(path.read_bytes())
    data[18:22] = (1_000_000).to_bytes(4, "little")
    for path in (tmp_path / "a.bmp", tmp_path / "a.png"):
        path.write_bytes(data)
        assert "bytes of pixels in a file of" in refused(path, read_image)


def test_images_of_other_formats_are_not_opened(tmp_path):
    """Pillow would start an external program for PostScript, for any ending."""
    pytest.importorskip("PIL.Image")
    path = tmp_path / "a.png"
    path.write_bytes(b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n%%EndComments\nshowpage\n")
    assert "cannot identify image file" in refused(path, read_image)


def test_an_xz_file_that_declares_a_huge_dictionary_is_refused_before_allocation(tmp_path):
    """83 bytes took 4 GB."""
    content = lzma.compress(b"x,y\n1,2\n3,4\n", lzma.FORMAT_ALONE)
    path = tmp_path / "rows.csv.xz"
    path.write_bytes(content[:1] + (0xFFFFFFFF).to_bytes(4, "little") + content[5:])
    with pytest.raises(DataError, match=r"rows\.csv\.xz' declares a dictionary that needs too much memory"):
        read_table(path)
    with limit_unpacked(math.inf):
        assert read_table(path).n_rows == 2
    path.write_bytes(lzma.compress(b"x,y\n1,2\n3,4\n", preset=9))
    with limit_unpacked(100):
        assert read_table(path).n_rows == 2


def arrow_file(path, field, values):
    table = pa.table({"x": [1.0, 2.0], "odd": pa.array(values, field)})
    with pa.ipc.new_file(path, table.schema) as writer:
        writer.write_table(table)
    return path


def test_names_of_fields_that_are_not_utf8_are_refused(tmp_path):
    """Converting the values raised an error of Arrow."""
    path = arrow_file(tmp_path / "a.arrow", pa.struct([("inner", pa.int64())]), [{"inner": 1}, {"inner": 2}])
    path.write_bytes(path.read_bytes().replace(b"inner", b"\xa0nner"))
    with pytest.raises(DataError, match=r"a\.arrow' cannot be read as Arrow"):
        read_table(path)


def test_decimals_of_any_scale_are_refused(tmp_path):
    path = arrow_file(tmp_path / "a.arrow", pa.decimal128(2, 1000), [None, None])
    with pytest.raises(DataError, match="decimals of odd have the scale 1000"):
        read_table(path)


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        (pa.timestamp("s"), [0, 2307547076413693952]),
        (pa.decimal128(2, 5), [None, None]),
        (pa.decimal128(2, -3), [0, 0]),
    ],
)
def test_values_that_parquet_lacks_are_refused_before_the_work(kind, values, tmp_path):
    """Writing raised an error of Arrow."""
    table = read_table(arrow_file(tmp_path / "a.arrow", kind, values))
    with pytest.raises(DataError, match=r"column 'odd' has the type .*, which Parquet does not have"):
        check_writable(table, tmp_path / "o.parquet")
    write_table(table, tmp_path / "o.csv", {})


@pytest.mark.parametrize("name", ["a.npz", "a.csv.zip", "a.xlsx"])
def test_archives_that_declare_huge_members_are_refused_before_allocation(name, tmp_path):
    """As many bytes as the archive declared were allocated, at most 2 GB, to read them."""
    path = tmp_path / name
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("X.npy", b"x\n1\n")
    content = path.read_bytes()
    at = content.index(b"PK\x01\x02")
    path.write_bytes(content[: at + 20] + (2**31 - 2).to_bytes(4, "little") + content[at + 24 :])
    tracemalloc.start()
    try:
        with pytest.raises(DataError, match=re.escape(name)):
            read_table(path)
        assert tracemalloc.get_traced_memory()[1] < 1e8
    finally:
        tracemalloc.stop()


def test_repeated_names_with_numbers_stay_different(tmp_path):
    """The third column was taken for the second."""
    path = tmp_path / "a.csv"
    path.write_text("a,a.2,a\n1,10,5\n2,20,9\n3,30,4\n")
    values = TablePreparer(scale="none").fit_transform(read_table(path))
    np.testing.assert_array_equal(values, [[1, 10, 5], [2, 20, 9], [3, 30, 4]])


def test_missing_values_that_a_file_denies_can_be_written(tmp_path):
    """Writing raised an error of Arrow."""
    schema = pa.schema([pa.field("x", pa.int64(), nullable=False), pa.field("y", pa.int64(), nullable=False)])
    batch = pa.record_batch([pa.array([1, None]), pa.array([1, 2])], schema=schema)
    with pa.ipc.new_file(tmp_path / "a.arrow", schema) as writer:
        writer.write_batch(batch)
    write_table(read_table(tmp_path / "a.arrow"), tmp_path / "o.parquet", {})
    found = pq.read_table(tmp_path / "o.parquet")
    assert found.column("x").to_pylist() == [1, None]
    assert [field.nullable for field in found.schema] == [True, False]


@pytest.mark.parametrize("place", ["XFE1", "Brow1", "A1048577"])
def test_cells_outside_of_any_sheet_are_refused(place):
    """A small sheet with 47,000 columns took minutes."""
    content = f'<worksheet><sheetData><row><c r="{place}"/></row></sheetData></worksheet>'
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("sheet.xml", content)
    with zipfile.ZipFile(stream) as archive, pytest.raises(ValueError, match="beyond the 1,048,576 rows"):
        sheet_bytes(archive)
