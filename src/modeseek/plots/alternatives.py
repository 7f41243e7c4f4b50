"""The picture of partitions that were nearly chosen."""

from __future__ import annotations

from math import ceil
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from modeseek._common.types import Array, IntArray
from modeseek._common.validation import check_state
from modeseek.estimators import ModeSeek
from modeseek.estimators.alternatives import chosen_one, nearly_chosen
from modeseek.plots.colors import MUTED_COLOR, NOISE_COLOR, TEXT_COLOR, palette
from modeseek.plots.label_matching import alike
from modeseek.plots.projection import View, project
from modeseek.plots.style import new_figure

__all__ = ["plot_alternatives"]

PANEL_INCHES, PER_ROW, MOST_POINTS = 2.9, 3, 10_000


class _Panel(NamedTuple):
    title: str
    note: str
    labels: IntArray


def plot_alternatives(estimator: ModeSeek, X: ArrayLike, *, figure: Figure | None = None) -> Figure:
    """Draw the partition that was chosen and those that nearly were, side by side.

    Each panel has the same points: as they are up to two features, else by their first two principal components. The
    first is the one chosen, in a frame; the others follow from the best on. Of the clusters that share points with a
    chosen one, one has its colour.

    Parameters
    ----------
    estimator : fitted ModeSeek
        What chose.
    X : array-like of shape (n, d)
        The data that it was fitted to.
    figure : matplotlib Figure, default=None
        Where to draw; None makes a new pyplot figure.

    Returns
    -------
    matplotlib Figure
        The figure drawn on.

    Examples
    --------
    >>> from modeseek.datasets import paper_mixture
    >>> X, _ = paper_mixture(50, random_state=0)
    >>> figure = plot_alternatives(ModeSeek(random_state=0).fit(X), X, figure=Figure())
    >>> figure.axes[0].get_title(loc="left")
    'chosen: 3 clusters'
    """
    check_is_fitted(estimator)
    X = check_state(X, name="X").astype(np.float64)
    if len(X) != len(estimator.labels_):
        raise ValueError(f"X has {len(X):,} rows, but the estimator was fitted to {len(estimator.labels_):,}.")
    panels = _panels(estimator)
    n_rows = ceil(len(panels) / PER_ROW)
    n_columns = ceil(len(panels) / n_rows)
    figure = figure or new_figure(PANEL_INCHES * n_columns, PANEL_INCHES * n_rows)
    view = project(X, np.empty((0, X.shape[1])), None)
    axes = figure.subplots(n_rows, n_columns, squeeze=False).ravel()
    shades = _shades(estimator.n_clusters_, max(int(panel.labels.max()) for panel in panels) + 1)
    for ax, panel in zip(axes, panels, strict=False):
        _draw(ax, view, panel, shades, chosen=ax is axes[0])
    for ax in axes[len(panels) :]:
        ax.remove()
    return figure


def _panels(estimator: ModeSeek) -> list[_Panel]:
    chosen, source = np.asarray(estimator.labels_), chosen_one(estimator)
    by = "" if source is None else f"by {source.proposer}, "
    first = _Panel(f"chosen: {_count(estimator.n_clusters_)}", f"{by}stability {estimator.stability_:.2f}", chosen)
    others = (
        _Panel(
            _count(each.n_clusters), f"by {each.proposer}, stability {each.stability:.2f}", alike(each.labels, chosen)
        )
        for each in nearly_chosen(estimator)
    )
    return [first, *others]


def _shades(n_chosen: int, n: int) -> Array:
    """Return colours: those that the chosen clusters have in other pictures, then further ones, and grey for noise."""
    return np.array([to_rgba(shade) for shade in [*palette(n_chosen), *palette(n)[n_chosen:], NOISE_COLOR]])


def _draw(ax: Axes, view: View, panel: _Panel, shades: Array, *, chosen: bool) -> None:
    # a random order, so that no cluster lies on top; always the same, so that a picture repeats
    rng = np.random.default_rng(0)
    shown = rng.permutation(len(view.points))[:MOST_POINTS]
    x = view.points[shown, 0]
    y = view.points[shown, 1] if view.points.shape[1] > 1 else rng.uniform(-1, 1, len(shown))
    size = float(np.clip(3000 / len(shown), 1.5, 14))
    ax.scatter(x, y, s=size, c=shades[panel.labels[shown]], linewidths=0, rasterized=len(shown) > 5000)
    ax.set_title(panel.title, loc="left", color=TEXT_COLOR, fontsize="medium", fontweight="bold", pad=18)
    ax.annotate(panel.note, (0, 1), (0, 5), "axes fraction", "offset points", fontsize="small", color=MUTED_COLOR)
    ax.set_xticks([])
    ax.set_yticks([])
    ax.margins(0.06)
    for spine in ax.spines.values():
        spine.set(color=TEXT_COLOR if chosen else "#D0D0D0", linewidth=2.2 if chosen else 0.8)


def _count(n: int) -> str:
    return "1 cluster" if n == 1 else f"{n:,} clusters"
