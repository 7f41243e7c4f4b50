"""NPY: one array of numbers, whose rows and columns are those of the table. Nothing is unpickled."""

import math
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from modeseek._storage.errors import DataError
from modeseek._storage.formats.base import NumericFormat, OutputSpec, numbers_of
from modeseek._storage.formats.reader import Position, Reader, ReadOptions
from modeseek._storage.formats.registry import register_format
from modeseek._storage.input_file import InputFile
from modeseek._storage.table import Table

KINDS = {"c": "complex numbers", "U": "text", "S": "text", "V": "records"}
HEADERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}


class Header(NamedTuple):
    """Shape, memory order and type of an array in a file, and the number of bytes before its numbers."""

    shape: tuple[int, ...]
    fortran: bool
    dtype: np.dtype[Any]
    offset: int

    @property
    def n_bytes(self) -> int:
        return math.prod(self.shape) * self.dtype.itemsize


def read_header(stream: IO[bytes], source: str, file_bytes: int) -> Header:
    """Read the header of an NPY file of `file_bytes` bytes, before memory for the array is allocated.

    Raises
    ------
    DataError
        If the header is missing or damaged, or declares Python objects or another number of bytes than the file has.
    """
    try:
        header = Header(*HEADERS[np.lib.format.read_magic(stream)](stream), stream.tell())
    except Exception:  # damaged bytes can make NumPy and ast raise any exception
        raise DataError(f"{source} cannot be read: {DAMAGED}") from None
    if header.dtype.hasobject:
        raise DataError(
            f"{source} holds Python objects, which are never loaded (they could run code): save numbers, "
            "array.astype(float)."
        )
    end = header.offset + header.n_bytes
    if min(header.shape, default=0) < 0 or end > file_bytes:
        raise DataError(f"{source} cannot be read: {DAMAGED}")
    if end < file_bytes:
        raise DataError(
            f"{source} has {file_bytes - end:,} bytes after its array: it is still being written, or holds several "
            "arrays; save one array with numpy.save."
        )
    return header


DAMAGED = "it is cut short or not a NumPy file; save it again with numpy.save or savez."


def check_matrix(header: Header, source: str) -> tuple[int, int]:
    """Return the numbers of rows and columns of an array of numbers; raise a `DataError` for other arrays."""
    shape = header.shape
    if header.dtype.kind not in "biuf":
        held = KINDS.get(header.dtype.kind, "no numbers")
        raise DataError(f"{source} holds {held} ({header.dtype}): save an array of real numbers.")
    if len(shape) not in (1, 2):
        raise DataError(f"{source} has shape {shape}: give rows and columns, such as array.reshape(len(array), -1).")
    if not math.prod(shape):
        raise DataError(f"{source} has shape {shape}, so it is empty: give at least one row.")
    return shape[0], shape[1] if len(shape) == 2 else 1


def array_columns(matrix: NDArray[Any]) -> list[NDArray[Any]]:
    """Return the columns of a matrix as arrays that Arrow accepts: native byte order, and long doubles as float64."""
    dtype = matrix.dtype.newbyteorder("=")
    if dtype.kind == "f" and dtype.itemsize > 8:
        dtype = np.dtype(np.float64)
    # numbers beyond the range of float64 become infinite; the table reports them later with their row
    with np.errstate(over="ignore", invalid="ignore"):
        return [np.array(column, dtype) for column in matrix.T]


class NpyReader(Reader):
    """Reads the rows of an NPY file."""

    def __init__(self, file: InputFile, options: ReadOptions):
        super().__init__(file)
        with file.open() as stream:
            self._header = read_header(stream, file.name, self.stamp[0])
        self._rows, width = check_matrix(self._header, file.name)
        self.columns, self.size = tuple(f"x{j}" for j in range(width)), self._header.n_bytes
        self._step = max(1, options.chunk_bytes // (8 * width))

    def chunks(self, start: Position, only: Sequence[str] | None) -> Iterator[tuple[Table, Position, int]]:
        for low in range(start.at, self._rows, self._step):
            high = min(low + self._step, self._rows)
            columns = array_columns(self._mapped()[low:high])
            table = Table.from_arrays(self.file.name, self.columns, columns, first_row=low)
            yield table, Position(high, 0, high), self.size * high // self._rows

    def _mapped(self) -> NDArray[Any]:
        """Return a new memory map, for one chunk: pages that were read stay in memory as long as the map."""
        shape, fortran, dtype, offset = self._header
        order: Any = "F" if fortran else "C"
        if self.file.path is None:
            return np.ndarray(shape, dtype, self.file.data, offset, order=order).reshape(shape[0], -1)
        return np.memmap(self.file.path, dtype, "r", offset, shape, order).reshape(shape[0], -1)


class Npy(NumericFormat):
    """NumPy's format for one array."""

    name = "NPY"
    suffixes = (".npy",)
    magic = b"\x93NUMPY"

    def open(self, file: InputFile, options: ReadOptions) -> Reader:
        return NpyReader(file, options)

    def write(self, path: Path, spec: OutputSpec, chunks: Iterable[Any]) -> None:
        shape = spec.n_rows, len(spec.columns) + len(spec.added)
        with path.open("wb") as stream:
            header = {"descr": "<f8", "fortran_order": False, "shape": shape}
            np.lib.format.write_array_header_1_0(stream, header)
            for chunk in chunks:
                stream.write(numbers_of(chunk).astype("<f8").tobytes())


register_format(Npy())
