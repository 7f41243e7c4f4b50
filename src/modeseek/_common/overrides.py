"""Context variables that hold another value inside a `with` block."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

Value = TypeVar("Value")


@contextmanager
def override(variable: ContextVar[Value], value: Value) -> Iterator[None]:
    """Set a context variable inside a block.

    Examples
    --------
    >>> color = ContextVar("color", default="red")
    >>> with override(color, "blue"):
    ...     color.get()
    'blue'
    >>> color.get()
    'red'
    """
    token = variable.set(value)
    try:
        yield
    finally:
        variable.reset(token)


@contextmanager
def override_limit(variable: ContextVar[float | None], n_bytes: float | None) -> Iterator[None]:
    """Set a limit in bytes inside a block; raise a `ValueError` unless it is None or a number > 0."""
    if n_bytes is not None and not n_bytes > 0:
        raise ValueError(f"n_bytes must be a number > 0; got {n_bytes!r}.")
    with override(variable, n_bytes):
        yield
