"""Files on Dask workers: columns pass through unchanged, as in memory, however the files are divided into parts."""

import os
import signal
import threading
import time

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from modeseek import MeanShift
from modeseek._storage.errors import DataError, MissingValueError, UnpackedSizeError
from modeseek._storage.formats.base import OutputSpec
from modeseek._storage.formats.reader import ReadOptions
from modeseek._storage.reading import open_reader, read_table
from modeseek._storage.table import Table
from modeseek._storage.unpacking import limit_unpacked
from modeseek.pipeline import DataOptions, Outputs, PipelineConfig, cluster_file
from modeseek.pipeline import dask as pipeline_dask
from modeseek.prepare import TablePreparer
from waiting import PATIENCE

pytest.importorskip("distributed")

N = 240
IDS = 9_007_199_254_740_993_000 + np.arange(N)
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, 2)) + 8 * RNG.integers(0, 2, (N, 1))
DATA = DataOptions(columns=["x", "y"], scale="none")


@pytest.fixture(scope="module")
def address():
    from distributed import LocalCluster

    with LocalCluster(
        n_workers=1, threads_per_worker=2, processes=False, dashboard_address=None, memory_limit=0
    ) as cluster:
        yield cluster.scheduler_address


def on_dask(path, target, address, part_bytes=2000, data=DATA):
    config = PipelineConfig(dask_part_bytes=part_bytes)
    cluster_file(path, MeanShift(2.0), data, Outputs(str(target)), scheduler=address, config=config)
    return pa.concat_tables(pq.read_table(each) for each in sorted(target.iterdir()))


def in_memory(path, target, data=DATA):
    cluster_file(path, MeanShift(2.0), data, Outputs(str(target)))
    return pq.read_table(target)


def columns():
    gaps = [None if i % 7 == 0 else int(each) for i, each in enumerate(IDS)]
    codes = [f"00{i}" for i in range(N)]
    return pa.table({"id": IDS, "gaps": gaps, "code": codes, "x": X[:, 0], "y": X[:, 1], "price": ["1.10"] * N})


def as_text(table, delimiter=","):
    rows = [table.column_names, *zip(*(column.to_pylist() for column in table.columns), strict=True)]
    return "".join(delimiter.join("" if cell is None else str(cell) for cell in row) + "\n" for row in rows)


@pytest.mark.parametrize("kind", ["csv", "tsv", "parquet", "gz", "cp1252", "semicolon", "no-header"])
def test_columns_pass_through_unchanged(kind, address, tmp_path):
    """Dask read identifiers of 19 digits, and integers with gaps, as floats: 240 different ones became one."""
    # characters that patterns of file names use
    path = tmp_path / f"rows[1]*.{ {'parquet': 'parquet', 'tsv': 'tsv', 'gz': 'csv.gz'}.get(kind, 'csv') }"
    table, data = columns(), DATA
    if kind == "parquet":
        pq.write_table(table, path, row_group_size=50)
    elif kind == "gz":
        import gzip

        path.write_bytes(gzip.compress(as_text(table).encode()))
    elif kind == "cp1252":
        path.write_bytes(as_text(table.append_column("é", [["ü"] * N])).encode("cp1252"))
    elif kind == "no-header":
        path.write_text(as_text(table).partition("\n")[2])
        data = DataOptions(columns=["x3", "x4"], scale="none", header=False)
    else:
        path.write_text(as_text(table, {"tsv": "\t", "semicolon": ";"}.get(kind, ",")))
    found = on_dask(path, tmp_path / "away.parquet", address, data=data)
    known = in_memory(path, tmp_path / "here.parquet", data=data)
    assert found.replace_schema_metadata(None).equals(known.replace_schema_metadata(None))
    assert found.column(0).to_pylist() == IDS.tolist()
    assert [each.name for each in tmp_path.iterdir() if each.name.endswith(".part")] == []


def test_text_that_becomes_numbers_late_keeps_one_type(address, tmp_path):
    """Every part has the type that all rows allow."""
    path = tmp_path / "rows.csv"
    late = [str(i) for i in range(N - 1)] + ["n/k"]
    path.write_text(as_text(columns().append_column("late", [late])))
    found = on_dask(path, tmp_path / "away.parquet", address)
    assert found.column("late").to_pylist() == late


def test_line_ends_in_quotes_are_whole_or_refused(tmp_path):
    """Dask divides text at any line end, also within quotes: rows came out torn."""
    path = tmp_path / "rows.csv"
    cells = [f'"a ""{i}""\nb,{i}\r\n"' if i % 5 == 0 else f"plain {i}" for i in range(40)]
    path.write_bytes(("x,note\n" + "".join(f"{i},{cell}\n" for i, cell in enumerate(cells))).encode())
    whole, refused = read_table(path).data, 0
    reader = open_reader(path, ReadOptions())
    for n_bytes in range(1, path.stat().st_size + 2):
        try:
            found = pa.concat_tables(reader.read_part(part).data for part in reader.parts(n_bytes))
        except DataError:
            refused += 1
        else:
            assert found.equals(whole)
    assert 0 < refused < path.stat().st_size


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("last", ["", "end"])
def test_parts_of_any_size_are_the_whole(end, last, tmp_path):
    path = tmp_path / "rows.csv"
    rows = [f"{i},{'é' * (i % 7)}" for i in range(60)]
    path.write_bytes(("\ufeffx,é" + end + end.join(rows) + (end if last else "")).encode())
    whole, reader = read_table(path).data, open_reader(path, ReadOptions())
    for n_bytes in range(1, path.stat().st_size + 2):
        assert pa.concat_tables(reader.read_part(part).data for part in reader.parts(n_bytes)).equals(whole)


