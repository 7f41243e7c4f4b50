"""The modules of pyarrow, imported when they are first used: this takes long, and fits of arrays do not need them."""

from importlib import import_module
from typing import Any


class _Module:
    """Stands for a module."""

    def __init__(self, name: str):
        self._name = name

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # tools look such names up in everything that a module defines
            raise AttributeError(name)
        return getattr(import_module(self._name), name)


pa: Any = _Module("pyarrow")
pc: Any = _Module("pyarrow.compute")
pq: Any = _Module("pyarrow.parquet")
feather: Any = _Module("pyarrow.feather")
pa_csv: Any = _Module("pyarrow.csv")
