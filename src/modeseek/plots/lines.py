"""Plots of lines with intervals, such as a score against the number of points, with one line for each method."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.legend import Legend
from matplotlib.ticker import FixedLocator, NullLocator
from numpy.typing import ArrayLike

from modeseek._common.types import Array
from modeseek.plots.colors import MUTED_COLOR, TEXT_COLOR, palette
from modeseek.plots.style import LETTER_INCHES, format_number, log_ticks, new_axes, style_axes

Dash: TypeAlias = str | tuple[float, Sequence[float]]

# the numbers of markers and of dashes are coprime, so that every pair occurs before one repeats
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
DASHES: tuple[Dash, ...] = ("-", (0, (5, 1.6)), (0, (1.4, 1.2)), (0, (6, 1.6, 1.4, 1.6)), (0, (9, 2.2)))
# drawing order, from bottom to top
REFERENCE_ORDER = 1.5
BAND_ORDER = 2.0
LINE_ORDER = 3.0
MAX_TICKS = 10
LETTERS_BETWEEN_TICKS = 1.5
LEGEND_STYLE: dict[str, Any] = {"frameon": False, "labelcolor": TEXT_COLOR, "handlelength": 2.8}


class Band(NamedTuple):
    """A line with an interval around it; NaN marks missing values.

    Attributes
    ----------
    x : array-like of shape (n,)
        Values on the horizontal axis.
    mean : array-like of shape (n,)
        The line.
    low, high : array-like of shape (n,)
        The interval.

    Examples
    --------
    >>> band = Band([1, 2, 3], [0.5, 0.6, 0.7], [0.4, 0.5, 0.6], [0.6, 0.7, 0.8])
    >>> len(band.mean)
    3
    """

    x: ArrayLike
    mean: ArrayLike
    low: ArrayLike
    high: ArrayLike


@dataclass(frozen=True)
class LineStyle:
    """Appearance of a line.

    Attributes
    ----------
    color : str
        Colour of the line, its markers and its interval.
    dash : str or tuple
        Dashes in matplotlib's notation: "-" or (offset, (on, off, ...)).
    marker : str
        Marker in matplotlib's notation; "" for none.
    width : float
        Width of the line in points.
    alpha : float
        Opacity of the interval.

    Examples
    --------
    >>> LineStyle(color="black", marker="").dash
    '-'
    """

    color: str = TEXT_COLOR
    dash: Dash = "-"
    marker: str = "o"
    width: float = 1.8
    alpha: float = 0.15


def style_cycle(n: int) -> list[LineStyle]:
    """Return n styles with different colours, and different markers or dashes that can be told apart in greyscale.

    Examples
    --------
    >>> first, second = style_cycle(2)
    >>> first.color, first.marker, second.color, second.marker
    ('#0072B2', 'o', '#E69F00', 's')
    """
    return [LineStyle(color, DASHES[i % len(DASHES)], MARKERS[i % len(MARKERS)]) for i, color in enumerate(palette(n))]


def plot_lines(
    lines: Mapping[str, Band],
    *,
    ax: Axes | None = None,
    styles: Mapping[str, LineStyle] | None = None,
    x_label: str = "",
    y_label: str = "",
    title: str | None = None,
    reference: float | None = None,
    reference_label: str = "",
    log_x: bool = False,
    log_y: bool = False,
    legend: bool = True,
) -> Axes:
    """Draw lines with shaded intervals.

    If the lines have at most ten distinct values of x, the ticks are at these values. NaN leaves a gap; the interval of
    a single point between two gaps is drawn as a bar.

    Parameters
    ----------
    lines : mapping of str to Band
        The lines by name, in the order of drawing and of the legend.
    ax : matplotlib Axes, default=None
        The axes to draw on; None creates a pyplot figure.
    styles : mapping of str to LineStyle, default=None
        Styles by the name of the line. A line without an entry gets its style from `style_cycle`. Names that are not
        in `lines` are ignored, so several panels can share one mapping.
    x_label, y_label : str, default=""
        Labels of the axes.
    title : str, default=None
        A title.
    reference : float, default=None
        Value of y at which a thin dotted line is drawn, such as the true value.
    reference_label : str, default=""
        Name of the dotted line in the legend.
    log_x, log_y : bool, default=False
        Whether the axis is logarithmic. Its ticks are plain numbers.
    legend : bool, default=True
        Whether to put a legend at the right. `legend_below` makes one legend for several panels.

    Returns
    -------
    matplotlib Axes
        The axes drawn on.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> ax = Figure().subplots()
    >>> line = Band([10, 100], [0.5, 0.9], [0.4, 0.8], [0.6, 1.0])
    >>> ax = plot_lines({"DSMS": line}, ax=ax, x_label="points", log_x=True, reference=1, reference_label="best")
    >>> [tick.get_text() for tick in ax.get_xticklabels()], [text.get_text() for text in ax.get_legend().texts]
    (['10', '100'], ['DSMS', 'best'])
    """
    bands = {name: _check_band(name, band) for name, band in lines.items()}
    ax = new_axes() if ax is None else ax
    if log_x:
        ax.set_xscale("log")
    if log_y:
        ax.set_yscale("log")
    if reference is not None:
        label = reference_label or None
        ax.axhline(reference, color=MUTED_COLOR, linewidth=1.0, linestyle=":", zorder=REFERENCE_ORDER, label=label)
    for (name, band), default in zip(bands.items(), style_cycle(len(bands)), strict=True):
        _draw(ax, name, band, (styles or {}).get(name, default))
    style_axes(ax, x_label=x_label, y_label=y_label, title=title)
    _set_x_ticks(ax, np.concatenate([band[0] for band in bands.values()] or [np.empty(0)]), log=log_x)
    if log_y:
        log_ticks(ax.yaxis, *ax.get_ylim())
    entries = _legend_entries([ax])
    if legend and entries:
        ax.legend(list(entries.values()), list(entries), loc="upper left", bbox_to_anchor=(1.01, 1.0), **LEGEND_STYLE)
    return ax


def legend_below(figure: Figure, axes: Axes | Iterable[Axes]) -> Legend:
    """Put one legend for all panels below a figure; each name occurs once.

    The legends of the panels are removed. A figure without a layout engine gets the constrained layout, which makes
    space for the legend.

    Parameters
    ----------
    figure : matplotlib Figure
        The figure.
    axes : matplotlib Axes, or array or other iterable of them
        The panels.

    Returns
    -------
    matplotlib Legend
        The legend.

    Examples
    --------
    >>> figure = Figure()
    >>> panels = figure.subplots(1, 2)
    >>> for ax in panels:
    ...     _ = plot_lines({"SMS": Band([1, 2], [3, 4], [2, 3], [4, 5])}, ax=ax, legend=False)
    >>> [text.get_text() for text in legend_below(figure, panels).texts]
    ['SMS']
    """
    panels: list[Axes] = np.asarray(axes, dtype=object).ravel().tolist()
    entries = _legend_entries(panels)
    for ax in panels:
        if (panel_legend := ax.get_legend()) is not None:
            panel_legend.remove()
    if figure.get_layout_engine() is None:
        figure.set_layout_engine("constrained")
    # the smallest number of rows that fits, with as few columns as possible
    column = LETTER_INCHES * max(map(len, entries), default=1) + 0.75
    n_fitting = max(1, int(figure.get_figwidth() / column))
    n_columns = max(1, ceil(len(entries) / max(1, ceil(len(entries) / n_fitting))))
    handles, names = list(entries.values()), list(entries)
    return figure.legend(handles, names, loc="outside lower center", ncols=n_columns, columnspacing=2.0, **LEGEND_STYLE)


def _check_band(name: str, band: Band) -> tuple[Array, Array, Array, Array]:
    x, mean, low, high = (np.asarray(values, dtype=np.float64) for values in band)
    if x.ndim != 1 or not x.shape == mean.shape == low.shape == high.shape:
        shapes = ", ".join(str(values.shape) for values in (x, mean, low, high))
        raise ValueError(f"x, mean, low and high of line {name!r} must have the same length; got shapes {shapes}.")
    return x, mean, low, high


def _draw(ax: Axes, name: str, band: tuple[Array, Array, Array, Array], style: LineStyle) -> None:
    x, mean, low, high = band
    ax.plot(
        x,
        mean,
        color=style.color,
        linestyle=style.dash,
        linewidth=style.width,
        marker=style.marker,
        markersize=5 + 2 * (style.marker in ("*", "P", "X")),  # these markers look smaller than others
        markeredgecolor="white",
        markeredgewidth=0.6,
        label=name,
        zorder=LINE_ORDER,
    )
    ax.fill_between(x, low, high, color=style.color, alpha=style.alpha, linewidth=0, zorder=BAND_ORDER)
    known = np.isfinite(mean) & np.isfinite(low) & np.isfinite(high)
    padded = np.r_[False, known, False]
    single = known & ~padded[:-2] & ~padded[2:]
    bars = x[single], low[single], high[single]
    ax.vlines(*bars, color=style.color, alpha=0.5, linewidth=style.width, zorder=BAND_ORDER)


def _legend_entries(panels: Sequence[Axes]) -> dict[str, Artist]:
    """Return the artists by label, each label once: first the lines, then the reference lines."""
    entries: dict[str, Artist] = {}
    for ax in panels:
        for handle, label in zip(*ax.get_legend_handles_labels(), strict=True):
            entries.setdefault(label, handle)
    return dict(sorted(entries.items(), key=lambda entry: entry[1].get_zorder() < LINE_ORDER))


def _set_x_ticks(ax: Axes, x: Array, *, log: bool) -> None:
    """Put ticks at the values of x if there are few; otherwise keep matplotlib's ticks, with plain numbers.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> ax = Figure().subplots()
    >>> ax.set_xlim(0, 100)
    (0.0, 100.0)
    >>> _set_x_ticks(ax, np.array([20.0, 90.0, 20.0]), log=False)
    >>> [tick.get_text() for tick in ax.get_xticklabels()]
    ['20', '90']
    """
    values = np.unique(x[np.isfinite(x) & ((x > 0) | (not log))])
    if 0 < len(values) <= MAX_TICKS:
        ax.xaxis.set_major_locator(FixedLocator(values.tolist()))
        ax.xaxis.set_minor_locator(NullLocator())
        ax.set_xticks(values, _spaced_labels(ax, values, log=log))
    elif log:
        log_ticks(ax.xaxis, *ax.get_xlim())


def _spaced_labels(ax: Axes, values: Array, *, log: bool) -> list[str]:
    """Return the labels of the ticks, with "" where a label would overlap the previous one."""
    low, high = ax.get_xlim()
    positions = np.log(values / low) / np.log(high / low) if log else (values - low) / (high - low)
    letters = ax.bbox.width / ax.figure.dpi / LETTER_INCHES
    labels: list[str] = []
    end = -np.inf
    for position, value in zip(positions * letters, values, strict=True):
        label = format_number(value)
        fits = position - len(label) / 2 >= end + LETTERS_BETWEEN_TICKS
        labels.append(label if fits else "")
        end = position + len(label) / 2 if fits else end
    return labels
