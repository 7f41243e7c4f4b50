"""Compiled sweeps over few points: draws are made, coincident points are found, points move, and the end is tested.

A sweep of few points takes less time than the Python code around it. Here, many sweeps are one call without the GIL.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from modeseek._common.jit import NO_REFERENCE_COUNTS, CompiledFunction, call_address, inlined, loop_part
from modeseek._common.types import Array, IntArray
from modeseek.meanshift import types
from modeseek.meanshift.bandwidth import compiled_draws, draws, formulas, policies
from modeseek.meanshift.bandwidth.compiled_draws import (
    draw_bandwidths,
    draw_points,
    draw_words,
    may_be_frozen,
    upper_bound,
)
from modeseek.meanshift.engines.brute import loops
from modeseek.meanshift.engines.coincident_points import Groups, Merging
from modeseek.meanshift.engines.shared_loops import cached_sum, nearly_equal
from modeseek.meanshift.engines.workspace import Buffers, UpdateBlock
from modeseek.meanshift.types import SweepsEnd

# points of a run that is sorted by insertion, before runs are merged
RUN = 8
# plain integers, because compiled code returns them
CONTINUE, CHECK, CERTIFIED = int(SweepsEnd.CONTINUE), int(SweepsEnd.CHECK), int(SweepsEnd.CERTIFIED)
# distances that are closer than this share to a bound are not used for a decision
MARGIN = 1e-9


def compiled(function: Callable[..., Any]) -> CompiledFunction:
    """Compile a function that Python calls."""
    modules = loops, types, compiled_draws, draws, policies, formulas
    return cached_sum(function, *modules, **NO_REFERENCE_COUNTS)


class SweepSetup(NamedTuple):
    """What is the same in all sweeps of a state.

    Attributes
    ----------
    each, each_group : int
        Addresses of functions of `BruteShifts`. Only these are compiled for each profile and dimension.
    merging : Merging
    spherical, equal_weights : bool
        Whether points stay on the unit sphere, and whether they have equal weights.
    """

    each: int
    each_group: int
    merging: Merging
    spherical: bool
    equal_weights: bool


class Scratch(NamedTuple):
    """Arrays for the search for coincident points, and for their groups.

    Attributes
    ----------
    line : (n,) array
        Projections of the points on a line.
    order, leader, leaders, group : (n,) integer arrays
        Points along the line, the first point of the group of each point, these points, and the group of each point.
    weights, counts, columns : arrays
        Weights, numbers of points, and coordinates of groups.
    buffers : Buffers
    """

    line: Array
    order: IntArray
    leader: IntArray
    leaders: IntArray
    group: IntArray
    weights: Array
    counts: IntArray
    columns: Array
    buffers: Buffers

    @classmethod
    def empty(cls, d: int, n: int, min_points: int) -> Scratch:
        """Return new arrays for n points with d coordinates."""
        most = 2 * n + min_points
        order, leader, leaders, group = np.empty((4, n), dtype=np.int64)
        groups = np.empty(most), np.empty(most, dtype=np.int64), np.empty(d * most)
        return cls(np.empty(n), order, leader, leaders, group, *groups, Buffers.empty(d))


@inlined
def _sort(line, order, spare):  # type: ignore[no-untyped-def]
    """Write the stable order of `line`: insertion within short runs, then merging without branches."""
    n = len(line)
    for start in range(0, n, RUN):
        for k in range(start, min(start + RUN, n)):
            value, j = line[k], k
            while j > start and line[order[j - 1]] > value:
                order[j] = order[j - 1]
                j -= 1
            order[j] = k
    width = RUN
    while width < n:
        for low in range(0, n, 2 * width):
            middle, high = min(low + width, n), min(low + 2 * width, n)
            a, b, out = low, middle, low
            while a < middle and b < high:
                first, second = order[a], order[b]
                later = line[second] < line[first]
                spare[out] = second if later else first
                b += later
                a += not later
                out += 1
            while a < middle:
                spare[out] = order[a]
                a += 1
                out += 1
            while b < high:
                spare[out] = order[b]
                b += 1
                out += 1
        for k in range(n):
            order[k] = spare[k]
        width *= 2


@loop_part
def _find_coincident(X, merging, scratch):  # type: ignore[no-untyped-def]
    """Write the first point of each group of coincident points and the group of each point; return their number.

    It is 0 if too many groups remain. This is `coincident_points.find_coincident` for points as columns.
    """
    d, n = X.shape
    direction, eps, ulps, max_share, _, _, look_back = merging
    line, order, leader, leaders, group, _, _, _, _ = scratch
    largest = 0.0
    for i in range(n):
        line[i] = 0.0
    for c in range(d):
        for i in range(n):
            line[i] += X[c, i] * direction[c]
            largest = max(largest, abs(X[c, i]))
    window = 2.0 * d * eps * largest * (ulps + d)
    _sort(line, order, group)
    gaps = 0
    for k in range(1, n):
        gaps += line[order[k]] - line[order[k - 1]] > window
    if gaps + 1 > max_share * n:
        return 0
    found = 0
    for k in range(n):
        i = order[k]
        leader[i] = i
        for back in range(1, min(look_back, found) + 1):
            j = leaders[found - back]
            if line[i] - line[j] > window:
                break
            if nearly_equal(d, X[:, j], X[:, i], ulps * eps):
                leader[i] = j
                break
        if leader[i] == i:
            leaders[found] = i
            found += 1
    if found > max_share * n:
        return 0
    # groups are numbered by their first points; `order` is not needed any more
    number = 0
    for i in range(n):
        if leader[i] == i:
            leaders[number], order[i] = i, number
            number += 1
    for i in range(n):
        group[i] = order[leader[i]]
    return found


@loop_part
def _sweep(setup, X, w, updates, scratch):  # type: ignore[no-untyped-def]
    """Apply updates, to groups of points while there are any; return the number of distances."""
    (d, n), merging, spherical = X.shape, setup.merging, setup.spherical
    group, weights, counts = scratch.group, scratch.weights, scratch.counts
    min_points, count = merging.min_points, len(updates.indices)
    done = evaluations = 0
    search = count >= max(min_points, min(n, merging.min_updates))
    while done < count:
        found = 0
        if search and count - done >= min_points:
            found = _find_coincident(X, merging, scratch)
        rest = UpdateBlock(updates.indices[done:], updates.bandwidths[done:], updates.lengths[done:])
        if found == 0:
            call_address(setup.each, None, (X, w, rest, spherical, scratch.buffers))
            evaluations += (count - done) * n
            break
        capacity = found + max(min_points, n // 8)
        Y = scratch.columns[: d * capacity].reshape(d, capacity)
        for g in range(capacity):
            weights[g] = 0.0
            counts[g] = 0
        for i in range(n):
            weights[group[i]] += w[i]
            counts[group[i]] += 1
        for c in range(d):
            for g in range(found):
                Y[c, g] = X[c, scratch.leaders[g]]
        groups = Groups(weights[:capacity], counts[:capacity], group, w, setup.equal_weights)
        tolerance = merging.eps * merging.ulps
        arguments = Y, groups, found, tolerance, rest, spherical, scratch.buffers
        step, _, pairs = call_address(setup.each_group, (0, 0, 0), arguments)
        done += step
        evaluations += pairs
        for c in range(d):
            for i in range(n):
                X[c, i] = Y[c, group[i]]
    return evaluations


@inlined
def _square(X, i, j):  # type: ignore[no-untyped-def]
    r = 0.0
    for c in range(X.shape[0]):
        r += (X[c, i] - X[c, j]) * (X[c, i] - X[c, j])
    return r


@loop_part
def _end_of(X, block, due, settled, h_upper, euclidean, first, label):  # type: ignore[no-untyped-def]
    """Return whether a run continues after a sweep, has to be checked, or is certified.

    It continues while shifts are large, or small shifts do not end a run (`settled`), and a distance is between tau and
    `h_upper`, the upper bound of later bandwidths. Otherwise the points within tau of one point are a cluster, and all
    distances within and between clusters decide. `first` and `label` receive one point of each cluster, and the cluster
    of each point.
    """
    n, tau = X.shape[1], block.test.tau
    if settled:
        small = 0
        for i in range(n):
            small += block.last_shift[i] <= block.test.threshold
        if small / n >= block.test.fraction:
            return CHECK
    if not due:
        return CONTINUE
    near, between = (tau * (1.0 - MARGIN)) ** 2, ((tau * (1.0 + MARGIN)) ** 2, (h_upper * (1.0 - MARGIN)) ** 2)
    for q in block.witnesses:
        found = 0
        for i in range(n):
            found += between[0] <= _square(X, i, q) <= between[1]
        if found > 0:
            return CONTINUE
    count, inside, apart, largest = 0, 0.0, np.inf, 0.0
    for i in range(n):
        own = 0
        for q in range(count):
            r = _square(X, i, first[q])
            if between[0] <= r <= between[1]:
                return CONTINUE
            if r < near:
                own += 1
                label[i] = q
        if own > 1:
            return CHECK
        if own == 0:
            first[count], label[i] = i, count
            count += 1
        for c in range(X.shape[0]):
            largest = max(largest, abs(X[c, i]))
    for i in range(n):
        for j in range(i):
            r, same = _square(X, i, j), label[i] == label[j]
            inside, apart = max(inside, r if same else 0.0), min(apart, np.inf if same else r)
    width, gap = np.sqrt(inside) + block.rounding * largest, np.sqrt(apart)
    if euclidean and width < tau * (1.0 - MARGIN) and gap > (h_upper + 2.0 * width) * (1.0 + MARGIN):
        return CERTIFIED
    if euclidean and (width > tau * (1.0 + MARGIN) or gap < (h_upper + 2.0 * width) * (1.0 - MARGIN)):
        return CONTINUE
    return CHECK


@compiled
def apply_sweeps(setup, X, w, updates, block, scratch):  # type: ignore[no-untyped-def]
    """Return the number of sweeps applied, how the last of them ends, and the number of distances."""
    n, euclidean = X.shape[1], not setup.spherical
    evaluations, indices, lengths = 0, updates.indices, updates.lengths
    code, path, test, largest = block.code, block.path, block.test, block.largest
    h, h_upper, settled, drawn = path[-1], path[-1], True, len(code.key) > 0
    for s in range(-1 if test.now else 0, len(largest)):
        if s >= 0:
            if drawn:
                mine = path[s * n : (s + 1) * n]
                draw_words(code, s * n, lengths, mine)
                if code.reshuffled:
                    _sort(lengths, indices, scratch.order)
                else:
                    draw_points(code, lengths, indices)
                draw_bandwidths(code, s * n, h, mine, indices, updates.bandwidths)
                h = mine[-1]
            evaluations += _sweep(setup, X, w, updates, scratch)
            for k in range(len(lengths)):
                block.last_shift[indices[k]] = lengths[k]
                largest[s] = max(largest[s], lengths[k])
        if drawn:
            h_upper = upper_bound(code, (s + 1) * n, h)
            settled = not test.by_certificate or may_be_frozen(code, h, h_upper)
        end = _end_of(X, block, test.due[s + 1], settled, h_upper, euclidean, scratch.leaders, scratch.leader)
        if end != CONTINUE:
            return s + 1, end, evaluations
    return len(largest), CONTINUE, evaluations
