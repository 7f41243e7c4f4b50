"""Exports of a result: rows with clusters, a figure, and Python code that repeats the run."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from modeseek._storage.reading import read_bytes
from modeseek._storage.writing import write_table
from modeseek.estimators.result import FitResult
from modeseek.explorer.animated_run import AnimatedRun
from modeseek.explorer.prepared_data import PreparedData
from modeseek.explorer.run_settings import RunSettings
from modeseek.pipeline.outputs import empty_elsewhere, save_picture
from modeseek.prepare import TablePreparer
from modeseek.prepare.preparation import Prepared
from modeseek.report import fit_code
from modeseek.report.python_code import file_data_code


def file_stem(data: PreparedData) -> str:
    """Return a file name of letters, digits and hyphens, without a suffix."""
    name = data.dataset.name if data.dataset.python_source else Path(data.dataset.name).stem
    return "".join(letter if letter.isalnum() else "-" for letter in name.replace("'", "")).strip("-") or "data"


def export_labels(run: AnimatedRun, result: FitResult) -> bytes:
    """Return the table of the dataset as CSV, with added columns for the cluster and, if known, the confidence."""
    table, complete = run.data.dataset.table, run.data.complete
    extra: dict[str, Any] = {_unused_name("cluster", table.columns): empty_elsewhere(result.labels, complete)}
    if result.confidence is not None:
        extra[_unused_name("confidence", table.columns)] = empty_elsewhere(result.confidence, complete)
    return _written("labels.csv", lambda path: write_table(table, path, extra))


def export_figure(run: AnimatedRun, result: FitResult, *, suffix: str) -> bytes:
    """Return a figure of the clusters, in the format of `suffix`."""
    data, name = run.data, Path(run.data.dataset.name).name
    prepared = Prepared(data.complete, data.raw, data.X)
    return _written(f"clusters{suffix}", lambda path: save_picture(path, name, result, prepared, data.preparer))


def run_code(data: PreparedData, settings: RunSettings) -> str:
    """Return Python code that gives the same labels.

    Examples
    --------
    >>> from modeseek.explorer import load_example
    >>> data = PreparedData.select(load_example("iris (150, four features)"), ["petal width (cm)"], standardize=False)
    >>> print(run_code(data, RunSettings("stochastic mean shift", {"bandwidth": 0.6})))
    from modeseek import StochasticMeanShift
    from sklearn.datasets import load_iris
    <BLANKLINE>
    X = load_iris().data[:, [3]]
    model = StochasticMeanShift(bandwidth=0.6, random_state=0).fit(X)
    print(model.labels_)
    """
    dataset, table = data.dataset, data.dataset.table
    if dataset.python_source is None:
        return fit_code(settings.make_estimator(), file_data_code(dataset.name), data.preparer)
    import_line, expression = dataset.python_source
    if len(data.columns) < len(table.columns) - 1:  # the last column holds the known groups
        expression += f"[:, {[table.columns.index(name) for name in data.columns]}]"
    preparer = TablePreparer() if data.preparer.scale == "standard" else None
    return fit_code(settings.make_estimator(), (import_line, expression), preparer)


def _written(name: str, write: Callable[[Path], None]) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, name)
        write(path)
        return read_bytes(path)


def _unused_name(name: str, taken: tuple[str, ...]) -> str:
    candidates = [name, *(f"{name}_{number}" for number in range(2, len(taken) + 3))]
    return next(each for each in candidates if each not in taken)
