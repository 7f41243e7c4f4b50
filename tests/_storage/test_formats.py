"""Files as people have them: compressed, encoded, from spreadsheets and databases."""

import bz2
import gzip
import io
import json
import lzma
import sqlite3
import zipfile

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pytest

from modeseek import limit_unpacked
from modeseek._storage.chunks import open_chunks
from modeseek._storage.errors import DataError, UnknownFormatError, UnpackedSizeError
from modeseek._storage.reading import read_table
from modeseek._storage.writing import write_table

ROWS = {"mass": [3750.5, 5000.0, 4100.25], "species": ["Adélie", "Gentoo", "Adélie"], "grown": [True, False, True]}
TEXT = "mass,species,grown\n" + "".join(f"{m},{s},{g}\n" for m, s, g in zip(*ROWS.values(), strict=True))


def archive(files):
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, content in files.items():
            packed.writestr(name, content)
    return target.getvalue()


PACKERS = {
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": lambda data: pa.compress(data, codec="zstd", asbytes=True),
    "zip": lambda data: archive({"a.csv": data, "__MACOSX/._a.csv": b"x"}),
}


def features(path, **options):
    return read_table(path, **options).features(["mass", "grown"]).values.tolist()


EXPECTED = [[3750.5, 1.0], [5000.0, 0.0], [4100.25, 1.0]]


@pytest.mark.parametrize("ending", PACKERS)
@pytest.mark.parametrize("kind", ["csv", "jsonl"])
def test_compressed_text(ending, kind, tmp_path):
    lines = [json.dumps(dict(zip(ROWS, row, strict=True))) + "\n" for row in zip(*ROWS.values(), strict=True)]
    text = TEXT.replace("True", "1").replace("False", "0") if kind == "csv" else "".join(lines)
    path = tmp_path / f"a.{kind}.{ending}"
    path.write_bytes(PACKERS[ending](text.encode()))
    assert features(path) == EXPECTED
    path.write_bytes(path.read_bytes()[:-12])
    with pytest.raises(DataError, match="cannot be read"):
        read_table(path)


@pytest.mark.parametrize("ending", PACKERS)
def test_compressed_text_in_chunks(ending, tmp_path):
    path = tmp_path / f"a.csv.{ending}"
    path.write_bytes(PACKERS[ending](("x,y\n" + "".join(f"{i},{i * i}\n" for i in range(2000))).encode()))
    chunks = open_chunks([path], chunk_bytes=1000)
    parts = list(chunks.read())
    assert len(parts) > 10
    assert np.concatenate([part.table.features().values for part in parts])[:, 0].tolist() == list(range(2000))
    again = list(chunks.read(parts[4].after))
    assert [part.table.data for part in again] == [part.table.data for part in parts[5:]]


@pytest.mark.parametrize("packer", ["gz", "bz2", "xz", "zst", None])
@pytest.mark.parametrize("name", ["a.csv", "a"])
def test_text_is_recognised_whatever_its_name(packer, name, tmp_path):
    """Compressed text named .csv and files without an ending were refused."""
    text = TEXT.replace("True", "1").replace("False", "0").encode()
    (tmp_path / name).write_bytes(PACKERS[packer](text) if packer else text)
    assert features(tmp_path / name) == EXPECTED
    [part] = open_chunks([tmp_path / name]).read()
    assert part.table.n_rows == 3


@pytest.mark.parametrize(("text", "notes"), [("x\n1\n\n2\n\n", 1), ("x\n1\n2\n\n", 0), ("x,y\n1,2\n\n3,4\n", 0)])
def test_blank_lines_in_a_single_column(text, notes, tmp_path):
    (tmp_path / "a.csv").write_text(text)
    table = read_table(tmp_path / "a.csv")
    assert table.n_rows == 2
    assert [note.startswith("blank lines skipped") for note in table.notes] == [True] * notes


def test_archives(tmp_path):
    (tmp_path / "a.zip").write_bytes(archive({"a.csv": TEXT.replace("True", "1").replace("False", "0").encode()}))
    assert features(tmp_path / "a.zip") == EXPECTED
    (tmp_path / "a.zip").write_bytes(archive({"a.csv": b"x", "b.csv": b"y"}))
    with pytest.raises(DataError, match=r"a.zip' cannot be read: the archive holds 2 files: unpack it"):
        read_table(tmp_path / "a.zip")


def test_a_packed_or_renamed_file_of_another_format_is_named(tmp_path):
    """A packed spreadsheet was read as text, and one that is called .csv was taken for an archive of arrays."""
    sheet = archive({"[Content_Types].xml": b"<Types/>"})
    (tmp_path / "a.zip").write_bytes(archive({"a.xlsx": sheet}))
    with pytest.raises(DataError, match=r"a.zip' holds a spreadsheet \(.xlsx\), not delimited text: unpack it first"):
        read_table(tmp_path / "a.zip")
    (tmp_path / "a.csv").write_bytes(sheet)
    with pytest.raises(DataError, match=r"a.csv' is a spreadsheet, not delimited text: rename it to end in .xlsx"):
        read_table(tmp_path / "a.csv")
    np.savez(tmp_path / "x.npz", X=np.eye(3))
    (tmp_path / "x.npz").rename(tmp_path / "b.csv")
    with pytest.raises(DataError, match=r"b.csv' is NPZ, not delimited text: rename it to end in .npz"):
        read_table(tmp_path / "b.csv")


