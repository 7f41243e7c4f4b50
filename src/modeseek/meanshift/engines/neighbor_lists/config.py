"""Settings of the neighbour lists."""

from dataclasses import dataclass


@dataclass(frozen=True)
class ListConfig:
    """When lists are built, and how large they are. The values affect speed and memory, not results.

    Attributes
    ----------
    min_groups : int
        With at most this many groups, every group is visited.
    skins : tuple of float
        Candidates for the skin, the part of the radius beyond the bandwidth, relative to the bandwidth. The widest
        skin that respects the following limits is used.
    max_growth : float
        A skin must not multiply the length of the lists by more than this.
    max_share : float
        Lists must not hold more than this share of all pairs.
    max_entries : int
        Most entries of all lists. Lists are concatenated at the end, which takes 256 MB for 2**25 entries.
    rebuild_cost : float
        Lists are rebuilt once loose groups have cost this many times as much as building the lists.
    max_anchors : int
    anchor_span : float
        Distance from an anchor within which loose groups share it, relative to the bandwidth; at least half the skin.
    coordinates_per_call : int
        Coordinates read per compiled call: a fraction of a second, after which Ctrl-C takes effect.
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
    """Return the cost of a pair in a matrix product, in distances; measured for d = 4 to 512."""
    return 0.1 + 2.0 / (d + 4)
