"""JSON: lines with one object for each row, one list of such objects, or one object with a list for each column."""

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from modeseek._storage.encoding import distinct_names
from modeseek._storage.formats.base import OutputSpec, typed_chunks
from modeseek._storage.formats.declared_size import CELL_BYTES
from modeseek._storage.formats.delimited import decoded
from modeseek._storage.formats.encodings import UTF8
from modeseek._storage.formats.reader import ReadOptions
from modeseek._storage.formats.registry import register_format
from modeseek._storage.formats.whole import WholeFormat
from modeseek._storage.input_file import InputFile
from modeseek._storage.unpacking import check_unpacked
from modeseek._storage.values import arrow_table, as_text, to_values


class Json(WholeFormat):
    """JSON objects as rows."""

    name = "JSON"
    suffixes = (".jsonl", ".ndjson", ".json")

    def load(self, file: InputFile, options: ReadOptions) -> Any:
        with file.open() as stream:
            data = stream.read()
        encoding = json.detect_encoding(data).removesuffix("-sig")
        text = decoded(data, file.name) if encoding == UTF8 else data.decode(encoding)
        text = text.removeprefix("\ufeff")
        try:
            found = _parsed(text)
        except json.JSONDecodeError:
            # not `str.splitlines`: JSON strings may contain other line ends of Unicode
            found = [_parsed(line) for line in re.split(r"[\r\n]+", text) if line.strip()]
        if isinstance(found, dict) and all(isinstance(each, list) for each in found.values()):
            return arrow_table(list(found), found.values())
        rows = [found] if isinstance(found, dict) else found
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            raise ValueError("rows must be objects")
        names = list(dict.fromkeys(name for row in rows for name in row))
        # rows with different names make a table that is far larger than the file
        check_unpacked(file.name, CELL_BYTES * len(rows) * len(names), file.stamp()[0])
        return arrow_table(names, ([row.get(name) for row in rows] for name in names))

    def write(self, path: Path, spec: OutputSpec, chunks: Iterable[Any]) -> None:
        with path.open("w", encoding="utf-8") as stream:
            for chunk in typed_chunks(spec, chunks):
                columns = [to_values(chunk.column(j), field) for j, field in enumerate(chunk.schema)]
                rows = (dict(zip(chunk.column_names, row, strict=True)) for row in zip(*columns, strict=True))
                stream.writelines(f"{json.dumps(row, default=as_text)}\n" for row in rows)


def _parsed(text: str) -> Any:
    return json.loads(text, object_pairs_hook=distinct_names)


register_format(Json())
