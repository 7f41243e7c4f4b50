"""Blocks of a page: frozen values that hold the content; `rendering` turns them into HTML and Markdown.

A text is Markdown with code, bold, italic and links (see `markdown_text`); a `PlainText` is shown literally. A new kind
of block needs a class here and a macro of the same name in `templates/blocks.html.j2` and `templates/blocks.md.j2`.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

VERDICT_KINDS = ("good", "partly", "bad")


@dataclass(frozen=True)
class Heading:
    """A heading. The table of contents lists the headings of levels 2 and 3.

    Attributes
    ----------
    text : str
        The heading.
    level : int
        2 to 6; the title of the page is level 1.
    anchor : str
        Target of links to the heading. The default "" derives it from `text` by GitHub's rule: lower case, "-" for
        blanks, no punctuation.
    """

    text: str
    level: int = 2
    anchor: str = ""

    def __post_init__(self) -> None:
        if not 2 <= self.level <= 6:
            raise ValueError(f"level of heading {self.text!r} must be 2 to 6 (1 is the title); got {self.level}.")


@dataclass(frozen=True)
class Paragraph:
    """A paragraph of text; blank lines split it into several paragraphs."""

    text: str


@dataclass(frozen=True)
class Bullets:
    """A bullet list."""

    items: Sequence[str]


@dataclass(frozen=True)
class Verdict:
    """A table cell with a verdict, shown as a coloured badge.

    Attributes
    ----------
    text : str
        The verdict, literal text. It must be clear without the colour.
    kind : {"good", "partly", "bad"}
        The colour of the badge: green, yellow or red.
    """

    text: str
    kind: str

    def __post_init__(self) -> None:
        if self.kind not in VERDICT_KINDS:
            allowed = ", ".join(VERDICT_KINDS)
            raise ValueError(f"kind of verdict {self.text!r} must be one of {allowed}; got {self.kind!r}.")


@dataclass(frozen=True)
class Swatch:
    """A table cell with a name and a dot in the colour that the name has in the plot.

    Attributes
    ----------
    text : str
        The name, literal text.
    color : str
        The colour as "#rrggbb".
    """

    text: str
    color: str

    def __post_init__(self) -> None:
        if not re.fullmatch("#[0-9a-fA-F]{6}", self.color):
            raise ValueError(f"color of swatch {self.text!r} must be '#rrggbb'; got {self.color!r}.")


@dataclass(frozen=True)
class RowLink:
    """A table cell with the name of a data row, linked to its point in a plot on the same page.

    Attributes
    ----------
    text : str
        The name, literal text.
    anchor : str
        The `id` of the plot in the HTML.
    row : int
        Index of the data row, which the script of the plot reads.
    """

    text: str
    anchor: str
    row: int


@dataclass(frozen=True)
class CellLines:
    """A table cell with several lines of text."""

    lines: Sequence[str]


TableCell: TypeAlias = str | Verdict | Swatch | RowLink | CellLines


@dataclass(frozen=True)
class TableBlock:
    """A table whose first column names the rows.

    Attributes
    ----------
    header : sequence of str
        Names of the columns.
    rows : sequence of sequences of str, Verdict, Swatch, RowLink or CellLines
        The cells.
    caption : str
        Text above the table that explains it.
    numeric : bool
        Whether to right-align columns of numbers. The first column is always left-aligned.
    stacked : bool
        Whether narrow screens show the cells of each row below each other, with the names of their columns.
    """

    header: Sequence[str]
    rows: Sequence[Sequence[TableCell]]
    caption: str = ""
    numeric: bool = True
    stacked: bool = False

    def __post_init__(self) -> None:
        for i, row in enumerate(self.rows):
            if len(row) != len(self.header):
                raise ValueError(f"row {i} of the table has {len(row)} cells, but the header has {len(self.header)}.")


@dataclass(frozen=True)
class ImageBlock:
    """An image in files next to the page: a PNG, and optionally an SVG of the same name.

    Attributes
    ----------
    stem : str
        Path of the files without their suffix, relative to the folder of the page, with "/": "figures/sparse".
    alt : str
        Description of the image for readers who cannot see it.
    caption : str
        Text below the image that explains it.

    Examples
    --------
    >>> page = Page("A study", "In short.", [ImageBlock("figures/sparse", "K against N", "Mean of 20 runs.")])
    >>> page.blocks[0].stem
    'figures/sparse'
    """

    stem: str
    alt: str
    caption: str


@dataclass(frozen=True)
class Details:
    """Preformatted text that is folded until the reader clicks on its summary."""

    summary: str
    text: str


@dataclass(frozen=True)
class HtmlBlock:
    """Ready-made HTML, in which all text must already be escaped; the templates of this package do that.

    Attributes
    ----------
    html : str
        The HTML.
    text : str
        The text that replaces it in Markdown.
    css : str
        Style rules that the HTML needs.
    script : str
        JavaScript that the HTML needs. The content security policy of the page allows exactly these scripts.
    """

    html: str
    text: str
    css: str = ""
    script: str = ""


Block: TypeAlias = Heading | Paragraph | Bullets | TableBlock | ImageBlock | Details | HtmlBlock


@dataclass(frozen=True)
class Page:
    """A page.

    Attributes
    ----------
    title : str
        The title.
    lead : str
        A short summary below the title.
    blocks : sequence of blocks
        The content, from top to bottom.

    Examples
    --------
    >>> from modeseek.report import Bullets, Details, Heading, Paragraph, TableBlock, Verdict
    >>> table = TableBlock(["claim", "result"], [["K is larger", Verdict("holds", "good")]])
    >>> blocks = [Heading("Claims"), Paragraph("Two runs."), Bullets(["one", "two"]), table, Details("Log", "none")]
    >>> len(Page("A study", "In short.", blocks).blocks)
    5
    """

    title: str
    lead: str
    blocks: Sequence[Block]
