"""The table that the command prints."""

from __future__ import annotations

import numpy as np
from rich.console import Console
from rich.table import Table
from rich.text import Text

from modeseek.cli.summary import Summary

__all__ = ["show"]

MOST_ROWS = 20
# room that cluster, size and share take, that a feature needs at least, and its border's part of that
FIXED_WIDTH, NARROWEST, BORDER = 33, 11, 3
# rows of a lower confidence are counted
SURE = 0.75


def show(summary: Summary, console: Console) -> None:
    """Print the clusters, largest first, and how the run ended."""
    console.print(_title(summary), style="bold", soft_wrap=True)
    console.print(_table(summary, console.width))
    for line in _ending(summary):
        console.print(Text(line), soft_wrap=True)


def _table(summary: Summary, width: int) -> Table:
    n_features = len(summary.features)
    room = width - FIXED_WIDTH
    shown = n_features if room // n_features >= NARROWEST else max(1, (room - NARROWEST) // NARROWEST)
    table = Table(header_style="bold")
    for name in ("cluster", "size", "share"):
        table.add_column(name, justify="right", no_wrap=True)
    for name in summary.features[:shown]:
        # cut rather than folded: a name in pieces cannot be read
        most = max(room // shown, NARROWEST) - BORDER
        table.add_column(Text(name), justify="right", overflow="ellipsis", no_wrap=True, max_width=most)
    if shown < n_features:
        table.add_column(f"+{n_features - shown}", justify="right", no_wrap=True)
    n_rows = len(summary.labels)
    largest = np.argsort(-summary.sizes, kind="stable")[:MOST_ROWS]
    for label in largest:
        size = int(summary.sizes[label])
        centre = [f"{value:.4g}" for value in summary.centers[label, :shown]]
        rest = ["…"] if shown < n_features else []
        table.add_row(str(label), f"{size:,}", f"{size / n_rows:.1%}", *centre, *rest)
    if summary.n_noise:
        table.add_section()
        table.add_row("noise", f"{summary.n_noise:,}", f"{summary.n_noise / n_rows:.1%}")
    return table


def _title(summary: Summary) -> Text:
    count = len(summary.sizes)
    clusters = "cluster" if count == 1 else "clusters"
    rows = "row" if len(summary.labels) == 1 else "rows"
    what = "centres are directions" if summary.settings.metric == "cosine" else "centres in the data's units"
    return Text(f"{count:,} {clusters} in {len(summary.labels):,} {rows}; {what}")


def _ending(summary: Summary) -> list[str]:
    fitted = summary.estimator
    lines = []
    if len(summary.sizes) > MOST_ROWS:
        rest = len(summary.sizes) - MOST_ROWS
        lines.append(f"and {rest:,} smaller clusters; --json or -o has them all")
    lines.append(f"{summary.settings.algorithm}: {fitted.outcome_.value}")
    if summary.stability is not None:
        count, doubtful = len(fitted.chain_labels_), int((fitted.confidence_ < SURE).sum())
        lines.append(
            f"{count} chains, stability {summary.stability:.2f}; {doubtful:,} rows have a confidence below {SURE:g}"
        )
    h = ", ".join(f"{name} {value:.4g}" for name, value in summary.bandwidths.items())
    units = " after scaling" if summary.settings.standardise else ""
    # said already where the certificate is what ended the run
    said = fitted.outcome_.name == "CERTIFIED"
    certified = "" if said else ", certified" if summary.certified else ", not certified"
    lines.append(
        f"{h}{units}; {fitted.n_updates_:,} updates, engine {fitted.engine_}{certified}, "
        f"{summary.seconds:.2f} s, seed {summary.settings.seed}"
    )
    return lines
