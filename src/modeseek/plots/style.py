"""What all pictures share: how axes look, and how a picture becomes a file."""

from __future__ import annotations

import os
import textwrap

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from modeseek._storage import atomic_path, check_target
from modeseek.plots.colors import MUTED_COLOR, TEXT_COLOR

__all__ = ["FIGURE_SIZE", "FIGURE_SUFFIXES", "LETTER_INCHES", "new_axes", "new_figure", "save_figure", "style_axes"]

FIGURE_SUFFIXES = (".png", ".svg", ".pdf", ".jpg", ".jpeg", ".webp", ".tif", ".tiff", ".ps", ".eps")
FIGURE_SIZE = (7.2, 5.0)
LETTER_INCHES = 0.085  # about how wide a letter of ten points is


def new_axes() -> Axes:
    """Return the axes of a new pyplot figure."""
    # pyplot chooses a window system when it is imported: who hands over axes does not need it
    import matplotlib.pyplot as plt

    return plt.subplots(figsize=FIGURE_SIZE, layout="constrained")[1]


def new_figure(width: float, height: float) -> Figure:
    """Return a new pyplot figure of so many inches."""
    import matplotlib.pyplot as plt  # see `new_axes`

    return plt.figure(figsize=(width, height), layout="constrained")


def style_axes(ax: Axes, *, x_label: str, y_label: str, title: str | None = None, note: str = "") -> None:
    """Label axes and draw their frame and grid, faint enough to stand behind the data.

    Parameters
    ----------
    ax : matplotlib Axes
        The axes.
    x_label, y_label : str
        Labels of the axes.
    title : str, default=None
        A title, on the left.
    note : str, default=""
        A line between the title and the picture, or several where it is longer than the picture is wide.

    Examples
    --------
    >>> ax = Figure().subplots()
    >>> style_axes(ax, x_label="points", y_label="clusters", title="How many")
    >>> ax.get_title(loc="left")
    'How many'
    """
    ax.set_xlabel(x_label, color=TEXT_COLOR)
    ax.set_ylabel(y_label, color=TEXT_COLOR)
    # small letters are a sixth narrower
    note = textwrap.fill(note, max(30, int(1.2 * ax.bbox.width / ax.figure.dpi / LETTER_INCHES)))
    if title:
        pad = 10 + 12 * len(note.splitlines())  # the note stands between the title and the picture
        ax.set_title(title, loc="left", color=TEXT_COLOR, fontsize="large", fontweight="bold", pad=pad)
    if note:
        ax.annotate(
            note, (0, 1), (0, 6), "axes fraction", "offset points", va="bottom", fontsize="small", color=MUTED_COLOR
        )
    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[["left", "bottom"]].set_color(MUTED_COLOR)
    ax.tick_params(which="both", colors=MUTED_COLOR, labelcolor=TEXT_COLOR)
    ax.grid(visible=True, color="#EBEBEB", linewidth=0.8)
    ax.set_axisbelow(True)


def save_figure(path: str | os.PathLike[str], figure: Figure) -> None:
    """Write a figure to a file, whole or not at all.

    The ending of the name chooses the format (PNG, SVG, PDF, ...). A figure that is made and saved in the same way
    gives the same bytes, and nothing of pyplot is touched. But each time a figure is drawn, the constrained layout
    starts from where it ended before, and places may differ in their last digits: write its files in a fixed order.

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
    # neither the time of day nor random names, so that the file repeats
    metadata = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}.get(suffix)
    with mpl.rc_context({"svg.hashsalt": "modeseek"}), atomic_path(path) as part:
        figure.savefig(part, dpi=160, metadata=metadata)
