"""The plot of how often two points share a cluster."""

from itertools import pairwise
from typing import TypeAlias

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from modeseek._common.types import Array, IntArray
from modeseek.estimators import ModeSeek
from modeseek.estimators.random_chains import RandomChainClusterer
from modeseek.estimators.result import FitResult
from modeseek.meanshift.consensus import consensus
from modeseek.plots.colors import NOISE_COLOR, SHARE_COLORS, palette
from modeseek.plots.sources import check_column, sample_rows
from modeseek.plots.style import add_colorbar, new_axes, style_axes

MAX_ROWS = 1000
# at least one row of each cluster is drawn, so this limits the number of clusters
MAX_CLUSTERS = 4000
# clusters with a smaller share of the drawn points have no name at the edge of the matrix
MIN_NAMED = 0.03
STRIP_WIDTH = 0.025

PartitionsSource: TypeAlias = ModeSeek | RandomChainClusterer | ArrayLike


def plot_coassociation(
    source: PartitionsSource, *, labels: ArrayLike | None = None, ax: Axes | None = None, title: str | None = None
) -> Axes:
    """Draw how often two points share a cluster, as a matrix ordered by cluster.

    Stable clusters are dark squares on the diagonal. A square off the diagonal joins two clusters that some partitions
    merge; a pale square on the diagonal is a cluster that some partitions split. Within a cluster, points are ordered
    by how often they share a cluster with the other points of the cluster. If there are more than 1,000 points, a
    sample with at least one point of each cluster is drawn, and a note states so.

    Parameters
    ----------
    source : fitted estimator, or array-like of shape (n_partitions, n)
        A StochasticMeanShift or DoublyStochasticMeanShift with several chains (such as `n_chains=16`): the plot shows
        the share of the chains in which two points share a cluster. A ModeSeek: the plot shows the probability that two
        points share a cluster, computed from `memberships_`. Or several partitions of the same points, one in each row,
        as labels 0, 1, ...
    labels : array-like of shape (n,), default=None
        Clusters to order by, -1 for noise. By default, the labels of the estimator, or the consensus of the partitions.
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
    partitions, result = _read_partitions(source)
    if labels is not None:
        ordering = check_column("labels", labels, partitions.shape[1] if result is None else result.n_rows)
    else:
        ordering = consensus(partitions).labels if result is None else np.asarray(result.labels)
    rows = sample_rows(ordering, MAX_ROWS)
    if len(rows) > MAX_CLUSTERS:
        raise ValueError(
            f"labels has {len(rows):,} clusters, but the plot can show at most {MAX_CLUSTERS:,}: "
            "pass labels with fewer clusters."
        )
    shares, meaning = _coassociation(partitions, result, rows)
    shown = ordering[rows]
    belonging = np.array([shares[i, shown == shown[i]].mean() for i in range(len(rows))])
    order = np.lexsort((rows, -belonging, shown, shown == -1))
    ax = new_axes() if ax is None else ax
    image = ax.imshow(shares[np.ix_(order, order)], cmap=SHARE_COLORS, vmin=0, vmax=1, interpolation="nearest")
    _mark_clusters(ax, shown[order], np.unique(ordering[ordering != -1]))
    note = f"{len(rows):,} of {len(ordering):,} points drawn" if len(rows) < len(ordering) else ""
    style_axes(ax, x_label="points, grouped by cluster", y_label="", title=title, note=note)
    ax.grid(visible=False)
    ax.spines[:].set_visible(False)
    ax.tick_params(length=0)
    add_colorbar(ax, image, meaning)
    return ax


def _read_partitions(source: PartitionsSource) -> tuple[IntArray, FitResult | None]:
    """Return partitions, one in each row, and the result if the source is an estimator.

    There are no partitions if the result has memberships instead.
    """
    if isinstance(source, ModeSeek | RandomChainClusterer):
        check_is_fitted(source)
        result = source.result_
        if result.chain_labels is None and result.memberships is None:
            raise ValueError(f"{type(source).__name__} needs several chains for this plot: fit with n_chains=16.")
        return np.empty((0, 0), np.intp) if result.chain_labels is None else result.chain_labels, result
    if isinstance(source, BaseEstimator):
        raise TypeError(
            "source must be a fitted ModeSeek, a StochasticMeanShift or DoublyStochasticMeanShift with several chains, "
            f"or an array of partitions; got {type(source).__name__}."
        )
    partitions = np.asarray(source)
    if partitions.ndim != 2 or 0 in partitions.shape:
        raise ValueError(
            "source must be an estimator, or an array with a row for each partition and a column for each point; "
            f"got shape {partitions.shape}."
        )
    return partitions, None


def _coassociation(partitions: IntArray, result: FitResult | None, rows: IntArray) -> tuple[Array, str]:
    """Return how often each pair of rows shares a cluster, from 0 to 1, and the label of the colour bar."""
    if result is not None and not len(partitions):
        memberships = result.row_memberships(rows)
        shares = memberships @ memberships.T
        np.fill_diagonal(shares, 1.0)
        return shares, "probability that two points\nshare a cluster, by memberships"
    shares = np.zeros((len(rows), len(rows)))
    for partition in partitions[:, rows]:
        shares += partition[:, None] == partition
    return shares / len(partitions), f"share of {len(partitions):,} partitions\nin which two points share a cluster"


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
