"""The gate for pictures: what is given becomes bands of pixels with colours and places."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from modeseek._common.types import Array, Stage, Watcher
from modeseek.images.colours import lab

__all__ = ["Picture", "check_picture"]

# more channels than this and the density has nothing left to tell: most cells hold one pixel
MOST_CHANNELS = 8
KINDS = "uint8, uint16, float32 or float64"


@dataclass(frozen=True, eq=False)
class Picture:
    """A picture or a volume, looked at band by band.

    Attributes
    ----------
    pixels : (..., channels) array
        Values, the channels last.
    mask : bool array or None
        Pixels that count.
    spacing : tuple of float
        Distance between neighbours along each axis.
    to_lab : bool
        Whether colours are sRGB and become CIELAB.
    low, stretch : float
        Other values become (value - low) * stretch, which puts the picture on 0 to 100.
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

    def bands(self, pixels: int, doing: str = "", watch: Watcher | None = None) -> Iterator[slice]:
        """Yield whole rows (planes of a volume), about so many pixels at a time, and tell when they are done."""
        step = max(1, pixels // max(1, int(np.prod(self.shape[1:]))))
        for start in range(0, self.shape[0], step):
            stop = min(start + step, self.shape[0])
            yield slice(start, stop)
            if watch is not None:
                watch(Stage(doing, stop, self.shape[0], "planes" if len(self.shape) == 3 else "rows"))

    def taken(self, band: slice) -> NDArray:
        """Return which pixels of a band count, one flag for each."""
        if self.mask is None:
            return np.ones(int(np.prod((band.stop - band.start, *self.shape[1:]))), bool)
        return np.ascontiguousarray(self.mask[band]).ravel()

    def colours(self, band: slice) -> Array:
        """Return the colours of a band's pixels that count, in rows."""
        values = np.ascontiguousarray(self.pixels[band]).reshape(-1, self.pixels.shape[-1])
        if self.mask is not None:
            values = values[self.taken(band)]
        # files may have bytes the other way round
        values = values.astype(values.dtype.newbyteorder("="), copy=False)
        return lab(values) if self.to_lab else (values.astype(np.float64) - self.low) * self.stretch

    def places(self, band: slice) -> Array:
        """Return where the same pixels are, in units of spacing."""
        sides = (np.arange(band.start, band.stop), *(np.arange(n) for n in self.shape[1:]))
        axes = [side * step for side, step in zip(sides, self.spacing, strict=True)]
        places = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(axes))
        return places if self.mask is None else places[self.taken(band)]


def check_picture(
    image: ArrayLike,
    mask: ArrayLike | None,
    spacing: float | Sequence[float] | None,
    convert2lab: bool | None,
    channel_axis: int | None,
    band: int,
) -> Picture:
    """Check what `segment` is given, by its own names, and return it as one thing."""
    pixels = _with_channels(image, channel_axis)
    shape, channels = pixels.shape[:-1], pixels.shape[-1]
    if not 2 <= len(shape) <= 3:
        raise ValueError(
            f"image must be a picture (rows, columns) or a volume (planes, rows, columns), with channels or without; "
            f"got shape {np.shape(image)} with channel_axis={channel_axis}."
        )
    if 0 in pixels.shape:
        raise ValueError(f"image has no pixels: its shape is {np.shape(image)}.")
    to_lab = _converts(convert2lab, channels, channel_axis, np.shape(image))
    kept = _checked_mask(mask, shape)
    picture = Picture(pixels, kept, _steps(spacing, len(shape)), to_lab)
    low, high = _extremes(picture, band, colours=channels > 1)
    if to_lab:
        if pixels.dtype.kind == "f" and (low < 0 or high > 1):
            raise ValueError(
                f"image has floats from {low:g} to {high:g}, and colours are converted to CIELAB from [0, 1]: "
                + ("divide by 255" if low >= 0 and 2 < high <= 255 else "rescale it")
                + ", or pass convert2lab=False for channels that are no colours."
            )
        return picture
    return Picture(pixels, kept, picture.spacing, False, low, 100.0 / (high - low) if high > low else 1.0)


