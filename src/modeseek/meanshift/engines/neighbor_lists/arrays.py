"""The shapes that `candidates` hands to its kernels: sites, lists of who may be in reach, and rules."""

from __future__ import annotations

from typing import NamedTuple

from modeseek._common.types import Array, IntArray

__all__ = ["ANCHORS", "EXTRA", "LOOSE", "SITES", "WILD", "WORK", "Lists", "Rules", "Sites"]

# places in `Lists.tally`
SITES, LOOSE, WORK, EXTRA, ANCHORS, WILD = range(6)


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
