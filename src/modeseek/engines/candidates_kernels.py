"""Compiled sums for `candidates`: rows of points, lists of who may be in reach, and those that have run loose.

A query's sum runs over the points in reach in ascending order, whichever list they were found in. So lists, and the
moment at which they are made anew, change no bit of a result.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np
from numba import njit

from modeseek.engines.compiled import OPTIONS, cached, check_code, leave, settle_in_place, weigh, within_rounding
from modeseek.types import Array, IntArray

__all__ = [
    "ANCHORS",
    "EXTRA",
    "GLANCE",
    "LOOSE",
    "SITES",
    "WILD",
    "WORK",
    "Lists",
    "Rules",
    "Shifts",
    "Sites",
    "collect",
    "mark",
    "shifts",
]

# places in `Lists.tally`
SITES, LOOSE, WORK, EXTRA, ANCHORS, WILD = range(6)
# evaluations that passing over a site costs
GLANCE = 1 / 8
# room for the rounding of a distance where it only decides who is looked at
ROOMY = 1.0001


class Sites(NamedTuple):
    """Points as sites: coincident ones are one.

    Attributes
    ----------
    positions : (room, blocks, width) array
        Places, coordinates cut into blocks and padded with zeros.
    weights, counts : (room,) arrays
        Weight and number of the points at each site.
    site : (n,) array
        The site of each point.
    """

    positions: Array
    weights: Array
    counts: IntArray
    site: IntArray


class Lists(NamedTuple):
    """Who may be in reach of whom.

    Attributes
    ----------
    reference : (m, blocks, width) array
        Where the sites were when the lists were made.
    starts, members : (m + 1,) and (pairs,) arrays
        The list of site s is members[starts[s] : starts[s + 1]], ascending. No starts: every site is looked at.
    loose, is_loose : (room,) arrays
        The sites that have moved too far for the lists, ascending, and a flag for each.
    everyone : (room,) array
        0, 1, 2, ...
    anchors : (a, blocks, width) array
        Places near which loose sites are: they tell at once which of these may be in reach.
    anchored : (a, m) array
        For each anchor a list of the sites that are not loose, for the loose ones near it.
    lengths, near : (a,) arrays
        Length of each such list; whether an anchor is near the query at hand.
    anchor : (room,) array
        The anchor of each loose site; -1 if all are taken and none is near.
    tally : (6,) array
        Sites in use, loose ones, evaluations so far, those among them that loose sites caused, anchors in use, loose
        sites without an anchor.
    """

    reference: Array
    starts: IntArray
    members: IntArray
    loose: IntArray
    is_loose: IntArray
    everyone: IntArray
    anchors: Array
    anchored: IntArray
    lengths: IntArray
    near: IntArray
    anchor: IntArray
    tally: IntArray


class Rules(NamedTuple):
    """When to do what.

    Attributes
    ----------
    ulps : float
        Coordinates that differ by less than this share of the largest are one.
    slip : float
        Squared distance from its reference at which a site is loose.
    span, reach : float
        How far a loose site may be from its anchor, and how far the list of an anchor reaches.
    budget, patience : int
        Evaluations, and extra ones, after which to return.
    """

    ulps: float
    slip: float
    span: float
    reach: float
    budget: int
    patience: int


@njit(**OPTIONS)
def _reached(kind, positions, weights, q, h, source, low, high, flag, ids, g, m):  # type: ignore[no-untyped-def]
    """Append the sites of source[low:high] in reach of q, and their weights, from place m on; return where they end.

    A site whose flag is set is passed over; an empty flag passes none.
    """
    blocks, width = q.shape
    inv, limit = 1.0 / (h * h), h * h * (1.0 + 1e-6)  # a little beyond h: the weight itself decides at the rim
    for k in range(low, high):
        j = np.uint64(source[k])
        if len(flag) > 0 and flag[j]:
            continue
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
            ids[m] = j
            g[m] = weigh(kind, r * inv) * weights[j]
            m += 1
    return m


@njit(inline="always")
def _merge(ids, g, first, both, ids_out, g_out):  # type: ignore[no-untyped-def]
    """Merge two ascending runs, [0, first) and [first, both), into one."""
    a, b = 0, first
    for k in range(both):
        if b == both or (a < first and ids[a] < ids[b]):
            ids_out[k], g_out[k] = ids[a], g[a]
            a += 1
        else:
            ids_out[k], g_out[k] = ids[b], g[b]
            b += 1


@njit(**OPTIONS)
def _mean(positions, q, ids, g, m, shift):  # type: ignore[no-untyped-def]
    """Weighted mean of x_j - q, four rows at a time so that the sum itself is read and written less often."""
    d = len(q)
    shift[:] = 0.0
    total = 0.0
    for k in range(m):
        total += g[k]
    fours = m - m % 4
    for k in range(0, fours, 4):
        i0, i1, i2, i3 = ids[k], ids[k + 1], ids[k + 2], ids[k + 3]
        g0, g1, g2, g3 = g[k], g[k + 1], g[k + 2], g[k + 3]
        for c in range(d):
            x = q[c]
            shift[c] += (
                g0 * (positions[i0, c] - x)
                + g1 * (positions[i1, c] - x)
                + g2 * (positions[i2, c] - x)
                + g3 * (positions[i3, c] - x)
            )
    for k in range(fours, m):
        i0, g0 = ids[k], g[k]
        for c in range(d):
            shift[c] += g0 * (positions[i0, c] - q[c])
    scale = 1.0 / total if total > 0.0 else 0.0  # no point in reach: stay
    for c in range(d):
        shift[c] *= scale


@njit(**OPTIONS)
def _square(x, y):  # type: ignore[no-untyped-def]
    """Squared distance of two places."""
    r = 0.0
    for b in range(x.shape[0]):
        for e in range(x.shape[1]):
            a = np.float64(x[b, e]) - np.float64(y[b, e])
            r += a * a
    return r


@njit(**OPTIONS)
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
    lists.anchors[taken] = x
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


@njit(**OPTIONS)
def _let_loose(s, sites, lists, rules):  # type: ignore[no-untyped-def]
    """Note that s is loose, keeping the order."""
    k = lists.tally[LOOSE]
    while k > 0 and lists.loose[k - 1] > s:
        lists.loose[k] = lists.loose[k - 1]
        k -= 1
    lists.loose[k], lists.is_loose[s] = s, 1
    lists.tally[LOOSE] += 1
    _tie(s, sites, lists, rules)


@njit(**OPTIONS)
def _follow(s, sites, lists, rules):  # type: ignore[no-untyped-def]
    """Note where a site is after it has moved: loose if far from its reference, elsewhere if far from its anchor."""
    if not lists.is_loose[s]:
        if _square(sites.positions[s], lists.reference[s]) > rules.slip:
            _let_loose(s, sites, lists, rules)
    elif lists.anchor[s] >= 0 and _square(sites.positions[s], lists.anchors[lists.anchor[s]]) * ROOMY > rules.span**2:
        _tie(s, sites, lists, rules)


@njit(**OPTIONS)
def _loose_near(lists, q, h, span, out):  # type: ignore[no-untyped-def]
    """Write the loose sites whose anchor is near q, ascending; return how many."""
    tally = lists.tally
    for a in range(tally[ANCHORS]):
        lists.near[a] = _square(lists.anchors[a], q) <= (h + span) ** 2 * ROOMY
    count = 0
    for k in range(tally[LOOSE]):
        j = np.uint64(lists.loose[k])
        a = lists.anchor[j]
        out[count] = j
        count += 1 if a < 0 or lists.near[a] else 0
    extra = tally[ANCHORS] + tally[WILD]
    tally[EXTRA] += extra + int(GLANCE * tally[LOOSE])
    tally[WORK] += tally[ANCHORS]
    return count


@njit(inline="always")
def _find(kind, sites, lists, s, q, h, span, buffers):  # type: ignore[no-untyped-def]
    """Find the sites in reach of site s at q, and their weights, ascending: the first m of two buffers; return m."""
    ids, g, ids_two, g_two, picked = buffers
    positions, weights, tally = sites.positions, sites.weights, lists.tally
    source, low, high = lists.everyone, 0, tally[SITES]
    flag = lists.is_loose[:0]
    known = len(lists.starts) > 0
    if known and not lists.is_loose[s]:
        source, low, high, flag = lists.members, lists.starts[s], lists.starts[s + 1], lists.is_loose
    elif known and lists.anchor[s] >= 0:
        a = lists.anchor[s]
        source, high, flag = lists.anchored[a], lists.lengths[a], lists.is_loose
    elif known:
        known = False
        tally[EXTRA] += tally[SITES]
    tally[WORK] += high - low
    m = _reached(kind, positions, weights, q, h, source, low, high, flag, ids, g, 0)
    if not known or tally[LOOSE] == 0:
        return m
    count = _loose_near(lists, q, h, span, picked)
    tally[WORK] += count
    both = _reached(kind, positions, weights, q, h, picked, 0, count, lists.is_loose[:0], ids, g, m)
    if m < both:
        _merge(ids, g, m, both, ids_two, g_two)
        for k in range(both):
            ids[k], g[k] = ids_two[k], g_two[k]
    return both


@njit(inline="always")
def _each(kind, sites, lists, weights, equal, rules, indices, bandwidths, spherical, lengths):  # type: ignore[no-untyped-def]
    positions, tally = sites.positions, lists.tally
    capacity, blocks, width = positions.shape
    d = blocks * width
    rows = positions.reshape(capacity, d)
    q, new = np.empty(d, dtype=positions.dtype), np.empty(d)
    q_blocks = q.reshape(blocks, width)
    ids, g = np.empty(capacity, np.uint64), np.empty(capacity)
    buffers = ids, g, np.empty(capacity, np.uint64), np.empty(capacity), np.empty(capacity + 1, np.int32)
    crowded = len(sites.site) > tally[SITES] or capacity > len(sites.site)  # some site may hold more than one
    stop_work, done = tally[WORK] + rules.budget, 0
    while done < len(indices) and tally[WORK] < stop_work and tally[EXTRA] <= rules.patience:
        if crowded and tally[SITES] == capacity:
            break
        i, h = indices[done], bandwidths[done]
        s = sites.site[i]
        for c in range(d):
            q[c] = rows[s, c]
        m = _find(kind, sites, lists, s, q_blocks, h, rules.span, buffers)
        _mean(rows, q, ids, g, m, new)
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
    n, blocks, width = positions.shape
    d = blocks * width
    rows = positions.reshape(n, d)
    q, new = np.empty(d, dtype=positions.dtype), np.empty(d)
    q_blocks = q.reshape(blocks, width)
    ids, g, nobody = np.empty(n, np.uint64), np.empty(n), np.empty(0, np.uint8)
    q[:] = 0.0
    for k in range(len(queries)):
        for c in range(queries.shape[1]):
            q[c] = queries[k, c]
        m = _reached(
            kind,
            positions,
            weights,
            q_blocks,
            bandwidths[k],
            members,
            starts[k],
            starts[k + 1],
            nobody,
            False,
            ids,
            g,
            0,
        )
        _mean(rows, q, ids, g, m, new)
        settle_in_place(d, q, new, spherical)
        for c in range(queries.shape[1]):
            moved[k, c] = new[c]


@cached
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


@cached
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

    @cached
    def each(sites, lists, weights, equal, rules, indices, bandwidths, spherical, lengths):  # type: ignore[no-untyped-def]
        return _each(code, sites, lists, weights, equal, rules, indices, bandwidths, spherical, lengths)

    @cached
    def all_(positions, weights, queries, bandwidths, starts, members, spherical, moved):  # type: ignore[no-untyped-def]
        _all(code, positions, weights, queries, bandwidths, starts, members, spherical, moved)

    return Shifts(each, all_)
