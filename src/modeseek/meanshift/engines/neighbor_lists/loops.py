"""Compiled updates of `neighbor_lists`, and the bookkeeping of loose groups."""

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from modeseek._common.jit import NO_REFERENCE_COUNTS, inlined
from modeseek.meanshift.engines.neighbor_lists import arrays, sums
from modeseek.meanshift.engines.neighbor_lists.sums import sum_over
from modeseek.meanshift.engines.shared_loops import apply_shift, cached_sum, leave_group, nearly_equal

# The cost of skipping a loose group, as a multiple of one distance.
SKIP_COST = 1 / 8
# Factor for squared distances that select what is visited, so that rounding excludes nothing.
SAFETY = 1.0001


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a function that Python calls."""
    return cached_sum(function, arrays, sums, **NO_REFERENCE_COUNTS)


@inlined
def _square(x, y):  # type: ignore[no-untyped-def]
    """Return the squared distance of two positions."""
    r = 0.0
    for c in range(len(x)):
        a = np.float64(x[c]) - np.float64(y[c])
        r += a * a
    return r


@inlined
def _anchor(g, positions, lists, limits):  # type: ignore[no-untyped-def]
    """Give loose group g an anchor: one that is near, a new one at its position, or none if all are in use."""
    counters, x = lists.counters, positions[g]
    m, used = len(lists.origins), counters.anchors[0]
    counters.extra[0] += used
    counters.evaluations[0] += used
    for a in range(used):
        if _square(lists.anchors[a], x) * SAFETY <= limits.anchor_span**2:
            lists.anchor_of[g] = a
            return
    if used == len(lists.anchors):
        lists.anchor_of[g] = -1
        counters.unanchored[0] += 1
        return
    for c in range(len(x)):  # assigning a whole row would add seconds of compilation for its error message
        lists.anchors[used, c] = x[c]
    lists.anchor_of[g] = used
    counters.anchors[0] += 1
    counters.extra[0] += m
    counters.evaluations[0] += m
    count = 0
    for j in range(m):
        if not lists.is_loose[j] and _square(lists.origins[j], x) <= limits.anchor_reach**2 * SAFETY:
            lists.anchor_members[used, count] = j
            count += 1
    lists.anchor_sizes[used] = count


@inlined
def _add_loose(g, positions, lists, limits):  # type: ignore[no-untyped-def]
    """Insert g into the sorted loose groups."""
    k = lists.counters.loose[0]
    while k > 0 and lists.loose[k - 1] > g:
        lists.loose[k] = lists.loose[k - 1]
        k -= 1
    lists.loose[k], lists.is_loose[g] = g, 1
    lists.counters.loose[0] += 1
    _anchor(g, positions, lists, limits)


@inlined
def _after_move(g, positions, lists, limits):  # type: ignore[no-untyped-def]
    """Mark a moved group as loose if it is far from its origin; find another anchor if it is far from its anchor."""
    if not lists.is_loose[g]:
        if _square(positions[g], lists.origins[g]) > limits.max_drift:
            _add_loose(g, positions, lists, limits)
        return
    a = lists.anchor_of[g]
    if a >= 0 and _square(positions[g], lists.anchors[a]) * SAFETY > limits.anchor_span**2:
        _anchor(g, positions, lists, limits)


@inlined
def _merge_loose(lists, q, reach, source, low, high, out):  # type: ignore[no-untyped-def]
    """Write the groups of `source[low:high]` that are not loose, and the loose groups near q; return their number.

    `out` is in ascending order.
    """
    counters = lists.counters
    for a in range(counters.anchors[0]):
        lists.anchor_near[a] = _square(lists.anchors[a], q) <= reach**2 * SAFETY
    counters.evaluations[0] += counters.anchors[0]
    counters.extra[0] += counters.anchors[0] + counters.unanchored[0] + int(SKIP_COST * counters.loose[0])
    count, k = 0, low
    for t in range(counters.loose[0]):
        g = lists.loose[t]
        a = lists.anchor_of[g]
        if a >= 0 and not lists.anchor_near[a]:
            continue
        while k < high and source[k] <= g:
            out[count] = source[k]
            count += not lists.is_loose[source[k]]
            k += 1
        out[count] = g
        count += 1
    while k < high:
        out[count] = source[k]
        count += not lists.is_loose[source[k]]
        k += 1
    return count


@inlined
def _shift_group(kind, state, lists, g, q, h, span, picked, shift, scratch):  # type: ignore[no-untyped-def]
    """Write the mean shift of group g, which is at q.

    The sum runs over the list of the group or of its anchor and over loose groups, or, without a list, over all groups.
    """
    counters = lists.counters
    source, low, high = lists.all_groups, 0, counters.groups[0]
    listed = len(lists.starts) > 0
    if listed and not lists.is_loose[g]:
        source, low, high = lists.members, lists.starts[g], lists.starts[g + 1]
    elif listed and lists.anchor_of[g] >= 0:
        source, high = lists.anchor_members[lists.anchor_of[g]], lists.anchor_sizes[lists.anchor_of[g]]
    elif listed:
        listed = False
        counters.extra[0] += counters.groups[0]
    if listed and counters.loose[0] > 0:
        high = _merge_loose(lists, q, h + span, source, low, high, picked)
        source, low = picked, 0
    counters.evaluations[0] += high - low
    sum_over(kind, state.positions, state.groups.weights, q, h, source, low, high, shift, scratch)


@compiled
def list_neighbors(products, halves, query_halves, found, starts):  # type: ignore[no-untyped-def]
    """Write the indices j with products[i, j] >= halves[j] + query_halves[i] to `found`, row after row.

    Those of row i are found[starts[i] : starts[i + 1]]. Return the number of all indices.

    With halves (|x|^2 - r^2) / 2 and query_halves |q|^2 / 2, these are the points within r of each query.
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


