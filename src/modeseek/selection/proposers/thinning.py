"""Landscapes with points taken away: no new search, only the neighbours that are left."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from modeseek._common.neighbors import Neighbors
from modeseek._common.types import IntArray
from modeseek.selection.proposers.proposals import EDGES, LISTS, Landscape

__all__ = ["SHARE", "Thinned", "longest_list", "thin"]

SHARE = 0.7


class Thinned(NamedTuple):
    """A landscape of some of the points, and which those are."""

    landscape: Landscape
    rows: IntArray


def longest_list(counts: tuple[int, ...], n: int) -> int:
    """Return how many neighbours to search for, so that enough are left in a thinned landscape."""
    return int(min(n - 1, 2.5 * max(*counts, EDGES, *LISTS)))


def thin(landscape: Landscape, rng: np.random.Generator, share: float = SHARE) -> Thinned:
    """Keep a random share of the points, with the neighbours of each that are kept."""
    from modeseek.selection.proposers.kernels import left_over

    n = len(landscape.weights)
    rows = np.sort(rng.permutation(n)[: max(2, round(share * n))])
    place = np.full(n, -1, dtype=np.int64)
    place[rows] = np.arange(len(rows))
    indices, distances = landscape.neighbours
    most = min(max(*landscape.counts, EDGES, *LISTS), indices.shape[1])
    left = Neighbors(*left_over(indices, distances, rows, place, most))
    kept = landscape._replace(
        neighbours=left, weights=landscape.weights[rows], coordinates=landscape.coordinates[rows], share=share
    )
    return Thinned(kept, rows)
