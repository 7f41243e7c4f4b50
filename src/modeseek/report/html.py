"""A page as HTML: one file that needs no network, and runs no script but its own."""

from __future__ import annotations

import base64
import hashlib
import os
import re
from collections import Counter
from collections.abc import Sequence
from html import escape

from modeseek.report import inline
from modeseek.report.blocks import (
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
from modeseek.report.pictures import inline_picture
from modeseek.report.tables import right_aligned, words
from modeseek.report.theme import CSS

__all__ = ["to_html"]

HEAD = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<link rel="icon" href="data:,">
<style>{css}</style>
</head>
<body>
"""
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; {scripts}base-uri 'none'; form-action 'none'"
NUMBER = ' class="number"'
DEEPEST_LISTED, SHORT, LONG, WIDE = 3, 16, 36, 800


def to_html(page: Page, folder: str | os.PathLike[str]) -> str:
    """Return a page as HTML, with its pictures inside.

    Parameters
    ----------
    page : Page
        The page.
    folder : str or path-like
        Where its pictures are looked for.

    Returns
    -------
    str
        The text of the file.

    Raises
    ------
    DataError
        If a picture is missing or too large; the message names its file.

    Examples
    --------
    >>> from modeseek.report import Heading, Page, Paragraph
    >>> text = to_html(Page("Results", "", [Heading("Sparse data"), Paragraph("*See* <below>.")]), ".")
    >>> print(text[text.index("<main>"):])
    <main>
    <h2 id="sparse-data">Sparse data</h2>
    <p><em>See</em> &lt;below&gt;.</p>
    </main>
    </body>
    </html>
    <BLANKLINE>
    """
    title = inline.plain(page.title)
    anchors = _anchors([title, *(inline.plain(block.text) for block in page.blocks if isinstance(block, Heading))])
    of_title, *of_headings = anchors
    lead = "".join(f'<p class="lead">{inline.to_html(text)}</p>\n' for text in inline.paragraphs(page.lead))
    remaining = iter(of_headings)
    # each rule and each script once, however many parts need it
    fragments = [block for block in page.blocks if isinstance(block, HtmlBlock)]
    scripts = list(dict.fromkeys(f"\n{each.script.strip()}\n" for each in fragments if each.script))
    css = CSS + "".join(dict.fromkeys(each.css for each in fragments))
    body = "".join(
        _heading(block, next(remaining)) if isinstance(block, Heading) else _block(block, folder)
        for block in page.blocks
    )
    run = "".join(f"<script>{each}</script>\n" for each in scripts)
    return (
        HEAD.format(policy=_policy(scripts), title=escape(title), css=css)
        + f'<header>\n<h1 id="{escape(of_title)}">{inline.to_html(page.title)}</h1>\n{lead}</header>\n'
        + _contents(page, of_headings)
        + f"<main>\n{body}</main>\n{run}</body>\n</html>\n"
    )


def _policy(scripts: Sequence[str]) -> str:
    """Return the policy of a page on which these scripts run, and no other."""
    digests = [base64.b64encode(hashlib.sha256(each.encode()).digest()).decode("ascii") for each in scripts]
    allowed = " ".join(f"'sha256-{digest}'" for digest in digests)
    return POLICY.format(scripts=f"script-src {allowed}; " if scripts else "")


def _anchors(texts: list[str]) -> list[str]:
    """Return an anchor for each heading, by the rule of GitHub, so that one link serves both files."""
    anchors: list[str] = []
    seen: Counter[str] = Counter()
    for text in texts:
        stem = re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-") or "section"
        anchor = f"{stem}-{seen[stem]}" if seen[stem] else stem
        seen.update({stem, anchor})
        anchors.append(anchor)
    return anchors


def _contents(page: Page, anchors: list[str]) -> str:
    headings = [block for block in page.blocks if isinstance(block, Heading)]
    entries = [
        ('<li class="sub">' if heading.level > 2 else "<li>")
        + f'<a href="#{escape(anchor)}">{escape(inline.plain(heading.text))}</a></li>\n'
        for heading, anchor in zip(headings, anchors, strict=True)
        if heading.level <= DEEPEST_LISTED
    ]
    return f'<nav aria-label="Contents">\n<p>Contents</p>\n<ul>\n{"".join(entries)}</ul>\n</nav>\n' if entries else ""


def _heading(heading: Heading, anchor: str) -> str:
    return f'<h{heading.level} id="{escape(anchor)}">{inline.to_html(heading.text)}</h{heading.level}>\n'


def _block(
    block: Paragraph | Bullets | TableBlock | ImageBlock | Details | HtmlBlock, folder: str | os.PathLike[str]
) -> str:
    match block:
        case Paragraph(text):
            return "".join(f"<p>{inline.to_html(part)}</p>\n" for part in inline.paragraphs(text))
        case Bullets(items):
            return "<ul>\n" + "".join(f"<li>{inline.to_html(item)}</li>\n" for item in items) + "</ul>\n"
        case TableBlock():
            return _table(block)
        case ImageBlock():
            return _picture(block, folder)
        case HtmlBlock(html):
            return html
        case Details(summary, text):
            # a line break right after <pre> would be dropped, but not one after <code>
            return (
                f"<details>\n<summary>{inline.to_html(summary)}</summary>\n"
                f'<pre tabindex="0"><code>{escape(text.rstrip())}\n</code></pre>\n</details>\n'
            )


def _picture(picture: ImageBlock, folder: str | os.PathLike[str]) -> str:
    uri, width, height = inline_picture(picture, folder)
    image = f'<img src="{uri}" alt="{escape(picture.alt)}" width="{width}" height="{height}">'
    if width > WIDE:  # on a narrow screen it scrolls, as its letters would be too small
        label = escape(inline.plain(picture.caption) or picture.alt or "ImageBlock")
        image = f'<div class="scroll wide" role="region" tabindex="0" aria-label="{label}">{image}</div>'
    return f"<figure>\n{image}\n{_caption(picture.caption)}</figure>\n"


def _caption(text: str) -> str:
    return f"<figcaption>{inline.to_html(text)}</figcaption>\n" if text.strip() else ""


def _table(table: TableBlock) -> str:
    right = right_aligned(table)
    header = "".join(
        f'<th scope="col"{NUMBER if is_number else ""}>{inline.to_html(text)}</th>'
        for text, is_number in zip(table.header, right, strict=True)
    )
    # without names there is nothing to put above the columns
    header = f"<thead>\n<tr>{header}</tr>\n</thead>\n" if any(table.header) else ""
    rows = "".join(f"<tr>{_row(row, right)}</tr>\n" for row in table.rows)
    label = escape(inline.plain(table.caption) or "TableBlock")
    return (
        f'<figure class="tabular">\n{_caption(table.caption)}'
        f'<div class="scroll" role="region" tabindex="0" aria-label="{label}">\n'
        f"<table>\n{header}<tbody>\n{rows}</tbody>\n</table>\n</div>\n</figure>\n"
    )


def _row(row: Sequence[TableCell], right: Sequence[bool]) -> str:
    kinds = [_class(cell, is_number) for cell, is_number in zip(row, right, strict=True)]
    first, *others = [f"{kind}>{_cell(cell)}" for cell, kind in zip(row, kinds, strict=True)]
    return f'<th scope="row"{first}</th>' + "".join(f"<td{cell}</td>" for cell in others)


def _class(cell: TableCell, is_number: bool) -> str:
    if is_number:
        return NUMBER
    length = len(words(cell))
    # on a narrow screen short cells stay in one line, and long ones do not become towers
    kind = "short" if length <= SHORT else "long" if length >= LONG else ""
    kinds = " ".join(filter(None, ["stack" if isinstance(cell, CellLines) else "", kind]))
    return f' class="{kinds}"' if kinds else ""


def _cell(cell: TableCell) -> str:
    match cell:
        case Verdict(text, kind):
            return f'<span class="mark {kind}">{escape(text)}</span>'
        case Swatch(text, color):
            return f'<span class="swatch" style="background: {color}"></span>{escape(text)}'
        case RowLink(text, anchor, row):
            return f'<a href="#{escape(anchor)}" data-row="{row}">{escape(text)}</a>'
        case CellLines(lines):
            return "".join(f"<div>{inline.to_html(line)}</div>" for line in lines)
        case _:
            return inline.to_html(cell)
