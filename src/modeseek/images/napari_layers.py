"""Regions as layers of napari, which need not be installed."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from modeseek.images.segmentation import segment

# data, keyword arguments of the layer, type of the layer: what napari calls LayerData
LayerData = tuple[NDArray, dict[str, Any], str]


def label_layers(
    image: ArrayLike,
    *,
    n_regions: int | Sequence[int] | None = None,
    scale: float | Sequence[float] | None = None,
    channel_axis: int | None = -1,
) -> list[LayerData]:
    """Segment an image and return the regions as label layers of napari.

    A reader or a widget of napari may return the list as it is; `viewer.add_labels(labels, **keywords)` adds one layer
    by hand.

    Parameters
    ----------
    image : array-like of shape (rows, columns[, channels]) or (planes, rows, columns[, channels])
        The data of an image layer.
    n_regions : int or sequence of int, optional
        Number of regions, or one number for each layer. Default: the threshold of `segment` decides.
    scale : float or sequence of float, optional
        Scale of the image layer: the distance between neighbouring pixels along each axis.
    channel_axis : int or None, default=-1
        The axis of channels, as in `segment`.

    Returns
    -------
    layers : list of (labels, keywords, "labels")
        One layer for each number of regions. The keywords are the name and, if it was given, the scale.

    Examples
    --------
    >>> image = np.zeros((64, 64, 3), np.uint8)
    >>> image[:, 40:] = 200, 30, 30
    >>> labels, keywords, kind = label_layers(image)[0]
    >>> labels.shape, keywords, kind
    ((64, 64), {'name': '2 regions'}, 'labels')
    """
    found = segment(image, n_regions=n_regions, spacing=scale, channel_axis=channel_axis)
    layered = isinstance(n_regions, Sequence | np.ndarray)
    layers: list[LayerData] = []
    for labels in found if layered else [found]:
        regions = int(labels.max())
        keywords: dict[str, Any] = {"name": "1 region" if regions == 1 else f"{regions} regions"}
        if scale is not None:
            keywords["scale"] = scale
        layers.append((labels, keywords, "labels"))
    return layers
