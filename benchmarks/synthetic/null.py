"""Families without clusters: one cluster is the right answer."""

from __future__ import annotations

import numpy as np

from synthetic.base import NULL, Array, Sample, family
from synthetic.tools import embedded, log_integer, random_covariances, smooth_curve


def _one(X: Array, metric: str = "euclidean") -> Sample:
    return Sample(X, np.zeros(len(X), dtype=np.intp), metric)


def _shape(rng: np.random.Generator, most: int = 100) -> tuple[int, int]:
    return log_integer(rng, 30, 4000), log_integer(rng, 1, most)


@family(NULL)
def one_gaussian(rng: np.random.Generator) -> Sample:
    """One Gaussian, round or long."""
    n, d = _shape(rng)
    return _one(rng.multivariate_normal(np.zeros(d), random_covariances(rng, 1, d, rng.uniform(1, 10))[0], n))


@family(NULL)
def uniform_box(rng: np.random.Generator) -> Sample:
    """A uniform box."""
    n, d = _shape(rng, 50)
    return _one(rng.uniform(size=(n, d)) * rng.uniform(0.2, 1.0, d))


@family(NULL)
def uniform_disk(rng: np.random.Generator) -> Sample:
    """A uniform ball."""
    n, d = _shape(rng, 10)
    direction = rng.normal(size=(n, d))
    return _one(direction / np.linalg.norm(direction, axis=1, keepdims=True) * rng.random((n, 1)) ** (1 / d))


@family(NULL)
def one_student_t(rng: np.random.Generator) -> Sample:
    """One cluster with heavy tails (Student t with 2 to 8 degrees of freedom, round or by columns)."""
    (n, d), freedom = _shape(rng, 50), rng.uniform(2, 8)
    scale = rng.chisquare(freedom, (n, d if rng.random() < 0.3 else 1)) / freedom
    return _one(rng.normal(size=(n, d)) / np.sqrt(scale))


@family(NULL)
def one_lognormal(rng: np.random.Generator) -> Sample:
    """One log-normal cluster, with a spread of the logarithm from 0.3 to 1."""
    n, d = _shape(rng, 50)
    return _one(np.exp(rng.normal(0, rng.uniform(0.3, 1.0), (n, d))))


@family(NULL)
def one_exponential(rng: np.random.Generator) -> Sample:
    """Exponential or gamma columns: the density falls from one corner."""
    n, d = _shape(rng, 30)
    return _one(rng.gamma(rng.uniform(0.8, 3.0), size=(n, d)))


@family(NULL)
def density_gradient(rng: np.random.Generator) -> Sample:
    """A box whose density rises to one side."""
    n, d = _shape(rng, 6)
    return _one(rng.beta(rng.uniform(1, 4, d), 1.0, (n, d)))


@family(NULL)
def one_curve(rng: np.random.Generator) -> Sample:
    """One smooth curve with noise."""
    n, d = log_integer(rng, 60, 3000), int(rng.choice([2, 2, 3]))
    curve = smooth_curve(rng, n, d, int(rng.integers(1, 4)))
    return _one(curve + rng.uniform(0.02, 0.12) * curve.std() * rng.normal(size=curve.shape))


@family(NULL)
def one_ring(rng: np.random.Generator) -> Sample:
    """One ring, shell or arc with noise."""
    n, d = log_integer(rng, 60, 3000), int(rng.choice([2, 2, 3]))
    direction = rng.normal(size=(n, d))
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    if rng.random() < 0.4:
        direction = direction[direction[:, 0] > rng.uniform(-0.9, 0.0)]
    return _one(direction * (1 + rng.uniform(0.02, 0.2) * rng.normal(size=(len(direction), 1))))


@family(NULL)
def jittered_grid(rng: np.random.Generator) -> Sample:
    """A regular grid of points, jittered or complete."""
    d = int(rng.integers(1, 4))
    side = max(3, round(log_integer(rng, 40, 3000) ** (1 / d)))
    grid = np.stack(np.meshgrid(*[np.arange(side, dtype=float)] * d), axis=-1).reshape(-1, d)
    return _one(grid + rng.uniform(0, 0.6) * rng.normal(size=grid.shape))


