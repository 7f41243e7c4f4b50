"""A summary of rows in any dimension: the rows that a hash of their contents chooses, as good as drawn at random.

The rows with the smallest hashes are kept, each with how often it occurs. So the same rows are kept in whatever order,
chunks or merging they come.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from modeseek._common.neighbors import nearest
from modeseek._common.storable import is_real, require, storable
from modeseek._common.types import Array, IntArray
from modeseek._common.unique_rows import hash_rows

__all__ = ["Sample"]


def _check_sample(sample: Sample) -> None:
    m = len(sample.rows)
    require(m <= sample.size and sample.keys.shape == sample.counts.shape == (m,), "a sample")
    require(is_real(sample.rows, 2) and is_real(sample.counts, 1) and sample.keys.dtype == np.uint64, "a sample")
    require((sample.counts > 0).all() and np.isfinite(sample.weight), "the weights of a sample")


@storable(_check_sample)
@dataclass(frozen=True, eq=False)
class Sample:
    """A summary: some of the rows.

    Attributes
    ----------
    size : int
        How many distinct rows are kept at most.
    keys : (m,) array
        Hash of each row kept, ascending.
    rows : (m, d) array
        The rows.
    counts : (m,) array
        Weight of all copies of each.
    weight : float
        Weight of all rows, kept or not.
    """

    size: int
    keys: Array
    rows: Array
    counts: Array
    weight: float

    @classmethod
    def empty(cls, size: int, d: int, dtype: np.dtype | type = np.float64) -> Sample:
        """Return a summary of no rows."""
        return cls(size, np.empty(0, np.uint64), np.empty((0, d), dtype), np.empty(0), 0.0)

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def whole(self) -> bool:
        """Whether every distinct row is in it."""
        return len(self.rows) < self.size

    def add(self, rows: Array, weights: Array | None = None) -> Sample:
        """Return the summary with more rows in it.

        Examples
        --------
        >>> one = Sample.empty(2, 1).add(np.array([[1.0], [2.0], [3.0]]))
        >>> two = Sample.empty(2, 1).add(np.array([[3.0], [1.0]])).add(np.array([[2.0]]))
        >>> bool((one.rows == two.rows).all()), len(one), one.weight
        (True, 2, 3.0)
        """
        weights = np.ones(len(rows)) if weights is None else weights
        keys = _spread(hash_rows(rows.astype(np.float64)))
        total = self.weight + float(weights.sum())
        if len(self.keys) == self.size:  # most rows of a long stream are out of the question at once
            near = keys <= self.keys[-1]
            rows, keys, weights = rows[near], keys[near], weights[near]
        return self._with(keys, rows, weights, total)

    def merge(self, other: Sample) -> Sample:
        """Return the summary of the rows of both."""
        if self.size != other.size:
            raise ValueError(f"summaries of {self.size} and of {other.size} rows cannot be merged: give both one size.")
        return self._with(other.keys, other.rows, other.counts, self.weight + other.weight)

    def faded(self, share: float) -> Sample:
        """Return the summary with every weight times `share`; rows of less than half a one are dropped."""
        kept = self.counts * share >= 0.5
        counts = self.counts[kept] * share
        return replace(self, keys=self.keys[kept], rows=self.rows[kept], counts=counts, weight=self.weight * share)

    def find(self, rows: Array, n_jobs: int | None = None) -> IntArray:
        """Return the number of the kept row that is nearest to each row."""
        return nearest(self.rows, rows, n_jobs=n_jobs)

    def _with(self, keys: Array, rows: Array, counts: Array, total: float) -> Sample:
        keys, rows = np.concatenate([self.keys, keys]), np.concatenate([self.rows, rows])
        counts = np.concatenate([self.counts, counts])
        distinct, first, number = np.unique(keys, return_index=True, return_inverse=True)
        counts = np.bincount(number, weights=counts, minlength=len(distinct))
        kept = slice(self.size)
        return Sample(self.size, distinct[kept], rows[first[kept]], counts[kept], total)


def _spread(keys: Array) -> Array:
    """Mix hashes once more, so that their order has nothing to do with the rows."""
    keys = (keys ^ (keys >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    keys = (keys ^ (keys >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return keys ^ (keys >> np.uint64(31))
