"""Data files that are refused, and the messages about them."""

import io
import pickle

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from inputs import put
from modeseek._storage.errors import DataError, MissingValueError, TextColumnError, UnknownColumnError
from modeseek._storage.reading import parse_table, read_table
from modeseek._storage.table import Table
from modeseek._storage.writing import write_table

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")


PICKLED = np.array([{"a": 1}, None], dtype=object)


def saved(save, *arrays, **named):
    out = io.BytesIO()
    save(out, *arrays, **named)
    return out.getvalue()


def parquet(table):
    out = io.BytesIO()
    pq.write_table(table, out)
    return out.getvalue()


BAD_FILES = [
    ("a.csv", "", "'.*a.csv' is empty"),
    ("a.csv", "\n\n \n", "is empty"),
    ("a.csv", "a,b\n", "has a header but no rows"),
    ("a.csv", "a,b\n1,2\n3\n", r"line 3: expected 2 fields as in line 1, found 1"),
    ("a.csv", "a,b\n\n1,2\n3,4,5\n", r"line 4: expected 2 fields as in line 1, found 3.*double quotes"),
    ("a.csv", 'a,b\n"x\ny",2\n3\n', r"line 4: expected 2 fields"),
    ("a.csv", 'a,b\n1,"2\n3,4\n', r"line 2: unexpected end of data: check the double quotes"),
    ("a.csv", b"a,b\n1,caf\xe9\x01\n", r"line 2: byte 0xe9 is not UTF-8 text: save the file as UTF-8"),
    ("a.csv", "a,b\n1,2\n".encode("utf-16")[:-1], "it is cut short or damaged"),
    ("a.csv", b"a,b\n1,\0\n", "line 2 has a zero byte"),
    ("a.cvs", "a,b\n1,2\n", r"unknown ending '.cvs'. Did you mean '.csv'\?"),
    ("a.npy", b"garbage of any kind", "cannot be read: it is cut short or not a NumPy file"),
    ("a.npy", saved(np.save, np.eye(9))[:-8], "cut short"),
    ("a.npy", saved(np.save, PICKLED, allow_pickle=True), "holds Python objects, which are never loaded"),
    ("a.npy", saved(np.save, np.zeros((2, 2, 2))), r"has shape \(2, 2, 2\): give rows and columns"),
    ("a.npy", saved(np.save, np.zeros(())), r"has shape \(\)"),
    ("a.npy", saved(np.save, np.zeros((0, 2))), "it is empty"),
    ("a.npy", saved(np.save, np.zeros((3, 0))), "it is empty"),
    ("a.npy", saved(np.save, np.array(["u", "v"])), "holds text"),
    ("a.npy", saved(np.save, np.array([1j])), "holds complex numbers"),
    ("a.npy", saved(np.savez, X=np.eye(2)), "is NPZ, not NPY: rename it to end in .npz"),
    ("a.npz", saved(np.save, np.eye(2)), "is NPY, not NPZ: rename it to end in .npy"),
    ("a.npz", saved(np.savez, X=np.eye(9))[:-30], "cut short"),
    ("a.npz", saved(np.savez, X=PICKLED, allow_pickle=True), "array X holds Python objects"),
    (
        "a.npz",
        saved(np.savez, u=np.eye(2), v=np.eye(3)),
        r"arrays are: u \(2, 2\), v \(3, 3\). Save the data as X",
    ),
    ("a.npz", saved(np.savez, u=np.zeros(2)), r"arrays are: u \(2,\)"),
    ("a.parquet", b"PAR1 no, not really PAR1", "cannot be read as Parquet"),
    ("a.parquet", parquet(pa.table({"x": [1.0]}))[:-20], "cannot be read as Parquet"),
    ("a.parquet", parquet(pa.table({"x": pa.array([], pa.float64())})), "has no rows"),
]


@pytest.mark.parametrize(("name", "content", "message"), BAD_FILES)
def test_bad_files(tmp_path, name, content, message):
    with pytest.raises(DataError, match=message):
        read_table(put(tmp_path, name, content))


def test_missing_file_names_the_nearest(tmp_path):
    put(tmp_path, "penguins.csv", "a\n1\n")
    with pytest.raises(DataError, match=r"there is no file .*pinguins.csv'. Did you mean 'penguins.csv'\?"):
        read_table(tmp_path / "pinguins.csv")
    with pytest.raises(DataError, match="there is no folder"):
        read_table(tmp_path / "no" / "penguins.csv")
    with pytest.raises(DataError, match="is a folder"):
        read_table(tmp_path)


BAD_CELLS = [
    ("x,s\n1,u\n2,v\n", "column 's' is not numeric: row 1 .line 2. has 'u'. .*leave the column out"),
    (
        "x,s,t\n1,5,u\n2,oops,v\n",
        "'s' is not numeric: row 2 .line 3. has 'oops'.*Not numeric either: t.*leave the columns out",
    ),
    ("x,two words\n1,u\n", "column 'two words' is not numeric"),
    (
        "x,y\n1,2\n,3\n",
        "row 2 .line 3. has a missing value in column 'x': correct it, remove the row, or leave the column out",
    ),
    ("x,y\n1,2\n3,NaN\n5,NA\n", "row 2 .line 3. has a missing value in column 'y' .2 rows have such values"),
    ("x,y\n1,inf\n", "row 1 .line 2. has an infinite value in column 'y'"),
    ("x;y\n1,5;2\n", "decimal points instead of decimal commas"),
    ("x,y\n1_000,2\n", "'x' is not numeric: row 1 .line 2. has '1_000'"),
    ('x,s\n1,"' + "long" * 50 + '"\n', "has 'longlong.*\\.\\.\\.'"),
]


