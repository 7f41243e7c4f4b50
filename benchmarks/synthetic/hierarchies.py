"""Families whose clusters form groups: the labels are those of the finest level with visible gaps."""

from __future__ import annotations

import numpy as np
from scipy.ndimage import gaussian_filter

from synthetic.base import Sample, family
from synthetic.tools import centers_apart, gaussian_mixture, log_integer, log_uniform, random_covariances, sizes


def _split_centers(rng: np.random.Generator, k: int, d: int, distance: float, ratio: float) -> np.ndarray:
    """Draw k centers as leaves of a random binary tree; each level is closer together than the one above."""
    centers, level = [np.zeros(d)], [0]
    depth = int(np.ceil(np.log2(max(k, 2)))) + 1
    while len(centers) < k:
        at = int(rng.integers(0, len(centers)))
        if level[at] >= depth:
            continue
        center, deep = centers.pop(at), level.pop(at)
        away = rng.normal(size=d)
        away *= distance * ratio ** (depth - 1 - deep) / 2 / np.linalg.norm(away)
        centers += [center + away, center - away]
        level += [deep + 1, deep + 1]
    return np.array(centers)


@family("gaussian")
def uneven_hierarchy(rng: np.random.Generator) -> Sample:
    """Gaussians whose centers split again and again, at ever smaller distances."""
    k, d = log_integer(rng, 3, 30), int(rng.integers(2, 13))
    centers = _split_centers(rng, k, d, rng.uniform(3.2, 5.0), rng.uniform(1.2, 2.0))
    counts = sizes(rng, log_integer(rng, 25 * k, 150 * k), k, rng.choice([1.0, 4.0, 10.0]), least=8)
    return gaussian_mixture(rng, centers, random_covariances(rng, k, d, rng.uniform(1.0, 3.0)), counts)


@family("table")
def species(rng: np.random.Generator) -> Sample:
    """Measurements of 2 to 6 species that share a size factor; one species is far from two similar ones."""
    k, d = int(rng.integers(2, 7)), int(rng.integers(3, 9))
    centers = _split_centers(rng, k, d, rng.uniform(2.6, 4.0), rng.uniform(1.4, 2.5))
    counts = sizes(rng, log_integer(rng, 30 * k, 120 * k), k, rng.choice([1.0, 3.0]), least=15)
    y = np.repeat(np.arange(k), counts)
    size = rng.normal(size=(len(y), 1)) * rng.uniform(0.5, 1.5) * np.exp(rng.uniform(-0.3, 0.3, k))[y][:, None]
    X = centers[y] + size * rng.uniform(0.3, 1.0, d) + rng.uniform(0.5, 0.9) * rng.normal(size=(len(y), d))
    X *= np.exp(rng.uniform(-1, 1, d))
    return Sample(np.round(X, 1) if rng.random() < 0.5 else X, y)


@family("embedding")
def speakers_in_groups(rng: np.random.Generator) -> Sample:
    """Speaker embeddings in two groups, as of women and men, that are further apart than speakers."""
    k, d = log_integer(rng, 4, 150), int(rng.choice([128, 192, 256, 512]))
    decay = np.exp(-np.arange(d) / (d * rng.uniform(0.15, 0.6)))
    group = rng.integers(0, 2, k)
    offset = rng.normal(size=d) * decay * rng.uniform(0.5, 2.5)
    centers = rng.normal(size=(k, d)) * decay + np.where(group[:, None] > 0, 1, -1) * offset / 2
    counts = sizes(rng, k * log_integer(rng, 5, 40), k, rng.choice([1.0, 6.0]), least=4)
    y = np.repeat(np.arange(k), counts)
    channel = rng.normal(size=(int(rng.integers(1, 5)), d)) * decay
    X = centers[y] + rng.normal(size=(len(y), len(channel))) @ channel * rng.uniform(0, 0.5)
    X += rng.uniform(0.4, 1.1) * rng.normal(size=X.shape) * decay**0.5
    return Sample(X / np.linalg.norm(X, axis=1, keepdims=True), y, "cosine")


@family("embedding")
def spoken_words(rng: np.random.Generator) -> Sample:
    """Embeddings of short words: the word shifts the embedding about as much as the speaker does."""
    k, words, d = log_integer(rng, 3, 30), int(rng.integers(3, 11)), int(rng.choice([128, 192, 256]))
    decay = np.exp(-np.arange(d) / (d * rng.uniform(0.15, 0.6)))
    each = int(rng.integers(1, 5))
    y = np.repeat(np.arange(k), words * each)
    said = np.tile(np.repeat(np.arange(words), each), k)
    X = (rng.normal(size=(k, d)) * decay)[y] + rng.uniform(0.3, 0.9) * (rng.normal(size=(words, d)) * decay)[said]
    X += rng.uniform(0.4, 0.9) * rng.normal(size=X.shape) * decay**0.5
    return Sample(X / np.linalg.norm(X, axis=1, keepdims=True), y, "cosine")


