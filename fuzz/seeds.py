"""Make the first inputs of each harness, small files of every shape that readers are for: `python fuzz/seeds.py`."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import io
import lzma
import sqlite3
import tempfile
import warnings
from collections.abc import Iterator
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from archives import ods_of, sparse, xlsx_of
from harnesses import CORPUS, run_of_chains
from PIL import Image
from seals import opened
from tifffile import imwrite

from modeseek import BlurringMeanShift, DoublyStochasticMeanShift, MeanShift, ModeSeek, StochasticMeanShift
from modeseek.io import save

RNG = np.random.default_rng(0)
ROWS = np.array([[1.5, -2.0], [3e10, 0.1], [5.0, 7.25]])


def _texts() -> Iterator[str]:
    yield "a,b\n1,2\n3,4\n"
    yield "name;x;y\nann;0,5;2\nbob;1,5;NA\n"
    yield "1\t2\n3\t4\n\n5\t-6e-3\n"
    yield '"a ""b""","c\nd"\n1,2\n"3","4"\r\n'
    yield "\ufeff,0,1\n0,1.5,2\n1,nan,3\n"
    yield "  1 2  3\n 4 5 6\n"
    yield "x|y\n1_000|2\n12 %|inf\n2024-01-01|€5\n"
    yield "x\r1\r2\r"
    yield "x,x\n1,2\n" + "0.1,1e309\n" * 9


def _tables() -> Iterator[pa.Table]:
    yield pa.table({"a": [1.5, 2.0, 3.0], "b": [1, 2, 3]})
    yield pa.table({"t": ["x", None, "z"], "f": pa.array([1, None, 3], pa.int8()), "y": [True, False, True]})
    yield pa.table({"d": pa.array(["u", "v", "u"]).dictionary_encode(), "h": pa.array([1, 2, 3], pa.float16())})
    yield pa.table({"w": [date(2024, 1, 1)] * 2, "s": [datetime(2024, 1, 1)] * 2, "m": [Decimal("1.5")] * 2})
    yield pa.table({"l": [[1, 2], [3]], "r": [{"a": 1}, {"a": 2}], "b": [b"\xff", b"1"]})
    yield pa.table({"i": [1, 2], "x": [0.5, 1.5]}).replace_schema_metadata(
        {"pandas": '{"index_columns": ["i"], "columns": [], "pandas_version": "2.2.0"}'}
    )


def _ipc(table: pa.Table, *, stream: bool, compression: str | None) -> bytes:
    file = io.BytesIO()
    options = pa.ipc.IpcWriteOptions(compression=compression)
    with (pa.ipc.new_stream if stream else pa.ipc.new_file)(file, table.schema, options=options) as writer:
        writer.write_table(table)
    return file.getvalue()


JSON = [
    '{"a": 1.5, "b": "x"}\n{"a": null, "c": [1, {"d": 2}]}\n',
    '[{"a": 12345678901234567890, "b": true}, {"a": 1, "b": 3}]',
    '{"a": [1, 2], "b": ["x", "1"]}',
    '\ufeff{"é": "\\u00e9", "n": NaN}\r\n{"é": {"k": 1}, "n": -1e400}\r\n',
]
SHEET = """<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>
<row r="1"><c r="A1" t="inlineStr"><is><t>a</t></is></c><c r="B1" t="str"><v>b</v></c></row>
<row r="2"><c r="A2"><v>1.5</v></c><c r="B2" t="b"><v>1</v></c></row>
<row><c><v>2</v></c><c t="e"><v>#DIV/0!</v></c></row></sheetData></worksheet>"""
ODS = "urn:oasis:names:tc:opendocument:xmlns"
CONTENT = f"""<office:document-content xmlns:office="{ODS}:office:1.0" xmlns:table="{ODS}:table:1.0"
xmlns:text="{ODS}:text:1.0"><office:body><office:spreadsheet><table:table table:name="a"><table:table-row>
<table:table-cell office:value-type="string"><text:p>a</text:p></table:table-cell></table:table-row>
<table:table-row table:number-rows-repeated="2"><table:table-cell office:value-type="float" office:value="1.5"/>
</table:table-row></table:table></office:spreadsheet></office:body></office:document-content>""".replace("\n<", "<")


