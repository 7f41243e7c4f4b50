"""Families in many dimensions: embeddings of speakers and texts, handwriting, manifolds, subspaces."""

from __future__ import annotations

import numpy as np

from synthetic.base import Sample, family
from synthetic.nongaussian import uniform_balls
from synthetic.shapes import moons, rings, spirals
from synthetic.tools import (
    centers_apart,
    embedded,
    gaussian_mixture,
    log_integer,
    random_covariances,
    sizes,
    smooth_curve,
)


def _speaker_like(rng: np.random.Generator, k: int, counts, d: int, within: float, nuisance: float) -> Sample:
    """Unit vectors: a mean of each group, shared nuisance directions (channel, style), and noise."""
    y = np.repeat(np.arange(k), counts)
    decay = np.exp(-np.arange(d) / (d * rng.uniform(0.15, 0.6)))
    centers = rng.normal(size=(k, d)) * decay
    directions = rng.normal(size=(int(rng.integers(1, 6)), d)) * decay
    strength = nuisance * rng.normal(size=(len(y), len(directions))) / np.sqrt(len(directions))
    spread = within * np.exp(rng.uniform(-0.3, 0.3, k))[y][:, None]
    X = centers[y] + strength @ directions + spread * rng.normal(size=(len(y), d)) * decay**0.5
    return Sample(X / np.linalg.norm(X, axis=1, keepdims=True), y, "cosine")


@family("embedding")
def speakers(rng: np.random.Generator) -> Sample:
    """Speaker embeddings of single utterances: 3 to 40 speakers."""
    k, d = log_integer(rng, 3, 40), int(rng.choice([64, 128, 192, 256]))
    counts = sizes(rng, k * log_integer(rng, 10, 50), k, rng.choice([1.0, 8.0]), least=5)
    return _speaker_like(rng, k, counts, d, rng.uniform(0.5, 1.4), rng.uniform(0.0, 0.8))


@family("embedding")
def many_speakers(rng: np.random.Generator) -> Sample:
    """Speaker embeddings of 40 to 150 speakers with few utterances each."""
    k = log_integer(rng, 40, 150)
    counts = np.full(k, int(rng.integers(4, 12)))
    return _speaker_like(rng, k, counts, int(rng.choice([128, 256])), rng.uniform(0.4, 1.0), rng.uniform(0.0, 0.5))


@family("embedding")
def meeting_windows(rng: np.random.Generator) -> Sample:
    """Overlapping windows of a meeting in time order: neighbours in time are alike, few speakers, uneven shares."""
    k, d, n = int(rng.integers(2, 7)), int(rng.choice([128, 256])), log_integer(rng, 200, 1500)
    centers = rng.normal(size=(k, d))
    share = rng.dirichlet(np.full(k, 1.5)) * 0.9 + 0.1 / k
    y = np.empty(n, dtype=np.intp)
    at = 0
    while at < n:
        length = int(rng.geometric(1 / 12)) + 2
        y[at : at + length] = rng.choice(k, p=share)
        at += length
    noise = rng.normal(size=(n, d))
    for i in range(1, n):
        noise[i] = 0.6 * noise[i - 1] + 0.8 * noise[i]
    X = centers[y] + rng.uniform(0.6, 1.3) * noise
    return Sample(X / np.linalg.norm(X, axis=1, keepdims=True), y, "cosine")


