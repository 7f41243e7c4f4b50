"""Texts of the page, as HTML. Templates and `escape` make sure that data cannot add markup."""

from collections.abc import Mapping
from html import escape
from typing import Any, NamedTuple

import numpy as np
from jinja2 import Environment, FileSystemLoader

from modeseek._common.text import counted
from modeseek._common.types import IntArray
from modeseek.estimators.result import FitResult
from modeseek.explorer.animated_run import AnimatedRun
from modeseek.explorer.page.style import ASSETS, DASH
from modeseek.explorer.prepared_data import PreparedData
from modeseek.explorer.run_thread import RunThread
from modeseek.metrics import rand_agreement

TEMPLATES = Environment(loader=FileSystemLoader(ASSETS), autoescape=True)


class KnownGroups(NamedTuple):
    """The column of known groups to compare clusters with, and its labels; both None if there are no known groups."""

    column: str | None = None
    labels: IntArray | None = None

    def agreement(self, result: FitResult | None, digits: int) -> list[str]:
        """Return the adjusted Rand index with a result; an empty list if one of them is missing."""
        if self.labels is None or result is None:
            return []
        return [f"{rand_agreement(self.labels, result.labels):.{digits}f}"]


def error(text: str) -> str:
    """Return an error as a paragraph that screen readers announce."""
    return f'<p class="error" role="alert">{escape(text)}</p>'


def note(text: str) -> str:
    """Return a message as a paragraph; an empty string for an empty text."""
    return f'<p class="note" role="status">{escape(text)}</p>' if text else ""


def status(text: str, facts: Any = (), alternatives: str | None = None) -> str:
    """Return a status line, with named values above it."""
    return TEMPLATES.get_template("status.html").render(state=text, facts=facts, alternatives=alternatives)


def data_summary(data: PreparedData) -> str:
    """Describe the loaded data and what is drawn."""
    n, d = data.X.shape
    lines = [f"{data.dataset.name}: {n:,} rows, {counted(d, 'column')} to cluster."]
    if data.sampled:
        lines.append(
            f"A random sample of {len(data.shown):,} of {n:,} points is drawn; runs use all of them. Until a run ends, "
            "the number of clumps is that of the drawn points."
        )
    if n > data.config.objective_points:
        lines.append(f"L_h is computed from {data.config.objective_points} points.")
    return "".join(f'<p class="faint">{escape(line)}</p>' for line in [*lines, *data.dataset.notes])


def run_status(thread: RunThread | None, groups: KnownGroups) -> str:
    """Describe the state of a run."""
    if thread is None:
        return ""
    if thread.failure:
        return error(thread.failure)
    run, frame = thread.run, thread.frame
    if run is None or frame is None:
        return status("Preparing the run (the first run compiles code) ...")
    agreement = [(f"ARI with '{groups.column}'", value) for value in groups.agreement(run.result, 2)]
    if not run.settings.moves:
        return _mode_seek_status(thread, run, agreement)
    facts = [
        ("clumps" if run.result is None else "clusters", f"{frame.clumps:,}"),
        ("updates", f"{frame.updates:,}"),
        ("sweeps", f"{frame.sweeps:,.0f}" if frame.sweeps >= 10 else f"{frame.sweeps:.2g}"),
        ("bandwidth", f"{frame.h:.3g}"),
        ("largest shift", "" if np.isnan(frame.shift) else f"{frame.shift:.2g}"),
        *agreement,
    ]
    if run.result is not None:
        return status(_sentence(outcome(run.result)), facts)
    several = f" Chain 1 of {run.settings.n_chains} is shown; the others run at the end."
    text = "Running." if thread.playing else "Paused."
    return status(text + (several if run.settings.n_chains > 1 else ""), facts)


def outcome(result: FitResult) -> str:
    """Return the outcome of a run as a phrase."""
    if result.n_chains == 1:
        return result.message
    return f"mean agreement of {result.n_chains} chains with their consensus {result.stability:.2f}; {result.message}"


def _mode_seek_status(thread: RunThread, run: AnimatedRun, agreement: list[tuple[str, str]]) -> str:
    result = run.result
    if result is None:
        return status("ModeSeek is running; it does not move points." if thread.playing else "Paused.")
    confidence = "" if result.confidence is None else f" Mean confidence {result.confidence.mean():.2f}."
    facts = [("clusters", f"{result.n_clusters:,}"), *agreement]
    return status(_sentence(result.message) + confidence, facts, "; ".join(map(str, run.alternatives)) or "none")


def comparison(runs: Mapping[str, AnimatedRun], groups: KnownGroups) -> str:
    """Return a table that compares two runs that have ended; an empty string if they have not."""
    results = [run.result for run in runs.values() if run.result is not None]
    if len(results) < 2:
        return ""
    rows = [
        ("algorithm", [run.settings.algorithm for run in runs.values()]),
        ("clusters", [f"{result.n_clusters:,}" for result in results]),
        ("updates", [DASH if result.n_updates is None else f"{result.n_updates:,}" for result in results]),
        ("outcome", [outcome(result) for result in results]),
    ]
    if groups.labels is not None:
        rows.append((f"ARI with column '{groups.column}'", [groups.agreement(each, 3)[0] for each in results]))
    between = rand_agreement(results[0].labels, results[1].labels)
    rows.append(("ARI between A and B", [f"{between:.3f}", ""]))
    return TEMPLATES.get_template("comparison.html").render(names=list(runs), rows=rows)


def _sentence(text: str) -> str:
    return text[0].upper() + text[1:] + "."
