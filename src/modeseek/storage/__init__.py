"""Data files: the only room where files are read or written."""

from modeseek.storage.atomic import atomic_path, check_target, write_json
from modeseek.storage.errors import DataError
from modeseek.storage.kinds import SUFFIXES
from modeseek.storage.reading import read_bytes, read_table
from modeseek.storage.table import Features, Table

__all__ = [
    "SUFFIXES",
    "DataError",
    "Features",
    "Table",
    "atomic_path",
    "check_target",
    "read_bytes",
    "read_table",
    "write_json",
]
