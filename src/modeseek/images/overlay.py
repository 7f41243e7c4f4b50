"""Boundaries of regions drawn on an image."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from modeseek.images.segmentation import require_scikit_image


def overlay(image: ArrayLike, labels: ArrayLike, *, channel_axis: int | None = -1) -> NDArray:
    """Return the image in RGB, uint8, with the boundaries of regions in yellow, outlined in black.

    Parameters
    ----------
    image : array-like of shape (rows, columns[, channels])
        A grey image, or channels of which the first three are shown. Values that are neither uint8 nor colours in
        [0, 1] are rescaled from the range of the image.
    labels : integer array-like of shape (rows, columns)
    channel_axis : int or None, default=-1
        The axis of channels, as in `segment`.

    Examples
    --------
    >>> drawn = overlay(np.zeros((8, 8), np.uint8), np.repeat([[1] * 4 + [2] * 4], 8, axis=0))
    >>> drawn.shape, drawn[0, 3].tolist(), drawn[0, 0].tolist()
    ((8, 8, 3), [255, 255, 0], [0, 0, 0])
    """
    require_scikit_image()
    from skimage.segmentation import mark_boundaries

    values, regions = np.asarray(image), np.asarray(labels)
    if values.ndim == 3 and channel_axis is not None:
        values = np.moveaxis(values, channel_axis, -1)[..., :3]
    if regions.ndim != 2 or values.shape[:2] != regions.shape or (values.ndim == 3 and channel_axis is None):
        shapes = f"{regions.shape} and {np.shape(image)}"
        raise ValueError(f"labels must have the rows and columns of the image; got shapes {shapes}.")
    if values.ndim == 3 and values.shape[-1] == 2:
        values = values[..., 0]
    drawn = mark_boundaries(_to_unit_range(values), regions, color=(1, 1, 0), outline_color=(0, 0, 0), mode="inner")
    return np.rint(255 * drawn).astype(np.uint8)


def _to_unit_range(values: NDArray) -> NDArray:
    if values.dtype == np.uint8:
        return values / 255.0
    if values.dtype == bool:
        return values * 1.0
    low, high = np.nanmin(values), np.nanmax(values)
    if values.dtype.kind == "f" and values.ndim == 3 and low >= 0 and high <= 1:
        return values
    return np.nan_to_num((values - float(low)) / (float(high - low) or 1.0))
