"""Columns that are not clustered are written unchanged, in every format; what a format cannot hold is refused first."""

import datetime
import json
import sqlite3
from contextlib import closing
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

from modeseek import MeanShift
from modeseek._storage.chunks import open_chunks
from modeseek._storage.errors import DataError
from modeseek._storage.reading import read_table
from modeseek._storage.writing import write_table
from modeseek.pipeline import DataOptions, Outputs, PipelineConfig, cluster_file

N = 12
IDS = [1234567890123456789 + i for i in range(N)]


def write_csv(path, cells, name="id"):
    path.write_text(f"{name},x\n" + "".join(f"{cell},{i % 2}.5\n" for i, cell in enumerate(cells)))
    return path


def cluster(source, target, chunked=False):
    config = PipelineConfig(chunk_bytes=64)
    data = DataOptions(columns=["x"])
    cluster_file(source, MeanShift(0.5), data, Outputs(str(target)), out_of_core=chunked, config=config)


@pytest.mark.parametrize("chunked", [False, True])
@pytest.mark.parametrize(
    "spelled",
    [
        lambda i: f"20240101123456.{i:06d}",
        lambda i: f"0.1234567890123456{i:04d}",
        lambda i: f"{i + 1}e400",
        lambda i: "1.1" + "0" * i,
        lambda i: ("+5", "5.0", "5", " 5")[i % 4],
    ],
)
def test_texts_that_look_like_numbers_stay_different(spelled, chunked, tmp_path):
    """All of them became one number in Parquet and NPY."""
    cells = [spelled(i) for i in range(N)]
    source = write_csv(tmp_path / "a.csv", cells)
    cluster(source, tmp_path / "b.parquet", chunked)
    assert pq.read_table(tmp_path / "b.parquet").column("id").to_pylist() == cells
    with pytest.raises(DataError, match=r"b\.npy': NPY holds numbers .* the text of column 'id'"):
        cluster(source, tmp_path / "b.npy", chunked)
    assert not (tmp_path / "b.npy").exists()


