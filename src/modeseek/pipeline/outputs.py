"""The checks of output paths before the work, and the files that are written after a fit."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from modeseek._common.types import Array
from modeseek._storage import FORMATS, STANDARD_STREAM, Features, Table, WorkFolder, check_target, write_json
from modeseek.pipeline.errors import OptionError, OutputConflict
from modeseek.pipeline.options import Job
from modeseek.pipeline.result import PipelineResult, pipeline_record

__all__ = ["Shown", "added_columns", "check_outputs", "write_extras"]

# columns of the file that were not clustered: number shown with each row of the report, and number named
MAX_EXTRA_COLUMNS = 8
MAX_NAMED_COLUMNS = 40


def check_outputs(job: Job) -> None:
    """Raise an error, before any work, for outputs that cannot be written or that would overwrite another file."""
    outputs = job.outputs
    if outputs.rows == outputs.json == STANDARD_STREAM:
        raise OutputConflict("standard output", "rows", "json")
    if not outputs.label_column:
        raise OptionError("label_column", "must not be empty: give the new column a name.")
    if outputs.guard_formulas and not outputs.is_text:
        raise OptionError("guard_formulas", "applies to text: write the rows to a .csv or .tsv file.")
    paths, known = outputs.paths(), _suffixes(outputs.paths())
    for name, path in paths.items():
        check_target(path, known[name])
    taken = {os.path.realpath(file): "an input file" for file in job.files}
    checkpoint = job.estimator.get_params(deep=False).get("checkpoint")
    if checkpoint is not None:
        taken[os.path.realpath(checkpoint)] = "the checkpoint"
    if "rows" in paths:
        taken[os.path.realpath(WorkFolder(paths["rows"]).path)] = "the folder that an interrupted run leaves"
    for name, path in paths.items():
        other = taken.setdefault(os.path.realpath(path), name)
        if other != name or _is_same_file(path, job.files):
            raise OutputConflict(path, name, other if other != name else "an input file")


def _suffixes(paths: dict[str, str]) -> dict[str, Sequence[str]]:
    known: dict[str, Sequence[str]] = {"rows": tuple(FORMATS), "json": [".json"]}
    # imported only if needed: matplotlib takes long to load
    if "plot" in paths:
        from modeseek.plots import FIGURE_SUFFIXES

        known["plot"] = FIGURE_SUFFIXES
    if "report" in paths:
        from modeseek.report import REPORT_SUFFIXES

        known["report"] = REPORT_SUFFIXES
    if "model" in paths:
        from modeseek.io import MODEL_SUFFIX

        known["model"] = [MODEL_SUFFIX]
    return known


def _is_same_file(path: str, files: Sequence[str]) -> bool:
    """Return whether a path is one of the files, also by a hard link."""
    target = Path(path)
    return target.exists() and any(Path(file).exists() and target.samefile(file) for file in files)


def added_columns(job: Job, columns: Sequence[str], labels: Any, confidence: Any) -> dict[str, Any]:
    """Return the columns to add to the rows: labels, and confidence unless it is None."""
    label = job.outputs.label_column
    added = {label: labels}
    if confidence is not None:
        added["confidence" if "confidence" not in columns else f"{label}_confidence"] = confidence
    return added


@dataclass(frozen=True, eq=False)
class Shown:
    """Rows for the picture and the report: all rows, or a sample of them.

    Attributes
    ----------
    table : Table
        The rows, with all columns.
    features : Features
        The columns that were clustered, in the units of the file.
    scaled : (n, d) array
        The same as clustered.
    estimator : estimator
        A fitted estimator with the labels of these rows.
    """

    table: Table
    features: Features
    scaled: Array
    estimator: Any


def write_extras(job: Job, result: PipelineResult, shown: Shown | None, *, chunked: bool = False) -> None:
    """Write the JSON summary, the model, the picture and the report."""
    outputs = job.outputs
    if outputs.json is not None:
        write_json(outputs.json, pipeline_record(job, result))
    if outputs.model is not None:
        from modeseek.io import save

        scaling = result.scaling if job.standardize else None
        save(result.estimator, outputs.model, columns=result.features, scaling=scaling)
    if outputs.plot is not None and shown is not None:
        _draw(job, result, shown)
    if outputs.report is not None and shown is not None:
        _write_report(job, result, shown, chunked=chunked)


def _draw(job: Job, result: PipelineResult, shown: Shown) -> None:
    from modeseek.plots import save_clusters

    X, centers = shown.features.values, result.clusters.centers
    if job.metric == "cosine":
        X, centers = shown.scaled / np.linalg.norm(shown.scaled, axis=1, keepdims=True), result.fit.centers
    elif X.shape[1] > 2:
        # principal components have no units of the file
        X, centers = shown.scaled, result.fit.centers
    count = len(centers)
    save_clusters(
        str(job.outputs.plot),
        X,
        shown.estimator.result_.labels,
        centers=centers if count else None,
        confidence=shown.estimator.result_.confidence,
        feature_names=shown.features.names,
        title=f"{job.title}: {count:,} {'cluster' if count == 1 else 'clusters'}",
    )


def _write_report(job: Job, result: PipelineResult, shown: Shown, *, chunked: bool) -> None:
    from modeseek.pipeline.code import python_code
    from modeseek.report import write_report

    table, features = shown.table, shown.features
    left = [j for j, name in enumerate(table.columns) if name not in features.names]
    names = [j for j in left if table.columns[j] in table.row_names]
    extra = [j for j in left if j not in names][:MAX_EXTRA_COLUMNS]
    first = "standard input" if job.files[0] == STANDARD_STREAM else job.files[0]
    settings = {"data": first if len(job.files) == 1 else f"{job.title}, {first} first"}
    if left:
        settings["left out"] = _listed([table.columns[j] for j in left])
    settings["scaling"] = "each feature to mean 0 and standard deviation 1" if job.standardize else "none"
    write_report(
        str(job.outputs.report),
        shown.estimator,
        shown.scaled,
        original=features.values,
        feature_names=features.names,
        row_names=table.cells[names[0]].tolist() if names else None,
        extra={table.columns[j]: table.cells[j].tolist() for j in extra},
        title=f"Clusters of {job.title}",
        data_info=settings,
        notes=[note.text for note in result.notes],
        code=python_code(job, features.names if chunked or left or job.data.columns else None, chunked=chunked),
        # rows are counted from 1, as in messages about the file
        first_row=1,
    )


def _listed(names: Sequence[str]) -> str:
    rest = len(names) - MAX_NAMED_COLUMNS
    return ", ".join(names[:MAX_NAMED_COLUMNS]) + (f" and {rest:,} more" if rest > 0 else "")
