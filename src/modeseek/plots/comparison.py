"""The picture of two partitions: who moved where."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.patches import PathPatch, Rectangle
from matplotlib.path import Path
from numpy.typing import NDArray

from modeseek._common.resources import check_memory
from modeseek._common.types import Array, IntArray
from modeseek._common.validation import check_choice
from modeseek.plots.colors import MUTED_COLOR, NOISE_COLOR, TEXT_COLOR, palette
from modeseek.plots.label_matching import alike
from modeseek.plots.labels_source import Labelled, found_by
from modeseek.plots.style import new_axes
from modeseek.plots.ticks import plain

__all__ = ["plot_comparison"]

KINDS = ("auto", "flow", "matrix")
# more clusters on a side than this, and flows become a thicket
MOST_IN_FLOW = 14
# numbers are written in the cells of a matrix of up to so many clusters on a side
MOST_NUMBERS = 16
# width of a block and space between two, in shares of the picture; names closer than a line are left out
BLOCK, SPACE, LINE = 0.055, 0.02, 0.035


class _Sides(NamedTuple):
    """Two partitions with clusters by name, those of the second in the order of the first.

    Attributes
    ----------
    names : two lists of str
    colours : two lists of str
    counts : (a, b) integer array
        Points in each pair of clusters.
    stay : (a, b) boolean array
        Pairs that belong together.
    """

    names: tuple[list[str], list[str]]
    colours: tuple[list[str], list[str]]
    counts: IntArray
    stay: NDArray[np.bool_]


def plot_comparison(
    first: Labelled,
    second: Labelled,
    *,
    names: tuple[str, str] = ("first", "second"),
    kind: str = "auto",
    ax: Axes | None = None,
    title: str | None = None,
) -> Axes:
    """Draw who moved where between two partitions of the same points.

    Each cluster of the second is matched with one of the first so that as many points as possible stay. As a flow,
    those who stay are pale and those who move are not. As a matrix, those who stay are on the diagonal, and a cell is
    as dark as its share of the cluster in the first.

    Parameters
    ----------
    first, second : array-like of shape (n,), or fitted estimator
        Labels of the same points, -1 for noise; numbers or words. A fitted estimator brings its labels.
    names : two str, default=("first", "second")
        What to call them.
    kind : {"auto", "flow", "matrix"}, default="auto"
        "auto" is a flow up to fourteen clusters on each side, and a matrix beyond.
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
    >>> ax = plot_comparison([0, 0, 0, 1, 1], [5, 5, 2, 2, 2], names=("before", "after"), ax=Figure().subplots())
    >>> ax.texts[0].get_text()
    '1 of 5 points moved (20%)'
    """
    check_choice("kind", kind, KINDS)
    if isinstance(names, str) or len(names) != 2:
        raise ValueError(f"names must be two, one for each partition; got {names!r}.")
    sides = _sides(_codes("first", first), _codes("second", second))
    ax = new_axes() if ax is None else ax
    few = max(sides.counts.shape) <= MOST_IN_FLOW
    moved, total = int(sides.counts[~sides.stay].sum()), int(sides.counts.sum())
    note = f"{moved:,} of {total:,} points moved ({moved / total:.0%})"
    ax.annotate(
        note, (0, 1), (0, 6), "axes fraction", "offset points", va="bottom", fontsize="small", color=MUTED_COLOR
    )
    if title:
        ax.set_title(title, loc="left", color=TEXT_COLOR, fontsize="large", fontweight="bold", pad=22)
    if kind == "flow" or (kind == "auto" and few):
        _flow(ax, sides, names)
    else:
        _matrix(ax, sides, names)
    return ax


def _codes(name: str, labels: Labelled) -> tuple[IntArray, list[str]]:
    """Return clusters as numbers with noise as the last, and their names."""
    values = np.asarray(found_by(labels).labels)
    if values.ndim != 1 or not len(values):
        raise ValueError(f"{name} must have one label for each point; got shape {values.shape}.")
    noise = (values == -1) if values.dtype.kind in "iufb" else values == "-1"
    words, numbers = np.unique(values[~noise], return_inverse=True)
    codes = np.full(len(values), len(words), dtype=np.intp)
    codes[~noise] = numbers
    return codes, [*map(str, words), *(["noise"] if noise.any() else [])]


def _sides(first: tuple[IntArray, list[str]], second: tuple[IntArray, list[str]]) -> _Sides:
    (one, mine), (other, theirs) = first, second
    if len(one) != len(other):
        raise ValueError(
            f"first has {len(one):,} labels and second has {len(other):,}: give labels of the same points."
        )
    noisy = mine[-1:] == ["noise"], theirs[-1:] == ["noise"]
    a, b = len(mine) - noisy[0], len(theirs) - noisy[1]
    check_memory(24.0 * len(mine) * len(theirs), f"{len(mine):,} by {len(theirs):,} clusters", "Give fewer clusters.")
    counts = np.zeros((len(mine), len(theirs)), dtype=np.intp)
    np.add.at(counts, (one, other), 1)
    partner = _partners(one, other, a, b)
    stay = np.zeros(counts.shape, dtype=bool)
    for column, row in enumerate(partner):
        if row < a:
            stay[row, column] = True
    if all(noisy):
        stay[a, b] = True
    # first those that have a partner, beside it; then the others, by where most of theirs come from
    from_where = (counts * np.arange(len(mine))[:, None]).sum(axis=0) / np.maximum(counts.sum(axis=0), 1)
    key = [row if row < a else from_where[column] + 0.5 for column, row in enumerate(partner)]
    order = np.concatenate([np.argsort(key, kind="stable"), np.arange(b, len(theirs))]).astype(np.intp)
    shades = palette(max(a, int(partner.max(initial=-1)) + 1))
    colours = [*shades[:a], NOISE_COLOR][: len(mine)], [*(shades[row] for row in partner), NOISE_COLOR]
    right = [theirs[column] for column in order], [colours[1][column] for column in order]
    return _Sides((mine, right[0]), (colours[0], right[1]), counts[:, order], stay[:, order])


def _partners(one: IntArray, other: IntArray, a: int, b: int) -> IntArray:
    """Return for each cluster of the second the one of the first that it is matched with; a, a + 1, ... for none."""
    both = other < b
    if not both.any() or a == 0:
        return a + np.arange(b)
    renamed = alike(other[both], np.where(one[both] < a, one[both], -1))
    partner = np.zeros(b, dtype=np.intp)
    partner[other[both]] = renamed
    # without a point in common there is no match
    shared = np.zeros((b, a), dtype=bool)
    shared[other[both & (one < a)], one[both & (one < a)]] = True
    lonely = [column for column in range(b) if partner[column] >= a or not shared[column, partner[column]]]
    partner[lonely] = a + np.arange(len(lonely))
    return partner


def _flow(ax: Axes, sides: _Sides, names: tuple[str, str]) -> None:
    total = sides.counts.sum()
    spaces = [SPACE * (n - 1) for n in sides.counts.shape]
    scale = (1.0 - max(spaces)) / total
    tops = [_stacked(sides.counts.sum(axis=1 - side), scale, spaces[side]) for side in (0, 1)]
    ends = [tops[0].copy(), tops[1].copy()]
    # those who stay first, so that movers lie above them
    cells = [(i, j) for i in range(len(ends[0])) for j in range(len(ends[1])) if sides.counts[i, j]]
    ribbons = []
    for i, j in cells:
        height = float(sides.counts[i, j]) * scale
        ribbons.append((bool(sides.stay[i, j]), i, ends[0][i], ends[1][j], height))
        ends[0][i] += height
        ends[1][j] += height
    for stays, i, left, right, height in sorted(ribbons, key=lambda each: -each[0]):
        ax.add_patch(_ribbon(left, right, height, sides.colours[0][i], 0.22 if stays else 0.72))
    for side, at in ((0, -BLOCK), (1, 1.0)):
        sizes = sides.counts.sum(axis=1 - side)
        where, align, above = (-BLOCK - 0.02, "right", -1.0) if side == 0 else (1 + BLOCK + 0.02, "left", -1.0)
        for top, size, name, colour in zip(tops[side], sizes, sides.names[side], sides.colours[side], strict=True):
            ax.add_patch(Rectangle((at, top), BLOCK, size * scale, facecolor=colour, linewidth=0))
            middle = top + size * scale / 2
            if middle - above >= LINE:
                ax.text(where, middle, f"{name}  ({size:,})", ha=align, va="center", color=TEXT_COLOR)
                above = middle
        ax.text(at + BLOCK / 2, 1.03, names[side], ha="center", va="top", color=TEXT_COLOR, fontweight="bold")
    ax.set_xlim(-0.34, 1.34)
    ax.set_ylim(1.09, -0.01)
    ax.set_axis_off()


def _stacked(sizes: Array, scale: float, spaces: float) -> Array:
    """Return the upper ends of blocks one below the other, in the middle of the height."""
    height = sizes.sum() * scale + spaces
    return (1.0 - height) / 2 + np.concatenate([[0.0], np.cumsum(sizes[:-1] * scale + SPACE)])


def _ribbon(left: float, right: float, height: float, colour: str, alpha: float) -> PathPatch:
    corners = [(0, left), (0.5, left), (0.5, right), (1, right)]
    back = [(1, right + height), (0.5, right + height), (0.5, left + height), (0, left + height)]
    codes = [Path.MOVETO, *[Path.CURVE4] * 3, Path.LINETO, *[Path.CURVE4] * 3, Path.CLOSEPOLY]
    return PathPatch(Path([*corners, *back, (0, left)], codes), facecolor=colour, alpha=alpha, linewidth=0)


def _matrix(ax: Axes, sides: _Sides, names: tuple[str, str]) -> None:
    counts = sides.counts
    share = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    shades = LinearSegmentedColormap.from_list("share", ["#FBFBFB", palette(1)[0], "#00324F"])
    image = ax.imshow(share, cmap=shades, vmin=0, vmax=1, aspect="equal", interpolation="nearest")
    if max(counts.shape) <= MOST_NUMBERS:
        for i, j in zip(*np.nonzero(counts), strict=True):
            colour = "white" if share[i, j] > 0.45 else TEXT_COLOR
            ax.text(j, i, plain(counts[i, j]), ha="center", va="center", fontsize="x-small", color=colour)
    for axis, words in ((ax.yaxis, sides.names[0]), (ax.xaxis, sides.names[1])):
        step = -(-len(words) // 20)
        axis.set_ticks(np.arange(0, len(words), step), words[::step])
    if max(map(len, sides.names[1])) > 3:
        ax.tick_params(axis="x", rotation=90)
    ax.tick_params(length=0, labelcolor=TEXT_COLOR, labelsize="small")
    # those who stay, in frames
    for i, j in zip(*np.nonzero(sides.stay & (counts > 0)), strict=True):
        ax.add_patch(Rectangle((j - 0.5, i - 0.5), 1, 1, fill=False, edgecolor="#D55E00", linewidth=0.9))
    ax.set_ylabel(names[0], color=TEXT_COLOR)
    ax.set_xlabel(names[1], color=TEXT_COLOR)
    for spine in ax.spines.values():
        spine.set_color("#D0D0D0")
    bar = ax.figure.colorbar(image, ax=ax, shrink=0.8, aspect=24, pad=0.03)
    bar.set_label(f"share of the cluster in {names[0]}", color=TEXT_COLOR)
    bar.outline.set_visible(False)
    bar.ax.tick_params(colors=MUTED_COLOR, labelcolor=TEXT_COLOR)
