"""Families of plane scenes and tables that mix scales: blocks, strokes, arcs, derived columns, classes with styles."""

from __future__ import annotations

import numpy as np

from synthetic.base import Sample, family
from synthetic.hierarchies import _split_centers
from synthetic.tools import centers_apart, embedded, log_integer, sizes, smooth_curve


def _block(rng: np.random.Generator, low: np.ndarray, high: np.ndarray, spacing: float) -> np.ndarray:
    """Fill a box with a lattice, a jittered lattice or uniform points, about `spacing` apart."""
    shape = np.maximum(2, np.round((high - low) / spacing)).astype(int)
    if rng.random() < 0.4:
        return rng.uniform(low, high, (int(shape.prod()), 2))
    axes = [np.linspace(low[j], high[j], shape[j]) for j in range(2)]
    grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 2)
    return grid + rng.normal(0, rng.choice([0.02, 0.25]) * spacing, grid.shape)


@family("shape")
def adjacent_blocks(rng: np.random.Generator) -> Sample:
    """Blocks beside each other in rows, with gaps two to six times as wide as the spacing of the points."""
    X, y, top = [], [], 0.0
    spacing = rng.uniform(0.06, 0.12)
    for _ in range(int(rng.integers(1, 4))):
        left, height = rng.uniform(0, 1.0), rng.uniform(0.4, 1.2)
        for _ in range(int(rng.integers(2, 5))):
            width, down = rng.uniform(0.4, 1.2), rng.uniform(0.6, 1.0)
            step = spacing * rng.uniform(0.8, 1.2)
            X.append(_block(rng, np.array([left, top]), np.array([left + width, top + down * height]), step))
            y.append(np.full(len(X[-1]), len(y)))
            left += width + spacing * rng.uniform(2.0, 6.0)
        top += height + spacing * rng.uniform(2.0, 8.0)
    return Sample(np.concatenate(X), np.concatenate(y))


@family("shape")
def strokes(rng: np.random.Generator) -> Sample:
    """Three to ten thin strokes, straight or bent, that do not touch."""
    k, X, y = int(rng.integers(3, 11)), [], []
    for center in centers_apart(rng, k, 2, rng.uniform(1.0, 1.4)):
        bend = smooth_curve(rng, log_integer(rng, 30, 250), 2, int(rng.integers(1, 3)))
        bend = (bend - bend.mean(axis=0)) / np.ptp(bend, axis=0).max() * rng.uniform(0.5, 0.95)
        X.append(center + bend + rng.normal(0, rng.uniform(0.005, 0.03), bend.shape))
        y.append(np.full(len(bend), len(y)))
    return Sample(np.concatenate(X), np.concatenate(y))


@family("shape")
def nested_arcs(rng: np.random.Generator) -> Sample:
    """Arcs inside of arcs, with a blob in the middle or a block beside them."""
    X, y, radius = [], [], rng.uniform(0.0, 0.3)
    for _ in range(int(rng.integers(2, 5))):
        wide = rng.uniform(0.04, 0.18)
        radius += rng.uniform(0.2, 0.4) + wide
        begin, span = rng.uniform(0, 2 * np.pi), rng.uniform(2.0, 5.8)
        n = max(20, int(radius * span * wide * rng.uniform(250, 900)))
        angle, at = begin + rng.uniform(0, span, n), radius + rng.uniform(-wide, wide, n) / 2
        X.append(np.column_stack([at * np.cos(angle), at * np.sin(angle)]))
        y.append(np.full(n, len(y)))
    if rng.random() < 0.6:
        X.append(_block(rng, np.array([radius + 0.35, -0.5]), np.array([radius + rng.uniform(0.7, 1.3), 0.5]), 0.07))
        y.append(np.full(len(X[-1]), len(y)))
    return Sample(np.concatenate(X), np.concatenate(y))


