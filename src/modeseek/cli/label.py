"""Rows of a file, labelled by a model that was saved."""

from __future__ import annotations

from pathlib import Path

from modeseek._storage import FORMATS, check_target, read_table, write_table
from modeseek.cli.settings import Problem
from modeseek.cli.steps import STANDARD_STREAM

__all__ = ["label_file"]


def label_file(model: str, file: str, output: str, name: str) -> None:
    """Write the rows of a file with the clusters that a saved model gives them."""
    from modeseek.io import read_model

    if not name:
        raise Problem("--name must not be empty: give the new column a name.")
    if output != STANDARD_STREAM:
        check_target(output, FORMATS)
        if Path(output).exists() and Path(file).exists() and Path(output).samefile(file):
            raise Problem(f"-o {output} is the file that is read: give the result another name.")
    saved = read_model(model)
    if not hasattr(saved.model, "labels_"):
        raise Problem(f"'{model}' holds a model that was never fitted: fit it, and save it again.")
    saved.model.set_params(verbose=0)
    table = read_table(file)
    table.check_free(name)
    columns = saved.columns
    if columns is None:
        # saved from Python: by name if it has names, else all columns in their order
        names = getattr(saved.model, "feature_names_in_", None)
        columns = None if names is None else tuple(str(each) for each in names)
    features = table.features(columns)
    try:
        labels = saved.predict(features.values)
    except ValueError as error:
        raise Problem(str(error)) from error
    write_table(table, output, {name: labels})
