"""Settings of the neighbour lists."""

from dataclasses import dataclass


@dataclass(frozen=True)
class ListConfig:
    """When lists are built, and how large they are. The values affect speed and memory, not results.

    Lists contain groups of coincident points. `arrays.Lists` explains loose groups and anchors.

    Attributes
    ----------
    min_groups : int
        With at most this many groups, no lists are built, and every query visits every group.
    skins : tuple of float
        The radius of a list exceeds the bandwidth by a margin, the skin. These are the candidates for the skin, as
        shares of the bandwidth. The widest skin that respects the following limits is used.
    max_growth : float
        Largest factor by which a skin may lengthen the lists.
    max_share : float
        Largest share of all pairs that the lists may hold.
    max_entries : int
        Largest number of entries of all lists together. Lists are concatenated at the end, which takes 256 MB for 2**25
        entries.
    rebuild_cost : float
        Lists are rebuilt once loose groups have cost this many times as much as building the lists.
    max_anchors : int
        Largest number of anchors.
    anchor_span : float
        Distance from an anchor within which loose groups share it, relative to the bandwidth; at least half the skin.
    coordinates_per_call : int
        Number of coordinates that one compiled call reads. It takes a fraction of a second, after which Ctrl-C takes
        effect.
    """

    min_groups: int = 256
    skins: tuple[float, ...] = (2.0, 1.0, 0.5, 0.25, 0.1, 0.0)
    max_growth: float = 1.25
    max_share: float = 0.5
    max_entries: int = 1 << 25
    rebuild_cost: float = 1.0
    max_anchors: int = 64
    anchor_span: float = 0.2
    coordinates_per_call: int = 200_000_000


DEFAULT = ListConfig()


def pair_cost(d: int) -> float:
    """Return the cost of one entry of a matrix product, as a multiple of one distance; measured for d = 4 to 512."""
    return 0.1 + 2.0 / (d + 4)