@family(NULL)
def rounded_gaussian(rng: np.random.Generator) -> Sample:
    """One Gaussian whose columns are rounded to 4 to 60 levels."""
    n, d = _shape(rng, 12)
    X = rng.multivariate_normal(np.zeros(d), random_covariances(rng, 1, d, 3.0)[0], n)
    step = 6.0 / rng.uniform(4, 60)
    return _one(np.round(X / step) * step)


@family(NULL)
def one_factor_table(rng: np.random.Generator) -> Sample:
    """Many correlated columns that share one or two factors, some of them skewed or rounded."""
    n, d = log_integer(rng, 60, 3000), log_integer(rng, 3, 40)
    factors = rng.normal(size=(n, int(rng.integers(1, 3))))
    X = factors @ rng.normal(size=(factors.shape[1], d)) + rng.uniform(0.3, 1.2) * rng.normal(size=(n, d))
    skewed = rng.random(d) < rng.choice([0.0, 0.4])
    X[:, skewed] = np.exp(0.6 * X[:, skewed])
    return _one(np.round(X, 1) if rng.random() < 0.4 else X)


@family(NULL)
def random_directions(rng: np.random.Generator) -> Sample:
    """Directions around one mean, or all over the sphere."""
    n, d = log_integer(rng, 40, 3000), log_integer(rng, 3, 256)
    X = rng.normal(size=(n, d)) * np.exp(-np.arange(d) / (d * rng.uniform(0.2, 2))) + rng.uniform(0, 1.5) * rng.normal(
        size=d
    )
    return _one(X / np.linalg.norm(X, axis=1, keepdims=True), "cosine")


@family(NULL)
def embedded_gaussian(rng: np.random.Generator) -> Sample:
    """One Gaussian of few dimensions in up to 500, with noise."""
    n, inner = log_integer(rng, 60, 2000), int(rng.integers(1, 8))
    return _one(embedded(rng, rng.normal(size=(n, inner)), log_integer(rng, 10, 500), rng.uniform(0.02, 0.5)))


@family(NULL)
def counts_of_one_kind(rng: np.random.Generator) -> Sample:
    """Poisson counts with one rate for each column."""
    n, d = _shape(rng, 60)
    X = rng.poisson(np.exp(rng.normal(1.5, 1.0, d)), (n, d)).astype(float)
    return _one(np.sqrt(X) if rng.random() < 0.5 else X)


@family(NULL)
def one_laplace(rng: np.random.Generator) -> Sample:
    """One cluster with a sharp peak: Laplace columns, or a Gaussian with a random scale for each row."""
    n, d = _shape(rng, 30)
    if rng.random() < 0.5:
        return _one(rng.laplace(size=(n, d)))
    return _one(rng.normal(size=(n, d)) * np.exp(rng.normal(0, rng.uniform(0.2, 0.7), (n, 1))))


@family(NULL)
def one_sheet(rng: np.random.Generator) -> Sample:
    """One curved surface in 3 to 100 dimensions."""
    n, d = log_integer(rng, 60, 3000), log_integer(rng, 3, 100)
    t = rng.uniform(-1, 1, (n, 2))
    curved = np.column_stack(
        [t, rng.uniform(0, 1) * (t[:, 0] ** 2 - t[:, 1] ** 2), rng.uniform(0, 1) * t[:, 0] * t[:, 1]]
    )
    return _one(embedded(rng, curved, max(d, 4), rng.uniform(0.02, 0.2)))


@family(NULL)
def one_speaker(rng: np.random.Generator) -> Sample:
    """Embeddings of one speaker: a mean direction, a few directions of variation, and noise."""
    n, d = log_integer(rng, 30, 800), int(rng.choice([64, 128, 192, 256]))
    decay = np.exp(-np.arange(d) / (d * rng.uniform(0.15, 0.6)))
    directions = rng.normal(size=(int(rng.integers(1, 6)), d)) * decay
    X = rng.normal(size=d) * decay + rng.uniform(0.2, 0.8) * rng.normal(size=(n, len(directions))) @ directions
    return _one(X + rng.uniform(0.5, 1.4) * rng.normal(size=(n, d)) * decay**0.5, "cosine")


@family(NULL)
def one_correlated_table(rng: np.random.Generator) -> Sample:
    """A table of one kind: correlated columns, some of them skewed or rounded."""
    n, d = log_integer(rng, 50, 3000), int(rng.integers(2, 20))
    X = rng.normal(size=(n, d)) @ rng.normal(size=(d, d)) / np.sqrt(d) + 0.3 * rng.normal(size=(n, d))
    skewed = rng.random(d) < 0.3
    X[:, skewed] = np.exp(0.6 * X[:, skewed])
    rounded = rng.random(d) < 0.3
    X[:, rounded] = np.round(X[:, rounded] * rng.uniform(3, 20))
    return _one(X)


