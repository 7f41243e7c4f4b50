"""The parts of the page of a clustering: its clusters, how sure they are, and what was asked."""

from __future__ import annotations

import sys
from collections.abc import Container, Mapping, Sequence

import numpy as np

from modeseek.estimators.base import DOUBTFUL
from modeseek.plots.colours import NOISE_COLOUR, palette
from modeseek.report.blocks import Block, Cell, Details, Heading, Paragraph, Stack, Swatch, Table
from modeseek.report.code import SILENT, changed_parameters
from modeseek.report.confidence import confidence_histogram
from modeseek.report.findings import Trait, composition, figure, rivals, share, traits, typical_rows
from modeseek.report.inline import Plain
from modeseek.report.subject import Subject
from modeseek.scaling import Scaling
from modeseek.types import IntArray

__all__ = ["clusters_section", "question_section", "sureness_section"]

APART = "what sets it apart"
MOST_CLUSTERS, MOST_DOUBTFUL, MOST_TRAITS, MOST_VALUES = 100, 30, 3, 6
# of columns that were not clustered by: how many, and how many of their values
MOST_COMPOSED, MOST_KINDS, MOST_NAMES = 2, 3, 40


def clusters_section(subject: Subject) -> list[Block]:
    """Return the table of clusters, the largest first."""
    sizes, colours = subject.sizes, palette(len(subject.clusters))
    shown = np.argsort(-sizes, kind="stable")[:MOST_CLUSTERS].tolist()
    columns: dict[str, list[Cell]] = {
        "cluster": [Swatch(subject.clusters[c], colours[c]) for c in shown],
        "rows": [f"{sizes[c]:,}" for c in shown],
        "share": [share(sizes[c], subject.n_rows) for c in shown],
        **(_described(subject, shown) if shown else {}),
    }
    if subject.n_noise:
        noise: list[Cell] = [
            Swatch("noise", NOISE_COLOUR),
            f"{subject.n_noise:,}",
            share(subject.n_noise, subject.n_rows),
        ]
        for place, column in enumerate(columns.values()):
            column.append(noise[place] if place < len(noise) else "")
    rows = list(zip(*columns.values(), strict=True))
    return [Heading("The clusters"), Table(list(columns), rows, _about_clusters(subject, columns))]


def _described(subject: Subject, shown: Sequence[int]) -> dict[str, list[Cell]]:
    columns: dict[str, list[Cell]] = {}
    if len(subject.clusters) > 1 or subject.n_noise:
        told = traits(subject, MOST_TRAITS)
        columns[APART] = [_apart(subject, told[c]) for c in shown]
    else:
        columns["typical values"] = [_values(subject)]
    composed = [composition(subject, c, MOST_COMPOSED, MOST_KINDS) for c in shown]
    if any(composed):
        columns["made up of"] = [Stack([Plain(line) for line in lines]) for lines in composed]
    if subject.confidence is not None:
        columns["confidence"] = [f"{subject.confidence[subject.labels == c].mean():.2f}" for c in shown]
    stability = getattr(subject.model, "cluster_stability_", None)
    if stability is not None:
        columns["stability"] = [f"{stability[c]:.2f}" for c in shown]
    typical = typical_rows(subject)
    columns["most typical row"] = [Plain(subject.row(int(typical[c]))) for c in shown]
    return columns


def _about_clusters(subject: Subject, header: Container[str]) -> str:
    parts = []
    if len(subject.clusters) > MOST_CLUSTERS:
        parts.append(f"The {MOST_CLUSTERS} largest of {len(subject.clusters):,} clusters.")
    if APART in header:
        parts.append(
            "What sets a cluster apart: the features whose mean lies furthest from that of all other rows, in standard "
            "deviations (sd)."
        )
    if "typical values" in header:
        parts.append("Typical values: mean ± standard deviation.")
    if "stability" in header:
        when = "in the single chains" if hasattr(subject.model, "chain_labels_") else "when rows are taken away"
        parts.append(f"Stability: how much of the cluster comes back {when}; 1 is all of it.")
    if subject.clusters:
        parts.append("The most typical row is the one nearest to the mean of its cluster.")
    return " ".join(parts)


def _apart(subject: Subject, told: Sequence[Trait]) -> Cell:
    if not told:
        return "no feature by its mean"
    return Stack(
        [
            Plain(
                f"{subject.features[each.feature]}: {figure(each.mean, each.spread)} {'↑' if each.effect > 0 else '↓'} "
                f"(others {figure(each.others, each.spread)}; {each.effect:+.1f} sd)"
            )
            for each in told
        ]
    )


def _values(subject: Subject) -> Cell:
    means, spreads = Scaling.fit(subject.original, standardise=True)
    constant = np.ptp(subject.original, axis=0) == 0
    lines = [
        Plain(f"{name}: {figure(mean, spread)}" + ("" if same else f" ± {figure(spread, spread)}"))
        for name, mean, spread, same in zip(subject.features, means, spreads, constant, strict=True)
    ]
    rest = len(lines) - MOST_VALUES
    return Stack(lines if rest <= 0 else [*lines[:MOST_VALUES], f"and {rest:,} more"])


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


def _doubtful(subject: Subject, rows: IntArray) -> Table:
    listed = rows[:MOST_DOUBTFUL]
    assert subject.confidence is not None
    columns = subject.extra[:MOST_COMPOSED]
    others = rivals(subject, listed)
    header = ["row", "cluster", "confidence", "might be instead", *(Plain(each.name) for each in columns)]
    cells: list[list[Cell]] = []
    colours = palette(len(subject.clusters))
    for i, rival in zip(listed.tolist(), others, strict=True):
        own = subject.labels[i]
        instead: Cell = "—"
        if rival is not None:
            instead = Swatch(f"{subject.clusters[rival.cluster]} ({rival.share:.2f})", colours[rival.cluster])
        cells.append(
            [
                Plain(subject.row(i)),
                Swatch(subject.clusters[own], colours[own]),
                f"{subject.confidence[i]:.2f}",
                instead,
                *(Plain(each.cells[i]) for each in columns),
            ]
        )
    which = f"The {len(listed)} least confident of {len(rows):,} rows" if len(rows) > len(listed) else "The rows"
    caption = (
        f"{which} below {DOUBTFUL:g}, the least confident first; in brackets, how often a row went with the other."
    )
    return Table(header, cells, caption)


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
    # the package is there, as this room is in it; an import of it would go up
    lines["version"] = f"modeseek {sys.modules['modeseek'].__version__}"
    rows = [[key, Plain(value)] for key, value in lines.items()]
    blocks: list[Block] = [Heading("What was asked"), Table(["", ""], rows, numeric=False)]
    if settings:
        listed = "\n".join(f"{key} = {value!r}" for key, value in settings.items())
        blocks.append(Details("All parameters", listed))
    return blocks


def _named(names: Sequence[str], most: int = MOST_NAMES) -> str:
    listed = ", ".join(names[:most])
    return listed if len(names) <= most else f"{listed} and {len(names) - most:,} more; {len(names):,} in all"