def _sqlite(*statements: str) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        connection = sqlite3.connect(Path(folder, "a"))
        for statement in ("PRAGMA page_size = 512", *statements):
            connection.execute(statement)
        connection.commit()
        connection.close()
        return Path(folder, "a").read_bytes()


def _duckdb() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        with duckdb.connect() as connection:
            connection.execute(f"ATTACH '{folder}/a' AS a (BLOCK_SIZE 16384)")
            connection.execute("CREATE TABLE a.t AS SELECT i AS n, i / 7 AS x, 'text' || i AS s FROM range(9) r(i)")
        return sparse(Path(folder, "a").read_bytes())


def _arrays() -> Iterator[np.ndarray]:
    yield ROWS
    yield ROWS.astype(np.float16)
    yield np.asfortranarray(ROWS.astype(">f4"))
    yield np.arange(12, dtype=np.uint8).reshape(3, 4)
    yield np.arange(3)
    yield np.zeros((2, 2, 3), np.uint16)
    yield np.array(["a", "b"])
    yield np.array([(1, 2.0)], dtype=[("a", "i4"), ("b", "f8")])
    yield np.array([True, False])
    yield np.array(3.0)
    yield np.array([1j])
    yield np.array(["2024-01-01"], dtype="datetime64[D]")


def _npy(array: np.ndarray) -> bytes:
    file = io.BytesIO()
    np.save(file, array, allow_pickle=True)
    return file.getvalue()


def _npz(pack: bool, arrays: dict[str, np.ndarray]) -> bytes:
    file = io.BytesIO()
    (np.savez_compressed if pack else np.savez)(file, **arrays)  # type: ignore[arg-type]
    return file.getvalue()


def _archives() -> Iterator[bytes]:
    yield _npz(False, {"X": ROWS, "columns": np.array(["a", "b"])})
    yield _npz(True, {"X": ROWS, "times": np.array([[0, 1], [1, 2], [2, 3]])})
    yield _npz(True, {"embeddings": ROWS.astype(np.float32), "segments": np.array([[0.0, 1.5]])})
    yield _npz(False, {"other": ROWS, "flat": np.arange(3)})


def _pictures(form: str) -> Iterator[bytes]:
    grey = RNG.integers(0, 255, (6, 5), dtype=np.uint8)
    colour = RNG.integers(0, 255, (4, 4, 3), dtype=np.uint8)
    pictures = [Image.fromarray(grey), Image.fromarray(colour)]
    if form in ("png", "webp"):
        pictures.append(Image.fromarray(np.dstack([colour, colour[..., 0]])))
    if form in ("png", "bmp"):
        pictures += [Image.fromarray(colour).quantize(4), Image.fromarray(grey > 100)]
    if form == "png":
        pictures.append(Image.fromarray(grey.astype(np.uint16) * 200))
    if form == "jpeg":
        pictures.append(Image.fromarray(colour).convert("CMYK"))
    for picture in pictures:
        file = io.BytesIO()
        picture.save(file, form)
        yield file.getvalue()


def _tiffs() -> Iterator[bytes]:
    grey = RNG.integers(0, 255, (6, 5), dtype=np.uint8)
    plain: list[tuple[np.ndarray, str | None]] = [(grey, None), (grey.astype(np.uint16), "zlib")]
    plain += [(np.dstack([grey] * 3), "zlib"), (np.stack([grey] * 3).astype(np.float32), None)]
    for values, packing in plain:
        file = io.BytesIO()
        imwrite(file, values, compression=packing, metadata=None)
        yield file.getvalue()


