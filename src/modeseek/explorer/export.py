"""What can be taken away: rows with their clusters, a picture, and the Python lines that repeat the run."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from modeseek._common.scaling import Scaling
from modeseek._storage import read_bytes, write_table
from modeseek.explorer.data import Subject
from modeseek.explorer.run import Result
from modeseek.explorer.settings import Settings, estimator_of
from modeseek.plots import save_clusters
from modeseek.report import DataCode, file_data_code, fit_code

__all__ = ["labels_csv", "picture", "python_code", "stem"]


def stem(subject: Subject) -> str:
    """Return a file name without ending, from letters and digits only."""
    name = Path(subject.data.name).stem if subject.data.lines is None else subject.data.name
    return "".join(letter if letter.isalnum() else "-" for letter in name.replace("'", "")).strip("-") or "data"


def labels_csv(subject: Subject, result: Result) -> bytes:
    """Return the rows, as they came, with cluster and, where there is one, confidence."""
    table = subject.data.table
    extra: dict[str, Any] = {_free("cluster", table.columns): result.labels}
    if result.confidence is not None:
        extra[_free("confidence", table.columns)] = result.confidence
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "labels.csv")
        write_table(table, path, extra)
        return read_bytes(path)


def picture(subject: Subject, settings: Settings, result: Result, suffix: str) -> bytes:
    """Return the picture of a result as PNG or SVG."""
    X, centers = subject.X, result.centers
    if settings.metric == "cosine":
        X = X / np.linalg.norm(X, axis=1, keepdims=True)
    elif X.shape[1] <= 2:  # axes carry names, so they carry the data's own units
        X = subject.raw
        centers = Scaling.fit(subject.raw, standardize=subject.standardise).undo(centers)
    count = result.n_clusters
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"clusters{suffix}")
        save_clusters(
            path,
            X,
            result.labels,
            centers=centers if len(centers) else None,
            confidence=result.confidence,
            # a dollar begins mathematics in a picture
            feature_names=[name.replace("$", r"\$") for name in subject.columns],
            title=f"{Path(subject.data.name).name}: {count:,} {'cluster' if count == 1 else 'clusters'}".replace(
                "$", r"\$"
            ),
        )
        return read_bytes(path)


def python_code(subject: Subject, settings: Settings) -> str:
    """Return the Python lines that give the same labels.

    Examples
    --------
    >>> from modeseek.explorer import example
    >>> data = example("the paper's mixture (150 points)")
    >>> print(python_code(Subject.of(data, ["x", "y"], standardise=False), Settings("sms", bandwidth=0.6)))
    from modeseek import StochasticMeanShift
    from modeseek.datasets import paper_mixture
    <BLANKLINE>
    X = paper_mixture(50, random_state=0)[0]
    model = StochasticMeanShift(bandwidth=0.6, random_state=0).fit(X)
    print(model.labels_)
    """
    data = subject.data
    everything = tuple(name for name in data.table.columns if name not in data.table.row_names)
    columns = None if subject.columns == everything else subject.columns
    model = estimator_of(settings)
    if data.lines is None:
        return fit_code(model, file_data_code(data.name, columns), standardize=subject.standardise)
    head, expression = data.lines
    if len(subject.columns) < len(data.table.columns) - 1:  # the last column of an example holds the known groups
        expression += f"[:, {[data.table.columns.index(name) for name in subject.columns]}]"
    return fit_code(model, DataCode(head, expression), standardize=subject.standardise)


def _free(name: str, taken: tuple[str, ...]) -> str:
    number = 2
    chosen = name
    while chosen in taken:
        chosen, number = f"{name}_{number}", number + 1
    return chosen
