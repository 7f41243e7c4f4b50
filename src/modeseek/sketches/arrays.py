"""Conversion of sketches to named arrays and back, for files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from modeseek.sketches.grid import Grid, GridCells
from modeseek.sketches.sample import Sample
from modeseek.sketches.sketch import Sketch

__all__ = ["sketch_arrays", "sketch_from_arrays"]


def sketch_arrays(sketch: Sketch) -> dict[str, NDArray[Any]]:
    """Return the contents of a sketch as named arrays.

    Examples
    --------
    >>> from modeseek.sketches import SketchLayout
    >>> rows = np.random.default_rng(0).normal(size=(100, 2))
    >>> sketch = SketchLayout.of(rows).empty().add(rows)
    >>> back = sketch_from_arrays(sketch_arrays(sketch))
    >>> bool((back.cells.sums == sketch.cells.sums).all()), back.cells.grid == sketch.cells.grid, back.weight
    (True, True, 100.0)
    """
    sample, cells = sketch.sample, sketch.cells
    arrays: dict[str, NDArray[Any]] = {
        "sample_size": np.array(sample.size),
        "sample_keys": sample.keys,
        "sample_rows": sample.rows,
        "sample_counts": sample.counts,
        "weight": np.array(sample.weight),
    }
    if cells is not None:
        arrays |= {
            "grid": np.array([cells.grid.exponent, cells.grid.limit, cells.level]),
            "offset": np.array(cells.grid.offset, np.int64),
            "keys": cells.keys,
            "counts": cells.counts,
            "sums": cells.sums,
        }
    return arrays


def sketch_from_arrays(arrays: Mapping[str, NDArray[Any]]) -> Sketch:
    """Return the sketch with the given contents, as returned by `sketch_arrays`."""
    sample = Sample(
        int(arrays["sample_size"]),
        arrays["sample_keys"],
        arrays["sample_rows"],
        arrays["sample_counts"],
        float(arrays["weight"]),
    )
    if "grid" not in arrays:
        return Sketch(None, sample)
    exponent, limit, level = (int(value) for value in arrays["grid"])
    grid = Grid(exponent, tuple(int(value) for value in arrays["offset"]), limit)
    return Sketch(GridCells(grid, level, arrays["keys"], arrays["counts"], arrays["sums"]), sample)
