"""Families of image pixels: position and colour."""

from __future__ import annotations

import numpy as np
from scipy.ndimage import gaussian_filter

from synthetic.base import Sample, family


def _pixels(rng: np.random.Generator, labels: np.ndarray, colors: np.ndarray, noise: float, shading: float) -> Sample:
    """Color the regions, add smooth shading and noise, and weigh position against color as segmentation does."""
    height, width = labels.shape
    image = colors[labels].astype(float)
    image += shading * gaussian_filter(rng.normal(size=(height, width)), height / 5)[..., None] * height / 4
    image += noise * rng.normal(size=image.shape)
    image = gaussian_filter(image, (0.6, 0.6, 0))
    rows, columns = np.mgrid[0:height, 0:width] / max(height, width)
    X = np.column_stack([rows.ravel(), columns.ravel(), image.reshape(-1, image.shape[2])])
    return Sample(X, labels.ravel())


@family("image")
def voronoi_image(rng: np.random.Generator) -> Sample:
    """An image of polygons, each of one color with noise."""
    side, k = int(rng.integers(24, 56)), int(rng.integers(3, 12))
    seeds = rng.uniform(0, side, (k, 2))
    grid = np.stack(np.mgrid[0:side, 0:side], axis=-1)
    labels = np.linalg.norm(grid[:, :, None] - seeds, axis=3).argmin(axis=2)
    return _pixels(rng, labels, rng.uniform(0, 1, (k, 3)), rng.uniform(0.02, 0.12), rng.uniform(0, 0.15))


@family("image")
def landscape_image(rng: np.random.Generator) -> Sample:
    """An image of smooth regions (sky, hills, objects) with shading and texture."""
    side, k = int(rng.integers(28, 56)), int(rng.integers(2, 8))
    fields = gaussian_filter(rng.normal(size=(k, side, side)), (0, side / 7, side / 7))
    labels = fields.argmax(axis=0)
    labels = np.unique(labels, return_inverse=True)[1].reshape(labels.shape)
    return _pixels(rng, labels, rng.uniform(0, 1, (k, 3)), rng.uniform(0.02, 0.2), rng.uniform(0, 0.3))


@family("image")
def objects_on_background(rng: np.random.Generator) -> Sample:
    """An image of a few ellipses in front of one background."""
    side, k = int(rng.integers(28, 56)), int(rng.integers(1, 6))
    rows, columns = np.mgrid[0:side, 0:side]
    labels = np.zeros((side, side), dtype=np.intp)
    for j in range(1, k + 1):
        center, radius = rng.uniform(0.15, 0.85, 2) * side, rng.uniform(0.08, 0.25, 2) * side
        labels[((rows - center[0]) / radius[0]) ** 2 + ((columns - center[1]) / radius[1]) ** 2 < 1] = j
    labels = np.unique(labels, return_inverse=True)[1].reshape(labels.shape)
    return _pixels(rng, labels, rng.uniform(0, 1, (k + 1, 3)), rng.uniform(0.02, 0.15), rng.uniform(0, 0.2))
