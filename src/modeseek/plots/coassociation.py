"""The plot of how often two points share a cluster."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple, TypeAlias

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from modeseek._common.types import Array, IntArray
from modeseek.estimators import ModeSeek
from modeseek.estimators.random_chains import RandomChainClusterer
from modeseek.meanshift.consensus import consensus
from modeseek.plots.colors import NOISE_COLOR, SHARE_COLORS, palette
from modeseek.plots.sources import check_column, sample_rows
from modeseek.plots.style import add_colorbar, new_axes, style_axes

MAX_ROWS = 1000
# at least one row of each cluster is drawn, so this limits the number of clusters
MAX_CLUSTERS = 4000
# smallest share of the side at which a cluster is named
MIN_NAMED = 0.03
STRIP_WIDTH = 0.025

PartitionsSource: TypeAlias = ModeSeek | RandomChainClusterer | ArrayLike


class _Partitions(NamedTuple):
    """Several partitions of the same points, or memberships instead, and the labels to order points by."""

    partitions: IntArray | None
    memberships: Array | None
    labels: IntArray


def plot_coassociation(
    source: PartitionsSource, *, labels: ArrayLike | None = None, ax: Axes | None = None, title: str | None = None
) -> Axes:
    """Draw how often two points share a cluster, as a matrix ordered by cluster.

    Stable clusters are dark squares on the diagonal. A square off the diagonal joins two clusters that some partitions
    merge; a pale square on the diagonal is a cluster that some partitions split. Within a cluster, points are ordered
    by how often they share a cluster with its other points. Of more than 1,000 points, a sample with at least one point
    of each cluster is drawn, and a note states so.

    Parameters
    ----------
    source : fitted estimator, or array-like of shape (n_partitions, n)
        A StochasticMeanShift or DoublyStochasticMeanShift with several chains (such as `n_chains=16`): the plot shows
        the share of the chains in which two points share a cluster. A ModeSeek: the plot shows the probability by
        `memberships_`. Or several partitions of the same points, as rows of labels 0, 1, ...
    labels : array-like of shape (n,), default=None
        Clusters to order by, -1 for noise. The default is those of the estimator, or the consensus of the partitions.
    ax : matplotlib Axes, default=None
        The axes to draw on; None creates a pyplot figure.
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
    found = _read_partitions(source, labels)
    rows, shares, meaning = _coassociation(found)
    n, shown = len(found.labels), found.labels[rows]
    ax = new_axes() if ax is None else ax
    image = ax.imshow(shares, cmap=SHARE_COLORS, vmin=0, vmax=1, interpolation="nearest", aspect="equal")
    _mark_clusters(ax, shown, np.unique(found.labels[found.labels != -1]))
    note = f"{len(shown):,} of {n:,} points drawn" if len(shown) < n else ""
    style_axes(ax, x_label="points, grouped by cluster", y_label="", title=title, note=note)
    ax.grid(visible=False)
    ax.spines[:].set_visible(False)
    ax.tick_params(length=0)
    add_colorbar(ax, image, meaning)
    return ax


def _read_partitions(source: PartitionsSource, labels: ArrayLike | None) -> _Partitions:
    partitions = memberships = None
    if isinstance(source, ModeSeek | RandomChainClusterer):
        check_is_fitted(source)
        partitions, own = source.result_.chain_labels, np.asarray(source.result_.labels)
        if partitions is None and source.result_.memberships is None:
            raise ValueError(f"{type(source).__name__} needs several chains for this plot: fit with n_chains=16.")
        if partitions is None:
            memberships = source.result_.row_memberships()
    elif isinstance(source, BaseEstimator):
        raise TypeError(
            "source must be a fitted ModeSeek, a StochasticMeanShift or DoublyStochasticMeanShift with several chains, "
            f"or an array of partitions; got {type(source).__name__}."
        )
    else:
        partitions = np.asarray(source)
        if partitions.ndim != 2 or 0 in partitions.shape:
            raise ValueError(
                "source must be an estimator, or an array with a row for each partition and a column for each point; "
                f"got shape {partitions.shape}."
            )
        own = consensus(partitions).labels if labels is None else np.empty(partitions.shape[1])
    return _Partitions(partitions, memberships, own if labels is None else check_column("labels", labels, len(own)))


def _coassociation(found: _Partitions) -> tuple[IntArray, Array, str]:
    """Return the rows to draw in order, the share for each pair of them, and the meaning of the shares."""
    rows = sample_rows(found.labels, MAX_ROWS)
    if len(rows) > MAX_CLUSTERS:
        raise ValueError(
            f"the plot has at least one row for each cluster, at most {MAX_CLUSTERS:,} rows, and labels has "
            f"{len(rows):,} clusters: pass labels with fewer clusters."
        )
    if found.partitions is not None:
        shares = np.zeros((len(rows), len(rows)))
        for partition in found.partitions[:, rows]:
            shares += partition[:, None] == partition
        shares /= len(found.partitions)
        meaning = f"share of {len(found.partitions):,} partitions\nin which two points share a cluster"
    else:
        assert found.memberships is not None
        shares = found.memberships[rows] @ found.memberships[rows].T
        np.fill_diagonal(shares, 1.0)
        meaning = "probability that two points\nshare a cluster, by memberships"
    labels = found.labels[rows]
    belonging = np.array([shares[i, labels == labels[i]].mean() for i in range(len(rows))])
    order = np.lexsort((rows, -belonging, labels, labels == -1))
    return rows[order], shares[np.ix_(order, order)], meaning


def _mark_clusters(ax: Axes, shown: IntArray, clusters: IntArray) -> None:
    """Put strips with the colours of the clusters at the top and the left, and white lines between clusters."""
    n = len(shown)
    starts = np.concatenate([[0], np.flatnonzero(np.diff(shown)) + 1, [n]])
    colors = {**dict(zip(clusters.tolist(), palette(len(clusters)), strict=True)), -1: NOISE_COLOR}
    strip, ticks, names = max(STRIP_WIDTH * n, 0.1), [], []
    for a, b in pairwise(starts):
        label = shown[a].item()
        ax.add_patch(Rectangle((a - 0.5, -0.5 - strip), b - a, strip, facecolor=colors[label], linewidth=0))
        ax.add_patch(Rectangle((-0.5 - strip, a - 0.5), strip, b - a, facecolor=colors[label], linewidth=0))
        if b - a >= MIN_NAMED * n:
            ticks.append((a + b - 1) / 2)
            names.append("noise" if label == -1 else f"{label}")
    if len(starts) <= 62:
        for edge in starts[1:-1] - 0.5:
            ax.axhline(edge, color="white", linewidth=0.6)
            ax.axvline(edge, color="white", linewidth=0.6)
    ax.set_xlim(-0.5 - strip, n - 0.5)
    ax.set_ylim(n - 0.5, -0.5 - strip)
    ax.set_xticks(ticks, names)
    ax.set_yticks(ticks, names)
