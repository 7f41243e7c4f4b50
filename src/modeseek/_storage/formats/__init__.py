"""File formats for tables. Each format is an object in a separate module; see docs/adding-a-format.md."""

import importlib
import pkgutil

# every module of this package that defines a format registers it
for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_module.name}")