@family(NULL)
def shaded_image(rng: np.random.Generator) -> Sample:
    """Pixels of one surface with a gradient of light and noise."""
    side = int(rng.integers(16, 56))
    rows, columns = np.mgrid[0:side, 0:side] / side
    slope = rng.normal(0, 0.3, 2)
    light = slope[0] * rows + slope[1] * columns + rng.uniform(0.02, 0.15) * rng.normal(size=(side, side))
    color = rng.normal(0, 0.05, (side * side, 2)) + light.reshape(-1, 1) * rng.normal(0, 0.3, 2)
    return _one(np.column_stack([rows.ravel(), columns.ravel(), light.ravel(), color]))


@family(NULL)
def one_banana(rng: np.random.Generator) -> Sample:
    """One bent Gaussian in 2 to 10 dimensions."""
    n, d = log_integer(rng, 40, 3000), int(rng.integers(2, 11))
    X = rng.normal(size=(n, d))
    X[:, 1] = X[:, 1] * rng.uniform(0.3, 1.0) + rng.uniform(0.2, 0.8) * X[:, 0] ** 2
    return _one(X)


@family(NULL)
def uniform_polygon(rng: np.random.Generator) -> Sample:
    """A uniform triangle or L-shape in the plane."""
    n = log_integer(rng, 40, 3000)
    X = rng.uniform(size=(4 * n, 2))
    inside = X.sum(axis=1) < 1 if rng.random() < 0.5 else (rng.uniform(0.3, 0.7) > X).any(axis=1)
    return _one(X[inside][:n] @ rng.normal(size=(2, 2)))


@family(NULL)
def one_topic(rng: np.random.Generator) -> Sample:
    """Text embeddings of one topic, unit vectors with a common offset."""
    n, d = log_integer(rng, 30, 2000), int(rng.choice([64, 128, 256, 384]))
    decay = np.exp(-np.arange(d) / (d * rng.uniform(0.1, 0.4)))
    return _one(rng.uniform(0.5, 2.0) * rng.normal(size=d) * decay + rng.normal(size=(n, d)) * decay**0.6, "cosine")


@family(NULL)
def one_drifting_sensor(rng: np.random.Generator) -> Sample:
    """Readings of one state that drift slowly."""
    n, d = log_integer(rng, 40, 3000), int(rng.integers(2, 13))
    drift = np.linspace(-1, 1, n)[:, None] * rng.normal(size=d) * rng.uniform(0, 2)
    return _one(drift + rng.normal(size=(n, d)) * rng.uniform(0.5, 1.5, d))


@family(NULL)
def one_graded_table(rng: np.random.Generator) -> Sample:
    """Grades from 0 to at most 9 that share one factor, as the severity of one disease."""
    n, d, most = log_integer(rng, 80, 2000), int(rng.integers(5, 25)), int(rng.integers(4, 10))
    factor = rng.normal(size=(n, 1)) * rng.uniform(0, 0.8)
    X = rng.uniform(0.2, 0.8, d) * most + (factor + rng.normal(size=(n, d))) * most * rng.uniform(0.1, 0.25)
    return _one(np.clip(np.round(X), 0, most))


@family(NULL)
def one_segment_of_customers(rng: np.random.Generator) -> Sample:
    """Spending on a log scale, shares that add up to 1, and age, of one segment."""
    n = log_integer(rng, 50, 3000)
    shares = rng.gamma(rng.uniform(2.0, 12.0, 4), size=(n, 4))
    shares /= shares.sum(axis=1, keepdims=True)
    return _one(np.column_stack([rng.normal(size=n), shares[:, :-1], np.round(rng.normal(40, 9, n))]))


@family(NULL)
def one_gamma_table(rng: np.random.Generator) -> Sample:
    """Independent or correlated gamma columns of different skewness."""
    n, d = log_integer(rng, 40, 3000), int(rng.integers(1, 13))
    common = rng.gamma(rng.uniform(1, 6), size=(n, 1)) * rng.uniform(0, 1)
    return _one(rng.gamma(np.exp(rng.uniform(0.2, 3, d)), size=(n, d)) + common)