def test_row_groups_of_any_size_are_the_whole(tmp_path):
    path = tmp_path / "rows.parquet"
    pq.write_table(columns(), path, row_group_size=17)
    reader = open_reader(path, ReadOptions())
    for n_bytes in (1, 900, 5000, 10**9):
        parts = reader.parts(n_bytes)
        assert len(parts) == {1: 15, 10**9: 1}.get(n_bytes, len(parts))
        found = pa.concat_tables(reader.read_part(part).data for part in parts)
        assert found.replace_schema_metadata(None).equals(columns())


def test_errors_of_workers_keep_their_type(address, tmp_path):
    path, target = tmp_path / "rows.csv", tmp_path / "o.parquet"
    text = as_text(columns())
    path.write_text(text.replace(f"{X[100, 0]}", "", 1))
    with pytest.raises(MissingValueError, match="'x'"):
        on_dask(path, target, address, data=DataOptions(columns=["x", "y"], strict=True))
    path.write_text(text + "1,2\n")
    with pytest.raises(DataError, match="expected 6 fields"):
        on_dask(path, target, address)
    path.write_text(text)
    (tmp_path / "other.csv").write_text("x,y\n1,2\n")
    with pytest.raises(DataError, match="other columns than the first file"):
        on_dask([path, tmp_path / "other.csv"], target, address)
    packed = tmp_path / "rows.csv.gz"
    import gzip

    packed.write_bytes(gzip.compress(text.encode()))
    with limit_unpacked(1000), pytest.raises(UnpackedSizeError):
        on_dask(packed, target, address)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["other.csv", "rows.csv", "rows.csv.gz"]


def test_names_of_added_columns_never_replace_others(address, tmp_path):
    """A column `cluster_confidence` of the file was replaced."""
    from modeseek import ModeSeek

    path = tmp_path / "rows.parquet"
    table = columns().append_column("confidence", [["a"] * N]).append_column("cluster_confidence", [["b"] * N])
    pq.write_table(table, path)
    target = tmp_path / "o.parquet"
    cluster_file(path, ModeSeek(random_state=0), DATA, Outputs(str(target)), scheduler=address)
    found = pq.read_table(target)
    assert found.select(table.column_names).replace_schema_metadata(None).equals(table)
    assert found.column_names[-2:] == ["cluster", "cluster_confidence_2"]


def test_a_late_result_of_a_part_does_not_tear_it(tmp_path, monkeypatch):
    """A worker that was taken for dead wrote to the same temporary file as its replacement."""
    table = Table.from_arrays("rows", ["x"], [X[:, 0]])
    preparer = TablePreparer().fit(table)
    write = pipeline_dask._write_part
    spec = OutputSpec(0, ("x",), ("cluster",), (), ("x",))
    work = (0, (table, (np.zeros(N, np.intp),)))
    format_ = pipeline_dask.format_of("o.parquet")
    begun, original = [], type(format_).write

    def late(self, path, spec, chunks):
        if not begun:
            begun.append(path)
            path.write_bytes(b"half of a part")
            # meanwhile another worker repeats the task
            write(tmp_path, preparer, spec, 1, *work)
            assert pq.read_table(tmp_path / "part.000000.parquet").num_rows == N
            path.unlink()
        original(self, path, spec, chunks)

    monkeypatch.setattr(type(format_), "write", late)
    write(tmp_path, preparer, spec, 1, *work)
    assert [each.name for each in tmp_path.iterdir()] == ["part.000000.parquet"]
    assert pq.read_table(tmp_path / "part.000000.parquet").num_rows == N


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="SIGKILL")
def test_a_worker_that_dies_while_parts_are_written(tmp_path):
    """The rows are the same, each once, and no draft of the dead worker remains."""
    from distributed import Client, LocalCluster

    path, target = tmp_path / "rows.csv", tmp_path / "o.parquet"
    path.write_text(as_text(columns()))
    known = in_memory(path, tmp_path / "here.parquet")
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0", memory_limit=0) as cluster,
        Client(cluster) as client,
    ):
        one = next(iter(client.run(os.getpid).values()))

        def kill():
            end = time.monotonic() + PATIENCE
            while not list(tmp_path.glob("o.parquet.*.part/part.*")) and time.monotonic() < end:
                time.sleep(0.002)
            os.kill(one, signal.SIGKILL)

        thread = threading.Thread(target=kill)
        thread.start()
        found = on_dask(path, target, cluster.scheduler_address, part_bytes=150)
        thread.join()
    assert found.replace_schema_metadata(None).equals(known.replace_schema_metadata(None))
    assert all(each.suffix == ".parquet" for each in target.iterdir())
