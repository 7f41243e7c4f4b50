"""Families of tables: rounded, discrete, skewed, irrelevant and correlated columns."""

from __future__ import annotations

import numpy as np

from synthetic.base import Sample, family
from synthetic.tools import centers_apart, gaussian_mixture, log_integer, log_uniform, random_covariances, sizes


def _classes(rng: np.random.Generator, d: int, k: int, n: int, separation: tuple[float, float]) -> Sample:
    centers = centers_apart(rng, k, d, rng.uniform(*separation))
    return gaussian_mixture(
        rng, centers, random_covariances(rng, k, d, rng.uniform(1.5, 4.0)), sizes(rng, n, k, 3.0, least=8)
    )


@family("table")
def rounded_table(rng: np.random.Generator) -> Sample:
    """Gaussian classes whose measurements are rounded, so that many rows are equal in a column."""
    sample = _classes(rng, log_integer(rng, 1, 8), int(rng.integers(2, 6)), log_integer(rng, 80, 2500), (4.0, 8.0))
    step = rng.uniform(0.1, 0.8)
    return sample._replace(X=np.round(sample.X / step) * step)


@family("table")
def discrete_table(rng: np.random.Generator) -> Sample:
    """Classes with integer columns of few levels, as in questionnaires."""
    d, k = int(rng.integers(4, 20)), int(rng.integers(2, 6))
    n, levels = log_integer(rng, 80, 1500), int(rng.integers(2, 8))
    means = rng.uniform(0, levels, (k, d))
    y = np.repeat(np.arange(k), sizes(rng, n, k, 3.0, least=10))
    X = np.clip(np.round(means[y] + rng.normal(0, levels * rng.uniform(0.08, 0.22), (len(y), d))), 0, levels)
    return Sample(X, y)


@family("table")
def irrelevant_columns(rng: np.random.Generator) -> Sample:
    """Clear classes in a few columns, and other columns of pure noise."""
    sample = _classes(rng, log_integer(rng, 2, 6), int(rng.integers(2, 6)), log_integer(rng, 120, 2000), (5.0, 9.0))
    noise = rng.normal(size=(len(sample.X), log_integer(rng, 1, 2 * sample.X.shape[1])))
    return sample._replace(X=np.column_stack([sample.X, noise * sample.X.std()]))


@family("table")
def redundant_columns(rng: np.random.Generator) -> Sample:
    """Classes of few dimensions whose columns are repeated with a little noise."""
    sample = _classes(rng, log_integer(rng, 2, 6), int(rng.integers(2, 6)), log_integer(rng, 120, 2000), (4.5, 8.0))
    mix = rng.normal(size=(sample.X.shape[1], log_integer(rng, 2, 20)))
    more = sample.X @ mix
    return sample._replace(
        X=np.column_stack([sample.X, more + rng.uniform(0.05, 0.5) * more.std() * rng.normal(size=more.shape)])
    )


@family("table")
def skewed_columns(rng: np.random.Generator) -> Sample:
    """Classes of a table some of whose columns are positive and long-tailed."""
    sample = _classes(rng, log_integer(rng, 2, 8), int(rng.integers(2, 5)), log_integer(rng, 120, 2000), (5.0, 9.0))
    X = sample.X - sample.X.mean(axis=0)
    X = X / X.std(axis=0)
    skewed = rng.random(X.shape[1]) < 0.6
    X[:, skewed] = np.exp(rng.uniform(0.3, 1.2) * X[:, skewed])
    return sample._replace(X=X)


@family("table")
def latent_factors(rng: np.random.Generator) -> Sample:
    """Many correlated columns driven by a few factors in which the classes differ."""
    factors, k = int(rng.integers(2, 6)), int(rng.integers(2, 7))
    sample = _classes(rng, factors, k, log_integer(rng, 120, 2000), (4.5, 9.0))
    d = log_integer(rng, 6, 60)
    loadings = rng.normal(size=(factors, d)) * (rng.random((factors, d)) < 0.6)
    signal = sample.X @ loadings
    return sample._replace(X=signal + rng.uniform(0.2, 0.8) * signal.std() * rng.normal(size=signal.shape))