@compiled
def find_loose(state, lists, limits):  # type: ignore[no-untyped-def]
    """Find all loose groups and give them anchors."""
    counters, positions = lists.counters, state.positions
    counters.loose[0] = counters.anchors[0] = counters.unanchored[0] = 0
    lists.is_loose[:] = 0
    for g in range(len(lists.origins)):
        if _square(positions[g], lists.origins[g]) > limits.max_drift:
            lists.loose[counters.loose[0]] = g
            lists.is_loose[g] = 1
            counters.loose[0] += 1
    for k in range(counters.loose[0]):
        _anchor(lists.loose[k], positions, lists, limits)


class ListShifts(NamedTuple):
    """Compiled functions for one profile.

    Attributes
    ----------
    each : callable
        ``(state, lists, limits, updates, spherical, buffers)``: apply updates in order; return how many were applied
        when a limit was reached or no unused group was left.
    all : callable
        ``(positions, weights, queries, starts, members, spherical, buffers)``: shift each query, with sums over its
        list.
    """

    each: Callable[..., int]
    all: Callable[..., None]


@cache
def shifts(code: int) -> ListShifts:
    """Return the compiled functions of a built-in profile."""

    # The loops are written out here, because Numba would spend most of its compile time copying inlined functions.
    @compiled
    def each(state, lists, limits, updates, spherical, buffers):  # type: ignore[no-untyped-def]
        (positions, groups), counters = state, lists.counters
        capacity, d = positions.shape
        q, new, picked, near, ids = buffers
        scratch = near, ids
        # whether a group may have several points
        merged = len(groups.group) > counters.groups[0] or capacity > len(groups.group)
        stop, done = counters.evaluations[0] + limits.max_evaluations, 0
        while done < len(updates.indices) and counters.evaluations[0] < stop and counters.extra[0] <= limits.max_extra:
            if merged and counters.groups[0] == capacity:
                break
            i, h = updates.indices[done], updates.bandwidths[done]
            g = groups.group[i]
            for c in range(d):
                q[c] = positions[g, c]
            _shift_group(code, state, lists, g, q, h, limits.anchor_span, picked, new, scratch)
            apply_shift(d, q, new, spherical)
            square = 0.0
            if groups.counts[g] == 1 or not nearly_equal(d, q, new, limits.tolerance):
                fresh = groups.counts[g] > 1
                if fresh:
                    g = counters.groups[0]
                    leave_group(groups, i, g)
                    counters.groups[0] += 1
                for c in range(d):
                    positions[g, c] = new[c]
                    square += (np.float64(positions[g, c]) - q[c]) ** 2
                if len(lists.starts) > 0 and fresh:
                    _add_loose(g, positions, lists, limits)
                elif len(lists.starts) > 0:
                    _after_move(g, positions, lists, limits)
            updates.lengths[done] = np.sqrt(square)
            done += 1
        return done

    @compiled
    def all_(positions, weights, queries, starts, members, spherical, buffers):  # type: ignore[no-untyped-def]
        q, new, _, near, ids = buffers
        scratch = near, ids
        for k in range(len(queries.points)):
            for c in range(queries.points.shape[1]):
                q[c] = queries.points[k, c]
            h, low, high = queries.bandwidths[k], starts[k], starts[k + 1]
            sum_over(code, positions, weights, q, h, members, low, high, new, scratch)
            apply_shift(len(q), q, new, spherical)
            for c in range(queries.points.shape[1]):
                queries.moved[k, c] = new[c]

    return ListShifts(each, all_)
