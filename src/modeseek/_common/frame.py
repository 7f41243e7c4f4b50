"""A canonical order and sign of columns, which do not depend on the order and signs in which columns are given."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from itertools import islice, permutations, product
from typing import NamedTuple

import numpy as np

from modeseek._common.blocks import row_blocks
from modeseek._common.storable import require, storable
from modeseek._common.types import Array, IntArray

# columns are scaled to integers from -STEPS to STEPS, because sums of integers do not depend on the order of terms
STEPS = 1 << 15
# largest number of frames that are compared
MAX_FRAMES = 64
# 2^64 divided by the golden ratio, as a signed integer
MULTIPLIER = np.int64(0x9E3779B97F4A7C15 - (1 << 64))


def _check_frame(frame: Frame) -> None:
    d = len(frame.columns)
    require(frame.columns.ndim == 1 and (np.sort(frame.columns) == np.arange(d)).all(), "the order of columns")
    require(frame.signs.shape == (d,) and (np.abs(frame.signs) == 1).all(), "the signs of columns")


@storable(_check_frame)
class Frame(NamedTuple):
    """An order of columns, and a sign for each column.

    Attributes
    ----------
    columns : (d,) integer array
        The data column at each position. If it is empty, the columns and signs of the data are kept.
    signs : (d,) integer array
        The factor of the column at each position, 1 or -1.
    """

    columns: IntArray
    signs: IntArray

    def apply(self, rows: Array) -> Array:
        """Convert rows of the data to the order and signs of the frame.

        Examples
        --------
        >>> frame = Frame(np.array([1, 0]), np.array([1, -1]))
        >>> frame.apply(np.array([[2.0, 5.0]])), frame.undo(np.array([[5.0, -2.0]]))
        (array([[ 5., -2.]]), array([[2., 5.]]))
        """
        if not len(self.columns):
            return rows
        placed: Array = np.take(rows, self.columns, axis=-1)
        placed *= self.signs.astype(rows.dtype)
        return placed

    def undo(self, rows: Array) -> Array:
        """Convert rows in the frame back to the order and signs of the data."""
        if not len(self.columns):
            return rows
        data = np.empty_like(rows)
        data[..., self.columns] = rows * self.signs.astype(rows.dtype)
        return data


DATA_FRAME = Frame(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64))


def frame_of(rows: Array, weights: Array) -> Frame:
    """Return the canonical frame of distinct rows.

    `frame_of(rows, weights).apply(rows)` depends neither on the order of rows nor on the order and the sign of columns,
    unless the rows have more than `MAX_FRAMES` symmetries. Units matter only for the order of columns that are
    proportional to each other.

    Parameters
    ----------
    rows : (n, d) array
        Distinct rows, with zero in the middle of each column.
    weights : (n,) array

    Examples
    --------
    >>> rows = np.array([[-2.0, 1.0], [-1.0, -1.0], [2.0, 0.5]])
    >>> frame, swapped = frame_of(rows, np.ones(3)), rows[:, ::-1] * [-1, 1]
    >>> bool((frame_of(swapped, np.ones(3)).apply(swapped) == frame.apply(rows)).all())
    True
    """
    reach = np.maximum(rows.max(axis=0), -rows.min(axis=0)).astype(np.float64)
    reach[reach == 0] = 1.0
    spread, lean = _sums(rows, reach)
    keys, signs = [-reach, -np.abs(lean), -spread], np.sign(lean)
    zero = ~rows.any(axis=0)
    if len(np.unique(spread)) < len(spread) or (lean[~zero] == 0).any():
        # rare, for example if there are binary columns
        code, coded_lean = _coded_sums(rows, reach, weights)
        keys = [-reach, np.abs(coded_lean), code, *keys[1:]]
        signs = np.where(signs, signs, np.sign(coded_lean))
    signs[zero] = 1
    columns = np.lexsort(keys)
    tied = np.all([key[columns[1:]] == key[columns[:-1]] for key in keys], axis=0)
    frames = list(islice(_frames(rows, columns, signs, np.split(columns, np.flatnonzero(~tied) + 1)), MAX_FRAMES))
    return frames[0] if len(frames) == 1 else min(frames, key=lambda frame: _digest(frame, rows, reach, weights))


def _frames(rows: Array, columns: IntArray, signs: IntArray, groups: list[IntArray]) -> Iterator[Frame]:
    """Yield the frames with every order of tied columns and every choice of the undetermined signs."""
    equal = [all(np.array_equal(rows[:, group[0]], rows[:, other]) for other in group[1:]) for group in groups]
    # `product` stores all orders of a group, but the first MAX_FRAMES frames use at most MAX_FRAMES of them
    orders = [
        [group] if same else list(islice(permutations(group), MAX_FRAMES))
        for group, same in zip(groups, equal, strict=True)
    ]
    unknown = np.flatnonzero(signs == 0)
    for order in product(*orders):
        columns = np.concatenate([np.asarray(group, dtype=np.intp) for group in order])
        for choice in product((1, -1), repeat=len(unknown)):
            chosen = signs.copy()
            chosen[unknown] = choice
            yield Frame(columns, chosen[columns])


def _steps(rows: Array, reach: Array) -> IntArray:
    """Return rows / reach times STEPS as integers, nearly always the same for data that differ by rounding errors."""
    return np.rint(rows.astype(np.float64) / reach * STEPS).astype(np.int64)


def _sums(rows: Array, reach: Array) -> IntArray:
    """Return two sums for each column: one of absolute values, and one that changes sign with the column.

    Sums of integers do not depend on the order of rows, and overflow without a warning.
    """
    total = np.zeros((2, rows.shape[1]), dtype=np.int64)
    for block in row_blocks(rows):
        steps = _steps(rows[block], reach)
        sizes = np.abs(steps)
        size = sizes.sum(axis=1)
        total += np.stack([size @ sizes, size @ steps])
    return total


def _coded_sums(rows: Array, reach: Array, weights: Array) -> IntArray:
    """Return two sums like those of `_sums`, to which each row contributes through a hash of its values and weight."""
    total = np.zeros((2, rows.shape[1]), dtype=np.int64)
    of_weight = hashes(_steps(weights, weights.max()))
    for block in row_blocks(rows):
        steps = _steps(rows[block], reach)
        sizes = np.abs(steps)
        code = hashes(hashes(sizes).sum(axis=1) + of_weight[block])
        total += np.stack([hashes(sizes + code[:, None]).sum(axis=0), code @ steps])
    return total


def hashes(numbers: IntArray) -> IntArray:
    """Return a hash of each integer."""
    numbers = (numbers + 1) * MULTIPLIER
    return (numbers ^ (numbers >> 29)) * MULTIPLIER


def _digest(frame: Frame, rows: Array, reach: Array, weights: Array) -> tuple[bytes, bytes]:
    """Return hashes of the rounded and of the exact rows in a frame, as a key that puts frames in some fixed order."""
    steps, values = frame.apply(_steps(rows, reach)), frame.apply(rows) + 0.0
    order = np.lexsort((weights, *values.T, *steps.T))
    coarse = sha256(steps[order].tobytes() + weights[order].tobytes())
    return coarse.digest(), sha256(values[order].tobytes()).digest()