@family("table")
def weak_classes(rng: np.random.Generator) -> Sample:
    """Classes as in classification tables: correlated columns, much overlap, unequal spread."""
    d, k = log_integer(rng, 4, 30), int(rng.integers(2, 4))
    covariances = random_covariances(rng, k, d, 6.0) * np.exp(rng.uniform(-0.7, 0.7, k))[:, None, None]
    centers = rng.normal(size=(k, d))
    centers *= rng.uniform(2.6, 5.0) / np.linalg.norm(centers, axis=1, keepdims=True)
    return gaussian_mixture(rng, centers, covariances, sizes(rng, log_integer(rng, 120, 1500), k, 3.0))


@family("table")
def mixed_columns(rng: np.random.Generator) -> Sample:
    """Classes with continuous, binary and integer columns, standardized together."""
    sample = _classes(rng, log_integer(rng, 2, 6), int(rng.integers(2, 5)), log_integer(rng, 120, 2000), (5.0, 9.0))
    k = int(sample.y.max()) + 1
    binary = rng.random((k, int(rng.integers(1, 5))))[sample.y] > rng.random((len(sample.y), 1))
    counts = rng.poisson(rng.uniform(0.5, 12, (k, int(rng.integers(1, 4))))[sample.y])
    return Sample(np.column_stack([sample.X / sample.X.std(axis=0), binary * 1.0, counts]), sample.y)


@family("table")
def counts(rng: np.random.Generator) -> Sample:
    """Counts (Poisson or overdispersed), raw, rooted or logged, as of words, genes or visits."""
    d, k = log_integer(rng, 4, 100), int(rng.integers(2, 8))
    rates = np.exp(rng.normal(rng.uniform(0, 2), 0.8, d)) * np.exp(rng.normal(0, rng.uniform(0.5, 1.2), (k, d)))
    y = np.repeat(np.arange(k), sizes(rng, log_integer(rng, 30 * k, 250 * k), k, 4.0, least=10))
    depth = np.exp(rng.normal(0, rng.uniform(0, 0.3), (len(y), 1)))
    extra = rng.gamma(4.0, 0.25, (len(y), d)) if rng.random() < 0.4 else 1.0
    X = rng.poisson(rates[y] * depth * extra).astype(float)
    return Sample([X, np.sqrt(X), np.log1p(X)][int(rng.integers(1, 3)) if rng.random() < 0.8 else 0], y)


@family("table")
def body_measurements(rng: np.random.Generator) -> Sample:
    """Species that differ in size and proportions: log-linear columns, strongly correlated within a class."""
    d, k = int(rng.integers(3, 9)), int(rng.integers(2, 5))
    y = np.repeat(np.arange(k), sizes(rng, log_integer(rng, 100, 1200), k, 3.0, least=20))
    size = rng.normal(0, 0.12, len(y)) + rng.normal(0, 0.15, k)[y]
    shape = rng.normal(0, rng.uniform(0.1, 0.3), (k, d))
    X = 10 * np.exp(
        size[:, None] * rng.uniform(0.5, 1.5, d) + shape[y] + rng.normal(0, rng.uniform(0.04, 0.08), (len(y), d))
    )
    return Sample(np.round(X, int(rng.integers(0, 2))), y)


@family("table")
def single_cells(rng: np.random.Generator) -> Sample:
    """Cell types of very different size in principal components of falling variance, with trajectories between some."""
    d, k = int(rng.integers(8, 31)), int(rng.integers(3, 13))
    scale = np.exp(-np.arange(d) / rng.uniform(3, 10))
    centers = rng.normal(size=(k, d)) * scale * rng.uniform(3.0, 6.0)
    y = np.repeat(np.arange(k), sizes(rng, log_integer(rng, 300, 3000), k, 20.0, least=15))
    spread = np.exp(rng.uniform(-0.4, 0.3, k))
    X = centers[y] + rng.normal(size=(len(y), d)) * (0.35 * scale + 0.25) * spread[y][:, None]
    return Sample(X * log_uniform(rng, 0.5, 2), y)
