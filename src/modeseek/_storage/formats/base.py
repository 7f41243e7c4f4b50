"""The interface of a file format, and the registry of formats."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from modeseek._common.hints import did_you_mean
from modeseek._storage.cells import to_numbers
from modeseek._storage.contents import Content, to_typed
from modeseek._storage.errors import DataError, UnknownFormatError
from modeseek._storage.input_file import InputFile, split_endings, split_part
from modeseek._storage.pyarrow_modules import pa
from modeseek._storage.table import Table, unique_names

__all__ = [
    "FORMATS",
    "STANDARD_STREAM",
    "Format",
    "InputFile",
    "OutputSpec",
    "Position",
    "ReadOptions",
    "Reader",
    "format_of",
    "input_format",
    "register_format",
    "writable_suffixes",
]


class ReadOptions(NamedTuple):
    """How files are read.

    Attributes
    ----------
    header : bool or None
        Whether the first row of a text file holds names; None detects it.
    chunk_bytes : int
        Approximate size of a chunk in bytes. In formats other than text, a number counts as eight bytes.
    """

    header: bool | None = None
    chunk_bytes: int = 1 << 23


class Position(NamedTuple):
    """A position between two chunks of a file.

    Attributes
    ----------
    at : int
        Bytes of a text, rows of an array, or row groups of a Parquet file before the position.
    within : int
        Lines of a text, or batches of the current row group, before the position.
    row : int
        Rows of the file before the position.
    """

    at: int = 0
    within: int = 0
    row: int = 0


START = Position()


class Reader(ABC):
    """A file that is open for reading in chunks.

    Attributes
    ----------
    file : InputFile
    stamp : tuple of int
        Size and modification time of the file when it was opened.
    columns, row_names : tuple of str
        Names of all columns, and of those that hold row names.
    size : int
        Size of the file, in the unit in which `chunks` reports progress.
    delimiter : str or None
        Delimiter of a text file. The columns of other files have types.
    notes : tuple of str
        Remarks on how the file is read.
    schema : object
        Types of the columns, which must be equal in files that are read together; None if they are not compared.
    """

    columns: tuple[str, ...]
    size: int
    row_names: tuple[str, ...] = ()
    delimiter: str | None = None
    notes: tuple[str, ...] = ()
    schema: Any = None

    def __init__(self, file: InputFile):
        self.file, self.stamp = file, file.stamp()

    @abstractmethod
    def chunks(self, start: Position, only: Sequence[str] | None) -> Iterator[tuple[Table, Position, int]]:
        """Yield the chunks after a position: a table, the position after it, and how much of `size` has been read.

        Every call divides the rows into the same chunks. If `only` is given, a table may lack the other columns.
        """

    def parts(self, n_bytes: int) -> list[tuple[int, int]]:
        """Divide the file into parts of about `n_bytes`, which different processes can read with `read_part`."""
        raise NotImplementedError

    def read_part(self, part: tuple[int, int]) -> Table:
        """Return the rows of a part."""
        raise NotImplementedError

    def read(self) -> Table:
        """Return all rows."""
        tables = [table for table, _, _ in self.chunks(START, None)]
        if not tables:
            raise DataError(f"{self.file.name} has no rows: give at least one.")
        return Table.concatenate(tables)


class OutputSpec(NamedTuple):
    """Properties of an output file that a format needs before it writes the first row.

    Attributes
    ----------
    n_rows : int
        Number of rows.
    columns : tuple of str
        Names of the columns of the input.
    added : tuple of str
        Names of the columns that are added after them.
    contents : tuple of Content
        What the columns of the input hold, if the format needs it; else empty.
    features : tuple of str
        The columns of the input that are clustered, under the names that `unique_names` gives them.
    delimiter : str
        Delimiter of a text file.
    guard : bool
        Whether cells that look like formulas get an apostrophe, in a text file.
    """

    n_rows: int
    columns: tuple[str, ...]
    added: tuple[str, ...] = ()
    contents: tuple[Content, ...] = ()
    features: tuple[str, ...] = ()
    delimiter: str = ","
    guard: bool = False


class Format(ABC):
    """A file format for tables.

    Attributes
    ----------
    name : str
        Name in messages, such as "Parquet".
    suffixes : tuple of str
        Endings of file names, in lower case and with the dot; the first is the usual one.
    magic : bytes
        First bytes of files of this format; empty if they differ between files.
    chunked : bool
        Whether files larger than memory can be read and written.
    writable : bool
        Whether files can be written.
    part : str
        What FILE::PART names, such as "sheet"; empty if files have one table only.
    own_names : tuple of str
        Names that added columns cannot have, because the format uses them itself.
    """

    name: ClassVar[str]
    suffixes: ClassVar[tuple[str, ...]]
    magic: ClassVar[bytes] = b""
    chunked: ClassVar[bool] = True
    writable: ClassVar[bool] = True
    part: ClassVar[str] = ""
    own_names: ClassVar[tuple[str, ...]] = ()

    @abstractmethod
    def open(self, file: InputFile, options: ReadOptions) -> Reader:
        """Open a file for reading."""

    @abstractmethod
    def write(self, path: Path, spec: OutputSpec, chunks: Iterable[Any]) -> None:
        """Write Arrow tables, which hold the columns of the input and the added ones, to an empty file."""

    def needs_contents(self, delimiter: str | None) -> bool:
        """Return whether `OutputSpec.contents` is needed if the input has this delimiter (None if it is not text)."""
        return False

    def check_types(self, target: str, data: Any) -> None:  # noqa: B027 (not every format needs it)
        """Raise a `DataError` if the format cannot hold the names and types of the columns of an Arrow table."""

    def check_contents(self, target: str, spec: OutputSpec) -> None:  # noqa: B027 (not every format needs it)
        """Raise a `DataError` if the format cannot hold the columns without loss."""


class TypedFormat(Format):
    """A format whose columns have types and distinct names. Columns of text are converted by `to_typed`."""

    def needs_contents(self, delimiter: str | None) -> bool:
        return delimiter is not None

    def check_types(self, target: str, data: Any) -> None:
        twice, count = next(iter(Counter(data.column_names).most_common(1)), ("", 0))
        if count > 1:
            raise DataError(
                f"cannot write '{target}': {count} columns are named '{twice}', and {self.name} "
                "needs different names; rename them, or write .csv."
            )


def typed_chunks(spec: OutputSpec, chunks: Iterable[Any]) -> Iterator[Any]:
    """Yield the Arrow tables, with columns of text converted by `to_typed`."""
    features = set(spec.features)
    is_feature = [name in features for name in unique_names(spec.columns)]
    for chunk in chunks:
        columns, fields = chunk.columns, list(chunk.schema)
        for j, content in enumerate(spec.contents):
            columns[j] = to_typed(columns[j], content, feature=is_feature[j])
            fields[j] = fields[j].with_type(columns[j].type)
        # all at once: the time of replacing columns one by one is quadratic in their number
        yield pa.Table.from_arrays(columns, schema=pa.schema(fields, chunk.schema.metadata))


class NumericFormat(Format):
    """A format for one array of float64 numbers."""

    def needs_contents(self, delimiter: str | None) -> bool:
        return True

    def check_contents(self, target: str, spec: OutputSpec) -> None:
        for name, unique, content in zip(spec.columns, unique_names(spec.columns), spec.contents, strict=False):
            instead = "write .csv or .parquet."
            if content.is_respelled and (content & Content.TEXT or unique not in spec.features):
                raise DataError(
                    f"cannot write '{target}': {self.name} holds numbers (float64), and they would change the text of "
                    f"column '{name}', such as 1.10 to 1.1; {instead}"
                )
            if content & Content.TEXT:
                raise DataError(
                    f"cannot write '{target}': column '{name}' is not numeric, and {self.name} "
                    f"holds numbers only; {instead}"
                )
            if content & Content.BIG_INTEGER:
                raise DataError(
                    f"cannot write '{target}': column '{name}' has integers beyond 2^53, which the numbers of "
                    f"{self.name} (float64) would change; {instead}"
                )


def check_arrow_types(types: Iterable[Any]) -> None:
    """Raise a `ValueError` if an Arrow field, or a nested one, has an invalid name or decimals of too large a scale.

    Arrow opens such files, but fails when the values are converted.
    """
    for each in types:
        name, kind = each.name, each.type
        if pa.types.is_decimal(kind) and abs(kind.scale) > MAX_DECIMAL_SCALE:
            raise ValueError(f"the decimals of {name} have the scale {kind.scale}")
        value = [pa.field(name, kind.value_type)] if pa.types.is_dictionary(kind) else []
        check_arrow_types([*map(kind.field, range(kind.num_fields)), *value])


def numbers_of(chunk: Any) -> NDArray[np.float64]:
    """Return the columns of an Arrow table as one array of float64."""
    return np.column_stack([to_numbers(column)[0] for column in chunk.columns])


STANDARD_STREAM = "-"
# digits of Arrow's longest decimals
MAX_DECIMAL_SCALE = 76
# formats by the ending of file names
FORMATS: dict[str, Format] = {}
# endings of files that cannot be read; PANDAS maps those that pandas can read to the names of its functions
PANDAS = {".h5": "hdf", ".hdf5": "hdf", ".pkl": "pickle", ".dta": "stata", ".sav": "spss", ".sas7bdat": "sas"}
IMAGES = (".png", ".jpg", ".jpeg", ".tif", ".tiff", ".bmp", ".webp", ".gif")
SOUNDS = (".wav", ".mp3", ".flac", ".ogg", ".m4a", ".opus")


def register_format(new: Format) -> None:
    """Register a format for its endings; it replaces formats that were registered for these endings before."""
    FORMATS.update(dict.fromkeys(new.suffixes, new))


def format_of(path: str | os.PathLike[str]) -> Format:
    """Return the format that is registered for the ending of a file; "-" (a standard stream) is delimited text.

    Examples
    --------
    >>> format_of("birds.CSV").name, format_of("-").name, format_of("birds.pq").name
    ('delimited text', 'delimited text', 'Parquet')
    """
    source = split_part(path)[0]
    suffix, compression = (".csv", "") if source == STANDARD_STREAM else split_endings(source)
    if suffix in FORMATS and not (compression and FORMATS[suffix].magic):
        return FORMATS[suffix]
    raise UnknownFormatError(os.fspath(path), suffix, FORMATS, _conversion(suffix, compression))


def input_format(path: str | os.PathLike[str]) -> Format:
    """Return the format of a file to read; a file without an ending is read as text.

    Examples
    --------
    >>> input_format("birds").name
    'delimited text'
    """
    return format_of(path) if split_endings(split_part(path)[0])[0] else FORMATS[".csv"]


def _conversion(suffix: str, compression: str) -> str:
    """Return advice for a file with an unsupported ending; "" if there is none."""
    if suffix in FORMATS:
        return f"{FORMATS[suffix].name} cannot be read while it is compressed ({compression}): unpack it first."
    if suffix == ".numbers":
        return "Save the sheet as CSV (in the spreadsheet: Save as, CSV UTF-8)."
    if suffix in PANDAS:
        return f"Convert it once, in Python: pandas.read_{PANDAS[suffix]}(...).to_parquet('data.parquet')."
    if suffix in IMAGES:
        return "It is an image: modeseek.images.segment finds its regions."
    if suffix == ".modeseek":
        return "It is a saved model, not a table: modeseek.io.load reads it."
    if suffix in SOUNDS:
        return "It is a recording: modeseek.diarization.diarize takes embeddings of its windows, from a speaker model."
    return did_you_mean(suffix, FORMATS).strip()


def writable_suffixes() -> list[str]:
    """Return the endings of names of files that can be written."""
    return [suffix for suffix, each in FORMATS.items() if each.writable]
