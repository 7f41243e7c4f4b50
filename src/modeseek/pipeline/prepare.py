"""From columns to scaled features: the selection of columns, checks, and notes on likely mistakes."""

from collections.abc import Sequence

import numpy as np

from modeseek._common.scaling import dominant
from modeseek._common.types import Array
from modeseek._storage import DataError, Features, Table
from modeseek.pipeline.options import DataOptions, Job

# shorter columns may count up by chance
MIN_ROWS_TO_COUNT = 10


def selected_columns(data: DataOptions, table: Table) -> tuple[list[str] | None, list[str]]:
    """Return the columns to take, or None for all, and those to ignore.

    Names are split as by `split_names`.
    """
    chosen = None if data.columns is None else split_names(data.columns, table.columns)
    return chosen, split_names(data.ignore, table.columns)


def split_names(names: Sequence[str], columns: Sequence[str]) -> list[str]:
    """Return names of columns; a name with commas that is not a column is split at the commas."""
    parts = ([name] if name in columns else [part.strip() for part in name.split(",")] for name in names)
    return [part for each in parts for part in each if part]


def note_data(job: Job, table: Table, features: Features) -> None:
    """Add notes on row names, on columns that number the rows, and on a column that outweighs the others."""
    if table.row_names and not set(table.row_names) & set(features.names):
        name = table.row_names[0]
        job.note(f"column '{name}' holds row names and is not clustered; select it by name to use it", "columns", name)
    for name, column in zip(features.names, features.values.T, strict=True):
        if len(features.names) > 1 and len(column) >= MIN_ROWS_TO_COUNT and (np.diff(column) == 1).all():
            text = f"column '{name}' numbers the rows but is clustered like any other; ignore it if it is an identifier"
            job.note(text, "ignore", name)
    found = None if job.standardize or job.metric == "cosine" else dominant(features.values)
    if found is not None:
        name, ratio = features.names[found[0]], found[1]
        text = f"column '{name}' varies {ratio:,.0f} times as much as the others, so that it alone decides the clusters"
        job.note(f"{text}; scale the features if their units differ", "scale", name)


def check_directions(job: Job, table: Table, scaled: Array) -> None:
    """Raise an error with the line of the first all-zero row, if the metric is "cosine"."""
    zero = ~scaled.any(axis=1) if job.metric == "cosine" else np.zeros(1, bool)
    if zero.any():
        raise DataError(
            f"{table.source}: {table.place(int(np.argmax(zero)))} is all zeros and has no direction, which the cosine "
            "metric needs: remove the row, or use the euclidean metric."
        )
