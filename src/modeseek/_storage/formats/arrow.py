"""Arrow IPC files and streams, and Feather, by pyarrow."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from modeseek._storage.formats.base import InputFile, OutputSpec, ReadOptions, register_format, typed_chunks
from modeseek._storage.formats.declared_size import arrow_bytes
from modeseek._storage.formats.whole import WholeFormat, bounded
from modeseek._storage.unpacking import check_unpacked


class Arrow(WholeFormat):
    """Arrow's format for tables."""

    name = "Arrow"
    suffixes = (".arrow", ".feather", ".ipc", ".arrows")
    magic = b"ARROW1"

    def load(self, file: InputFile, options: ReadOptions) -> Any:
        import pyarrow as pa

        with file.open() as stream:
            check_unpacked(file.name, arrow_bytes(stream), file.stamp()[0])
            stream.seek(0)
            is_file = stream.read(len(self.magic)) == self.magic
            stream.seek(0)
            opened = pa.ipc.open_file(stream) if is_file else pa.ipc.open_stream(stream)
            batches = map(opened.get_batch, range(opened.num_record_batches)) if is_file else opened
            return pa.Table.from_batches(bounded(batches, file), opened.schema)

    def write(self, path: Path, spec: OutputSpec, chunks: Iterable[Any]) -> None:
        import pyarrow as pa
        from pyarrow.feather import write_feather

        write_feather(pa.concat_tables(typed_chunks(spec, chunks)), str(path), compression="uncompressed")


register_format(Arrow())
