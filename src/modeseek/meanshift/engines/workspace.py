"""The base class of workspaces, and functions that several engines share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple, TypeVar

import numpy as np

from modeseek._common.resources import check_time, deadline
from modeseek._common.types import Array, Geometry, IntArray
from modeseek.meanshift.bandwidth.draws import DrawCode
from modeseek.meanshift.types import Draws, EndTest, SweepsInfo

# a vector of at most this length has no direction
SHORTEST = 1e-12
# points whose distances are computed before they are summed; these, and one coordinate of the points, fit into the L1
# cache
BLOCK = 512

T = TypeVar("T")


class UpdateBlock(NamedTuple):
    """Consecutive single-point updates, for compiled code.

    Attributes
    ----------
    indices, bandwidths : (m,) arrays
        The point and the bandwidth of each update.
    lengths : (m,) array
        Output: the length of each shift.
    """

    indices: IntArray
    bandwidths: Array
    lengths: Array

    def part(self, start: int, count: int | None = None) -> UpdateBlock:
        """Return the updates from `start` on, at most `count` of them."""
        block = slice(start, None if count is None else start + count)
        return UpdateBlock(self.indices[block], self.bandwidths[block], self.lengths[block])


class SweepBlock(NamedTuple):
    """Consecutive sweeps and the test whether the run ends, for compiled code.

    Attributes
    ----------
    code : DrawCode
        How to draw; without a key, the updates are given and are the only sweep.
    path : array
        Output: the bandwidths of the policy. The last entry is at first the bandwidth before the first sweep.
    last_shift : (n,) array
        Length of the last move of each point; updated.
    largest : array
        Output: the longest move of each sweep.
    test : EndTest
    rounding : float
        Share of the largest coordinate by which rounding can move a point outside its hull.
    witnesses : integer array
        Points whose distances are checked first.
    """

    code: DrawCode
    path: Array
    last_shift: Array
    largest: Array
    test: EndTest
    rounding: float
    witnesses: IntArray


class QueryBlock(NamedTuple):
    """Simultaneous updates, for compiled code.

    Attributes
    ----------
    points : (m, d) array
    bandwidths : (m,) array
    moved : (m, d) array
        Output: the shifted points.
    """

    points: Array
    bandwidths: Array
    moved: Array

    def part(self, block: slice) -> QueryBlock:
        """Return the queries of a slice."""
        return QueryBlock(self.points[block], self.bandwidths[block], self.moved[block])


class Buffers(NamedTuple):
    """Arrays for temporary values of compiled code, because code that allocates arrays takes long to compile.

    Attributes
    ----------
    q, new, u, v : (d,) arrays
        The old and the new position of a point, and two other vectors.
    distances : (BLOCK,) array
    """

    q: Array
    new: Array
    u: Array
    v: Array
    distances: Array

    @classmethod
    def empty(cls, d: int) -> Buffers:
        """Return new arrays for points with d coordinates."""
        q, new, u, v = np.empty((4, d))
        return cls(q, new, u, v, np.empty(BLOCK))


def apply_shift(points: Array, shift: Array, geometry: Geometry) -> Array:
    """Return `points + shift`, projected onto the unit sphere under the cosine metric.

    A sum of length zero has no direction; such a point keeps its position.
    """
    moved = points + shift
    if not geometry.spherical:
        return moved
    length = np.linalg.norm(moved, axis=-1, keepdims=True)
    return np.where(length > SHORTEST, moved / np.maximum(length, SHORTEST), points)


def contiguous_queries(queries: Array, h: Array | float) -> tuple[Array, Array]:
    """Return queries and one bandwidth per query as contiguous, writeable arrays.

    Numba compiles a function again for read-only or strided arguments.
    """
    bandwidths = np.broadcast_to(np.asarray(h, dtype=np.float64), len(queries))
    return np.require(queries, requirements=["C", "W"]), np.require(bandwidths, requirements=["C", "W"])


def map_blocks(function: Callable[[slice], T], n: int, step: int, n_jobs: int, *, least: int = 1) -> list[T]:
    """Apply a function to consecutive slices of `range(n)`, in threads; return the results in order.

    Parameters
    ----------
    function : callable
        Takes a slice. It should release the GIL.
    n, step : int
        Total length, and the largest length of a slice.
    n_jobs : int
        Number of threads. Slices are short enough that each thread gets one.
    least : int
        Slices for threads are not made shorter than this.
    """
    step = max(1, min(step, max(least, -(-n // n_jobs))))
    blocks = [slice(start, start + step) for start in range(0, n, step)]
    until = deadline()

    def call(block: slice) -> T:
        check_time(until)
        return function(block)

    if n_jobs == 1 or len(blocks) == 1:
        return [call(block) for block in blocks]
    with ThreadPoolExecutor(n_jobs) as pool:
        return list(pool.map(call, blocks))


class BaseWorkspace(ABC):
    """A workspace that implements batches of simultaneous updates by `shift_all`.

    The points are stored as rows of `_points`. A subclass with another layout overrides `points`, `load`, `take` and
    `place`.
    """

    _points: Array

    @property
    def most_sweeps(self) -> int:
        """Return 0: the workspace makes no draws itself."""
        return 0

    def shift_sweeps(self, code: DrawCode, h: float, last_shift: Array, test: EndTest) -> SweepsInfo:
        """Apply several sweeps at once, if `most_sweeps` is positive."""
        raise NotImplementedError

    @property
    def points(self) -> Array:
        """A copy of the current state, an (n, d) array."""
        return self._points.copy()

    def load(self, points: Array) -> None:
        """Replace the state."""
        self._points = np.array(points, order="C")

    def take(self, members: IntArray) -> Array:
        """Return the positions of the points with indices `members`."""
        return self._points[members]

    def place(self, members: IntArray, values: Array) -> None:
        """Set the positions of the points with indices `members`."""
        self._points[members] = values

    def shift_each(self, draws: Draws) -> Array:
        """Apply the draws in order; the points in a row of a 2-D block move simultaneously."""
        if draws.indices.ndim == 1:
            return self.shift_one_by_one(draws)
        lengths = np.zeros(draws.indices.shape)
        for row, (members, h) in enumerate(zip(draws.indices, draws.bandwidths, strict=True)):
            check_time()
            valid = members >= 0
            old = self.take(members[valid])
            new = self.shift_all(old, h[valid])
            lengths[row, valid] = np.linalg.norm(new.astype(np.float64) - old, axis=1)
            self.place(members[valid], new)
        return lengths

    @abstractmethod
    def shift_one_by_one(self, draws: Draws) -> Array:
        """Apply a 1-D block of draws in order; return the lengths of the shifts."""

    @abstractmethod
    def shift_all(self, queries: Array, h: Array | float) -> Array:
        """Return S_h(x) for every query x, without changing the state."""
