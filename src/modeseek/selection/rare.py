"""Rare clusters: too small for the sample on which candidates are compared, so all points are searched."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from modeseek._common.types import IntArray
from modeseek.meanshift.consensus import Vote
from modeseek.selection.config import SelectionConfig
from modeseek.selection.data import SelectionData, subsample
from modeseek.selection.modes import cut
from modeseek.selection.proposers.modes import Modes, prominence_level


class RareModes(NamedTuple):
    """The rare mode of each point, numbered from 1, or 0 if it has none.

    Attributes
    ----------
    modes : (n,) integer array
        Rare modes of the density of all points.
    halves : list of (n,) integer arrays
        Rare modes of the density of each random half of the points.
    """

    modes: IntArray
    halves: list[IntArray]


def find_rare(data: SelectionData, config: SelectionConfig) -> RareModes | None:
    """Return the rare modes of the density; None if there are none.

    A mode is rare if the base sample has fewer than `config.rare.sampled` of its points on average, but at least
    `config.rare.min_points`, and if its prominence is larger than expected by chance. The density at n points, from k
    neighbours each, amounts to about n / k independent estimates. The largest of n / k standard normal errors is about
    sqrt(2 ln(n / k)).
    """
    own, n = config.rare, len(data)
    max_points = own.sampled / config.base_points * n
    if max_points <= own.min_points:
        return None
    count = min(own.n_neighbors, data.n_neighbors)
    level = prominence_level(np.sqrt(2.0 * np.log(n / count)), count)
    modes = _rare_modes(data, count, level, (own.min_points, max_points), config)
    if not modes.any():
        return None
    halves = [_rare_modes_in_half(data, number, level, max_points, config) for number in range(own.n_halves)]
    return RareModes(modes, halves)


def split_off_rare(
    labels: IntArray, rare: RareModes | None, config: SelectionConfig
) -> tuple[IntArray, list[IntArray]]:
    """Split rare modes off the clusters of a partition, if they are found again in all random halves of the points.

    Parameters
    ----------
    labels : (n,) integer array
        The partition, numbered from 0.
    rare : RareModes or None
    config : SelectionConfig

    Returns
    -------
    labels : (n,) integer array
        The partition with the rare clusters, which have the last numbers.
    halves : list of (n,) integer arrays
        `RareModes.halves`; empty if no rare cluster was split off.
    """
    if rare is None:
        return labels, []
    own, (modes, halves) = config.rare, rare
    result, k = labels.copy(), int(labels.max()) + 1
    for mode in range(1, int(modes.max()) + 1):
        rows = np.flatnonzero(modes == mode)
        overlap = np.bincount(result[rows])
        cluster = int(overlap.argmax())
        rest = np.count_nonzero(result == cluster) - overlap[cluster]
        is_part = overlap[cluster] >= own.least_overlap * len(rows) and rest >= own.min_points
        if is_part and all(_jaccard(rows, half) >= own.least_overlap for half in halves):
            result[rows] = k
            k += 1
    return (result, halves) if k > labels.max() + 1 else (labels, [])


def add_rare(votes: Sequence[Vote], halves: Sequence[IntArray]) -> tuple[Vote, ...]:
    """Return the votes with the rare modes of random halves of the points as additional clusters."""
    added = []
    for number, (rows, labels) in enumerate(votes):
        rare = halves[number % len(halves)][rows]
        added.append((rows, np.where(rare > 0, labels.max() + rare, labels)))
    return tuple(added)


def _rare_modes(
    data: SelectionData, count: int, level: float, sizes: tuple[float, float], config: SelectionConfig
) -> IntArray:
    """Return the rare mode of each point, from 1, or 0; `sizes` are bounds on the number of points of a rare mode."""
    ((_, tree),) = Modes(config).trees(data, [count])
    modes = cut(tree, level)
    found = np.bincount(modes)
    rare = (found >= sizes[0]) & (found < sizes[1])
    return np.where(rare, np.cumsum(rare), 0).astype(np.int32)[modes]


def _rare_modes_in_half(
    data: SelectionData, number: int, level: float, max_points: float, config: SelectionConfig
) -> IntArray:
    """Return the rare modes of a random half of the points; each other point gets the entry of a neighbour."""
    from modeseek.selection.partition_loops import fill

    own = config.rare
    some, rows = subsample(data, np.random.default_rng((config.seed, 4000 + number)), own.half)
    count = min(own.n_neighbors // 2, some.n_neighbors)
    everywhere = np.full(len(data), -1, dtype=np.int32)
    everywhere[rows] = _rare_modes(some, count, level, (own.min_points / 4, max_points), config)
    return fill(everywhere, data.indices, data.n_neighbors)


def _jaccard(rows: IntArray, modes: IntArray) -> float:
    """Return the Jaccard index of the points `rows` with the rare mode of a half that contains most of them."""
    counts = np.bincount(modes[rows])
    if len(counts) < 2:
        return 0.0
    best = int(counts[1:].argmax()) + 1
    return float(counts[best] / (len(rows) + np.count_nonzero(modes == best) - counts[best]))
