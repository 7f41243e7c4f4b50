"""Validation of the image given to `segment`, and its pixels in bands."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from numbers import Integral, Real
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from modeseek._common.types import Array, Stage, Watcher
from modeseek.images.cielab import to_cielab


@dataclass(frozen=True, eq=False)
class InputImage:
    """A validated image or volume whose pixels are read in bands of whole rows or planes.

    Attributes
    ----------
    pixels : (..., channels) array
        Values, with the channels on the last axis.
    mask : bool array or None
        True for the pixels to segment; None stands for all of them.
    spacing : tuple of float
        Distance between neighbouring pixels along each axis.
    to_lab : bool
        Whether the channels are sRGB and are converted to CIELAB.
    low, stretch : float
        Without CIELAB, a value becomes (value - low) * stretch, which maps the range of the image to [0, 100].
    """

    pixels: NDArray
    mask: NDArray | None
    spacing: tuple[float, ...]
    to_lab: bool
    low: float = 0.0
    stretch: float = 1.0

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the label image."""
        return self.pixels.shape[:-1]

    def bands(self, pixels: int, stage: str = "", progress: Watcher | None = None) -> Iterator[slice]:
        """Yield slices of whole rows (planes of a volume) with about `pixels` pixels each, and report progress."""
        step = max(1, pixels // max(1, int(np.prod(self.shape[1:]))))
        for start in range(0, self.shape[0], step):
            stop = min(start + step, self.shape[0])
            yield slice(start, stop)
            if progress is not None:
                progress(Stage(stage, stop, self.shape[0], "planes" if len(self.shape) == 3 else "rows"))

    def selected(self, band: slice) -> NDArray:
        """Return a flat boolean array: which pixels of a band are to be segmented."""
        if self.mask is None:
            return np.ones(int(np.prod((band.stop - band.start, *self.shape[1:]))), bool)
        return np.ascontiguousarray(self.mask[band]).ravel()

    def colors(self, band: slice) -> Array:
        """Return the colours of the selected pixels of a band, one row each."""
        values = np.ascontiguousarray(self.pixels[band]).reshape(-1, self.pixels.shape[-1])
        if self.mask is not None:
            values = values[self.selected(band)]
        # a memory-mapped file may have another byte order than the processor
        values = values.astype(values.dtype.newbyteorder("="), copy=False)
        return to_cielab(values) if self.to_lab else (values.astype(np.float64) - self.low) * self.stretch

    def positions(self, band: slice) -> Array:
        """Return the positions of the selected pixels of a band, in units of spacing."""
        sides = (np.arange(band.start, band.stop), *(np.arange(n) for n in self.shape[1:]))
        axes = [side * step for side, step in zip(sides, self.spacing, strict=True)]
        positions = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(axes))
        return positions if self.mask is None else positions[self.selected(band)]


def check_image(
    image: ArrayLike,
    mask: ArrayLike | None,
    spacing: float | Sequence[float] | None,
    convert2lab: bool | None,
    channel_axis: int | None,
    *,
    tile: int,
    max_channels: int,
) -> InputImage:
    """Validate the arguments of `segment` that describe the image."""
    pixels = _channels_last(image, channel_axis)
    shape, channels = pixels.shape[:-1], pixels.shape[-1]
    if not 2 <= len(shape) <= 3:
        raise ValueError(
            "image must have the axes (rows, columns) or (planes, rows, columns), with or without channels; "
            f"got shape {np.shape(image)} with channel_axis={channel_axis}."
        )
    if 0 in pixels.shape:
        raise ValueError(f"image has no pixels: its shape is {np.shape(image)}.")
    if channels > max_channels:
        raise ValueError(
            f"image of shape {np.shape(image)} has {channels} channels along axis {channel_axis}, but at most "
            f"{max_channels} are supported: pass the axis of channels, or channel_axis=None for a grey volume."
        )
    checked = InputImage(
        pixels, _check_mask(mask, shape), _check_spacing(spacing, len(shape)), _is_rgb(convert2lab, channels)
    )
    low, high = _value_range(checked, tile)
    if not checked.to_lab:
        return replace(checked, low=low, stretch=100.0 / (high - low) if high > low else 1.0)
    if pixels.dtype.kind == "f" and (low < 0 or high > 1):
        raise ValueError(
            f"image has floats from {low:g} to {high:g}, but RGB floats must lie in [0, 1]: "
            + ("divide by 255" if low >= 0 and 2 < high <= 255 else "rescale the image")
            + ", or pass convert2lab=False if the channels are not colours."
        )
    return checked


