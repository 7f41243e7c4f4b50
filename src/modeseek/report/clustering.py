"""The page of a clustering: what was found, how sure it is, how it came about, and how to repeat it."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from html import escape
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from modeseek._storage import atomic_path, check_target, temporary_folder
from modeseek.plots.clusters import save_clusters
from modeseek.report.blocks import Block, Bullets, Heading, HtmlBlock, ImageBlock, Page
from modeseek.report.code import fit_lines
from modeseek.report.ending import ending, unfinished
from modeseek.report.html import to_html
from modeseek.report.inline import PlainText
from modeseek.report.pictures import Inlined, inline_picture
from modeseek.report.scatter import scatter
from modeseek.report.sections import clusters_section, question_section, sureness_section
from modeseek.report.subject import Subject, subject_of

__all__ = ["REPORT_SUFFIXES", "write_report"]

REPORT_SUFFIXES = (".html",)

CODE_CSS = """
.code { position: relative; margin: 1rem 0; }
.code pre { padding-right: 5.5rem; border: 1px solid var(--rule); border-radius: 5px; }
.copy { position: absolute; top: 0.45rem; right: 0.45rem; font: 0.82rem/1.4 var(--sans); }
.copy[hidden] { display: none; }
@media print { .copy { display: none; } }
"""


def write_report(
    path: str | os.PathLike[str],
    model: Any,
    X: ArrayLike,
    *,
    original: ArrayLike | None = None,
    feature_names: Sequence[str] | None = None,
    row_names: Sequence[Any] | None = None,
    extra: Mapping[str, Sequence[Any]] | None = None,
    title: str | None = None,
    asked: Mapping[str, str] | None = None,
    notes: Sequence[str] = (),
    code: str | None = None,
    first_row: int = 0,
) -> None:
    """Write a page about a clustering: one HTML file that needs no network.

    It has a picture in which rows can be pointed at, a table of clusters with what sets each apart, rows that are in
    doubt, how sure the rows are, how the clusters were chosen or the run ended, what was asked for, and the Python
    lines that repeat it. The same model and data give the same bytes. docs/report.md has more.

    Parameters
    ----------
    path : str or path-like
        The file; its ending is `.html`.
    model : fitted clusterer
        One of this library's, or any with `labels_`, where -1 is noise.
    X : array-like of shape (n, d)
        The rows that it was fitted on.
    original : array-like of shape (n, d), optional
        The same rows in their own units, where X was scaled. The page shows these.
    feature_names : sequence of str, optional
        Names of the columns; those of a DataFrame are taken from it.
    row_names : sequence, optional
        Names of the rows; the index of a DataFrame where it does more than count. Else rows are numbers.
    extra : dict of columns or pandas DataFrame, optional
        Columns that were not clustered by, to be shown with each row and counted in each cluster.
    title : str, optional
        The title; None says how many clusters there are.
    asked : dict of str to str, optional
        What was asked for, line by line, before the parameters: where the rows come from, how they were scaled.
    notes : sequence of str, optional
        Warnings and remarks.
    code : str, optional
        The Python lines; None writes those of the fit.
    first_row : int, default=0
        Number of the first row, where rows have no names.

    Raises
    ------
    DataError
        If the file cannot be written.
    ValueError
        If what is given does not belong together; the message names it.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from modeseek import ModeSeek
    >>> X, y = make_blobs(300, centers=5, cluster_std=0.6, random_state=4)
    >>> import tempfile
    >>> from pathlib import Path
    >>> path = Path(tempfile.mkdtemp(), "report.html")
    >>> write_report(path, ModeSeek(random_state=0).fit(X), X, feature_names=["width", "height"])
    >>> "300 rows fall into 5 clusters" in path.read_text(encoding="utf-8")
    True
    """
    check_target(path, REPORT_SUFFIXES)
    subject = subject_of(
        model,
        X,
        original=original,
        feature_names=feature_names,
        row_names=row_names,
        extra=extra,
        first_row=first_row,
    )
    blocks: list[Block] = [
        Heading("The rows"),
        scatter(subject, _still(subject)),
        *clusters_section(subject),
        *sureness_section(subject),
        *ending(model),
        *question_section(subject, asked or {}),
        *_remarks(notes),
        Heading("The same in Python"),
        _code(fit_lines(model) if code is None else code),
    ]
    count = len(subject.clusters)
    page = Page(PlainText(title or _clusters_in_words(count).capitalize()), _lead(subject), blocks)
    # a lone half of a character, as broken files have, is no text
    text = to_html(page, ".").encode("utf-8", "replace")
    with atomic_path(path) as part:
        part.write_bytes(text)


# ---------------------------------------- what was found


def _clusters_in_words(count: int) -> str:
    return "no cluster" if not count else "one cluster" if count == 1 else f"{count:,} clusters"


def _rows_in_words(count: int) -> str:
    return "1 row" if count == 1 else f"{count:,} rows"


def _lead(subject: Subject) -> str:
    n, count, noise = subject.n_rows, len(subject.clusters), subject.n_noise
    fall = "falls" if n - noise == 1 else "fall"
    if not count:
        parts = [f"No clusters: all {n:,} rows are noise" if n > 1 else "No cluster: the only row is noise"]
    else:
        parts = [f"{_rows_in_words(n - noise)} {fall} into {_clusters_in_words(count)}"]
        if noise:
            parts.append(f"{_rows_in_words(noise)} {'is' if noise == 1 else 'are'} noise")
    if subject.confidence is not None and count:
        doubtful = int(subject.doubtful.sum())
        are = "is" if doubtful == 1 else "are"
        parts.append(f"{_rows_in_words(doubtful) if doubtful else 'no row'} {are if doubtful else 'is'} doubtful")
    lead = [f"**{'; '.join(parts)}.**"]
    if stopped := unfinished(subject.model):
        lead.append(f"The run was {stopped}: these clusters are how far it came.")
    if count == 1 and n > 1 and (why := getattr(subject.model, "message_", "")):
        lead.append(f"{why[:1].upper()}{why[1:]}.")
    return "\n\n".join(lead)


def _remarks(notes: Sequence[str]) -> list[Block]:
    return [Heading("Notes"), Bullets([PlainText(note) for note in notes])] if notes else []


def _still(subject: Subject) -> Inlined:
    """Draw what shows where no script runs."""
    d = len(subject.features)
    with temporary_folder() as folder:
        save_clusters(
            folder / "still.png",
            subject.original if d <= 2 else subject.X,
            subject.labels,
            confidence=None if subject.confidence is None else np.clip(subject.confidence, 0, 1),
            feature_names=subject.features,
        )
        return inline_picture(ImageBlock("still", "", ""), folder)


def _code(text: str) -> HtmlBlock:
    html = (
        '<div class="code">\n<button type="button" class="copy" hidden>Copy</button>\n'
        f'<pre tabindex="0"><code>{escape(text.rstrip())}\n</code></pre>\n</div>\n'
    )
    return HtmlBlock(html, text, CODE_CSS, (files("modeseek.report") / "copy.js").read_text(encoding="utf-8"))
