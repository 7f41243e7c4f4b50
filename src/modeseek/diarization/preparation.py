"""Embeddings as rows to compare by direction: unit length, and centred, projected or whitened where asked."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from modeseek._common.types import Array
from modeseek._common.validation import check_integer

__all__ = ["PLAIN", "Preparation", "check_embeddings", "unit"]

# directions whose spread is below this share of the widest one are rounding; whitening would blow them up
THINNEST = 1e-6


@dataclass(frozen=True)
class Preparation:
    """What is done to embeddings before they are compared, in this order.

    Rows are scaled to unit length in any case, first and last.

    Attributes
    ----------
    centre : bool
        Take off the mean. It helps where all embeddings point much the same way, and hurts where one speaker has
        most of the speech, who then is the mean.
    components : int, optional
        Keep so many principal components (of centred rows).
    whiten : bool
        Bring these to one spread.

    Examples
    --------
    >>> Preparation().apply(np.array([[3.0, 4.0], [0.0, 2.0]]))
    array([[0.6, 0.8], [0. , 1. ]])
    >>> Preparation(components=1).apply(np.array([[3.0, 4.0], [0.0, 2.0], [0.0, 1.0]])).shape
    (3, 1)
    """

    centre: bool = False
    components: int | None = None
    whiten: bool = False

    def apply(self, embeddings: Array) -> Array:
        """Return the rows to compare, in the precision that they came in."""
        rows = unit(embeddings)
        if not (self.centre or self.whiten or self.components is not None):
            return rows
        rows = rows - rows.mean(axis=0)
        if self.whiten or self.components is not None:
            rows = self._project(rows)
        return unit(rows)

    def _project(self, rows: Array) -> Array:
        # by the covariance, which does not grow with the number of rows
        spread, directions = np.linalg.eigh(np.asarray(rows.T @ rows, dtype=np.float64) / len(rows))
        spread, directions = spread[::-1], directions[:, ::-1]
        most = int((spread > THINNEST * spread[0]).sum()) if spread[0] > 0 else 1
        if self.components is not None:
            most = min(check_integer("components", self.components, low=1), most)
        directions = directions[:, :most]
        if self.whiten:
            directions = directions / np.sqrt(np.maximum(spread[:most], np.finfo(np.float64).tiny))
        return rows @ directions.astype(rows.dtype)


# unit length, and nothing else
PLAIN = Preparation()


def unit(rows: Array) -> Array:
    """Return rows of unit length; one of length 0, such as a lone speaker's that was centred, stays."""
    length = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(length > 0, length, 1)


def check_embeddings(embeddings: ArrayLike) -> Array:
    """Check embeddings, and return them as float32 or float64 of shape (n, d); a row that is unusable is named."""
    try:
        rows = np.asarray(embeddings)
    except ValueError:
        raise ValueError("embeddings must be rows of the same length: give an array of shape (n, d).") from None
    if rows.dtype.kind not in "biuf":
        raise TypeError(f"embeddings must be real numbers; got {rows.dtype}: give an array of shape (n, d).")
    if rows.ndim != 2 or 0 in rows.shape:
        raise ValueError(
            f"embeddings must have shape (n, d), a row for each window; got {rows.shape}."
            + (" One for each chunk and speaker is what PyannoteClustering takes." if rows.ndim == 3 else "")
        )
    # 16 bits are for keeping: sums of their squares lose digits
    rows = rows if rows.dtype in (np.float32, np.float64) else rows.astype(np.float32 if _is_half(rows) else np.float64)
    finite = np.isfinite(rows).all(axis=1)
    if not finite.all():
        raise ValueError(
            f"row {int(np.argmin(finite))} of embeddings (counted from 0) has NaN or infinity, as have "
            f"{int((~finite).sum()) - 1:,} others: leave them out, and their segments with them."
        )
    empty = ~rows.any(axis=1)
    if empty.any():
        raise ValueError(
            f"row {int(np.argmax(empty))} of embeddings (counted from 0) is all zeros, without a direction: leave it "
            "out, and its segment with it."
        )
    return rows


def _is_half(rows: Array) -> bool:
    return rows.dtype == np.float16
