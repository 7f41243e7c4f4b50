"""Compiled sums for `candidates`: rows of points, lists of who may be in reach, and those that have run loose.

A query's sum runs over the points in reach in ascending order, whichever list they were found in. So lists, and the
moment at which they are made anew, change no bit of a result.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numba import njit

from modeseek._common.jit import FAST_MATH
from modeseek.meanshift.engines.neighbor_lists import arrays
from modeseek.meanshift.engines.neighbor_lists.arrays import ANCHORS, EXTRA, LOOSE, SITES, WILD, WORK
from modeseek.meanshift.engines.shared_kernels import (
    cached_sum,
    check_code,
    leave,
    settle_in_place,
    weigh,
    within_rounding,
)

__all__ = ["GLANCE", "Shifts", "collect", "mark", "shifts"]

# evaluations that passing over a site costs
GLANCE = 1 / 8
# room for the rounding of a distance where it only decides who is looked at
ROOMY = 1.0001


def kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile what Python calls; a change of the shapes makes it anew, too."""
    return cached_sum(function, arrays)


@njit(**FAST_MATH)
def _sum(kind, positions, weights, q, h, source, low, high, shift, near, ids):  # type: ignore[no-untyped-def]
    """Mean shift of q over the sites source[low:high]; `near` and `ids` are room for as many."""
    if positions.shape[1] == 1:
        _sum_narrow(kind, positions, weights, q, h, source, low, high, shift, near, ids)
    else:
        _sum_wide(kind, positions, weights, q, h, source, low, high, shift)


@njit(**FAST_MATH)
def _sum_narrow(kind, positions, weights, q, h, source, low, high, shift, near, ids):  # type: ignore[no-untyped-def]
    """Mean shift over rows so short that four of them are measured side by side, and all before any is added."""
    n, blocks, width = positions.shape
    d = blocks * width
    rows, x = positions.reshape(n, d), q.reshape(d)
    inv, limit = 1.0 / (h * h), h * h * (1.0 + 1e-6)  # a little beyond h: the weight itself decides at the rim
    zero = q[0, 0] - q[0, 0]  # of the points' own type, so that float32 runs in its own lanes
    m, last = 0, high - 1
    for k in range(low, high, 4):
        # the last four may name a row twice: then it is measured twice, by the same operations, and noted once
        j0, j1 = np.uint64(source[k]), np.uint64(source[min(k + 1, last)])
        j2, j3 = np.uint64(source[min(k + 2, last)]), np.uint64(source[min(k + 3, last)])
        r0 = r1 = r2 = r3 = zero
        for c in range(d):
            y = x[c]
            a0, a1, a2, a3 = rows[j0, c] - y, rows[j1, c] - y, rows[j2, c] - y, rows[j3, c] - y
            r0 += a0 * a0
            r1 += a1 * a1
            r2 += a2 * a2
            r3 += a3 * a3
        ids[m], near[m] = j0, r0
        m += r0 <= limit
        ids[m], near[m] = j1, r1
        m += (r1 <= limit) & (k + 1 <= last)
        ids[m], near[m] = j2, r2
        m += (r2 <= limit) & (k + 2 <= last)
        ids[m], near[m] = j3, r3
        m += (r3 <= limit) & (k + 3 <= last)
    total = 0.0
    for k in range(m):
        near[k] = weigh(kind, near[k] * inv) * weights[ids[k]]
        total += near[k]
    shift[:] = 0.0
    whole = m - m % 4
    for k in range(0, whole, 4):
        _add_four(rows, x, ids, near, k, shift)
    for k in range(whole, m):
        for c in range(d):
            shift[c] += near[k] * (rows[ids[k], c] - x[c])
    scale = 1.0 / total if total > 0.0 else 0.0  # no point in reach: stay
    for c in range(d):
        shift[c] *= scale


