"""The interface of a file format."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from modeseek._storage.cells import to_numbers
from modeseek._storage.contents import Content, to_typed
from modeseek._storage.errors import DataError
from modeseek._storage.formats.reader import Reader, ReadOptions
from modeseek._storage.input_file import InputFile
from modeseek._storage.pyarrow_modules import pa
from modeseek._storage.table import unique_names


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


def numbers_of(chunk: Any) -> NDArray[np.float64]:
    """Return the columns of an Arrow table as one array of float64."""
    return np.column_stack([to_numbers(column)[0] for column in chunk.columns])