@pytest.mark.parametrize("ending", PACKERS)
def test_a_bomb_is_refused(ending, tmp_path):
    path = tmp_path / f"a.csv.{ending}"
    path.write_bytes(PACKERS[ending](b"x\n" + b"1\n" * 1_000_000))
    with limit_unpacked(1e5), pytest.raises(UnpackedSizeError):
        read_table(path)


@pytest.mark.parametrize(
    ("encoding", "note"),
    [("utf-8", ()), ("utf-8-sig", ()), ("latin-1", "Windows-1252 (Latin-1)"), ("utf-16", "UTF-16")],
)
def test_encodings(encoding, note, tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(TEXT.replace("True", "1").replace("False", "0").encode(encoding))
    table = read_table(path)
    assert table.notes == ((f"the text is read as {note}",) if note else ())
    assert table.cells[1].tolist() == ROWS["species"]
    assert features(path) == EXPECTED
    assert open_chunks([path], chunk_bytes=30).readers[0].read().cells[1].tolist() == ROWS["species"]


@pytest.mark.parametrize("content", [b"x\n\xff\x00\x01\n", b"\xff\xfex"])
def test_bytes_that_are_no_text(content, tmp_path):
    (tmp_path / "a.csv").write_bytes(content)
    with pytest.raises(DataError, match=r"a\.csv"):
        read_table(tmp_path / "a.csv")


@pytest.mark.parametrize("ending", ["arrow", "feather", "jsonl"])
def test_formats_that_are_written_and_read(ending, tmp_path):
    table = read_table(_csv(tmp_path))
    write_table(table, tmp_path / f"a.{ending}", {"cluster": pa.array([0, None, 1])})
    back = read_table(tmp_path / f"a.{ending}")
    assert back.columns == ("mass", "species", "grown", "cluster")
    assert back.data.column("cluster").to_pylist() == [0, None, 1]


def _csv(folder):
    (folder / "a.csv").write_text(TEXT)
    return folder / "a.csv"


def test_arrow_streams_and_bounds(tmp_path):
    data = pa.table(ROWS)
    with pa.ipc.new_stream(tmp_path / "a.arrows", data.schema) as writer:
        writer.write_table(data)
    assert features(tmp_path / "a.arrows") == EXPECTED
    pyarrow.feather.write_feather(pa.table({"x": np.zeros(1_000_000)}), tmp_path / "a.feather", compression="zstd")
    with limit_unpacked(1e6), pytest.raises(UnpackedSizeError):
        read_table(tmp_path / "a.feather")


def test_json(tmp_path):
    path = tmp_path / "a.json"
    rows = [dict(zip(ROWS, row, strict=True)) for row in zip(*ROWS.values(), strict=True)]
    for value in (rows, ROWS):
        path.write_text(json.dumps(value))
        assert features(path) == EXPECTED
    path.write_text('[{"a": 1}, {"b": "x"}, {"a": "text"}]')
    assert read_table(path).data.to_pydict() == {"a": ["1", None, "text"], "b": [None, "x", None]}
    for damaged in ("[1, 2]", "{", "[]", '"text"'):
        path.write_text(damaged)
        with pytest.raises(DataError, match=r"a\.json"):
            read_table(path)


@pytest.mark.parametrize("titles", [[], [["Soil samples"]], [["Soil samples"], [], ["March 2026"]]])
@pytest.mark.parametrize("units", [[], [[None, "cm", "%"]]])
def test_titles_and_units_in_spreadsheets(titles, units, tmp_path):
    """Titles were refused, and a row of units turned the columns into text."""
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in [*titles, ["site", "depth", "clay"], *units, *([f"S{i}", i + 0.5, 3 * i] for i in range(5))]:
        book.active.append(row)
    book.save(tmp_path / "a.xlsx")
    table = read_table(tmp_path / "a.xlsx")
    assert table.features(["depth", "clay"]).values.tolist() == [[i + 0.5, 3 * i] for i in range(5)]
    n_titles = sum(map(bool, titles))
    assert table.notes == (
        *[f"{n_titles} row{'s' * (n_titles > 1)} above the table skipped"] * bool(titles),
        *["the row below the header has units instead of numbers and is skipped"] * len(units),
    )


def test_spreadsheets(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    pytest.importorskip("python_calamine")
    book = openpyxl.Workbook()
    book.active.append(list(ROWS))
    for row in zip(*ROWS.values(), strict=True):
        book.active.append(list(row))
    book.create_sheet("first").append(["no numbers"])
    book.create_sheet("second sheet").append([1, 2])
    book.save(tmp_path / "a.xlsx")
    assert features(tmp_path / "a.xlsx") == EXPECTED
    assert read_table(f"{tmp_path / 'a.xlsx'}::second sheet").features().values.tolist() == [[1.0, 2.0]]
    with pytest.raises(DataError, match=r"has no sheet 'third'.*There are: Sheet, first, second sheet"):
        read_table(f"{tmp_path / 'a.xlsx'}::third")
    with limit_unpacked(1000), pytest.raises(UnpackedSizeError):
        read_table(tmp_path / "a.xlsx")
    book.active.delete_rows(1, 9)
    book.active.append(["About this file"])
    book.save(tmp_path / "c.xlsx")
    with pytest.raises(DataError, match=r"'Sheet' has no numbers: name another sheet, as '.*c.xlsx::second sheet'\."):
        read_table(tmp_path / "c.xlsx")
    book.active.delete_rows(1, 9)
    for row in (["Birds of 2024"], ["name", "mass"], ["Ada", 3750]):
        book.active.append(row)
    book.save(tmp_path / "d.xlsx")
    with pytest.raises(DataError, match="remove the rows above the names of the columns"):
        read_table(tmp_path / "d.xlsx")
    (tmp_path / "b.xlsx").write_bytes(b"PK\x03\x04 nothing")
    with pytest.raises(DataError, match="cannot be read as a spreadsheet"):
        read_table(tmp_path / "b.xlsx")


@pytest.mark.parametrize("kind", ["sqlite", "duckdb"])
def test_databases(kind, tmp_path):
    path = tmp_path / "a.db"
    connection = sqlite3.connect(path) if kind == "sqlite" else pytest.importorskip("duckdb").connect(str(path))
    connection.execute('CREATE TABLE "the birds" (mass DOUBLE, species VARCHAR, grown INTEGER)')
    connection.executemany('INSERT INTO "the birds" VALUES (?, ?, ?)', list(zip(*ROWS.values(), strict=True)))
    connection.commit()
    connection.close()
    assert features(path) == features(f"{path}::the birds") == EXPECTED
    with pytest.raises(DataError, match=r"has no table 'x'.*There are: the birds"):
        read_table(f"{path}::x")


def test_a_database_that_is_cut_short_is_refused(tmp_path):
    """Its rows were read without their values, and then dropped as incomplete."""
    path = tmp_path / "a.db"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE birds (mass, grown)")
    connection.executemany("INSERT INTO birds VALUES (?, ?)", [(i / 7, i / 3) for i in range(60)])
    connection.commit()
    connection.close()
    assert read_table(path).n_rows == 60
    path.write_bytes(path.read_bytes()[:7000])
    with pytest.raises(DataError, match="cut short or damaged"):
        read_table(path)


def test_rows_with_different_names_are_bounded(tmp_path):
    """30,000 rows of 12 bytes took more than 3 GB, because each had a column of its own."""
    path = tmp_path / "a.jsonl"
    path.write_text("".join(f'{{"{i}": 1}}\n' for i in range(4000)))
    with pytest.raises(UnpackedSizeError):
        read_table(path)


def test_only_spreadsheets_and_databases_have_parts(tmp_path):
    (tmp_path / "a.csv").write_text(TEXT)
    with pytest.raises(DataError, match="leave out '::birds'"):
        read_table(tmp_path / "a.csv::birds")


def test_remote_files():
    fsspec = pytest.importorskip("fsspec")
    with fsspec.open("memory://birds.csv.gz", "wb") as stream:
        stream.write(gzip.compress(b"mass,grown\n1,0\n2,1\n"))
    assert features("memory://birds.csv.gz") == [[1.0, 0.0], [2.0, 1.0]]
    with pytest.raises(DataError, match=r"cannot read 'memory://none\.csv'"):
        read_table("memory://none.csv")


def test_unknown_formats(tmp_path):
    for name, words in (
        ("a.png", "an image"),
        ("a.wav", "a recording"),
        ("a.parquet.gz", "unpack it"),
    ):
        (tmp_path / name).write_bytes(b"x")
        with pytest.raises(UnknownFormatError, match=words):
            read_table(tmp_path / name)


@pytest.mark.parametrize("ending", [ending for ending in PACKERS if ending != "zip"])
def test_further_streams(ending, tmp_path):
    """If the beginning of the second stream was damaged, only the rows of the first were read."""
    one, two = (PACKERS[ending](text) for text in (b"x,y\n" + b"1,2\n" * 9, b"3,4\n" * 9))
    path = tmp_path / f"a.csv.{ending}"
    path.write_bytes(one + two)
    assert read_table(path).n_rows == 18
    for damaged in (b"damaged!" + two[8:], b"x", two[:-5]):
        path.write_bytes(one + damaged)
        with pytest.raises(DataError, match="cut short or damaged"):
            read_table(path)
    if ending in ("gz", "xz"):
        path.write_bytes(one + bytes(8) + two + bytes(4))
        assert read_table(path).n_rows == 18
