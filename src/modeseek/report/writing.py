"""A page in its two files."""

from __future__ import annotations

import os
from pathlib import Path

from modeseek._storage import atomic_path
from modeseek.report.blocks import Page
from modeseek.report.html import to_html
from modeseek.report.markdown import to_markdown

__all__ = ["write_page"]


def write_page(folder: str | os.PathLike[str], name: str, page: Page) -> None:
    """Write a page as `name.html`, which needs nothing else, and as `name.md`, which links its pictures.

    The same page and pictures give the same bytes. Nothing is written where a picture is missing.

    Parameters
    ----------
    folder : str or path-like
        The folder to write to; the pictures are there, too.
    name : str
        Name of both files, without an ending.
    page : Page
        The page.

    Raises
    ------
    DataError
        If a picture is missing or too large, or a file cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> write_page(folder, "results", Page("Results", "None yet.", []))
    >>> sorted(file.name for file in folder.iterdir())
    ['results.html', 'results.md']
    """
    texts = {".html": to_html(page, folder), ".md": to_markdown(page)}
    for suffix, text in texts.items():
        with atomic_path(Path(folder, name + suffix)) as part:
            part.write_text(text, encoding="utf-8", newline="\n")
