"""How a fitted estimator shows its result: a table of clusters, in a notebook and in a terminal."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from modeseek._common.types import Array, IntArray
from modeseek.estimators.result import FitResult
from modeseek.sketches import is_dask

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["DOUBTFUL", "Displayed"]

# rows of a lower confidence are doubtful
DOUBTFUL = 0.75
# clusters that a notebook or a terminal shows
MOST_ROWS = 10


class Displayed:
    """What all estimators have to show their result with."""

    result_: FitResult

    def summary(self) -> pd.DataFrame:
        """Return the clusters as a table of pandas: one row each, noise last as -1.

        Returns
        -------
        table : DataFrame
            Indexed by the label. `size` is the number of rows, `share` that of all. `weight` is there if rows were
            weighted; `confidence` (mean), `doubtful` (rows with a confidence below 0.75) and `stability` where the
            estimator knows them. `center_` with the name of each feature is the centre, in the units of X.
        """
        check_is_fitted(self)
        try:
            import pandas as pd
        except ImportError as error:
            raise ImportError("summary() needs pandas: pip install pandas") from error
        clusters = _clusters(self.result_)
        labels = [*range(self.result_.n_clusters), *([-1] if clusters.n_noise else [])]
        table = pd.DataFrame(clusters.columns(), index=pd.Index(labels, name="cluster"))
        names = getattr(self, "feature_names_in_", None)
        if names is None:
            names = [f"x{number}" for number in range(self.result_.centers.shape[1])]
        centers = pd.DataFrame(self.result_.centers, columns=[f"center_{name}" for name in names])
        return table.join(centers.reindex(labels).rename_axis("cluster"))

    def _repr_html_inner(self) -> str:
        # scikit-learn's diagram, and below it what was found; its class has this method since 0.23
        return super()._repr_html_inner() + self._result_html()  # type: ignore[misc]

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(include=include, exclude=exclude)  # type: ignore[misc]
        if "text/html" in bundle:
            bundle["text/html"] += self._result_html()
        return bundle

    def __rich__(self) -> Any:
        """Return what `rich.print` shows: the call, how it ended, and the largest clusters."""
        from rich.console import Group
        from rich.table import Table
        from rich.text import Text

        if "result_" not in vars(self):
            return Text(repr(self))
        clusters = _clusters(self.result_)
        header, *rows = clusters.cells()
        table = Table(*header, header_style="bold")
        for column in table.columns:
            column.justify = "right"
        for row in rows:
            table.add_row(*row)
        lines = [Text(line) for line in _lines(self.result_)]
        lines[0].stylize("bold")
        return Group(Text(repr(self)), *lines, table, *(Text(line) for line in clusters.rest()))

    def _result_html(self) -> str:
        if "result_" not in vars(self):
            return ""
        clusters = _clusters(self.result_)
        first, *more = (html.escape(line) for line in _lines(self.result_))
        header, *rows = clusters.cells()
        head = "".join(f"<th>{name}</th>" for name in header)
        told = "".join(f"<div>{line}</div>" for line in more)
        body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
        rest = "".join(f"<div>{line}</div>" for line in clusters.rest())
        return (
            f'<div style="margin-top: 0.7em"><div><b>{first}</b></div>{told}'
            '<table style="text-align: right; margin: 0.3em 0; border-spacing: 0.9em 0.1em; '
            f'font-variant-numeric: tabular-nums"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{rest}'
            "</div>"
        )


class _Clusters(NamedTuple):
    """What is known of each cluster, noise last; None where nothing is."""

    sizes: IntArray
    n_noise: int
    weights: Array | None
    confidence: Array | None
    doubtful: IntArray | None
    stability: Array | None

    def columns(self) -> dict[str, Array]:
        """Return the columns of the table."""
        found = {
            "size": self.sizes,
            "share": self.sizes / self.sizes.sum(),
            "weight": self.weights,
            "confidence": self.confidence,
            "doubtful": self.doubtful,
            "stability": self.stability,
        }
        return {name: column for name, column in found.items() if column is not None}

    def cells(self) -> list[list[str]]:
        """Return a header and the largest clusters, as text."""
        shown = self.columns()
        # labels go by size, but for those of modes by their height
        order = np.argsort(-self.sizes[: self._count()], kind="stable")[:MOST_ROWS].tolist()
        noise = [self._count()] if self.n_noise else []
        rows = [
            [str(row) if row < self._count() else "noise", *(_cell(name, shown[name][row]) for name in shown)]
            for row in order + noise
        ]
        return [["cluster", *shown], *rows]

    def rest(self) -> list[str]:
        """Say how many clusters are not shown."""
        more = self._count() - MOST_ROWS
        return [f"and {more:,} smaller {'cluster' if more == 1 else 'clusters'}"] if more > 0 else []

    def _count(self) -> int:
        return len(self.sizes) - bool(self.n_noise)


def _clusters(result: FitResult) -> _Clusters:
    n, noise = result.n_clusters, [] if not result.n_noise else [result.n_noise]
    sizes = np.append(result.sizes, noise).astype(np.intp)
    weights = confidence = doubtful = stability = None
    if result.weights is not None:
        index = result.index
        rest = [index.points.weights[index.labels < 0].sum()] if noise else []
        weights = np.append(result.weights, rest)
    if result.confidence is not None and not is_dask(result.confidence):
        labels, sure = result.labels, result.confidence
        member = labels >= 0
        confidence = np.bincount(labels[member], weights=sure[member], minlength=n) / np.maximum(result.sizes, 1)
        confidence = np.append(confidence, np.full(len(noise), np.nan))  # noise has none
        doubtful = np.bincount(labels[member & (sure < DOUBTFUL)], minlength=len(sizes))
    if result.cluster_stability is not None:
        stability = np.append(result.cluster_stability, np.full(len(noise), np.nan))
    return _Clusters(sizes, result.n_noise, weights, confidence, doubtful, stability)


def _lines(result: FitResult) -> list[str]:
    """Return what was found and how the fit ended, in words."""
    n, rows = result.n_clusters, result.n_rows
    noise = f", {result.n_noise:,} of them noise" if result.n_noise else ""
    lines = [f"{n:,} {'cluster' if n == 1 else 'clusters'} in {rows:,} {'row' if rows == 1 else 'rows'}{noise}"]
    lines.append(result.message)
    if result.chain_labels is not None:
        lines.append(f"{result.n_chains} chains, stability {result.stability:.2f}")
    return lines


def _cell(name: str, value: float) -> str:
    if np.isnan(value):
        return ""
    if name == "share":
        return f"{value:.1%}"
    return f"{value:.2f}" if name in ("confidence", "stability") else f"{value:,.6g}"
