"""The parts of the page of a clustering: its clusters, how sure they are, and what was asked."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from typing import TypeAlias

import numpy as np

from modeseek._common.scaling import Scaling
from modeseek._common.types import IntArray
from modeseek._common.version import __version__
from modeseek.estimators.display import DOUBTFUL
from modeseek.plots.colors import NOISE_COLOR, palette
from modeseek.report.blocks import Block, CellLines, Details, Heading, Paragraph, RowLink, Swatch, TableBlock, TableCell
from modeseek.report.code import SILENT, changed_parameters
from modeseek.report.confidence import confidence_histogram
from modeseek.report.findings import Trait, composition, figure, of_kinds, rivals, share, traits, typical_rows
from modeseek.report.inline import PlainText
from modeseek.report.scatter import ANCHOR
from modeseek.report.subject import Subject

__all__ = ["clusters_section", "question_section", "sureness_section"]

Column: TypeAlias = tuple[str, list[TableCell]]

SIGMA = "\N{GREEK SMALL LETTER SIGMA}"
APART, VALUES = "what sets it apart", "typical values"
MOST_CLUSTERS, MOST_DOUBTFUL, MOST_TRAITS, MOST_VALUES = 40, 30, 3, 6
# of columns that were not clustered by: how many, and how many of their values
MOST_COMPOSED, MOST_KINDS, MOST_NAMES = 2, 3, 40


def clusters_section(subject: Subject) -> list[Block]:
    """Return the table of clusters, the largest first."""
    sizes, colours = subject.sizes, palette(len(subject.clusters))
    shown = np.argsort(-sizes, kind="stable")[:MOST_CLUSTERS].tolist()
    columns: list[Column] = [
        ("cluster", [Swatch(subject.clusters[c], colours[c]) for c in shown]),
        ("rows", [_size(int(sizes[c]), subject.n_rows) for c in shown]),
        *(_described(subject, shown) if shown else []),
    ]
    if subject.n_noise:
        noise: list[TableCell] = [Swatch("noise", NOISE_COLOR), _size(subject.n_noise, subject.n_rows)]
        for place, (_, column) in enumerate(columns):
            column.append(noise[place] if place < len(noise) else "")
    header = [name for name, _ in columns]
    rows = list(zip(*(column for _, column in columns), strict=True))
    return [Heading("The clusters"), TableBlock(header, rows, _about_clusters(subject, header))]


def _size(count: int, total: int) -> str:
    return f"{count:,} ({share(count, total)})"


def _row(subject: Subject, i: int) -> RowLink:
    return RowLink(subject.row(i), ANCHOR, i)


def _described(subject: Subject, shown: Sequence[int]) -> list[Column]:
    columns: list[Column] = []
    if len(subject.clusters) > 1 or subject.n_noise:
        told = traits(subject, MOST_TRAITS)
        columns.append((APART, [_apart(subject, told[c]) for c in shown]))
    else:
        columns.append((VALUES, [_values(subject)]))
    members = [np.flatnonzero(subject.labels == c) for c in shown]
    for each in of_kinds(subject)[:MOST_COMPOSED]:
        lines = [composition(each, rows, MOST_KINDS) for rows in members]
        columns.append((PlainText(each.name), [CellLines([PlainText(line) for line in told]) for told in lines]))
    if subject.confidence is not None:
        columns.append(("confidence", [f"{subject.confidence[rows].mean():.2f}" for rows in members]))
    stability = getattr(subject.model, "cluster_stability_", None)
    if stability is not None:
        columns.append(("stability", [f"{stability[c]:.2f}" for c in shown]))
    typical = typical_rows(subject)
    columns.append(("most typical row", [_row(subject, int(typical[c])) for c in shown]))
    return columns


def _about_clusters(subject: Subject, header: Container[str]) -> str:
    parts = []
    if len(subject.clusters) > MOST_CLUSTERS:
        parts.append(f"The {MOST_CLUSTERS} largest of {len(subject.clusters):,} clusters.")
    if APART in header:
        parts.append(
            "What sets a cluster apart: the features whose mean lies furthest from that of all other rows, in standard "
            f"deviations ({SIGMA})."
        )
    if VALUES in header:
        parts.append("Typical values: mean ± standard deviation.")
    if "stability" in header:
        when = "in the single chains" if hasattr(subject.model, "chain_labels_") else "when rows are taken away"
        parts.append(f"Stability: how much of the cluster comes back {when}; 1 is all of it.")
    if subject.clusters:
        parts.append("The most typical row is the one nearest to the mean of its cluster.")
    return " ".join(parts)


def _apart(subject: Subject, told: Sequence[Trait]) -> TableCell:
    if not told:
        return "no feature by its mean"
    return CellLines(
        [
            PlainText(
                f"{subject.features[each.feature]}: {figure(each.mean, each.spread)} {'↑' if each.effect > 0 else '↓'} "
                f"(others {figure(each.others, each.spread)}; {each.effect:+.1f}{SIGMA})"
            )
            for each in told
        ]
    )


def _values(subject: Subject) -> TableCell:
    means, spreads = Scaling.fit(subject.original, standardize=True)
    constant = np.ptp(subject.original, axis=0) == 0
    lines = [
        PlainText(f"{name}: {figure(mean, spread)}" + ("" if same else f" ± {figure(spread, spread)}"))
        for name, mean, spread, same in zip(subject.features, means, spreads, constant, strict=True)
    ]
    rest = len(lines) - MOST_VALUES
    return CellLines(lines if rest <= 0 else [*lines[:MOST_VALUES], f"and {rest:,} more"])


# ---------------------------------------- how sure it is


def sureness_section(subject: Subject) -> list[Block]:
    """Return what is known of how sure the rows are."""
    if not subject.clusters:
        return []
    if subject.confidence is None:
        hint = (
            " Several chains tell: `n_chains=8`, in the command `--chains 8`."
            if hasattr(subject.model, "n_chains")
            else ""
        )
        return [Heading("How sure it is"), Paragraph(f"This run has no confidence of its rows.{hint}")]
    known = subject.labels >= 0
    rows = np.flatnonzero(subject.doubtful)
    rows = rows[np.argsort(subject.confidence[rows], kind="stable")]
    blocks: list[Block] = [
        Heading("How sure it is"),
        Paragraph(
            "The confidence of a row is about how often it would keep its cluster if the work were done afresh. "
            f"On average it is {subject.confidence[known].mean():.2f}."
        ),
        confidence_histogram(np.clip(subject.confidence[known], 0, 1)),
        Heading("Doubtful rows", 3),
    ]
    if not len(rows):
        return [*blocks, Paragraph(f"No row has a confidence below {DOUBTFUL:g}.")]
    return [*blocks, _doubtful(subject, rows)]


def _doubtful(subject: Subject, rows: IntArray) -> TableBlock:
    listed = rows[:MOST_DOUBTFUL]
    assert subject.confidence is not None
    columns = subject.extra[:MOST_COMPOSED]
    others = rivals(subject, listed)
    header = ["row", "cluster", "confidence", "might be instead", *(PlainText(each.name) for each in columns)]
    cells: list[list[TableCell]] = []
    colours = palette(len(subject.clusters))
    for i, rival in zip(listed.tolist(), others, strict=True):
        own = subject.labels[i]
        instead: TableCell = "—"
        if rival is not None:
            instead = Swatch(f"{subject.clusters[rival.cluster]} ({rival.share:.2f})", colours[rival.cluster])
        cells.append(
            [
                _row(subject, i),
                Swatch(subject.clusters[own], colours[own]),
                f"{subject.confidence[i]:.2f}",
                instead,
                *(PlainText(each.cells[i]) for each in columns),
            ]
        )
    which = f"The {len(listed)} least confident of {len(rows):,} rows" if len(rows) > len(listed) else "The rows"
    caption = (
        f"{which} below {DOUBTFUL:g}, the least confident first; in brackets, how often a row went with the other."
    )
    return TableBlock(header, cells, caption)


# ---------------------------------------- what was asked


def question_section(subject: Subject, asked: Mapping[str, str]) -> list[Block]:
    """Return what was asked for."""
    model = subject.model
    lines: dict[str, str] = {
        **asked,
        "rows": f"{subject.n_rows:,}",
        "clustered by": _named(subject.features),
        "algorithm": type(model).__name__,
    }
    parameters = model.get_params(deep=False) if hasattr(model, "get_params") else {}
    settings = {key: value for key, value in parameters.items() if key not in SILENT}
    if settings:
        changed = [f"{key}={value!r}" for key, value in changed_parameters(model).items()]
        lines["parameters"] = ", ".join(changed) or "all at their defaults"
    lines["version"] = f"modeseek {__version__}"
    rows = [[key, PlainText(value)] for key, value in lines.items()]
    blocks: list[Block] = [Heading("What was asked"), TableBlock(["", ""], rows, numeric=False)]
    if settings:
        listed = "\n".join(f"{key} = {value!r}" for key, value in settings.items())
        blocks.append(Details("All parameters", listed))
    return blocks


def _named(names: Sequence[str], most: int = MOST_NAMES) -> str:
    listed = ", ".join(names[:most])
    return listed if len(names) <= most else f"{listed} and {len(names) - most:,} more; {len(names):,} in all"