@family("shape")
def large_and_small(rng: np.random.Generator) -> Sample:
    """One or two large diffuse regions and several small dense groups beside or at the edge of them."""
    X, y = [], []
    k = int(rng.integers(1, 3))
    large = centers_apart(rng, k, 2, rng.uniform(5.0, 8.0))
    for center in large:
        n = log_integer(rng, 150, 900)
        X.append(center + rng.normal(size=(n, 2)) * rng.uniform(0.8, 1.4, 2))
        y.append(np.full(n, len(y)))
    for _ in range(int(rng.integers(2, 6))):
        angle, n = rng.uniform(0, 2 * np.pi), log_integer(rng, 25, 200)
        place = large[int(rng.integers(0, k))] + rng.uniform(3.4, 5.0) * np.array([np.cos(angle), np.sin(angle)])
        X.append(place + rng.normal(size=(n, 2)) * rng.uniform(0.12, 0.35))
        y.append(np.full(n, len(y)))
    return Sample(np.concatenate(X), np.concatenate(y))


@family("table")
def derived_columns(rng: np.random.Generator) -> Sample:
    """Classes in three or four hidden columns, seen through 8 to 20 columns that are derived from them."""
    k, inner, d = int(rng.integers(3, 9)), int(rng.integers(3, 5)), int(rng.integers(8, 21))
    centers = _split_centers(rng, k, inner, rng.uniform(3.0, 4.5), rng.uniform(1.2, 2.0))
    y = np.repeat(np.arange(k), sizes(rng, log_integer(rng, 40 * k, 300 * k), k, rng.choice([1.0, 3.0]), least=20))
    Z = centers[y] + rng.normal(size=(len(y), inner)) * np.exp(rng.uniform(-0.4, 0.4, k))[y][:, None]
    columns = []
    for _ in range(d):
        mixed = Z @ (rng.normal(size=inner) * (rng.random(inner) < 0.6))
        kind = int(rng.integers(0, 4))
        columns.append([mixed, np.abs(mixed), np.exp(0.3 * mixed), np.maximum(mixed, 0.0)][kind])
    X = np.column_stack(columns)
    return Sample(X + 0.1 * (X.std(axis=0) + 0.1) * rng.normal(size=X.shape), y)


@family("embedding")
def classes_of_styles(rng: np.random.Generator) -> Sample:
    """Classes that consist of one to three styles each; styles of a class are closer than classes."""
    k, inner = int(rng.integers(3, 11)), int(rng.integers(4, 13))
    styles = rng.integers(1, 4, k)
    owner = np.repeat(np.arange(k), styles)
    centers = centers_apart(rng, k, inner, rng.uniform(6.0, 9.0))[owner]
    centers = centers + rng.normal(size=centers.shape) * rng.uniform(1.2, 2.2) / np.sqrt(inner) * 2
    counts = sizes(rng, log_integer(rng, 25 * len(owner), 120 * len(owner)), len(owner), 2.0, least=10)
    style = np.repeat(np.arange(len(owner)), counts)
    X = centers[style] + rng.normal(size=(len(style), inner))
    return Sample(embedded(rng, X, log_integer(rng, 16, 300), rng.uniform(0.05, 0.4)), owner[style])


@family("embedding")
def texts_in_groups(rng: np.random.Generator) -> Sample:
    """Text embeddings of topics in fields; fields are further apart than topics, and the topics are the clusters."""
    k, d = log_integer(rng, 6, 80), int(rng.choice([128, 256, 384]))
    decay = np.exp(-np.arange(d) / (d * rng.uniform(0.1, 0.4)))
    fields = rng.normal(size=(max(2, k // int(rng.integers(3, 9))), d)) * decay * rng.uniform(0.8, 2.0)
    centers = fields[rng.integers(0, len(fields), k)] + rng.normal(size=(k, d)) * decay
    y = np.repeat(np.arange(k), sizes(rng, k * log_integer(rng, 10, 50), k, rng.choice([1.0, 8.0]), least=6))
    X = centers[y] + rng.uniform(0.4, 1.0) * rng.normal(size=(len(y), d)) * decay**0.6
    return Sample(X / np.linalg.norm(X, axis=1, keepdims=True), y, "cosine")
