"""Families in the plane whose clusters differ in density, or have subclusters with narrow gaps."""

from __future__ import annotations

import numpy as np

from synthetic.base import Array, Sample, family
from synthetic.tools import centers_apart, gaussian_mixture, log_integer, log_uniform, random_covariances, sizes


def _disk(rng: np.random.Generator, n: int, radius: float) -> Array:
    angle, at = rng.uniform(0, 2 * np.pi, n), radius * np.sqrt(rng.random(n))
    return np.column_stack([at * np.cos(angle), at * np.sin(angle)])


def _joined(parts: list[Array]) -> Sample:
    return Sample(np.concatenate(parts), np.repeat(np.arange(len(parts)), [len(part) for part in parts]))


@family("shape")
def disks_with_bridges(rng: np.random.Generator) -> Sample:
    """Disks and half disks of even density; some pairs are joined by a thin bridge of points."""
    k, density = int(rng.integers(3, 9)), rng.uniform(25, 70)
    radii = rng.uniform(0.5, 1.5, k)
    centers = centers_apart(rng, k, 2, rng.uniform(2.6, 3.4))
    parts = []
    for center, radius in zip(centers, radii, strict=True):
        disk = _disk(rng, max(15, int(density * radius**2)), radius)
        parts.append(center + (disk[disk[:, 0] > -0.2 * radius] if rng.random() < 0.3 else disk))
    for _ in range(int(rng.integers(0, 3))):
        i, j = rng.choice(k, 2, replace=False)
        if np.linalg.norm(centers[i] - centers[j]) < 4.0:
            t = rng.random((int(rng.integers(4, 12)), 1))
            bridge = centers[i] + t * (centers[j] - centers[i]) + rng.normal(0, 0.04, (len(t), 2))
            parts[i] = np.concatenate([parts[i], bridge])
    return _joined(parts)


@family("shape")
def dense_in_sparse(rng: np.random.Generator) -> Sample:
    """One to four dense groups inside of, or beside, a sparse region of even density, which is a cluster too."""
    n, k = log_integer(rng, 80, 1200), int(rng.integers(1, 5))
    sparse = rng.uniform(-2, 2, (n, 2))
    factor, parts = log_uniform(rng, 4, 20), []
    for center in rng.uniform(-1.4, 1.4, (k, 2)):
        radius = rng.uniform(0.25, 0.5)
        count = max(15, int(factor * n * np.pi * radius**2 / 16))
        parts.append(
            center + (_disk(rng, count, radius) if rng.random() < 0.5 else rng.normal(0, radius / 2, (count, 2)))
        )
        sparse = sparse[np.linalg.norm(sparse - center, axis=1) > radius * rng.uniform(1.0, 1.4)]
    return _joined([sparse, *parts]) if len(sparse) > 20 else _joined(parts)


@family("shape")
def two_levels_in_the_plane(rng: np.random.Generator) -> Sample:
    """Two to four groups of two to five blobs, disks or bars; the pieces are the clusters, with narrow gaps."""
    parts = []
    for center in centers_apart(rng, int(rng.integers(2, 5)), 2, rng.uniform(4.5, 10.0)):
        n_pieces, gap = int(rng.integers(2, 6)), rng.uniform(1.05, 1.5)
        places = centers_apart(rng, n_pieces, 2, gap)
        each = log_integer(rng, 20, 120)
        for place in places - places.mean(axis=0):
            kind, count = int(rng.integers(0, 3)), int(each * rng.uniform(0.6, 1.6))
            piece = [
                rng.normal(0, 0.16, (count, 2)),
                _disk(rng, count, rng.uniform(0.3, 0.42)),
                rng.uniform(-0.4, 0.4, (count, 2)) * [1.0, rng.uniform(0.3, 0.9)],
            ][kind]
            parts.append(center + place + piece)
    return _joined(parts)


@family("gaussian")
def two_levels_of_gaussians(rng: np.random.Generator) -> Sample:
    """Two to five groups of one to four Gaussians that overlap a little; groups are far apart."""
    d = int(rng.integers(2, 7))
    outer = centers_apart(rng, int(rng.integers(2, 6)), d, rng.uniform(9, 16))
    inner = [centers_apart(rng, int(rng.integers(1, 5)), d, rng.uniform(3.4, 5.0)) for _ in outer]
    centers = np.concatenate([center + each for center, each in zip(outer, inner, strict=True)])
    k = len(centers)
    counts = sizes(rng, log_integer(rng, 30 * k, 200 * k), k, rng.choice([1.0, 3.0, 8.0]), least=12)
    return gaussian_mixture(rng, centers, random_covariances(rng, k, d, rng.uniform(1.0, 3.5)), counts)


@family("shape")
def beads_on_strings(rng: np.random.Generator) -> Sample:
    """Small groups in rows, on arcs or on a lattice, a little further apart than they are wide."""
    k, n = int(rng.integers(6, 25)), log_integer(rng, 12, 80)
    t = np.arange(k)
    kind = int(rng.integers(0, 3))
    across = max(2, int(np.sqrt(k)))
    if kind == 0:
        places = np.column_stack([t, rng.uniform(0, 1.5) * np.sin(t / rng.uniform(1.5, 5))])
    elif kind == 1:
        radius = k / (2 * np.pi) * rng.uniform(1.0, 1.3)
        places = radius * np.column_stack([np.cos(2 * np.pi * t / k), np.sin(2 * np.pi * t / k)])
    else:
        places = np.column_stack([t % across, t // across]).astype(float)
    places += rng.normal(0, 0.06, places.shape)
    wide = rng.uniform(0.08, 0.2)
    return _joined([place + rng.normal(0, wide, (max(8, int(n * rng.uniform(0.6, 1.4))), 2)) for place in places])


@family("shape")
def rings_beside_blobs(rng: np.random.Generator) -> Sample:
    """Rings, some linked or with a blob inside, and blobs of other densities."""
    parts = []
    for center in centers_apart(rng, int(rng.integers(2, 6)), 2, rng.uniform(2.4, 3.2)):
        n, noise = log_integer(rng, 60, 500), rng.uniform(0.02, 0.1)
        if rng.random() < 0.6:
            angle = rng.uniform(0, 2 * np.pi, n)
            ring = rng.uniform(0.7, 1.1) * np.column_stack([np.cos(angle), np.sin(angle)])
            parts.append(center + ring + rng.normal(0, noise, ring.shape))
            if rng.random() < 0.5:
                parts.append(center + rng.normal(0, rng.uniform(0.08, 0.2), (max(20, n // 3), 2)))
        else:
            parts.append(center + rng.normal(0, rng.uniform(0.15, 0.4), (n, 2)))
    return _joined(parts)


@family("shape")
def solids(rng: np.random.Generator) -> Sample:
    """Boxes, balls, rods and plates in space, close to each other."""
    parts = []
    for center in centers_apart(rng, int(rng.integers(3, 9)), 3, rng.uniform(1.5, 2.2)):
        n, kind = log_integer(rng, 40, 400), int(rng.integers(0, 3))
        X = rng.uniform(-0.5, 0.5, (n, 3))
        if kind == 1:
            X = rng.normal(size=(n, 3))
            X *= 0.6 * rng.random((n, 1)) ** (1 / 3) / np.linalg.norm(X, axis=1, keepdims=True)
        elif kind == 2:
            X *= rng.permutation([1.4, rng.uniform(0.1, 1.4), rng.uniform(0.1, 0.4)])
        parts.append(center + X)
    return _joined(parts)
