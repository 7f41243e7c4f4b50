"""The HTML report of a clustering, and pages of text, tables and images; more blocks are in `report.blocks`."""

from modeseek.report.blocks import Block, Bullets, Details, Heading, ImageBlock, Page, Paragraph, TableBlock, Verdict
from modeseek.report.clustering_report import REPORT_SUFFIXES, write_report
from modeseek.report.markdown_text import PlainText
from modeseek.report.python_code import fit_code
from modeseek.report.rendering import to_html, to_markdown, write_page

__all__ = [
    "REPORT_SUFFIXES",
    "Block",
    "Bullets",
    "Details",
    "Heading",
    "ImageBlock",
    "Page",
    "Paragraph",
    "PlainText",
    "TableBlock",
    "Verdict",
    "fit_code",
    "to_html",
    "to_markdown",
    "write_page",
    "write_report",
]
