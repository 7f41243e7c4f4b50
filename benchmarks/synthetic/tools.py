"""Building blocks that the families share."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.stats import ortho_group

from synthetic.base import Array, Sample

__all__ = [
    "centers_apart",
    "embedded",
    "gaussian_mixture",
    "log_integer",
    "log_uniform",
    "random_covariances",
    "sizes",
    "smooth_curve",
    "with_noise",
]


def log_uniform(rng: np.random.Generator, low: float, high: float) -> float:
    """Draw a number whose logarithm is uniform."""
    return float(np.exp(rng.uniform(np.log(low), np.log(high))))


def log_integer(rng: np.random.Generator, low: int, high: int) -> int:
    """Draw an integer from `low` to `high` whose logarithm is about uniform."""
    return int(min(high, np.floor(log_uniform(rng, low, high + 1))))


def sizes(rng: np.random.Generator, n: int, k: int, imbalance: float = 1.0, least: int = 4) -> NDArray[np.intp]:
    """Split about n rows over k clusters whose sizes differ by at most the factor `imbalance`."""
    shares = np.exp(rng.uniform(0.0, np.log(imbalance), k)) if imbalance > 1 else np.ones(k)
    return np.maximum(least, np.round(n * shares / shares.sum())).astype(np.intp)


def centers_apart(rng: np.random.Generator, k: int, d: int, distance: float) -> Array:
    """Draw k centers at random whose nearest neighbours are about `distance` apart and never less than 0.9 of it."""
    side = distance * (k ** (1.0 / d)) * 1.2
    found: list[Array] = []
    tries = 0
    while len(found) < k:
        new = rng.uniform(0, side, d)
        if all(np.linalg.norm(new - old) >= 0.9 * distance for old in found):
            found.append(new)
        tries += 1
        if tries % 50 == 0:
            side *= 1.05  # the box is too full
    return np.array(found)


def random_covariances(rng: np.random.Generator, k: int, d: int, ratio: float) -> Array:
    """Draw k covariance matrices with mean variance 1 whose axes differ in length by at most the factor `ratio`."""
    found = np.empty((k, d, d))
    for j in range(k):
        lengths = np.exp(rng.uniform(-np.log(ratio) / 2, np.log(ratio) / 2, d))
        axes = ortho_group.rvs(d, random_state=rng) if d > 1 else np.ones((1, 1))
        covariance = (axes * lengths**2) @ axes.T
        found[j] = covariance * d / np.trace(covariance)
    return found


def gaussian_mixture(rng: np.random.Generator, centers: Array, covariances: Array, counts: NDArray[np.intp]) -> Sample:
    """Draw a Gaussian mixture, with its Bayes labels."""
    k, d = centers.shape
    y = np.repeat(np.arange(k), counts)
    factors = np.linalg.cholesky(covariances)
    noise = rng.normal(size=(len(y), d))
    X = centers[y] + np.einsum("nij,nj->ni", factors[y], noise)
    scores = np.empty((len(X), k))
    for j in range(k):
        white = np.linalg.solve(factors[j], (X - centers[j]).T)
        scores[:, j] = np.log(counts[j]) - np.log(np.diag(factors[j])).sum() - 0.5 * np.square(white).sum(axis=0)
    return Sample(X, y, bayes=scores.argmax(axis=1))


def with_noise(rng: np.random.Generator, sample: Sample, share: float) -> Sample:
    """Add uniform background noise that makes up `share` of all rows."""
    count = round(len(sample.X) * share / (1.0 - share))
    low, high = sample.X.min(axis=0), sample.X.max(axis=0)
    margin = 0.08 * (high - low)
    noise = rng.uniform(low - margin, high + margin, (count, sample.X.shape[1]))
    y = np.concatenate([sample.y, np.full(count, -1)])
    return Sample(np.concatenate([sample.X, noise]), y, sample.metric)


def embedded(rng: np.random.Generator, X: Array, d: int, noise: float) -> Array:
    """Rotate rows into d dimensions and add isotropic noise, relative to their spread."""
    basis = np.linalg.qr(rng.normal(size=(d, X.shape[1])))[0]
    spread = float(X.std(axis=0).mean())
    return X @ basis.T + noise * spread * rng.normal(size=(len(X), d)) / np.sqrt(d / X.shape[1])


def smooth_curve(rng: np.random.Generator, n: int, d: int = 2, bends: int = 3) -> Array:
    """Draw n points along a random smooth curve, uniform in its length."""
    t = np.linspace(0, 1, 800)
    curve = np.zeros((len(t), d))
    for frequency in range(1, bends + 1):
        amplitude = rng.normal(size=d) / frequency
        phase = rng.uniform(0, 2 * np.pi, d)
        curve += amplitude * np.sin(np.pi * frequency * t[:, None] + phase)
    length = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(curve, axis=0), axis=1))])
    at = rng.uniform(0, length[-1], n)
    return np.column_stack([np.interp(at, length, curve[:, j]) for j in range(d)])
