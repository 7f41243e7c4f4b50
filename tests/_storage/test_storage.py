"""Data files: what is read and written."""

import csv
import io
import string
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from inputs import put
from modeseek._storage.chunks import open_chunks
from modeseek._storage.errors import DataError
from modeseek._storage.formats.base import OutputSpec
from modeseek._storage.formats.delimited import DelimitedReader, write_rows
from modeseek._storage.formats.dialect import find_dialect
from modeseek._storage.formats.reader import ReadOptions
from modeseek._storage.input_file import InputFile
from modeseek._storage.reading import read_table
from modeseek._storage.table import Table
from modeseek._storage.writing import write_table

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")


def read_text(data, suffix="", header=None):
    return DelimitedReader(InputFile("data", None, data, suffix), ReadOptions(header)).read()


def stdin(monkeypatch, data):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))


# ---------------------------------------- text: what is found


@pytest.mark.parametrize(
    ("text", "delimiter"),
    [
        ("a,b\n1,2\n3,4\n", ","),
        ("a;b\n1;2\n3;4\n", ";"),
        ("a\tb\n1\t2\n3\t4\n", "\t"),
        ("a|b\n1|2\n3|4\n", "|"),
        ("a b\n1 2\n3 4\n", " "),
        ("  a    b\n  1    2\n 3   4  \n", " "),
        ("a, b\n1, 2\n3, 4\n", ","),
        ("full name,b\nA B,2\nC D,4\n", ","),
        ("a;b\n1,5;2,5\n3,5;4,5\n", ";"),
        ("1,5;2,5\n3,5;4,5\n", ";"),
        ("when,b\n2020-01-01 10:00,2\n2020-01-02 11:00,3\n", ","),
        ("a\n1\n2\n", ","),
    ],
)
def test_delimiter_is_found(text, delimiter):
    assert read_text(text.encode()).delimiter == delimiter


def test_tsv_prefers_the_tab():
    text = b"a,a\tb,b\n1,1\t2,2\n"
    assert read_text(text, suffix=".tsv").columns == ("a,a", "b,b")


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("a,b\n1,2\n", ("a", "b")),
        ("1,2\n3,4\n", ("x0", "x1")),
        ("5.1,3.5,setosa\n4.9,3.0,setosa\n", ("x0", "x1", "x2")),
        ("x,2019,2020\n1,2,3\n4,5,6\n", ("x", "2019", "2020")),
        ("name,a\nu,1\nv,2\n", ("name", "a")),
        ("1,NA\n3,4\n", ("x0", "x1")),
        (",0,1\n0,1.5,2.5\n1,3.5,4.5\n", ("column1", "0", "1")),
        ("-1e3\n+2.5\n", ("x0",)),
    ],
)
def test_header_is_found(text, names):
    assert read_text(text.encode()).columns == names


UNIT_ROWS = {
    "units": ("mm,g,%,", True),
    "units of all columns": ("mm,g,yyyy-mm-dd,name", False),  # a text above texts
    "units and a date": ("mm,g,UTC,", True),
    "one unit": ("mm,,,", False),
    "a number": ("mm,5,,", False),
    "missing values": ("NA,NA,NA,", False),
    "a word that occurs again": ("unknown,unknown,,", False),
    "long texts": ("a tube of glass,a tube of glass,,", False),
}


@pytest.mark.parametrize("chunk_bytes", [1 << 20, 40])
@pytest.mark.parametrize(("row", "skipped"), UNIT_ROWS.values(), ids=UNIT_ROWS)
def test_units_below_the_header(row, skipped, chunk_bytes, tmp_path):
    """Each unit had to be given as a missing value."""
    path = tmp_path / "a.csv"
    rows = "".join(f'{i}.5,"{i},250",2026-01-{i + 10},site {i}\n' for i in range(8))
    path.write_text(f"length,mass,day,place\n{row}\n{rows}1,unknown,2026-01-20,x\n")
    tables = [part.table for part in open_chunks([path], chunk_bytes=chunk_bytes).read()]
    note = "line 2 has units instead of numbers and is skipped"
    assert all((note in table.notes) == skipped for table in tables)
    assert (len(tables) > 1) == (chunk_bytes == 40)
    lines = np.concatenate([table.lines for table in tables]).tolist()
    assert lines == [*range(2 + skipped, 12)]
    assert tables[0].cells[0][0] == ("0.5" if skipped else row.split(",")[0])


@pytest.mark.parametrize(
    ("above", "header", "skipped"),
    [
        ("Monthly report,,\n", "shop,sales,staff\n", 1),
        ("Monthly report,,\nGenerated 2026-01-01,,\n\n,,\n", "shop,sales,staff\n", 3),
        ("Monthly report\n", "shop,sales,staff\n", 1),
        ("", "shop,,\n", 0),  # columns without a name
        ("", ",,sales\n", 0),
    ],
)
def test_lines_above_the_table(above, header, skipped):
    """The padded lines that spreadsheets write for a title were read as the header."""
    text = above + header + "".join(f"Shop {i},{i}.5,{i % 3}\n" for i in range(8))
    dialect = find_dialect(text, "data")
    names = [cell or f"column{j}" for j, cell in enumerate(header.strip().split(","), 1)]
    assert (dialect.skipped, dialect.names) == (skipped, tuple(names))
    assert text[dialect.start.at :].startswith("Shop 0")


