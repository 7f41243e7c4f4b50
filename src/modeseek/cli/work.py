"""The job itself: read, check, scale, fit, write, show."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from modeseek._common.scaling import Scaling
from modeseek._common.types import Array
from modeseek._storage import Features, Table, check_writable, format_of, read_table, write_json, write_table
from modeseek.cli.settings import Problem, Settings, build_estimator
from modeseek.cli.steps import (
    STANDARD_STREAM,
    check_directions,
    check_targets,
    column_names,
    notes_on,
    run_fit,
    show_result,
)
from modeseek.cli.summary import Summary, summarise

__all__ = ["added_columns", "cluster_file", "draw", "save_model"]

# bytes of a file above which it is read in blocks: in memory a text takes about ten times its size
MANY_BYTES = 200_000_000


def cluster_file(settings: Settings) -> None:
    """Cluster the rows of a file and write what was asked for.

    Everything that can be refused is refused before the work begins, so that no result is lost.
    """
    estimator = build_estimator(settings)
    check_targets(settings)
    if settings.scheduler is not None:
        from modeseek.cli.scheduler import cluster_by_dask

        cluster_by_dask(settings, estimator)
        return
    if is_out_of_core(settings):
        from modeseek.cli.out_of_core import cluster_blocks

        cluster_blocks(settings, estimator)
        return
    table = read_table(settings.file, header=settings.header)
    features = table.features(
        column_names(settings.columns, table) if settings.columns else None, column_names(settings.ignore, table)
    )
    if settings.output is not None:
        table.check_free(settings.name)
        check_writable(table, settings.output)
    notes = notes_on(settings, table, features)
    scaling = Scaling.fit(features.values, standardize=settings.standardise)
    scaled = scaling.apply(features.values)
    check_directions(settings, table, scaled)
    fit = run_fit(lambda: estimator.fit(scaled))
    if fit.interrupted and not hasattr(estimator, "labels_"):
        print("interrupted before there was anything to keep: nothing was written.", file=sys.stderr)
        raise KeyboardInterrupt
    summary = summarise(settings, features.names, scaling, estimator, fit.seconds)
    _write(summary, table, features, scaled)
    save_model(settings, features.names, scaling, estimator)
    if settings.report is not None:
        from modeseek.cli.page import write_clustering

        write_clustering(settings.report, settings, table, features, scaled, estimator, [*notes, *fit.notes])
    if not settings.quiet:
        show_result(summary)
    if fit.interrupted:
        _say_partial(settings)
        raise KeyboardInterrupt


def is_out_of_core(settings: Settings) -> bool:
    """Decide whether files are read in blocks."""
    if settings.out_of_core is False and len(settings.files) > 1:
        raise Problem("--in-memory takes one file: several are read in blocks, one after the other.")
    if settings.out_of_core is not None or len(settings.files) > 1:
        return settings.out_of_core is not False
    path = Path(settings.file)
    if settings.file == STANDARD_STREAM or not path.is_file():
        return False
    return path.stat().st_size > MANY_BYTES and format_of(path).chunked


def _say_partial(settings: Settings) -> None:
    asked = (settings.output, settings.json, settings.plot, settings.report, settings.save)
    named = ["standard output" if name == STANDARD_STREAM else f"'{name}'" for name in asked if name is not None]
    where = f"was written to {', '.join(named)}" if named else "is shown; -o would have written it"
    print(f"interrupted: the result so far {where}.", file=sys.stderr)


def _write(summary: Summary, table: Table, features: Features, scaled: Array) -> None:
    settings = summary.settings
    if settings.output is not None:
        write_table(
            table,
            settings.output,
            added_columns(settings, table.columns, summary.estimator),
            guard=settings.guard_formulas,
        )
    if settings.json is not None:
        write_json(settings.json, summary.record())
    if settings.plot is not None:
        draw(summary, summary.estimator, features, scaled)


def save_model(settings: Settings, columns: Sequence[str], scaling: Scaling, estimator: Any) -> None:
    """Write the model, if asked to, with what rows went through before the fit."""
    if settings.save is not None:
        from modeseek.io import save

        save(estimator, settings.save, columns=columns, scaling=scaling if settings.standardise else None)


def added_columns(settings: Settings, columns: Sequence[str], fitted: Any) -> dict[str, Any]:
    """Return the columns that are added: labels, and confidence where there is one."""
    extra: dict[str, Any] = {settings.name: fitted.labels_}
    confidence = getattr(fitted, "confidence_", None)
    if confidence is not None:
        # a column of that name in the data is not ours to replace
        extra["confidence" if "confidence" not in columns else f"{settings.name}_confidence"] = confidence
    return extra


def draw(summary: Summary, fitted: Any, features: Features, scaled: Array) -> None:
    """Write the picture of rows and of the labels that `fitted` has for them."""
    from modeseek.plots import save_clusters

    X, centers = _picture(summary, features.values, scaled)
    count = len(summary.sizes)
    save_clusters(
        str(summary.settings.plot),
        X,
        fitted.labels_,
        centers=centers if len(centers) else None,
        confidence=getattr(fitted, "confidence_", None),
        feature_names=features.names,
        title=f"{summary.settings.title}: {count:,} {'cluster' if count == 1 else 'clusters'}",
    )


def _picture(summary: Summary, X: Array, scaled: Array) -> tuple[Array, Array]:
    """Choose the coordinates to draw: the data's own where axes carry names, else those clustered."""
    fitted = np.asarray(summary.estimator.cluster_centers_, dtype=np.float64)
    if summary.settings.metric == "cosine":
        return scaled / np.linalg.norm(scaled, axis=1, keepdims=True), fitted
    return (X, summary.centers) if X.shape[1] <= 2 else (scaled, fitted)
