"""The section "Python code": code that repeats the fit, with a button to copy it."""

from modeseek.report.blocks import Block, Heading, HtmlBlock
from modeseek.report.rendering import read_static, render_template


def code_section(code: str) -> list[Block]:
    """Return the section for some Python code."""
    html = render_template("code.html.j2", code=code)
    return [Heading("Python code"), HtmlBlock(html, code, read_static("code.css"), read_static("copy.js"))]
