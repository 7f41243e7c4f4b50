"""Data files: the only room where files are read or written."""

from modeseek._storage.arrays import read_arrays
from modeseek._storage.atomic import atomic_path, check_target, remove_parts, temporary_folder, write_json
from modeseek._storage.binary import string_kinds
from modeseek._storage.chunk_writers import ChunkWriter, Outline, check_chunk_target, open_writer
from modeseek._storage.chunks import BLOCK, CHUNKED, Chunk, Chunks, Place, open_chunks
from modeseek._storage.container import Content, read_container, write_container
from modeseek._storage.errors import (
    DataError,
    HeaderOnlyError,
    MissingValueError,
    NameTakenError,
    NoColumnsError,
    TextColumnError,
    UnknownColumnError,
    WriteError,
)
from modeseek._storage.kinds import SUFFIXES, kind_of
from modeseek._storage.pictures import LABEL_SUFFIXES, PICTURE_FILES, PictureFile, read_picture, write_picture
from modeseek._storage.reading import read_bytes, read_table
from modeseek._storage.table import Features, Table
from modeseek._storage.work_folder import Kept, WorkFolder

__all__ = [
    "BLOCK",
    "CHUNKED",
    "LABEL_SUFFIXES",
    "PICTURE_FILES",
    "SUFFIXES",
    "Chunk",
    "ChunkWriter",
    "Chunks",
    "Content",
    "DataError",
    "Features",
    "HeaderOnlyError",
    "Kept",
    "MissingValueError",
    "NameTakenError",
    "NoColumnsError",
    "Outline",
    "PictureFile",
    "Place",
    "Table",
    "TextColumnError",
    "UnknownColumnError",
    "WorkFolder",
    "WriteError",
    "atomic_path",
    "check_chunk_target",
    "check_target",
    "kind_of",
    "open_chunks",
    "open_writer",
    "read_arrays",
    "read_bytes",
    "read_container",
    "read_picture",
    "read_table",
    "remove_parts",
    "string_kinds",
    "temporary_folder",
    "write_container",
    "write_json",
    "write_picture",
]