@njit(**FAST_MATH)
def _sum_wide(kind, positions, weights, q, h, source, low, high, shift):  # type: ignore[no-untyped-def]
    """Mean shift over long rows: given up once out of reach, and used while in the cache.

    Four are added at a time, so that the sum is read and written less often.
    """
    n, blocks, width = positions.shape
    d = blocks * width
    rows, x = positions.reshape(n, d), q.reshape(d)
    inv, limit = 1.0 / (h * h), h * h * (1.0 + 1e-6)  # a little beyond h: the weight itself decides at the rim
    ids, g = np.empty(4, np.uint64), np.empty(4)
    shift[:] = 0.0
    total, m = 0.0, 0
    for k in range(low, high):
        j = np.uint64(source[k])
        r = q[0, 0] - q[0, 0]  # zero of the points' own type, so that float32 runs in its own lanes
        for b in range(blocks):
            s = q[0, 0] - q[0, 0]
            for e in range(width):
                a = positions[j, b, e] - q[b, e]
                s += a * a
            r += s
            if r > limit:
                break
        if r <= limit:
            ids[m], g[m] = j, weigh(kind, r * inv) * weights[j]
            m += 1
        if m == 4:
            _add_four(rows, x, ids, g, 0, shift)
            total += g[0] + g[1] + g[2] + g[3]
            m = 0
    for k in range(m):
        j, w = ids[k], g[k]
        total += w
        for c in range(d):
            shift[c] += w * (rows[j, c] - x[c])
    scale = 1.0 / total if total > 0.0 else 0.0  # no point in reach: stay
    for c in range(d):
        shift[c] *= scale


@njit(**FAST_MATH)
def _add_four(rows, x, ids, g, k, shift):  # type: ignore[no-untyped-def]
    """Add four rows from place k on; not by slices, which would cost more than the sum."""
    i0, i1, i2, i3 = ids[k], ids[k + 1], ids[k + 2], ids[k + 3]
    g0, g1, g2, g3 = g[k], g[k + 1], g[k + 2], g[k + 3]
    for c in range(len(shift)):
        y = x[c]
        shift[c] += g0 * (rows[i0, c] - y) + g1 * (rows[i1, c] - y) + g2 * (rows[i2, c] - y) + g3 * (rows[i3, c] - y)


@njit(**FAST_MATH)
def _square(x, y):  # type: ignore[no-untyped-def]
    """Squared distance of two places."""
    r = 0.0
    for b in range(x.shape[0]):
        for e in range(x.shape[1]):
            a = np.float64(x[b, e]) - np.float64(y[b, e])
            r += a * a
    return r


@njit(**FAST_MATH)
def _tie(s, sites, lists, rules):  # type: ignore[no-untyped-def]
    """Give loose site s an anchor: one that is near, a new one at its place, or none where all are taken."""
    tally, x = lists.tally, sites.positions[s]
    m, taken = len(lists.reference), tally[ANCHORS]
    tally[EXTRA] += taken
    tally[WORK] += taken
    for a in range(taken):
        if _square(lists.anchors[a], x) * ROOMY <= rules.span**2:
            lists.anchor[s] = a
            return
    if taken == len(lists.anchors):
        lists.anchor[s] = -1
        tally[WILD] += 1
        return
    for b in range(x.shape[0]):  # by hand: assigning a row would compile the text of an error, for seconds
        for e in range(x.shape[1]):
            lists.anchors[taken, b, e] = x[b, e]
    lists.anchor[s] = taken
    tally[ANCHORS] += 1
    tally[EXTRA] += m
    tally[WORK] += m
    count = 0
    for j in range(m):
        if not lists.is_loose[j] and _square(lists.reference[j], x) <= rules.reach**2 * ROOMY:
            lists.anchored[taken, count] = j
            count += 1
    lists.lengths[taken] = count


@njit(**FAST_MATH)
def _let_loose(s, sites, lists, rules):  # type: ignore[no-untyped-def]
    """Note that s is loose, keeping the order."""
    k = lists.tally[LOOSE]
    while k > 0 and lists.loose[k - 1] > s:
        lists.loose[k] = lists.loose[k - 1]
        k -= 1
    lists.loose[k], lists.is_loose[s] = s, 1
    lists.tally[LOOSE] += 1
    _tie(s, sites, lists, rules)


