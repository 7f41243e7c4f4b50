"""The tables that the commands print."""

from __future__ import annotations

import os
from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from modeseek._common.text import counted, format_value, listed
from modeseek.estimators.alternatives import listed_alternatives
from modeseek.estimators.table import DOUBTFUL, ClusterTable, Trait
from modeseek.pipeline import Outputs, PipelineResult
from modeseek.pipeline.result_notes import stretched_features
from modeseek.pipeline.truth import TruthComparison

# rows of a table; a line below says how many are left out
MAX_ROWS = 20
# width of a pipe or a file, whose lines are not wrapped
PIPE_WIDTH = 120
# characters of the border of a column
BORDER_WIDTH = 3
# characters of the column that describes clusters, at least; features shown for a cluster, and for a single one
MIN_TRAIT_WIDTH = 20
MAX_TRAITS = 3
MAX_MEANS = 8
# printed if the two figures of a cluster seem to disagree
STABILITY = "stability falls if a cluster is split or joined with others in repeated fits; confidence does not"


def make_console(*, stderr: bool) -> Console:
    """Return the console for tables: standard output, or standard error if the data go to standard output."""
    console = Console(stderr=stderr)
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = PIPE_WIDTH
    return console


def print_lines(console: Console, *lines: str, style: str = "") -> None:
    """Print lines of text that may hold square brackets; a terminal wraps them between words."""
    for line in lines:
        console.print(Text(line, style=style), soft_wrap=not console.is_terminal)


def print_table(console: Console, names: Sequence[str], rows: Sequence[Sequence[str]], rest: str) -> None:
    """Print the first rows of a table, and the number of the other rows, which the text `rest` names."""
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
    units = "; centres are directions" if result.estimator.metric == "cosine" else ""
    print_lines(console, f"{table.headline}{units}", style="bold")
    print_lines(console, f"{counted(len(result.features), 'feature')}: {listed(result.features)}")
    console.print(_cluster_table(result, console.width))
    if table.n_clusters > MAX_ROWS:
        print_lines(console, f"and {table.n_clusters - MAX_ROWS:,} smaller clusters; --json or -o has them all")
    if _is_unstable(table):
        print_lines(console, STABILITY)
    if result.truth is not None:
        print_lines(console, result.truth.headline)
        console.print(_cross_table(result.truth, bool(table.n_noise), console.width))
    if result.fit.partition is None:
        seed = result.estimator.random_state
        print_lines(console, f"modeseek: {result.fit.message}; {result.seconds:.2f} s, seed {seed}")
        print_lines(console, *_next_steps(result))
    else:
        print_lines(console, *_run_lines(result))
    print_written(console, outputs.rows, outputs.plot, outputs.report, outputs.json, outputs.model)


def _is_unstable(clusters: ClusterTable) -> bool:
    """Return whether a cluster has a low stability in spite of a high confidence."""
    if clusters.confidence is None or clusters.stability is None:
        return False
    return bool(((clusters.stability < DOUBTFUL) & (clusters.confidence >= DOUBTFUL)).any())


def _cluster_table(result: PipelineResult, width: int) -> Table:
    """Return the sizes of the clusters, and the features that set each apart from the others."""
    clusters = result.clusters
    shown = clusters.largest(MAX_ROWS)
    cells = {
        "cluster": [*map(str, shown), *(["noise"] if clusters.n_noise else [])],
        "size": [f"{size:,}" for size in [*clusters.sizes[shown], clusters.n_noise]],
        "share": [f"{share:.1%}" for share in [*clusters.shares[shown], clusters.n_noise / clusters.n_rows]],
    }
    if clusters.confidence is not None and clusters.stability is not None:
        cells["confidence"] = [f"{each:.2f}" for each in clusters.confidence[shown]]
        cells["stability"] = [f"{each:.2f}" for each in clusters.stability[shown]]
    widths = {name: max(map(len, [name, *column])) + BORDER_WIDTH for name, column in cells.items()}
    # a narrow terminal has no room for the last columns
    while len(cells) > 2 and sum(widths[name] for name in cells) + MIN_TRAIT_WIDTH + BORDER_WIDTH + 1 > width:
        cells.popitem()
    table = Table(header_style="bold")
    for name in cells:
        table.add_column(name, justify="right", no_wrap=True)
    one = clusters.n_clusters == 1
    table.add_column("mean values" if one else "what sets it apart", overflow="ellipsis", no_wrap=True)
    room = max(MIN_TRAIT_WIDTH, width - sum(widths[name] for name in cells) - BORDER_WIDTH - 1)
    most = MAX_TRAITS if clusters.n_clusters <= MAX_ROWS // 2 else 1
    traits = clusters.traits(result.preparer.spreads_, most)
    for i, label in enumerate(shown):
        lines = Text("\n".join(_means(result, room) if one else _traits(result, traits[label], room)))
        table.add_row(*(column[i] for column in cells.values()), lines)
    if clusters.n_noise:
        table.add_section()
        table.add_row(*(column[-1] for name, column in cells.items() if name in ("cluster", "size", "share")))
    return table


