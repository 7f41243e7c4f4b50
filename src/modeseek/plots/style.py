"""Style shared by all plots: axes, ticks, titles and colour bars. `save_figure` writes a figure to a file."""

import os
import textwrap
from math import log10
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.collections import PathCollection
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from modeseek._common.types import Array
from modeseek._storage.atomic import atomic_path, check_target
from modeseek.plots.colors import MUTED_COLOR, TEXT_COLOR

FIGURE_SUFFIXES = (".png", ".svg", ".pdf", ".jpg", ".jpeg", ".webp", ".tif", ".tiff", ".ps", ".eps")
FIGURE_SIZE = (7.2, 5.0)
# approximate width of a letter at a font size of 10 points
LETTER_INCHES = 0.085
DASHED = (0, (4, 3))


def new_axes() -> Axes:
    """Return the axes of a new pyplot figure."""
    return new_figure(*FIGURE_SIZE).subplots()


def file_figure() -> Figure:
    """Return a new figure that is only written to a file: pyplot does not know it, and shows no window."""
    return Figure(figsize=FIGURE_SIZE, layout="constrained")


def new_figure(width: float, height: float) -> Figure:
    """Return a new pyplot figure with the given size in inches."""
    # the import selects a window system; callers that pass their own axes do not need one
    import matplotlib.pyplot as plt

    return plt.figure(figsize=(width, height), layout="constrained")


def style_axes(ax: Axes, *, x_label: str, y_label: str, title: str | None = None, note: str = "") -> None:
    """Label the axes, add title and note, and draw the frame and the grid in light colours.

    Parameters
    ----------
    ax : matplotlib Axes
        The axes.
    x_label, y_label : str
        Labels of the axes.
    title, note : str
        As for `add_title`.

    Examples
    --------
    >>> ax = Figure().subplots()
    >>> style_axes(ax, x_label="points", y_label="clusters", title="Counts")
    >>> ax.get_title(loc="left")
    'Counts'
    """
    ax.set_xlabel(x_label, color=TEXT_COLOR)
    ax.set_ylabel(y_label, color=TEXT_COLOR)
    add_title(ax, title, note)
    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[["left", "bottom"]].set_color(MUTED_COLOR)
    ax.tick_params(which="both", colors=MUTED_COLOR, labelcolor=TEXT_COLOR)
    ax.grid(visible=True, color="#EBEBEB", linewidth=0.8)
    ax.set_axisbelow(True)


def add_title(ax: Axes, title: str | None, note: str = "", *, size: str = "large") -> None:
    """Put a bold title at the left above the axes, and a small note between the title and the axes.

    A note that is wider than the axes is wrapped.
    """
    # letters of the small font are a sixth narrower than LETTER_INCHES
    note = textwrap.fill(note, max(30, int(1.2 * ax.bbox.width / ax.figure.dpi / LETTER_INCHES)))
    if title:
        pad = 10 + 12 * len(note.splitlines())
        ax.set_title(title, loc="left", color=TEXT_COLOR, fontsize=size, fontweight="bold", pad=pad)
    if note:
        small: dict[str, Any] = {"va": "bottom", "fontsize": "small", "color": MUTED_COLOR}
        ax.annotate(note, (0, 1), (0, 6), "axes fraction", "offset points", **small)


def without_math(text: str) -> str:
    """Return a text that matplotlib shows literally; it reads text between dollar signs as a formula."""
    return text.replace("$", r"\$")


def draw_points(ax: Axes, positions: Array, **options: Any) -> PathCollection:
    """Draw points with the options of `Axes.scatter`. In vector files, more than 5,000 points become a bitmap."""
    return ax.scatter(positions[:, 0], positions[:, 1], rasterized=len(positions) > 5000, **options)


def add_colorbar(ax: Axes, image: mpl.cm.ScalarMappable, label: str) -> None:
    """Put a colour bar to the right of an image."""
    bar = ax.figure.colorbar(image, ax=ax, shrink=0.8, aspect=24, pad=0.03)
    bar.set_label(label, color=TEXT_COLOR)
    bar.outline.set_visible(False)
    bar.ax.tick_params(colors=MUTED_COLOR, labelcolor=TEXT_COLOR)


def save_figure(path: str | os.PathLike[str], figure: Figure) -> None:
    """Write a figure to a file; the file appears only once it is complete.

    The suffix of the file name chooses the format (PNG, SVG, PDF, ...). Pyplot is not used. Figures that are made and
    saved in the same way give identical files. If you save one figure to several files, do so in a fixed order: a
    constrained layout starts from the layout of the previous drawing, and positions may differ in their last digits.

    Parameters
    ----------
    path : str or path-like
        The file to write.
    figure : matplotlib Figure
        The figure.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp(), "empty.png")
    >>> save_figure(path, Figure())
    >>> path.read_bytes()[1:4]
    b'PNG'
    """
    suffix = check_target(path, FIGURE_SUFFIXES).suffix.lower()
    # dates and random names are left out, so that the file is reproducible
    metadata = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}.get(suffix)
    with mpl.rc_context({"svg.hashsalt": "modeseek"}), atomic_path(path) as part:
        figure.savefig(part, dpi=160, metadata=metadata)


def log_ticks(axis: Axis, low: float, high: float) -> None:
    """Put ticks with plain numbers on a logarithmic axis whose limits are low and high."""
    axis.set_major_locator(LogLocator(subs=(1, 2, 5) if log10(high / low) < 2.5 else (1,)))
    plain_ticks(axis)
    axis.set_minor_locator(NullLocator())


def plain_ticks(axis: Axis) -> None:
    """Label the ticks of an axis with plain numbers."""
    axis.set_major_formatter(FuncFormatter(format_number))


def format_number(value: float, _position: int | None = None) -> str:
    """Format a number as in 1,000,000 or 0.05, or in scientific notation if it is very large or very small."""
    return f"{value:,.10g}" if value == 0 or 1e-4 <= abs(value) < 1e9 else f"{value:.4g}"