@njit(**FAST_MATH)
def _follow(s, sites, lists, rules):  # type: ignore[no-untyped-def]
    """Note where a site is after it has moved: loose if far from its reference, elsewhere if far from its anchor."""
    if not lists.is_loose[s]:
        if _square(sites.positions[s], lists.reference[s]) > rules.slip:
            _let_loose(s, sites, lists, rules)
    elif lists.anchor[s] >= 0 and _square(sites.positions[s], lists.anchors[lists.anchor[s]]) * ROOMY > rules.span**2:
        _tie(s, sites, lists, rules)


@njit(**FAST_MATH)
def _with_loose(lists, q, h, span, source, low, high, out):  # type: ignore[no-untyped-def]
    """Write, ascending, the sites of source[low:high] that are not loose and the loose ones near q; return how many."""
    tally = lists.tally
    for a in range(tally[ANCHORS]):
        lists.near[a] = _square(lists.anchors[a], q) <= (h + span) ** 2 * ROOMY
    tally[WORK] += tally[ANCHORS]
    tally[EXTRA] += tally[ANCHORS] + tally[WILD] + int(GLANCE * tally[LOOSE])
    count, k = 0, low
    for t in range(tally[LOOSE]):
        s = lists.loose[t]
        a = lists.anchor[s]
        if a >= 0 and not lists.near[a]:
            continue
        while k < high and source[k] <= s:
            out[count] = source[k]
            count += not lists.is_loose[source[k]]
            k += 1
        out[count] = s
        count += 1
    while k < high:
        out[count] = source[k]
        count += not lists.is_loose[source[k]]
        k += 1
    return count


@njit(**FAST_MATH)
def _shift_site(kind, sites, lists, s, q, h, span, picked, shift, near, ids):  # type: ignore[no-untyped-def]
    """Mean shift of site s at q: over its list, or its anchor's, and the loose sites; over all where it has neither."""
    tally = lists.tally
    source, low, high = lists.everyone, 0, tally[SITES]
    known = len(lists.starts) > 0
    if known and not lists.is_loose[s]:
        source, low, high = lists.members, lists.starts[s], lists.starts[s + 1]
    elif known and lists.anchor[s] >= 0:
        source, high = lists.anchored[lists.anchor[s]], lists.lengths[lists.anchor[s]]
    elif known:
        known = False
        tally[EXTRA] += tally[SITES]
    if known and tally[LOOSE] > 0:
        high = _with_loose(lists, q, h, span, source, low, high, picked)
        source, low = picked, 0
    tally[WORK] += high - low
    _sum(kind, sites.positions, sites.weights, q, h, source, low, high, shift, near, ids)


@njit(inline="always")
def _each(kind, sites, lists, weights, equal, rules, indices, bandwidths, spherical, lengths):  # type: ignore[no-untyped-def]
    positions, tally = sites.positions, lists.tally
    capacity, blocks, width = positions.shape
    d = blocks * width
    rows = positions.reshape(capacity, d)
    q, new = np.empty(d, dtype=positions.dtype), np.empty(d)
    q_blocks = q.reshape(blocks, width)
    picked, near, ids = np.empty(capacity + 1, np.int32), np.empty(capacity + 1), np.empty(capacity + 1, np.uint64)
    crowded = len(sites.site) > tally[SITES] or capacity > len(sites.site)  # some site may hold more than one
    stop_work, done = tally[WORK] + rules.budget, 0
    while done < len(indices) and tally[WORK] < stop_work and tally[EXTRA] <= rules.patience:
        if crowded and tally[SITES] == capacity:
            break
        i, h = indices[done], bandwidths[done]
        s = sites.site[i]
        for c in range(d):
            q[c] = rows[s, c]
        _shift_site(kind, sites, lists, s, q_blocks, h, rules.span, picked, new, near, ids)
        settle_in_place(d, q, new, spherical)
        square = 0.0
        if sites.counts[s] == 1 or not within_rounding(d, q, new, rules.ulps):
            fresh = sites.counts[s] > 1
            if fresh:
                leave(s, i, tally[SITES], equal, sites.weights, sites.counts, sites.site, weights)
                s = tally[SITES]
                tally[SITES] += 1
            for c in range(d):
                rows[s, c] = new[c]
                square += (np.float64(rows[s, c]) - q[c]) ** 2
            if len(lists.starts) > 0 and fresh:
                _let_loose(s, sites, lists, rules)
            elif len(lists.starts) > 0:
                _follow(s, sites, lists, rules)
        lengths[done] = np.sqrt(square)
        done += 1
    return done


