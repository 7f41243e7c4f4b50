"""Families of image pixels: position and colour."""

from __future__ import annotations

import numpy as np
from scipy.ndimage import distance_transform_edt, gaussian_filter

from synthetic.base import Sample, family
from synthetic.tools import log_uniform


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


def _texture(rng: np.random.Generator, height: int, width: int, slope: float) -> np.ndarray:
    """Draw a random field with mean 0, spread 1 and a power spectrum that falls as frequency ** -slope."""
    frequency = np.hypot(np.fft.fftfreq(height)[:, None], np.fft.fftfreq(width)[None])
    frequency[0, 0] = 1.0
    field = np.fft.ifft2(np.fft.fft2(rng.normal(size=(height, width))) * frequency ** (-slope / 2)).real
    return (field - field.mean()) / field.std()


def _large_regions(labels: np.ndarray, least: float) -> np.ndarray:
    """Give pixels of regions smaller than a share `least` to the nearest larger region."""
    counts = np.bincount(labels.ravel())
    small = counts[labels] < least * labels.size
    if small.all():
        return np.zeros_like(labels)
    nearest = distance_transform_edt(small, return_distances=False, return_indices=True)
    return np.unique(labels[tuple(nearest)], return_inverse=True)[1].reshape(labels.shape)


def _scene(rng: np.random.Generator, labels: np.ndarray, colors: np.ndarray) -> Sample:
    """Paint regions with textures, common light and blur, as a photograph in Lab colors, and add the positions."""
    height, width = labels.shape
    k = int(labels.max()) + 1
    image = colors[labels]
    rough = rng.gamma(1.5, rng.uniform(1.0, 4.0), k)
    slopes = rng.uniform(0.5, 3.0, k)
    for region in range(k):
        inside = labels == region
        for channel, share in enumerate((1.0, 0.25, 0.25)):
            image[..., channel][inside] += share * rough[region] * _texture(rng, height, width, slopes[region])[inside]
    image[..., 0] += rng.uniform(0, 8) * _texture(rng, height, width, 3.0)
    image = gaussian_filter(image, (*[rng.uniform(0.4, 0.9)] * 2, 0))
    rows, columns = np.mgrid[0:height, 0:width]
    return Sample(np.column_stack([image.reshape(-1, 3), rows.ravel(), columns.ravel()]), labels.ravel())


def _photograph_shape(rng: np.random.Generator) -> tuple[int, int]:
    side = int(rng.integers(34, 56))
    return (side, side * 3 // 2) if rng.random() < 0.6 else (side * 3 // 2, side)


def _lab_colors(rng: np.random.Generator, k: int) -> np.ndarray:
    """Draw Lab colors whose contrast differs from scene to scene."""
    middle, spread = rng.uniform([35, -6, -6], [65, 6, 12]), rng.uniform([10, 2, 2], [28, 10, 14])
    return middle + spread * rng.normal(size=(k, 3))


@family("image")
def dead_leaves(rng: np.random.Generator) -> Sample:
    """A scene of shapes of all sizes in front of each other; the larger visible ones are the clusters."""
    height, width = _photograph_shape(rng)
    rows, columns = np.mgrid[0:height, 0:width]
    labels = np.zeros((height, width), dtype=np.intp)
    n_leaves = int(rng.integers(8, 40))
    for leaf in range(1, n_leaves + 1):
        radius = height * log_uniform(rng, 0.05, 0.6) * np.exp(rng.uniform(-0.4, 0.4, 2))
        turn, center = rng.uniform(0, np.pi), rng.uniform([0, 0], [height, width])
        y, x = rows - center[0], columns - center[1]
        u, v = (x * np.cos(turn) + y * np.sin(turn)) / radius[0], (y * np.cos(turn) - x * np.sin(turn)) / radius[1]
        labels[(np.abs(u) ** 3 + np.abs(v) ** 3 < 1) if leaf % 2 else (u**2 + v**2 < 1)] = leaf
    labels = _large_regions(np.unique(labels, return_inverse=True)[1].reshape(labels.shape), 0.02)
    return _scene(rng, labels, _lab_colors(rng, int(labels.max()) + 1))


@family("image")
def layered_scene(rng: np.random.Generator) -> Sample:
    """A scene of two to five layers with rough borders, as sky, hills and ground, and a few objects in front."""
    height, width = _photograph_shape(rng)
    rows, columns = np.mgrid[0:height, 0:width]
    heights = np.sort(rng.uniform(0.1, 0.9, int(rng.integers(1, 5)))) * height
    labels = np.zeros((height, width), dtype=np.intp)
    for border in heights:
        profile = gaussian_filter(rng.normal(size=width), rng.uniform(2, 12), mode="nearest")
        labels += rows > border + profile / (profile.std() + 1e-9) * height * rng.uniform(0.0, 0.1)
    for j in range(int(rng.integers(0, 6))):
        center, radius = rng.uniform([0.1, 0.1], [0.9, 0.9]) * [height, width], rng.uniform(0.05, 0.22, 2) * height
        wobble = 1 + 0.3 * np.sin(3 * np.arctan2(rows - center[0], columns - center[1]) + rng.uniform(0, 6))
        labels[np.hypot((rows - center[0]) / radius[0], (columns - center[1]) / radius[1]) < wobble] = 10 + j
    labels = _large_regions(np.unique(labels, return_inverse=True)[1].reshape(labels.shape), 0.015)
    return _scene(rng, labels, _lab_colors(rng, int(labels.max()) + 1))


@family("image")
def animal_in_a_field(rng: np.random.Generator) -> Sample:
    """A scene of one or two objects of a few parts in front of a background of one or two textures."""
    height, width = _photograph_shape(rng)
    field = gaussian_filter(rng.normal(size=(8, height, width)), (0, *[rng.uniform(0.06, 0.16) * height] * 2))
    field /= field.std(axis=(1, 2), keepdims=True)
    background = (field[0] > rng.normal(0, 1)).astype(np.intp) if rng.random() < 0.6 else np.zeros_like(field[0], int)
    labels = background
    for j in range(int(rng.integers(1, 3))):
        rows, columns = np.mgrid[0:height, 0:width]
        center = rng.uniform([0.25, 0.25], [0.75, 0.75]) * [height, width]
        near = np.hypot(rows - center[0], columns - center[1]) / (height * rng.uniform(0.2, 0.4))
        parts = field[2 + 2 * j : 5 + 2 * j, :, :][: int(rng.integers(1, 4))].argmax(axis=0)
        labels = np.where(near + 0.25 * field[1] < 1, 10 * (j + 1) + parts, labels)
    labels = _large_regions(np.unique(labels, return_inverse=True)[1].reshape(labels.shape), 0.015)
    return _scene(rng, labels, _lab_colors(rng, int(labels.max()) + 1))
