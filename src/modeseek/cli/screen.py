"""The tables that the commands print."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

from modeseek._common.text import counted
from modeseek.estimators.alternatives import nearly_chosen
from modeseek.estimators.table import DOUBTFUL
from modeseek.pipeline import Outputs, PipelineResult

if TYPE_CHECKING:
    from modeseek._common.types import Array

# rows of a table; a line below says how many are left out
MAX_ROWS = 20
# width of a pipe or a file, whose lines are not wrapped
PIPE_WIDTH = 120
# characters of the columns cluster, size and share
FIXED_WIDTH = 33
# characters of a column of a feature: at least, and the part of its border
MIN_FEATURE_WIDTH = 11
BORDER_WIDTH = 3


def make_console(*, stderr: bool) -> Console:
    """Return the console for tables: standard output, or standard error if the data go to standard output."""
    console = Console(stderr=stderr)
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = PIPE_WIDTH
    return console


def print_lines(console: Console, *lines: str, style: str = "") -> None:
    """Print lines of text that may hold square brackets."""
    for line in lines:
        console.print(Text(line, style=style), soft_wrap=True)


def print_table(console: Console, names: Sequence[str], rows: Sequence[Sequence[str]], rest: str) -> None:
    """Print the first rows of a table, and how many others there are, in the words of `rest`."""
    table = Table(header_style="bold")
    for name in names:
        table.add_column(name, justify="left" if name == "speaker" else "right", no_wrap=True)
    for row in rows[:MAX_ROWS]:
        table.add_row(*row)
    console.print(table)
    if len(rows) > MAX_ROWS:
        print_lines(console, f"and {len(rows) - MAX_ROWS:,} {rest}; --json or -o has them all")


def print_written(console: Console, *paths: str | None) -> None:
    """Print the files that were written; None and standard output are skipped."""
    written = [path for path in paths if path not in (None, "-")]
    if written:
        print_lines(console, f"written: {', '.join(map(str, written))}")


def show_result(result: PipelineResult, outputs: Outputs) -> None:
    """Print the clusters, largest first, and how they were found."""
    console = make_console(stderr="-" in (outputs.rows, outputs.json))
    table = result.clusters
    units = "centres are directions" if result.estimator.metric == "cosine" else "centres in the units of the data"
    print_lines(console, f"{table.headline}; {units}", style="bold")
    console.print(_cluster_table(result, console.width))
    if table.n_clusters > MAX_ROWS:
        print_lines(console, f"and {table.n_clusters - MAX_ROWS:,} smaller clusters; --json or -o has them all")
    if result.fit.partition is None:
        seed = result.estimator.random_state
        print_lines(console, f"modeseek: {result.fit.message}; {result.seconds:.2f} s, seed {seed}")
        if nearly := nearly_chosen(result.estimator):
            console.print(_alternatives_table(nearly))
    else:
        print_lines(console, *_run_lines(result))
    print_written(console, outputs.rows, outputs.plot, outputs.report, outputs.json, outputs.model)


def _cluster_table(result: PipelineResult, width: int) -> Table:
    clusters, columns = result.clusters, {}
    if clusters.confidence is not None and clusters.stability is not None:
        columns = {"confidence": clusters.confidence, "stability": clusters.stability}
    n_features = len(result.features)
    room = width - FIXED_WIDTH - sum(len(name) + BORDER_WIDTH for name in columns)
    fits = room // n_features >= MIN_FEATURE_WIDTH
    shown = n_features if fits else max(1, (room - MIN_FEATURE_WIDTH) // MIN_FEATURE_WIDTH)
    table = Table(header_style="bold")
    for name in ("cluster", "size", "share", *columns):
        table.add_column(name, justify="right", no_wrap=True)
    for name in result.features[:shown]:
        limit = max(room // shown, MIN_FEATURE_WIDTH) - BORDER_WIDTH
        table.add_column(Text(name), justify="right", overflow="ellipsis", no_wrap=True, max_width=limit)
    if shown < n_features:
        table.add_column(f"+{n_features - shown}", justify="right", no_wrap=True)
    for row in _rows(result, list(columns.values()), shown):
        table.add_row(*row)
    if clusters.n_noise:
        table.add_section()
        table.add_row("noise", f"{clusters.n_noise:,}", f"{clusters.n_noise / clusters.n_rows:.1%}")
    return table


def _rows(result: PipelineResult, columns: list[Array], n_features: int) -> Iterator[list[str]]:
    table = result.clusters
    for label in table.largest(MAX_ROWS):
        center = [f"{value:.4g}" for value in table.centers[label, :n_features]]
        cut = ["…"] if n_features < len(result.features) else []
        values = [f"{column[label]:.2f}" for column in columns]
        yield [str(label), f"{table.sizes[label]:,}", f"{table.shares[label]:.1%}", *values, *center, *cut]


def _alternatives_table(nearly: list) -> Table:
    table = Table(header_style="bold", box=None, pad_edge=False, padding=(0, 3, 0, 0))
    for name in ("nearly chosen", "expected agreement", "stability", "by"):
        table.add_column(name, no_wrap=True)
    for each in nearly:
        expected, stability = f"{each.expected_agreement:.2f}", f"{each.stability:.2f}"
        table.add_row(counted(each.n_clusters, "cluster"), expected, stability, each.proposer)
    return table


def _run_lines(result: PipelineResult) -> list[str]:
    fit, parameters = result.fit, result.estimator.get_params(deep=False)
    lines = [f"{result.algorithm}: {fit.outcome.value}"]
    if fit.stability is not None and result.clusters.doubtful is not None:
        doubtful = f"{result.clusters.doubtful.sum():,} rows have a confidence below {DOUBTFUL:g}"
        lines.append(f"{fit.n_chains} chains, stability {fit.stability:.2f}; {doubtful}")
    h = ", ".join(f"{name} {value:.4g}" for name, value in fit.settings.bandwidths.items())
    units = "" if result.preparer.scale == "none" else " after scaling"
    assert fit.partition is not None
    certified = ", certified" if fit.partition.certified else ", not certified"
    if fit.outcome.name == "CERTIFIED":
        certified = ""  # the first line says it
    lines.append(
        f"{h}{units}; {fit.n_updates:,} updates, engine {fit.settings.engine}{certified}, {result.seconds:.2f} s, "
        f"seed {parameters.get('random_state', 0)}"
    )
    return lines
