"""Writing of tables with added columns: whole, or chunk by chunk."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from modeseek._storage.atomic import atomic_path
from modeseek._storage.errors import DataError
from modeseek._storage.formats import STANDARD_STREAM, OutputSpec, format_of
from modeseek._storage.formats.base import ChunkWriter
from modeseek._storage.formats.delimited import StandardOutput, output_delimiter, write_rows
from modeseek._storage.table import Table

__all__ = ["check_chunk_target", "check_writable", "open_writer", "write_table"]


def write_table(
    table: Table, path: str | os.PathLike[str], extra: Mapping[str, ArrayLike], *, guard: bool = False
) -> None:
    """Write the rows of a table, in their order, with extra columns at the end; "-" writes text to standard output.

    Parameters
    ----------
    table : Table
    path : str or path-like
        The file; its ending determines the format.
    extra : mapping of str to (n,) array
        The columns to add.
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
    spec = check_writable(table, path)._replace(columns=(*table.columns, *extra), guard=guard)
    added = {name: np.asarray(values) for name, values in extra.items()}
    if os.fspath(path) == STANDARD_STREAM:
        write_rows(sys.stdout, spec, table, added)
        return
    with atomic_path(path) as part:
        format_of(path).write(part, spec, table, added)


def check_writable(table: Table, path: str | os.PathLike[str]) -> OutputSpec:
    """Raise a `DataError` if the format of a file cannot hold the columns of a table; return how to write them."""
    format_, name = format_of(path), os.fspath(path)
    contents = table.contents() if format_.needs_contents(table.delimiter) else ()
    spec = OutputSpec(
        table.n_rows, table.columns, contents, output_delimiter(Path(name).suffix.lower(), table.delimiter)
    )
    format_.check_contents(name, spec)
    return spec


def check_chunk_target(path: str) -> None:
    """Raise a `DataError` if files of this format cannot be written in chunks."""
    if not format_of(path).chunked:
        raise DataError(
            f"cannot write '{path}' in chunks: {format_of(path).name} is written whole; write .npy, .parquet or .csv."
        )


def open_writer(target: str, folder: Path | None, spec: OutputSpec, at: int) -> ChunkWriter:
    """Return a writer of chunks for a target. It keeps its files in `folder` and continues at position `at`.

    Raises
    ------
    DataError
        If what was written up to `at` no longer exists.
    """
    if target == STANDARD_STREAM or folder is None:
        return StandardOutput(spec)
    return format_of(target).writer(folder, spec, at)
