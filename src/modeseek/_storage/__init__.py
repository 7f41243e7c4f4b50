"""Files: formats of tables, model files and other containers, pictures, and atomic writes."""

from modeseek._storage.atomic import atomic_path, check_target, remove_parts, temporary_folder, write_json
from modeseek._storage.cells import Content
from modeseek._storage.chunks import Chunk, Chunks, Place, open_chunks
from modeseek._storage.container import read_container, write_container
from modeseek._storage.encoding import NotStorableError
from modeseek._storage.errors import (
    DataError,
    HeaderOnlyError,
    MissingValueError,
    NameTakenError,
    NoColumnsError,
    SourceChangedError,
    TextColumnError,
    UnknownColumnError,
    WriteError,
)
from modeseek._storage.formats import FORMATS, STANDARD_STREAM, OutputSpec, format_of, register_format
from modeseek._storage.pictures import LABEL_SUFFIXES, PICTURE_FILES, PictureFile, read_picture, write_picture
from modeseek._storage.reading import parse_table, read_arrays, read_bytes, read_table
from modeseek._storage.table import Features, Table
from modeseek._storage.work_folder import WorkFolder
from modeseek._storage.writing import ChunkWriter, check_chunk_target, check_writable, write_table

__all__ = [
    "FORMATS",
    "LABEL_SUFFIXES",
    "PICTURE_FILES",
    "STANDARD_STREAM",
    "Chunk",
    "ChunkWriter",
    "Chunks",
    "Content",
    "DataError",
    "Features",
    "HeaderOnlyError",
    "MissingValueError",
    "NameTakenError",
    "NoColumnsError",
    "NotStorableError",
    "OutputSpec",
    "PictureFile",
    "Place",
    "SourceChangedError",
    "Table",
    "TextColumnError",
    "UnknownColumnError",
    "WorkFolder",
    "WriteError",
    "atomic_path",
    "check_chunk_target",
    "check_target",
    "check_writable",
    "format_of",
    "open_chunks",
    "parse_table",
    "read_arrays",
    "read_bytes",
    "read_container",
    "read_picture",
    "read_table",
    "register_format",
    "remove_parts",
    "temporary_folder",
    "write_container",
    "write_json",
    "write_picture",
    "write_table",
]
