"""The table that the command prints."""

from __future__ import annotations

import numpy as np
from rich.console import Console
from rich.table import Table
from rich.text import Text

from modeseek.cli.summary import Summary
from modeseek.estimators.table import DOUBTFUL

__all__ = ["show"]

MOST_ROWS = 20
# room that cluster, size and share take, that a feature needs at least, and its border's part of that
FIXED_WIDTH, NARROWEST, BORDER = 33, 11, 3
SURE = ("confidence", "stability")


def show(summary: Summary, console: Console) -> None:
    """Print the clusters, largest first, and how the run ended."""
    console.print(_title(summary), style="bold", soft_wrap=True)
    console.print(_table(summary, console.width))
    if len(summary.sizes) > MOST_ROWS:
        rest = len(summary.sizes) - MOST_ROWS
        console.print(f"and {rest:,} smaller clusters; --json or -o has them all", soft_wrap=True)
    chosen = hasattr(summary.estimator, "alternatives_")
    for line in [_choice(summary)] if chosen else _run(summary):
        console.print(Text(line), soft_wrap=True)
    if chosen and summary.nearly:
        console.print(_nearly(summary))


def _table(summary: Summary, width: int) -> Table:
    n_features = len(summary.features)
    sure, firm = summary.confidence, summary.cluster_stability or []
    named = () if sure is None else SURE
    room = width - FIXED_WIDTH - sum(len(name) + BORDER for name in named)
    shown = n_features if room // n_features >= NARROWEST else max(1, (room - NARROWEST) // NARROWEST)
    table = Table(header_style="bold")
    for name in ("cluster", "size", "share", *named):
        table.add_column(name, justify="right", no_wrap=True)
    for name in summary.features[:shown]:
        # cut rather than folded: a name in pieces cannot be read
        most = max(room // shown, NARROWEST) - BORDER
        table.add_column(Text(name), justify="right", overflow="ellipsis", no_wrap=True, max_width=most)
    if shown < n_features:
        table.add_column(f"+{n_features - shown}", justify="right", no_wrap=True)
    n_rows = summary.n_rows
    largest = np.argsort(-summary.sizes, kind="stable")[:MOST_ROWS]
    for label in largest:
        size = int(summary.sizes[label])
        centre = [f"{value:.4g}" for value in summary.centers[label, :shown]]
        rest = ["…"] if shown < n_features else []
        told = [] if sure is None else [f"{sure[label]:.2f}", f"{firm[label]:.2f}"]
        table.add_row(str(label), f"{size:,}", f"{size / n_rows:.1%}", *told, *centre, *rest)
    if summary.n_noise:
        table.add_section()
        table.add_row("noise", f"{summary.n_noise:,}", f"{summary.n_noise / n_rows:.1%}")
    return table


def _title(summary: Summary) -> Text:
    count = len(summary.sizes)
    clusters = "cluster" if count == 1 else "clusters"
    rows = "row" if summary.n_rows == 1 else "rows"
    what = "centres are directions" if summary.settings.metric == "cosine" else "centres in the data's units"
    return Text(f"{count:,} {clusters} in {summary.n_rows:,} {rows}; {what}")


def _choice(summary: Summary) -> str:
    return f"modeseek: {summary.estimator.message_}; {summary.seconds:.2f} s, seed {summary.settings.seed}"


def _nearly(summary: Summary) -> Table:
    table = Table(header_style="bold", box=None, pad_edge=False, padding=(0, 3, 0, 0))
    for name in ("nearly chosen", "stability", "by"):
        table.add_column(name, no_wrap=True)
    for each in summary.nearly:
        count = "1 cluster" if each.n_clusters == 1 else f"{each.n_clusters:,} clusters"
        table.add_row(count, f"{each.stability:.2f}", each.proposer)
    return table


def _run(summary: Summary) -> list[str]:
    fitted = summary.estimator
    lines = [f"{summary.settings.method_name}: {fitted.outcome_.value}"]
    if summary.stability is not None:
        count, doubtful = len(fitted.chain_labels_), summary.doubtful
        lines.append(
            f"{count} chains, stability {summary.stability:.2f}; {doubtful:,} rows have a confidence below {DOUBTFUL:g}"
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
