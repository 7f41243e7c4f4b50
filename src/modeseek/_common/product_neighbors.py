"""Nearest neighbours in many dimensions, from blocks of matrix products.

scikit-learn's search takes more than twice as long, and which of equally near points it returns depends on the number
of threads.
"""

from __future__ import annotations

import numpy as np

from modeseek._common.blas import one_blas_thread
from modeseek._common.jit import cached_loop, loop_part
from modeseek._common.threads import run_each
from modeseek._common.types import Array, IntArray

# rows and columns of a block of products, which stays in the cache; columns are looked at in groups
ROWS, COLUMNS, GROUP = 64, 1024, 16


@loop_part
def _kth_smallest(values, size, k):  # type: ignore[no-untyped-def]
    """Return the k-th smallest of the first `size` values, by repeated partition; the values are overwritten."""
    rank = k - 1
    while True:
        pivot, less, equal = values[size // 2], 0, 0
        for q in range(size):
            less += values[q] < pivot
            equal += values[q] == pivot
        if less <= rank < less + equal:
            return pivot
        left = 0
        for q in range(size):
            value = values[q]
            values[left] = value
            left += value < pivot if rank < less else value > pivot
        size, rank = left, rank if rank < less else rank - less - equal


@loop_part
def _append_below(bound, row, first, start, own, where, filled):  # type: ignore[no-untyped-def]
    """Append the values of a group of columns that are below the bound; return how many there are now."""
    below = 0
    for c in range(first, first + GROUP):
        below += row[c] < bound
    if below > 0:
        # without a branch, which processors could not predict
        for c in range(first, first + GROUP):
            own[filled], where[filled] = row[c], start + c
            filled += row[c] < bound
    return filled


@loop_part
def _keep_smallest(k, bound, own, where, filled):  # type: ignore[no-untyped-def]
    """Keep the k smallest values, the last of which is the bound; of equal values, those of the first columns."""
    ties, kept = k, 0
    for q in range(filled):
        ties -= own[q] < bound
    for q in range(filled):
        equal = own[q] == bound
        if own[q] < bound or (equal and ties > 0):
            ties -= equal
            own[kept], where[kept] = own[q], where[q]
            kept += 1
    return kept


@cached_loop
def _collect_loop(values, start, last, k, limit, count, kept, columns, work):  # type: ignore[no-untyped-def]
    """Append values of a block below the limit of their row, with their columns; the limit is the k-th smallest.

    The k smallest are kept whenever a row has no more room, and after the column `last`.
    """
    room = kept.shape[1]
    for r in range(len(values)):
        row, own, where, filled, bound = values[r], kept[r], columns[r], count[r], limit[r]
        for first in range(0, len(row), GROUP):
            filled = _append_below(bound, row, first, start, own, where, filled)
            if filled + GROUP <= room and (filled <= k or start + first + GROUP < last):
                continue
            for q in range(filled):
                work[q] = own[q]
            bound = _kth_smallest(work, filled, k)
            filled = _keep_smallest(k, bound, own, where, filled)
        limit[r], count[r] = bound, filled


def nearest_by_products(points: Array, queries: Array, k: int, n_jobs: int | None) -> IntArray:
    """Return the k nearest points of each query, up to the rounding of products; of equally near ones, the first.

    Parameters
    ----------
    points : (n, d) array
        Close to the origin, for small rounding errors.
    queries : (m, d) array
    k : int
        At most n.
    n_jobs : int, optional
        Number of threads; the result does not depend on it.
    """
    n, d = points.shape
    # the products of these are |x|^2 - 2 x.q; columns that fill the last block are never nearest
    filled = np.zeros((-(-n // COLUMNS) * COLUMNS, d + 1))
    filled[:n, :d], filled[:n, d] = points, np.einsum("ij,ij->i", points, points)
    filled[n:, d] = np.inf
    found = np.empty((len(queries), k), dtype=np.intp)

    def search(first: int) -> None:
        some = queries[first : first + ROWS]
        sought = np.column_stack([-2.0 * some, np.ones(len(some))])
        limit, count = np.full(len(some), np.inf), np.zeros(len(some), dtype=np.int64)
        kept = np.empty((len(some), 8 * k + 2 * GROUP))
        columns, work = np.zeros(kept.shape, dtype=np.int64), np.empty(kept.shape[1])
        values = np.empty((len(some), COLUMNS))
        for start in range(0, len(filled), COLUMNS):
            np.matmul(sought, filled[start : start + COLUMNS].T, out=values)
            _collect_loop(values, start, len(filled), k, limit, count, kept, columns, work)
        found[first : first + ROWS] = columns[:, :k]

    with one_blas_thread():
        for _ in run_each(search, range(0, len(queries), ROWS), n_jobs):
            pass
    return found
