"""The section "Settings": data, algorithm and parameters; and "Python code", which repeats the fit."""

from collections.abc import Mapping, Sequence

from modeseek._common.text import listed
from modeseek._common.version import __version__
from modeseek.report.blocks import Block, Details, Heading, HtmlBlock, TableBlock
from modeseek.report.markdown_text import PlainText
from modeseek.report.python_code import DISPLAY_PARAMETERS, changed_parameters
from modeseek.report.rendering import read_static, render_template
from modeseek.report.report_data import ReportData

MAX_NAMES = 40


def settings_section(data: ReportData, data_info: Mapping[str, str]) -> list[Block]:
    """Return a table of the settings, with the lines of `data_info` first."""
    parameters = data.estimator.get_params(deep=False)
    parameters = {name: value for name, value in parameters.items() if name not in DISPLAY_PARAMETERS}
    lines = {
        **data_info,
        "rows": f"{data.table.n_rows:,}",
        "features": _join_names(data.features),
        "algorithm": type(data.estimator).__name__,
    }
    if parameters:
        changed = [f"{name}={value!r}" for name, value in changed_parameters(data.estimator).items()]
        lines["parameters"] = ", ".join(changed) or "all defaults"
    lines["version"] = f"modeseek {__version__}"
    rows = [[name, PlainText(value)] for name, value in lines.items()]
    blocks: list[Block] = [Heading("Settings"), TableBlock(["", ""], rows, numeric=False)]
    if parameters:
        blocks.append(Details("All parameters", "\n".join(f"{key} = {value!r}" for key, value in parameters.items())))
    return blocks


def code_section(code: str) -> list[Block]:
    """Return the section with Python code and a button that copies it."""
    html = render_template("code.html.j2", code=code)
    return [Heading("Python code"), HtmlBlock(html, code, read_static("code.css"), read_static("copy.js"))]


def _join_names(names: Sequence[str]) -> str:
    return listed(names, MAX_NAMES) + (f"; {len(names):,} in total" if len(names) > MAX_NAMES else "")