@pytest.mark.parametrize(("text", "message"), BAD_CELLS)
def test_bad_cells(tmp_path, text, message):
    table = read_table(put(tmp_path, "a.csv", text), header=True)
    with pytest.raises(DataError, match=message):
        table.features()


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_gaps_in_arrays(tmp_path, value):
    np.save(tmp_path / "a.npy", [[1.0, 2.0], [3.0, value]])
    what = "a missing" if np.isnan(value) else "an infinite"
    with pytest.raises(DataError, match=f"row 2 has {what} value in column 'x1'.*leave the column out"):
        read_table(tmp_path / "a.npy").features()


def test_gaps_in_parquet(tmp_path):
    pq.write_table(pa.table({"x": [1, None]}), tmp_path / "a.parquet")
    with pytest.raises(DataError, match="row 2 has a missing value in column 'x'"):
        read_table(tmp_path / "a.parquet").features()


def test_errors_have_fields_and_cross_processes(tmp_path):
    table = read_table(put(tmp_path, "a.csv", "x,s\n1,5\n2,oops\n3,6\n,7\n"), header=True)
    with pytest.raises(TextColumnError) as caught:
        table.features()
    with pytest.raises(MissingValueError) as missing:
        table.features(["x"])
    with pytest.raises(UnknownColumnError) as unknown:
        table.features(["y"])
    assert (caught.value.columns, caught.value.example, caught.value.row, caught.value.line) == (("s",), "oops", 2, 3)
    assert (list(missing.value.columns), missing.value.row, missing.value.line, missing.value.infinite) == (
        ["x"],
        4,
        5,
        False,
    )
    assert (unknown.value.name, unknown.value.columns) == ("y", ("x", "s"))
    for error in (caught.value, missing.value, unknown.value):
        back = pickle.loads(pickle.dumps(error))
        assert (type(back), str(back), vars(back)) == (type(error), str(error), vars(error))


def test_unknown_column_names_the_nearest(tmp_path):
    table = read_table(put(tmp_path, "a.csv", "bill_length,species\n1,u\n"))
    for call in (lambda: table.features(["bill_lenght"]), lambda: table.features(ignore=["bill_lenght"])):
        with pytest.raises(DataError, match=r"no column 'bill_lenght'. Did you mean 'bill_length'\?"):
            call()
    with pytest.raises(DataError, match=r"Did you mean 'species'\?"):
        table.features(["SPECIES"])
    with pytest.raises(DataError, match="no column is left to cluster"):
        table.features(ignore=["bill_length", "species"])


def test_columns_in_the_requested_order(tmp_path):
    table = read_table(put(tmp_path, "a.csv", "a,b,c\n1,2,3\n"))
    assert table.features(["c", "a"]) == (pytest.approx(np.array([[3, 1]])), ("c", "a"))
    assert table.features(["c", "a", "c"], ["a"]).names == ("c",)


def test_two_columns_of_one_name(tmp_path):
    table = read_table(put(tmp_path, "a.csv", "a,a\n1,2\n"))
    assert_array_equal(table.features().values, [[1, 2]])
    assert table.features().names == ("a", "a.2")
    assert_array_equal(table.features(["a.2"]).values, [[2]])
    assert_array_equal(table.features(ignore=["a.2"]).values, [[1]])


def test_nothing_is_written_over_a_column(tmp_path):
    table = read_table(put(tmp_path, "a.csv", "x,cluster\n1,2\n"))
    with pytest.raises(DataError, match="already has a column 'cluster': choose another name for the new column"):
        write_table(table, tmp_path / "b.csv", {"cluster": [0]})
    assert not (tmp_path / "b.csv").exists()


def test_text_does_not_fit_numpy_files(tmp_path):
    table = read_table(put(tmp_path, "a.csv", "x,s\n1,u\n"))
    for name in ("b.npy", "b.npz"):
        with pytest.raises(DataError, match=r"column 's' is not numeric, and NP[YZ] holds numbers only"):
            write_table(table, tmp_path / name, {"cluster": [0]})
    assert [p.name for p in tmp_path.iterdir()] == ["a.csv"]


def test_half_written_tables_leave_nothing(tmp_path):
    table = read_table(put(tmp_path, "a.csv", "x\n1\n2\n"))
    with pytest.raises(ValueError, match="length"):
        write_table(table, tmp_path / "b.csv", {"cluster": [0]})  # one value too few
    assert [p.name for p in tmp_path.iterdir()] == ["a.csv"]


@pytest.mark.parametrize("name", ["a.csv", "a.parquet", "a.npy", "f.npy", "a.npz"])
def test_tables_are_read_from_bytes_as_from_files(tmp_path, name):
    X = np.arange(6.0).reshape(3, 2)
    if name.endswith("npy"):
        np.save(tmp_path / name, np.asfortranarray(X) if name[0] == "f" else X)
    elif name == "a.npz":
        np.savez(tmp_path / name, X=X)
    else:
        write_table(Table.from_arrays("data", ["x0", "x1"], X.T), tmp_path / name, {})
    table = parse_table(name, (tmp_path / name).read_bytes())
    assert_array_equal(table.features().values, X)
    assert table.columns == read_table(tmp_path / name).columns
