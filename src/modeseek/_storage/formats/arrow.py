"""Arrow IPC files and streams, and Feather files, read and written with pyarrow."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from modeseek._storage.formats.base import OutputSpec, typed_chunks
from modeseek._storage.formats.declared_size import arrow_bytes
from modeseek._storage.formats.reader import ReadOptions
from modeseek._storage.formats.registry import register_format
from modeseek._storage.formats.whole import WholeFormat, bounded
from modeseek._storage.input_file import InputFile
from modeseek._storage.pyarrow_modules import feather, pa
from modeseek._storage.unpacking import check_unpacked


class Arrow(WholeFormat):
    """Arrow's format for tables."""

    name = "Arrow"
    suffixes = (".arrow", ".feather", ".ipc", ".arrows")
    magic = b"ARROW1"

    def load(self, file: InputFile, options: ReadOptions) -> Any:
        with file.open() as stream:
            data = stream.read()
        # read from memory: from a stream, Arrow allocates the sizes that a file declares before it reads the data
        check_unpacked(file.name, arrow_bytes(pa.BufferReader(data)), file.stamp()[0])
        is_file = data.startswith(self.magic)
        opened = (pa.ipc.open_file if is_file else pa.ipc.open_stream)(pa.BufferReader(data))
        batches = map(opened.get_batch, range(opened.num_record_batches)) if is_file else opened
        return pa.Table.from_batches(bounded(batches, file), opened.schema)

    def write(self, path: Path, spec: OutputSpec, chunks: Iterable[Any]) -> None:
        feather.write_feather(pa.concat_tables(typed_chunks(spec, chunks)), str(path), compression="uncompressed")


register_format(Arrow())