def _models() -> Iterator[bytes]:
    rows = np.array([[0.0, 0.0], [0.1, 0.0], [5.0, 5.0], [5.1, 5.0], [0.0, 0.1], [5.0, 5.2]])
    fitted = [MeanShift(1.0, record="all", cluster_all=False), BlurringMeanShift(1.0), MeanShift(1.0, seeds=rows[:1])]
    fitted += [StochasticMeanShift(1.0, random_state=0, sketch=way) for way in ("grid", "sample")]
    fitted += [StochasticMeanShift(1.0, random_state=0, n_chains=2), DoublyStochasticMeanShift(0.5, 1, random_state=0)]
    models = [ModeSeek(), ModeSeek(random_state=0).fit(rows), *(each.fit(rows) for each in fitted)]
    models.append(StochasticMeanShift(1.0, random_state=0).partial_fit(rows))
    with tempfile.TemporaryDirectory() as folder:
        for model in models:
            save(model, Path(folder, "a"))
            yield Path(folder, "a").read_bytes()


def _checkpoints() -> Iterator[bytes]:
    with tempfile.TemporaryDirectory() as folder:
        for sweeps in (1, 2):
            run_of_chains(Path(folder, str(sweeps)), sweeps)
            yield Path(folder, str(sweeps)).read_bytes()


def all_seeds() -> dict[str, list[bytes]]:
    """Return the first inputs of each harness by its name."""
    texts = [text.encode() for text in _texts()]
    parquet = []
    for table in _tables():
        file = io.BytesIO()
        pq.write_table(table, file, store_schema=b"pandas" in (table.schema.metadata or {}), write_statistics=False)
        parquet.append(file.getvalue())
    arrays, archives = [_npy(array) for array in _arrays()], list(_archives())
    objects = [_npy(np.array([{}, None], dtype=object))]
    rttm = ["SPEAKER a 1 0.5 2.0 <NA> <NA> ann 0.9 <NA>\n", ";; c\nLEXEME\nSPEAKER a 1 1 1e-3 <NA> <NA> b <NA>\n"]
    lab = ["0.0 1.5 ann\n1.5 3\n", "0 1e9\n"]
    segments = ["start,end\n0,1.5\n1,2\n", "onset;duration\n0;1\n2;0.5\n", "0 1\n1 2\n"]
    made = {"csv": texts, "tsv": texts, "parquet": parquet, "npy": arrays + objects, "array": arrays + objects}
    packers = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress}
    made |= {name: [pack(texts[0]), pack(texts[3]) + pack(texts[2])] for name, pack in packers.items()}
    made["zst"] = [pa.compress(text, codec="zstd", asbytes=True) for text in texts[:2]]
    tables = list(_tables())
    made["arrow"] = [_ipc(table, stream=False, compression=None) for table in tables[1:4]]
    made["arrow"] += [
        _ipc(tables[2], stream=True, compression="lz4"),
        _ipc(tables[4], stream=False, compression="zstd"),
    ]
    made |= {"json": [text.encode() for text in JSON], "xlsx": [xlsx_of(SHEET.encode()), ods_of(CONTENT.encode())]}
    made |= {"xlsx-sealed": [SHEET.encode()], "ods-sealed": [CONTENT.encode()], "duckdb": [_duckdb()]}
    rows = "INSERT INTO t VALUES (1, 2.5, 'x', x'00ff'), (2, NULL, 'y', 7)"
    made["sqlite"] = [_sqlite("CREATE TABLE t (a, b REAL, c TEXT, d)", rows)]
    made |= {"npz": archives, "windows": archives, "tiff": list(_tiffs())}
    made |= {form: list(_pictures(form)) for form in ("png", "jpeg", "bmp", "webp")}
    models, checkpoints = list(_models()), list(_checkpoints())
    made |= {"model": models[:3], "model-sealed": [opened(each) for each in models]}
    made |= {"checkpoint": checkpoints[:1], "checkpoint-sealed": [opened(each) for each in checkpoints]}
    lines = {"rttm": rttm, "lab": lab, "segments": segments}
    return made | {name: [text.encode() for text in each] for name, each in lines.items()}


def main() -> None:
    """Write them into the corpus."""
    warnings.simplefilter("ignore")
    for name, inputs in all_seeds().items():
        (CORPUS / name).mkdir(parents=True, exist_ok=True)
        for data in inputs:
            (CORPUS / name / hashlib.sha1(data).hexdigest()[:16]).write_bytes(data)


if __name__ == "__main__":
    main()
