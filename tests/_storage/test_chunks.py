"""Reading and writing in chunks gives the same rows and files as in one piece."""

import functools
import operator
import os

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from modeseek._common.scaling import Moments
from modeseek._storage.cells import _cell_by_cell, to_numbers
from modeseek._storage.chunks import open_chunks
from modeseek._storage.errors import DataError, SourceChangedError, WriteError
from modeseek._storage.formats.base import OutputSpec
from modeseek._storage.reading import read_table
from modeseek._storage.work_folder import WorkFolder
from modeseek._storage.writing import ChunkWriter, check_writable, write_table
from modeseek.prepare.scaling import fit_scaling

RNG = np.random.default_rng(0)
NUMBERS = RNG.normal(size=(300, 2))
CELLS = st.text(st.sampled_from(['"', "\n", "\r", ",", "a", "é", " "]), max_size=6)


def write_csv(path, rows, names=("name", "width", "height")):
    def quoted(cell):
        text = str(cell)
        return '"' + text.replace('"', '""') + '"' if any(c in text for c in ',"\n\r') else text

    lines = [",".join(names), *(",".join(map(quoted, row)) for row in rows)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8", newline="")
    return path


@pytest.fixture
def files(tmp_path):
    """The same rows as text, Parquet in two row groups, and NPY in both orders."""
    rows = [(f"p{i}", a, b) for i, (a, b) in enumerate(NUMBERS.tolist())]
    write_csv(tmp_path / "a.csv", rows)
    table = pa.table({"name": [row[0] for row in rows], "width": NUMBERS[:, 0], "height": NUMBERS[:, 1]})
    pq.write_table(table, tmp_path / "a.parquet", row_group_size=170)
    np.save(tmp_path / "a.npy", NUMBERS)
    np.save(tmp_path / "f.npy", np.asfortranarray(NUMBERS.astype(np.float32)))
    return tmp_path


def cells_of(chunks, *place):
    found = [chunk.table.cells for chunk in chunks.read(*place)]
    return [np.concatenate(columns).tolist() for columns in zip(*found, strict=True)]


@pytest.mark.parametrize("name", ["a.csv", "a.parquet", "a.npy", "f.npy"])
@pytest.mark.parametrize("block", [64, 1000, 1 << 20])
def test_chunks_have_the_rows_of_the_whole_file(files, name, block):
    whole = read_table(files / name)
    chunks = open_chunks([files / name], chunk_bytes=block)
    assert cells_of(chunks) == [column.tolist() for column in whole.cells]
    assert chunks.columns == whole.columns
    blocks = list(chunks.read())
    assert (len(blocks) > 2) == (block < 1 << 20)
    assert blocks[-1].done == chunks.size
    done = [chunk.done for chunk in blocks]
    assert done == sorted(done)


@pytest.mark.parametrize("name", ["a.csv", "a.parquet", "a.npy"])
def test_reading_can_start_at_any_chunk(files, name):
    chunks = open_chunks([files / name, files / name], chunk_bytes=500)
    blocks = list(chunks.read())
    for at in (0, 3, len(blocks) // 2, len(blocks) - 2, len(blocks) - 1):
        rest = list(chunks.read(blocks[at].after))
        assert [chunk.after for chunk in rest] == [chunk.after for chunk in blocks[at + 1 :]]
        for one, other in zip(rest, blocks[at + 1 :], strict=True):
            assert one.table.place(0) == other.table.place(0)
            assert [c.tolist() for c in one.table.cells] == [c.tolist() for c in other.table.cells]


@given(
    rows=st.lists(st.tuples(CELLS, st.integers(0, 99), CELLS), min_size=3, max_size=12), chunk_bytes=st.integers(1, 60)
)
def test_line_ends_within_quotes_do_not_end_rows(rows, chunk_bytes, tmp_path_factory):
    path = write_csv(tmp_path_factory.mktemp("q") / "q.csv", rows, ("name", "width", "note"))
    whole = read_table(path, header=True)
    chunks = open_chunks([path], chunk_bytes=chunk_bytes, header=True)
    assert cells_of(chunks) == [column.tolist() for column in whole.cells]
    assert np.concatenate([chunk.table.lines for chunk in chunks.read()]).tolist() == whole.lines.tolist()


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("text", ["a,b\n1,2\n3,4\n5,6\n7,8", "\ufeffa b\n1 2\n\n3  4\n5 6\n", "1;2\n3;4\n5;6\n"])
def test_delimited_text_with_unusual_lines(tmp_path, text, end):
    path = tmp_path / "t.txt"
    path.write_text(text, encoding="utf-8", newline=end if end != "\n" else "")
    whole = read_table(path)
    for block in (3, 8, 100):
        assert cells_of(open_chunks([path], chunk_bytes=block)) == [column.tolist() for column in whole.cells]


@pytest.mark.parametrize("name", ["a.csv", "a.parquet"])
def test_only_the_columns_that_are_needed(files, name):
    every = list(open_chunks([files / name], chunk_bytes=1000).read())
    some = list(open_chunks([files / name], chunk_bytes=1000).read(only=["height", "width"]))
    for one, other in zip(every, some, strict=True):
        assert sorted(other.table.columns) == ["height", "width"]
        expected, found = (each.table.features(["height", "width"]).values for each in (one, other))
        np.testing.assert_array_equal(expected, found)
        assert one.table.place(3) == other.table.place(3)


def read_all(path, only):
    for chunk in open_chunks([path], chunk_bytes=1000).read(only=only):
        chunk.table.features(["width", "height"])


def last_error(path, only):
    with pytest.raises(DataError) as caught:
        read_all(path, only)
    return str(caught.value)


@pytest.mark.parametrize("only", [None, ["width", "height"]])
def test_errors_name_file_and_line(files, only):
    path = files / "a.csv"
    lines = path.read_text().splitlines()
    for cell, message in [
        ("x", "is not numeric: row 250 (line 251) has 'x'"),
        ("", "row 250 (line 251) has a missing"),
    ]:
        path.write_text("\n".join([*lines[:250], f"p,{cell},1", *lines[251:]]))
        error = last_error(path, only)
        assert message in error
        assert "a.csv" in error
    path.write_text("\n".join([*lines[:250], "p,1", *lines[251:]]))
    assert "line 251: expected 3 fields as in line 1, found 2" in last_error(path, only)
    path.write_bytes("\n".join([*lines[:250], "p,1,é\x01", *lines[251:]]).encode("latin-1"))
    assert "line 251: byte 0xe9 is not UTF-8" in last_error(path, only)
    path.write_text("\n".join([*lines[:250], 'p,"1,2', *lines[251:]]))
    assert "line 251: unexpected end of data" in last_error(path, only)


def test_input_that_changes_is_an_error(files):
    for name, more in (("a.csv", b"p,1,2\n"), ("a.npy", bytes(16)), ("a.parquet", b"x")):
        path = files / name
        chunks = open_chunks([path], chunk_bytes=1000)
        read = chunks.read()
        next(read)
        with path.open("ab") as stream:
            stream.write(more)
        with pytest.raises(SourceChangedError, match=f"{name}' has changed while it was being read"):
            list(read)
        with pytest.raises(SourceChangedError):
            next(chunks.read())


def test_bytes_after_an_array_are_refused(files):
    """Rows that were appended to the file without updating its header were silently left out."""
    with (files / "a.npy").open("ab") as stream:
        stream.write(bytes(80))
    for read in (read_table, lambda path: open_chunks([path])):
        with pytest.raises(DataError, match="has 80 bytes after its array"):
            read(files / "a.npy")


def test_pipes_are_not_read_in_chunks(tmp_path):
    """Opening a pipe waited for a writer without end."""
    os.mkfifo(tmp_path / "a.csv")
    with pytest.raises(DataError, match="not a regular file"):
        open_chunks([tmp_path / "a.csv"])


@given(data=st.data())
def test_any_line_ends_give_the_same_rows_in_chunks(data, tmp_path_factory):
    """A lone carriage return, balanced by a blank line, passed the count of lines and split a row."""
    ends = st.sampled_from(["\n", "\r\n", "\r", "\n\n", "\r\n\r\n", "\r\r\n"])
    rows = data.draw(
        st.lists(st.tuples(st.integers(0, 999), st.sampled_from(["u", '"v"', '"w\nx"']), ends), min_size=3)
    )
    text = "number,name\n" + "".join(f"{number},{name}{end}" for number, name, end in rows)
    path = tmp_path_factory.mktemp("ends") / "a.csv"
    path.write_bytes(text.encode())
    cells = [[str(row[0]) for row in rows], [row[1].strip('"') for row in rows]]
    assert [column.tolist() for column in read_table(path).cells] == cells
    chunks = open_chunks([path], chunk_bytes=data.draw(st.integers(1, 60)))
    assert cells_of(chunks) == cells
    (path.parent / "work").mkdir()
    spec, labels = OutputSpec(len(rows), chunks.columns, ("cluster",)), np.arange(len(rows))
    writer = ChunkWriter(str(path.parent / "o.csv"), path.parent / "work", spec, 0)
    for chunk in chunks.read():
        writer.write(chunk.table, {"cluster": labels[chunk.after.row - chunk.table.n_rows : chunk.after.row]})
    writer.finish()
    back = read_table(path.parent / "o.csv")
    assert [column.tolist() for column in back.cells] == [*cells, [str(label) for label in labels]]


def test_a_byte_order_mark_within_the_file_is_text(tmp_path):
    """It was dropped at the beginning of a chunk."""
    (tmp_path / "a.csv").write_text("\ufeffname,x\n" + "\ufeffa,1\n" * 9, encoding="utf-8")
    for chunk_bytes in (1, 8, 1000):
        assert cells_of(open_chunks([tmp_path / "a.csv"], chunk_bytes=chunk_bytes))[0] == ["\ufeffa"] * 9


def test_long_cells(tmp_path):
    """Above the limit of the csv module they were reported as wrong quotes."""
    (tmp_path / "a.csv").write_text('name,x\n"' + "a" * 200_000 + '",1\n' + "b" * 200_000 + ",2\n")
    assert [len(cell) for cell in read_table(tmp_path / "a.csv").cells[0]] == [200_000, 200_000]


IDENTIFIERS = [9007199254740993 * 1000 + i for i in range(180)]


@pytest.mark.parametrize("source", ["csv", "parquet", "npy"])
@pytest.mark.parametrize("target", ["csv", "parquet", "npy", "npz"])
def test_identifiers_are_never_rounded(tmp_path, source, target):
    """Integers of 19 digits became doubles, so that 180 identifiers became 2."""
    path = tmp_path / f"a.{source}"
    if source == "csv":
        path.write_text("id,x\n" + "".join(f"{each},1.5\n" for each in IDENTIFIERS))
    elif source == "parquet":
        pq.write_table(pa.table({"id": IDENTIFIERS, "x": [1.5] * 180}), path)
    else:
        np.save(path, np.array([IDENTIFIERS, range(180)]).T)
    table = read_table(path)
    if target in ("npy", "npz"):
        with pytest.raises(DataError, match=r"has integers beyond 2\^53.*write .csv or .parquet"):
            write_table(table, tmp_path / f"b.{target}", {"cluster": np.zeros(180, int)})
        return
    write_table(table, tmp_path / f"b.{target}", {"cluster": np.zeros(180, int)})
    back = read_table(tmp_path / f"b.{target}").cells[0]
    assert [int(each) for each in back] == IDENTIFIERS
    assert target == "csv" or back.dtype == np.int64


@pytest.mark.parametrize(
    ("cells", "kind", "values"),
    [
        (["1", "NA", "2"], pa.int64(), [1, None, 2]),
        (["1", "NA", " 2 "], pa.string(), ["1", "NA", " 2 "]),
        (["1", "2.5", "?"], pa.float64(), [1.0, 2.5, None]),
        (["007", "8"], pa.string(), ["007", "8"]),
        (["9007199254740993", "1.5"], pa.string(), ["9007199254740993", "1.5"]),
        (["9007199254740993", "1"], pa.int64(), [9007199254740993, 1]),
        (["9223372036854775808", "1"], pa.string(), ["9223372036854775808", "1"]),
        (["+4912345678901234567"], pa.string(), ["+4912345678901234567"]),
        (["-0", "1"], pa.string(), ["-0", "1"]),
        (["-0.0", "1.0", "1e-05"], pa.float64(), [-0.0, 1.0, 1e-05]),
        (["5.0", "5"], pa.string(), ["5.0", "5"]),
        (["+5", "6"], pa.string(), ["+5", "6"]),
        (["1.1", "1.10"], pa.string(), ["1.1", "1.10"]),
        (["1e400", "2e400"], pa.string(), ["1e400", "2e400"]),
        (["20240101123456.000000", "20240101123456.000059"], pa.string(), None),
        (["0.12345678901234560001", "0.12345678901234560002"], pa.string(), None),
        (["?", "NA"], pa.string(), ["?", "NA"]),
        (["1_000", "2"], pa.string(), ["1_000", "2"]),
    ],
)
@pytest.mark.parametrize("parts", [1, 2])
def test_types_of_text_in_parquet(tmp_path, cells, kind, values, parts):
    (tmp_path / "a.csv").write_text("c,x\n" + "".join(f"{cell},1\n" for cell in cells))
    if parts == 1:
        write_table(read_table(tmp_path / "a.csv"), tmp_path / "b.parquet", {})
    else:
        chunks = open_chunks([tmp_path / "a.csv"], chunk_bytes=1)
        found = [chunk.table.contents() for chunk in chunks.read()]
        contents = tuple(functools.reduce(operator.or_, column) for column in zip(*found, strict=True))
        spec = OutputSpec(len(cells), ("c", "x"), contents=contents)
        writer = ChunkWriter(str(tmp_path / "b.parquet"), tmp_path, spec, 0)
        for chunk in chunks.read():
            writer.write(chunk.table, {})
        writer.finish()
    column = pq.read_table(tmp_path / "b.parquet").column("c")
    assert (column.type, column.to_pylist()) == (kind, values or cells)


@given(st.lists(st.text(max_size=6) | st.from_regex(r"[+-]?[0-9.]{1,20}(e[0-9]+)?", fullmatch=True), min_size=1))
def test_the_fast_conversion_gives_what_python_reads(cells):
    values, bad = to_numbers(pa.chunked_array([pa.array(cells, pa.string())]))
    expected, wrong = _cell_by_cell(cells)
    assert bad == wrong
    if bad is None:
        np.testing.assert_array_equal(values, expected)


def test_files_must_have_the_same_columns(files):
    write_csv(files / "b.csv", [("p", 1, 2)], ("name", "height", "width"))
    pq.write_table(pa.table({"name": ["p"], "width": [1], "height": [2.0]}), files / "b.parquet")
    np.savez(files / "b.npz", X=NUMBERS)
    for names, messages in [
        (["a.csv", "b.csv"], ["a.csv", "b.csv", "'width' and 'height' as column 2"]),
        (["a.parquet", "b.parquet"], ["column 'width' as double and as int64"]),
        (["a.csv", "a.npy"], ["different formats"]),
        (["b.npz"], ["NPZ is read in memory only"]),
        (["none.csv"], ["there is no file"]),
    ]:
        with pytest.raises(DataError) as caught:
            open_chunks([files / name for name in names])
        assert all(message in str(caught.value) for message in messages), caught.value


@pytest.mark.parametrize("target", ["out.csv", "out.tsv", "out.parquet", "out.npy"])
@pytest.mark.parametrize("name", ["a.csv", "a.parquet", "a.npy"])
def test_writing_in_chunks_equals_writing_at_once(files, name, target):
    """The same values as in one piece, also after an interruption."""
    if target == "out.npy" and name != "a.npy":
        pytest.skip("names are no numbers")
    chunks, labels = open_chunks([files / name], chunk_bytes=2000), np.arange(len(NUMBERS))
    whole = read_table(files / name)
    write_table(whole, files / f"whole{target}", {"cluster": labels})
    folder = files / "work"
    folder.mkdir()
    spec = check_writable(whole, target)._replace(added=("cluster",))
    at = 0
    for number, chunk in enumerate(chunks.read()):
        writer = ChunkWriter(str(files / target), folder, spec, at)
        first = chunk.after.row - chunk.table.n_rows
        position = writer.write(chunk.table, {"cluster": labels[first : chunk.after.row]})
        if number == 1:  # killed after the write, before the state was saved: it is written again
            writer = ChunkWriter(str(files / target), folder, spec, at)
            position = writer.write(chunk.table, {"cluster": labels[first : chunk.after.row]})
        at = position
    assert number > 1
    ChunkWriter(str(files / target), folder, spec, at).finish()
    one, other = read_table(files / target), read_table(files / f"whole{target}")
    assert one.columns == other.columns
    assert [c.tolist() for c in one.cells] == [c.tolist() for c in other.cells]
    if not target.endswith("parquet"):
        assert (files / target).read_bytes() == (files / f"whole{target}").read_bytes()
    else:
        assert one.data.schema == other.data.schema


def test_a_missing_chunk_is_an_error(files):
    chunks = open_chunks([files / "a.csv"], chunk_bytes=4000)
    writer = ChunkWriter(str(files / "o.csv"), files, OutputSpec(300, chunks.columns), 0)
    with pytest.raises(DataError, match="lacks rows that an earlier run wrote"):
        ChunkWriter("o.csv", files, OutputSpec(300, chunks.columns), 2)
    for chunk in list(chunks.read())[1:]:
        writer.write(chunk.table, {})
    with pytest.raises(DataError, match=r"rows-0.*of 300 rows"):
        writer.finish()
    assert not (files / "o.csv").exists()


def test_a_saved_state_is_replaced_in_one_step(tmp_path, monkeypatch):
    folder = WorkFolder(tmp_path / "o.csv")
    assert folder.load(dict[str, object]) is None
    folder.open()
    folder.save({"n": 1, "x": np.arange(3)})
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", lambda _: (_ for _ in ()).throw(OSError(28, "No space left on device")))
        with pytest.raises(WriteError, match="No space left"):
            folder.save({"n": 2})
    state = WorkFolder(tmp_path / "o.csv").load(dict[str, object])
    assert state["n"] == 1
    np.testing.assert_array_equal(state["x"], np.arange(3))
    with pytest.raises(DataError, match="another run"):
        WorkFolder(tmp_path / "o.csv").open()
    file = folder.path / "state.modeseek"
    file.write_bytes(file.read_bytes()[:-1] + b"!")
    assert folder.has_state
    assert folder.load(dict[str, object]) is None
    folder.remove()
    assert not folder.path.exists()


@given(cuts=st.lists(st.integers(0, 30_000), max_size=5))
@settings(max_examples=20)
def test_moments_do_not_depend_on_chunks(cuts):
    rows = np.random.default_rng(1).normal(3.0, [1.0, 1e3], (30_000, 2))
    moments = Moments.empty(2)
    for block in np.split(rows, sorted(cuts)):
        moments = moments.add(block)
    whole = fit_scaling("standard", rows)
    np.testing.assert_array_equal(moments.scaling(), (whole.shift, whole.factor))
    np.testing.assert_allclose(whole.shift, rows.mean(axis=0))
    np.testing.assert_allclose(whole.factor, rows.std(axis=0))


def test_moments_of_huge_numbers_and_of_one_value():
    rows = np.array([[1e308, 5.0], [-1e308, 5.0]] * 10_000)
    scaling = fit_scaling("standard", rows)
    np.testing.assert_allclose(scaling.factor, [1e308, 1.0])
    np.testing.assert_allclose(scaling.shift, [0.0, 5.0], atol=1e294)
