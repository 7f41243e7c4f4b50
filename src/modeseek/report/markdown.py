"""A page as Markdown, as GitHub reads it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from urllib.parse import quote

from modeseek.report import inline
from modeseek.report.blocks import (
    Block,
    Bullets,
    CellLines,
    Details,
    Heading,
    HtmlBlock,
    ImageBlock,
    Page,
    Paragraph,
    RowLink,
    Swatch,
    TableBlock,
    TableCell,
    Verdict,
)
from modeseek.report.tables import right_aligned

__all__ = ["to_markdown"]


def to_markdown(page: Page) -> str:
    """Return a page as Markdown; its pictures are links to the PNG files.

    Parameters
    ----------
    page : Page
        The page.

    Returns
    -------
    str
        The text of the file.

    Examples
    --------
    >>> from modeseek.report import Verdict, Page, TableBlock
    >>> rows = [["more is better", "0.91", Verdict("holds", "good")]]
    >>> table = TableBlock(["claim", "K", "here"], rows, "What holds.")
    >>> print(to_markdown(Page("Results", "All of them.", [table])))
    # Results
    <BLANKLINE>
    All of them.
    <BLANKLINE>
    *What holds.*
    <BLANKLINE>
    | claim | K | here |
    |:--|--:|:--|
    | more is better | 0.91 | **holds** |
    <BLANKLINE>
    """
    parts = [
        f"# {inline.to_markdown(page.title, starts_line=False)}",
        _paragraphs(page.lead),
        *map(_block, page.blocks),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _block(block: Block) -> str:
    match block:
        case Heading(text, level):
            return f"{'#' * level} {inline.to_markdown(text, starts_line=False)}"
        case Paragraph(text) | HtmlBlock(_, text):
            return _paragraphs(text)
        case Bullets(items):
            return "\n".join(f"- {inline.to_markdown(item)}" for item in items)
        case TableBlock():
            return _table(block)
        case ImageBlock(stem, alt, caption):
            return f"![{inline.escaped(alt)}]({quote(stem)}.png)" + _caption("\n\n", caption, "")
        case Details(summary, text):
            fence = "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))
            folded = f"{fence}text\n{text.rstrip()}\n{fence}"
            return f"<details>\n<summary>{inline.to_html(summary)}</summary>\n\n{folded}\n\n</details>"


def _paragraphs(text: str) -> str:
    return "\n\n".join(map(inline.to_markdown, inline.paragraphs(text)))


def _caption(before: str, caption: str, after: str) -> str:
    return f"{before}*{inline.to_markdown(caption, starts_line=False)}*{after}" if caption.strip() else ""


def _table(table: TableBlock) -> str:
    rules = ["--:" if right else ":--" for right in right_aligned(table)]
    lines = [_row(table.header), f"|{'|'.join(rules)}|", *map(_row, table.rows)]
    return _caption("", table.caption, "\n\n") + "\n".join(lines)


def _row(cells: Sequence[TableCell]) -> str:
    return f"| {' | '.join(map(_cell, cells))} |"


def _cell(cell: TableCell) -> str:
    return _words(cell).replace("|", "\\|")


def _words(cell: TableCell) -> str:
    match cell:
        case Verdict(text, _):
            return f"**{inline.escaped(text)}**"
        case Swatch(text) | RowLink(text):
            return inline.escaped(text)
        case CellLines(lines):
            return "<br>".join(inline.to_markdown(line, starts_line=False) for line in lines)
        case _:
            return inline.to_markdown(cell, starts_line=False)
