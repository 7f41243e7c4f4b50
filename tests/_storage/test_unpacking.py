"""Compressed files that unpack to far more than their size are refused before memory is allocated."""

import io
import sqlite3
import tracemalloc
import zipfile
from contextlib import closing

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image

from commands import run
from modeseek import limit_unpacked
from modeseek._storage.chunks import open_chunks
from modeseek._storage.errors import DataError, UnpackedSizeError
from modeseek._storage.formats.declared_size import sheet_bytes
from modeseek._storage.image_files import read_image
from modeseek._storage.reading import read_arrays, read_table
from modeseek._storage.unpacking import BoundedStream, unpacked_bound

BOUND = 1_000_000
ROWS = 50_000


def repeated(text, shape=()):
    """Return an array of one text, which Parquet stores once."""
    values = pa.DictionaryArray.from_arrays(pa.array(np.zeros(ROWS, np.int32)), pa.array([text]))
    if shape == "list":
        return pa.ListArray.from_arrays(pa.array(np.arange(0, ROWS + 1, 10, dtype=np.int32)), values)
    if shape == "struct":
        return pa.StructArray.from_arrays([values], ["text"])
    return values


def parquet(path, *columns):
    data = {f"c{j}": column for j, column in enumerate(columns)}
    pq.write_table(pa.table(data), path, compression="zstd", store_schema=False, dictionary_pagesize_limit=1 << 24)
    return path


def write(kind, folder):
    path = folder / f"bomb.{kind.partition('-')[0]}"
    match kind:
        case "npz":
            np.savez_compressed(path, X=np.zeros((ROWS, 8)))
        case "npz-bool":
            np.savez_compressed(path, X=np.zeros((ROWS, 8), bool))
        case "parquet-numbers":
            parquet(path, np.zeros(4 * ROWS))
        case "parquet-text":
            parquet(path, repeated("x" * 1000))
        case "parquet-list":
            parquet(path, repeated("x" * 1000, "list"))
        case "parquet-struct":
            parquet(path, repeated("x" * 1000, "struct"))
        case "tif":
            from tifffile import imwrite

            imwrite(path, np.zeros((2000, 2000), np.uint8), compression="zlib")
        case "png":
            Image.fromarray(np.zeros((1000, 1000), np.uint8)).save(path)
    assert path.stat().st_size < BOUND / 10
    return path


@pytest.mark.parametrize(
    ("kind", "read"),
    [
        ("npz", read_table),
        ("npz", read_arrays),
        ("npz-bool", read_table),
        *[(f"parquet-{kind}", read_table) for kind in ("numbers", "text", "list", "struct")],
        *[(f"parquet-{kind}", lambda path: list(open_chunks([path]).read())) for kind in ("text", "list", "struct")],
        ("tif", read_image),
        ("png", read_image),
    ],
)
def test_bombs_are_refused_before_memory_is_allocated(kind, read, tmp_path, monkeypatch):
    """An NPZ file of 5.8 MB took 3.4 GB, and a Parquet file of 3.5 MB 4.3 GB."""
    path = write(kind, tmp_path)
    with monkeypatch.context() as patch, limit_unpacked(BOUND):
        patch.setattr(np.lib.format, "read_array", lambda *arguments, **options: pytest.fail("an array is read"))
        before = pa.default_memory_pool().max_memory()
        with pytest.raises(
            UnpackedSizeError, match=rf"bomb\.{path.suffix[1:]}.* above the bound of 1\.0 MB: if"
        ) as found:
            read(path)
        # Arrow's high-water mark; pages of metadata and indices are below it
        assert pa.default_memory_pool().max_memory() - before < 20 * BOUND
    assert (found.value.packed, found.value.bound) == (path.stat().st_size, BOUND)
    with limit_unpacked(1e9):
        read(path)


def test_numbers_are_read_in_chunks_whatever_their_number(tmp_path):
    path = write("parquet-numbers", tmp_path)
    with limit_unpacked(BOUND):
        assert sum(chunk.table.n_rows for chunk in open_chunks([path], chunk_bytes=100_000).read()) == 4 * ROWS


