"""`segment`: a picture in, a label image out."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from modeseek._common.hints import AdviceWarning
from modeseek._common.types import IntArray, Watcher
from modeseek._common.validation import check_integer, check_number
from modeseek.images.basins import Scales, basins, survey
from modeseek.images.extra import need_scikit_image
from modeseek.images.picture import Picture, check_picture
from modeseek.images.regions import NOBODY, Collector
from modeseek.sketches import GridCells

__all__ = ["segment"]

# sixteen bandwidths along a side: what people outline is seldom smaller
SIXTEENTH = 16
# in pixels: a cell, half as wide, then has two along each axis
LEAST = 4
TILE = 1 << 20


def segment(
    image: ArrayLike,
    *,
    spatial_bandwidth: float | None = None,
    colour_bandwidth: float = 10.0,
    prominence: float = 0.5,
    min_size: float | None = None,
    enforce_connectivity: bool = True,
    convert2lab: bool | None = None,
    spacing: float | Sequence[float] | None = None,
    mask: ArrayLike | None = None,
    start_label: int = 1,
    channel_axis: int | None = -1,
    tile: int = TILE,
    out: NDArray | None = None,
    watch: Watcher | None = None,
) -> NDArray:
    """Segment a picture by the modes of its density over place and colour.

    A pixel is a point (colour / colour_bandwidth, place / spatial_bandwidth), and the kernel is a biweight of radius 1:
    so it has the spatial bandwidth in the plane and the other in colour. Points are counted in cells half a bandwidth
    wide, the density is summed over cells, and each cell belongs to a mode that rises by at least `prominence` above
    its pass to a higher one. See docs/how-to-pictures.md.

    Parameters
    ----------
    image : array-like of shape (rows, columns[, channels]) or (planes, rows, columns[, channels])
        A picture or a volume: grey, RGB or with other channels; uint8, uint16, or floats (RGB: in [0, 1]). A memory map
        is read in tiles.
    spatial_bandwidth : float, optional
        Radius in the plane, in pixels times spacing. Default: a sixteenth of the side (the geometric mean of all),
        at least four pixels.
    colour_bandwidth : float, default=10
        Radius in colour: in units of CIELAB, where black and white are 100 apart. Other channels and grey are put on
        0 to 100 by the smallest and the largest value of the picture.
    prominence : float, default=0.5
        How far a mode must rise, as the logarithm of a ratio of densities, to make a region. 0 keeps every mode.
    min_size : float, optional
        Smaller regions, in pixels, join the neighbour most like them in colour. Default: the pixels of a cell, half a
        spatial bandwidth wide. 0 or 1 keeps all.
    enforce_connectivity : bool, default=True
        Whether regions are connected; if False, far parts of one mode's region keep one label.
    convert2lab : bool, optional
        Whether channels are sRGB and become CIELAB. Default: if there are three.
    spacing : float or sequence of float, optional
        Distance between neighbouring pixels along each axis of space, for voxels that are no cubes.
    mask : array-like of bool, optional
        The pixels that count, of the picture's shape without channels.
    start_label : {0, 1}, default=1
        Label of the largest region. Pixels outside the mask have one less.
    channel_axis : int or None, default=-1
        The axis of channels; None for grey. A matrix is grey in any case.
    tile : int, default=2**20
        Pixels that are worked on at a time, in whole rows (planes of a volume). It changes memory, and no label.
    out : integer array, optional
        Where to write labels, such as a memory map; of the picture's shape, signed.
    watch : callable, optional
        Told after each tile how far it is, as a `Stage`.

    Returns
    -------
    labels : integer array of shape (rows, columns) or (planes, rows, columns)
        Regions, numbered from the largest on.

    Examples
    --------
    >>> image = np.zeros((64, 64, 3), np.uint8)
    >>> image[:, 40:] = 200, 30, 30
    >>> labels = segment(image)
    >>> labels[0, [0, 39, 40, 63]]
    array([1, 1, 2, 2])
    """
    need_scikit_image()
    tile = check_integer("tile", tile, low=1)
    if isinstance(start_label, bool) or start_label not in (0, 1):
        raise ValueError(f"start_label must be 0 or 1; got {start_label!r}.")
    prominence = check_number("prominence", prominence, strict=False)
    picture = check_picture(image, mask, spacing, convert2lab, channel_axis, tile)
    scales = Scales(_place_scale(picture, spatial_bandwidth), check_number("colour_bandwidth", colour_bandwidth))
    least = _least(picture, scales) if min_size is None else check_number("min_size", min_size, strict=False)
    if not isinstance(enforce_connectivity, bool | np.bool_):
        raise TypeError(f"enforce_connectivity must be True or False; got {enforce_connectivity!r}.")
    labels = _target(out, picture)
    cells = survey(picture, scales, tile, watch)
    _advise(cells, scales)
    modes = basins(cells, prominence)
    collector = Collector(labels, picture.pixels.shape[-1], bool(enforce_connectivity))
    for band in picture.bands(tile, "labelling", watch):
        collector.add(band, _label(picture, scales, cells, modes, band), picture.colours(band))
    regions, number = collector.finish()
    kept, joined = regions.without_small(least)
    rank = np.empty(len(kept.sizes), np.int64)
    rank[np.argsort(-kept.sizes, kind="stable")] = np.arange(len(kept.sizes))
    final = rank[joined]
    for band in picture.bands(tile, "numbering", watch):
        at = number(np.asarray(labels[band]))
        labels[band] = np.where(at == NOBODY, -1, final[at]) + start_label
    return labels


def _advise(cells: GridCells, scales: Scales) -> None:
    """Warn where cells are wider than they should be, and refuse those that have nobody in reach."""
    if cells.level == 0:
        return
    what = (
        f"spatial_bandwidth={scales.place:.4g} and colour_bandwidth={scales.colour:.4g} cut this picture into more "
        f"than {cells.grid.limit:,} cells"
    )
    remedy = "take a larger bandwidth, or segment parts of the picture."
    if cells.side > 1:
        raise ValueError(f"{what}, even if they are a bandwidth wide: {remedy}")
    warnings.warn(
        f"{what}, so they are a bandwidth wide instead of half of one, and regions are coarser: {remedy}",
        AdviceWarning,
        stacklevel=3,
    )


def _label(picture: Picture, scales: Scales, cells: GridCells, modes: IntArray, band: slice) -> NDArray:
    """Return the mode of each pixel of a band."""
    found = np.full((band.stop - band.start, *picture.shape[1:]), NOBODY, np.int64)
    found.ravel()[picture.taken(band)] = modes[cells.find(scales.features(picture, band))]
    return found


def _place_scale(picture: Picture, given: float | None) -> float:
    if given is not None:
        return check_number("spatial_bandwidth", given)
    sides = np.array(picture.shape) * np.array(picture.spacing)
    return max(float(np.exp(np.log(sides).mean())) / SIXTEENTH, LEAST * max(picture.spacing))


def _least(picture: Picture, scales: Scales) -> float:
    """Return the pixels of a cell: what is smaller, the density cannot tell from chance."""
    return float(np.prod([scales.place / 2 / step for step in picture.spacing]))


def _target(out: NDArray | None, picture: Picture) -> NDArray:
    if out is None:
        return np.empty(picture.shape, np.int64)
    if not isinstance(out, np.ndarray) or out.dtype.kind != "i" or out.dtype.itemsize < 4 or out.shape != picture.shape:
        got = f"{out.dtype} of shape {out.shape}" if isinstance(out, np.ndarray) else type(out).__name__
        raise ValueError(f"out must be an int32 or int64 array of shape {picture.shape}; got {got}.")
    return out
