"""Lists of who may be in reach of whom, by blocked matrix products, in bounded memory."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from threadpoolctl import ThreadpoolController

from modeseek._common.types import Array, IntArray
from modeseek.meanshift.engines.neighbor_lists.arrays import (
    ANCHORS,
    EXTRA,
    LOOSE,
    SITES,
    WILD,
    WORK,
    Lists,
    Rules,
    Sites,
)
from modeseek.meanshift.engines.neighbor_lists.kernels import GLANCE, collect, mark

__all__ = ["Keeper", "Plan", "build", "lists_of", "one_thread", "plan", "price"]

# coordinates read per compiled call: a fraction of a second, so that Ctrl-C is heard
READ_PER_CALL = 200_000_000
# loose sites are tied to an anchor within this share of h, or half the skin if that is more
SPAN = 0.2
# at most this many anchors
MANY = 64
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


def price(d: int) -> float:
    """Return what a pair in a product costs, in evaluations of a pair by rows: as measured for d = 4 to 512."""
    return 0.1 + 2.0 / (d + 4)


class Keeper:
    """Keeps lists of the sites while they hold, and knows when to make them anew.

    Attributes
    ----------
    builds : int
        How often lists were made.
    """

    def __init__(self, capacity: int, ulps: float):
        self.builds = 0
        self._ulps = ulps
        self._radius = 0.0
        self._everyone = np.arange(capacity, dtype=np.int32)
        self._tally = np.zeros(6, dtype=np.int64)
        self._lists: Lists | None = None

    def prepare(self, sites: Sites, m: int, h: float, draws: int) -> tuple[Lists, Rules]:
        """Return lists that hold for bandwidths up to h, and rules to go with them.

        Lists are made anew where they do not reach, where `draws` updates with the old ones would cost more, or where
        loose sites have cost as much since they were made: so the sum of both is never far from the least.

        Parameters
        ----------
        sites : Sites
        m : int
            How many are in use.
        h : float
        draws : int
        """
        with one_thread():
            wanted = plan(_rows(sites, m), h) if m > SMALL else None
            if wanted is None:
                self._lists = None
            elif not self._good(sites, m, h, draws, wanted):
                self._build(sites, m, wanted.radius)
        self._tally[SITES] = m
        if self._lists is None:
            self._tally[[EXTRA, LOOSE, ANCHORS, WILD]] = 0
            return self._empty(sites), self._rules(sites, h)
        return self._lists, self._rules(sites, h)

    def spent(self) -> int:
        """Return the evaluations since this was last asked."""
        work = int(self._tally[WORK])
        self._tally[WORK] = 0
        return work

    def _good(self, sites: Sites, m: int, h: float, draws: int, wanted: Plan) -> bool:
        """Whether to go on with the lists there are; finds out who is loose."""
        lists = self._lists
        if lists is None or len(lists.reference) != m or self._radius < h:
            return False
        mark(sites, lists, self._rules(sites, h))
        tally = self._tally
        extra = tally[ANCHORS] + 2 * tally[WILD] + GLANCE * tally[LOOSE] + len(lists.members) / m - wanted.share * m
        return bool(max(tally[EXTRA], draws * extra) <= self._patience(sites, m))

    def _patience(self, sites: Sites, m: int) -> int:
        return int(price(sites.positions[0].size) * m * m)

    def _rules(self, sites: Sites, h: float) -> Rules:
        skin = max(self._radius - h, 0.0)
        span = max(skin / 2, SPAN * h)
        m = int(self._tally[SITES])
        budget = READ_PER_CALL // sites.positions[0].size
        return Rules(self._ulps, (skin / 2) ** 2, span, h + skin / 2 + span, budget, self._patience(sites, m))

    def _build(self, sites: Sites, m: int, radius: float) -> None:
        self._tally[WORK] += self._patience(sites, m)
        found = build(_rows(sites, m), radius)
        if found is None:
            self._lists = None
            return
        capacity = len(self._everyone)
        self.builds += 1
        self._radius = radius
        self._tally[[EXTRA, LOOSE, ANCHORS, WILD]] = 0
        self._lists = Lists(
            reference=sites.positions[:m].copy(),
            starts=found[0],
            members=found[1],
            loose=np.zeros(capacity, dtype=np.int32),
            is_loose=np.zeros(capacity, dtype=np.uint8),
            everyone=self._everyone,
            anchors=np.zeros((MANY, *sites.positions.shape[1:]), dtype=sites.positions.dtype),
            anchored=np.empty((MANY, m), dtype=np.int32),
            lengths=np.zeros(MANY, dtype=np.int64),
            near=np.zeros(MANY, dtype=np.uint8),
            anchor=np.zeros(capacity, dtype=np.int32),
            tally=self._tally,
        )

    def _empty(self, sites: Sites) -> Lists:
        """Return lists that say nothing: every site is looked at."""
        small, long, flags = np.zeros(0, np.int32), np.zeros(0, np.int64), np.zeros(0, np.uint8)
        nowhere = sites.positions[:0].copy()
        return Lists(
            nowhere, long, small, small, flags, self._everyone,
            nowhere, np.zeros((0, 0), np.int32), long, flags, small, self._tally,
        )  # fmt: skip


def _rows(sites: Sites, m: int) -> Array:
    return sites.positions[:m].reshape(m, -1)
