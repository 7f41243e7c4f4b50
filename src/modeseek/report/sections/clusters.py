"""The section "Clusters": a table with size, distinguishing features and typical row of each cluster."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from modeseek._common.text import format_value
from modeseek.estimators.table import Trait
from modeseek.plots.colors import NOISE_COLOR
from modeseek.prepare.scaling import fit_scaling
from modeseek.report.blocks import Block, CellLines, Heading, Swatch, TableBlock, TableCell
from modeseek.report.cluster_traits import (
    MAX_CLUSTERS,
    categorical_columns,
    composition,
    format_share,
    typical_rows,
)
from modeseek.report.markdown_text import PlainText
from modeseek.report.report_data import ReportData

SIGMA = "\N{GREEK SMALL LETTER SIGMA}"
MAX_TRAITS = 3
MAX_MEAN_VALUES = 6
MAX_EXTRA_COLUMNS = 2
MAX_VALUES_PER_COLUMN = 3


class _Column(NamedTuple):
    """A column of the table: its name, a cell for each cluster, and a sentence for the caption."""

    name: str
    cells: Sequence[TableCell]
    explanation: str = ""


def clusters_section(data: ReportData) -> list[Block]:
    """Return the table of clusters, the largest first."""
    table = data.table
    shown = table.largest(MAX_CLUSTERS).tolist()
    columns = [
        _Column("cluster", [data.swatches[c] for c in shown]),
        _Column("rows", [_size(int(table.sizes[c]), table.n_rows) for c in shown]),
        *(_description(data, shown) if shown else []),
    ]
    rows = list(zip(*(column.cells for column in columns), strict=True))
    if table.n_noise:
        rows.append((Swatch("noise", NOISE_COLOR), _size(table.n_noise, table.n_rows), *[""] * (len(columns) - 2)))
    sentences = [column.explanation for column in columns]
    if table.n_clusters > MAX_CLUSTERS:
        sentences.insert(0, f"The {MAX_CLUSTERS} largest of {table.n_clusters:,} clusters.")
    caption = " ".join(filter(None, sentences))
    return [Heading("Clusters"), TableBlock([column.name for column in columns], rows, caption, stacked=True)]


def _size(count: int, total: int) -> str:
    return f"{count:,} ({format_share(count, total)})"


def _description(data: ReportData, shown: Sequence[int]) -> list[_Column]:
    table = data.table
    columns = [_features_column(data, shown)]
    members = [np.flatnonzero(data.labels == c) for c in shown]
    for extra in categorical_columns(data)[:MAX_EXTRA_COLUMNS]:
        values = [composition(extra, rows, MAX_VALUES_PER_COLUMN) for rows in members]
        columns.append(_Column(PlainText(extra.name), [CellLines([*map(PlainText, lines)]) for lines in values]))
    if table.confidence is not None:
        means = [f"{table.confidence[c]:.2f}" for c in shown]
        columns.append(_Column("confidence", means, "Confidence: mean over the rows of the cluster."))
    if table.stability is not None and data.result is not None:
        others = "each chain" if data.result.n_chains > 1 else "partitions of random subsamples"
        text = f"Stability: mean overlap (Jaccard index) with the closest cluster of {others}; the maximum is 1. "
        text += "It falls if a cluster is split or joined with others in repeated fits; the confidence does not."
        columns.append(_Column("stability", [f"{table.stability[c]:.2f}" for c in shown], text))
    typical = typical_rows(data).tolist()
    links = [data.row_link(typical[c]) for c in shown]
    text = "Typical row: the row nearest to the mean of the cluster."
    return [*columns, _Column("typical row", links, text)]


def _features_column(data: ReportData, shown: Sequence[int]) -> _Column:
    if data.table.n_clusters == 1:
        return _Column("mean values", [_means_cell(data)], "Mean values: mean ± standard deviation.")
    traits = data.table.traits(data.scaling.factor, MAX_TRAITS)
    text = (
        "Distinguishing features: those whose mean in the cluster differs most from the mean of the other clusters. "
        f"The last number is the difference in standard deviations ({SIGMA})."
    )
    return _Column("distinguishing features", [_traits_cell(data, traits[c]) for c in shown], text)


def _traits_cell(data: ReportData, traits: Sequence[Trait]) -> TableCell:
    if not traits:
        return "no feature differs in its mean"
    lines = [
        f"{data.features[each.feature]}: {format_value(each.center, each.spread)} {'↑' if each.effect > 0 else '↓'} "
        f"(others {format_value(each.others, each.spread)}; {each.effect:+.1f}{SIGMA})"
        for each in traits
    ]
    return CellLines([*map(PlainText, lines)])


def _means_cell(data: ReportData) -> TableCell:
    rows = data.original[data.labels >= 0]
    _, means, spreads = fit_scaling("standard", rows)
    constant = np.ptp(rows, axis=0) == 0
    lines = [
        PlainText(f"{name}: {format_value(mean, spread)}" + ("" if same else f" ± {format_value(spread, spread)}"))
        for name, mean, spread, same in zip(data.features, means, spreads, constant, strict=True)
    ]
    rest = len(lines) - MAX_MEAN_VALUES
    return CellLines(lines if rest <= 0 else [*lines[:MAX_MEAN_VALUES], f"and {rest:,} more"])
