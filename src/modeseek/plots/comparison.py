"""The plot of two partitions of the same points: which points changed cluster."""

from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import PathPatch, Rectangle
from matplotlib.path import Path
from numpy.typing import NDArray

from modeseek._common.resources import check_memory
from modeseek._common.types import Array, IntArray
from modeseek._common.validation import check_choice
from modeseek.estimators.matching import matched_clusters
from modeseek.plots.colors import NOISE_COLOR, SHARE_COLORS, TEXT_COLOR, palette
from modeseek.plots.sources import ClusteringSource, read_clustering
from modeseek.plots.style import add_colorbar, add_title, format_number, new_axes

KINDS = ("auto", "flow", "matrix")
MAX_CLUSTERS_IN_FLOW = 14
# a matrix of at most this many clusters on each side shows the number of points in each cell
MAX_COUNTED = 16
MAX_TICKS = 20
# width of a block and space between blocks, as shares of the plot
BLOCK_WIDTH = 0.055
BLOCK_SPACE = 0.02
# height of a line of text as a share of the plot; a name that is closer to the previous one is left out
LINE_HEIGHT = 0.035


class _Comparison(NamedTuple):
    """Clusters of two partitions. Clusters of the second partition have the order of their matches in the first.

    Attributes
    ----------
    names : two lists of str
        Names of the clusters on each side.
    colors : two lists of str
        Their colours.
    counts : (a, b) integer array
        Number of points in each pair of clusters.
    matched : (a, b) boolean array
        Whether two clusters are matched.
    """

    names: tuple[list[str], list[str]]
    colors: tuple[list[str], list[str]]
    counts: IntArray
    matched: NDArray[np.bool_]


def plot_comparison(
    first: ClusteringSource,
    second: ClusteringSource,
    *,
    names: tuple[str, str] = ("first", "second"),
    kind: str = "auto",
    ax: Axes | None = None,
    title: str | None = None,
) -> Axes:
    """Draw which points change cluster between two partitions of the same points.

    Each cluster of the second partition is matched with one of the first so that as many points as possible stay in
    their cluster. In the flow diagram, points that stay are pale and points that change are not. In the matrix, matched
    clusters are framed, and the colour of a cell is its share of the cluster in the first partition.

    Parameters
    ----------
    first, second : array-like of shape (n,), or fitted estimator
        Labels of the same points, numbers or strings, -1 for noise; or an estimator that provides its labels.
    names : two str, default=("first", "second")
        Names of the partitions.
    kind : {"auto", "flow", "matrix"}, default="auto"
        "auto" draws a flow diagram for up to fourteen clusters on each side, and a matrix for more.
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
    >>> ax = plot_comparison([0, 0, 0, 1, 1], [5, 5, 2, 2, 2], names=("before", "after"), ax=Figure().subplots())
    >>> ax.texts[0].get_text()
    '1 of 5 points changed cluster (20%)'
    """
    check_choice("kind", kind, KINDS)
    if isinstance(names, str) or len(names) != 2:
        raise ValueError(f"names must have two entries, one for each partition; got {names!r}.")
    compared = _compare(_encode("first", first), _encode("second", second))
    ax = new_axes() if ax is None else ax
    changed, total = int(compared.counts[~compared.matched].sum()), int(compared.counts.sum())
    add_title(ax, title, f"{changed:,} of {total:,} points changed cluster ({changed / total:.0%})")
    if kind == "flow" or (kind == "auto" and max(compared.counts.shape) <= MAX_CLUSTERS_IN_FLOW):
        _draw_flow(ax, compared, names)
    else:
        _draw_matrix(ax, compared, names)
    return ax


def _encode(name: str, source: ClusteringSource) -> tuple[IntArray, list[str]]:
    """Return the labels as numbers 0, 1, ..., of which noise has the last, and the names of the clusters."""
    labels = np.asarray(read_clustering(source).labels)
    if labels.ndim != 1 or not len(labels):
        raise ValueError(f"{name} must have one label for each point; got shape {labels.shape}.")
    noise = (labels == -1) if labels.dtype.kind in "iufb" else labels == "-1"
    clusters, numbers = np.unique(labels[~noise], return_inverse=True)
    codes = np.full(len(labels), len(clusters), dtype=np.intp)
    codes[~noise] = numbers
    return codes, [*map(str, clusters), *(["noise"] if noise.any() else [])]