def _with_channels(given: Any, channel_axis: Any) -> NDArray:
    if isinstance(given, str | PathLike):
        raise TypeError(
            f"image must be an array; got the name {str(given)!r}: read the file first, with skimage.io.imread or "
            "numpy.load."
        )
    image = np.asanyarray(given)
    if image.dtype.kind == "b":
        image = image.astype(np.uint8)
    if image.dtype.itemsize > {"u": 2, "f": 8}.get(image.dtype.kind, 0):
        hint = "image.astype(np.uint8) for values from 0 to 255" if image.dtype.kind in "iu" else "numbers"
        raise TypeError(f"image must hold {KINDS}; got {image.dtype}: give {hint}.")
    # as scikit-image has it, but for one thing: a plain matrix is grey whatever the axis says
    if channel_axis is None or image.ndim == 2:
        return image[..., None]
    if isinstance(channel_axis, bool) or not isinstance(channel_axis, Integral):
        raise TypeError(f"channel_axis must be a whole number, or None for grey; got {channel_axis!r}.")
    if not -image.ndim <= channel_axis < image.ndim:
        raise ValueError(f"channel_axis={channel_axis} is no axis of an image of shape {image.shape}.")
    return np.moveaxis(image, int(channel_axis), -1)


def _converts(convert2lab: Any, channels: int, channel_axis: Any, shape: tuple[int, ...]) -> bool:
    if convert2lab not in (None, True, False):
        raise TypeError(f"convert2lab must be True, False or None; got {convert2lab!r}.")
    if convert2lab and channels != 3:
        raise ValueError(f"convert2lab=True needs the 3 channels of RGB; image has {channels}. Leave it out.")
    if convert2lab is None and channels == 4:
        raise ValueError(
            "image has 4 channels: if the last is opacity, drop it with image[..., :3]; if all are measurements, pass "
            "convert2lab=False."
        )
    if channels > MOST_CHANNELS:
        remedy = "pass channel_axis=None for a grey volume, or channel_axis=0 where channels come first"
        raise ValueError(
            f"image of shape {shape} has {channels} channels along axis {channel_axis}, and at most {MOST_CHANNELS} "
            f"make sense: {remedy}; reduce more channels first (sklearn.decomposition.PCA)."
        )
    return channels == 3 if convert2lab is None else bool(convert2lab)


def _steps(spacing: Any, dimensions: int) -> tuple[float, ...]:
    if spacing is None:
        return (1.0,) * dimensions
    if isinstance(spacing, Real):
        spacing = [spacing] * dimensions
    steps = np.asarray(spacing)
    if steps.dtype.kind not in "iuf" or steps.shape != (dimensions,) or not (steps > 0).all() or np.isinf(steps).any():
        raise ValueError(
            f"spacing must be a number > 0 or one for each of the {dimensions} axes of space; got {spacing!r}."
        )
    return tuple(float(step) for step in steps)


def _checked_mask(mask: Any, shape: tuple[int, ...]) -> NDArray | None:
    if mask is None:
        return None
    kept = np.asanyarray(mask)
    if kept.shape != shape:
        raise ValueError(f"mask has shape {kept.shape} where the picture has {shape}: one flag for each pixel.")
    kept = kept.astype(bool)
    if not kept.any():
        raise ValueError("mask leaves no pixel: it must be True where the picture is to be segmented.")
    return kept


def _extremes(picture: Picture, band: int, *, colours: bool) -> tuple[float, float]:
    """Return the smallest and the largest value that counts, and refuse what is no number."""
    low, high = np.inf, -np.inf
    for part in picture.bands(band):
        values = picture.pixels[part]
        if picture.mask is not None:
            values = values[picture.mask[part]]
        if not values.size:
            continue
        least, most = float(values.min()), float(values.max())
        if not np.isfinite(least) or not np.isfinite(most):
            raise ValueError(_missing(picture, part, colours))
        low, high = min(low, least), max(high, most)
    return low, high


def _missing(picture: Picture, part: slice, colours: bool) -> str:
    bad = ~np.isfinite(picture.pixels[part])
    if picture.mask is not None:
        bad &= picture.mask[part][..., None]
    place = [int(i) for i in np.argwhere(bad)[0]]
    place[0] += part.start
    where = ", ".join(str(i) for i in place[:-1]) + (f", channel {place[-1]}" if colours else "")
    return (
        f"image has NaN or infinity, first at pixel ({where}): fill it (np.nan_to_num), or leave such pixels out with "
        "mask=np.isfinite(image)" + (".all(axis=channel_axis)." if colours else ".")
    )
