"""`label_file`, which labels the rows of a file with a saved model."""

import os
from collections.abc import Callable

import numpy as np

from modeseek._storage.errors import DataError
from modeseek._storage.formats.registry import writable_suffixes
from modeseek._storage.input_file import STANDARD_STREAM
from modeseek._storage.reading import read_table
from modeseek._storage.writing import write_table
from modeseek.io import read_model
from modeseek.pipeline.outputs import check_label_column, check_targets, empty_elsewhere
from modeseek.prepare import Note
from modeseek.prepare.plan import unit_notes


def label_file(
    model: str | os.PathLike[str],
    source: str | os.PathLike[str],
    output: str | os.PathLike[str] = STANDARD_STREAM,
    *,
    label_column: str = "cluster",
    notify: Callable[[Note], None] | None = None,
) -> None:
    r"""Write the rows of a file with the labels that a saved model predicts for them.

    Parameters
    ----------
    model : str or path-like
        A model file, written by `cluster_file` (`Outputs.model`) or `modeseek.io.save`. The columns that the model
        needs are found by their names, and prepared as in the fit.
    source : str or path-like
        The rows; "-" reads text from standard input.
    output : str or path-like, default="-"
        The file to write; "-" writes text to standard output.
    label_column : str, default="cluster"
        Name of the column of labels.
    notify : callable, optional
        Called with a `Note` if rows have missing values, which are written without a cluster, or if the numbers of a
        column have another currency or unit than in the fit.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from modeseek import MeanShift, io
    >>> folder = Path(tempfile.mkdtemp())
    >>> io.save(MeanShift(1.0).fit([[0.0], [0.1], [5.0]]), folder / "hills.modeseek")
    >>> _ = (folder / "new.csv").write_text("x\n4.0\n0.3\n")
    >>> label_file(folder / "hills.modeseek", folder / "new.csv", folder / "labelled.csv")
    >>> (folder / "labelled.csv").read_text().split()
    ['x,cluster', '4.0,1', '0.3,0']
    """
    target = os.fspath(output)
    check_targets({"rows": (target, writable_suffixes())}, [os.fspath(source), os.fspath(model)])
    check_label_column(label_column, target)
    saved = read_model(model)
    if not saved.model.__sklearn_is_fitted__():
        raise DataError(f"'{os.fspath(model)}' holds a model that is not fitted: fit it, and save it again.")
    saved.model.set_params(verbose=0)
    table = read_table(source)
    table.check_free(label_column)
    if saved.preparer is None:
        # a model saved without a preparer: the columns are those of its feature names, or all columns in their order
        names = getattr(saved.model, "feature_names_in_", None)
        features = table.features(None if names is None else [str(each) for each in names])
        labels = saved.model.predict(features.values)
        write_table(table, target, {label_column: labels}, features=features.names)
        return
    prepared = saved.preparer.prepare(table)
    if notify is not None:
        for note in unit_notes(table, saved.preparer.preparation_.features):
            notify(note)
    labels = saved.model.predict(prepared.X) if len(prepared.X) else np.zeros(0, np.intp)
    if len(labels) < table.n_rows and notify is not None:
        without = f"{table.n_rows - len(labels):,} of {table.n_rows:,} rows"
        notify(Note(f"missing values in {without}, which get no cluster"))
    added = {label_column: empty_elsewhere(labels, prepared.complete)}
    write_table(table, target, added, features=saved.preparer.kept_columns_)
