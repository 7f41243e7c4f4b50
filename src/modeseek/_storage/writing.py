"""Writing of tables with added columns: whole, or chunk by chunk."""

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from modeseek._storage.atomic import PRIVATE, atomic_path, standard_output
from modeseek._storage.errors import DataError
from modeseek._storage.formats.base import OutputSpec
from modeseek._storage.formats.delimited import output_delimiter, write_rows
from modeseek._storage.formats.registry import format_of
from modeseek._storage.input_file import STANDARD_STREAM
from modeseek._storage.pyarrow_modules import feather, pa
from modeseek._storage.table import Table


def write_table(
    table: Table,
    path: str | os.PathLike[str],
    extra: Mapping[str, ArrayLike],
    *,
    features: Sequence[str] = (),
    guard: bool = False,
) -> None:
    """Write the rows of a table, in their order, with extra columns at the end; "-" writes text to standard output.

    Parameters
    ----------
    table : Table
    path : str or path-like
        The file; its ending determines the format.
    extra : mapping of str to (n,) array
        The columns to add.
    features : sequence of str
        The columns that were clustered. In formats with typed columns, other columns remain text if a conversion to
        numbers would change their text, such as 1.10 and +5.
    guard : bool
        In text, put an apostrophe in front of cells that a spreadsheet would take for formulas: those that begin
        with =, +, -, @, a tab or a carriage return and are not numbers.

    Raises
    ------
    DataError
        If a column has the name of an extra one, the format cannot hold the rows, or the file cannot be written.
    """
    for name in extra:
        table.check_free(name)
    spec = check_writable(table, path, features)._replace(added=tuple(extra), guard=guard)
    chunk = with_columns(table, extra)
    if os.fspath(path) == STANDARD_STREAM:
        write_rows(standard_output(), spec, [chunk])
        return
    with atomic_path(path) as part:
        format_of(path).write(part, spec, [chunk])


def check_writable(table: Table, path: str | os.PathLike[str], features: Sequence[str] = ()) -> OutputSpec:
    """Return the `OutputSpec` of a table for a file; raise a `DataError` if the format cannot hold the columns."""
    format_, name = format_of(path), os.fspath(path)
    format_.check_types(name, table.data)
    contents = table.contents() if format_.needs_contents(table.delimiter) else ()
    delimiter = output_delimiter(Path(name).suffix.lower(), table.delimiter)
    spec = OutputSpec(table.n_rows, table.columns, (), contents, tuple(features), delimiter)
    format_.check_contents(name, spec)
    return spec


def check_chunk_target(path: str) -> None:
    """Raise a `DataError` if files of this format cannot be written in chunks."""
    if not format_of(path).chunked:
        raise DataError(
            f"cannot write '{path}' in chunks: {format_of(path).name} is written whole; write .npy, .parquet or .csv."
        )


class ChunkWriter:
    """Writes a file chunk by chunk. After a kill, another writer continues after the last complete chunk.

    Each chunk is a file in the work folder until `finish` joins them. Text for standard output is written at once.

    Parameters
    ----------
    target : str
        The file to write; "-" is standard output.
    folder : Path or None
        The work folder, unless the target is standard output.
    spec : OutputSpec
    at : int
        Number of chunks that an earlier run has written.

    Raises
    ------
    DataError
        If one of the first `at` chunks is missing.
    """

    def __init__(self, target: str, folder: Path | None, spec: OutputSpec, at: int):
        self._target, self._folder, self._spec, self._at = target, folder, spec, at
        if not all(self._part(number).exists() for number in range(at)):
            raise DataError(f"'{folder}' lacks rows that an earlier run wrote: delete the folder and start over.")

    def _part(self, number: int) -> Path:
        assert self._folder is not None
        return self._folder / f"rows-{number:07d}.arrow"

    def write(self, table: Table, added: Mapping[str, ArrayLike]) -> int:
        """Write a chunk with added columns; return the number of chunks written so far."""
        chunk = with_columns(table, added)
        if self._folder is None:
            write_rows(standard_output(), self._spec, [chunk], header=not self._at)
        else:
            with atomic_path(self._part(self._at), PRIVATE) as part:
                feather.write_feather(chunk, str(part))
        self._at += 1
        return self._at

    def finish(self) -> None:
        """Join the chunks, and move the complete file to its place in one step."""
        if self._folder is None:
            return
        whole = self._folder / f"rows{Path(self._target).suffix.lower()}"
        # a killed run may have left it
        whole.unlink(missing_ok=True)
        with atomic_path(self._target, part=whole) as part:
            format_of(self._target).write(part, self._spec, self._chunks())

    def _chunks(self) -> Iterator[Any]:
        rows = 0
        for number in range(self._at):
            try:
                # without threads, which cannot be started if memory is short
                chunk = feather.read_table(str(self._part(number)), use_threads=False)
            except pa.ArrowException as error:
                raise DataError(f"cannot read '{self._part(number)}': {error}.") from error
            rows += len(chunk)
            yield chunk
        if rows != self._spec.n_rows:
            raise DataError(f"'{self._part(0)}' and the following files hold {rows:,} of {self._spec.n_rows:,} rows.")


def with_columns(table: Table, added: Mapping[str, ArrayLike]) -> Any:
    """Return the data of a table with added columns, as an Arrow table."""
    data = table.data
    for name, values in added.items():
        data = data.append_column(name, values if isinstance(values, pa.Array) else pa.array(np.asarray(values)))
    return data
