"""Hypothesis strategies for states, including degenerate ones, and graphs; a stand-in for the trained choice."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import strategies as st

from modeseek._common.points import canonical_points
from modeseek._common.types import Array, Geometry
from modeseek.meanshift.engines.cuda.engine import why_unavailable
from modeseek.selection import FEATURES, SelectionData, prepare_data

DEGENERATE = ("plain", "single", "duplicates", "collinear", "offset", "tiny", "integers")


class State(NamedTuple):
    """Points in canonical form with a bandwidth that suits their scale."""

    points: Array
    weights: Array
    h: float
    seed: int
    kind: str


def raw_rows(kind: str, rng: np.random.Generator, n: int, d: int) -> Array:
    """Make data of a kind."""
    rows = rng.normal(size=(n, d)) + rng.integers(0, 2, size=(n, 1)) * 3.0
    if kind == "single":
        return rows[:1]
    if kind == "duplicates":
        return rows[rng.integers(0, max(1, n // 3), n)]
    if kind == "collinear":
        return rng.normal(size=(n, 1)) * rng.normal(size=(1, d))
    if kind == "offset":
        return rows + 1e9
    if kind == "tiny":
        return rows * 1e-8
    if kind == "integers":
        return rng.integers(0, 4, size=(n, d)).astype(float)
    return rows


def selection_data_of(X: Array, metric: str = "euclidean") -> SelectionData:
    """Return rows as the selection of ModeSeek sees them."""
    return prepare_data(canonical_points(X, np.ones(len(X)), Geometry(metric)))


@st.composite
def states(draw, dimensions=(1, 2, 3, 5), kinds=DEGENERATE, max_n=40, dtype=np.float64, metric="euclidean"):
    kind = draw(st.sampled_from(kinds))
    d = draw(st.sampled_from(dimensions))
    n = draw(st.integers(2, max_n))
    seed = draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    rows = raw_rows(kind, rng, n, d).astype(dtype)
    if metric == "cosine":
        rows += rows.dtype.type(0.5)  # no row of zeros
    weights = rng.integers(1, 4, len(rows)).astype(float) if draw(st.booleans()) else np.ones(len(rows))
    points = canonical_points(rows, weights, Geometry(metric))
    scale = float(np.linalg.norm(points.values.std(axis=0))) or 1.0
    if metric == "cosine":
        scale = 1.0
    h = scale * draw(st.floats(0.3, 2.0))
    return State(points.values, points.weights, h, seed, kind)


SEEDS = st.integers(0, 10_000)


def random_graph(seed):
    """Return heights, edges and saddles of a random graph, with ties and several parts now and then."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 40))
    heights = np.round(rng.normal(size=n), int(rng.integers(0, 4)))
    edges = rng.integers(0, n, (int(rng.integers(0, 4 * n)), 2))
    edges = edges[edges[:, 0] != edges[:, 1]]
    lowest = heights[edges].min(axis=1) if len(edges) else np.empty(0)
    saddles = lowest - np.round(rng.exponential(size=len(edges)), 1) * (rng.random(len(edges)) < 0.5)
    return heights, edges, saddles


def same(first, second):
    pairs = np.unique(np.column_stack([first, second]), axis=0)
    return len(pairs) == len(np.unique(first)) == len(np.unique(second))


def labels_of_points(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return the labels of the distinct points of X, in the order in which a fit has them."""
    points = canonical_points(X, np.ones(len(X)), Geometry())
    labels = np.empty(len(points.values), dtype=y.dtype)
    labels[points.inverse] = y
    return labels


class Wanted:
    """A choice that prefers a number of clusters; a stand-in for the trained model."""

    def __init__(self, n_clusters: int) -> None:
        self.n_clusters = n_clusters

    def probabilities(self, features: Array, agreement: Array) -> Array:
        missed = np.abs(np.nan_to_num(np.exp(features[:, FEATURES.index("log_k")]), nan=1.0) - self.n_clusters)
        weights = np.exp(-30.0 * missed)
        return weights / weights.sum()

    def reasons(self, features: Array, agreement: Array, chosen: int, other: int) -> list[str]:
        return ["it has more clusters", "it looks better"]


def put(folder, name, content):
    """Write a file, and return its path."""
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def gpu(test):
    """Mark a test that requires a GPU or the simulator."""
    reason = why_unavailable()
    return pytest.mark.gpu(
        pytest.mark.skipif(reason is not None, reason=f"neither a GPU nor its simulator: {reason}")(test)
    )