def test_header_can_be_forced():
    assert read_text(b"0,1\n2,3\n", header=True).columns == ("0", "1")
    assert read_text(b"a,b\nc,d\n", header=False).cells[0].tolist() == ["a", "c"]


def test_row_names_are_not_features(tmp_path):
    table = read_table(put(tmp_path, "a.csv", ",x,y\n0,1.5,2\n1,3.5,4\n"))
    assert table.row_names == ("column1",)
    assert table.features().names == ("x", "y")
    assert table.features(["column1", "x"]).names == ("column1", "x")


def test_byte_order_mark_quotes_and_line_ends(tmp_path):
    text = '\ufeffname,x\r\n"two\r\nlines, quoted",1\r\n"with ""quotes""",2\r\n\r\nplain,3\r\n'
    table = read_table(put(tmp_path, "a.csv", text))
    assert table.columns == ("name", "x")
    assert table.cells[0].tolist() == ["two\r\nlines, quoted", 'with "quotes"', "plain"]
    assert table.lines.tolist() == [2, 4, 6]
    assert_array_equal(table.features(["x"]).values, [[1], [2], [3]])


def test_text_is_unchanged_by_a_round_trip(tmp_path):
    text = 'id,x,note\n007,1.50,a\n008,2e0," b,c"\n009,+3,\n'
    table = read_table(put(tmp_path, "a.csv", text))
    write_table(table, tmp_path / "b.csv", {"cluster": [0, -1, 1]})
    back = (tmp_path / "b.csv").read_text()
    assert back == 'id,x,note,cluster\n007,1.50,a,0\n008,2e0," b,c",-1\n009,+3,,1\n'


@pytest.mark.parametrize(
    ("name", "text", "target", "header"),
    [
        ("a.csv", "a;b\n1;2\n", "b.csv", "a;b;cluster"),
        ("a.csv", "a;b\n1;2\n", "b.tsv", "a\tb\tcluster"),
        ("a.tsv", "a\tb\n1\t2\n", "b.csv", "a,b,cluster"),
        ("a.txt", "a b\n1 2\n", "b.csv", "a,b,cluster"),
        ("a.csv", "1,2\n3,4\n", "b.csv", "x0,x1,cluster"),
    ],
)
def test_delimiter_that_is_written(tmp_path, name, text, target, header):
    table = read_table(put(tmp_path, name, text))
    write_table(table, tmp_path / target, {"cluster": np.zeros(table.n_rows, int)})
    assert (tmp_path / target).read_text().splitlines()[0] == header


def test_standard_streams(tmp_path, monkeypatch, capsys):
    stdin(monkeypatch, b"a\tb\n1\t2\n3\t4\n")
    table = read_table("-")
    assert_array_equal(table.features().values, [[1, 2], [3, 4]])
    write_table(table, "-", {"cluster": [0, 1]})
    assert capsys.readouterr().out == "a\tb\tcluster\n1\t2\t0\n3\t4\t1\n"


def test_standard_input_takes_text_only(monkeypatch):
    stdin(monkeypatch, b"PAR1\x00\x01")
    with pytest.raises(
        DataError, match=r"standard input is Parquet, not delimited text: save it to a file whose name ends in .parquet"
    ):
        read_table("-")


cell = st.text(st.characters(blacklist_categories=("Cs",), blacklist_characters="\0\r"), max_size=8)
rows_of_text = st.integers(2, 4).flatmap(
    lambda width: st.lists(st.lists(cell, min_size=width, max_size=width), min_size=1, max_size=6)
)


