"""What a fit will take of memory, before it does."""

from __future__ import annotations

from typing import Any

from modeseek._common.resources import check_memory
from modeseek.meanshift.chains import as_record

__all__ = ["check_fit", "fit_memory"]

# bytes for each point, whatever its dimension: order, weights, draws, cells of a tree, labels; measured and rounded up
# (benchmarks/memory.py)
PER_POINT, PER_POINT_OF_CHAIN, PER_POINT_OF_CHOICE = 1400, 200, 9000
# copies of the data: in double precision while points are put in order, and as states of the run
COPIES, STATES, OF_A_CHAIN = 4, 9, 4
# neighbour lists, 2^25 entries of four bytes held twice, and blocks of distances; a square of clumps, and its copy
LISTS, SQUARE = 3.4e8, 1.2e8
# blocks of distances where no tree helps: 32 MB, their order, and what is taken out of them
BLOCKS = 1.3e8
# a summary: rows once more, a hash and a weight of each; its table of cells
PER_ROW, TABLE = 80, 6e7


def fit_memory(estimator: Any, n: int, d: int, itemsize: int = 8) -> float:
    """Return about how many bytes a fit of n distinct rows needs beside the rows themselves, every row taken.

    Rather too many than too few: up to several times what it turns out to be, for small data.

    Examples
    --------
    >>> from modeseek import DoublyStochasticMeanShift
    >>> 1e9 < fit_memory(DoublyStochasticMeanShift(), 1_000_000, 2) < 3e9
    True
    """
    plain = float(n) * (PER_POINT + d * (8 * COPIES + itemsize * STATES))
    plain += min(BLOCKS, 30.0 * n * n) if d > 3 else 0.0
    if not hasattr(estimator, "engine"):
        return plain + float(n) * (PER_POINT_OF_CHOICE + 8 * COPIES * d)
    chains = getattr(estimator, "n_chains", 1)
    several = chains if isinstance(chains, int) and chains > 1 else 0
    need = plain + several * n * (PER_POINT_OF_CHAIN + d * itemsize * OF_A_CHAIN)
    need += min(LISTS, 12.0 * n * n) if d > 3 else 0.0
    need += min(SQUARE, 30.0 * n * n) if several else 0.0
    return need + _snapshots(estimator, n, d)


def check_fit(estimator: Any, n: int, d: int, itemsize: int, *, sketch: bool = False) -> None:
    """Refuse a fit that needs more memory than there is, with the figure and the alternatives.

    Raises
    ------
    NotEnoughMemory
    """
    name = type(estimator).__name__
    if sketch:
        # rows are looked at once, and none of them is kept
        need = float(n) * (PER_ROW + 16 * d) + TABLE
        what = f"a sketch of {n:,} rows in {d:,} dimensions for {name}"
        instead = "Give them in batches, partial_fit(X) and finalize(), or as a Dask array (docs/how-to-dask.md)."
    else:
        need, what = fit_memory(estimator, n, d, itemsize), f"{name} of {n:,} rows in {d:,} dimensions"
        single = "" if itemsize == 4 else ", X.astype(np.float32)"
        kind = "auto" if hasattr(estimator, "engine") else "sample"
        instead = (
            f'Take sketch="{kind}" (weighted points that stand for the rows){single}, or a Dask array '
            "(docs/how-to-dask.md); modeseek._common.resources.limit_memory(math.inf) tries all the same."
        )
    check_memory(need, what, instead)


def _snapshots(estimator: Any, n: int, d: int) -> float:
    asked = getattr(estimator, "record", None)
    try:
        record = as_record(asked)
    except (TypeError, ValueError):  # what is wrong with it is said where it is used
        return 0.0
    if record.snapshots is None:
        return 0.0
    most = record.snapshot_limit(max(1, n * d))
    # kept as states, put together, and brought back into the rows of the data
    return 3.0 * 8 * most * n * d
