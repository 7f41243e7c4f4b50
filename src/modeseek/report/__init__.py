"""Pages: blocks of text, tables and pictures, written as HTML that needs no network and as Markdown."""

from modeseek.report.blocks import Block, Bullets, Cell, Details, Heading, Mark, Page, Paragraph, Picture, Table
from modeseek.report.code import python_lines
from modeseek.report.html import to_html
from modeseek.report.markdown import to_markdown
from modeseek.report.writing import write_page

__all__ = [
    "Block",
    "Bullets",
    "Cell",
    "Details",
    "Heading",
    "Mark",
    "Page",
    "Paragraph",
    "Picture",
    "Table",
    "python_lines",
    "to_html",
    "to_markdown",
    "write_page",
]
