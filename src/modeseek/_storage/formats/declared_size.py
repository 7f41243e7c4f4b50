"""Sizes that files declare before they are unpacked: cells of a spreadsheet, and compressed buffers of Arrow."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator
from io import SEEK_END
from struct import error as StructError
from struct import unpack_from
from typing import IO, Any
from xml.etree.ElementTree import iterparse
from xml.parsers.expat import ParserCreate

from modeseek._storage.pyarrow_modules import pa

# bytes of a cell in memory; a sheet is unpacked as a rectangle, which includes empty cells
CELL_BYTES = 32
# the largest sheet of Excel
SHEET_ROWS, SHEET_COLUMNS = 1 << 20, 1 << 14
REFERENCE = re.compile("([A-Za-z]+)([0-9]+)")
TABLE = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"
VALUE_TYPE = "{urn:oasis:names:tc:opendocument:xmlns:office:1.0}value-type"
# types of messages in Arrow's format
DICTIONARY_BATCH, RECORD_BATCH = 2, 3
# numbers of two fields in the footer of an Arrow file, and the bytes of an entry in them
DICTIONARIES, RECORD_BATCHES = 2, 3
BLOCK_BYTES = 24
ARROW_MAGIC = b"ARROW1"


def sheet_bytes(archive: zipfile.ZipFile) -> int:
    """Return the bytes of the largest sheet of a spreadsheet in memory; a single cell far from A1 makes it large."""
    largest = 0
    for member in archive.infolist():
        if member.filename == "content.xml":
            with archive.open(member) as stream:
                largest = max(largest, CELL_BYTES * _ods_cells(stream))
        # a sheet of Excel can have any name, and UTF-16 has zeros between the letters
        elif b"sheetData" in (content := archive.read(member)).replace(b"\0", b""):
            largest = max(largest, CELL_BYTES * _xlsx_cells(content))
    return largest


def _xlsx_cells(content: bytes) -> int:
    """Return the number of cells of the rectangle from A1 that contains all cells of a sheet.

    The attribute `r` of a row or cell is its place. Without this attribute, it follows the row or cell before.
    """
    row = column = rows = columns = 0

    def start(name: str, attributes: dict[str, str]) -> None:
        nonlocal row, column, rows, columns
        element, reference = name.rpartition(":")[2], attributes.get("r", "")
        if element == "row":
            row, column = int(reference or row + 1), 0
        elif element == "c":
            place, column = row, column + 1
            if reference:
                found = REFERENCE.fullmatch(reference)
                if found is None:
                    raise ValueError(f"a cell has the place {reference!r}")
                place, column = int(found[2]), 0
                for letter in found[1].upper():
                    column = 26 * column + ord(letter) - 64
            rows, columns = max(rows, place), max(columns, column)
            if columns > SHEET_COLUMNS or rows > SHEET_ROWS:
                limits = f"{SHEET_ROWS:,} rows and {SHEET_COLUMNS:,} columns"
                raise ValueError(f"the cell {reference or (place, column)!r} is beyond the {limits} of a sheet")

    parser = ParserCreate()
    parser.StartElementHandler = start
    parser.Parse(content, True)
    return rows * columns


def _ods_cells(stream: IO[bytes]) -> int:
    largest = row = column = rows = columns = 0
    for _, element in iterparse(stream, ("start",)):
        if element.tag == f"{TABLE}table":
            row = rows = columns = 0
        elif element.tag == f"{TABLE}table-row":
            row, column = row + int(element.get(f"{TABLE}number-rows-repeated", 1)), 0
        elif element.tag == f"{TABLE}table-cell":
            column += int(element.get(f"{TABLE}number-columns-repeated", 1))
            if VALUE_TYPE in element.attrib:
                rows, columns = row, max(columns, column)
                largest = max(largest, rows * columns)
        element.clear()
    return largest


def arrow_bytes(stream: Any) -> int:
    """Return the size of the compressed buffers of an Arrow file or stream after decompression.

    A compressed buffer begins with its size after decompression. pyarrow allocates this size without a bound, and does
    not report it. This function finds the buffers by the metadata of the messages, which are flatbuffers.
    """
    total = 0
    for message in _messages(stream):
        try:
            total += _message_bytes(message)
        except StructError:
            continue  # damaged: pyarrow refuses it
    return total


def _messages(stream: Any) -> Iterator[Any]:
    """Yield the messages of an Arrow stream, or those that are listed in the footer of an Arrow file."""
    is_file = stream.read(8)[: len(ARROW_MAGIC)] == ARROW_MAGIC
    stream.seek(0)
    if not is_file:
        yield from pa.ipc.MessageReader.open_stream(stream)
        return
    for offset in _block_offsets(stream):
        stream.seek(offset)
        yield pa.ipc.read_message(stream)


def _block_offsets(stream: Any) -> list[int]:
    """Return the offsets of the dictionaries and record batches that the footer of an Arrow file lists."""
    end = stream.seek(-len(ARROW_MAGIC) - 4, SEEK_END)
    size = unpack_from("<i", stream.read(4))[0]
    if not 0 < size <= end:
        raise ValueError("it is cut short or damaged")
    stream.seek(end - size)
    footer = stream.read(size)
    root, offsets = unpack_from("<I", footer)[0], []
    for number in (DICTIONARIES, RECORD_BATCHES):
        if blocks := _field(footer, root, number):
            first = blocks + unpack_from("<I", footer, blocks)[0]
            count = unpack_from("<I", footer, first)[0]
            offsets += [unpack_from("<q", footer, first + 4 + BLOCK_BYTES * block)[0] for block in range(count)]
    return offsets


def _message_bytes(message: Any) -> int:
    data, body = message.metadata.to_pybytes(), message.body
    root = unpack_from("<I", data)[0]
    kind, header = _field(data, root, 1), _field(data, root, 2)
    if not kind or not header or data[kind] not in (DICTIONARY_BATCH, RECORD_BATCH):
        return 0
    batch = header + unpack_from("<I", data, header)[0]
    if data[kind] == DICTIONARY_BATCH:
        inner = _field(data, batch, 1)
        batch = inner + unpack_from("<I", data, inner)[0]
    buffers, compression = _field(data, batch, 2), _field(data, batch, 3)
    if not buffers or not compression:
        return 0
    first = buffers + unpack_from("<I", data, buffers)[0]
    total = 0
    for number in range(unpack_from("<I", data, first)[0]):
        offset, length = unpack_from("<qq", data, first + 4 + 16 * number)
        if length >= 8 and offset + 8 <= body.size:
            total += max(0, unpack_from("<q", body[offset : offset + 8].to_pybytes())[0])
    return total


def _field(data: bytes, table: int, number: int) -> int:
    """Return the position of a field of a table in a flatbuffer; 0 if it is absent."""
    fields = table - unpack_from("<i", data, table)[0]
    if 4 + 2 * number >= unpack_from("<H", data, fields)[0]:
        return 0
    offset = unpack_from("<H", data, fields + 4 + 2 * number)[0]
    return table + offset if offset else 0
