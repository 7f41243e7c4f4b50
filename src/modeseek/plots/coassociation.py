"""The picture of how often points go together."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple, TypeAlias

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, to_rgb
from matplotlib.patches import Rectangle
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from modeseek._common.types import Array, IntArray
from modeseek.estimators.base import BaseClusterer
from modeseek.meanshift.consensus import consensus
from modeseek.plots.colors import MUTED_COLOR, NOISE_COLOR, TEXT_COLOR, palette
from modeseek.plots.run_source import some_rows
from modeseek.plots.style import new_axes, style_axes

__all__ = ["plot_coassociation"]

# rows that are drawn, and clusters that all have one
MOST_ROWS, MOST_CLUSTERS = 1000, 4000
# a block is named if it takes at least this share of the side
NAMED = 0.03
STRIP = 0.025

Votes: TypeAlias = BaseClusterer | ArrayLike


class _Together(NamedTuple):
    """Rows in the order of the picture, how often two of them go together, and what that means."""

    rows: IntArray
    shares: Array
    meaning: str


def plot_coassociation(
    source: Votes, *, labels: ArrayLike | None = None, ax: Axes | None = None, title: str | None = None
) -> Axes:
    """Draw how often two points go together, as a square ordered by cluster.

    Clusters that hold together are dark squares on the diagonal. Squares off the diagonal are clusters that some would
    merge, pale ones on it are clusters that some would split. Within a cluster the points that belong to it most come
    first. Above 1,000 points some are drawn, of each cluster one at least, and the picture says so.

    Parameters
    ----------
    source : fitted estimator, or array-like of shape (n_partitions, n)
        A StochasticMeanShift or DoublyStochasticMeanShift with several chains (`n_chains=16`, say): the share of the
        chains in which two points share a cluster. A ModeSeek: the chance of it by `memberships_`. Or several
        partitions of the same points, as rows of whole numbers from 0 on.
    labels : array-like of shape (n,), default=None
        Clusters to order by, -1 for noise. None: those of the estimator, or what the partitions agree on.
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
    >>> ax = plot_coassociation([[0, 0, 1, 1], [0, 0, 0, 1], [0, 0, 1, 1]], ax=Figure().subplots())
    >>> ax.images[0].get_array().round(2)[2]
    masked_array(data=[0.33, 0.33, 1.  , 0.67], ...
    """
    votes, memberships, own = _votes(source)
    n = votes.shape[1] if votes is not None else len(memberships)
    if labels is None:
        labels = consensus(source).labels if own is None else own
    mine = np.asarray(labels)
    if mine.shape != (n,):
        raise ValueError(f"labels must have one entry for each of the {n:,} points; got shape {mine.shape}.")
    together = _together(votes, memberships, mine)
    ax = new_axes() if ax is None else ax
    shown = mine[together.rows]
    image = ax.imshow(together.shares, cmap=_shades(), vmin=0, vmax=1, interpolation="nearest", aspect="equal")
    _blocks(ax, shown, np.unique(mine[mine != -1]))
    note = f"{len(shown):,} of {n:,} points drawn" if len(shown) < n else ""
    style_axes(ax, x_label="points, cluster by cluster", y_label="", title=title, note=note)
    ax.grid(visible=False)
    for spine in ax.spines.values():
        spine.set_visible(False)
    bar = ax.figure.colorbar(image, ax=ax, shrink=0.8, aspect=24, pad=0.03)
    bar.set_label(together.meaning, color=TEXT_COLOR)
    bar.outline.set_visible(False)
    bar.ax.tick_params(colors=MUTED_COLOR, labelcolor=TEXT_COLOR)
    return ax


def _votes(source: Votes) -> tuple[IntArray | None, Array, IntArray | None]:
    """Return partitions or memberships, and labels where an estimator has them."""
    if isinstance(source, BaseClusterer):
        check_is_fitted(source)
        result = source.result_
        labels = np.asarray(result.labels)
        if result.chain_labels is not None:
            return result.chain_labels, np.empty((0, 0)), labels
        if result.memberships is None:
            raise ValueError("one chain says nothing of how often points go together: fit with n_chains=16.")
        return None, result.row_memberships(), labels
    if hasattr(source, "fit"):
        raise TypeError(
            "source must be a fitted ModeSeek, a StochasticMeanShift or DoublyStochasticMeanShift with several chains, "
            f"or an array of partitions; got {type(source).__name__}."
        )
    votes = np.asarray(source)
    if votes.ndim != 2 or 0 in votes.shape:
        raise ValueError(
            "source must be an estimator, or partitions with a row for each and a column for each point; "
            f"got shape {votes.shape}."
        )
    return votes, np.empty((0, 0)), None


def _together(votes: IntArray | None, memberships: Array, labels: IntArray) -> _Together:
    rows = some_rows(labels, MOST_ROWS)
    if len(rows) > MOST_CLUSTERS:
        raise ValueError(
            f"the picture has a row for each of {len(rows):,} clusters at least, and room for {MOST_CLUSTERS:,}: give "
            "labels with fewer."
        )
    if votes is not None:
        some = votes[:, rows]
        shares = np.zeros((len(rows), len(rows)))
        for row in some:
            shares += row[:, None] == row
        shares /= len(votes)
        meaning = f"share of {len(votes):,} partitions\nin which two points go together"
    else:
        shares = memberships[rows] @ memberships[rows].T
        np.fill_diagonal(shares, 1.0)
        meaning = "chance that two points go together,\nby memberships"
    mine = labels[rows]
    belongs = np.array([shares[i, mine == mine[i]].mean() for i in range(len(rows))])
    # noise last
    order = np.lexsort((rows, -belongs, mine, mine == -1))
    return _Together(rows[order], shares[np.ix_(order, order)], meaning)


def _shades() -> LinearSegmentedColormap:
    white, blue = to_rgb("#FBFBFB"), to_rgb(palette(1)[0])
    return LinearSegmentedColormap.from_list("together", [white, blue, tuple(0.45 * part for part in blue)])


def _blocks(ax: Axes, shown: IntArray, clusters: IntArray) -> None:
    """Put a strip of colours on two sides, the numbers of clusters, and thin lines between them."""
    n = len(shown)
    starts = np.concatenate([[0], np.flatnonzero(np.diff(shown)) + 1, [n]])
    shades = dict(zip(clusters.tolist(), palette(len(clusters)), strict=True))
    strip, places, names = max(STRIP * n, 0.1), [], []
    for a, b in pairwise(starts):
        label = shown[a]
        colour = NOISE_COLOR if label == -1 else shades[label.item()]
        ax.add_patch(Rectangle((a - 0.5, -0.5 - strip), b - a, strip, facecolor=colour, linewidth=0))
        ax.add_patch(Rectangle((-0.5 - strip, a - 0.5), strip, b - a, facecolor=colour, linewidth=0))
        if b - a >= NAMED * n:
            places.append((a + b - 1) / 2)
            names.append("noise" if label == -1 else f"{label}")
    if len(starts) <= 62:
        for edge in starts[1:-1] - 0.5:
            ax.axhline(edge, color="white", linewidth=0.6)
            ax.axvline(edge, color="white", linewidth=0.6)
    ax.set_xlim(-0.5 - strip, n - 0.5)
    ax.set_ylim(n - 0.5, -0.5 - strip)
    ax.set_xticks(places, names)
    ax.set_yticks(places, names)
    ax.tick_params(length=0)
