"""What every engine shares: simultaneous updates from `shift_all`, work in threads, lengths on the sphere."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import numpy as np

from modeseek._common.resources import check_time, deadline
from modeseek._common.types import Array, Geometry, IntArray
from modeseek.meanshift.types import Draws

__all__ = ["BaseWorkspace", "for_each", "in_blocks", "settle"]

T = TypeVar("T")


def settle(old: Array, shift: Array, geometry: Geometry) -> Array:
    """Move by a shift; under cosine the new place is drawn back onto the unit sphere.

    The mean of points that cancel out has no direction: such a point stays where it is.
    """
    new = old + shift
    if not geometry.spherical:
        return new
    length = np.linalg.norm(new, axis=-1, keepdims=True)
    return np.where(length > 1e-12, new / np.maximum(length, 1e-12), old)


def for_each(queries: Array, h: Array | float) -> tuple[Array, Array]:
    """Return queries and a bandwidth for each as compiled code wants them.

    Neither is read-only, as what NumPy makes of one number for one query would be: Numba would compile anew for it.
    """
    bandwidths = np.broadcast_to(np.asarray(h, dtype=np.float64), len(queries))
    return np.require(queries, requirements=["C", "W"]), np.require(bandwidths, requirements=["C", "W"])


def in_blocks(function: Callable[[slice], T], n: int, step: int, n_jobs: int, *, least: int = 1) -> list[T]:
    """Apply a function to blocks of 0 .. n, in threads; return what it gave, in order.

    Parameters
    ----------
    function : callable
        Of a slice; it should let other threads run.
    n, step : int
        Length of it all, and the most in a block. With several threads blocks are short enough that each has one.
    n_jobs : int
        Threads.
    least : int
        Fewer than this are not worth a thread.
    """
    step = max(1, min(step, max(least, -(-n // n_jobs))))
    blocks = [slice(start, start + step) for start in range(0, n, step)]
    until = deadline()

    def in_time(block: slice) -> T:
        check_time(until)
        return function(block)

    if n_jobs == 1 or len(blocks) == 1:
        return [in_time(block) for block in blocks]
    with ThreadPoolExecutor(n_jobs) as pool:
        return list(pool.map(in_time, blocks))


class BaseWorkspace(ABC):
    """A workspace that has `shift_all` and one-by-one updates, and gets batches from them."""

    def shift_each(self, draws: Draws) -> Array:
        """Apply the draws in order; rows of a 2-D block move at once."""
        if draws.indices.ndim == 1:
            return self.shift_one_by_one(draws)
        lengths = np.zeros(draws.indices.shape)
        for row, (members, h) in enumerate(zip(draws.indices, draws.bandwidths, strict=True)):
            check_time()
            there = members >= 0
            old = self.take(members[there])
            new = self.shift_all(old, h[there])
            lengths[row, there] = np.linalg.norm(new.astype(np.float64) - old, axis=1)
            self.place(members[there], new)
        return lengths

    @property
    @abstractmethod
    def points(self) -> Array:
        """The current state as an (n, d) array."""

    @abstractmethod
    def load(self, points: Array) -> None:
        """Replace the state."""

    def take(self, members: IntArray) -> Array:
        """Return some points; worth its own line where `points` copies them all."""
        return self.points[members]

    @abstractmethod
    def place(self, members: IntArray, values: Array) -> None:
        """Put some points elsewhere."""

    @abstractmethod
    def shift_one_by_one(self, draws: Draws) -> Array:
        """Apply a 1-D block of draws in order; return the lengths of the shifts."""

    @abstractmethod
    def shift_all(self, queries: Array, h: Array | float) -> Array:
        """Return S_h(x) for every query x against the current state."""