@family("compact")
def barcodes(rng: np.random.Generator) -> Sample:
    """Cells or beads stained at a few levels of two or three dyes: clusters near the points of a skewed grid."""
    d, levels = int(rng.integers(2, 4)), rng.integers(2, 7, 3)
    grid = np.stack(np.meshgrid(*[np.arange(levels[j]) for j in range(d)], indexing="ij"), axis=-1).reshape(-1, d)
    kept = grid[rng.permutation(len(grid))[: max(3, int(rng.uniform(0.3, 1.0) * len(grid)))]]
    k = min(len(kept), 30)
    steps = np.cumsum(rng.uniform(0.7, 1.3, (d, 8)), axis=1)
    centers = np.column_stack([steps[j][kept[:k, j]] for j in range(d)])
    counts = sizes(rng, log_integer(rng, 40 * k, 250 * k), k, rng.choice([1.0, 8.0, 30.0]), least=12)
    y = np.repeat(np.arange(k), counts)
    wide = rng.uniform(0.06, 0.17) * np.exp(rng.uniform(-0.4, 0.4, (k, d)))
    X = centers[y] + wide[y] * rng.standard_t(8, size=(len(y), d))
    if rng.random() < 0.5:  # one more column that says little
        X = np.column_stack([X, rng.normal(size=len(X)) * rng.uniform(0.5, 1.5)])
    return Sample(np.exp(X * rng.uniform(0, 0.25)) if rng.random() < 0.5 else X, y)


def _piece(rng: np.random.Generator, n: int) -> np.ndarray:
    """Draw a bar, a disk, an arc or a lattice of size about 1."""
    kind = int(rng.integers(0, 4))
    if kind == 0:
        X = rng.uniform(-0.5, 0.5, (n, 2)) * [1.0, rng.uniform(0.15, 0.6)]
    elif kind == 1:
        X = rng.normal(size=(n, 2))
        X *= 0.5 * np.sqrt(rng.random(n))[:, None] / np.linalg.norm(X, axis=1, keepdims=True)
    elif kind == 2:
        angle = rng.uniform(0, rng.uniform(1.5, 3.5), n)
        X = 0.5 * np.column_stack([np.cos(angle), np.sin(angle)]) + rng.normal(0, 0.03, (n, 2))
    else:
        side = max(2, int(np.sqrt(n)))
        X = np.stack(np.mgrid[0:side, 0:side], axis=-1).reshape(-1, 2) / side - 0.5 + rng.normal(0, 0.01, (side**2, 2))
    turn = rng.uniform(0, 2 * np.pi)
    return X @ np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])


@family("shape")
def groups_of_shapes(rng: np.random.Generator) -> Sample:
    """Bars, disks, arcs and lattices in two to four groups; gaps within a group are narrow, between groups wide."""
    X, y = [], []
    for center in centers_apart(rng, int(rng.integers(2, 5)), 2, rng.uniform(4.0, 8.0)):
        n_pieces = int(rng.integers(2, 5))
        places = centers_apart(rng, n_pieces, 2, rng.uniform(1.15, 1.6))
        for place in places - places.mean(axis=0):
            piece = _piece(rng, log_integer(rng, 25, 150)) * rng.uniform(0.6, 1.0)
            X.append(center + place + piece)
            y.append(np.full(len(piece), len(y)))
    return Sample(np.concatenate(X), np.concatenate(y))


@family("shape")
def disk_in_ring(rng: np.random.Generator) -> Sample:
    """A disk inside of a ring: a narrow gap between them, or a jump of the density by a factor of 3 or more."""
    n, inner, gapped = log_integer(rng, 400, 5000), rng.uniform(0.35, 0.65), rng.random() < 0.6
    gap, contrast = (rng.uniform(0.06, 0.2), log_uniform(rng, 0.3, 3)) if gapped else (0.0, log_uniform(rng, 3, 9))
    low = inner + gap
    share = contrast * inner**2 / (contrast * inner**2 + 1 - low**2)
    y = (rng.random(n) >= share).astype(np.intp)
    radius = np.where(y == 0, inner * np.sqrt(rng.random(n)), np.sqrt(rng.uniform(low**2, 1, n)))
    angle = rng.uniform(0, 2 * np.pi, n)
    return Sample(np.column_stack([radius * np.cos(angle), radius * np.sin(angle)]), y)


@family("image")
def photograph(rng: np.random.Generator) -> Sample:
    """Pixels of a photograph-like image: regions with parts of similar color, gradients of light, and texture."""
    side, k = int(rng.integers(30, 64)), int(rng.integers(2, 10))
    rows, columns = np.mgrid[0:side, 0:side] / side
    smooth = rng.uniform(0.08, 0.2) * side
    labels = gaussian_filter(rng.normal(size=(k, side, side)), (0, smooth, smooth)).argmax(axis=0)
    labels = np.unique(labels, return_inverse=True)[1].reshape(labels.shape)
    k = int(labels.max()) + 1
    light = rng.uniform(5, 95, k)[labels]
    color = rng.normal(0, rng.uniform(4, 18), (k, 2))[labels]
    slope = rng.normal(0, rng.uniform(3, 20), (k, 2))
    light += slope[labels, 0] * (rows - 0.5) + slope[labels, 1] * (columns - 0.5)
    texture = gaussian_filter(rng.normal(size=(side, side)), rng.uniform(0.3, 1.2))
    light += texture / texture.std() * rng.uniform(0.5, 9, k)[labels]
    color = color * (0.4 + light[..., None] / 90) + rng.normal(0, rng.uniform(0.3, 2.5), (*labels.shape, 2))
    position = np.column_stack([rows.ravel(), columns.ravel()])
    return Sample(np.column_stack([light.clip(0, 100).ravel(), color.reshape(-1, 2), position]), labels.ravel())


