"""Families whose clusters are compact but not Gaussian."""

from __future__ import annotations

import numpy as np

from synthetic.base import Sample, family
from synthetic.tools import centers_apart, gaussian_mixture, log_integer, random_covariances, sizes, with_noise


def _scattered(rng: np.random.Generator, noise, k: int, d: int, distance: float, counts) -> Sample:
    """Place the noise of each cluster, a function of (cluster, count), at centers that lie apart."""
    centers = centers_apart(rng, k, d, distance)
    X = np.concatenate([centers[j] + noise(j, counts[j]) for j in range(k)])
    return Sample(X, np.repeat(np.arange(k), counts))


@family("compact")
def student_t_clusters(rng: np.random.Generator) -> Sample:
    """Clusters with heavy tails (Student t)."""
    d, k, freedom = log_integer(rng, 2, 8), int(rng.integers(2, 9)), rng.uniform(2.0, 6.0)
    counts = sizes(rng, log_integer(rng, 150, 2500), k, 3.0)

    def noise(_, count):
        return rng.normal(size=(count, d)) / np.sqrt(rng.chisquare(freedom, (count, 1)) / freedom)

    return _scattered(rng, noise, k, d, rng.uniform(6, 14), counts)


@family("compact")
def laplace_clusters(rng: np.random.Generator) -> Sample:
    """Clusters with a peaked density (Laplace)."""
    d, k = log_integer(rng, 2, 6), int(rng.integers(2, 9))
    counts = sizes(rng, log_integer(rng, 100, 2500), k, 3.0)
    return _scattered(rng, lambda _, m: rng.laplace(size=(m, d)), k, d, rng.uniform(6, 12), counts)


@family("compact")
def skewed_clusters(rng: np.random.Generator) -> Sample:
    """Clusters with a long tail to one side (gamma)."""
    d, k, shape = log_integer(rng, 1, 6), int(rng.integers(2, 7)), rng.uniform(1.0, 4.0)
    counts = sizes(rng, log_integer(rng, 120, 2500), k, 3.0)
    sign = rng.choice([-1, 1], (k, d))

    def noise(j, m):
        return sign[j] * rng.gamma(shape, size=(m, d)) / np.sqrt(shape)

    return _scattered(rng, noise, k, d, rng.uniform(6, 12), counts)


@family("compact")
def lognormal_clusters(rng: np.random.Generator) -> Sample:
    """Gaussian clusters after the exponential of each column, as raw measurements often are."""
    d, k = log_integer(rng, 1, 6), int(rng.integers(2, 6))
    centers = centers_apart(rng, k, d, rng.uniform(4.5, 8.0))
    sample = gaussian_mixture(
        rng, centers, random_covariances(rng, k, d, 2.0), sizes(rng, log_integer(rng, 120, 2500), k, 3.0)
    )
    scale = rng.uniform(0.1, 0.35)
    return Sample(np.exp(scale * (sample.X - sample.X.mean(axis=0))), sample.y, bayes=sample.bayes)


@family("compact")
def uniform_boxes(rng: np.random.Generator) -> Sample:
    """Clusters that are uniform in boxes, with a gap between them."""
    d, k = log_integer(rng, 2, 5), int(rng.integers(2, 9))
    counts = sizes(rng, log_integer(rng, 120, 2500), k, 3.0)
    side = rng.uniform(0.5, 1.0, (k, d))
    return _scattered(
        rng, lambda j, m: rng.uniform(-1, 1, (m, d)) * side[j], k, d, 2.0 * np.sqrt(d) + rng.uniform(0.3, 2), counts
    )


@family("compact")
def uniform_balls(rng: np.random.Generator) -> Sample:
    """Clusters that are uniform in balls of different radius, some of which nearly touch."""
    d, k = int(rng.integers(2, 4)), int(rng.integers(2, 9))
    radius = np.exp(rng.uniform(-0.7, 0.0, k))
    counts = np.maximum(12, np.round(log_integer(rng, 150, 2500) * radius**d / (radius**d).sum())).astype(int)

    def noise(j, m):
        direction = rng.normal(size=(m, d))
        direction /= np.linalg.norm(direction, axis=1, keepdims=True)
        return radius[j] * direction * rng.random((m, 1)) ** (1 / d)

    return _scattered(rng, noise, k, d, 2.0 + rng.uniform(0.25, 1.5), counts)


@family("compact")
def blobs_in_noise(rng: np.random.Generator) -> Sample:
    """Gaussians in uniform background noise that makes up to 60 % of the rows."""
    d, k = int(rng.integers(2, 4)), int(rng.integers(2, 12))
    centers = centers_apart(rng, k, d, rng.uniform(7, 14))
    sample = gaussian_mixture(
        rng, centers, random_covariances(rng, k, d, 3.0), sizes(rng, log_integer(rng, 300, 2500), k, 3.0)
    )
    return with_noise(rng, sample, rng.uniform(0.02, 0.6))


@family("compact")
def cytometry(rng: np.random.Generator) -> Sample:
    """Many dense populations of very different size in three to eight channels, with debris between them."""
    d, k = int(rng.integers(3, 9)), int(rng.integers(4, 24))
    centers = centers_apart(rng, k, d, rng.uniform(5, 10))
    covariances = random_covariances(rng, k, d, 3.0) * np.exp(rng.uniform(-1.0, 0.6, k))[:, None, None]
    sample = gaussian_mixture(rng, centers, covariances, sizes(rng, log_integer(rng, 1000, 5000), k, 30.0, least=12))
    return with_noise(rng, sample, rng.uniform(0.0, 0.15))


@family("compact")
def directions_of_few_dimensions(rng: np.random.Generator) -> Sample:
    """Groups of directions on a sphere in 3 to 10 dimensions."""
    d, k = int(rng.integers(3, 11)), int(rng.integers(2, 8))
    centers = rng.normal(size=(k, d))
    centers /= np.linalg.norm(centers, axis=1, keepdims=True)
    counts = sizes(rng, log_integer(rng, 100, 1500), k, 3.0)
    y = np.repeat(np.arange(k), counts)
    X = centers[y] + rng.uniform(0.08, 0.3) * rng.normal(size=(len(y), d))
    return Sample(X * rng.uniform(0.5, 2.0, (len(y), 1)), y, "cosine")