def test_the_default_bound_refuses_a_text_of_a_hundred_gigabytes(tmp_path):
    values = pa.DictionaryArray.from_arrays(pa.array(np.zeros(10_000, np.int32)), pa.array(["x" * 10_000_000]))
    path = parquet(tmp_path / "bomb.parquet", values)
    assert unpacked_bound(path.stat().st_size) == 1 << 28
    assert unpacked_bound(1 << 30) == 50 << 30
    with pytest.raises(UnpackedSizeError, match=r"unpacks to 100\.0 GB or more"):
        read_table(path)


def test_text_columns_are_read_as_they_were_written(tmp_path):
    table = pa.table(
        {
            "x": np.arange(6.0),
            "text": ["a", None, "", "b", "a", "ü"],
            "bytes": pa.array([b"\0", None, b"", b"b", b"b", b"c"]),
            "large": pa.array(["a", "b", None, "d", "e", "f"], pa.large_string()),
            "lists": [["a", "b"], None, [], ["a"], ["c", None], ["d"]],
            "maps": pa.array([[("k", 1)], [], None, [("l", 2)], [("k", 3)], []], pa.map_(pa.string(), pa.int64())),
            "structs": [{"s": "a", "n": 1}, None, {"s": None, "n": 2}, {"s": "b", "n": 3}, {"s": "", "n": 4}, None],
            "categories": pa.array(["a", "b", "a", None, "b", "b"]).dictionary_encode(),
        }
    )
    pq.write_table(table, tmp_path / "t.parquet", row_group_size=4)
    assert read_table(tmp_path / "t.parquet").data.equals(table)
    parts = [chunk.table.data for chunk in open_chunks([tmp_path / "t.parquet"], chunk_bytes=150).read()]
    assert len(parts) > 2
    assert pa.concat_tables(parts).equals(table)


def test_text_in_lists_is_read_if_a_part_of_it_has_no_dictionary(tmp_path):
    texts = [["a"] * 3] * 3000 + [[f"{number}" * 3] for number in range(6000)]
    table = pa.table({"x": np.arange(9000.0), "lists": texts})
    pq.write_table(
        table, tmp_path / "t.parquet", dictionary_pagesize_limit=1000, data_page_size=1000, write_batch_size=50
    )
    assert read_table(tmp_path / "t.parquet").data.equals(table)
    parts = [chunk.table.data for chunk in open_chunks([tmp_path / "t.parquet"], chunk_bytes=40_000).read()]
    assert pa.concat_tables(parts).equals(table)


def test_a_stream_stops_behind_its_bound():
    with limit_unpacked(5000):
        stream = io.BufferedReader(BoundedStream(io.BytesIO(bytes(4000)), "'a.gz'", 10))
        assert len(stream.read()) == 4000
        stream = io.BufferedReader(BoundedStream(io.BytesIO(bytes(80_000)), "'a.gz'", 10))
        with pytest.raises(UnpackedSizeError, match=r"'a\.gz' has 0\.0 MB"):
            stream.read()
        assert not stream.raw.closed
        stream.close()
    with pytest.raises(ValueError, match="n_bytes"), limit_unpacked(0):
        pass


def test_the_command_has_an_option_to_raise_the_bound(tmp_path):
    path = write("npz", tmp_path)
    status, _, err = run("cluster", path, "--max-unpacked", "0.001", "--quiet")
    assert status == 2
    assert "if you trust the file, raise the bound, for example with --max-unpacked 10." in err
    assert run("cluster", path, "--max-unpacked", "1", "--quiet")[0] == 0


