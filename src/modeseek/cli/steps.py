"""What every way through the command does: check, note, fit, show."""

from __future__ import annotations

import os
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from modeseek._common.hints import ScaleWarning
from modeseek._common.types import Array
from modeseek._storage import FORMATS, Features, Table, check_target, format_of
from modeseek.cli.advice import advice_on
from modeseek.cli.settings import Problem, Settings
from modeseek.cli.summary import Summary

__all__ = [
    "STANDARD_STREAM",
    "Fit",
    "check_directions",
    "check_targets",
    "column_names",
    "note",
    "notes_on",
    "run_fit",
    "show_result",
]

STANDARD_STREAM = "-"
PIPE_WIDTH = 120


def check_targets(settings: Settings) -> None:
    """Refuse files that could not be written, before any work is done."""
    if settings.output == settings.json == STANDARD_STREAM:
        raise Problem("-o - and --json - cannot both go to standard output: give one of them a file.")
    if not settings.name:
        raise Problem("--name must not be empty: give the new column a name.")
    if settings.output not in (None, STANDARD_STREAM):
        check_target(str(settings.output), FORMATS)
        target = Path(str(settings.output))
        if any(target.exists() and source.exists() and target.samefile(source) for source in map(Path, settings.files)):
            raise Problem(f"-o {settings.output} is the file that is read: give the result another name.")
    if settings.guard_formulas and (settings.scheduler is not None or not _is_text(settings.output)):
        raise Problem(
            "--guard-formulas is for text, which spreadsheets open: give -o a name that ends in .csv or .tsv."
        )
    if settings.json not in (None, STANDARD_STREAM):
        check_target(str(settings.json), [".json"])
    if settings.plot is not None:
        from modeseek.plots import FIGURE_SUFFIXES

        check_target(settings.plot, FIGURE_SUFFIXES)
    if settings.report is not None:
        from modeseek.report import REPORT_SUFFIXES

        check_target(settings.report, REPORT_SUFFIXES)
    if settings.save is not None:
        from modeseek.io import MODEL_SUFFIX

        check_target(settings.save, [MODEL_SUFFIX])


def _is_text(output: str | None) -> bool:
    return output == STANDARD_STREAM or (output is not None and format_of(output).name == "delimited text")


def notes_on(settings: Settings, table: Table, features: Features) -> list[str]:
    """Print what the reader should know before the work begins, and return it."""
    notes: list[str] = []
    if table.row_names and not set(table.row_names) & set(features.names):
        notes.append(f"column '{table.row_names[0]}' holds row names and is left out; --columns can ask for it.")
    notes += advice_on(features, standardise=settings.standardise, euclidean=settings.metric != "cosine")
    for text in notes:
        note(text)
    return notes


def check_directions(settings: Settings, table: Table, scaled: Array) -> None:
    """Refuse rows without a direction where directions are compared."""
    # the estimator would find it too, but knows nothing of lines
    zero = ~scaled.any(axis=1)
    if settings.metric == "cosine" and zero.any():
        raise Problem(
            f"{table.source}: {table.place(int(np.argmax(zero)))} is all zeros, so it has no direction, which "
            "--metric cosine needs: remove the row or use --metric euclidean."
        )


def column_names(given: list[str] | None, table: Table) -> list[str]:
    """Split at commas, unless the whole is a column's name."""
    names: list[str] = []
    for text in given or ():
        names += [text] if text in table.columns else [part.strip() for part in text.split(",") if part.strip()]
    return names


class Fit(NamedTuple):
    """How a fit went."""

    seconds: float
    interrupted: bool
    notes: list[str]


def run_fit(fit: Callable[[], Any]) -> Fit:
    """Fit, and turn warnings into notes; Ctrl-C is told, not raised."""
    start, interrupted = time.perf_counter(), False
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.simplefilter("ignore", ScaleWarning)  # `advice_on` has said so, with the column's name
        try:
            fit()
        except KeyboardInterrupt:
            interrupted = True
        except (ValueError, TypeError, ImportError) as error:
            raise Problem(str(error)) from error
    seconds = time.perf_counter() - start
    warned = list(dict.fromkeys(str(warning.message) for warning in caught))
    for message in warned:
        note(message)
    return Fit(seconds, interrupted, warned)


def show_result(summary: Summary) -> None:
    """Print the clusters."""
    from rich.console import Console
    from rich.text import Text

    from modeseek.cli.screen import show

    taken = STANDARD_STREAM in (summary.settings.output, summary.settings.json)
    console = Console(stderr=taken)
    if not console.is_terminal and "COLUMNS" not in os.environ:
        # nobody wraps the lines of a pipe or a file
        console.width = PIPE_WIDTH
    show(summary, console)
    if summary.settings.report is not None:
        console.print(Text(f"report: {summary.settings.report}"), soft_wrap=True)


def note(message: str) -> None:
    """Print a note."""
    print(f"note: {' '.join(message.split())}", file=sys.stderr)
