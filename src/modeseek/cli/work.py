"""The job itself: read, check, scale, fit, write, show."""

from __future__ import annotations

import os
import sys
import time
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from modeseek.cli.advice import advice_on
from modeseek.cli.settings import Problem, Settings, build_estimator
from modeseek.cli.summary import Summary, summarise
from modeseek.hints import ScaleWarning
from modeseek.scaling import Scaling
from modeseek.storage import SUFFIXES, Features, Table, check_target, read_table, write_json
from modeseek.types import Array

__all__ = ["cluster_file"]

STANDARD_STREAM = "-"
PIPE_WIDTH = 120


def cluster_file(settings: Settings) -> None:
    """Cluster the rows of a file and write what was asked for.

    Everything that can be refused is refused before the work begins, so that no result is lost.
    """
    estimator = build_estimator(settings)
    _check_targets(settings)
    table = read_table(settings.file, header=settings.header)
    features = table.features(
        _names(settings.columns, table) if settings.columns else None, _names(settings.ignore, table)
    )
    if settings.output is not None:
        table.check_free(settings.name)
        table.check_writable(settings.output)
    notes: list[str] = []
    if table.row_names and not set(table.row_names) & set(features.names):
        notes.append(f"column '{table.row_names[0]}' holds row names and is left out; --columns can ask for it.")
    notes += advice_on(features, standardise=settings.standardise, euclidean=settings.metric != "cosine")
    for text in notes:
        _note(text)
    scaling = Scaling.fit(features.values, standardise=settings.standardise)
    scaled = scaling.apply(features.values)
    _check_directions(settings, table, scaled)
    fit = _fit(estimator, scaled)
    summary = summarise(settings, features.names, scaling, estimator, fit.seconds)
    _write(summary, table, features, scaled)
    if settings.report is not None:
        from modeseek.cli.page import write_clustering

        write_clustering(settings.report, settings, table, features, scaled, estimator, [*notes, *fit.notes])
    if not settings.quiet:
        _show(summary)
    if fit.interrupted:
        _say_partial(settings)
        raise KeyboardInterrupt


def _check_targets(settings: Settings) -> None:
    if settings.output == settings.json == STANDARD_STREAM:
        raise Problem("-o - and --json - cannot both go to standard output: give one of them a file.")
    if not settings.name:
        raise Problem("--name must not be empty: give the new column a name.")
    if settings.output not in (None, STANDARD_STREAM):
        check_target(str(settings.output), SUFFIXES)
        target, source = Path(str(settings.output)), Path(settings.file)
        if target.exists() and source.exists() and target.samefile(source):
            raise Problem(f"-o {settings.output} is the file that is read: give the result another name.")
    if settings.json not in (None, STANDARD_STREAM):
        check_target(str(settings.json), [".json"])
    if settings.plot is not None:
        from modeseek.plots import PICTURE_SUFFIXES

        check_target(settings.plot, PICTURE_SUFFIXES)
    if settings.report is not None:
        from modeseek.report.clustering import REPORT_SUFFIXES

        check_target(settings.report, REPORT_SUFFIXES)


def _check_directions(settings: Settings, table: Table, scaled: Array) -> None:
    # the estimator would find it too, but knows nothing of lines
    zero = ~scaled.any(axis=1)
    if settings.metric == "cosine" and zero.any():
        raise Problem(
            f"{table.source}: {table.place(int(np.argmax(zero)))} is all zeros, so it has no direction, which "
            "--metric cosine needs: remove the row or use --metric euclidean."
        )


def _names(given: list[str] | None, table: Table) -> list[str]:
    """Split at commas, unless the whole is a column's name."""
    names: list[str] = []
    for text in given or ():
        names += [text] if text in table.columns else [part.strip() for part in text.split(",") if part.strip()]
    return names


class _Fit(NamedTuple):
    """How a fit went."""

    seconds: float
    interrupted: bool
    notes: list[str]


def _fit(estimator: Any, X: Array) -> _Fit:
    """Fit, and turn warnings into notes; Ctrl-C is raised only if it left nothing to write."""
    start, interrupted = time.perf_counter(), False
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.simplefilter("ignore", ScaleWarning)  # `advice_on` has said so, with the column's name
        try:
            estimator.fit(X)
        except KeyboardInterrupt:
            interrupted = True
            if not hasattr(estimator, "labels_"):
                print("interrupted before there was anything to keep: nothing was written.", file=sys.stderr)
                raise
        except (ValueError, TypeError, ImportError) as error:
            raise Problem(str(error)) from error
    seconds = time.perf_counter() - start
    warned = list(dict.fromkeys(str(warning.message) for warning in caught))
    for message in warned:
        _note(message)
    return _Fit(seconds, interrupted, warned)


def _say_partial(settings: Settings) -> None:
    asked = (settings.output, settings.json, settings.plot, settings.report)
    named = ["standard output" if name == STANDARD_STREAM else f"'{name}'" for name in asked if name is not None]
    where = f"was written to {', '.join(named)}" if named else "is shown; -o would have written it"
    print(f"interrupted: the result so far {where}.", file=sys.stderr)


def _write(summary: Summary, table: Table, features: Features, scaled: Array) -> None:
    settings, confidence = summary.settings, getattr(summary.estimator, "confidence_", None)
    if settings.output is not None:
        extra: dict[str, Any] = {settings.name: summary.labels}
        if confidence is not None:
            # a column of that name in the data is not ours to replace
            extra["confidence" if "confidence" not in table.columns else f"{settings.name}_confidence"] = confidence
        table.write(settings.output, extra)
    if settings.json is not None:
        write_json(settings.json, summary.record())
    if settings.plot is not None:
        from modeseek.plots import save_clusters

        X, centers = _picture(summary, features.values, scaled)
        count = len(summary.sizes)
        save_clusters(
            settings.plot,
            X,
            summary.labels,
            centers=centers if len(centers) else None,
            confidence=confidence,
            feature_names=features.names,
            title=f"{Path(settings.file).name}: {count:,} {'cluster' if count == 1 else 'clusters'}",
        )


def _picture(summary: Summary, X: Array, scaled: Array) -> tuple[Array, Array]:
    """Choose the coordinates to draw: the data's own where axes carry names, else those clustered."""
    fitted = np.asarray(summary.estimator.cluster_centers_, dtype=np.float64)
    if summary.settings.metric == "cosine":
        return scaled / np.linalg.norm(scaled, axis=1, keepdims=True), fitted
    return (X, summary.centers) if X.shape[1] <= 2 else (scaled, fitted)


def _show(summary: Summary) -> None:
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


def _note(message: str) -> None:
    print(f"note: {' '.join(message.split())}", file=sys.stderr)