@njit(inline="always")
def _all(kind, positions, weights, queries, bandwidths, starts, members, spherical, moved):  # type: ignore[no-untyped-def]
    blocks, width = positions.shape[1:]
    d = blocks * width
    q, new = np.zeros(d, dtype=positions.dtype), np.empty(d)
    q_blocks = q.reshape(blocks, width)
    near, ids = np.empty(len(positions) + 1), np.empty(len(positions) + 1, np.uint64)
    for k in range(len(queries)):
        for c in range(queries.shape[1]):
            q[c] = queries[k, c]
        _sum(kind, positions, weights, q_blocks, bandwidths[k], members, starts[k], starts[k + 1], new, near, ids)
        settle_in_place(d, q, new, spherical)
        for c in range(queries.shape[1]):
            moved[k, c] = new[c]


@kernel
def collect(products, halves, query_halves, found, starts):  # type: ignore[no-untyped-def]
    """Write, row by row, the columns where products >= halves + query_halves; return how many.

    With halves |x|^2 / 2 - (r^2 + slack) / 2 and |q|^2 / 2 these are the points within r of each query.
    """
    m = 0
    starts[0] = 0
    for i in range(products.shape[0]):
        own = query_halves[i]
        for j in range(products.shape[1]):
            found[m] = j
            m += products[i, j] >= halves[j] + own
        starts[i + 1] = m
    return m


@kernel
def mark(sites, lists, rules):  # type: ignore[no-untyped-def]
    """Find afresh the sites that are too far from their reference, and give them anchors; return how many."""
    tally = lists.tally
    tally[LOOSE] = tally[ANCHORS] = tally[WILD] = 0
    lists.is_loose[:] = 0
    m = len(lists.reference)
    for s in range(m):
        if _square(sites.positions[s], lists.reference[s]) > rules.slip:
            lists.loose[tally[LOOSE]] = s
            lists.is_loose[s] = 1
            tally[LOOSE] += 1
    for k in range(tally[LOOSE]):
        _tie(lists.loose[k], sites, lists, rules)
    return tally[LOOSE]


class Shifts(NamedTuple):
    """The compiled verbs for one profile.

    Attributes
    ----------
    each : callable
        (sites, lists, weights, equal, rules, indices, bandwidths, spherical, lengths): apply draws in order; returns
        how many were done when the budget, the patience or the room for new sites ran out.
    all : callable
        (positions, weights, queries, bandwidths, starts, members, spherical, moved): shift queries, each against its
        list.
    """

    each: Callable[..., int]
    all: Callable[..., None]


@cache
def shifts(code: int) -> Shifts:
    """Return the compiled verbs of a built-in profile."""
    check_code(code, __name__)

    @kernel
    def each(sites, lists, weights, equal, rules, indices, bandwidths, spherical, lengths):  # type: ignore[no-untyped-def]
        return _each(code, sites, lists, weights, equal, rules, indices, bandwidths, spherical, lengths)

    @kernel
    def all_(positions, weights, queries, bandwidths, starts, members, spherical, moved):  # type: ignore[no-untyped-def]
        _all(code, positions, weights, queries, bandwidths, starts, members, spherical, moved)

    return Shifts(each, all_)
