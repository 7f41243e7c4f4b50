"""Families of tables as laboratories, surveys and sensors produce them."""

from __future__ import annotations

import numpy as np

from synthetic.base import Array, Sample, family
from synthetic.tools import log_integer, random_covariances, sizes


def _distinct_classes(rng: np.random.Generator, k: int, d: int, effect: float) -> Array:
    """Draw means of k classes that differ in some columns only, by about `effect` standard deviations."""
    means = rng.normal(size=(k, d)) * (rng.random((k, d)) < rng.uniform(0.3, 0.8))
    gaps = np.linalg.norm(means[:, None] - means[None], axis=2) + 1e9 * np.eye(k)
    return means * effect / max(gaps.min(), 0.5)


@family("table")
def chemical_analysis(rng: np.random.Generator) -> Sample:
    """Samples of a few origins: positive, correlated columns; each origin differs in several of them."""
    k, d = int(rng.integers(2, 6)), int(rng.integers(5, 16))
    y = np.repeat(np.arange(k), sizes(rng, log_integer(rng, 30 * k, 120 * k), k, rng.choice([1.0, 2.0, 6.0]), least=12))
    factor = np.linalg.cholesky(random_covariances(rng, 1, d, rng.uniform(1.5, 5.0))[0])
    Z = _distinct_classes(rng, k, d, rng.uniform(3.2, 6.0))[y] + rng.normal(size=(len(y), d)) @ factor.T
    skewed = rng.random(d) < 0.4
    Z[:, skewed] = np.exp(rng.uniform(0.15, 0.5) * Z[:, skewed])
    return Sample(np.round(Z, 2), y)


@family("table")
def patients(rng: np.random.Generator) -> Sample:
    """Sick and healthy people: laboratory values that shift with severity, and yes-or-no symptoms."""
    k = int(rng.integers(2, 4))
    y = np.repeat(np.arange(k), sizes(rng, log_integer(rng, 120, 900), k, 3.0, least=30))
    severity = np.where(y > 0, rng.gamma(4.0, 0.3, len(y)), 0.0) + rng.normal(0, 0.15, len(y))
    kind = rng.normal(size=(k, int(rng.integers(3, 9)))) * rng.uniform(1.2, 2.5)
    values = severity[:, None] * kind[y] + rng.normal(size=(len(y), kind.shape[1]))
    symptoms = rng.uniform(0.02, 0.98, (k, int(rng.integers(2, 9))))[y] > rng.random((len(y), 1)) ** rng.uniform(0.5, 2)
    return Sample(np.column_stack([values, symptoms * 1.0]), y)


@family("table")
def graded_symptoms(rng: np.random.Generator) -> Sample:
    """Diagnoses by symptoms that are graded from 0 to 3: most grades are 0, each diagnosis has its own symptoms."""
    k, d = int(rng.integers(3, 8)), int(rng.integers(10, 40))
    y = np.repeat(np.arange(k), sizes(rng, log_integer(rng, 30 * k, 120 * k), k, 4.0, least=15))
    typical = rng.uniform(0.8, 3.0, (k, d)) * (rng.random((k, d)) < rng.uniform(0.15, 0.5))
    X = typical[y] + rng.uniform(0.3, 0.7) * rng.normal(size=(len(y), d))
    return Sample(np.clip(np.round(X), 0, 3), y)


@family("table")
def localization_scores(rng: np.random.Generator) -> Sample:
    """Scores between 0 and 1 with classes of very different size, and one or two nearly constant columns."""
    k, d = int(rng.integers(3, 9)), int(rng.integers(4, 9))
    y = np.repeat(np.arange(k), sizes(rng, log_integer(rng, 40 * k, 150 * k), k, rng.choice([5.0, 20.0]), least=6))
    X = _distinct_classes(rng, k, d, rng.uniform(2.8, 4.5))[y] + rng.normal(size=(len(y), d))
    X = 1 / (1 + np.exp(-0.5 * X))
    rare = rng.random((len(y), int(rng.integers(1, 3)))) < 0.01
    return Sample(np.round(np.column_stack([X, rare * 1.0]), 2), y)