def _traits(result: PipelineResult, traits: list[Trait], room: int) -> list[str]:
    """Return the features that set a cluster apart, with its centre in units of the data."""
    lines = [
        _named_value(result.features[each.feature], each.center, each.spread, room, "↑ " if each.effect > 0 else "↓ ")
        for each in traits
    ]
    return lines or ["no feature differs"]


def _means(result: PipelineResult, room: int) -> list[str]:
    """Return the mean values of a single cluster."""
    columns = zip(result.features, result.clusters.centers[0], result.preparer.spreads_, strict=True)
    lines = [_named_value(name, float(mean), float(spread), room) for name, mean, spread in columns]
    rest = len(lines) - MAX_MEANS
    return [*lines[:MAX_MEANS], f"and {rest:,} more"] if rest > 0 else lines


def _named_value(name: str, value: float, spread: float, room: int, arrow: str = "") -> str:
    text = f" {arrow}{format_value(value, spread)}"
    return (name if len(name) + len(text) <= room else f"{name[: room - len(text) - 1]}…") + text


def _cross_table(truth: TruthComparison, noise: bool, width: int) -> Table:
    table = Table(header_style="bold")
    table.add_column(Text(truth.column), no_wrap=True, overflow="ellipsis", max_width=24)
    n_clusters = truth.counts.shape[1] - noise
    shown = list(range(min(n_clusters, max(1, (width - 40) // 7))))
    for c in shown:
        table.add_column(str(c), justify="right", no_wrap=True)
    if noise:
        table.add_column("noise", justify="right", no_wrap=True)
        shown.append(n_clusters)
    for group, row in zip(truth.groups[:MAX_ROWS], truth.counts, strict=False):
        table.add_row(Text(group), *(f"{row[c]:,}" if row[c] else "" for c in shown))
    if len(shown) < truth.counts.shape[1] or len(truth.groups) > MAX_ROWS:
        table.caption = "truncated; --json has all groups and clusters"
    return table


def _next_steps(result: PipelineResult) -> list[str]:
    """Return the alternatives, and what to try if there is one cluster or few rows are complete."""
    lines, steps = [], []
    for each in listed_alternatives(result.estimator):
        count, agreement = each.n_clusters, f"expected agreement {each.expected_agreement:.2f}"
        lines.append(f"  {counted(count, 'cluster')} ({agreement}): --n-clusters {count}")
    if lines:
        lines.insert(0, "alternatives:")
    dropped = result.preparer.n_dropped_
    if dropped > result.clusters.n_rows:
        steps.append(f"--missing median to cluster the {dropped:,} rows with missing values")
    if result.fit.n_clusters == 1 and len(result.fit.index.points.values) > 1:
        steps.append("--min-clusters 2 for the best partition into two or more clusters")
        if any((note.option, note.value) == ("scale", "log") for note in result.notes):
            steps.append("--scale log for the skewed columns")
        stretched = stretched_features(result.fit, result.preparer)
        if stretched:
            steps.append(f"--scale robust, because a few extreme values determine the scale of {listed(stretched)}")
        if len(result.features) > 1:
            steps.append("--columns A,B for fewer columns")
    if steps:
        lines.append(f"to look further: {'; '.join(steps)}")
    return lines


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
