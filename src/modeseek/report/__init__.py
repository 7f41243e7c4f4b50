"""Pages: blocks of text, tables and pictures, written as HTML that needs no network and as Markdown."""

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
from modeseek.report.clustering import write_report
from modeseek.report.code import python_lines
from modeseek.report.html import to_html
from modeseek.report.inline import PlainText
from modeseek.report.markdown import to_markdown
from modeseek.report.writing import write_page

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
    "PlainText",
    "RowLink",
    "Swatch",
    "TableBlock",
    "TableCell",
    "Verdict",
    "python_lines",
    "to_html",
    "to_markdown",
    "write_page",
    "write_report",
]
