"""Files in blocks: the same rows as in one piece, from any block on; results by blocks: the same file."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from modeseek._common.scaling import Moments, Scaling
from modeseek._storage import DataError, Outline, WorkFolder, open_chunks, open_writer, read_table, string_kinds

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
def test_blocks_are_the_whole(files, name, block):
    whole = read_table(files / name)
    chunks = open_chunks([files / name], block=block)
    assert cells_of(chunks) == [column.tolist() for column in whole.cells]
    assert chunks.columns == whole.columns
    blocks = list(chunks.read())
    assert (len(blocks) > 2) == (block < 1 << 20)
    assert blocks[-1].done == chunks.size
    done = [chunk.done for chunk in blocks]
    assert done == sorted(done)


@pytest.mark.parametrize("name", ["a.csv", "a.parquet", "a.npy"])
def test_any_block_can_be_the_first(files, name):
    chunks = open_chunks([files / name, files / name], block=500)
    blocks = list(chunks.read())
    for at in (0, 3, len(blocks) // 2, len(blocks) - 2, len(blocks) - 1):
        rest = list(chunks.read(blocks[at].after))
        assert [chunk.after for chunk in rest] == [chunk.after for chunk in blocks[at + 1 :]]
        for one, other in zip(rest, blocks[at + 1 :], strict=True):
            assert one.table.place(0) == other.table.place(0)
            assert [c.tolist() for c in one.table.cells] == [c.tolist() for c in other.table.cells]


@given(rows=st.lists(st.tuples(CELLS, st.integers(0, 99), CELLS), min_size=3, max_size=12), block=st.integers(1, 60))
def test_quotes_hold_rows_together(rows, block, tmp_path_factory):
    path = write_csv(tmp_path_factory.mktemp("q") / "q.csv", rows, ("name", "width", "note"))
    whole = read_table(path, header=True)
    chunks = open_chunks([path], block=block, header=True)
    assert cells_of(chunks) == [column.tolist() for column in whole.cells]
    assert np.concatenate([chunk.table.lines for chunk in chunks.read()]).tolist() == whole.lines.tolist()


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("text", ["a,b\n1,2\n3,4\n5,6\n7,8", "\ufeffa b\n1 2\n\n3  4\n5 6\n", "1;2\n3;4\n5;6\n"])
def test_all_sorts_of_lines(tmp_path, text, end):
    path = tmp_path / "t.txt"
    path.write_text(text, encoding="utf-8", newline=end if end != "\n" else "")
    whole = read_table(path)
    for block in (3, 8, 100):
        assert cells_of(open_chunks([path], block=block)) == [column.tolist() for column in whole.cells]


def test_numbers_by_the_fast_reader_are_the_same(files):
    """Columns asked for by name, and whole lines: the values and the lines of the slow way."""
    slow = list(open_chunks([files / "a.csv"], block=1000).read())
    quick = list(open_chunks([files / "a.csv"], block=1000).read(only=["height", "width"], lines=True))
    assert [len(chunk.table.columns) for chunk in quick] == [3] + [2] * (len(slow) - 1)
    for one, other in zip(slow, quick, strict=True):
        np.testing.assert_array_equal(
            one.table.features(["height", "width"]).values, other.table.features(["height", "width"]).values
        )
        np.testing.assert_array_equal(one.table.lines, other.table.lines)
    text = (files / "a.csv").read_text().splitlines()
    assert quick[1].lines == text[quick[1].table.lines[0] - 1 : quick[1].table.lines[-1]]


def read_all(path, only):
    for chunk in open_chunks([path], block=1000).read(only=only):
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
    path.write_bytes("\n".join([*lines[:250], "p,1,é", *lines[251:]]).encode("latin-1"))
    assert "line 251: byte 0xe9 is not UTF-8" in last_error(path, only)
    path.write_text("\n".join([*lines[:250], 'p,"1,2', *lines[251:]]))
    assert "line 251: unexpected end of data" in last_error(path, only)


def test_files_must_be_alike(files):
    write_csv(files / "b.csv", [("p", 1, 2)], ("name", "height", "width"))
    pq.write_table(pa.table({"name": ["p"], "width": [1], "height": [2.0]}), files / "b.parquet")
    np.savez(files / "b.npz", X=NUMBERS)
    for names, messages in [
        (["a.csv", "b.csv"], ["a.csv", "b.csv", "'width' and 'height' as column 2"]),
        (["a.parquet", "b.parquet"], ["column 'width' as double and as int64"]),
        (["a.csv", "a.npy"], ["not of one kind"]),
        (["b.npz"], ["packed archive"]),
        (["none.csv"], ["there is no file"]),
    ]:
        with pytest.raises(DataError) as caught:
            open_chunks([files / name for name in names])
        assert all(message in str(caught.value) for message in messages), caught.value


@pytest.mark.parametrize("target", ["out.csv", "out.tsv", "out.parquet", "out.npy"])
@pytest.mark.parametrize("name", ["a.csv", "a.parquet", "a.npy"])
def test_what_is_written_by_blocks(files, name, target):
    """The same values as in one piece, also where a writer was dropped in the middle."""
    if target == "out.npy" and name != "a.npy":
        pytest.skip("names are no numbers")
    chunks, labels = open_chunks([files / name], block=2000), np.arange(len(NUMBERS))
    whole = read_table(files / name)
    whole.write(files / f"whole{target}", {"cluster": labels})
    folder = files / "work"
    folder.mkdir()
    kinds = string_kinds(whole.cells) if name == "a.csv" else (None,) * len(chunks.columns)
    outline = Outline(300, (*chunks.columns, "cluster"), kinds, whole.delimiter_for(target[3:]))
    at = 0
    for number, chunk in enumerate(chunks.read()):
        writer = open_writer(str(files / target), folder, outline, at)
        first = chunk.after.row - chunk.table.n_rows
        position = writer.write(chunk.table, {"cluster": labels[first : chunk.after.row]})
        writer.close()
        if number == 1:  # killed after it wrote, before anybody knew: it is written again
            writer = open_writer(str(files / target), folder, outline, at)
            position = writer.write(chunk.table, {"cluster": labels[first : chunk.after.row]})
            writer.close()
        at = position
    assert number > 1
    open_writer(str(files / target), folder, outline, at).finish(str(files / target))
    one, other = read_table(files / target), read_table(files / f"whole{target}")
    assert one.columns == other.columns
    assert [c.tolist() for c in one.cells] == [c.tolist() for c in other.cells]
    if not target.endswith("parquet"):
        assert (files / target).read_bytes() == (files / f"whole{target}").read_bytes()
    else:
        assert one.arrow.schema == other.arrow.schema


def test_a_writer_misses_what_is_gone(tmp_path):
    outline = Outline(3, ("a",), (None,), ",")
    for target in ("o.csv", "o.npy", "o.parquet"):
        with pytest.raises(DataError):
            open_writer(target, tmp_path, outline, 2)


def test_a_state_is_whole_or_the_one_before(tmp_path):
    folder = WorkFolder(tmp_path / "o.csv")
    folder.open()
    folder.save({}, {"n": 1}, {"x": np.arange(3)})
    folder.save({}, {"n": 2}, None)
    kept = WorkFolder(tmp_path / "o.csv").load()
    assert kept.state == {"n": 2}
    np.testing.assert_array_equal(kept.arrays["x"], np.arange(3))
    with pytest.raises(DataError, match="another run"):
        WorkFolder(tmp_path / "o.csv").open()
    (array,) = folder.path.glob("*.npz")
    array.write_bytes(array.read_bytes()[:-1] + b"!")
    assert folder.load() is None
    folder.remove()
    assert not folder.path.exists()


@given(cuts=st.lists(st.integers(0, 30_000), max_size=5))
@settings(max_examples=20)
def test_moments_do_not_depend_on_blocks(cuts):
    rows = np.random.default_rng(1).normal(3.0, [1.0, 1e3], (30_000, 2))
    moments = Moments.empty(2)
    for block in np.split(rows, sorted(cuts)):
        moments = moments.add(block)
    whole = Scaling.fit(rows, standardize=True)
    np.testing.assert_array_equal(moments.scaling(), whole)
    np.testing.assert_allclose(whole.shift, rows.mean(axis=0))
    np.testing.assert_allclose(whole.factor, rows.std(axis=0))


def test_moments_of_huge_numbers_and_of_one_value():
    rows = np.array([[1e308, 5.0], [-1e308, 5.0]] * 10_000)
    scaling = Scaling.fit(rows, standardize=True)
    np.testing.assert_allclose(scaling.factor, [1e308, 1.0])
    np.testing.assert_allclose(scaling.shift, [0.0, 5.0], atol=1e294)
