"""Shared style of the theory figures: axes, colours, legends and number formats."""

from typing import Literal, TypeAlias

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullLocator

from modeseek.plots import style
from modeseek.plots.colors import MUTED_COLOR, TEXT_COLOR, palette

Place: TypeAlias = Literal["upper left", "upper right", "lower left", "center", "center right"]
_BLUE, _ORANGE, _GREEN, _PINK, _, _RED, _ = palette(7)
# the same colours in all figures
COLORS = {
    "shrinking": _BLUE,
    "walk": _RED,
    "h_min": _ORANGE,
    "h_max": _GREEN,
    "inside": "#D0D0D0",
    "certificate": _GREEN,
    "shifts": _PINK,
    "diameter": _ORANGE,
    "gap": _BLUE,
    "bound": _RED,
}
DASHES = (0, (4, 3))
NAMES = {"walk": "walk (Algorithm 1b)", "shrinking": "shrinking (our reading)"}


def new_figure(width: float, height: float) -> Figure:
    """Return an empty figure of the given size in inches."""
    return Figure(figsize=(width, height), layout="constrained")


def policy_panels(width: float, height: float) -> tuple[Figure, dict[str, Axes]]:
    """Return a figure with a panel for each policy, side by side."""
    figure = new_figure(width, height)
    return figure, dict(zip(NAMES, figure.subplots(1, len(NAMES), sharey=True), strict=True))


def style_panel(ax: Axes, *, x: str = "", y: str = "", title: str = "") -> None:
    """Apply the style of the theory figures to axes, and add labels and a title at the left."""
    style.style_axes(ax, x_label=x, y_label=y)
    if title:  # smaller than the title of a figure with one panel
        ax.set_title(title, loc="left", color=TEXT_COLOR, fontsize="medium", fontweight="bold")


def heading(figure: Figure, text: str) -> None:
    """Put a heading over the whole figure."""
    figure.suptitle(text, x=0.01, ha="left", color=TEXT_COLOR, fontsize="large", fontweight="bold")


def legend(ax: Axes, *, place: Place = "upper left") -> None:
    """Add a small legend without a border."""
    made = ax.legend(loc=place, labelcolor=TEXT_COLOR, fontsize="small", framealpha=0.85)
    made.get_frame().set_edgecolor("none")


def title_right(ax: Axes, text: str, color: str = TEXT_COLOR) -> None:
    """Put a small title at the right of axes."""
    ax.set_title(text, loc="right", fontsize="small", color=color)


def dashed_line(ax: Axes, height: float, label: str | None = None) -> None:
    """Draw a thin dashed horizontal line."""
    ax.axhline(height, color=MUTED_COLOR, linewidth=0.9, linestyle=DASHES, label=label)


def plain_numbers(ax: Axes, axis: str, ticks: list[float]) -> None:
    """Put ticks at the given values, as plain numbers instead of powers of ten."""
    target = ax.xaxis if axis == "x" else ax.yaxis
    target.set_ticks(ticks)
    target.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.6g}"))
    target.set_minor_locator(NullLocator())
