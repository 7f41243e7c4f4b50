"""What the command puts on the page of a clustering."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from modeseek._common.types import Array
from modeseek._storage import Features, Table
from modeseek.cli.settings import Settings

__all__ = ["write_clustering"]

STANDARD_STREAM = "-"
# columns that were not clustered by: shown with each row, and named
MOST_EXTRA, MOST_NAMED = 8, 40


def write_clustering(
    path: str,
    settings: Settings,
    table: Table,
    features: Features,
    scaled: Array,
    estimator: Any,
    notes: Sequence[str],
    *,
    blocks: bool = False,
) -> None:
    """Write the page, with the columns of the table that were left out, and the lines that repeat the command.

    With `blocks`, the rows are some of many that were read block by block.
    """
    from modeseek.report import chunked_fit_code, file_data_code, fit_code, write_report

    left = [j for j, name in enumerate(table.columns) if name not in features.names]
    names = {j for j in left if table.columns[j] in table.row_names}
    others = [j for j in left if j not in names]
    source = "standard input" if settings.file == STANDARD_STREAM else settings.file
    data_info = {"data": source if len(settings.files) == 1 else f"{settings.title}, {source} first"}
    if left:
        data_info["left out"] = _listed([table.columns[j] for j in left])
    data_info["scaling"] = "each feature to mean 0 and standard deviation 1" if settings.standardise else "none"
    scaling, header = settings.standardise, settings.header
    if blocks:
        code = chunked_fit_code(estimator, settings.files, features.names, standardize=scaling, header=header)
    else:
        chosen = features.names if left or settings.columns else None
        code = fit_code(estimator, file_data_code(settings.file, chosen, header=header), standardize=scaling)
    write_report(
        path,
        estimator,
        scaled,
        original=features.values,
        feature_names=features.names,
        row_names=None if not names else table.cells[min(names)].tolist(),
        extra={table.columns[j]: table.cells[j].tolist() for j in others[:MOST_EXTRA]},
        title=f"Clusters of {settings.title}",
        data_info=data_info,
        notes=notes,
        code=code,
        # as editors count, and as messages about the file do
        first_row=1,
    )


def _listed(names: Sequence[str]) -> str:
    rest = len(names) - MOST_NAMED
    return ", ".join(names[:MOST_NAMED]) + (f" and {rest:,} more" if rest > 0 else "")