@pytest.mark.parametrize("compression", ["zstd", "lz4"])
@pytest.mark.parametrize("streamed", [False, True])
def test_compressed_buffers_of_arrow_are_bounded(compression, streamed, tmp_path, monkeypatch):
    table = pa.table({"x": np.zeros(200_000), "text": pa.array(["a"] * 200_000).dictionary_encode()})
    path = tmp_path / "bomb.arrow"
    options = pa.ipc.IpcWriteOptions(compression=compression)
    make = pa.ipc.new_stream if streamed else pa.ipc.new_file
    with make(str(path), table.schema, options=options) as writer:
        writer.write_table(table)
    with monkeypatch.context() as patch, limit_unpacked(BOUND):
        patch.setattr(pa.ipc, "open_stream" if streamed else "open_file", lambda *a: pytest.fail("unpacked"))
        with pytest.raises(UnpackedSizeError, match=r"unpacks to 2\.4 MB"):
            read_table(path)
    assert read_table(path).data.equals(table)


def spreadsheet(path, members):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


FAR_CELL = "<worksheet><sheetData><c r=\"A1\"><v>1</v></c>{}<c r='XFD200000'><v>2</v></c></sheetData></worksheet>"
ODS = "urn:oasis:names:tc:opendocument:xmlns"
NAMES = f'xmlns:o="{ODS}:office:1.0" xmlns:t="{ODS}:table:1.0"'
REPEATED = f"""<o:d {NAMES}><t:table><t:table-row t:number-rows-repeated="{{}}">
<t:table-cell o:value-type="float" t:number-columns-repeated="1000"/></t:table-row>
<t:table-row t:number-rows-repeated="1040000"><t:table-cell t:number-columns-repeated="16384"/></t:table-row>
</t:table></o:d>"""


@pytest.mark.parametrize(
    ("name", "members"),
    [
        ("bomb.xlsx", {"xl/worksheets/sheet1.xml": FAR_CELL.format("")}),
        ("bomb.xlsx", {"xl/worksheets/other.bin": FAR_CELL.format("")}),
        ("bomb.xlsx", {"sheet1.xml": FAR_CELL.format("").replace("r='XFD", "s='>' r = 'xfd")}),
        ("bomb.xlsx", {"sheet1.xml": FAR_CELL.format("<row r='+200000'><c/></row>").replace("XFD200000", "XFD1")}),
        ("bomb.xlsx", {"sheet1.xml": FAR_CELL.format("").encode("utf-16")}),
        ("bomb.ods", {"content.xml": REPEATED.format(1_000_000)}),
    ],
)
def test_a_sheet_with_a_cell_far_away_is_refused(name, members, tmp_path):
    """A file of 1 kB took 100 GB: calamine makes a rectangle of all cells up to the last one."""
    with pytest.raises(UnpackedSizeError, match=r"unpacks to (32|104)\.\d GB"):
        read_table(spreadsheet(tmp_path / name, members))


def test_empty_cells_behind_the_last_one_do_not_count(tmp_path):
    path = spreadsheet(tmp_path / "a.ods", {"content.xml": REPEATED.format(20)})
    with zipfile.ZipFile(path) as archive:
        assert sheet_bytes(archive) == 32 * 20 * 1000


@pytest.mark.parametrize("size", [600_000, 2_000_000])
def test_computed_columns_of_a_database_are_bounded(size, tmp_path):
    """A file of 8 kB with a column `zeroblob(1000000000)` took all memory."""
    path = tmp_path / "bomb.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"CREATE TABLE t (a, b GENERATED ALWAYS AS (zeroblob({size})) VIRTUAL)")
        connection.executemany("INSERT INTO t (a) VALUES (?)", [(1,), (2,), (3,)])
        connection.commit()
    with limit_unpacked(BOUND), pytest.raises(DataError, match=r"above the bound|too big"):
        read_table(path)
    assert read_table(path).n_rows == 3


def arrow_file(path, table, **options):
    with pa.ipc.new_file(str(path), table.schema, options=pa.ipc.IpcWriteOptions(**options)) as writer:
        writer.write_table(table)
    return path


