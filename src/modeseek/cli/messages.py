"""Messages of the command: errors and notes of the library, with the options of the command that solve the problem."""

import math
import shlex
import shutil
import sys
import textwrap
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Annotated, Any, get_origin, get_type_hints

from modeseek._storage.errors import (
    HeaderOnlyError,
    IncompleteRowsError,
    MissingValueError,
    NameTakenError,
    NoColumnsError,
    TextColumnError,
    UnpackedSizeError,
)
from modeseek.cli.commands import UsageError
from modeseek.cli.options import ClusterOptions
from modeseek.pipeline.errors import OptionError, OutputConflict, ResumeMismatch, SchedulerError
from modeseek.pipeline.options import Note


@contextmanager
def library_errors() -> Iterator[None]:
    """Convert errors that the library raises about its input to `UsageError`."""
    try:
        yield
    except (ValueError, TypeError, ImportError, SchedulerError) as error:
        raise UsageError(message_of(error)) from error


def print_note(note: Note) -> None:
    """Print a note of the library on standard error."""
    option = f" ({option_name(note.option)} {shlex.quote(note.value)})" if note.option else ""
    text = f"note: {' '.join(note.text.removesuffix('.').split())}{option}."
    if sys.stderr.isatty():
        width = shutil.get_terminal_size().columns
        text = textwrap.fill(text, width, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)
    print(text, file=sys.stderr)


def message_of(error: Exception) -> str:
    """Return the message that the command prints for an error of the library."""
    match error:
        case TextColumnError():
            them = "them" if len(error.columns) > 1 else "it"
            gaps = ", and leave out --strict for the missing values" if error.missing else ""
            codes = f"{_codes(error.words)}, or " if error.words else ""
            encoding = f"use {them} with --encode onehot, or " if error.encodable else ""
            return error.explain(f"{codes}{encoding}leave {them} out with --ignore {_joined(error.columns)}{gaps}")
        case MissingValueError():
            them = "the columns" if len(error.columns) > 1 else "the column"
            omission = f"leave {them} out with --ignore {_joined(error.columns)}"
            return error.explain(f"{omission}, or use --missing drop or --missing median without --strict")
        case IncompleteRowsError():
            return error.explain("fill them in with --missing median")
        case NoColumnsError():
            remedies = [_codes(error.words)] if error.words else []
            if error.encodable:
                remedies.append("use text columns with --encode onehot")
            other = "name columns with --columns" if error.left_out else "ignore fewer columns"
            return error.explain(", or ".join(remedies or [other]))
        case NameTakenError():
            return f"{error.source} already has a column '{error.name}': choose another name with --name."
        case HeaderOnlyError():
            return f"{error.source} has a header but no rows: give at least one row, or --no-header."
        case UnpackedSizeError():
            gigabytes = 10 * max(1, math.ceil(error.unpacked / 1e10))
            return (
                f"{error.problem}: if you trust the file, raise the bound, for example with --max-unpacked {gigabytes}."
            )
        case OptionError():
            return f"{option_name(error.option)} {error.problem}"
        case OutputConflict(path="-"):
            options = f"{option_name(error.other)} - and {option_name(error.output)} -"
            return f"{options} both write to standard output: give one of them a file name."
        case OutputConflict():
            other = error.other if " " in error.other else f"the path of {option_name(error.other)}"
            return f"{option_name(error.output)} {error.path} is also {other}: choose another path."
        case ResumeMismatch():
            difference = error.difference
            if error.name not in ("files", "version"):
                difference = f"{option_name(error.name)} was {_value(error.old)} and is now {_value(error.new)}"
            return (
                f"'{error.folder}' holds the state of an interrupted run, but {difference}: repeat that command, or "
                "add --restart to start over."
            )
    return str(error)


def name_setting(name: str, value: object) -> str:
    """Return the option that sets a parameter of the library, as Markdown code.

    Examples
    --------
    >>> name_setting("n_chains", 8)
    '`--chains 8`'
    """
    return f"`{option_name(name)}`" if value is None else f"`{option_name(name)} {value}`"


def _codes(words: Iterable[str]) -> str:
    return f"give texts that stand for missing values with --missing-values {_joined(words)}"


def _joined(names: Iterable[str]) -> str:
    return shlex.quote(",".join(names))


def option_name(name: str) -> str:
    """Return the option that sets a parameter of the library."""
    hint: Any = get_type_hints(ClusterOptions, include_extras=True).get(name)
    names = hint.__metadata__[0].names if get_origin(hint) is Annotated else ""
    return names.split()[-1].partition("/")[0] if names else f"--{name.replace('_', '-')}"


def _value(value: object) -> str:
    return "not given" if value in (None, "None", []) else str(value)
