"""Registry of the classes whose values can be stored in model files, checkpoints and resume states.

The decorator `storable` adds a class; docs/how-to-models.md has an example. A file refers to a
class by its name in this registry. Nothing else is looked up, and nothing in a file is executed.
"""

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any, NamedTuple, TypeVar, get_type_hints

import numpy as np
from numpy.typing import NDArray

Kind = TypeVar("Kind", bound=type)


class Storable(NamedTuple):
    """How values of a class are stored.

    Attributes
    ----------
    kind : type
    make : callable
        Makes a value from its parts, given as keyword arguments. It raises a `ValueError` if they do not fit together.
    parts : mapping of str to type, or None
        The attributes that are stored; None stores all fields of a dataclass or named tuple.
    check : callable or None
        Raises a `ValueError` if the parts of a value do not fit together.
    """

    kind: type
    make: Callable[..., Any]
    parts: Mapping[str, Any] | None = None
    check: Callable[[Any], None] | None = None

    def hints(self) -> Mapping[str, Any]:
        """Return the types of the stored attributes."""
        if self.parts is not None:
            return self.parts
        names = [each.name for each in fields(self.kind)] if is_dataclass(self.kind) else self.kind._fields  # type: ignore[attr-defined]
        hints = get_type_hints(self.kind, include_extras=True)
        return {name: hints[name] for name in names}


STORABLE: dict[str, Storable] = {}
# values that are stored by their name in a registry, such as kernel profiles
STORED_BY_NAME: dict[str, Mapping[str, Any]] = {}


def storable(
    check: Callable[[Any], None] | None = None,
    *,
    parts: Mapping[str, Any] | None = None,
    make: Callable[..., Any] | None = None,
) -> Callable[[Kind], Kind]:
    """Return a decorator for a dataclass, named tuple or enumeration whose values may be stored in files.

    The types of fields are checked against their annotations when a file is read. `check`, `parts` and `make` are
    described in `Storable`.

    Examples
    --------
    >>> @storable()
    ... class Pair(NamedTuple):
    ...     left: int
    ...     right: float
    >>> dict(STORABLE["Pair"].hints())
    {'left': <class 'int'>, 'right': <class 'float'>}
    """

    def register(kind: Kind) -> Kind:
        STORABLE[kind.__name__] = Storable(kind, make or kind, {} if issubclass(kind, Enum) else parts, check)
        return kind

    return register


def stored_by_name(kind: type, registry: Mapping[str, Any]) -> None:
    """Allow values of a class to be stored in files by their names in `registry`."""
    STORED_BY_NAME[kind.__name__] = registry


def require(condition: Any, what: str) -> None:
    """Raise a `ValueError` with the text `what` unless a condition holds."""
    if not condition:
        raise ValueError(what)


def is_within(array: NDArray[Any], low: float, high: float) -> bool:
    """Return whether all entries of an array are in [low, high); False if one is NaN."""
    return bool(((array >= low) & (array < high)).all())


def is_real(array: NDArray[Any], ndim: int) -> bool:
    """Return whether an array holds finite floats in `ndim` dimensions."""
    return array.ndim == ndim and array.dtype in (np.float64, np.float32) and bool(np.isfinite(array).all())
