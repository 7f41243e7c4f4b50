"""File formats for tables: one object each, in a module of its own. See docs/adding-a-format.md."""

import importlib
import pkgutil

from modeseek._storage.formats.base import Format, InputFile, OutputSpec, Position, Reader, ReadOptions
from modeseek._storage.formats.registry import FORMATS, STANDARD_STREAM, format_of, register_format

__all__ = [
    "FORMATS",
    "STANDARD_STREAM",
    "Format",
    "InputFile",
    "OutputSpec",
    "Position",
    "ReadOptions",
    "Reader",
    "format_of",
    "register_format",
]

# every module of this package that defines a format registers it
for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_module.name}")
