"""Compiled loops over partitions: renumbering, filling gaps, and agreement between many partitions at once.

Labels are 32-bit integers from 0 everywhere, so that one version of each function is compiled.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from modeseek._common.jit import FAST_MATH, cached


@cached
def compact(labels):  # type: ignore[no-untyped-def]
    """Renumber labels by first appearance; return them and their number."""
    big = 0
    for i in range(len(labels)):
        big = max(big, labels[i])
    number = np.full(big + 1, -1, dtype=np.int32)
    out = np.empty(len(labels), dtype=np.int32)
    count = 0
    for i in range(len(labels)):
        if number[labels[i]] < 0:
            number[labels[i]] = count
            count += 1
        out[i] = number[labels[i]]
    return out, count


@cached
def fill(labels, indices, width):  # type: ignore[no-untyped-def]
    """Give points labelled -1 the label of the nearest labelled one of their `width` first neighbours.

    This is repeated until nothing changes, at most 40 times; points that are left get the most frequent label.
    """
    n = len(labels)
    out = labels.copy()
    left = np.flatnonzero(labels < 0)
    new = np.empty(len(left), dtype=np.int32)
    for _ in range(40):
        for q in range(len(left)):
            new[q] = -1
            for j in range(width):
                if out[indices[left[q], j]] >= 0:
                    new[q] = out[indices[left[q], j]]
                    break
        # labels of this round are used from the next round on
        count = 0
        for q in range(len(left)):
            if new[q] >= 0:
                out[left[q]] = new[q]
            else:
                left[count] = left[q]
                count += 1
        if count == 0 or count == len(left):
            break
        left = left[:count]
    big = 0
    for i in range(n):
        big = max(big, out[i])
    counts = np.zeros(big + 1)
    for i in range(n):
        if out[i] >= 0:
            counts[out[i]] += 1
    common = np.argmax(counts)
    for i in range(n):
        if out[i] < 0:
            out[i] = common
    return out


@njit(**FAST_MATH)
def _count_cells(first, second, size, cells, seen):  # type: ignore[no-untyped-def]
    """Count points in each cell of a contingency table; return the number of cells that are not empty."""
    found = 0
    for i in range(len(first)):
        cell = first[i] * size + second[i]
        if cells[cell] == 0:
            seen[found] = cell
            found += 1
        cells[cell] += 1
    return found


@njit(**FAST_MATH)
def _pairs_within(table, sizes):  # type: ignore[no-untyped-def]
    """Return for each partition the number of ordered pairs of points that share a cluster."""
    pairs = np.zeros(len(table))
    for a in range(len(table)):
        counts = np.zeros(sizes[a])
        for i in range(table.shape[1]):
            counts[table[a, i]] += 1
        for q in range(sizes[a]):
            pairs[a] += counts[q] * (counts[q] - 1)
    return pairs


@njit(**FAST_MATH)
def _adjusted(both, first, second, total):  # type: ignore[no-untyped-def]
    """Return the adjusted Rand index from numbers of pairs."""
    expected, middle = first * second / total, (first + second) / 2
    return 1.0 if middle - expected <= 1e-9 else (both - expected) / (middle - expected)


@cached
def pair_agreement(table, sizes):  # type: ignore[no-untyped-def]
    """Return adjusted Rand index and conditional entropy H(b | a) for all pairs a, b of partitions."""
    c, m = table.shape
    most = 0
    for a in range(c):
        most = max(most, sizes[a])
    ari, entropy = np.ones((c, c)), np.zeros((c, c))
    pairs, logs = _pairs_within(table, sizes), np.zeros(c)
    log_of = np.zeros(m + 1)
    for i in range(2, m + 1):
        log_of[i] = i * np.log(float(i))
    for a in range(c):
        counts = np.zeros(sizes[a], dtype=np.int64)
        for i in range(m):
            counts[table[a, i]] += 1
        for q in range(sizes[a]):
            logs[a] += log_of[counts[q]]
    cells, seen = np.zeros(most * most, dtype=np.int32), np.empty(m, dtype=np.int64)
    for a in range(c):
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
    return ari, entropy


@cached
def best_agreement(table, sizes, others, other_sizes):  # type: ignore[no-untyped-def]
    """Return for each partition its largest adjusted Rand index with one of `others`, and which one that is."""
    c, m = table.shape
    most, wide = 1, 1
    for a in range(c):
        most = max(most, sizes[a])
    for b in range(len(others)):
        wide = max(wide, other_sizes[b])
    cells, seen = np.zeros(most * wide, dtype=np.int32), np.empty(m, dtype=np.int64)
    own, theirs = _pairs_within(table, sizes), _pairs_within(others, other_sizes)
    best, which = np.full(c, -1.0), np.full(c, -1, dtype=np.int64)
    # partitions with similar numbers of pairs come first, so that most of the others can be skipped
    order = np.arange(len(others))
    for b in range(1, len(others)):
        place = b
        while place > 0 and theirs[order[place - 1]] > theirs[b]:
            order[place] = order[place - 1]
            place -= 1
        order[place] = b
    for a in range(c):
        middle = 0
        while middle < len(others) and theirs[order[middle]] < own[a]:
            middle += 1
        for step in range(2 * len(others)):
            place = middle + (step // 2 if step % 2 == 0 else -1 - step // 2)
            if place < 0 or place >= len(others):
                continue
            b = order[place]
            # at best, all pairs of the partition with fewer of them are pairs of the other one too
            bound = _adjusted(min(own[a], theirs[b]), own[a], theirs[b], m * (m - 1.0))
            if bound < best[a] or (bound == best[a] and b > which[a]):
                continue
            both = 0.0
            found = _count_cells(table[a], others[b], other_sizes[b], cells, seen)
            for q in range(found):
                v = cells[seen[q]]
                both += v * (v - 1.0)
                cells[seen[q]] = 0
            value = _adjusted(both, own[a], theirs[b], m * (m - 1.0))
            if value > best[a] or (value == best[a] and b < which[a]):
                best[a], which[a] = value, b
    return best, which
