"""Messages of the command: errors and notes of the library, with the options that address them."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import singledispatch

from modeseek._storage import (
    HeaderOnlyError,
    MissingValueError,
    NameTakenError,
    NoColumnsError,
    TextColumnError,
)
from modeseek.cli.commands import UsageError
from modeseek.pipeline.errors import OptionError, OutputConflict, ResumeMismatch, SchedulerError
from modeseek.pipeline.options import Note

__all__ = ["library_errors", "message_of", "print_note"]

# options whose names differ from those of the library
OPTIONS = {
    "rows": "-o",
    "model": "--save",
    "label_column": "--name",
    "n_chains": "--chains",
    "n_jobs": "--jobs",
    "random_state": "--seed",
}


@contextmanager
def library_errors() -> Iterator[None]:
    """Turn the errors by which the library refuses its input into `UsageError`."""
    try:
        yield
    except (ValueError, TypeError, ImportError, SchedulerError) as error:
        raise UsageError(message_of(error)) from error


def print_note(note: Note) -> None:
    """Print a note of the library on standard error."""
    text = {
        "columns": f"{note.text} (--columns {shlex.quote(note.column)}).",
        "ignore": f"{note.text} (--ignore {shlex.quote(note.column)}).",
        "scale": f"{note.text} (--scale standard).",
    }.get(note.option, note.text if note.text.endswith(".") else f"{note.text}.")
    print(f"note: {' '.join(text.split())}", file=sys.stderr)


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


@message_of.register
def _(error: OptionError) -> str:
    return f"{_option(error.option)} {error.problem}"


@message_of.register
def _(error: OutputConflict) -> str:
    output = _option(error.output)
    if error.path == "standard output":
        return f"{output} - and {_option(error.other)} - both write to standard output: give one of them a file name."
    other = error.other if " " in error.other else f"the path of {_option(error.other)}"
    return f"{output} {error.path} is also {other}: choose another path."


@message_of.register
def _(error: ResumeMismatch) -> str:
    difference = error.difference
    if error.name not in ("files", "input", "version"):
        difference = f"{_option(error.name)} was {_value(error.old)} and is now {_value(error.new)}"
    return (
        f"'{error.folder}' holds the state of an interrupted run, but {difference}: repeat that command, or add "
        "--restart to start over."
    )


def _option(name: str) -> str:
    return OPTIONS.get(name, f"--{name.replace('_', '-')}")


def _value(value: object) -> str:
    return "not given" if value in (None, "None", []) else str(value)


def _ignore(columns: Sequence[str]) -> str:
    return f"--ignore {shlex.quote(','.join(columns))}"
