"""Appearance of the page: assets, layouts, the colours of figures, and the button that switches them."""

from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import panel as pn
import param

# shown in place of a missing number
DASH = "\N{EN DASH}"
ASSETS = Path(__file__).parent / "assets"
# hides the label of a widget, except from screen readers
SCREEN_READER_LABEL = "label { position: absolute; clip-path: inset(50%); height: 1px; overflow: hidden; }"


def read_asset(name: str) -> str:
    """Return the text of a file in the folder `assets`."""
    return (ASSETS / name).read_text(encoding="utf-8")


def column(*parts: Any, **options: Any) -> Any:
    """Return a column that fills the width."""
    return pn.Column(*parts, sizing_mode="stretch_width", **options)


def html_pane(text: str = "", margin: Any = (2, 3)) -> Any:
    """Return a pane with HTML that fills the width."""
    return pn.pane.HTML(text, sizing_mode="stretch_width", margin=margin)


def figure_pane(plot: Any) -> Any:
    """Return a pane with a Bokeh figure that fills the width."""
    return pn.pane.Bokeh(plot, sizing_mode="stretch_width", margin=0)


def side_by_side(width: str) -> list[str]:
    """Return a stylesheet that puts the parts of a layout side by side, if each gets at least this width."""
    columns = f"repeat(auto-fit, minmax(min(100%, {width}), 1fr))"
    # the scroll button, which Panel's columns contain, would occupy a cell of the grid
    return [
        f":host {{ display: grid; gap: 0 0.4rem; grid-template-columns: {columns}; }} "
        ".scroll-button { display: none !important; }"
    ]


class FigureColors(NamedTuple):
    """Colours of a figure.

    Attributes
    ----------
    text, muted, grid : str
        Text, axes and grid lines.
    start_alpha : float
        Opacity of the initial positions.
    uncolored : str
        Points without a clump.
    run_a, run_b : str
        Lines of the two runs.
    """

    text: str
    muted: str
    grid: str
    start_alpha: float
    uncolored: str
    run_a: str
    run_b: str


LIGHT = FigureColors("#22262b", "#57606a", "#e3e6ea", 0.4, "#8b949e", "#0072b2", "#b35900")
DARK = FigureColors("#e6e9ed", "#a7b0ba", "#3a424b", 0.6, "#8b949e", "#56b4e9", "#e69f00")


class ThemeSwitch(pn.custom.JSComponent):
    """A button that switches between light and dark colours; the browser sets `dark` and stores the choice."""

    dark = param.Boolean(default=False)

    _esm = read_asset("theme_switch.js")
    _stylesheets: ClassVar[list[str]] = [read_asset("theme_switch.css")]

    @property
    def colors(self) -> FigureColors:
        """The colours of figures."""
        return DARK if self.dark else LIGHT