@family("image")
def photograph_of_parts(rng: np.random.Generator) -> Sample:
    """Pixels of 2 to 5 objects, each of 2 to 4 parts whose colors differ little; the parts are the clusters."""
    side, n_objects = int(rng.integers(34, 68)), int(rng.integers(2, 6))
    rows, columns = np.mgrid[0:side, 0:side] / side
    fields = gaussian_filter(rng.normal(size=(2, 5, side, side)), (0, 0, *[rng.uniform(0.09, 0.18) * side] * 2))
    whole, part = fields[0, :n_objects].argmax(axis=0), fields[1, : int(rng.integers(2, 5))].argmax(axis=0)
    labels = np.unique(whole * 5 + part, return_inverse=True)[1].reshape(side, side)
    owner = np.zeros(labels.max() + 1, dtype=np.intp)
    owner[labels.ravel()] = whole.ravel()
    base = rng.uniform([15, -20, -20], [85, 20, 20], (n_objects, 3)) + 0.0
    colors = base[owner] + rng.normal(size=(len(owner), 3)) * rng.uniform([6, 3, 3], [16, 9, 9])
    image = colors[labels]
    slope = rng.normal(0, rng.uniform(2, 12), (n_objects, 2))
    image[..., 0] += slope[whole, 0] * (rows - 0.5) + slope[whole, 1] * (columns - 0.5)
    image[..., 0] += rng.normal(size=labels.shape) * rng.uniform(0.5, 5, n_objects)[whole]
    image[..., 1:] += rng.normal(0, rng.uniform(0.3, 2.0), (side, side, 2))
    image = gaussian_filter(image, (0.6, 0.6, 0))
    return Sample(np.column_stack([image.reshape(-1, 3), rows.ravel(), columns.ravel()]), labels.ravel())


@family("table")
def dense_and_diffuse_classes(rng: np.random.Generator) -> Sample:
    """A dense class, as of healthy people, and one to three diffuse classes that spread away from it."""
    k, d = int(rng.integers(2, 5)), int(rng.integers(3, 11))
    counts = np.concatenate([[log_integer(rng, 80, 500)], sizes(rng, log_integer(rng, 50, 300), k - 1, 3.0, least=20)])
    y = np.repeat(np.arange(k), counts)
    away = rng.normal(size=(k, d)) * (rng.random((k, d)) < 0.6)
    away *= rng.uniform(2.5, 5.0) / np.maximum(np.linalg.norm(away, axis=1, keepdims=True), 0.5)
    away[0] = 0.0
    X = np.where(y[:, None] > 0, rng.uniform(1.2, 2.5), 0.6) * rng.normal(size=(len(y), d))
    X += away[y] * np.where(y > 0, rng.gamma(4.0, 0.25, len(y)), 0.0)[:, None]
    if rng.random() < 0.4:  # scores from 1 to 10, with the dense class at the lower end
        X = np.clip(np.round(2 + 1.5 * np.abs(X)), 1, 10)
    return Sample(X, y)


@family("table")
def correlated_species(rng: np.random.Generator) -> Sample:
    """Two to five classes with the same strong correlations, separate along a direction of little variance."""
    k, d = int(rng.integers(2, 6)), int(rng.integers(3, 10))
    covariance = random_covariances(rng, 1, d, rng.uniform(5, 20))[0]
    centers = _split_centers(rng, k, d, rng.uniform(3.2, 5.0), rng.uniform(1.0, 1.8)) @ np.linalg.cholesky(covariance).T
    counts = sizes(rng, log_integer(rng, 30 * k, 150 * k), k, rng.choice([1.0, 3.0]), least=15)
    sample = gaussian_mixture(rng, centers, np.repeat(covariance[None], k, axis=0), counts)
    return sample._replace(X=np.round(sample.X, 1)) if rng.random() < 0.4 else sample


@family("gaussian")
def elongated_overlap(rng: np.random.Generator) -> Sample:
    """Five to fifteen long Gaussians in two or three dimensions that overlap in part."""
    k, d = int(rng.integers(5, 16)), int(rng.integers(2, 4))
    centers = centers_apart(rng, k, d, rng.uniform(2.5, 4.0))
    counts = sizes(rng, log_integer(rng, 40 * k, 250 * k), k, rng.choice([1.0, 4.0]), least=20)
    return gaussian_mixture(rng, centers, random_covariances(rng, k, d, rng.uniform(4, 12)), counts)
