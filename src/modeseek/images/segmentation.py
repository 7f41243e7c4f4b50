"""The function `segment`: an image in, a label image out."""

import warnings
from collections.abc import Callable, Sequence
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from modeseek._common.hints import AdviceWarning
from modeseek._common.types import IntArray, Watcher
from modeseek._common.validation import check_integer, check_number
from modeseek.images.config import DEFAULT, SegmentConfig
from modeseek.images.density_modes import Bandwidths, count_pixels, modes_of_cells
from modeseek.images.input_image import InputImage, check_image
from modeseek.images.merging import RegionTree, merge_regions
from modeseek.images.region_graph import measure_regions
from modeseek.images.regions import MASKED, RegionCollector
from modeseek.meanshift.partition import rank_by_weight
from modeseek.sketches import GridCells


def segment(
    image: ArrayLike,
    *,
    spatial_bandwidth: float | None = None,
    color_bandwidth: float = 10.0,
    threshold: float | Sequence[float] = 3.3,
    n_regions: int | Sequence[int] | None = None,
    min_size: float | None = None,
    enforce_connectivity: bool = True,
    convert2lab: bool | None = None,
    spacing: float | Sequence[float] | None = None,
    mask: ArrayLike | None = None,
    start_label: int = 1,
    channel_axis: int | None = -1,
    tile: int = 2**20,
    out: NDArray | None = None,
    progress: Watcher | None = None,
    config: SegmentConfig = DEFAULT,
) -> NDArray:
    """Segment an image: find the modes of the density of its pixels over position and colour, and merge similar ones.

    Each pixel is a point (colour / color_bandwidth, position / spatial_bandwidth), and the kernel is a biweight of
    radius 1. Pixels are counted in the cells of a grid, half a bandwidth wide, and the density is computed at the
    cells. The pixels of a mode form a region, or one region per connected part. Then adjacent regions are merged, the
    most similar first, until their dissimilarity exceeds `threshold` or `n_regions` are left. The dissimilarity
    compares histograms of colour and texture and the contrast along the common border. See docs/how-to-pictures.md.

    Parameters
    ----------
    image : array-like of shape (rows, columns[, channels]) or (planes, rows, columns[, channels])
        An image or a volume: grey, RGB or with other channels. The type is uint8, uint16 or float; RGB floats lie in
        [0, 1]. A memory-mapped array is read in tiles.
    spatial_bandwidth : float, optional
        Radius of the kernel in space, in pixels times spacing. Default: the side of the image (the geometric mean of
        its sides) divided by 40, at least four pixels.
    color_bandwidth : float, default=10
        Radius of the kernel in colour, in CIELAB units: black and white have distance 100. Grey values and other
        channels are rescaled so that the range of the image becomes [0, 100].
    threshold : float or sequence of float, default=3.3
        Regions with a dissimilarity up to this value are merged: smaller values give more regions, 0 merges none. It
        is ignored if `n_regions` is set. A sequence gives one label image for each value (layers), stacked along a
        new first axis. Layers are nested: the regions of one are unions of the regions of any finer one.
    n_regions : int or sequence of int, optional
        Number of regions, or one number for each layer. There are fewer if fewer were found before merging, and more
        if the mask separates the image into more parts.
    min_size : float, optional
        Before merging by dissimilarity, regions with fewer pixels are merged into the neighbour with the closest mean
        colour. Default: the number of pixels in a cell, which is half a spatial bandwidth wide. 0 or 1 keeps all.
    enforce_connectivity : bool, default=True
        Whether regions are connected. If False, separate parts of one mode share a label.
    convert2lab : bool, optional
        Whether the channels are sRGB and are converted to CIELAB. Default: True if there are three channels.
    spacing : float or sequence of float, optional
        Distance between neighbouring pixels along each spatial axis, for voxels that are not cubes.
    mask : array-like of bool, optional
        True for the pixels to segment. It has the shape of the image without channels.
    start_label : {0, 1}, default=1
        Label of the largest region. Pixels outside the mask have the label `start_label - 1`.
    channel_axis : int or None, default=-1
        The axis of channels; None for grey. A two-dimensional array is always grey.
    tile : int, default=2**20
        Number of pixels that are processed at a time, in whole rows (planes of a volume). It bounds the memory and
        does not change the labels.
    out : integer array, optional
        Array of the shape of the result, int32 or int64, such as a memory map, into which the labels are written.
    progress : callable, optional
        Called with a `Stage` after each tile.
    config : SegmentConfig, optional
        Constants of the method, such as the width of the cells.

    Returns
    -------
    labels : integer array of shape (rows, columns) or (planes, rows, columns)
        Region of each pixel. Regions are numbered by decreasing size. If there are several layers, the result has
        one more axis in front.

    Examples
    --------
    >>> image = np.zeros((64, 64, 3), np.uint8)
    >>> image[:, 40:] = 200, 30, 30
    >>> labels = segment(image)
    >>> labels[0, [0, 39, 40, 63]]
    array([1, 1, 2, 2])
    """
    require_scikit_image()
    tile = check_integer("tile", tile, low=1)
    if isinstance(start_label, bool) or start_label not in (0, 1):
        raise ValueError(f"start_label must be 0 or 1; got {start_label!r}.")
    if not isinstance(enforce_connectivity, bool | np.bool_):
        raise TypeError(f"enforce_connectivity must be True or False; got {enforce_connectivity!r}.")
    layered, cuts = _check_cuts(threshold, n_regions)
    checked = check_image(image, mask, spacing, convert2lab, channel_axis, tile=tile, max_channels=config.max_channels)
    bandwidths = Bandwidths(
        _default_spatial_bandwidth(checked, config)
        if spatial_bandwidth is None
        else check_number("spatial_bandwidth", spatial_bandwidth),
        check_number("color_bandwidth", color_bandwidth),
    )
    if min_size is None:
        min_size = float(np.prod([bandwidths.spatial / 2 / step for step in checked.spacing]))
    min_size = check_number("min_size", min_size, strict=False)
    result = _label_array(out, (len(cuts), *checked.shape) if layered else checked.shape)
    layers = result if layered else result[None]
    # the array of the last layer holds preliminary region numbers until its labels are written
    labels = layers[-1]
    cells = count_pixels(checked, bandwidths, tile, config, progress)
    _check_cells(cells, bandwidths)
    modes = modes_of_cells(cells)
    collector = RegionCollector(labels, checked.pixels.shape[-1], bool(enforce_connectivity))
    for band in checked.bands(tile, "labelling", progress):
        collector.add(band, _pixel_modes(checked, bandwidths, cells, modes, band), checked.colors(band))
    regions, region_of = collector.finish()
    kept, numbers = regions.without_small(min_size)

    def kept_region(band: slice) -> NDArray:
        found = region_of(np.asarray(labels[band]))
        return np.where(found == MASKED, MASKED, numbers[found])

    config = config.for_bandwidth(bandwidths.spatial / min(checked.spacing))
    tree = merge_regions(measure_regions(checked, kept_region, len(kept.sizes), tile, config, progress), config)
    final = [start_label + rank_by_weight(cut(tree), kept.sizes).labels for cut in cuts]
    for band in checked.bands(tile, "numbering", progress):
        found = kept_region(band)
        for layer, labels_of in zip(layers, final, strict=True):
            layer[band] = np.where(found == MASKED, start_label - 1, labels_of[found])
    return result


