"""Data files: reading, error messages and atomic writes."""

import csv
import errno
import io
import json
import os
import pickle
import stat
import string
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from modeseek._storage import (
    DataError,
    MissingValueError,
    OutputSpec,
    Table,
    TextColumnError,
    UnknownColumnError,
    atomic_path,
    check_target,
    parse_table,
    read_table,
    write_json,
    write_table,
)
from modeseek._storage.atomic import put_in_place, remove_parts
from modeseek._storage.formats import InputFile, ReadOptions
from modeseek._storage.formats.delimited import DelimitedReader, write_rows

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")


def put(folder, name, content):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def read_text(data, suffix="", header=None):
    return DelimitedReader(InputFile("data", None, data, suffix), ReadOptions(header)).read()


def stdin(monkeypatch, data):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))


# ---------------------------------------- atomic writes


def test_atomic_success_leaves_only_the_file(tmp_path):
    with atomic_path(tmp_path / "a.csv") as part:
        assert part.suffix == ".csv"
        assert part.parent == tmp_path
        part.write_text("new")
        assert not (tmp_path / "a.csv").exists()
    assert [p.name for p in tmp_path.iterdir()] == ["a.csv"]
    assert (tmp_path / "a.csv").read_text() == "new"


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_atomic_failure_keeps_the_old_file(tmp_path, error):
    put(tmp_path, "a.csv", "old")
    with pytest.raises(error), atomic_path(tmp_path / "a.csv") as part:  # noqa: PT012
        part.write_text("half of the n")
        raise error
    assert [p.name for p in tmp_path.iterdir()] == ["a.csv"]
    assert (tmp_path / "a.csv").read_text() == "old"


def test_atomic_failure_leaves_nothing(tmp_path):
    with pytest.raises(RuntimeError), atomic_path(tmp_path / "a.csv"):
        raise RuntimeError
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(os.name != "posix", reason="permissions and links as POSIX has them")
def test_atomic_keeps_permissions_and_links(tmp_path):
    real = put(tmp_path, "real.csv", "old")
    real.chmod(0o640)
    (tmp_path / "link.csv").symlink_to(real)
    with atomic_path(tmp_path / "link.csv") as part:
        part.write_text("new")
    assert (tmp_path / "link.csv").is_symlink()
    assert real.read_text() == "new"
    assert stat.S_IMODE(real.stat().st_mode) == 0o640


@pytest.mark.skipif(os.name != "posix", reason="permissions as POSIX has them")
def test_atomic_is_private_from_the_first_byte(tmp_path, monkeypatch):
    """Other users could open the temporary file before its permissions were set."""
    target = put(tmp_path, "a.csv", "old")
    target.chmod(0o600)
    seen, create = [], os.open

    def watched(path, flags, mode=0o777, **named):
        descriptor = create(path, flags, mode, **named)
        if flags & os.O_CREAT:
            seen.append(stat.S_IMODE(os.fstat(descriptor).st_mode))
        return descriptor

    monkeypatch.setattr(os, "open", watched)
    with atomic_path(target) as part:
        part.write_text("new")
    assert seen == [0o600]


def test_remove_parts_keeps_files_of_the_user(tmp_path):
    """A date was taken for the random part of a temporary name."""
    put(tmp_path, ".run.20260101.ckpt", "a copy")
    with atomic_path(tmp_path / "run.ckpt") as part:
        pass
    (tmp_path / "run.ckpt").rename(part)
    remove_parts(tmp_path / "run.ckpt")
    assert [p.name for p in tmp_path.iterdir()] == [".run.20260101.ckpt"]


@pytest.mark.skipif(not os.path.exists("/dev/null"), reason="needs a device file")
def test_atomic_never_replaces_a_device():
    with pytest.raises(DataError, match="not a regular file"), atomic_path("/dev/null"):
        pass
    with pytest.raises(DataError, match="not a regular file"):
        check_target("/dev/null", [""])


def test_atomic_names_a_missing_folder(tmp_path):
    with (
        pytest.raises(DataError, match=r"cannot write .*No such file"),
        atomic_path(tmp_path / "no" / "a.csv"),
    ):
        pass


@pytest.mark.skipif(os.name != "posix", reason="permissions and links as POSIX has them")
@pytest.mark.parametrize("far", [False, True])
def test_put_in_place_keeps_permissions_and_links(tmp_path, monkeypatch, far):
    """Also from another file system, where a rename fails."""
    real, made = put(tmp_path, "real.csv", "old"), put(tmp_path, "made", "new")
    real.chmod(0o640)
    (tmp_path / "link.csv").symlink_to(real)
    replace = os.replace

    def refused(source, target):
        if source == made:
            raise OSError(errno.EXDEV, "another device")
        replace(source, target)

    if far:
        monkeypatch.setattr(os, "replace", refused)
    put_in_place(made, tmp_path / "link.csv")
    assert (tmp_path / "link.csv").is_symlink()
    assert real.read_text() == "new"
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
    assert made.exists() == far
    made.unlink(missing_ok=True)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["link.csv", "real.csv"]


def test_put_in_place_refuses(tmp_path):
    made = put(tmp_path, "made", "new")
    with pytest.raises(DataError, match="not a regular file"):
        put_in_place(made, tmp_path)
    with pytest.raises(DataError, match=r"cannot write .*No such file"):
        put_in_place(made, tmp_path / "no" / "a.csv")
    assert made.read_text() == "new"


def test_check_target(tmp_path):
    check_target(tmp_path / "a.CSV", [".csv"])
    with pytest.raises(DataError, match=r"unknown ending '.cvs'. Did you mean '.csv'\?"):
        check_target(tmp_path / "a.cvs", [".csv", ".npy"])
    with pytest.raises(DataError, match="no ending"):
        check_target(tmp_path / "a", [".csv"])
    with pytest.raises(DataError, match=r"no folder .*create it first"):
        check_target(tmp_path / "no" / "a.csv", [".csv"])
    with pytest.raises(DataError, match="it is a folder"):
        check_target(tmp_path, [".csv"])


def test_write_json(tmp_path):
    write_json(tmp_path / "a.json", {"name": "Adélie", "n": 3})
    assert json.loads((tmp_path / "a.json").read_text(encoding="utf-8")) == {"name": "Adélie", "n": 3}
    with pytest.raises(ValueError, match="not JSON compliant"):
        write_json(tmp_path / "b.json", {"n": float("nan")})
    assert not (tmp_path / "b.json").exists()


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
    with pytest.raises(DataError, match="standard input is Parquet, not delimited text"):
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


# ---------------------------------------- what is refused

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
    with pytest.raises(DataError, match="has 2 columns named 'a'"):
        table.features(["a"])


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
