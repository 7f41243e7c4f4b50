"""File formats for tables. Each format is an object in a separate module; see docs/adding-a-format.md."""

import importlib
import pkgutil

from modeseek._storage.formats.base import *  # noqa: F403
from modeseek._storage.formats.base import __all__ as __all__

# every module of this package that defines a format registers it
for _module in pkgutil.iter_modules(__path__):  # noqa: F405
    importlib.import_module(f"{__name__}.{_module.name}")