def views(text):
    one = pa.array([text], pa.string_view()).buffers()
    repeated_views = pa.py_buffer(np.tile(np.frombuffer(one[1], np.uint8)[:16], ROWS).tobytes())
    return pa.Array.from_buffers(pa.string_view(), ROWS, [None, repeated_views, *one[2:]])


@pytest.mark.parametrize(
    "make",
    [
        lambda: repeated("x" * 1000),
        lambda: repeated("x" * 1000, "list"),
        lambda: pa.nulls(ROWS * 10),
        pytest.param(lambda: views("x" * 1000), marks=pytest.mark.skipif(not hasattr(pa, "string_view"), reason="old")),
        lambda: pa.RunEndEncodedArray.from_arrays(pa.array([ROWS * 10], pa.int32()), pa.array([1.5])),
        lambda: pa.RunEndEncodedArray.from_arrays(pa.array([ROWS], pa.int32()), pa.array(["x" * 1000])),
    ],
)
def test_values_of_arrow_that_are_stored_once_are_counted(make, tmp_path):
    """A column of categories of 1.3 MB took 16 GB, and one of views 20 GB."""
    path = arrow_file(tmp_path / "bomb.arrow", pa.table({"text": make()}))
    before = pa.default_memory_pool().max_memory()
    with limit_unpacked(BOUND), pytest.raises(UnpackedSizeError):
        read_table(path)
    assert pa.default_memory_pool().max_memory() - before < 20 * BOUND


def test_compressed_buffers_are_found_by_the_footer(tmp_path, monkeypatch):
    """A file whose first message was replaced by the mark of the end was unpacked before it was refused."""
    path = arrow_file(tmp_path / "bomb.arrow", pa.table({"x": np.zeros(200_000)}), compression="zstd")
    content = bytearray(path.read_bytes())
    content[8:16] = b"\xff\xff\xff\xff\0\0\0\0"
    path.write_bytes(content)
    monkeypatch.setattr(pa.ipc, "open_file", lambda *a: pytest.fail("unpacked"))
    with limit_unpacked(BOUND), pytest.raises(UnpackedSizeError, match=r"unpacks to 1\.6 MB"):
        read_table(path)


def test_arrow_data_that_point_outside_their_buffers_are_refused(tmp_path):
    offsets = pa.py_buffer(np.array([0, 1 << 30, 3], np.int32).tobytes())
    text = pa.Array.from_buffers(pa.string(), 2, [None, offsets, pa.py_buffer(b"abc")])
    with pytest.raises(DataError, match=r"a\.arrow"):
        read_table(arrow_file(tmp_path / "a.arrow", pa.table({"text": text})))


def test_a_computed_column_of_duckdb_is_bounded(tmp_path):
    """It took 2.3 GB, because 16,384 rows were computed at once."""
    duckdb = pytest.importorskip("duckdb")
    path = tmp_path / "bomb.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE t (x DOUBLE, b VARCHAR GENERATED ALWAYS AS (repeat('a', 1000)))")
        connection.execute("INSERT INTO t (x) SELECT i FROM range(40000) r(i)")
    with limit_unpacked(BOUND), pytest.raises(UnpackedSizeError) as found:
        read_table(path)
    assert found.value.unpacked < 5 * BOUND


def test_refused_truncated_files_free_their_memory(tmp_path):
    """pyarrow's read does not free its buffer if it raises an error: 8 MB or more for each file."""
    text = b"x,y\n" + b"".join(b"%d,%d\n" % (i, i * i % 1013) for i in range(5000))
    packed = pa.compress(text, "zstd", asbytes=True)
    path = tmp_path / "rows.csv.zst"
    path.write_bytes(packed[: len(packed) // 2])

    def refuse():
        with pytest.raises(DataError, match="cut short or damaged"):
            read_table(path)

    refuse()
    tracemalloc.start()
    try:
        refuse()
        before = tracemalloc.get_traced_memory()[0]
        for _ in range(3):
            refuse()
        assert tracemalloc.get_traced_memory()[0] - before < 1e6
    finally:
        tracemalloc.stop()
