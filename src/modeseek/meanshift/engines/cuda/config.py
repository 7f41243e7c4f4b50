"""Settings of the CUDA engine."""

from dataclasses import dataclass


@dataclass(frozen=True)
class CudaConfig:
    """When the GPU is used, and how. The values affect speed, not results.

    Attributes
    ----------
    min_chains, max_points : int
        "auto" uses the GPU only for at least this many chains of at most this many points.
    min_cpu_seconds : float
        "auto" uses the GPU only if all cores of the CPU together would need longer than this.
    sweeps_per_chain, pairs_per_second, seconds_per_update : float
        Rough numbers to estimate the time of the CPU: length of a chain, speed of one core, and longest time of an
        update.
    min_pairs_for_cells : int
        Smallest number of query-point pairs for which simultaneous shifts use the cells of a grid.
    cells_per_bandwidth : int or None
        Fineness of the grid; None chooses it from the density of the points.
    """

    min_chains: int = 64
    max_points: int = 10_000
    min_cpu_seconds: float = 60.0
    sweeps_per_chain: float = 40
    pairs_per_second: float = 3e9
    seconds_per_update: float = 5e-7
    min_pairs_for_cells: int = 1 << 28
    cells_per_bandwidth: int | None = None


DEFAULT = CudaConfig()
