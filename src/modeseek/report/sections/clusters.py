"""The section "Clusters": a table with size, distinguishing features and typical row of each cluster."""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import TypeAlias

import numpy as np

from modeseek._common.scaling import Scaling
from modeseek.plots.colors import NOISE_COLOR, palette
from modeseek.report.blocks import Block, CellLines, Heading, RowLink, Swatch, TableBlock, TableCell
from modeseek.report.cluster_traits import (
    Trait,
    categorical_columns,
    composition,
    distinguishing_features,
    format_share,
    format_value,
    typical_rows,
)
from modeseek.report.markdown_text import PlainText
from modeseek.report.report_data import ReportData
from modeseek.report.sections.scatter import SCATTER_ANCHOR

Column: TypeAlias = tuple[str, list[TableCell]]

SIGMA = "\N{GREEK SMALL LETTER SIGMA}"
DISTINGUISHING = "distinguishing features"
MEAN_VALUES = "mean values"
MAX_CLUSTERS = 40
MAX_TRAITS = 3
MAX_MEAN_VALUES = 6
MAX_EXTRA_COLUMNS = 2
MAX_VALUES_PER_COLUMN = 3


def clusters_section(data: ReportData) -> list[Block]:
    """Return the table of clusters, the largest first."""
    sizes, colors = data.sizes, palette(data.n_clusters)
    shown = np.argsort(-sizes, kind="stable")[:MAX_CLUSTERS].tolist()
    columns: list[Column] = [
        ("cluster", [Swatch(str(data.cluster_labels[c]), colors[c]) for c in shown]),
        ("rows", [_size(int(sizes[c]), data.n_rows) for c in shown]),
        *(_description(data, shown) if shown else []),
    ]
    if data.n_noise:
        noise: list[TableCell] = [Swatch("noise", NOISE_COLOR), _size(data.n_noise, data.n_rows)]
        for (_, column), cell in zip(columns, [*noise, *[""] * len(columns)], strict=False):
            column.append(cell)
    header = [name for name, _ in columns]
    rows = list(zip(*(column for _, column in columns), strict=True))
    return [Heading("Clusters"), TableBlock(header, rows, _caption(data, header))]


def _size(count: int, total: int) -> str:
    return f"{count:,} ({format_share(count, total)})"


def _description(data: ReportData, shown: Sequence[int]) -> list[Column]:
    columns: list[Column] = []
    if data.n_clusters > 1 or data.n_noise:
        traits = distinguishing_features(data, MAX_TRAITS)
        columns.append((DISTINGUISHING, [_traits_cell(data, traits[c]) for c in shown]))
    else:
        columns.append((MEAN_VALUES, [_means_cell(data)]))
    members = [np.flatnonzero(data.labels == c) for c in shown]
    for extra in categorical_columns(data)[:MAX_EXTRA_COLUMNS]:
        values = [composition(extra, rows, MAX_VALUES_PER_COLUMN) for rows in members]
        columns.append((PlainText(extra.name), [CellLines([*map(PlainText, lines)]) for lines in values]))
    if data.confidence is not None:
        columns.append(("confidence", [f"{data.confidence[rows].mean():.2f}" for rows in members]))
    if data.result is not None and data.result.cluster_stability is not None:
        stability = data.result.cluster_stability[data.cluster_labels]
        columns.append(("stability", [f"{stability[c]:.2f}" for c in shown]))
    typical = typical_rows(data).tolist()
    links: list[TableCell] = [RowLink(data.row_name(typical[c]), SCATTER_ANCHOR, typical[c]) for c in shown]
    columns.append(("most typical row", links))
    return columns


def _caption(data: ReportData, header: Container[str]) -> str:
    parts = []
    if data.n_clusters > MAX_CLUSTERS:
        parts.append(f"The {MAX_CLUSTERS} largest of {data.n_clusters:,} clusters.")
    if DISTINGUISHING in header:
        parts.append(
            "Distinguishing features: those whose mean in the cluster differs most from the mean of all other rows. "
            f"The last number is the difference in standard deviations ({SIGMA})."
        )
    if MEAN_VALUES in header:
        parts.append("Mean values: mean ± standard deviation.")
    if "confidence" in header:
        parts.append("Confidence: mean over the rows of the cluster.")
    if "stability" in header and data.result is not None:
        others = "each chain" if data.result.n_chains > 1 else "partitions of random subsamples"
        parts.append(f"Stability: mean overlap (Jaccard index) with the closest cluster of {others}; the maximum is 1.")
    if data.n_clusters:
        parts.append("Most typical row: the row nearest to the mean of the cluster.")
    return " ".join(parts)


def _traits_cell(data: ReportData, traits: Sequence[Trait]) -> TableCell:
    if not traits:
        return "no feature differs in its mean"
    lines = [
        f"{data.features[trait.feature]}: {format_value(trait.mean, trait.spread)} {'↑' if trait.effect > 0 else '↓'} "
        f"(others {format_value(trait.others, trait.spread)}; {trait.effect:+.1f}{SIGMA})"
        for trait in traits
    ]
    return CellLines([*map(PlainText, lines)])


def _means_cell(data: ReportData) -> TableCell:
    means, spreads = Scaling.fit(data.original, standardize=True)
    constant = np.ptp(data.original, axis=0) == 0
    lines = [
        PlainText(f"{name}: {format_value(mean, spread)}" + ("" if same else f" ± {format_value(spread, spread)}"))
        for name, mean, spread, same in zip(data.features, means, spreads, constant, strict=True)
    ]
    rest = len(lines) - MAX_MEAN_VALUES
    return CellLines(lines if rest <= 0 else [*lines[:MAX_MEAN_VALUES], f"and {rest:,} more"])
