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

__all__ = ["EXTRA", "LOOSE", "SITES", "WORK", "Lists", "Rules", "Shifts", "Sites", "collect", "mark", "shifts"]

# places in `Lists.tally`
SITES, LOOSE, WORK, EXTRA = 0, 1, 2, 3


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
    tally : (4,) array
        Sites in use, loose ones, evaluations so far, and those among them that loose sites caused.
    """

    reference: Array
    starts: IntArray
    members: IntArray
    loose: IntArray
    is_loose: IntArray
    everyone: IntArray
    tally: IntArray


class Rules(NamedTuple):
    """When to do what.

    Attributes
    ----------
    ulps : float
        Coordinates that differ by less than this share of the largest are one.
    slip : float
        Squared distance from its reference at which a site is loose.
    budget, patience : int
        Evaluations, and extra ones, after which to return.
    """

    ulps: float
    slip: float
    budget: int
    patience: int


@njit(**OPTIONS)
def _reached(kind, positions, weights, q, h, source, low, high, is_loose, skip, ids, g, m):  # type: ignore[no-untyped-def]
    """Append the sites of source[low:high] in reach of q, and their weights, from place m on; return how many there are."""
    blocks, width = q.shape
    inv, limit = 1.0 / (h * h), h * h * (1.0 + 1e-6)  # a little beyond h: the weight itself decides at the rim
    for k in range(low, high):
        j = np.uint64(source[k])
        if skip and is_loose[j]:
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


@njit(inline="always")
def _let_loose(s, lists):  # type: ignore[no-untyped-def]
    """Note that s is loose, keeping the order."""
    k = lists.tally[LOOSE]
    while k > 0 and lists.loose[k - 1] > s:
        lists.loose[k] = lists.loose[k - 1]
        k -= 1
    lists.loose[k], lists.is_loose[s] = s, 1
    lists.tally[LOOSE] += 1


@njit(inline="always")
def _move(s, sites, lists, old, new, slip):  # type: ignore[no-untyped-def]
    """Put site s elsewhere; note if it is too far from its reference now; return how far it went."""
    positions = sites.positions
    blocks, width = positions.shape[1:]
    square = drift = 0.0
    known = len(lists.starts) > 0 and lists.is_loose[s] == 0
    for b in range(blocks):
        for e in range(width):
            positions[s, b, e] = new[b * width + e]
            square += (np.float64(positions[s, b, e]) - old[b * width + e]) ** 2
            if known:
                drift += (np.float64(positions[s, b, e]) - lists.reference[s, b, e]) ** 2
    if known and drift > slip:
        _let_loose(s, lists)
    return np.sqrt(square)


@njit(inline="always")
def _each(kind, sites, lists, weights, equal, rules, indices, bandwidths, spherical, lengths):  # type: ignore[no-untyped-def]
    positions, tally = sites.positions, lists.tally
    capacity, blocks, width = positions.shape
    d = blocks * width
    rows = positions.reshape(capacity, d)
    q, new = np.empty(d, dtype=positions.dtype), np.empty(d)
    q_blocks = q.reshape(blocks, width)
    ids, g, ids_merged, g_merged = (
        np.empty(capacity, np.uint64),
        np.empty(capacity),
        np.empty(capacity, np.uint64),
        np.empty(capacity),
    )
    crowded = len(sites.site) > tally[SITES] or capacity > len(sites.site)  # some site may hold more than one
    stop_work, done = tally[WORK] + rules.budget, 0
    while done < len(indices) and tally[WORK] < stop_work and tally[EXTRA] <= rules.patience:
        if crowded and tally[SITES] == capacity:
            break
        i, h = indices[done], bandwidths[done]
        s = sites.site[i]
        for c in range(d):
            q[c] = rows[s, c]
        listed = len(lists.starts) > 0 and lists.is_loose[s] == 0
        source, low, high = lists.everyone, 0, tally[SITES]
        if listed:
            source, low, high = lists.members, lists.starts[s], lists.starts[s + 1]
        m = first = 0
        for part in range(2):
            m = _reached(
                kind, positions, sites.weights, q_blocks, h, source, low, high, lists.is_loose, listed and part == 0,
                ids, g, m,
            )  # fmt: skip
            tally[WORK] += high - low
            if not listed:
                break
            if part == 0:
                first = m
                source, low, high = lists.loose, 0, tally[LOOSE]
        if len(lists.starts) > 0:
            tally[EXTRA] += tally[LOOSE] if listed else tally[SITES]
        if listed and first < m:
            _merge(ids, g, first, m, ids_merged, g_merged)
            _mean(rows, q, ids_merged, g_merged, m, new)
        else:
            _mean(rows, q, ids, g, m, new)
        settle_in_place(d, q, new, spherical)
        lengths[done] = 0.0
        if sites.counts[s] == 1 or not within_rounding(d, q, new, rules.ulps):
            if sites.counts[s] > 1:
                fresh = tally[SITES]
                tally[SITES] += 1
                leave(s, i, fresh, equal, sites.weights, sites.counts, sites.site, weights)
                s = fresh
                if len(lists.starts) > 0:
                    _let_loose(s, lists)
            lengths[done] = _move(s, sites, lists, q, new, rules.slip)
        done += 1
    return done


@njit(inline="always")
def _all(kind, positions, weights, queries, bandwidths, starts, members, spherical, moved):  # type: ignore[no-untyped-def]
    n, blocks, width = positions.shape
    d = blocks * width
    rows = positions.reshape(n, d)
    q, new = np.empty(d, dtype=positions.dtype), np.empty(d)
    q_blocks = q.reshape(blocks, width)
    ids, g, nobody = np.empty(n, np.uint64), np.empty(n), np.zeros(1, np.uint8)
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
def mark(positions, reference, slip, loose, is_loose):  # type: ignore[no-untyped-def]
    """Find the sites that are too far from their reference; return how many."""
    m, blocks, width = reference.shape
    count = 0
    for s in range(m):
        drift = 0.0
        for b in range(blocks):
            for e in range(width):
                drift += (np.float64(positions[s, b, e]) - reference[s, b, e]) ** 2
        is_loose[s] = drift > slip
        if drift > slip:
            loose[count] = s
            count += 1
    return count


class Shifts(NamedTuple):
    """The compiled verbs for one profile.

    Attributes
    ----------
    each : callable
        (sites, lists, weights, equal, rules, indices, bandwidths, spherical, lengths): apply draws in order; returns how
        many were done when the budget, the patience or the room for new sites ran out.
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
