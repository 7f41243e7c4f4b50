"""Blocks of rows: a computation block by block needs little memory for temporary arrays."""

from __future__ import annotations

from collections.abc import Iterator

from modeseek._common.types import Array

# number of values in a block
BLOCK = 1 << 20


def row_blocks(rows: Array) -> Iterator[slice]:
    """Yield slices that divide the rows of a two-dimensional array into blocks of at most `BLOCK` values.

    Examples
    --------
    >>> import numpy as np
    >>> list(row_blocks(np.zeros((5, BLOCK // 2))))
    [slice(0, 2, None), slice(2, 4, None), slice(4, 6, None)]
    """
    step = max(1, BLOCK // max(1, rows.shape[1]))
    return (slice(start, start + step) for start in range(0, len(rows), step))