@given(rows_of_text)
def test_quoted_cells_survive(rows):
    # all quoted and with a header, so that the delimiter and the names are plain
    out = io.StringIO()
    names = list(string.ascii_lowercase[: len(rows[0])])
    csv.writer(out, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows([names, *rows])
    table = read_text(out.getvalue().encode(), header=True)
    if table.delimiter == ",":  # a cell may look more like a delimiter than the commas between quotes
        assert [list(row) for row in zip(*table.cells, strict=True)] == rows


@given(rows_of_text, st.sampled_from([",", ";", "\t"]))
def test_text_is_written_as_by_the_csv_module(rows, delimiter):
    names, expected, found = list(string.ascii_lowercase[: len(rows[0])]), io.StringIO(), io.StringIO()
    table = Table.from_arrays("data", names, [np.array(cells, dtype=object) for cells in zip(*rows, strict=True)])
    csv.writer(expected, delimiter=delimiter, lineterminator="\n").writerows([names, *rows])
    write_rows(found, OutputSpec(len(rows), tuple(names), delimiter=delimiter), [table.data])
    assert found.getvalue() == expected.getvalue()


@given(
    st.lists(st.tuples(st.floats(allow_nan=False, allow_infinity=False), st.integers()), min_size=1, max_size=20),
    st.sampled_from([",", ";", "\t", "|", " "]),
    st.booleans(),
)
def test_numbers_survive(rows, delimiter, named):
    lines = [f"{a!r}{delimiter}{b}" for a, b in rows]
    text = "\n".join(([f"a{delimiter}b"] if named else []) + lines)
    table = read_text(text.encode())
    assert table.delimiter == delimiter
    assert [float(a) for a in table.cells[0]] == [a for a, _ in rows]
    assert [int(b) for b in table.cells[1]] == [b for _, b in rows]


def test_many_rows_are_quick(tmp_path):
    rng = np.random.default_rng(0)
    path = tmp_path / "a.csv"
    np.savetxt(path, rng.normal(size=(50_000, 4)), delimiter=",", header="a,b,c,d", comments="")
    table = read_table(path)
    assert table.features().values.shape == (50_000, 4)


# ---------------------------------------- other kinds


def test_npy(tmp_path):
    X = np.arange(6, dtype=np.float32).reshape(3, 2)
    np.save(tmp_path / "a.npy", X)
    table = read_table(tmp_path / "a.npy")
    assert table.columns == ("x0", "x1")
    features = table.features()
    assert features.values.dtype == np.float64
    assert_array_equal(features.values, X)
    write_table(table, tmp_path / "b.npy", {"cluster": [0, 0, -1]})
    assert_array_equal(np.load(tmp_path / "b.npy"), np.column_stack([X, [0, 0, -1]]))


def test_npy_of_one_dimension_is_one_column(tmp_path):
    np.save(tmp_path / "a.npy", np.arange(3))
    assert_array_equal(read_table(tmp_path / "a.npy").features().values, [[0], [1], [2]])


def test_npz_takes_X_or_the_only_table(tmp_path):
    X = np.eye(3)
    np.savez(tmp_path / "a.npz", y=np.zeros((3, 3)), X=X)
    assert_array_equal(read_table(tmp_path / "a.npz").features().values, X)
    np.savez(tmp_path / "b.npz", y=np.zeros(3), data=X)
    assert_array_equal(read_table(tmp_path / "b.npz").features().values, X)


def test_npz_round_trip(tmp_path):
    table = read_table(put(tmp_path, "a.csv", "u,v\n1,2\n3,4\n"))
    write_table(table, tmp_path / "b.npz", {"cluster": [1, 0]})
    with np.load(tmp_path / "b.npz") as archive:
        assert_array_equal(archive["cluster"], [1, 0])
    back = read_table(tmp_path / "b.npz")
    assert back.columns == ("u", "v")
    assert_array_equal(back.features().values, [[1, 2], [3, 4]])


def test_parquet_keeps_types(tmp_path):
    source = pa.table({"x": pa.array([1.5, 2.5]), "n": pa.array([1, 2], pa.int8()), "s": ["u", None]})
    pq.write_table(source, tmp_path / "a.parquet")
    table = read_table(tmp_path / "a.parquet")
    assert_array_equal(table.features(ignore=["s"]).values, [[1.5, 1], [2.5, 2]])
    write_table(table, tmp_path / "b.parquet", {"cluster": np.array([0, 1])})
    back = pq.read_table(tmp_path / "b.parquet")
    assert back.drop(["cluster"]).equals(source)
    assert back.column("cluster").to_pylist() == [0, 1]
    write_table(table, tmp_path / "b.csv", {"cluster": np.array([0, 1])})
    assert (tmp_path / "b.csv").read_text() == "x,n,s,cluster\n1.5,1,u,0\n2.5,2,,1\n"


def test_parquet_index_of_pandas_is_no_feature(tmp_path):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"x": [1.0, 2.0], "kind": pd.Categorical([5, 6])}, index=[10, 20])
    frame.to_parquet(tmp_path / "a.parquet")
    table = read_table(tmp_path / "a.parquet")
    assert table.features().names == ("x", "kind")
    assert_array_equal(table.features().values, [[1, 5], [2, 6]])
    write_table(table, tmp_path / "b.parquet", {"cluster": [0, 1]})
    assert pd.read_parquet(tmp_path / "b.parquet").index.tolist() == [10, 20]


def test_text_to_parquet_finds_types(tmp_path):
    table = read_table(put(tmp_path, "a.csv", "zip,n,x,s\n007,1,1.5,u\n012,,2,v\n"))
    write_table(table, tmp_path / "b.parquet", {"cluster": [0, 1]})
    back = pq.read_table(tmp_path / "b.parquet").to_pydict()
    assert back == {
        "zip": ["007", "012"],
        "n": [1, None],
        "x": [1.5, 2.0],
        "s": ["u", "v"],
        "cluster": [0, 1],
    }
