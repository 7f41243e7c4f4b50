"""Landscapes with points taken away: no new search, only the neighbours that are left."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from modeseek._common.neighbors import Neighbors
from modeseek._common.types import IntArray
from modeseek.selection.proposers.proposals import EDGES, LISTS, KnnGraph

__all__ = ["SHARE", "Subsample", "n_neighbors_needed", "subsample"]

SHARE = 0.7


class Subsample(NamedTuple):
    """A graph of some of the points, and which those are."""

    graph: KnnGraph
    rows: IntArray


def n_neighbors_needed(counts: tuple[int, ...], n: int) -> int:
    """Return how many neighbours to search for, so that enough are left in a thinned graph."""
    return int(min(n - 1, 2.5 * max(*counts, EDGES, *LISTS)))


def subsample(graph: KnnGraph, rng: np.random.Generator, share: float = SHARE) -> Subsample:
    """Keep a random share of the points, with the neighbours of each that are kept."""
    from modeseek.selection.proposers.kernels import left_over

    n = len(graph.weights)
    rows = np.sort(rng.permutation(n)[: max(2, round(share * n))])
    place = np.full(n, -1, dtype=np.int64)
    place[rows] = np.arange(len(rows))
    indices, distances = graph.neighbours
    most = min(max(*graph.counts, EDGES, *LISTS), indices.shape[1])
    left = Neighbors(*left_over(indices, distances, rows, place, most))
    kept = graph._replace(
        neighbours=left, weights=graph.weights[rows], coordinates=graph.coordinates[rows], share=share
    )
    return Subsample(kept, rows)
