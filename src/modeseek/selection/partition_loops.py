"""Compiled loops over partitions: renumbering, filling gaps, and agreement between many partitions at once.

Labels are 32-bit integers from 0 everywhere, so that one version of each function is compiled. The names of functions
that are compiled and called from Python end in `_loop`. They allocate no arrays; the functions that call them do.
"""

from __future__ import annotations

import math

import numpy as np
from joblib import effective_n_jobs

from modeseek._common.jit import cached_loop, loop_part
from modeseek._common.threads import run_each
from modeseek._common.types import Array, IntArray

# smallest number of partitions that one thread compares with all the partitions
PAIRED = 20


@cached_loop
def _compact_loop(table, number, out, counts):  # type: ignore[no-untyped-def]
    c, m = table.shape
    for a in range(c):
        for i in range(m):
            if number[table[a, i]] < 0:
                number[table[a, i]] = counts[a]
                counts[a] += 1
            out[a, i] = number[table[a, i]]
        for i in range(m):
            number[table[a, i]] = -1


def compact_each(table: IntArray, bound: int | None = None) -> tuple[IntArray, IntArray]:
    """Renumber the labels of each row, a partition, by first appearance; return labels and numbers of clusters.

    If `bound` is given, all labels are below it.
    """
    out, counts = np.empty(table.shape, dtype=np.int32), np.zeros(len(table), dtype=np.int64)
    number = np.full(table.max(initial=0) + 1 if bound is None else bound, -1, dtype=np.int32)
    _compact_loop(table, number, out, counts)
    return out, counts


def compact(labels: IntArray, bound: int | None = None) -> tuple[IntArray, int]:
    """Renumber the labels of one partition; see `compact_each`."""
    out, counts = compact_each(labels[None], bound)
    return out[0], int(counts[0])


@cached_loop
def _fill_loop(labels, left, indices, width, rounds, new):  # type: ignore[no-untyped-def]
    """Fill gaps in `labels`; return the number of points that remain without a label, which come first in `left`."""
    count = len(left)
    for _ in range(rounds):
        for q in range(count):
            for j in range(width):
                new[q] = labels[indices[left[q], j]]
                if new[q] >= 0:
                    break
        kept = 0
        for q in range(count):
            if new[q] >= 0:
                labels[left[q]] = new[q]
            else:
                left[kept] = left[q]
                kept += 1
        if kept == count:
            break
        count = kept
    return count


def fill(labels: IntArray, indices: IntArray, width: int) -> IntArray:
    """Give each point labelled -1 the label of the nearest of its first `width` neighbours that has a label.

    This is repeated until nothing changes, at most 40 times. Points that are then still labelled -1 get the most
    frequent label.
    """
    out, left = labels.copy(), np.flatnonzero(labels < 0)
    count = _fill_loop(out, left, indices, width, 40, np.full(len(left), -1, dtype=np.int32))
    if count:
        sizes = np.bincount(out + 1)[1:]
        out[left[:count]] = sizes.argmax() if len(sizes) else 0
    return out


@loop_part
def _count_cells(first, second, size, cells, seen):  # type: ignore[no-untyped-def]
    """Count points in each cell of a contingency table; return the number of cells that are not empty."""
    found = 0
    for i in range(len(first)):
        # without a branch, which processors could not predict
        cell = first[i] * size + second[i]
        seen[found] = cell
        found += cells[cell] == 0
        cells[cell] += 1
    return found


@loop_part
def _adjusted(both, first, second, total):  # type: ignore[no-untyped-def]
    """Return the adjusted Rand index from numbers of pairs: within clusters of both partitions, of each, and in all."""
    expected, middle = first * second / total, (first + second) / 2
    return 1.0 if middle - expected <= 1e-9 else (both - expected) / (middle - expected)


@cached_loop
def _pair_agreement_loop(table, sizes, pairs, log_of, logs, cells, seen, ari, entropy, first, step):  # type: ignore[no-untyped-def]
    c, m = table.shape
    for a in range(first, c, step):
        for b in range(a):
            both, joint = 0.0, 0.0
            found = _count_cells(table[a], table[b], sizes[b], cells, seen)
            for q in range(found):
                v = cells[seen[q]]
                both += v * (v - 1.0)
                joint += log_of[v]
                cells[seen[q]] = 0
            ari[a, b] = ari[b, a] = _adjusted(both, pairs[a], pairs[b], m * (m - 1.0))
            entropy[a, b] = (logs[a] - joint) / m  # H(b | a)
            entropy[b, a] = (logs[b] - joint) / m