@pytest.mark.parametrize("chunked", [False, True])
@pytest.mark.parametrize("ending", ["parquet", "npy"])
def test_features_are_numbers_however_they_are_written(ending, chunked, tmp_path):
    source = tmp_path / "a.csv"
    source.write_text("n,x\n" + "".join(f"{i}, {i % 2}.50\n" for i in range(N)))
    cluster(source, tmp_path / f"b.{ending}", chunked)
    assert read_table(tmp_path / f"b.{ending}").cells[1].tolist() == [0.5, 1.5] * (N // 2)


def test_features_of_many_digits_stay_different(tmp_path):
    cells = [f"20240101123456.{i:06d}" for i in range(N)]
    table = read_table(write_csv(tmp_path / "a.csv", cells))
    write_table(table, tmp_path / "b.parquet", {}, features=["id", "x"])
    assert pq.read_table(tmp_path / "b.parquet").column("id").to_pylist() == cells
    # text of a float64 number, as numpy.savetxt writes it, is a number
    table = read_table(write_csv(tmp_path / "a.csv", [f"{i / 7:.18e}" for i in range(N)]))
    write_table(table, tmp_path / "b.parquet", {}, features=["id", "x"])
    assert pq.read_table(tmp_path / "b.parquet").column("id").to_pylist() == [i / 7 for i in range(N)]


@pytest.mark.parametrize("ending", ["npy", "npz"])
@pytest.mark.parametrize("values", [IDS, [Decimal(each) / 10**9 for each in IDS]])
def test_decimals_that_are_no_floats_do_not_fit_numpy_files(values, ending, tmp_path):
    """Identifiers of the type HUGEINT of DuckDB are decimals in Arrow: 60 became 1."""
    pq.write_table(pa.table({"id": [Decimal(each) for each in values], "x": [1.5] * N}), tmp_path / "a.parquet")
    table = read_table(tmp_path / "a.parquet")
    with pytest.raises(DataError, match=r"column 'id'"):
        write_table(table, tmp_path / f"b.{ending}", {})
    small = pa.table({"id": pa.array([Decimal(i) for i in range(N)], pa.decimal128(38, 0)), "x": [1.5] * N})
    pq.write_table(small, tmp_path / "a.parquet")
    write_table(read_table(tmp_path / "a.parquet"), tmp_path / f"b.{ending}", {})


@pytest.mark.parametrize("ending", ["parquet", "arrow", "jsonl"])
def test_two_columns_of_one_name_are_refused_before_the_work(ending, tmp_path):
    """JSON lines lost the first, and the Parquet file could not be read."""
    source = tmp_path / "a.csv"
    source.write_text("x,n,n\n" + "1.5,1,2\n" * N)
    with pytest.raises(DataError, match="2 columns are named 'n'"):
        cluster(source, tmp_path / f"b.{ending}")
    write_table(read_table(source), tmp_path / "b.csv", {})
    assert (tmp_path / "b.csv").read_bytes() == source.read_bytes()


def test_parquet_with_two_columns_of_one_name_is_read(tmp_path):
    pq.write_table(pa.table([[1, 2], [3, 4]], ["n", "n"]), tmp_path / "a.parquet")
    assert [each.tolist() for each in read_table(tmp_path / "a.parquet").cells] == [[1, 2], [3, 4]]
    assert next(open_chunks([tmp_path / "a.parquet"]).read()).table.columns == ("n", "n")


@pytest.mark.parametrize("ending", ["jsonl", "arrow"])
def test_numbers_of_text_files_are_numbers_in_formats_with_types(ending, tmp_path):
    """They were strings."""
    (tmp_path / "a.csv").write_text("i,f,zip,v\n1,0.5,007,1.10\n2,NA,012,1.1\n")
    write_table(read_table(tmp_path / "a.csv"), tmp_path / f"b.{ending}", {})
    rows = read_table(tmp_path / f"b.{ending}").data.to_pylist()
    assert rows == [{"i": 1, "f": 0.5, "zip": "007", "v": "1.10"}, {"i": 2, "f": None, "zip": "012", "v": "1.1"}]


def test_json_values_come_back(tmp_path):
    """Large integers, and numbers beside true and false, came back as strings; objects got names of others."""
    rows = [
        {"big": 2**70, "u": 2**63, "mixed": True, "object": {"a": 1}, "list": [1], "text": "5", "number": 2**60 + 1},
        {"big": 1, "u": 5, "mixed": 3, "object": {"b": {"c": None}}, "list": "no", "text": "x", "number": 0.5},
    ]
    (tmp_path / "a.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    table = read_table(tmp_path / "a.jsonl")
    write_table(table, tmp_path / "b.jsonl", {})
    assert [json.loads(line) for line in (tmp_path / "b.jsonl").read_text().splitlines()] == rows
    write_table(table, tmp_path / "b.csv", {})
    assert (tmp_path / "b.csv").read_text().splitlines()[1:] == [
        '1180591620717411303424,9223372036854775808,true,"{""a"": 1}",[1],5,1152921504606846977',
        '1,5,3,"{""b"": {""c"": null}}",no,x,0.5',
    ]
    (tmp_path / "a.jsonl").write_text('{"a": 1, "b": 5}\n{"a": "2", "b": "x"}\n')
    assert read_table(tmp_path / "a.jsonl").features(["a"]).values.tolist() == [[1.0], [2.0]]


def test_an_object_with_a_repeated_name_is_refused(tmp_path):
    """One of the two values was lost."""
    (tmp_path / "a.jsonl").write_text('{"id": 1, "id": 2}\n')
    with pytest.raises(DataError, match="two values with the same name"):
        read_table(tmp_path / "a.jsonl")


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
def test_encodings_of_json(encoding, tmp_path):
    text = '{"s": "a\u2028b\x85é"}\n{"s": "c"}\r\n'
    (tmp_path / "a.jsonl").write_bytes(text.encode(encoding))
    assert read_table(tmp_path / "a.jsonl").cells[0].tolist() == ["a\u2028b\x85é", "c"]
    (tmp_path / "a.jsonl").write_bytes(text.replace("\u2028", "").encode("latin-1"))
    with pytest.raises(DataError, match="line 1: byte 0x85 is not UTF-8 text"):
        read_table(tmp_path / "a.jsonl")


def test_text_beside_bytes(tmp_path):
    """One BLOB made b's' of all texts of its column."""
    with closing(sqlite3.connect(tmp_path / "a.db")) as connection:
        connection.execute("CREATE TABLE t (a, b, c)")
        connection.executemany(
            "INSERT INTO t VALUES (?, ?, ?)", [("s", b"\0\xff", 1), (b"q", None, "u"), (None, b"", 2.5)]
        )
        connection.commit()
    table = read_table(tmp_path / "a.db")
    write_table(table, tmp_path / "b.csv", {})
    assert (tmp_path / "b.csv").read_text() == "a,b,c\ns,00ff,1\n71,,u\n,,2.5\n"
    write_table(table, tmp_path / "b.jsonl", {})
    assert [json.loads(line)["c"] for line in (tmp_path / "b.jsonl").read_text().splitlines()] == [1, "u", 2.5]


def test_spreadsheet_integers(tmp_path):
    """1000 was written as 1000.0."""
    openpyxl = pytest.importorskip("openpyxl")
    pytest.importorskip("python_calamine")
    book = openpyxl.Workbook()
    for row in (["id", 2024, "mixed"], [1000, 0.5, "a"], [1001, 2, 5]):
        book.active.append(row)
    book.save(tmp_path / "a.xlsx")
    write_table(read_table(tmp_path / "a.xlsx", header=True), tmp_path / "b.csv", {})
    assert (tmp_path / "b.csv").read_text() == "id,2024,mixed\n1000,0.5,a\n1001,2.0,5\n"


def test_types_that_parquet_lacks_are_refused_before_the_work(tmp_path):
    """A traceback was printed after all the work."""
    kind = pa.month_day_nano_interval()
    table = pa.table({"x": [0.5, 1.5], "w": pa.array([(0, 1, 0), (1, 0, 5)], kind)})
    pyarrow.feather.write_feather(table, tmp_path / "a.arrow", compression="uncompressed")
    with pytest.raises(DataError, match="column 'w' has the type month_day_nano_interval, which Parquet does not have"):
        cluster(tmp_path / "a.arrow", tmp_path / "b.parquet")
    write_table(read_table(tmp_path / "a.arrow"), tmp_path / "b.csv", {})
    assert (tmp_path / "b.csv").read_text() == 'x,w\n0.5,"[0, 1, 0]"\n1.5,"[1, 0, 5]"\n'


def test_dates_beyond_python_in_json(tmp_path):
    """They raised OverflowError after all the work."""
    dates = pa.array([99_999_999, 1], pa.date32())
    pq.write_table(pa.table({"x": [0.5, 1.5], "d": dates}), tmp_path / "a.parquet")
    write_table(read_table(tmp_path / "a.parquet"), tmp_path / "b.jsonl", {})
    assert json.loads((tmp_path / "b.jsonl").read_text().splitlines()[1])["d"] == "1970-01-02"


def test_types_of_duckdb(tmp_path):
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect(str(tmp_path / "a.duckdb")) as connection:
        connection.execute("CREATE SCHEMA s; CREATE TABLE s.t (id HUGEINT, w INTERVAL, l INTEGER[], b BLOB)")
        connection.execute(
            "INSERT INTO s.t VALUES (1180591620717411303424, INTERVAL 1 DAY, [1, 2], '\\x00\\xFF'::BLOB)"
        )
    table = read_table(tmp_path / "a.duckdb")
    for ending in ("parquet", "arrow"):
        write_table(table, tmp_path / f"b.{ending}", {})
    write_table(table, tmp_path / "b.csv", {})
    assert (tmp_path / "b.csv").read_text() == 'id,w,l,b\n1180591620717411303424,1 day,"[1, 2]",00ff\n'
    write_table(table, tmp_path / "b.jsonl", {})
    assert json.loads((tmp_path / "b.jsonl").read_text()) == {"id": 2**70, "w": "1 day", "l": [1, 2], "b": "00ff"}
    assert read_table(f"{tmp_path / 'a.duckdb'}::s.t").n_rows == 1


def test_names_of_duckdb_files_that_are_not_utf8(tmp_path):
    """The message was std::bad_cast."""
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect(str(tmp_path / "a.duckdb")) as connection:
        connection.execute("CREATE TABLE t AS SELECT 1.5 AS x")
    odd = tmp_path / b"a\xe9.duckdb".decode("utf-8", "surrogateescape")
    (tmp_path / "a.duckdb").rename(odd)
    with pytest.raises(DataError, match=r"name that is not UTF-8.*rename it"):
        read_table(odd)


def test_a_database_in_wal_mode_leaves_no_files(tmp_path):
    """SQLite made an empty log beside a copied file."""
    with closing(sqlite3.connect(tmp_path / "a.db")) as connection:
        connection.execute("PRAGMA journal_mode=wal")
        connection.execute("CREATE TABLE t AS SELECT 1.5 AS x")
        connection.commit()
        # while another program has the file open, its log is read
        assert read_table(tmp_path / "a.db").n_rows == 1
    assert read_table(tmp_path / "a.db").n_rows == 1
    assert [each.name for each in tmp_path.iterdir()] == ["a.db"]


def test_a_file_that_grows_while_it_is_read_is_noticed(tmp_path, monkeypatch):
    path = tmp_path / "a.jsonl"
    path.write_text('{"x": 1}\n')
    original = json.loads

    def loads(text, **options):
        with path.open("a") as stream:
            stream.write('{"x": 2}\n')
        return original(text, **options)

    monkeypatch.setattr(json, "loads", loads)
    with pytest.raises(DataError, match="changed"):
        read_table(path)


def test_dates_and_times_of_python_are_text(tmp_path):
    table = read_table(write_csv(tmp_path / "a.csv", range(N)))
    added = {"day": [datetime.date(2024, 1, 1)] * N, "n": np.arange(N)}
    write_table(table, tmp_path / "b.jsonl", {name: pa.array(each) for name, each in added.items()})
    assert json.loads((tmp_path / "b.jsonl").read_text().splitlines()[1])["day"] == "2024-01-01"
