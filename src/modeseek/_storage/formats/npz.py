"""NPZ: an archive of arrays, of which one holds the rows. Nothing is unpickled."""

import math
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from modeseek._common.resources import check_memory
from modeseek._storage.cells import to_array, to_numbers
from modeseek._storage.errors import DataError
from modeseek._storage.formats.base import NumericFormat, OutputSpec, numbers_of
from modeseek._storage.formats.npy import DAMAGED, Header, array_columns, check_matrix, read_header
from modeseek._storage.formats.reader import Reader, ReadOptions
from modeseek._storage.formats.registry import register_format
from modeseek._storage.formats.whole import WholeReader
from modeseek._storage.input_file import InputFile, open_zip
from modeseek._storage.pyarrow_modules import pa
from modeseek._storage.unpacking import check_unpacked


class Archive:
    """The arrays of an NPZ file, by name.

    Attributes
    ----------
    names : tuple of str
    """

    def __init__(self, archive: zipfile.ZipFile, source: str, packed: int):
        members = [each for each in archive.infolist() if each.filename.endswith(".npy")]
        self._archive, self._source, self._packed = archive, source, packed
        self._members = {each.filename.removesuffix(".npy"): each for each in members}
        self.names = tuple(self._members)

    def header(self, name: str) -> Header:
        """Read the shape and the type of an array."""
        member, label = self._members[name], f"{self._source} array {name}"
        with self._readable(name), self._archive.open(member) as stream:
            return read_header(stream, label, member.file_size)

    def array(self, name: str) -> NDArray[Any]:
        """Read an array."""
        header = self.header(name)
        # at least eight bytes for each number, because numbers are converted to float64
        n_bytes = max(header.n_bytes, 8 * math.prod(header.shape))
        check_unpacked(f"{self._source} array {name}", n_bytes, self._packed)
        check_memory(header.n_bytes, f"{self._source} array {name}", "Save a smaller array.")
        with self._readable(name), self._archive.open(self._members[name]) as stream:
            return np.asarray(np.lib.format.read_array(stream, allow_pickle=False))

    @contextmanager
    def _readable(self, name: str) -> Iterator[None]:
        try:
            yield
        except DataError:
            raise
        except Exception:  # damaged bytes can make zipfile and zlib raise any exception
            reason = "it is encrypted" if self._members[name].flag_bits & 1 else "the file is damaged"
            raise DataError(f"{self._source} array {name} cannot be read: {reason}; save it again.") from None


@contextmanager
def open_archive(file: InputFile) -> Iterator[Archive]:
    """Open an NPZ file."""
    with file.open() as stream:
        try:
            archive = open_zip(stream)
        except Exception:  # damaged bytes can make zipfile raise any exception
            raise DataError(f"{file.name} cannot be read: {DAMAGED}") from None
        with archive:
            yield Archive(archive, file.name, file.stamp()[0])


def _read_table(file: InputFile) -> Any:
    """Return the array `X`, or the only two-dimensional array, as an Arrow table; `columns` may name its columns."""
    with open_archive(file) as archive:
        chosen = _choose(archive, file)
        width = check_matrix(archive.header(chosen), f"{file.name} array {chosen}")[1]
        matrix = archive.array(chosen)
        names = archive.array("columns") if "columns" in archive.names else np.zeros(0)
    columns = [f"x{j}" for j in range(width)]
    if names.shape == (width,) and names.dtype.kind == "U":
        columns = [str(name) for name in names]
    return pa.table(array_columns(matrix.reshape(len(matrix), -1)), names=columns)


def _choose(archive: Archive, file: InputFile) -> str:
    if "X" in archive.names:
        return "X"
    shapes = {name: archive.header(name).shape for name in archive.names}
    tables = [name for name, shape in shapes.items() if len(shape) == 2]
    if len(tables) == 1:
        return tables[0]
    listed = ", ".join(f"{name} {shape}" for name, shape in shapes.items()) or "none"
    raise DataError(
        f"{file.name} must hold an array named X or exactly one two-dimensional array; "
        f"its arrays are: {listed}. Save the data as X."
    )


class Npz(NumericFormat):
    """NumPy's archive of arrays. Archives are compressed as a whole, so they are not read or written in chunks."""

    name = "NPZ"
    suffixes = (".npz",)
    magic = b"PK\x03\x04"
    chunked = False
    own_names = ("X", "columns")

    def open(self, file: InputFile, options: ReadOptions) -> Reader:
        return WholeReader(file, partial(_read_table, file))

    def write(self, path: Path, spec: OutputSpec, chunks: Iterable[Any]) -> None:
        table = pa.concat_tables(chunks)
        # rows without a cluster have empty cells, which only floats can represent
        added = {name: table.column(name) for name in spec.added}
        arrays = {name: to_numbers(each)[0] if each.null_count else to_array(each) for name, each in added.items()}
        names, X = np.array(spec.columns, np.str_), numbers_of(table.select(range(len(spec.columns))))
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            # not numpy.savez: it takes arrays as keyword arguments, and `file` and `allow_pickle` are its own arguments
            for name, array in {"X": X, "columns": names, **arrays}.items():
                with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                    np.lib.format.write_array(member, array, allow_pickle=False)


register_format(Npz())