def require_scikit_image() -> None:
    """Raise an ImportError that names the command to type if scikit-image is not installed."""
    if find_spec("skimage") is None:
        raise ImportError('images need scikit-image: pip install "modeseek[images]"')


def _check_cuts(threshold: Any, n_regions: Any) -> tuple[bool, list[Callable[[RegionTree], IntArray]]]:
    """Return whether there are several layers, and for each layer a function that cuts the tree."""
    name, given = ("threshold", threshold) if n_regions is None else ("n_regions", n_regions)
    layered = isinstance(given, Sequence | np.ndarray) and not isinstance(given, str)
    values = list(given) if layered else [given]
    if not values:
        raise ValueError(f"{name} is an empty sequence: give a number, or one for each layer.")
    if n_regions is None:
        levels = [check_number(name, value, strict=False) for value in values]
        return layered, [partial(RegionTree.cut, threshold=level) for level in levels]
    return layered, [partial(RegionTree.cut_into, n_groups=check_integer(name, value, low=1)) for value in values]


def _check_cells(cells: GridCells, bandwidths: Bandwidths) -> None:
    """Warn if the cells had to be widened to a bandwidth; raise ValueError if they are wider still."""
    if cells.level == 0:
        return
    problem = (
        f"spatial_bandwidth={bandwidths.spatial:.4g} and color_bandwidth={bandwidths.color:.4g} divide this image into "
        f"more than {cells.grid.limit:,} cells"
    )
    remedy = "use a larger bandwidth, or segment parts of the image."
    if cells.side > 1:
        raise ValueError(f"{problem}, even if each is a bandwidth wide: {remedy}")
    warnings.warn(
        f"{problem}, so the density is computed on cells of one bandwidth instead of half a bandwidth, "
        f"and regions are coarser: {remedy}",
        AdviceWarning,
        stacklevel=3,
    )


def _pixel_modes(image: InputImage, bandwidths: Bandwidths, cells: GridCells, modes: IntArray, band: slice) -> NDArray:
    """Return the mode of each pixel of a band."""
    found = np.full((band.stop - band.start, *image.shape[1:]), MASKED, np.int64)
    found.ravel()[image.selected(band)] = modes[cells.find(bandwidths.features(image, band))]
    return found


def _default_spatial_bandwidth(image: InputImage, config: SegmentConfig) -> float:
    sides = np.array(image.shape) * np.array(image.spacing)
    side = float(np.exp(np.log(sides).mean()))
    return max(side / config.bandwidths_per_side, config.min_bandwidth_pixels * max(image.spacing))


def _label_array(out: NDArray | None, shape: tuple[int, ...]) -> NDArray:
    if out is None:
        return np.empty(shape, np.int64)
    if not isinstance(out, np.ndarray) or out.dtype.kind != "i" or out.dtype.itemsize < 4 or out.shape != shape:
        got = f"{out.dtype} of shape {out.shape}" if isinstance(out, np.ndarray) else type(out).__name__
        raise ValueError(f"out must be an int32 or int64 array of shape {shape}; got {got}.")
    return out
