"""Render pages with the Jinja2 templates of this package: as a single HTML file, and as Markdown."""

import base64
import hashlib
import os
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape
from markupsafe import Markup

from modeseek._storage.atomic import atomic_path
from modeseek.report import markdown_text
from modeseek.report.blocks import CellLines, Heading, HtmlBlock, Page, TableBlock, TableCell
from modeseek.report.images import embed_image
from modeseek.report.markdown_text import to_plain

# numbers of characters: cells up to SHORT_CELL stay on one line; cells from LONG_CELL get a minimum width
SHORT_CELL = 16
LONG_CELL = 36
NOT_MEASURED = {"", "-", "\N{EN DASH}", "\N{EM DASH}", "nan", "n/a", "inf", "-inf", "∞"}
WORDS = re.compile(r"[^\W\d_]+")


def to_html(page: Page, folder: str | os.PathLike[str]) -> str:
    """Return a page as a single HTML file with its images embedded.

    Parameters
    ----------
    page : Page
        The page.
    folder : str or path-like
        The folder that the paths of images are relative to.

    Returns
    -------
    str
        The content of the file. It loads nothing from the network, and its content security policy allows no scripts
        except those of the blocks.

    Raises
    ------
    DataError
        If an image file is missing or too large.

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
    title_anchor, page = _with_anchors(page)
    html_blocks = [block for block in page.blocks if isinstance(block, HtmlBlock)]
    # several blocks may need the same rules and scripts
    scripts = list(dict.fromkeys(f"\n{block.script.strip()}\n" for block in html_blocks if block.script))
    rules = dict.fromkeys([read_static("page.css"), *(block.css for block in html_blocks)])
    return render_template(
        "page.html.j2",
        page=page,
        title_anchor=title_anchor,
        headings=[block for block in page.blocks if isinstance(block, Heading)],
        folder=folder,
        css=Markup("".join(rules)),
        scripts=[Markup(script) for script in scripts],
        digests=[base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts],
    )


def to_markdown(page: Page) -> str:
    """Return a page as GitHub's Markdown; images are links to the PNG files.

    Parameters
    ----------
    page : Page
        The page.

    Returns
    -------
    str
        The content of the file.

    Examples
    --------
    >>> from modeseek.report import Page, TableBlock, Verdict
    >>> rows = [["more is better", "0.91", Verdict("holds", "good")]]
    >>> print(to_markdown(Page("Results", "All of them.", [TableBlock(["claim", "K", "here"], rows, "What holds.")])))
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
    return render_template("page.md.j2", page=page)


def write_page(folder: str | os.PathLike[str], name: str, page: Page) -> None:
    """Write a page as a self-contained `name.html` and as `name.md`, which links to its images.

    The same page and images give the same bytes. If an image is missing, nothing is written.

    Parameters
    ----------
    folder : str or path-like
        The folder to write to, which already contains the images.
    name : str
        Name of both files, without the suffix.
    page : Page
        The page.

    Raises
    ------
    DataError
        If an image is missing or too large, or a file cannot be written.

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


def render_template(name: str, **values: Any) -> str:
    """Render a file of `templates/` with the given variables; `.html.j2` templates escape them."""
    return TEMPLATES.get_template(name).render(values)


def read_static(name: str) -> str:
    """Return the text of a file of `static/`: style rules or JavaScript."""
    return files("modeseek.report").joinpath("static", name).read_text(encoding="utf-8")


def column_alignment(table: TableBlock) -> tuple[str, ...]:
    """Return "right" for each column of numbers and "left" for the others.

    Examples
    --------
    >>> rows = [["SMS", "0.91 ± 0.02", "1,200 ms", "holds"], ["DSMS", "**0.95** [0.9, 1]", "—", "5 of 6 lines hold"]]
    >>> column_alignment(TableBlock(["line", "K", "time", "verdict"], rows))
    ('left', 'right', 'right', 'left')
    """
    columns = zip(*table.rows, strict=True) if table.rows else [()] * len(table.header)
    return tuple(
        "right" if table.numeric and j > 0 and _is_numeric(column) else "left" for j, column in enumerate(columns)
    )


def _with_anchors(page: Page) -> tuple[str, Page]:
    """Return the anchor of the title, and the page with a distinct anchor for each heading, as on GitHub."""
    seen: Counter[str] = Counter()

    def anchor(text: str) -> str:
        stem = re.sub(r"[^\w\- ]", "", to_plain(text).lower()).replace(" ", "-") or "section"
        made = f"{stem}-{seen[stem]}" if seen[stem] else stem
        seen.update({stem, made})
        return made

    title_anchor = anchor(page.title)
    blocks = [
        replace(block, anchor=block.anchor or anchor(block.text)) if isinstance(block, Heading) else block
        for block in page.blocks
    ]
    return title_anchor, replace(page, blocks=blocks)


def _cell_text(cell: TableCell) -> str:
    """Return the text of a cell without markup; if the cell has several lines, the longest line."""
    if isinstance(cell, CellLines):
        return max(map(to_plain, cell.lines), key=len, default="")
    return to_plain(cell) if isinstance(cell, str) else cell.text


def _cell_classes(cell: TableCell, alignment: str) -> str:
    if alignment == "right":
        return "number"
    length = len(_cell_text(cell))
    width = "short" if length <= SHORT_CELL else "long" if length >= LONG_CELL else ""
    return " ".join(filter(None, ["stack" if isinstance(cell, CellLines) else "", width]))


def _is_numeric(column: Sequence[TableCell]) -> bool:
    texts = [_cell_text(cell).strip() for cell in column]
    measured = [text for text in texts if text.lower() not in NOT_MEASURED]
    return bool(measured) and all(map(_is_number, measured))


def _is_number(text: str) -> bool:
    # examples: 12, ≈ 0.5, 0.91 ± 0.02, [0.9, 1), 3 of 5, 20 ms; words may have up to three letters, as units have
    return bool(re.match(r"\W*\d", text)) and all(len(word) <= 3 for word in WORDS.findall(text))


def _code_fence(text: str) -> str:
    """Return a Markdown fence that is longer than any run of backticks in the text."""
    return "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))


def _make_environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("modeseek.report"),
        autoescape=select_autoescape(["html.j2"]),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.policies["json.dumps_kwargs"] = {"ensure_ascii": False, "allow_nan": False, "separators": (",", ":")}
    environment.filters |= {
        "cell_classes": _cell_classes,
        "code_fence": _code_fence,
        "escape_markdown": markdown_text.escape_markdown,
        "html": markdown_text.to_markup,
        "kind": lambda value: type(value).__name__,
        "markdown": markdown_text.to_markdown,
        "plain": to_plain,
        "split_paragraphs": markdown_text.split_paragraphs,
    }
    environment.globals |= {"column_alignment": column_alignment, "embed_image": embed_image}
    return environment


TEMPLATES = _make_environment()
