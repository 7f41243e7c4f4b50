"""Lists of near points, found by blocked matrix products in bounded memory."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from modeseek._common.blas import one_blas_thread
from modeseek._common.types import Array, IntArray
from modeseek.meanshift.engines.neighbor_lists.arrays import Counters, GroupState, ListLimits, Lists
from modeseek.meanshift.engines.neighbor_lists.config import ListConfig, pair_cost
from modeseek.meanshift.engines.neighbor_lists.loops import SKIP_COST, find_loose, list_neighbors

# Number of entries in one block of products, and number of rows that are sampled to estimate the length of lists.
PRODUCTS_PER_BLOCK = 1 << 21
SAMPLE_ROWS = 64


class ListChoice(NamedTuple):
    """The radius of lists, and the share of all pairs that they would hold."""

    radius: float
    share: float


def choose_lists(rows: Array, h: float, config: ListConfig) -> ListChoice | None:
    """Choose the radius of the lists of (m, d) rows, at least h; return None if lists would be too long."""
    m = len(rows)
    sample = rows[:: max(1, m // SAMPLE_ROWS)]
    squares = _squares(sample)[:, None] + _squares(rows) - 2.0 * (sample @ rows.T)
    radii = [h * (1 + skin) for skin in config.skins]
    shares = [float(np.count_nonzero(squares <= radius**2)) / squares.size for radius in radii]
    max_share = min(max(config.max_growth * shares[-1], 4 / m), config.max_share, config.max_entries / (m * m))
    fitting = (ListChoice(radius, share) for radius, share in zip(radii, shares, strict=True) if share <= max_share)
    return next(fitting, None)


def build_lists(rows: Array, radius: float, max_entries: int) -> tuple[IntArray, IntArray] | None:
    """Return starts and members of the lists of all rows; None if they have more than `max_entries` entries."""
    starts, parts, total = [np.zeros(1, dtype=np.int64)], [], 0
    for _, ends, members in iter_lists(rows, rows, radius):
        starts.append(total + ends[1:])
        parts.append(members.copy())
        total += len(members)
        if total > max_entries:
            return None
    return np.concatenate(starts), np.concatenate(parts)


def iter_lists(queries: Array, rows: Array, radius: float) -> Iterator[tuple[slice, IntArray, IntArray]]:
    """Yield, block by block, the slice of the queries, and starts and members of their lists of rows within `radius`.

    Lists may include a few rows beyond the radius, because matrix products are rounded. The products are computed in
    single precision if its rounding adds few rows. The arrays are overwritten by the next block.
    """
    longest = float(max(_squares(queries).max(initial=0.0), _squares(rows).max()))
    slack = 16 * (rows.shape[1] + 4) * longest
    representable = 1e-30 < radius**2 < 1e30 and longest < 1e30
    single = representable and slack * np.finfo(np.float32).eps <= 0.05 * radius**2
    dtype = np.float32 if single else np.float64
    slack *= float(np.finfo(dtype).eps)
    queries, rows = queries.astype(dtype, copy=False), rows.astype(dtype, copy=False)
    halves = ((_squares(rows) - (radius**2 * (1 + 1e-6) + slack)) / 2).astype(dtype)
    query_halves = (_squares(queries) / 2).astype(dtype)
    step = max(1, PRODUCTS_PER_BLOCK // len(rows))
    found = np.empty(min(step, len(queries)) * len(rows) + 1, dtype=np.int32)
    for start in range(0, len(queries), step):
        block = slice(start, min(start + step, len(queries)))
        starts = np.empty(block.stop - start + 1, dtype=np.int64)
        count = list_neighbors(queries[block] @ rows.T, halves, query_halves[block], found, starts)
        yield block, starts, found[:count]


def _squares(rows: Array) -> Array:
    return np.einsum("ij,ij->i", rows, rows, dtype=np.float64)


class ListKeeper:
    """Keeps the lists of groups of coincident points, and rebuilds them when that saves time.

    Attributes
    ----------
    builds : int
        Number of times that lists were built.
    """

    def __init__(self, capacity: int, tolerance: float, config: ListConfig):
        self.builds = 0
        self._tolerance, self._config = tolerance, config
        self._radius = 0.0
        self._all_groups = np.arange(capacity, dtype=np.int32)
        self._counters = Counters(*np.zeros((6, 1), dtype=np.int64))
        self._lists: Lists | None = None

    def prepare(self, state: GroupState, m: int, h: float, n_updates: int) -> tuple[Lists, ListLimits]:
        """Return lists that are valid for bandwidths up to h, and the limits of compiled calls.

        Lists are rebuilt if their radius is too small, if `n_updates` updates with the present lists would cost more
        than a rebuild, or if loose groups have already cost as much. The total cost is thus close to the minimum.

        Parameters
        ----------
        state : GroupState
        m : int
            Number of groups in use.
        h : float
        n_updates : int
        """
        with one_blas_thread():
            rows = state.positions[:m]
            choice = choose_lists(rows, h, self._config) if m > self._config.min_groups else None
            if choice is None:
                self._lists = None
            elif not self._still_good(state, m, h, n_updates, choice):
                self._build(state, m, choice.radius)
        self._counters.groups[0] = m
        if self._lists is not None:
            return self._lists, self._limits(state, h)
        self._forget_loose()
        nothing = np.zeros(0, np.int64), np.zeros(0, np.int32)
        return self._make_lists(state.positions[:0], nothing, n_anchors=0), self._limits(state, h)

    def take_evaluations(self) -> int:
        """Return the number of distances since the last call of this method."""
        evaluations = int(self._counters.evaluations[0])
        self._counters.evaluations[0] = 0
        return evaluations

    def _still_good(self, state: GroupState, m: int, h: float, n_updates: int, choice: ListChoice) -> bool:
        """Find the loose groups, and return whether to keep the present lists."""
        lists = self._lists
        if lists is None or len(lists.origins) != m or self._radius < h:
            return False
        find_loose(state, lists, self._limits(state, h))
        loose, anchors, unanchored = self._counters.loose[0], self._counters.anchors[0], self._counters.unanchored[0]
        extra = anchors + 2 * unanchored + SKIP_COST * loose + len(lists.members) / m - choice.share * m
        return bool(max(self._counters.extra[0], n_updates * extra) <= self._build_cost(state, m))

    def _forget_loose(self) -> None:
        for counter in self._counters[2:]:
            counter[0] = 0

    def _build_cost(self, state: GroupState, m: int) -> int:
        return int(self._config.rebuild_cost * pair_cost(state.positions.shape[1]) * m * m)

    def _limits(self, state: GroupState, h: float) -> ListLimits:
        skin = max(self._radius - h, 0.0)
        span = max(skin / 2, self._config.anchor_span * h)
        per_call = self._config.coordinates_per_call // state.positions.shape[1]
        max_extra = self._build_cost(state, int(self._counters.groups[0]))
        return ListLimits(self._tolerance, (skin / 2) ** 2, span, h + skin / 2 + span, per_call, max_extra)

    def _build(self, state: GroupState, m: int, radius: float) -> None:
        self._counters.evaluations[0] += int(pair_cost(state.positions.shape[1]) * m * m)
        found = build_lists(state.positions[:m], radius, self._config.max_entries)
        self._lists = None
        if found is not None:
            self.builds += 1
            self._radius = radius
            self._forget_loose()
            self._lists = self._make_lists(state.positions[:m], found, self._config.max_anchors)

    def _make_lists(self, origins: Array, found: tuple[IntArray, IntArray], n_anchors: int) -> Lists:
        capacity = len(self._all_groups)
        return Lists(
            origins=origins.copy(),
            starts=found[0],
            members=found[1],
            all_groups=self._all_groups,
            loose=np.zeros(capacity, dtype=np.int32),
            is_loose=np.zeros(capacity, dtype=np.uint8),
            anchor_of=np.zeros(capacity, dtype=np.int32),
            anchors=np.zeros((n_anchors, origins.shape[1]), dtype=origins.dtype),
            anchor_members=np.empty((n_anchors, len(origins)), dtype=np.int32),
            anchor_sizes=np.zeros(n_anchors, dtype=np.int64),
            anchor_near=np.zeros(n_anchors, dtype=np.uint8),
            counters=self._counters,
        )