@family("table")
def glyph_features(rng: np.random.Generator) -> Sample:
    """Whole-number features of 8 to 26 characters, each drawn in one to three styles."""
    k, d = int(rng.integers(8, 27)), int(rng.integers(10, 21))
    styles = np.repeat(np.arange(k), rng.integers(1, 4, k))
    means = rng.normal(size=(k, d)) * rng.uniform(1.8, 3.0)
    means = means[styles] + rng.normal(size=(len(styles), d)) * rng.uniform(0.4, 1.0)
    style = rng.integers(0, len(styles), k * log_integer(rng, 30, 120))
    X = means[style] + rng.normal(size=(len(style), d)) * rng.uniform(0.7, 1.2)
    return Sample(np.clip(np.round(7 + 1.3 * X), 0, 15), styles[style])


@family("table")
def region_features(rng: np.random.Generator) -> Sample:
    """Color and texture statistics of image regions: some columns are sums or ratios of others, some are mostly 0."""
    k = int(rng.integers(3, 9))
    y = np.repeat(np.arange(k), sizes(rng, log_integer(rng, 50 * k, 300 * k), k, rng.choice([1.0, 3.0]), least=20))
    base = np.exp(rng.normal(0, rng.uniform(0.5, 1.2), (k, 3)))
    colors = base[y] * np.exp(rng.normal(0, 0.25, (len(y), 1)) + rng.normal(0, rng.uniform(0.04, 0.12), (len(y), 3)))
    mean = colors.mean(axis=1, keepdims=True)
    edges = rng.exponential(1.0, (len(y), int(rng.integers(1, 6)))) * rng.exponential(1.0, k)[y][:, None]
    place = rng.normal(size=(k, 1))[y] * rng.uniform(0, 2) + rng.normal(size=(len(y), 1))
    X = np.column_stack([colors, mean, colors - mean, colors.max(axis=1) - colors.min(axis=1), edges, place])
    return Sample(X, y)


@family("table")
def sensor_states(rng: np.random.Generator) -> Sample:
    """Readings of a machine in a few states, with slow drift within a state and readings between two states."""
    k, d = int(rng.integers(2, 8)), int(rng.integers(3, 13))
    levels = _distinct_classes(rng, k, d, rng.uniform(5.0, 9.0))
    lengths = sizes(rng, log_integer(rng, 60 * k, 300 * k), k, 4.0, least=20)
    y = np.repeat(np.arange(k), lengths)
    drift = np.concatenate([np.linspace(-1, 1, n) for n in lengths])[:, None] * rng.normal(size=(k, d))[y]
    X = levels[y] + rng.uniform(0, 1.2) * drift + rng.normal(size=(len(y), d))
    between = rng.random(len(y)) < rng.uniform(0, 0.05)
    mix = rng.random((int(between.sum()), 1))
    X[between] = mix * X[between] + (1 - mix) * levels[rng.integers(0, k, len(mix))]
    return Sample(X, np.where(between, -1, y))


@family("table")
def customers(rng: np.random.Generator) -> Sample:
    """Segments of customers: spending on a log scale, shares that add up to 1, visits, and age."""
    k = int(rng.integers(2, 7))
    y = np.repeat(np.arange(k), sizes(rng, log_integer(rng, 60 * k, 300 * k), k, 4.0, least=25))
    spend = rng.normal(0, rng.uniform(0.8, 1.6), k)[y] + rng.normal(0, 0.4, len(y))
    shares = np.exp(rng.normal(0, rng.uniform(0.8, 1.5), (k, int(rng.integers(3, 7))))[y])
    shares = rng.gamma(8.0 * shares + 0.1)
    shares /= shares.sum(axis=1, keepdims=True)
    visits = np.log1p(rng.poisson(np.exp(rng.uniform(0, 3, k))[y]))
    age = np.round(rng.uniform(25, 60, k)[y] + rng.normal(0, rng.uniform(4, 10), len(y)))
    return Sample(np.column_stack([spend, shares[:, :-1], visits, age]), y)