def _channels_last(given: Any, channel_axis: Any) -> NDArray:
    if isinstance(given, str | PathLike):
        raise TypeError(f"image must be an array; got the file name {str(given)!r}: read it with skimage.io.imread.")
    image = np.asanyarray(given)
    if image.dtype.kind == "b":
        image = image.astype(np.uint8)
    if image.dtype.itemsize > {"u": 2, "f": 8}.get(image.dtype.kind, 0):
        hint = "pass image.astype(np.uint8) if its values are 0 to 255" if image.dtype.kind in "iu" else "convert it"
        raise TypeError(f"image must be uint8, uint16, float32 or float64; got {image.dtype}: {hint}.")
    # as in scikit-image, except that a two-dimensional array is a grey image for any channel_axis
    if channel_axis is None or image.ndim == 2:
        return image[..., None]
    if isinstance(channel_axis, bool) or not isinstance(channel_axis, Integral):
        raise TypeError(f"channel_axis must be an integer, or None for grey; got {channel_axis!r}.")
    if not -image.ndim <= channel_axis < image.ndim:
        raise ValueError(f"channel_axis={channel_axis} is out of range for an image of shape {image.shape}.")
    return np.moveaxis(image, int(channel_axis), -1)


def _is_rgb(convert2lab: Any, channels: int) -> bool:
    if convert2lab not in (None, True, False):
        raise TypeError(f"convert2lab must be True, False or None; got {convert2lab!r}.")
    if convert2lab and channels != 3:
        raise ValueError(f"convert2lab=True needs 3 channels (RGB); image has {channels}: leave convert2lab out.")
    if convert2lab is None and channels == 4:
        raise ValueError("image has 4 channels: drop an alpha channel (image[..., :3]), or pass convert2lab=False.")
    return channels == 3 if convert2lab is None else bool(convert2lab)


def _check_spacing(spacing: Any, dimensions: int) -> tuple[float, ...]:
    if spacing is None:
        return (1.0,) * dimensions
    steps = np.asarray([spacing] * dimensions if isinstance(spacing, Real) else spacing)
    if steps.dtype.kind not in "iuf" or steps.shape != (dimensions,) or not (steps > 0).all() or np.isinf(steps).any():
        raise ValueError(f"spacing must be a number > 0, or {dimensions} of them, one per axis; got {spacing!r}.")
    return tuple(float(step) for step in steps)


def _check_mask(mask: Any, shape: tuple[int, ...]) -> NDArray | None:
    if mask is None:
        return None
    selected = np.asanyarray(mask)
    if selected.shape != shape:
        raise ValueError(f"mask has shape {selected.shape}, but the image has {shape}: give one value per pixel.")
    selected = selected.astype(bool)
    if not selected.any():
        raise ValueError("mask selects no pixel: set it to True where the image is to be segmented.")
    return selected


def _value_range(image: InputImage, tile: int) -> tuple[float, float]:
    """Return the smallest and the largest selected value; raise ValueError for NaN and infinity."""
    low, high = np.inf, -np.inf
    for band in image.bands(tile):
        values = image.pixels[band]
        if image.mask is not None:
            values = values[image.mask[band]]
        if not values.size:
            continue
        smallest, largest = float(values.min()), float(values.max())
        if not np.isfinite(smallest) or not np.isfinite(largest):
            raise ValueError(_not_finite_message(image, band))
        low, high = min(low, smallest), max(high, largest)
    return low, high


def _not_finite_message(image: InputImage, band: slice) -> str:
    bad = ~np.isfinite(image.pixels[band])
    if image.mask is not None:
        bad &= image.mask[band][..., None]
    *pixel, channel = (int(i) for i in np.argwhere(bad)[0])
    pixel[0] += band.start
    several = image.pixels.shape[-1] > 1
    where = ", ".join(map(str, pixel)) + (f", channel {channel}" if several else "")
    return (
        f"image has NaN or infinity, first at pixel ({where}): fill such values (np.nan_to_num), or exclude the pixels "
        "with mask=np.isfinite(image)" + (".all(axis=channel_axis)." if several else ".")
    )
