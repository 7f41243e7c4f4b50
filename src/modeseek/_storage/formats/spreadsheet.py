"""Sheets of Excel and OpenDocument files, by python-calamine: the first one, or FILE::SHEET."""

import shlex
from typing import Any, ClassVar

from modeseek._common.text import counted
from modeseek._storage.cells import is_number
from modeseek._storage.errors import DataError
from modeseek._storage.formats.declared_size import sheet_bytes
from modeseek._storage.formats.dialect import SAMPLE_ROWS, Row, has_header, has_units, lines_before
from modeseek._storage.formats.reader import ReadOptions
from modeseek._storage.formats.registry import register_format
from modeseek._storage.formats.whole import WholeFormat, chosen_part
from modeseek._storage.input_file import InputFile, open_zip
from modeseek._storage.table import Table
from modeseek._storage.unpacking import check_unpacked
from modeseek._storage.values import arrow_table


class Spreadsheet(WholeFormat):
    """A sheet of an Excel or OpenDocument file."""

    name = "a spreadsheet"
    suffixes: ClassVar[tuple[str, ...]] = (".xlsx", ".ods", ".xlsm", ".xlsb")
    magic = b"PK\x03\x04"
    writable = False
    part = "sheet"

    def load(self, file: InputFile, options: ReadOptions) -> Any:
        try:
            from python_calamine import CalamineWorkbook
        except ImportError:
            raise ImportError(f"{file.name} needs python-calamine: pip install 'modeseek[spreadsheets]'") from None
        self.check_size(file)
        with file.open() as stream:
            book = CalamineWorkbook.from_filelike(stream)
        sheet = chosen_part(file, book.sheet_names, "sheet", book.sheet_names[:1])
        rows = _rows(book, sheet)
        others = [name for name in book.sheet_names if name != sheet]
        if others and not file.part and not _has_numbers(rows):
            other = next((name for name in others if _has_numbers(_rows(book, name))), others[0])
            example = f"name another sheet, as {shlex.quote(f'{file.name[1:-1]}::{other}')}"
            listing = f"The other sheets: {', '.join(others)}"
            raise DataError(f"{file.name}: sheet '{sheet}' has no numbers: {example}. {listing}.")
        texts = [["" if cell is None else str(cell) for cell in row] for row in rows[:SAMPLE_ROWS]]
        above = lines_before([Row(line, cells, 0) for line, cells in enumerate(texts)]) if rows else 0
        rows, texts = rows[above:], texts[above:]
        if is_title(rows):
            problem = f"the first row of sheet '{sheet}' has text in one cell only"
            raise DataError(f"{file.name}: {problem}: remove the rows above the names of the columns.")
        header = options.header if options.header is not None else bool(rows) and has_header(texts)
        units = header and has_units(texts[1:])
        names = [cell.strip() or f"column{j}" for j, cell in enumerate(texts[0] if rows else [], start=1)]
        names = names if header else [f"x{j}" for j in range(len(names))]
        rows = rows[header + units :]
        data = arrow_table(names, zip(*rows, strict=True) if rows else [()] * len(names))
        notes = [f"{counted(above, 'row')} above the table skipped"] if above else []
        notes += ["the row below the header has units instead of numbers and is skipped"] if units else []
        return Table(file.name, data, notes=tuple(notes))

    def check_size(self, file: InputFile) -> None:
        """Raise `UnpackedSizeError` if the file unpacks to more than the bound."""
        with file.open() as stream, open_zip(stream) as archive:
            packed = file.stamp()[0]
            check_unpacked(file.name, sum(member.file_size for member in archive.infolist()), packed)
            check_unpacked(file.name, sheet_bytes(archive), packed)


def is_title(rows: list[list[Any]]) -> bool:
    """Return whether the first row is a title above the names of the columns: one cell, above a row of texts.

    Examples
    --------
    >>> is_title([["Birds of 2024", None], ["name", "mass"], ["Ada", 3750]])
    True
    >>> is_title([["name", None], ["Ada", 3750]])
    False
    """
    if len(rows) < 2 or len(rows[0]) < 2:
        return False
    filled = [cell for cell in rows[0] if cell is not None]
    return len(filled) == 1 and all(isinstance(cell, str) and not is_number(cell) for cell in rows[1])


def _rows(book: Any, sheet: str) -> list[list[Any]]:
    cells: list[list[Any]] = book.get_sheet_by_name(sheet).to_python(skip_empty_area=True)
    return [list(map(_cell, row)) for row in cells if any(cell != "" for cell in row)]


def _has_numbers(rows: list[list[Any]]) -> bool:
    return any(is_number(str(cell)) for row in rows for cell in row)


def _cell(value: Any) -> Any:
    """Return the value of a cell: numbers without a fraction are integers, as spreadsheets show them."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return None if value == "" else value


class OldSpreadsheet(Spreadsheet):
    """A sheet of an Excel file of before 2007."""

    suffixes = (".xls",)
    magic = b"\xd0\xcf\x11\xe0"

    def check_size(self, file: InputFile) -> None:
        """Files of this format are not compressed."""


for _format in (Spreadsheet(), OldSpreadsheet()):
    register_format(_format)
