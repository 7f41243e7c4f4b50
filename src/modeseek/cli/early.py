"""Checks of files and choices that report mistakes at once, before scientific libraries are loaded."""

import shlex
from collections.abc import Iterable, Mapping, Sequence

from modeseek._common.validation import check_choice
from modeseek._storage.errors import DataError, UnknownFormatError
from modeseek._storage.formats.registry import IMAGES, SOUNDS
from modeseek._storage.input_file import STANDARD_STREAM, is_remote
from modeseek._storage.reading import check_source
from modeseek.cli.commands import UsageError


def check_files(paths: Iterable[str]) -> None:
    """Raise `UsageError` if a data file does not exist, is empty or is of an unknown format."""
    for path in paths:
        if path == STANDARD_STREAM or is_remote(path):
            continue
        try:
            check_source(path)
        except UnknownFormatError as error:
            name = shlex.quote(path)
            if error.suffix in IMAGES:
                raise UsageError(f"{name} is an image, not a table: use modeseek segment {name}.") from error
            if error.suffix == ".modeseek":
                raise UsageError(f"{name} is a model, not a table: use modeseek label {name} TABLE.") from error
            if error.suffix in SOUNDS:
                raise UsageError(
                    f"{name} is a recording, not a table: modeseek diarize needs embeddings of its windows (NPZ with X "
                    "and times), which a speaker model computes; see docs/how-to-speakers.md."
                ) from error
            raise UsageError(str(error)) from error
        except DataError as error:
            raise UsageError(str(error)) from error


def check_choices(given: Mapping[str, str | None], choices: Mapping[str, Sequence[str]]) -> None:
    """Raise `UsageError` if the value of an option is not among its choices; None is skipped."""
    for name, allowed in choices.items():
        if given[name] is None:
            continue
        try:
            check_choice(f"--{name.replace('_', '-')}", given[name], allowed)
        except ValueError as error:
            raise UsageError(str(error)) from None
