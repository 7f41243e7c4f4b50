"""Lists of who may be in reach of whom, by blocked matrix products, in bounded memory."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from threadpoolctl import ThreadpoolController

from modeseek.engines.candidates_kernels import EXTRA, LOOSE, SITES, WORK, Lists, collect, mark
from modeseek.types import Array, IntArray

__all__ = ["PRODUCT", "Keeper", "Plan", "build", "lists_of", "one_thread", "plan"]

# price of a pair in a product, in evaluations of a pair by rows
PRODUCT = 0.25
# up to this many sites all are looked at
SMALL = 256

# numbers in one block of products
BLOCK = 1 << 21
# lists may hold this many entries; they are joined at the end, so 256 MB at the worst moment
ENTRIES = 1 << 25
# lists that hold more than this share of all pairs are not worth having
MOST = 0.5
# rows looked at to see how long lists would be
SAMPLE = 64
# skins to choose from, as shares of h; the widest that does not lengthen the lists much is taken
SKINS = (2.0, 1.0, 0.5, 0.25, 0.1, 0.0)
MUCH = 1.25


class Plan(NamedTuple):
    """What lists to make.

    Attributes
    ----------
    radius : float
        How far a list reaches.
    share : float
        The share of all pairs that lists would hold, from a sample of rows.
    """

    radius: float
    share: float


@cache
def _libraries() -> ThreadpoolController:
    return ThreadpoolController()


def one_thread() -> AbstractContextManager[Any]:
    """Hold matrix products to one thread: others, once woken, spin for a while and take the cores from the sums."""
    return _libraries().limit(limits=1, user_api="blas")


def plan(rows: Array, h: float) -> Plan | None:
    """Choose a radius of at least h; None if lists would hold most pairs, or too many.

    Parameters
    ----------
    rows : (m, d) array
    h : float
        The largest bandwidth to come.
    """
    m = len(rows)
    sample = rows[:: max(1, m // SAMPLE)]
    squares = _squares(sample)[:, None] + _squares(rows) - 2.0 * (sample @ rows.T)
    shares = [float(np.count_nonzero(squares <= (h * (1 + skin)) ** 2)) / squares.size for skin in SKINS]
    shortest = shares[-1]
    for skin, share in zip(SKINS, shares, strict=True):
        if share <= max(MUCH * shortest, 4 / m) and share <= MOST and share * m * m <= ENTRIES:
            return Plan(h * (1 + skin), share)
    return None


def build(rows: Array, radius: float) -> tuple[IntArray, IntArray] | None:
    """Return starts and members of the lists of all rows; None if they grow too long."""
    starts, parts, total = [np.zeros(1, dtype=np.int64)], [], 0
    for _, ends, members in lists_of(rows, rows, radius, copy=True):
        starts.append(total + ends[1:])
        parts.append(members)
        total += len(members)
        if total > ENTRIES:
            return None
    return np.concatenate(starts), np.concatenate(parts)


def lists_of(
    queries: Array, rows: Array, radius: float, *, copy: bool = False
) -> Iterator[tuple[slice, IntArray, IntArray]]:
    """Yield (block of queries, starts, members): the rows within the radius of each, and perhaps a few beyond it.

    Products carry rounding, so a little more than the radius is asked for; in single precision where that is little.
    """
    longest = float(max(_squares(queries).max(initial=0.0), _squares(rows).max()))
    slack = 16 * (rows.shape[1] + 4) * longest
    ordinary = 1e-30 < radius**2 < 1e30 and longest < 1e30  # others are no numbers in single precision
    single = ordinary and slack * np.finfo(np.float32).eps <= 0.05 * radius**2
    dtype = np.float32 if single else np.float64
    slack *= float(np.finfo(dtype).eps)
    queries, rows = queries.astype(dtype, copy=False), rows.astype(dtype, copy=False)
    halves = (_squares(rows) - (radius**2 * (1 + 1e-6) + slack)) / 2
    query_halves = _squares(queries) / 2
    halves, query_halves = halves.astype(dtype), query_halves.astype(dtype)
    step = max(1, BLOCK // len(rows))
    found = np.empty(min(step, len(queries)) * len(rows) + 1, dtype=np.int32)
    for start in range(0, len(queries), step):
        block = slice(start, min(start + step, len(queries)))
        starts = np.empty(block.stop - start + 1, dtype=np.int64)
        count = collect(queries[block] @ rows.T, halves, query_halves[block], found, starts)
        yield block, starts, found[:count].copy() if copy else found[:count]


def _squares(rows: Array) -> Array:
    return np.einsum("ij,ij->i", rows, rows, dtype=np.float64)


class Keeper:
    """Keeps lists of the sites while they hold, and knows when to make them anew.

    Attributes
    ----------
    builds : int
        How often lists were made.
    """

    def __init__(self, capacity: int):
        self.builds = 0
        self._radius = 0.0
        self._everyone = np.arange(capacity, dtype=np.int32)
        self._tally = np.zeros(4, dtype=np.int64)
        self._lists: Lists | None = None

    def prepare(self, positions: Array, m: int, h: float, draws: int) -> tuple[Lists, float]:
        """Return lists that hold for bandwidths up to h, and the squared drift at which a site is loose.

        Lists are made anew where they do not reach, or where `draws` updates with the old ones would cost more.

        Parameters
        ----------
        positions : (room, blocks, width) array
        m : int
            Sites in use.
        h : float
        draws : int
        """
        with one_thread():
            return self._prepare(positions, m, h, draws)

    def _prepare(self, positions: Array, m: int, h: float, draws: int) -> tuple[Lists, float]:
        wanted = plan(_rows(positions, m), h) if m > SMALL else None
        if wanted is None:
            return self._look_at_all(positions, m), 0.0
        old = self._lists
        if old is None or len(old.starts) != m + 1 or self._radius < h:
            return self._build(positions, m, h, wanted)
        slip = ((self._radius - h) / 2) ** 2
        loose = mark(positions, old.reference, slip, old.loose, old.is_loose)
        extra = draws * (2 * loose + len(old.members) / m - wanted.share * m)
        if extra > PRODUCT * m * m:
            return self._build(positions, m, h, wanted)
        self._count(m, loose)
        return old, slip

    def patience(self, m: int) -> int:
        """Return after how many evaluations for the sake of loose sites new lists are due."""
        return int(PRODUCT * m * m)

    def spent(self) -> int:
        """Return the evaluations since this was last asked."""
        work = int(self._tally[WORK])
        self._tally[WORK] = 0
        return work

    def _build(self, positions: Array, m: int, h: float, wanted: Plan) -> tuple[Lists, float]:
        self._tally[WORK] += int(PRODUCT * m * m)
        found = build(_rows(positions, m), wanted.radius)
        if found is None:
            return self._look_at_all(positions, m), 0.0
        capacity = len(self._everyone)
        self.builds += 1
        self._radius = wanted.radius
        loose, is_loose = np.zeros(capacity, dtype=np.int32), np.zeros(capacity, dtype=np.uint8)
        self._lists = Lists(positions[:m].copy(), *found, loose, is_loose, self._everyone, self._tally)
        self._count(m, 0)
        return self._lists, ((wanted.radius - h) / 2) ** 2

    def _look_at_all(self, positions: Array, m: int) -> Lists:
        self._lists = None
        self._count(m, 0)
        none = np.zeros(0, dtype=np.int32)
        flags = np.zeros(0, dtype=np.uint8)
        starts = np.zeros(0, dtype=np.int64)
        return Lists(positions[:0], starts, none, none, flags, self._everyone, self._tally)

    def _count(self, m: int, loose: int) -> None:
        self._tally[SITES], self._tally[LOOSE], self._tally[EXTRA] = m, loose, 0


def _rows(positions: Array, m: int) -> Array:
    return positions[:m].reshape(m, -1)
