"""The plot of the partition that ModeSeek chose next to its alternatives."""

from math import ceil

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from modeseek._common.text import counted
from modeseek._common.types import Array
from modeseek._common.validation import check_state
from modeseek.estimators import ModeSeek
from modeseek.estimators.alternatives import chosen_one, listed_alternatives
from modeseek.estimators.matching import matched_labels
from modeseek.plots.colors import NOISE_COLOR, TEXT_COLOR, palette
from modeseek.plots.projection import project, robust_limits
from modeseek.plots.style import add_title, draw_points, new_figure

PANEL_INCHES = 2.9
PANELS_PER_ROW = 3
MAX_POINTS = 10_000


def plot_alternatives(estimator: ModeSeek, X: ArrayLike, *, figure: Figure | None = None) -> Figure:
    """Draw the partition that ModeSeek chose and its alternatives, side by side.

    Each panel shows the same points: one or two features unchanged, more features by their first two principal
    components; outliers are drawn at the edge. The first panel, with a thick frame, is the chosen partition; the
    alternatives follow, best first. A cluster of an alternative has the colour of the chosen cluster that it matches
    best.

    Parameters
    ----------
    estimator : fitted ModeSeek
        The estimator.
    X : array-like of shape (n, d)
        The data of the fit.
    figure : matplotlib Figure, default=None
        The figure to draw on; None creates a pyplot figure.

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
        raise ValueError(f"X has {len(X):,} rows, but the estimator was fitted on {len(estimator.labels_):,}.")
    chosen, others = np.asarray(estimator.labels_), listed_alternatives(estimator)
    candidates = [chosen_one(estimator), *others]
    partitions = [chosen, *(matched_labels(other.labels, chosen) for other in others)]
    titles = [f"chosen: {counted(estimator.n_clusters_, 'cluster')}"]
    titles += [counted(other.n_clusters, "cluster") for other in others]
    n_rows = ceil(len(partitions) / PANELS_PER_ROW)
    n_columns = ceil(len(partitions) / n_rows)
    figure = figure or new_figure(PANEL_INCHES * n_columns, PANEL_INCHES * n_rows)
    points = project(X, None).apply(X)
    points = np.clip(points, *robust_limits(points))  # outliers are drawn at the edge
    if points.shape[1] == 1:
        points = np.c_[points, np.random.default_rng(0).uniform(-1, 1, len(points))]
    axes = figure.subplots(n_rows, n_columns, squeeze=False).ravel()
    # chosen clusters have the same colours as in other plots; -1, for noise, is the last row
    n_chosen, n_colors = estimator.n_clusters_, max(int(labels.max()) for labels in partitions) + 1
    names = [*palette(n_chosen), *palette(n_colors)[n_chosen:], NOISE_COLOR]
    colors = np.array([to_rgba(name) for name in names])
    for ax, title, candidate, labels in zip(axes, titles, candidates, partitions, strict=False):
        _draw(ax, points, colors[labels], chosen=ax is axes[0])
        note = ""
        if candidate is not None:
            note = f"by {candidate.proposer}, expected agreement {candidate.expected_agreement:.2f}"
        add_title(ax, title, note, size="medium")
    for ax in axes[len(partitions) :]:
        ax.remove()
    return figure


def _draw(ax: Axes, points: Array, colors: Array, *, chosen: bool) -> None:
    # a reproducible random order, so that no cluster covers the others
    shown = np.random.default_rng(0).permutation(len(points))[:MAX_POINTS]
    size = float(np.clip(3000 / len(shown), 1.5, 14))
    draw_points(ax, points[shown], s=size, c=colors[shown], linewidths=0)
    ax.set_xticks([])
    ax.set_yticks([])
    ax.margins(0.06)
    for spine in ax.spines.values():
        spine.set(color=TEXT_COLOR if chosen else "#D0D0D0", linewidth=2.2 if chosen else 0.8)
