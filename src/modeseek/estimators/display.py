"""Display of fitted estimators: a table of clusters in notebooks, in terminals and as a DataFrame."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from modeseek._common.text import counted
from modeseek.estimators.result import FitResult, FittedMixin
from modeseek.estimators.table import ClusterTable

if TYPE_CHECKING:
    import pandas as pd

# largest number of clusters that a notebook or a terminal shows
MAX_CLUSTERS = 10


class DisplayMixin(FittedMixin):
    """Table and representations of a fitted estimator."""

    def summary(self) -> pd.DataFrame:
        """Return a table of the clusters, one row for each. Requires pandas.

        Returns
        -------
        table : pandas.DataFrame
            Indexed by the label; noise is the last row, -1. `size` is the number of rows in the cluster and `share`
            their share of all rows. `weight` is the total sample weight, if rows have weights. `confidence` is the mean
            confidence, `doubtful` the number of rows with a confidence below 0.75, and `stability` the stability of the
            cluster, if the estimator computes them. The other columns are the coordinates of the centre in the units of
            X; their names are `center_` and the name of the feature.
        """
        check_is_fitted(self)
        return ClusterTable.of(self.result_).to_pandas(vars(self).get("feature_names_in_"))

    def _repr_html_inner(self) -> str:
        # scikit-learn calls this method in `_repr_html_`
        return super()._repr_html_inner() + self._result_html()  # type: ignore[misc]

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(include=include, exclude=exclude)  # type: ignore[misc]
        if "text/html" in bundle:
            bundle["text/html"] += self._result_html()
        return bundle

    def __rich__(self) -> Any:
        """Return what `rich.print` shows: the parameters, how the fit ended, and the largest clusters."""
        from rich.console import Group
        from rich.table import Table
        from rich.text import Text

        if "result_" not in vars(self):
            return Text(repr(self))
        title, lines, (header, *rows), rest = _texts(self.result_)
        table = Table(*header, header_style="bold")
        for column in table.columns:
            column.justify = "right"
        for row in rows:
            table.add_row(*row)
        return Group(Text(repr(self)), Text(title, style="bold"), *map(Text, lines), table, *map(Text, rest))

    def _result_html(self) -> str:
        if "result_" not in vars(self):
            return ""
        title, lines, (header, *rows), rest = _texts(self.result_)

        def divisions(texts: list[str]) -> str:
            return "".join(f"<div>{html.escape(text)}</div>" for text in texts)

        head = "".join(f"<th>{name}</th>" for name in header)
        body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
        return (
            f'<div style="margin-top: 0.7em"><div><b>{html.escape(title)}</b></div>{divisions(lines)}'
            '<table style="text-align: right; margin: 0.3em 0; border-spacing: 0.9em 0.1em; '
            f'font-variant-numeric: tabular-nums"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'
            f"{divisions(rest)}</div>"
        )


def _texts(result: FitResult) -> tuple[str, list[str], list[list[str]], list[str]]:
    """Return a title, lines about the fit, the cells of the table with its header, and lines below the table."""
    table = ClusterTable.of(result)
    lines = [result.message]
    if result.chain_labels is not None:
        lines.append(f"{result.n_chains} chains, stability {result.stability:.2f}")
    columns, n = table.columns(), table.n_clusters
    shown = [*table.largest(MAX_CLUSTERS).tolist(), *([n] if table.n_noise else [])]
    rows = [
        [str(row) if row < n else "noise", *(_cell(name, values[row]) for name, values in columns.items())]
        for row in shown
    ]
    more = n - MAX_CLUSTERS
    rest = [f"and {counted(more, 'smaller cluster')}"] if more > 0 else []
    return table.headline, lines, [["cluster", *columns], *rows], rest


def _cell(name: str, value: float) -> str:
    if np.isnan(value):
        return ""
    if name == "share":
        return f"{value:.1%}"
    return f"{value:.2f}" if name in ("confidence", "stability") else f"{value:,.6g}"
