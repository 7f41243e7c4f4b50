"""Ticks where something was measured, with numbers as people write them."""

from __future__ import annotations

from math import log10

import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullLocator

from modeseek._common.types import Array
from modeseek.plots.style import LETTER_INCHES

__all__ = ["log_ticks", "plain", "x_ticks"]

MOST_TICKS, LETTERS_BETWEEN = 10, 1.5


def x_ticks(ax: Axes, x: Array, *, log: bool) -> None:
    """Put ticks at the values of x where they are few; else leave it to matplotlib, but with plain numbers.

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
    if 0 < len(values) <= MOST_TICKS:
        ax.xaxis.set_major_locator(FixedLocator(values.tolist()))
        ax.xaxis.set_minor_locator(NullLocator())
        ax.set_xticks(values, _spaced(ax, values, log=log))
    elif log:
        log_ticks(ax.xaxis, *ax.get_xlim())


def _spaced(ax: Axes, values: Array, *, log: bool) -> list[str]:
    """Label ticks, but leave out a label that would run into the one before it."""
    low, high = ax.get_xlim()
    places = np.log(values / low) / np.log(high / low) if log else (values - low) / (high - low)
    letters = ax.bbox.width / ax.figure.dpi / LETTER_INCHES
    labels: list[str] = []
    end = -np.inf
    for place, value in zip(places * letters, values, strict=True):
        label = plain(value)
        fits = place - len(label) / 2 >= end + LETTERS_BETWEEN
        labels.append(label if fits else "")
        end = place + len(label) / 2 if fits else end
    return labels


def log_ticks(axis: Axis, low: float, high: float) -> None:
    """Put ticks with plain numbers on a logarithmic axis from low to high."""
    axis.set_major_locator(LogLocator(subs=(1, 2, 5) if log10(high / low) < 2.5 else (1,)))
    axis.set_major_formatter(FuncFormatter(plain))
    axis.set_minor_locator(NullLocator())


def plain(value: float, _position: int | None = None) -> str:
    """Return a number as people write it: 1,000,000 and 0.05; powers of ten only far from one."""
    return f"{value:,.10g}" if value == 0 or 1e-4 <= abs(value) < 1e9 else f"{value:.4g}"
