"""What a page is made of. Blocks say what is on the page; how it looks is up to the writers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

__all__ = [
    "Block",
    "Bullets",
    "CellLines",
    "Details",
    "Heading",
    "HtmlBlock",
    "ImageBlock",
    "Page",
    "Paragraph",
    "RowLink",
    "Swatch",
    "TableBlock",
    "TableCell",
    "Verdict",
]

VERDICT_KINDS = ("good", "partly", "bad")


@dataclass(frozen=True)
class Heading:
    """A heading; those of levels 2 and 3 are in the contents of the page.

    A link to `#` and its text in lower case, with "-" for blanks and without punctuation, leads to it, as on GitHub.

    Attributes
    ----------
    text : str
        The heading.
    level : int
        2 to 6; the title of the page is 1.
    """

    text: str
    level: int = 2

    def __post_init__(self) -> None:
        if not 2 <= self.level <= 6:
            raise ValueError(f"level of heading {self.text!r} must be 2 to 6 (1 is the title); got {self.level}.")


@dataclass(frozen=True)
class Paragraph:
    """A paragraph; blank lines divide it into several."""

    text: str


@dataclass(frozen=True)
class Bullets:
    """A list."""

    items: Sequence[str]


@dataclass(frozen=True)
class Verdict:
    """A verdict in a table.

    Attributes
    ----------
    text : str
        What it says; it must be clear without the colour.
    kind : str
        "good", "partly" or "bad".
    """

    text: str
    kind: str

    def __post_init__(self) -> None:
        if self.kind not in VERDICT_KINDS:
            raise ValueError(
                f"kind of verdict {self.text!r} must be one of {', '.join(VERDICT_KINDS)}; got {self.kind!r}."
            )


@dataclass(frozen=True)
class Swatch:
    """A name in a table, with the colour that it has in a picture.

    Attributes
    ----------
    text : str
        The name; nothing in it is markup.
    color : str
        "#rrggbb".
    """

    text: str
    color: str

    def __post_init__(self) -> None:
        if not re.fullmatch("#[0-9a-fA-F]{6}", self.color):
            raise ValueError(f"color of swatch {self.text!r} must be '#rrggbb'; got {self.color!r}.")


@dataclass(frozen=True)
class RowLink:
    """A name in a table that leads to a place on the page.

    Attributes
    ----------
    text : str
        The name; nothing in it is markup.
    anchor : str
        The place.
    row : int
        What a script at that place is told.
    """

    text: str
    anchor: str
    row: int


@dataclass(frozen=True)
class CellLines:
    """Lines, one below the other, in one cell of a table."""

    lines: Sequence[str]


TableCell: TypeAlias = str | Verdict | Swatch | RowLink | CellLines


@dataclass(frozen=True)
class TableBlock:
    """A table; its first column names the rows.

    Attributes
    ----------
    header : sequence of str
        Names of the columns.
    rows : sequence of sequences of str, Verdict, Swatch, RowLink or CellLines
        The cells.
    caption : str
        What it shows; stands above it.
    numeric : bool
        Whether columns of numbers, after the first, are aligned on the right.
    """

    header: Sequence[str]
    rows: Sequence[Sequence[TableCell]]
    caption: str = ""
    numeric: bool = True

    def __post_init__(self) -> None:
        for i, row in enumerate(self.rows):
            if len(row) != len(self.header):
                raise ValueError(f"row {i} of the table has {len(row)} cells, but its header {len(self.header)}.")


@dataclass(frozen=True)
class ImageBlock:
    """A picture, in two files beside the page: a PNG, and an SVG if there is one.

    Attributes
    ----------
    stem : str
        The files without their endings, from the folder of the page and with "/": "figures/sparse".
    alt : str
        What is to be seen, for who cannot see it.
    caption : str
        What it shows; stands below it.
    """

    stem: str
    alt: str
    caption: str


@dataclass(frozen=True)
class Details:
    """Preformatted text, folded until its summary is clicked."""

    summary: str
    text: str


@dataclass(frozen=True)
class HtmlBlock:
    """A part of a page that is HTML already: whoever makes one has escaped what is text in it.

    Attributes
    ----------
    html : str
        What stands on the page.
    text : str
        What stands for it in Markdown.
    css : str
        Rules for it.
    script : str
        A script for it. The page lets no other run: its text is named by a digest in the page's policy.
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
        What it says in short, below the title.
    blocks : sequence of blocks
        All else, from top to bottom.
    """

    title: str
    lead: str
    blocks: Sequence[Block]
