"""Settings of the moment tree."""

from dataclasses import dataclass


@dataclass(frozen=True)
class TreeConfig:
    """When cells are divided and trees are rebuilt. The values affect speed and rounding, not the exact result.

    Attributes
    ----------
    max_cell_points : int
        Cells with more points are divided; visiting a chunk of 16 points takes much less time than visiting a node.
    min_half_sides : tuple of float
        By dimension: cells whose half-side is below this share of the smallest bandwidth are not divided, because the
        sphere of radius h around a query rarely cuts them.
    moves_per_rebuild : tuple of int
        Moves per point after which the tree is rebuilt, before rounding errors of the moments add up. The first
        number is for queries that visit many points, the second for queries that use moments almost only.
    few_evaluations : int
        The second number applies if an update visits at most this number of nodes and points, on average.
    max_growth : float
        The tree is rebuilt if bandwidths have grown by this factor, because larger nodes then need moments.
    min_points : tuple of int
        By dimension: smallest number of points for which "auto" uses the tree; see
        benchmarks/moment_tree_crossover.py.
    min_points_per_moment : int
        "auto" also requires this number of points for each moment of a cell.
    updates_per_call, updates_per_thread : int
        Largest number of updates in one compiled call, and smallest number for a thread. A call takes a fraction of a
        second, after which Ctrl-C takes effect.
    """

    max_cell_points: int = 256
    min_half_sides: tuple[float, ...] = (0.0, 1.0 / 256.0, 1.0 / 16.0, 1.0 / 16.0)
    moves_per_rebuild: tuple[int, int] = (1, 4)
    few_evaluations: int = 50
    max_growth: float = 1.25
    min_points: tuple[int, ...] = (0, 4000, 2000, 2000)
    min_points_per_moment: int = 100
    updates_per_call: int = 50_000
    updates_per_thread: int = 500


DEFAULT = TreeConfig()
