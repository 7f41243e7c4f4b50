"""The picture of the bandwidths that were drawn."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.transforms import blended_transform_factory

from modeseek._common.types import Array
from modeseek.meanshift.bandwidth import Anchored, Shrinking, Uniform, Walk
from modeseek.meanshift.chains import Series
from modeseek.plots.colors import MUTED_COLOR, TEXT_COLOR, palette
from modeseek.plots.run_source import Run, Watched, recorded, watch
from modeseek.plots.style import new_axes, style_axes
from modeseek.plots.ticks import log_ticks

__all__ = ["plot_bandwidths"]

# the last number below 1
ALMOST_ONE = 1.0 - 2.0**-53
# names of two ends need so much of the height between them
APART = 0.055


def plot_bandwidths(source: Run, *, ax: Axes | None = None, title: str | None = None) -> Axes:
    """Draw the bandwidth of each update, with the range that it is drawn from and the value that it closes on.

    Updates are on a logarithmic axis: most happens at the start. The band is the range that the next draw has, as it
    closes on h_inf; of the walk, and of a policy of one's own, it is the whole range.

    Parameters
    ----------
    source : fitted estimator, or ChainResult
        A chain. With several of them it is the first.
    ax : matplotlib Axes, default=None
        Where to draw; None makes a new pyplot figure.
    title : str, default=None
        A title.

    Returns
    -------
    matplotlib Axes
        The axes drawn on.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from modeseek import DoublyStochasticMeanShift
    >>> model = DoublyStochasticMeanShift(0.2, 1.6, 0.6, random_state=0).fit([[0.0], [0.3], [5.0]])
    >>> ax = plot_bandwidths(model, ax=Figure().subplots())
    >>> [text.get_text() for text in ax.texts]
    ['h_min 0.2', 'h_inf 0.6', 'h_max 1.6']
    """
    run = watch(source)
    path = recorded(run, "h")
    ax = new_axes() if ax is None else ax
    colour = palette(1)[0]
    last = max(int(path.k[-1]), 2)
    if run.range is not None:
        _draw_range(ax, run, run.range, last, colour)
    if isinstance(run.policy, Walk):
        # a path: the others are draws that have nothing to do with each other
        ax.plot(path.k, path.values, color=colour, linewidth=1.2, zorder=3)
    size = float(np.clip(3000 / len(path.k), 5, 22))
    ax.scatter(path.k, path.values, s=size, color=colour, linewidths=0, alpha=0.75, zorder=3)
    ax.set_xscale("log")
    ax.set_xlim(0.85, last * 1.15)
    low, high = _extent(path.values, run.range)
    ax.set_ylim(low, high)
    style_axes(
        ax, x_label="update k" if run.plain else "draw k", y_label="bandwidth h", title=title, note=_note(run, path)
    )
    log_ticks(ax.xaxis, 1.0, float(last))
    if run.range is not None:
        _name_ends(ax, run.range, high - low)
    return ax


def _draw_range(ax: Axes, run: Watched, ends: tuple[float, float, float], last: int, colour: str) -> None:
    h_min, h_inf, h_max = ends
    for h in (h_min, h_max):
        ax.axhline(h, color=MUTED_COLOR, linewidth=1.0, linestyle=(0, (4, 3)), zorder=1.5)
    ax.axhline(h_inf, color=TEXT_COLOR, linewidth=1.0, linestyle=":", zorder=2.5)
    if isinstance(run.policy, Shrinking | Uniform | Anchored):
        k = np.unique(np.geomspace(1, last, 300).astype(np.int64))
        draw = run.policy.draw
        low, high = (np.array([draw(np.array([u]), h_inf, int(i) - 1)[0] for i in k]) for u in (0.0, ALMOST_ONE))
        ax.fill_between(k, low, high, color=colour, alpha=0.12, linewidth=0, zorder=1)
    else:
        ax.axhspan(h_min, h_max, color=colour, alpha=0.08, linewidth=0, zorder=1)


def _extent(values: Array, ends: tuple[float, float, float] | None) -> tuple[float, float]:
    low, high = float(values.min()), float(values.max())
    if ends is not None:
        low, high = min(low, ends[0]), max(high, ends[2])
    if high - low <= 1e-9 * high:
        return 0.0, 2.0 * high
    return low - 0.07 * (high - low), high + 0.07 * (high - low)


def _name_ends(ax: Axes, ends: tuple[float, float, float], height: float) -> None:
    """Name the ends of the range beside the picture; where they are close, one above the other."""
    side = blended_transform_factory(ax.transAxes, ax.transData)
    at = -np.inf
    for name, h in zip(("h_min", "h_inf", "h_max"), ends, strict=True):
        at = max(h, at + APART * height)
        colour = TEXT_COLOR if name == "h_inf" else MUTED_COLOR
        ax.text(1.015, at, f"{name} {h:.3g}", transform=side, va="center", fontsize="small", color=colour)


def _note(run: Watched, path: Series) -> str:
    parts = []
    if len(path.k) < path.k[-1]:
        parts.append(f"{len(path.k):,} of {path.k[-1]:,} draws")
    if len(np.unique(path.values)) == 1:
        parts.append(f"h = {path.values[0]:.4g} throughout")
    if run.n_chains > 1:
        parts.append(f"the first of {run.n_chains} chains")
    return "; ".join(parts)
