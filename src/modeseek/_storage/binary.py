"""NumPy's files and Parquet: typed columns in, typed columns out; nothing is ever unpickled."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from modeseek._common.types import Array
from modeseek._storage.cells import is_missing, is_number
from modeseek._storage.errors import DataError

__all__ = [
    "KINDS",
    "TypedTable",
    "arrow_table",
    "check_matrix",
    "column_kind",
    "from_arrow",
    "load_numpy",
    "member_of",
    "opened_parquet",
    "pandas_index",
    "read_npy",
    "read_npz",
    "read_parquet",
    "string_kinds",
    "write_npy",
    "write_npz",
    "write_parquet",
]

# what strings can be written as, each kind more general than the one before; "empty" is gaps only
KINDS = ("empty", "int", "float", "text")


class TypedTable(NamedTuple):
    """Columns with the types that the file gave them.

    Attributes
    ----------
    names : tuple of str
        Names of the columns; x0, x1, ... where the file has none.
    columns : tuple of (n,) arrays
        Numbers, or objects where a column holds something else or has gaps.
    row_names : tuple of str
        Columns that hold the row names of a pandas table.
    arrow : pyarrow.Table or None
        The Parquet table as read, so that its types survive.
    """

    names: tuple[str, ...]
    columns: tuple[NDArray[Any], ...]
    row_names: tuple[str, ...] = ()
    arrow: Any = None


def read_npy(path: Path, source: str) -> TypedTable:
    """Read an array of shape (n, d), or (n,) as one column."""
    with path.open("rb") as file:
        loaded = load_numpy(file, source)
    if not isinstance(loaded, np.ndarray):
        raise DataError(f"{source} is an archive of arrays, not one array: rename it to end in .npz.")
    return _matrix(loaded, source, None)


def read_npz(path: Path, source: str) -> TypedTable:
    """Read the array `X` of an archive, or its only two-dimensional array; `columns` may name its columns."""
    # opened here: numpy leaves the file open when it turns out to be damaged
    with path.open("rb") as file:
        archive = load_numpy(file, source)
        if isinstance(archive, np.ndarray):
            raise DataError(f"{source} is one array, not an archive of arrays: rename it to end in .npy.")
        if "X" in archive.files:
            chosen = "X"
        else:
            shapes = {name: np.shape(member_of(archive, name, source)) for name in archive.files}
            flat = [name for name, shape in shapes.items() if len(shape) == 2]
            if len(flat) != 1:
                listed = ", ".join(f"{name} {shape}" for name, shape in shapes.items()) or "none"
                raise DataError(
                    f"{source} must hold an array named X or exactly one two-dimensional array; "
                    f"its arrays are: {listed}. Save the data as X."
                )
            chosen = flat[0]
        names = member_of(archive, "columns", source) if "columns" in archive.files else None
        return _matrix(member_of(archive, chosen, source), f"{source} array {chosen}", names)


def read_parquet(path: Path, source: str) -> TypedTable:
    """Read the columns of a Parquet file."""
    with opened_parquet(path, source) as file:
        table = file.read()
        if not table.num_rows or not table.num_columns:
            raise DataError(f"{source} has no rows: give at least one.")
        columns = tuple(from_arrow(column) for column in table.columns)
        return TypedTable(tuple(table.column_names), columns, pandas_index(table.schema), table)


@contextmanager
def opened_parquet(path: Path, source: str, buffer: int = 0) -> Iterator[Any]:
    """Open a Parquet file; whatever fails while it is open is the file's fault, and refused by its name.

    With a `buffer`, columns are read in pieces of so many bytes, not whole.
    """
    import pyarrow.parquet as pq

    try:
        # ParquetFile, not read_table: a folder called "year=2024" must not become a column
        with pq.ParquetFile(path, buffer_size=buffer, pre_buffer=not buffer) as file:
            yield file
    except DataError:
        raise
    except Exception as error:  # Arrow's own, and those of Python: names that are no text, dates beyond the year 9999
        reason = next(iter(str(error).splitlines()), type(error).__name__)
        raise DataError(f"{source} cannot be read as Parquet ({reason}): write the file again.") from None


def pandas_index(schema: Any) -> tuple[str, ...]:
    """Return the columns that hold the row names of a pandas table; none where its notes cannot be read."""
    try:
        metadata = schema.pandas_metadata
    except (ValueError, RecursionError):
        return ()
    names = metadata.get("index_columns") if isinstance(metadata, dict) else None
    return tuple(name for name in names if name in schema.names) if isinstance(names, list) else ()


def write_npy(path: Path, names: Sequence[str], numbers: Array, extra: Mapping[str, NDArray[Any]]) -> None:
    """Write one array of shape (n, d + number of extra columns)."""
    with path.open("wb") as file:
        np.save(file, np.column_stack([numbers, *extra.values()]), allow_pickle=False)


def write_npz(path: Path, names: Sequence[str], numbers: Array, extra: Mapping[str, NDArray[Any]]) -> None:
    """Write `X` of shape (n, d), the names of its `columns`, and each extra column under its own name."""
    arrays: dict[str, NDArray[Any]] = {"X": numbers, "columns": np.array(names, dtype=np.str_), **extra}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        # by hand, because numpy.savez takes names as keywords and `file` and `allow_pickle` are taken
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, np.asarray(array), allow_pickle=False)


def write_parquet(
    path: Path,
    names: Sequence[str],
    columns: Sequence[NDArray[Any]],
    extra: Mapping[str, NDArray[Any]],
    arrow: Any,
) -> None:
    """Write columns and extra columns; those of a Parquet table keep their types."""
    import pyarrow.parquet as pq

    pq.write_table(arrow_table(names, columns, extra, arrow, list(map(column_kind, columns))), path)


def arrow_table(
    names: Sequence[str],
    columns: Sequence[NDArray[Any]],
    extra: Mapping[str, NDArray[Any]],
    arrow: Any,
    kinds: Sequence[str | None],
) -> Any:
    """Return columns and extra columns as an Arrow table; `kinds` says what strings are written as."""
    import pyarrow as pa

    table = arrow
    if table is None:
        cells = [_as_kind(column, kind) for column, kind in zip(columns, kinds, strict=True)]
        table = pa.Table.from_arrays(cells, names=list(names))
    for name, values in extra.items():
        table = table.append_column(name, pa.array(values))
    return table


def load_numpy(file: BinaryIO, source: str) -> Any:
    """Return the array or the archive that an open file is."""
    try:
        return np.load(file, allow_pickle=False)
    except Exception as error:  # numpy and zipfile raise whatever the bytes led them to
        if "Object arrays" in str(error):
            raise _pickled(source) from None
        reason = _reason(error, "it is cut short or is no NumPy file")
        raise DataError(f"{source} cannot be read: {reason}; save it again with numpy.save or savez.") from None


def member_of(archive: Any, name: str, source: str) -> NDArray[Any]:
    """Return an array of an archive."""
    try:
        array = np.asarray(archive[name])
    except Exception as error:
        if "Object arrays" in str(error):
            raise _pickled(f"{source} array {name}") from None
        reason = _reason(error, "the file is damaged")
        raise DataError(f"{source} array {name} cannot be read: {reason}; save it again.") from None
    return array


def _reason(error: Exception, otherwise: str) -> str:
    if isinstance(error, MemoryError):
        return "it is damaged or needs more memory than there is"
    return "it is encrypted" if "encrypt" in str(error) else otherwise


def _pickled(what: str) -> DataError:
    return DataError(
        f"{what} holds Python objects, which are never loaded (they could run code): save numbers, array.astype(float)."
    )


def check_matrix(array: NDArray[Any], source: str) -> NDArray[Any]:
    """Return an array as rows and columns; refuse one that is none of numbers."""
    if array.dtype.kind not in "biuf":
        kind = {"c": "complex numbers", "U": "text", "S": "text", "V": "records"}.get(array.dtype.kind, "no numbers")
        raise DataError(f"{source} holds {kind} ({array.dtype}): save an array of real numbers.")
    if array.ndim not in (1, 2):
        raise DataError(
            f"{source} has shape {array.shape}: give rows and columns, such as array.reshape(len(array), -1)."
        )
    matrix = array.reshape(len(array), -1) if array.size else array
    if not matrix.size:
        raise DataError(f"{source} has shape {array.shape}, so there is nothing in it: give at least one row.")
    return matrix


def _matrix(array: NDArray[Any], source: str, names: NDArray[Any] | None) -> TypedTable:
    matrix = check_matrix(array, source)
    if names is not None and names.shape == (matrix.shape[1],) and names.dtype.kind == "U":
        labels = tuple(str(name) for name in names)
    else:
        labels = tuple(f"x{j}" for j in range(matrix.shape[1]))
    return TypedTable(labels, tuple(matrix.T))


def from_arrow(column: Any) -> NDArray[Any]:
    """Return an Arrow column as numbers, or as objects where it holds something else or has gaps."""
    import pyarrow as pa

    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    kind = column.type
    numeric = pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind)
    if numeric and not column.null_count:
        return column.to_numpy()
    return np.fromiter(column.to_pylist(), dtype=object, count=len(column))


def column_kind(column: NDArray[Any]) -> str | None:
    """Return which of `KINDS` strings are, so that nothing is lost (007 stays text, 1.50 may become 1.5).

    None is a column that is not made of strings, and has a type.

    Examples
    --------
    >>> [column_kind(np.array(cells, dtype=object)) for cells in (["1", "NA"], ["1", "2.5"], ["007"], ["?"], [1, 2])]
    ['int', 'float', 'text', 'empty', None]
    """
    if column.dtype.kind != "O" or not all(isinstance(cell, str) for cell in column):
        return None
    present = [cell.strip() for cell in column if not is_missing(cell)]
    if not present:
        return "empty"
    padded = any(cell.lstrip("+-")[:1] == "0" and cell.lstrip("+-")[1:2].isdigit() for cell in present)
    if padded or not all(map(is_number, present)):
        return "text"
    return "int" if all(cell.lstrip("-").isdigit() and len(cell) < 19 for cell in present) else "float"


def string_kinds(columns: Sequence[NDArray[Any]], before: Sequence[str | None] = ()) -> tuple[str | None, ...]:
    """Return the kind of each column, and of what came before it in earlier blocks, together.

    Examples
    --------
    >>> string_kinds([np.array(["1"], dtype=object), np.array(["?"], dtype=object)], ["float", "int"])
    ('float', 'int')
    """
    found = [column_kind(column) for column in columns]
    pairs = zip(found, before or found, strict=True)
    return tuple(a if a is None or b is None else max(a, b, key=KINDS.index) for a, b in pairs)


def _as_kind(column: NDArray[Any], kind: str | None) -> Any:
    import pyarrow as pa

    if kind not in ("int", "float"):
        # the type is said: strings of which all are missing have none to be seen by
        return pa.array(column, pa.string()) if kind is not None else pa.array(column)
    number, type_ = (int, pa.int64()) if kind == "int" else (float, pa.float64())
    return pa.array([None if is_missing(cell) else number(cell) for cell in column], type_)
