"""The section on known groups: how many rows of each group are in each cluster."""

from typing import Any

import numpy as np

from modeseek.report.blocks import Block, Heading, Paragraph, TableBlock, TableCell
from modeseek.report.markdown_text import PlainText
from modeseek.report.report_data import ReportData

MAX_GROUPS = 30
MAX_CLUSTERS = 20


def truth_section(data: ReportData, comparison: Any) -> list[Block]:
    """Return the figures and the cross table of a `TruthComparison`."""
    counts = np.asarray(comparison.counts)
    shown = [int(c) for c in data.table.largest(MAX_CLUSTERS)]
    names = [f"cluster {data.cluster_labels[c]}" for c in shown]
    if data.table.n_noise:
        shown, names = [*shown, counts.shape[1] - 1], [*names, "noise"]
    rows: list[list[TableCell]] = [
        [PlainText(group), *(f"{row[c]:,}" if row[c] else "" for c in shown)]
        for group, row in zip(comparison.groups[:MAX_GROUPS], counts, strict=False)
    ]
    caption = "Number of rows of each group in each cluster."
    if len(comparison.groups) > MAX_GROUPS or data.table.n_clusters > MAX_CLUSTERS:
        caption += f" At most {MAX_GROUPS} groups and {MAX_CLUSTERS} clusters are shown."
    text = PlainText(f"{comparison.headline}. Both are 1 for equal partitions and about 0 for unrelated ones.")
    return [Heading("Comparison with known groups"), Paragraph(text), TableBlock(["group", *names], rows, caption)]
