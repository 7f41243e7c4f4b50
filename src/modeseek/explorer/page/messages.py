"""The page's texts, as HTML in which nothing that came from data is markup."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

import numpy as np

from modeseek._common.types import IntArray
from modeseek.explorer.data import Subject
from modeseek.explorer.history import OBJECTIVE_POINTS
from modeseek.explorer.live import Live
from modeseek.explorer.run import Run
from modeseek.explorer.settings import ALGORITHMS
from modeseek.metrics import rand_agreement

__all__ = ["DASH", "about", "comparison", "error", "facts", "note"]

# where there is no number
DASH = "\N{EN DASH}"


def error(text: str) -> str:
    """Return an error as a paragraph that a screen reader reads out."""
    return f'<p class="error" role="alert">{escape(text)}</p>'


def note(text: str) -> str:
    """Return a message as a paragraph; nothing for nothing."""
    return f'<p class="note" role="status">{escape(text)}</p>' if text else ""


def about(subject: Subject) -> str:
    """Say what was loaded, and what of it is shown."""
    n, d = subject.X.shape
    lines = [f"{subject.data.name}: {n:,} rows, {d:,} {'column' if d == 1 else 'columns'} to cluster by."]
    if subject.sampled:
        lines.append(
            f"{len(subject.shown):,} of {n:,} points are shown, drawn at random; runs work on all of them. The number "
            "of clumps is that of the points shown until a run has ended."
        )
    if n > OBJECTIVE_POINTS:
        lines.append(f"L_h is that of {OBJECTIVE_POINTS} points.")
    return "".join(f'<p class="faint">{escape(line)}</p>' for line in [*lines, *subject.data.notes])


def facts(live: Live | None, truth: IntArray | None, column: str | None) -> str:
    """Say where a run is."""
    if live is None:
        return ""
    if live.failure:
        return error(live.failure)
    if live.run is None or live.now is None:
        return '<p class="state" role="status">Looking at the data (the first time, kernels compile) ...</p>'
    run, frame = live.run, live.now
    if not run.settings.moves:
        return _of_mode_seek(live, run, _agreement(run, truth, column))
    count = "clusters" if run.result is not None else "clumps"
    known = [
        (count, f"{frame.clumps:,}"),
        ("updates", f"{frame.updates:,}"),
        ("sweeps", f"{frame.sweeps:,.0f}" if frame.sweeps >= 10 else f"{frame.sweeps:.2g}"),
        ("h now", f"{frame.h:.3g}"),
        ("largest shift", "" if np.isnan(frame.shift) else f"{frame.shift:.2g}"),
    ]
    known += _agreement(run, truth, column)
    return f'{_listed(known)}<p class="state" role="status">{escape(_state(live, run))}</p>'


def _listed(known: Sequence[tuple[str, str]]) -> str:
    items = "".join(f"<div><dt>{escape(name)}</dt><dd>{escape(value) or DASH}</dd></div>" for name, value in known)
    return f'<dl class="facts">{items}</dl>'


def _agreement(run: Run, truth: IntArray | None, column: str | None) -> list[tuple[str, str]]:
    if run.result is None or truth is None:
        return []
    return [(f"ARI to '{column}'", f"{rand_agreement(truth, run.result.labels):.2f}")]


def _state(live: Live, run: Run) -> str:
    if run.result is not None:
        text = run.result.message
        return text[0].upper() + text[1:] + "."
    several = run.settings.random and run.settings.chains > 1
    others = f" The first of {run.settings.chains} chains is shown; the others follow." if several else ""
    return ("Running." if live.playing else "Standing still.") + others


def _of_mode_seek(live: Live, run: Run, agreement: list[tuple[str, str]]) -> str:
    if run.result is None:
        text = "ModeSeek is at work; its points do not move." if live.playing else "Standing still."
        return f'<p class="state" role="status">{text}</p>'
    result = run.result
    sure = "" if result.confidence is None else f" Mean confidence {result.confidence.mean():.2f}."
    nearly = "; ".join(result.others) or "nothing else"
    return (
        f"{_listed([('clusters', f'{result.n_clusters:,}'), *agreement])}"
        f'<p class="state" role="status">{escape(result.message[0].upper() + result.message[1:])}.{sure}</p>'
        f'<p class="faint">Nearly chosen: {escape(nearly)}.</p>'
    )


def comparison(runs: Mapping[str, Run], truth: IntArray | None, column: str | None) -> str:
    """Return a table of two runs that have ended, and how far they agree."""
    results = [run.result for run in runs.values() if run.result is not None]
    if len(results) < 2:
        return ""
    rows: list[tuple[str, list[str]]] = [
        ("algorithm", [ALGORITHMS[run.settings.algorithm] for run in runs.values()]),
        ("clusters", [f"{result.n_clusters:,}" for result in results]),
        ("updates", [DASH if result.updates is None else f"{result.updates:,}" for result in results]),
        ("outcome", [result.message for result in results]),
    ]
    if truth is not None:
        rows.append((f"ARI to column '{column}'", [f"{rand_agreement(truth, each.labels):.3f}" for each in results]))
    between = rand_agreement(results[0].labels, results[1].labels)
    rows.append(("ARI between A and B", [f"{between:.3f}", ""]))
    head = "".join(f'<th scope="col">Run {name}</th>' for name in runs)
    body = "".join(
        f'<tr><th scope="row">{escape(name)}</th>' + "".join(f"<td>{escape(cell)}</td>" for cell in cells) + "</tr>"
        for name, cells in rows
    )
    return f"<table><thead><tr><td></td>{head}</tr></thead><tbody>{body}</tbody></table>"