def pair_agreement(
    table: IntArray, sizes: IntArray, n_jobs: int | None = None, known: tuple[Array, Array] | None = None
) -> tuple[Array, Array]:
    """Return the adjusted Rand index and the conditional entropy H(b | a) for all pairs a, b of partitions.

    `known` has these two arrays for the first of the partitions.
    """
    c, m = table.shape
    log_of = np.array([i * math.log(max(i, 1)) for i in range(m + 1)])
    counts, start = _cluster_sizes(table, sizes)
    pairs = _pairs_within(counts, start)
    # added up in the same order as the cells below, so that H(b | a) is exactly 0 for equal partitions
    logs = np.bincount(np.repeat(np.arange(c), sizes), weights=log_of[counts])
    ari, entropy = np.ones((c, c)), np.zeros((c, c))
    done = 0 if known is None else len(known[0])
    if known is not None:
        ari[:done, :done], entropy[:done, :done] = known
    step = max(1, min(effective_n_jobs(n_jobs), (c - done) // PAIRED))

    def compare(first: int) -> None:
        cells, seen = np.zeros(sizes.max() ** 2, dtype=np.int32), np.empty(m + 1, dtype=np.int64)
        _pair_agreement_loop(table, sizes, pairs, log_of, logs, cells, seen, ari, entropy, first, step)

    for _ in run_each(compare, range(done, done + step), n_jobs):
        pass
    return ari, entropy


@cached_loop
def _best_agreement_loop(table, own, others, sizes, theirs, order, middle, cells, seen, best, which):  # type: ignore[no-untyped-def]
    m, n_others = table.shape[1], len(order)
    for a in range(len(table)):
        for step in range(2 * n_others):
            place = middle[a] + (step // 2 if step % 2 == 0 else -1 - step // 2)
            if place < 0 or place >= n_others:
                continue
            b = order[place]
            # upper bound of the index: reached if every pair in one cluster of one partition is so in the other, too
            fewer = own[a] if own[a] < theirs[b] else theirs[b]
            bound = _adjusted(fewer, own[a], theirs[b], m * (m - 1.0))
            if bound < best[a] or (bound == best[a] and b > which[a]):
                continue
            both = 0.0
            found = _count_cells(table[a], others[b], sizes[b], cells, seen)
            for q in range(found):
                v = cells[seen[q]]
                both += v * (v - 1.0)
                cells[seen[q]] = 0
            value = _adjusted(both, own[a], theirs[b], m * (m - 1.0))
            if value > best[a] or (value == best[a] and b < which[a]):
                best[a], which[a] = value, b


def best_agreement(table: IntArray, sizes: IntArray, others: IntArray, other_sizes: IntArray) -> tuple[Array, IntArray]:
    """Return for each partition its largest adjusted Rand index with one of `others`, and the index of that one."""
    c, m = table.shape
    own = _pairs_within(*_cluster_sizes(table, sizes))
    theirs = _pairs_within(*_cluster_sizes(others, other_sizes))
    # partitions with similar numbers of pairs come first, so that most of the others can be skipped
    order = np.argsort(theirs, kind="stable")
    middle = np.searchsorted(theirs[order], own)
    cells, seen = np.zeros(sizes.max() * other_sizes.max(), dtype=np.int32), np.empty(m + 1, dtype=np.int64)
    best, which = np.full(c, -1.0), np.full(c, -1)
    _best_agreement_loop(table, own, others, other_sizes, theirs, order, middle, cells, seen, best, which)
    return best, which


def _cluster_sizes(table: IntArray, sizes: IntArray) -> tuple[IntArray, IntArray]:
    """Return the sizes of the clusters, one partition after the other, and where each partition starts."""
    start = np.cumsum(sizes) - sizes
    return np.bincount((table + start[:, None]).ravel(), minlength=int(sizes.sum())), start


def _pairs_within(counts: IntArray, start: IntArray) -> Array:
    """Return for each partition the number of ordered pairs of points that share a cluster."""
    return np.add.reduceat(counts * (counts - 1.0), start)
