"""Families of Gaussian mixtures."""

from __future__ import annotations

import numpy as np

from synthetic.base import Sample, family
from synthetic.tools import (
    centers_apart,
    gaussian_mixture,
    log_integer,
    log_uniform,
    random_covariances,
    sizes,
)


def _spheres(k: int, d: int, scale: float | np.ndarray = 1.0) -> np.ndarray:
    return np.eye(d)[None] * (np.broadcast_to(scale, (k,)) ** 2)[:, None, None]


def _separation(rng: np.random.Generator, d: int) -> float:
    """Draw a distance of centers in units of the standard deviation, from overlapping to far apart."""
    return float(rng.uniform(2.8, 9.0) * d**0.15)


@family("gaussian")
def spherical_blobs(rng: np.random.Generator) -> Sample:
    """Equal round Gaussians."""
    n, d = log_integer(rng, 60, 3000), log_integer(rng, 2, 16)
    k = log_integer(rng, 2, max(2, min(20, n // 15)))
    return gaussian_mixture(rng, centers_apart(rng, k, d, _separation(rng, d)), _spheres(k, d), sizes(rng, n, k))


@family("gaussian")
def blobs_of_varied_spread(rng: np.random.Generator) -> Sample:
    """Round Gaussians whose spread differs by a factor of up to 5."""
    n, d = log_integer(rng, 100, 3000), log_integer(rng, 2, 8)
    k = log_integer(rng, 2, 12)
    spread = np.exp(rng.uniform(-0.8, 0.8, k))
    centers = centers_apart(rng, k, d, _separation(rng, d) * 1.2)
    return gaussian_mixture(rng, centers, _spheres(k, d, spread), sizes(rng, n, k, 3.0))


@family("gaussian")
def full_covariances(rng: np.random.Generator) -> Sample:
    """Gaussians with a covariance each."""
    n, d = log_integer(rng, 100, 3000), log_integer(rng, 2, 10)
    k = log_integer(rng, 2, 12)
    covariances = random_covariances(rng, k, d, rng.uniform(2, 8))
    return gaussian_mixture(rng, centers_apart(rng, k, d, _separation(rng, d)), covariances, sizes(rng, n, k, 3.0))


@family("gaussian")
def tied_covariance(rng: np.random.Generator) -> Sample:
    """Long Gaussians that share one covariance."""
    n, d = log_integer(rng, 100, 2000), log_integer(rng, 2, 8)
    k = log_integer(rng, 2, 8)
    covariance = random_covariances(rng, 1, d, rng.uniform(3, 12))
    # centers are drawn in the whitened space, so that long clusters lie side by side
    factor = np.linalg.cholesky(covariance[0])
    centers = centers_apart(rng, k, d, rng.uniform(3.5, 8.0)) @ factor.T
    return gaussian_mixture(rng, centers, np.repeat(covariance, k, axis=0), sizes(rng, n, k, 2.0))


@family("gaussian")
def diagonal_covariances(rng: np.random.Generator) -> Sample:
    """Gaussians that are long along the axes."""
    n, d = log_integer(rng, 100, 2000), log_integer(rng, 2, 10)
    k = log_integer(rng, 2, 8)
    lengths = np.exp(rng.uniform(-0.9, 0.9, (k, d)))
    covariances = np.stack([np.diag(row**2) for row in lengths])
    return gaussian_mixture(
        rng, centers_apart(rng, k, d, _separation(rng, d) * 1.2), covariances, sizes(rng, n, k, 2.0)
    )


@family("gaussian")
def paper_mixture(rng: np.random.Generator) -> Sample:
    """Three overlapping Gaussians in the plane as in the paper, 10 to 200 points each."""
    centers = np.array([[-1.0, 0.0], [1.0, 0.0], [0.0, 1.7]]) * rng.uniform(0.9, 1.5)
    centers = centers + rng.normal(0, 0.1, centers.shape)
    spread = rng.choice([0.65, np.sqrt(0.65)]) * rng.uniform(0.8, 1.0)
    counts = np.full(3, log_integer(rng, 10, 200))
    return gaussian_mixture(rng, centers, _spheres(3, 2, spread), counts)


@family("gaussian")
def small_overlapping(rng: np.random.Generator) -> Sample:
    """A few overlapping Gaussians with few points each."""
    d, k = log_integer(rng, 1, 6), int(rng.integers(2, 6))
    centers = centers_apart(rng, k, d, rng.uniform(2.6, 4.5))
    covariances = random_covariances(rng, k, d, rng.uniform(1.0, 2.5)) if d > 1 else _spheres(k, d)
    return gaussian_mixture(rng, centers, covariances, np.full(k, log_integer(rng, 8, 120)))


@family("gaussian")
def two_overlapping(rng: np.random.Generator) -> Sample:
    """Two large Gaussians that overlap, in up to 32 dimensions."""
    d = log_integer(rng, 1, 32)
    distance = rng.uniform(2.5, 5.0)
    centers = np.zeros((2, d))
    centers[1] = distance * rng.dirichlet(np.ones(d)) ** 0.5
    spread = np.exp(rng.uniform(-0.4, 0.4, 2))
    return gaussian_mixture(rng, centers, _spheres(2, d, spread), sizes(rng, log_integer(rng, 200, 4000), 2, 4.0))


@family("gaussian")
def imbalanced_blobs(rng: np.random.Generator) -> Sample:
    """Gaussians whose sizes differ by a factor of up to 1,000."""
    n, d = log_integer(rng, 300, 4000), log_integer(rng, 2, 8)
    k = log_integer(rng, 2, 10)
    centers = centers_apart(rng, k, d, rng.uniform(5, 10))
    counts = sizes(rng, n, k, log_uniform(rng, 5, 1000), least=5)
    return gaussian_mixture(rng, centers, random_covariances(rng, k, d, 2.0), counts)


@family("gaussian")
def rare_clusters(rng: np.random.Generator) -> Sample:
    """One or two large clusters and several small, tight ones outside."""
    d, large, small = log_integer(rng, 2, 6), int(rng.integers(1, 3)), int(rng.integers(1, 6))
    k = large + small
    spread = np.concatenate([np.ones(large), rng.uniform(0.15, 0.6, small)])
    centers = centers_apart(rng, k, d, rng.uniform(6, 9))
    counts = np.concatenate([rng.integers(300, 1500, large), rng.integers(6, 40, small)])
    return gaussian_mixture(rng, centers, _spheres(k, d, spread), counts)


@family("gaussian")
def many_clusters(rng: np.random.Generator) -> Sample:
    """20 to 200 Gaussians in the plane or in space, with some overlap."""
    k, d = log_integer(rng, 20, 200), int(rng.integers(2, 4))
    n = min(6000, k * log_integer(rng, 15, 120))
    centers = centers_apart(rng, k, d, rng.uniform(3.8, 8.0))
    covariances = random_covariances(rng, k, d, rng.uniform(1.0, 2.5))
    return gaussian_mixture(rng, centers, covariances, sizes(rng, n, k, rng.choice([1.0, 3.0])))


@family("gaussian")
def blobs_on_a_grid(rng: np.random.Generator) -> Sample:
    """Gaussians on a regular grid or on a circle."""
    if rng.random() < 0.5:
        a, b = int(rng.integers(2, 7)), int(rng.integers(2, 7))
        centers = np.stack(np.meshgrid(np.arange(a), np.arange(b)), axis=-1).reshape(-1, 2).astype(float)
    else:
        k = int(rng.integers(3, 20))
        angle = np.arange(k) * 2 * np.pi / k
        centers = np.column_stack([np.cos(angle), np.sin(angle)]) / (2 * np.sin(np.pi / k))
    k = len(centers)
    n = max(log_integer(rng, 150, 4000), 12 * k)
    return gaussian_mixture(rng, centers * rng.uniform(4.0, 9.0), _spheres(k, 2), sizes(rng, n, k))


@family("gaussian")
def dense_inside_diffuse(rng: np.random.Generator) -> Sample:
    """Dense small Gaussians inside or beside a wide one."""
    d, small = log_integer(rng, 2, 5), int(rng.integers(1, 4))
    centers = np.concatenate([np.zeros((1, d)), rng.normal(0, 4.0, (small, d))])
    spread = np.concatenate([[rng.uniform(4, 7)], rng.uniform(0.3, 0.8, small)])
    counts = np.concatenate([[log_integer(rng, 100, 1500)], rng.integers(60, 500, small)])
    return gaussian_mixture(rng, centers, _spheres(small + 1, d, spread), counts)


@family("gaussian")
def blobs_of_varied_density(rng: np.random.Generator) -> Sample:
    """Gaussians of equal size whose densities differ by a factor of up to 100."""
    k, d = int(rng.integers(2, 8)), int(rng.integers(2, 4))
    spread = np.exp(rng.uniform(0, np.log(100) / d, k))
    centers: list[np.ndarray] = []
    while len(centers) < k:
        j = len(centers)
        new = rng.uniform(-1, 1, d) * 6 * spread.sum()
        if all(np.linalg.norm(new - old) > 3.6 * (spread[j] + spread[i]) for i, old in enumerate(centers)):
            centers.append(new)
    return gaussian_mixture(rng, np.array(centers), _spheres(k, d, spread), sizes(rng, log_integer(rng, 200, 2000), k))


@family("gaussian")
def groups_of_groups(rng: np.random.Generator) -> Sample:
    """Clusters that come in groups; the labels are the small clusters, which have clear gaps."""
    d, groups, each = int(rng.integers(2, 6)), int(rng.integers(2, 5)), int(rng.integers(2, 5))
    outer = centers_apart(rng, groups, d, rng.uniform(16, 40))
    inner = [centers_apart(rng, each, d, rng.uniform(5.5, 8)) for _ in range(groups)]
    centers = np.concatenate([outer[g] + inner[g] for g in range(groups)])
    k = len(centers)
    return gaussian_mixture(rng, centers, _spheres(k, d), sizes(rng, log_integer(rng, 30 * k, 150 * k), k))


@family("gaussian")
def high_dimensional_blobs(rng: np.random.Generator) -> Sample:
    """Gaussians in 16 to 500 dimensions whose centers differ in every coordinate."""
    d, k = log_integer(rng, 16, 500), log_integer(rng, 2, 20)
    centers = rng.normal(size=(k, d)) * rng.uniform(2.2, 7.0) / np.sqrt(2 * d) * d**0.12
    counts = sizes(rng, log_integer(rng, 15 * k, 90 * k), k, rng.choice([1.0, 4.0]))
    return gaussian_mixture(rng, centers, np.repeat(np.eye(d)[None], k, axis=0), counts)


@family("gaussian")
def clusters_in_a_line(rng: np.random.Generator) -> Sample:
    """One-dimensional mixtures: a single column with several modes."""
    k = int(rng.integers(2, 7))
    centers = np.cumsum(rng.uniform(4.0, 9.0, k))[:, None]
    return gaussian_mixture(
        rng, centers, _spheres(k, 1, np.exp(rng.uniform(-0.4, 0.4, k))), sizes(rng, log_integer(rng, 40, 2000), k, 4.0)
    )
