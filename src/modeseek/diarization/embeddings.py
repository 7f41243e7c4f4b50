"""Validation of embeddings, and their transformation before they are compared by direction."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from modeseek._common.distances import BLOCK
from modeseek._common.types import Array, IntArray
from modeseek._common.validation import check_integer

# number of rows that are converted to float64 at once
COVARIANCE_BLOCK = 8192
# squares of numbers from 1 / SAFE to SAFE are normal numbers, also in float32
SAFE = 1e15


@dataclass(frozen=True)
class EmbeddingTransform:
    """Transformation of embeddings before they are clustered.

    Rows are scaled to unit length, centred and projected if the fields say so, and scaled to unit length again.

    Attributes
    ----------
    center : bool
        Subtract the mean. This helps if all embeddings have similar directions. It hurts if most of the speech comes
        from one speaker, whose direction is then close to the mean.
    components : int, optional
        Keep this number of principal components of the centred rows.
    whiten : bool
        Scale the principal components to equal variance. If n rows were whitened in n - 1 components, all pairs would
        have the same distance, up to rounding. Therefore at most n / `rows_per_component` components are kept, or
        n / 2 if `components` is given.
    min_variance_ratio : float
        Principal components whose variance is a smaller fraction of the largest variance are rounding errors, and are
        dropped.
    rows_per_component : int
        Number of rows for each whitened component.

    Examples
    --------
    >>> EmbeddingTransform().apply(np.array([[3.0, 4.0], [0.0, 2.0]]))
    array([[0.6, 0.8], [0. , 1. ]])
    >>> EmbeddingTransform(components=1).apply(np.array([[3.0, 4.0], [0.0, 2.0], [0.0, 1.0]])).shape
    (3, 1)
    """

    center: bool = False
    components: int | None = None
    whiten: bool = False
    min_variance_ratio: float = 1e-6
    rows_per_component: int = 10

    def apply(self, embeddings: Array) -> Array:
        """Return the transformed rows, in the precision of `embeddings`."""
        rows = unit_rows(embeddings)
        if not (self.center or self.whiten or self.components is not None):
            return rows
        rows = rows - rows.mean(axis=0)
        if self.whiten or self.components is not None:
            rows = self._project(rows)
        return unit_rows(rows)

    def _project(self, rows: Array) -> Array:
        # the covariance matrix, unlike a singular value decomposition, needs no copy of all rows
        variances, directions = np.linalg.eigh(_covariance(rows))
        variances, directions = variances[::-1], directions[:, ::-1]
        count = int((variances > self.min_variance_ratio * variances[0]).sum()) if variances[0] > 0 else 1
        if self.components is not None:
            count = min(check_integer("components", self.components, low=1), count)
        if self.whiten:
            each = self.rows_per_component if self.components is None else 2
            count = min(count, max(1, len(rows) // each))
        directions = directions[:, :count]
        if self.whiten:
            directions = directions / np.sqrt(np.maximum(variances[:count], np.finfo(np.float64).tiny))
        return rows @ directions.astype(rows.dtype)


def _covariance(rows: Array) -> Array:
    """Return the covariance of centred rows in float64, without a copy of all rows."""
    parts = (rows[i : i + COVARIANCE_BLOCK].astype(np.float64) for i in range(0, len(rows), COVARIANCE_BLOCK))
    return sum((part.T @ part for part in parts), np.zeros((rows.shape[1], rows.shape[1]))) / len(rows)


UNIT_LENGTH = EmbeddingTransform()


def check_embeddings(embeddings: ArrayLike) -> Array:
    """Return valid embeddings as float32 or float64 of shape (n, d); error messages name the first invalid row."""
    try:
        rows = np.asarray(embeddings)
    except ValueError:
        raise ValueError("embeddings must be rows of the same length: give an array of shape (n, d).") from None
    if rows.dtype.kind not in "biuf":
        raise TypeError(f"embeddings must be real numbers; got {rows.dtype}: give an array of shape (n, d).")
    if rows.ndim != 2 or 0 in rows.shape:
        hint = " PyannoteClustering takes three dimensions." if rows.ndim == 3 else ""
        raise ValueError(f"embeddings must have shape (n, d), one row per window; got {rows.shape}.{hint}")
    if rows.dtype not in (np.float32, np.float64):
        # 16 bits are not enough for sums of squares
        rows = rows.astype(np.float32 if rows.dtype == np.float16 else np.float64)
    finite = np.isfinite(rows).all(axis=1)
    if not finite.all():
        raise ValueError(f"{_rows(~finite)} has NaN or infinity: remove such rows and their segments.")
    zero = ~rows.any(axis=1)
    if zero.any():
        raise ValueError(f"{_rows(zero)} is all zeros and has no direction: remove such rows and their segments.")
    return rows


def _rows(bad: Any) -> str:
    return f"row {int(np.argmax(bad))} of embeddings (counted from 0, the first of {int(bad.sum()):,})"


def mean_directions(rows: Array, labels: IntArray) -> Array:
    """Return the mean direction of the rows of each label, as unit vectors."""
    order = np.argsort(labels, kind="stable")
    starts = np.append(0, np.cumsum(np.bincount(labels))[:-1])
    return unit_rows(np.add.reduceat(rows[order], starts, axis=0))


def nearest_direction(rows: Array, directions: Array) -> IntArray:
    """Return the index of the closest direction for each unit row."""
    block = max(1, BLOCK // max(1, len(directions)))
    parts = [(rows[i : i + block] @ directions.T).argmax(axis=1) for i in range(0, len(rows), block)]
    return np.concatenate(parts).astype(np.intp)


def unit_rows(rows: Array) -> Array:
    """Return rows scaled to unit length; rows of zeros stay as they are."""
    largest = np.abs(rows).max(axis=1, keepdims=True)
    if largest.max() > SAFE or (largest < 1 / SAFE).any():
        # squares would overflow or vanish; a power of 2 changes no digit
        rows = np.ldexp(rows, -np.frexp(largest)[1])
    # a row may have length 0 after centring, and then stays as it is
    length = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(length > 0, length, 1)
