"""Upper bounds on the memory that a fit needs, checked before it starts."""

from dataclasses import dataclass

from modeseek._common.resources import check_memory


@dataclass(frozen=True)
class FitMemory:
    """Upper bound on the bytes that a fit needs in addition to X; benchmarks/memory.py compares it with measurements.

    Attributes
    ----------
    point : float
        Bytes for each distinct row, independent of the number of features.
    coordinate : float
        Memory for each coordinate, as a multiple of the size of a number in X.
    pair : float
        Bytes for each pair of points, in lists of neighbours and blocks of distances; 0 in up to three dimensions,
        where a tree is used.
    pair_limit : float
        Upper bound on the bytes for pairs, which are processed in blocks.

    Examples
    --------
    >>> FitMemory().bytes(1_000_000, 2, 8) < 2e9
    True
    """

    point: float = 1400.0
    coordinate: float = 17.0
    pair: float = 42.0
    pair_limit: float = 4.7e8

    def bytes(self, n: int, d: int, itemsize: int) -> float:
        """Return the bound for n distinct rows of d numbers of `itemsize` bytes."""
        pairs = min(self.pair_limit, self.pair * n * n) if d > 3 else 0.0
        return n * (self.point + self.coordinate * itemsize * d) + pairs


def check_fit_memory(estimator: str, need: float, shape: tuple[int, int], itemsize: int) -> None:
    """Raise `NotEnoughMemory` if a fit of all rows needs more memory than is available."""
    single = "" if itemsize == 4 else ", X.astype(np.float32)"
    check_memory(
        need,
        f"{estimator} of {shape[0]:,} rows in {shape[1]:,} dimensions",
        f'Use sketch="sample" (weighted points that stand for the rows){single}, or a Dask array '
        "(docs/how-to-dask.md). modeseek.limit_memory(math.inf) skips this check.",
    )


def check_sketch_memory(estimator: str, shape: tuple[int, int]) -> None:
    """Raise `NotEnoughMemory` if a sketch of the rows needs more memory than is available."""
    n, d = shape
    check_memory(
        n * (80.0 + 16 * d) + 6e7,  # a copy, a hash and a weight of each row, and the table of cells
        f"a sketch of {n:,} rows in {d:,} dimensions for {estimator}",
        "Pass the rows in batches, partial_fit(X) and finalize(), or as a Dask array (docs/how-to-dask.md).",
    )
