"""Checks of the output paths before a fit, and writing of the output files after it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, count
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from modeseek._common.sphere import unit_rows
from modeseek._common.text import counted, listed, printable
from modeseek._common.types import Array
from modeseek._storage.atomic import check_target, write_json
from modeseek._storage.formats.registry import format_of, writable_suffixes
from modeseek._storage.input_file import STANDARD_STREAM, local_path
from modeseek._storage.pyarrow_modules import pa
from modeseek._storage.table import Table
from modeseek._storage.work_folder import WorkFolder
from modeseek.estimators.result import FitResult
from modeseek.pipeline.errors import OptionError, OutputConflict
from modeseek.pipeline.options import PipelineJob
from modeseek.pipeline.result import PipelineResult, pipeline_record
from modeseek.prepare import TablePreparer
from modeseek.prepare.preparation import Prepared

# limits on columns that were not clustered: shown with each row of the report, and listed by name
MAX_EXTRA_COLUMNS = 8
MAX_NAMED_COLUMNS = 40
SCALINGS = {
    "standard": "each feature to mean 0 and standard deviation 1",
    "robust": "each feature to median 0 and the quartile range of a standard normal distribution",
    "log": "logarithms of heavily skewed features; then each feature to mean 0 and standard deviation 1",
    "none": "none",
}


def check_outputs(job: PipelineJob) -> None:
    """Raise an error if an output cannot be written, or if it would overwrite an input or another output."""
    outputs = job.outputs
    if outputs.guard_formulas and not outputs.is_text:
        raise OptionError("guard_formulas", "applies to text: write the rows to a .csv or .tsv file.")
    targets: dict[str, tuple[str | None, Iterable[str]]] = {
        "rows": (outputs.rows, writable_suffixes()),
        "json": (outputs.json, [".json"]),
    }
    # imported only if needed: matplotlib takes long to load
    if outputs.plot is not None:
        from modeseek.plots import FIGURE_SUFFIXES

        targets["plot"] = outputs.plot, FIGURE_SUFFIXES
    if outputs.report is not None:
        from modeseek.report import REPORT_SUFFIXES

        targets["report"] = outputs.report, REPORT_SUFFIXES
    if outputs.model is not None:
        from modeseek.io import MODEL_SUFFIX

        targets["model"] = outputs.model, [MODEL_SUFFIX]
    reserved = {}
    if outputs.rows not in (None, STANDARD_STREAM):
        reserved["the folder that an interrupted run leaves"] = WorkFolder(str(outputs.rows)).path
    checkpoint = job.estimator.get_params(deep=False).get("checkpoint")
    if checkpoint is not None:
        reserved["the checkpoint"] = checkpoint
    check_targets(targets, job.files, reserved)
    check_label_column(outputs.label_column, outputs.rows)


def check_label_column(name: str, path: str | None) -> None:
    """Raise an `OptionError` if the column of labels cannot have the name `name` in the file `path`."""
    if not name:
        raise OptionError("label_column", "must not be empty: give the new column a name.")
    # in arguments of a command, Python replaces bytes that are not UTF-8 by surrogates
    if re.search("[\ud800-\udfff]", name):
        raise OptionError("label_column", f"must be UTF-8 text; got {name!r}: use another name.")
    if path is not None and name in format_of(path).own_names:
        raise OptionError("label_column", f"must not be '{name}', which '{path}' needs for the rows: use another name.")


def check_targets(
    targets: Mapping[str, tuple[str | None, Iterable[str]]],
    inputs: Sequence[str | None],
    reserved: Mapping[str, str | os.PathLike[str]] = MappingProxyType({}),
) -> None:
    """Raise an error if an output cannot be written, or is the same file as another output or an input.

    Parameters
    ----------
    targets : mapping of str to (path, suffixes)
        Path and allowed suffixes of each output; paths that are None are skipped.
    inputs : sequence of str or None
        The files that are read.
    reserved : mapping of str to path, optional
        Other paths that outputs must not have; the keys describe them.
    """
    users = {os.path.realpath(path): user for user, path in reserved.items()}
    for name, (path, suffixes) in targets.items():
        if path is None:
            continue
        if path != STANDARD_STREAM:
            target = check_target(path, suffixes)
            sources = (local_path(each) for each in inputs if each is not None)
            # `samefile` also finds inputs that are links to the output
            if target.exists() and any(source.exists() and target.samefile(source) for source in sources):
                raise OutputConflict(path, name, "an input file")
        user = users.setdefault(path if path == STANDARD_STREAM else os.path.realpath(path), name)
        if user != name:
            raise OutputConflict(path, name, user)


def added_columns(
    job: PipelineJob, columns: Sequence[str], labels: Any, confidence: Any, complete: NDArray[np.bool_] | None = None
) -> dict[str, Any]:
    """Return the columns to add to the rows: labels, and confidence unless it is None.

    `complete` is true for the rows of the file that have labels; None means all. Rows without a label get empty cells.
    """
    label = job.outputs.label_column
    added = {label: labels}
    if confidence is not None:
        taken = (*columns, label)
        names = chain(["confidence", f"{label}_confidence"], (f"{label}_confidence_{n}" for n in count(2)))
        added[next(name for name in names if name not in taken)] = confidence
    if complete is None or complete.all():
        return added
    return {name: empty_elsewhere(values, complete) for name, values in added.items()}


def empty_elsewhere(values: Array, complete: NDArray[np.bool_]) -> Any:
    """Return an Arrow array with values where `complete` is true, and empty cells elsewhere."""
    whole = np.zeros(len(complete), values.dtype)
    whole[complete] = values
    return pa.array(whole, mask=~complete)


@dataclass(frozen=True, eq=False)
class Shown:
    """Rows for the picture and the report: all rows, or a sample of them.

    Attributes
    ----------
    table : Table
        The rows, with all columns.
    prepared : Prepared
        Which rows were clustered, their values in the units of the file, and their prepared values.
    estimator : estimator
        A fitted estimator with the labels of these rows.
    """

    table: Table
    prepared: Prepared
    estimator: Any

    def cells(self, column: int) -> list[Any]:
        """Return the cells of a column, for the rows that were clustered."""
        return self.table.cells[column][self.prepared.complete].tolist()


def write_extras(job: PipelineJob, result: PipelineResult, shown: Shown | None) -> None:
    """Write the JSON summary and the model; and the picture and the report, if there are rows to show."""
    outputs = job.outputs
    if outputs.json is not None:
        write_json(outputs.json, pipeline_record(job, result))
    if outputs.model is not None:
        from modeseek.io import save

        save(result.estimator, outputs.model, preparer=result.preparer)
    if shown is None:
        return
    if outputs.plot is not None:
        save_picture(str(outputs.plot), job.title, shown.estimator.result_, shown.prepared, result.preparer)
    if outputs.report is not None:
        _write_report(job, result, shown)


def save_picture(
    path: str | os.PathLike[str], name: str, fit: FitResult, prepared: Prepared, preparer: TablePreparer
) -> None:
    """Write the picture of a clustered table: one or two features in their units, or components of more."""
    from modeseek.plots import plot_clusters, save_figure
    from modeseek.plots.style import file_figure, without_math

    X, centers = prepared.X, fit.centers
    if fit.index.points.geometry.metric == "cosine":
        X = unit_rows(X)
    elif X.shape[1] <= 2:
        X, centers = prepared.values, preparer.inverse_transform(centers)
    figure = file_figure()
    plot_clusters(
        fit.labels,
        X,
        centers=centers,
        confidence=fit.confidence,
        feature_names=[without_math(each) for each in preparer.preparation_.names],
        ax=figure.subplots(),
        title=without_math(f"{name}: {counted(fit.n_clusters, 'cluster')}"),
    )
    save_figure(path, figure)


def _write_report(job: PipelineJob, result: PipelineResult, shown: Shown) -> None:
    from modeseek.report import write_report

    table, prepared = shown.table, shown.prepared
    left = [j for j, name in enumerate(table.columns) if name not in result.preparer.kept_columns_]
    names = [j for j in left if table.columns[j] in table.row_names]
    # the column of known groups comes first, to be among the columns shown
    extra = sorted((j for j in left if j not in names), key=lambda j: table.columns[j] != job.data.truth)
    extra = extra[:MAX_EXTRA_COLUMNS]
    first = "standard input" if job.files[0] == STANDARD_STREAM else printable(job.files[0])
    settings = {"data": first if len(job.files) == 1 else f"{job.title}, {first} first"}
    if result.left_out:
        settings["left out"] = listed(result.left_out, MAX_NAMED_COLUMNS)
    settings["scaling"] = SCALINGS[result.preparer.scale]
    row_names = shown.cells(names[0]) if names else None
    if row_names is None and not prepared.complete.all():
        row_names = [f"row {i + 1:,}" for i in np.flatnonzero(prepared.complete)]
    write_report(
        str(job.outputs.report),
        shown.estimator,
        prepared.X,
        original=prepared.values,
        feature_names=result.features,
        row_names=row_names,
        extra={table.columns[j]: shown.cells(j) for j in extra},
        title=f"Clusters of {job.title}",
        data_info=settings,
        notes=[note.text for note in result.notes],
        comparison=result.truth,
        code=_python_code(job, result),
        # rows are counted from 1, as in messages about the file
        first_row=1,
        name_setting=job.outputs.name_setting,
    )


def _python_code(job: PipelineJob, result: PipelineResult) -> str:
    """Return a script with the same files, columns, scaling and estimator."""
    from modeseek.report.python_code import changed_parameters, estimator_call, file_data_code, fit_code, list_literal

    if result.complete is not None:
        # the rows of standard input are gone
        file = "FILE" if job.files[0] == STANDARD_STREAM else job.files[0]
        code = fit_code(job.estimator, file_data_code(file, header=job.data.header), result.preparer)
        return code if result.complete.all() else f"{code}  # of the rows without missing values"
    options = changed_parameters(result.preparer)
    if job.data.header is not None:
        options["header"] = job.data.header
    given = ", ".join(f"{key}={value!r}" for key, value in options.items())
    source = repr(job.files[0]) if len(job.files) == 1 else list_literal(job.files)
    arguments = [source, "model", *([f"DataOptions({given})"] if given else []), "out_of_core=True"]
    return "\n".join(
        [
            f"from modeseek import {type(job.estimator).__name__}",
            f"from modeseek.pipeline import {'DataOptions, ' if given else ''}cluster_file",
            "",
            f"model = {estimator_call(job.estimator)}",
            f"result = cluster_file({', '.join(arguments)})",
            "print(result.clusters.sizes)",
        ]
    )
