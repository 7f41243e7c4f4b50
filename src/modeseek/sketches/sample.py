"""A sketch of rows in any dimension: a random sample of the distinct rows, with their weights.

The sample has the rows with the smallest hashes of their absolute values. Therefore it does not depend on the order of
rows, on chunks or on the order of merging, nor on the order and the sign of columns.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from modeseek._common.neighbors import nearest
from modeseek._common.storable import is_real, require, storable
from modeseek._common.types import Array, IntArray
from modeseek._common.unique_rows import hash_rows, ranked_rows


def check_sample(sample: Sample) -> None:
    """Raise a `ValueError` if the parts of a sample do not fit together."""
    m = len(sample.rows)
    require(m <= sample.size and sample.keys.shape == (m, 2) and sample.counts.shape == (m,), "a sample")
    require(is_real(sample.rows, 2) and is_real(sample.counts, 1) and sample.keys.dtype == np.uint64, "a sample")
    require((sample.counts > 0).all() and np.isfinite(sample.weight), "the weights of a sample")


@storable(check_sample)
@dataclass(frozen=True, eq=False)
class Sample:
    """A random sample of the distinct rows.

    Attributes
    ----------
    size : int
        Largest number of rows in the sample.
    keys : (m, 2) array
        Two hashes of each sampled row; rows are sorted by them. The first is a hash of the absolute values that does
        not depend on the order of the columns, the second is a hash of the row itself.
    rows : (m, d) array
        The sampled rows.
    counts : (m,) array
        Weight of all copies of each sampled row.
    weight : float
        Weight of all rows, sampled or not.
    """

    size: int
    keys: Array
    rows: Array
    counts: Array
    weight: float

    @classmethod
    def empty(cls, size: int, d: int, dtype: np.dtype | type = np.float64) -> Sample:
        """Return a sample without rows."""
        return cls(size, np.empty((0, 2), np.uint64), np.empty((0, d), dtype), np.empty(0), 0.0)

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def whole(self) -> bool:
        """Whether the sample certainly has all distinct rows, because it is not full."""
        return len(self.rows) < self.size

    def add(self, rows: Array, weights: Array | None = None) -> Sample:
        """Return the sample after rows are added.

        Examples
        --------
        >>> one = Sample.empty(2, 1).add(np.array([[1.0], [2.0], [3.0]]))
        >>> two = Sample.empty(2, 1).add(np.array([[3.0], [1.0]])).add(np.array([[2.0]]))
        >>> bool((one.rows == two.rows).all()), len(one), one.weight
        (True, 2, 3.0)
        """
        weights = np.ones(len(rows)) if weights is None else weights
        keys = _keys(rows.astype(np.float64))
        total = self.weight + float(weights.sum())
        if len(self.keys) == self.size:  # drop rows with too large a hash, which are most rows of a long stream
            small = keys[:, 0] <= self.keys[-1, 0]
            rows, keys, weights = rows[small], keys[small], weights[small]
        return self._with(keys, rows, weights, total)

    def merge(self, other: Sample) -> Sample:
        """Return the sample of the rows of both samples."""
        if self.size != other.size:
            raise ValueError(f"samples of sizes {self.size} and {other.size} cannot be merged: use one size.")
        return self._with(other.keys, other.rows, other.counts, self.weight + other.weight)

    def discounted(self, factor: float) -> Sample:
        """Return the sample with weights multiplied by `factor`; rows whose weight falls below 0.5 are dropped."""
        kept = self.counts * factor >= 0.5
        counts = self.counts[kept] * factor
        return replace(self, keys=self.keys[kept], rows=self.rows[kept], counts=counts, weight=self.weight * factor)

    def find(self, rows: Array, n_jobs: int | None = None) -> IntArray:
        """Return the index of the sampled row that is nearest to each row."""
        return nearest(self.rows, rows, n_jobs=n_jobs)

    def _with(self, keys: Array, rows: Array, counts: Array, total: float) -> Sample:
        keys, rows = np.concatenate([self.keys, keys]), np.concatenate([self.rows, rows])
        counts = np.concatenate([self.counts, counts])
        first, number = ranked_rows(keys)
        counts = np.bincount(number, weights=counts, minlength=len(first))
        kept = slice(self.size)
        return Sample(self.size, keys[first[kept]], rows[first[kept]], counts[kept], total)


def _keys(rows: Array) -> Array:
    symmetric = np.zeros(len(rows), dtype=np.uint64)
    for column in rows.T:
        symmetric += _mix(np.abs(column).view(np.uint64))
    return np.column_stack([_mix(symmetric), hash_rows(rows)])


def _mix(keys: Array) -> Array:
    """Mix the bits of hashes (the finalizer of SplitMix64), so that their order is unrelated to the rows."""
    keys = (keys ^ (keys >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    keys = (keys ^ (keys >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return keys ^ (keys >> np.uint64(31))
