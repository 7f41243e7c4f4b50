"""Ticks with plain numbers, at the measured values if these are few."""

from __future__ import annotations

from math import log10

import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullLocator

from modeseek._common.types import Array
from modeseek.plots.style import LETTER_INCHES

MAX_TICKS = 10
LETTERS_BETWEEN = 1.5


def x_ticks(ax: Axes, x: Array, *, log: bool) -> None:
    """Put ticks at the values of x if there are few; otherwise keep matplotlib's ticks, with plain numbers.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> ax = Figure().subplots()
    >>> ax.set_xlim(0, 100)
    (0.0, 100.0)
    >>> x_ticks(ax, np.array([20.0, 90.0, 20.0]), log=False)
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
    """Return labels of ticks, empty where a label would overlap the previous one."""
    low, high = ax.get_xlim()
    positions = np.log(values / low) / np.log(high / low) if log else (values - low) / (high - low)
    letters = ax.bbox.width / ax.figure.dpi / LETTER_INCHES
    labels: list[str] = []
    end = -np.inf
    for position, value in zip(positions * letters, values, strict=True):
        label = format_number(value)
        fits = position - len(label) / 2 >= end + LETTERS_BETWEEN
        labels.append(label if fits else "")
        end = position + len(label) / 2 if fits else end
    return labels


def log_ticks(axis: Axis, low: float, high: float) -> None:
    """Put ticks with plain numbers on a logarithmic axis from low to high."""
    axis.set_major_locator(LogLocator(subs=(1, 2, 5) if log10(high / low) < 2.5 else (1,)))
    plain_ticks(axis)
    axis.set_minor_locator(NullLocator())


def plain_ticks(axis: Axis) -> None:
    """Label the ticks of an axis with plain numbers."""
    axis.set_major_formatter(FuncFormatter(format_number))


def format_number(value: float, _position: int | None = None) -> str:
    """Return a number as 1,000,000 or 0.05; in scientific notation if it is very large or very small."""
    return f"{value:,.10g}" if value == 0 or 1e-4 <= abs(value) < 1e9 else f"{value:.4g}"