@family("embedding")
def topics(rng: np.random.Generator) -> Sample:
    """Sentence embeddings of 4 to 80 topics, unit vectors with a common offset and topics of topics."""
    k, d = log_integer(rng, 4, 80), int(rng.choice([128, 256, 384]))
    decay = np.exp(-np.arange(d) / (d * rng.uniform(0.1, 0.4)))
    parents = rng.normal(size=(max(2, k // 5), d)) * decay
    centers = 0.6 * parents[rng.integers(0, len(parents), k)] + rng.normal(size=(k, d)) * decay
    y = np.repeat(np.arange(k), sizes(rng, k * log_integer(rng, 12, 60), k, rng.choice([1.0, 10.0]), least=6))
    X = rng.uniform(0, 1.5) * decay + centers[y] + rng.uniform(0.5, 1.2) * rng.normal(size=(len(y), d)) * decay**0.6
    return Sample(X / np.linalg.norm(X, axis=1, keepdims=True), y, "cosine")


@family("embedding")
def handwriting(rng: np.random.Generator) -> Sample:
    """Images of signs: each class a curved sheet of few dimensions in 30 to 200 pixels."""
    k, d, inner = int(rng.integers(4, 12)), log_integer(rng, 30, 200), int(rng.integers(2, 6))
    y = np.repeat(np.arange(k), sizes(rng, log_integer(rng, 40 * k, 180 * k), k, 1.5))
    centers = rng.normal(size=(k, d)) * rng.uniform(0.6, 1.2)
    sheets = rng.normal(size=(k, 2 * inner, d)) / np.sqrt(inner)
    t = rng.uniform(-1, 1, (len(y), inner))
    curved = np.column_stack([t, t**2 - 1 / 3])
    X = (
        centers[y]
        + np.einsum("nq,nqd->nd", curved, sheets[y]) * rng.uniform(0.5, 1.1)
        + rng.normal(0, 0.3, (len(y), d))
    )
    X = np.clip(X, -0.5, None) if rng.random() < 0.5 else X
    return Sample(X, y)


@family("embedding")
def embedded_shapes(rng: np.random.Generator) -> Sample:
    """A plane shape rotated into 5 to 1,000 dimensions, with noise."""
    base = [moons, rings, spirals, uniform_balls][int(rng.integers(0, 4))](rng)
    return base._replace(X=embedded(rng, base.X, log_integer(rng, 5, 1000), rng.uniform(0.01, 0.12)), bayes=None)


@family("embedding")
def embedded_blobs(rng: np.random.Generator) -> Sample:
    """Gaussians of few dimensions rotated into 20 to 1,000 dimensions, with noise."""
    inner, k = int(rng.integers(2, 12)), log_integer(rng, 2, 20)
    centers = centers_apart(rng, k, inner, rng.uniform(4.5, 9.0))
    base = gaussian_mixture(
        rng, centers, random_covariances(rng, k, inner, 2.0), sizes(rng, log_integer(rng, 20 * k, 90 * k), k, 3.0)
    )
    return base._replace(X=embedded(rng, base.X, log_integer(rng, 20, 1000), rng.uniform(0.05, 0.6)))


@family("embedding")
def subspaces(rng: np.random.Generator) -> Sample:
    """Clusters that spread in different subspaces of 10 to 60 dimensions."""
    d, k = int(rng.integers(10, 61)), int(rng.integers(2, 7))
    centers = rng.normal(size=(k, d)) * rng.uniform(0.5, 1.2)
    y = np.repeat(np.arange(k), sizes(rng, log_integer(rng, 40 * k, 200 * k), k, 3.0))
    X = centers[y] + 0.35 * rng.normal(size=(len(y), d))
    for j in range(k):
        basis = np.linalg.qr(rng.normal(size=(d, int(rng.integers(2, 6)))))[0]
        X[y == j] += rng.normal(size=((y == j).sum(), basis.shape[1])) @ basis.T * 1.5
    return Sample(X, y)


@family("embedding")
def trajectories(rng: np.random.Generator) -> Sample:
    """Curved manifolds in 10 to 300 dimensions, each one cluster."""
    d, k = log_integer(rng, 10, 300), int(rng.integers(2, 6))
    parts = [smooth_curve(rng, log_integer(rng, 80, 500), 6, 2) + rng.normal(0, 2.0, 6) for _ in range(k)]
    X = np.concatenate(parts)
    return Sample(embedded(rng, X, d, rng.uniform(0.05, 0.25)), np.repeat(np.arange(k), [len(part) for part in parts]))