def _compare(first: tuple[IntArray, list[str]], second: tuple[IntArray, list[str]]) -> _Comparison:
    (codes, names), (other_codes, other_names) = first, second
    if len(codes) != len(other_codes):
        raise ValueError(
            f"first has {len(codes):,} labels and second has {len(other_codes):,}: pass labels of the same points."
        )
    shape = len(names), len(other_names)
    check_memory(24.0 * shape[0] * shape[1], f"{shape[0]:,} by {shape[1]:,} clusters", "Reduce the number of clusters.")
    counts = np.zeros(shape, dtype=np.intp)
    np.add.at(counts, (codes, other_codes), 1)
    noise, other_noise = names[-1:] == ["noise"], other_names[-1:] == ["noise"]
    a, b = shape[0] - noise, shape[1] - other_noise
    matched = np.zeros(shape, dtype=bool)
    matched[matched_clusters(counts[:a, :b])] = True
    # clusters of the second without a partner get the colours a, a + 1, ...
    partners = np.where(matched[:a, :b].any(axis=0), matched[:a, :b].argmax(axis=0) if a else 0, -1)
    partners[partners < 0] = a + np.arange((partners < 0).sum())
    if noise and other_noise:
        matched[a, b] = True
    # a cluster is placed next to its partner; without a partner, at the mean position of its points in the first
    # partition
    origin = (counts * np.arange(shape[0])[:, None]).sum(axis=0) / np.maximum(counts.sum(axis=0), 1)
    order = np.append(
        np.argsort(np.where(partners < a, partners, origin[:b] + 0.5), kind="stable"), np.arange(b, shape[1])
    )
    shades = palette(max(a, int(partners.max(initial=-1)) + 1))
    colors, other_colors = [*shades[:a], NOISE_COLOR], [*(shades[partner] for partner in partners), NOISE_COLOR]
    return _Comparison(
        (names, [other_names[j] for j in order]),
        (colors, [other_colors[j] for j in order]),
        counts[:, order],
        matched[:, order],
    )


def _draw_flow(ax: Axes, compared: _Comparison, names: tuple[str, str]) -> None:
    counts = compared.counts
    spaces = [BLOCK_SPACE * (n - 1) for n in counts.shape]
    scale = (1.0 - max(spaces)) / counts.sum()
    tops = [_block_tops(counts.sum(axis=1 - side) * scale, spaces[side]) for side in (0, 1)]
    starts = [tops[0].copy(), tops[1].copy()]
    for i, j in np.argwhere(counts).tolist():
        height = float(counts[i, j]) * scale
        stays = compared.matched[i, j]
        ribbon = _ribbon(starts[0][i], starts[1][j], height)
        # ribbons of points that change their cluster are drawn above the other ribbons
        ribbon.set(
            facecolor=compared.colors[0][i], alpha=0.22 if stays else 0.72, linewidth=0, zorder=1 if stays else 1.5
        )
        ax.add_patch(ribbon)
        starts[0][i] += height
        starts[1][j] += height
    for side, (x, x_name, align) in enumerate(
        [(-BLOCK_WIDTH, -BLOCK_WIDTH - 0.02, "right"), (1.0, 1.02 + BLOCK_WIDTH, "left")]
    ):
        sizes, previous = counts.sum(axis=1 - side), -1.0
        blocks = zip(tops[side], sizes, compared.names[side], compared.colors[side], strict=False)
        for top, size, name, color in blocks:
            ax.add_patch(Rectangle((x, top), BLOCK_WIDTH, size * scale, facecolor=color, linewidth=0, zorder=2))
            middle = top + size * scale / 2
            if middle - previous >= LINE_HEIGHT:
                ax.text(x_name, middle, f"{name}  ({size:,})", ha=align, va="center", color=TEXT_COLOR)
                previous = middle
        ax.text(x + BLOCK_WIDTH / 2, 1.03, names[side], ha="center", va="top", color=TEXT_COLOR, fontweight="bold")
    ax.set_xlim(-0.34, 1.34)
    ax.set_ylim(1.09, -0.01)
    ax.set_axis_off()


def _block_tops(heights: Array, spaces: float) -> Array:
    """Return the upper ends of blocks that are stacked and vertically centred."""
    start = (1.0 - heights.sum() - spaces) / 2
    return start + np.concatenate([[0.0], np.cumsum(heights[:-1] + BLOCK_SPACE)])


def _ribbon(left: float, right: float, height: float) -> PathPatch:
    upper = [(0, left), (0.5, left), (0.5, right), (1, right)]
    lower = [(1, right + height), (0.5, right + height), (0.5, left + height), (0, left + height)]
    codes = [Path.MOVETO, *[Path.CURVE4] * 3, Path.LINETO, *[Path.CURVE4] * 3, Path.CLOSEPOLY]
    return PathPatch(Path([*upper, *lower, (0, left)], codes))


def _draw_matrix(ax: Axes, compared: _Comparison, names: tuple[str, str]) -> None:
    counts = compared.counts
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    image = ax.imshow(shares, cmap=SHARE_COLORS, vmin=0, vmax=1, aspect="equal", interpolation="nearest")
    if max(counts.shape) <= MAX_COUNTED:
        for i, j in np.argwhere(counts).tolist():
            color = "white" if shares[i, j] > 0.45 else TEXT_COLOR
            ax.text(j, i, format_number(counts[i, j]), ha="center", va="center", fontsize="x-small", color=color)
    for axis, clusters, label in zip((ax.yaxis, ax.xaxis), compared.names, names, strict=True):
        step = -(-len(clusters) // MAX_TICKS)
        axis.set_ticks(np.arange(0, len(clusters), step), clusters[::step])
        axis.set_label_text(label, color=TEXT_COLOR)
    if max(map(len, compared.names[1])) > 3:
        ax.tick_params(axis="x", rotation=90)
    ax.tick_params(length=0, labelcolor=TEXT_COLOR, labelsize="small")
    for i, j in np.argwhere(compared.matched & (counts > 0)).tolist():
        ax.add_patch(Rectangle((j - 0.5, i - 0.5), 1, 1, fill=False, edgecolor="#D55E00", linewidth=0.9))
    ax.spines[:].set_color("#D0D0D0")
    add_colorbar(ax, image, f'share of the cluster in "{names[0]}"')
