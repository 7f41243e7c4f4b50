"""The arrays and limits that `neighbor_lists` passes to its compiled functions."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from modeseek._common.types import Array, IntArray
from modeseek.meanshift.engines.coincident_points import Groups


class Counters(NamedTuple):
    """Numbers that compiled code changes, each in an array of shape (1,).

    Attributes
    ----------
    groups : array
        Number of groups in use.
    evaluations, extra : array
        Number of distances computed, and number of distances among them that loose groups caused.
    loose, anchors, unanchored : array
        Numbers of loose groups, of anchors in use, and of loose groups without an anchor.
    """

    groups: IntArray
    evaluations: IntArray
    extra: IntArray
    loose: IntArray
    anchors: IntArray
    unanchored: IntArray


class GroupState(NamedTuple):
    """Points as groups of coincident points.

    Attributes
    ----------
    positions : (capacity, width) array
        Coordinates of each group, padded by zeros.
    groups : Groups
    """

    positions: Array
    groups: Groups


class Lists(NamedTuple):
    """The groups that may be within reach of each group.

    A group is *loose* if it has moved so far that its list is no longer valid. A loose group belongs to an *anchor*, a
    position near it, if one is free. An anchor has a list for all its loose groups, and a query far from the anchor
    skips all of them at once.

    Attributes
    ----------
    origins : (m, width) array
        Positions of the groups when the lists were built.
    starts, members : (m + 1,) and (pairs,) arrays
        The list of group g is `members[starts[g] : starts[g + 1]]`, ascending. Without lists, `starts` is empty and
        every group is visited.
    all_groups : (capacity,) array
        0, 1, 2, ...
    loose, is_loose : (capacity,) arrays
        The loose groups, ascending, and a flag for each group.
    anchor_of : (capacity,) array
        The anchor of each loose group, or -1.
    anchors : (a, width) array
        Positions of the anchors.
    anchor_members, anchor_sizes : (a, m) and (a,) arrays
        The groups within reach of an anchor that were not loose when the list was built, and their number.
    anchor_near : (a,) array
        Scratch: whether an anchor is near the query.
    counters : Counters
    """

    origins: Array
    starts: IntArray
    members: IntArray
    all_groups: IntArray
    loose: IntArray
    is_loose: IntArray
    anchor_of: IntArray
    anchors: Array
    anchor_members: IntArray
    anchor_sizes: IntArray
    anchor_near: IntArray
    counters: Counters


class ListLimits(NamedTuple):
    """Distances up to which lists are valid, and limits for one compiled call.

    Attributes
    ----------
    tolerance : float
        Relative difference of coordinates that counts as rounding.
    max_drift : float
        Squared distance from its origin beyond which a group is loose.
    anchor_span : float
        Largest distance of a loose group from its anchor.
    anchor_reach : float
        Radius of the list of an anchor.
    max_evaluations, max_extra : int
        Number of distances, and of distances caused by loose groups, after which a call returns.
    """

    tolerance: float
    max_drift: float
    anchor_span: float
    anchor_reach: float
    max_evaluations: int
    max_extra: int


class ListBuffers(NamedTuple):
    """Arrays for temporary values.

    Attributes
    ----------
    q : (d,) array
        A position with padding, in the precision of the points.
    new : (d,) array
    picked : (capacity + 1,) array
        The groups that a query visits.
    near, ids : (capacity + 4,) arrays
        Distances or weights of visited groups, and these groups.
    """

    q: Array
    new: Array
    picked: IntArray
    near: Array
    ids: IntArray

    @classmethod
    def empty(cls, positions: Array) -> ListBuffers:
        """Return new arrays for positions of groups."""
        capacity, d = len(positions), positions[0].size
        ids = np.empty(capacity + 1, dtype=np.int32), np.empty(capacity + 4), np.empty(capacity + 4, dtype=np.uint64)
        return cls(np.zeros(d, dtype=positions.dtype), np.empty(d), *ids)
