"""Messages of errors, with the options of the command that help."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from functools import singledispatch

from modeseek._storage import (
    HeaderOnlyError,
    MissingValueError,
    NameTakenError,
    NoColumnsError,
    TextColumnError,
)

__all__ = ["message_of"]


@singledispatch
def message_of(error: Exception) -> str:
    """Return the message of an error as the command prints it."""
    return str(error)


@message_of.register
def _(error: TextColumnError) -> str:
    return error.explain(f"leave {'them' if len(error.columns) > 1 else 'it'} out with {_ignore(error.columns)}")


@message_of.register
def _(error: MissingValueError) -> str:
    return error.explain(f"leave the column out with {_ignore([error.column])}")


@message_of.register
def _(error: NoColumnsError) -> str:
    return f"{error.source}: no column is left to cluster: name some with --columns, or ignore fewer."


@message_of.register
def _(error: NameTakenError) -> str:
    return f"{error.source} already has a column '{error.name}': choose another name with --name."


@message_of.register
def _(error: HeaderOnlyError) -> str:
    return f"{error.source} has a header but no rows: give at least one row, or --no-header."


def _ignore(columns: Sequence[str]) -> str:
    return f"--ignore {shlex.quote(','.join(columns))}"
