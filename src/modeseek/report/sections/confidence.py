"""The section "Confidence": a histogram of the rows' confidence, and a table of the doubtful rows."""

import numpy as np

from modeseek._common.text import counted, format_value
from modeseek._common.types import Array, IntArray
from modeseek.estimators.random_chains import RandomChainClusterer
from modeseek.estimators.table import DOUBTFUL
from modeseek.report.blocks import Block, Heading, HtmlBlock, Paragraph, Swatch, TableBlock, TableCell
from modeseek.report.cluster_traits import MAX_DOUBTFUL, doubtful_rows, feature_separation, second_choices
from modeseek.report.markdown_text import PlainText
from modeseek.report.rendering import read_static, render_template
from modeseek.report.report_data import ReportData

MAX_EXTRA_COLUMNS = 2
MAX_FEATURES = 3
N_BINS = 20


def confidence_section(data: ReportData) -> list[Block]:
    """Return the histogram and the doubtful rows, or a sentence if there is no confidence."""
    heading = Heading("Confidence")
    if not data.table.n_clusters:
        return []
    if data.confidence is None:
        hint = ""
        if isinstance(data.estimator, RandomChainClusterer):
            hint = f" Several chains do: set {data.name_setting('n_chains', 8)}."
        return [heading, Paragraph(f"This fit computed no confidence for its rows.{hint}")]
    in_cluster = data.labels >= 0
    rows = doubtful_rows(data)
    blocks: list[Block] = [
        heading,
        Paragraph(
            "The confidence of a row estimates how often the row would stay in its cluster if the clustering were "
            f"repeated. The mean over all rows is {data.confidence[in_cluster].mean():.2f}."
        ),
        confidence_histogram(np.clip(data.confidence[in_cluster], 0, 1)),
        Heading("Doubtful rows", 3),
    ]
    if not len(rows):
        return [*blocks, Paragraph(f"No row has a confidence below {DOUBTFUL:g}.")]
    return [*blocks, _doubtful_table(data, rows)]


def confidence_histogram(confidence: Array) -> HtmlBlock:
    """Return a histogram of confidences in [0, 1], in which bars of doubtful rows are hollow.

    Examples
    --------
    >>> print(confidence_histogram(np.array([1.0, 0.97, 0.52])).text)
    Confidence of 3 rows: 1 from 0.50 to 0.55, 2 from 0.95 to 1.00.
    """
    # 0.75 * 20 must give bin 15 in spite of rounding
    bins = np.clip(np.floor(confidence * N_BINS + 1e-9).astype(np.intp), 0, N_BINS - 1)
    counts = np.bincount(bins, minlength=N_BINS).tolist()
    edges = [f"{k / N_BINS:.2f}" for k in range(N_BINS + 1)]
    filled = [f"{n:,} from {edges[k]} to {edges[k + 1]}" for k, n in enumerate(counts) if n]
    text = f"Confidence of {counted(len(confidence), 'row')}: {', '.join(filled)}."
    html = render_template("histogram.html.j2", counts=counts, edges=edges, text=text, limit=DOUBTFUL)
    return HtmlBlock(html, text, read_static("histogram.css"))


def _doubtful_table(data: ReportData, rows: IntArray) -> TableBlock:
    listed = rows[:MAX_DOUBTFUL]
    assert data.confidence is not None
    columns = data.extra[:MAX_EXTRA_COLUMNS]
    features = np.sort(np.argsort(-feature_separation(data), kind="stable")[:MAX_FEATURES])
    names = [data.features[j] for j in features] + [column.name for column in columns]
    header = ["row", "cluster", "confidence", "second choice", *map(PlainText, names)]
    cells: list[list[TableCell]] = []
    for i, second in zip(listed.tolist(), second_choices(data, listed), strict=True):
        other: TableCell = "—"
        if second is not None:
            swatch = data.swatches[second.cluster]
            other = Swatch(f"{swatch.text} ({second.membership:.2f})", swatch.color)
        values = [format_value(float(data.original[i, j]), float(data.scaling.factor[j])) for j in features]
        texts = map(PlainText, values + [column.cells[i] for column in columns])
        cells.append([data.row_link(i), data.swatches[data.labels[i]], f"{data.confidence[i]:.2f}", other, *texts])
    which = f"The {len(listed)} least confident of {len(rows):,} rows" if len(rows) > len(listed) else "Rows"
    caption = (
        f"{which} with a confidence below {DOUBTFUL:g}, the least confident first. Second choice: the cluster that the "
        "row would belong to instead, with the row's membership in it."
    )
    if len(features) < len(data.features):
        caption += f" Values: the {len(features)} of {len(data.features):,} features in which the clusters differ most."
    return TableBlock(header, cells, caption, stacked=True)
