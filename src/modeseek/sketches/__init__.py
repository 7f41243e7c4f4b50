"""Sketches of many rows: weighted points that stand for them, built in one pass, in chunks and in any order."""

from modeseek.sketches.dask_rows import DaskError, DaskRows, dask_errors, is_dask, joblib_on_dask
from modeseek.sketches.grid import Grid, GridCells
from modeseek.sketches.sample import Sample
from modeseek.sketches.sketch import Sketch, SketchConfig, SketchLayout, SketchPoints

__all__ = [
    "DaskError",
    "DaskRows",
    "Grid",
    "GridCells",
    "Sample",
    "Sketch",
    "SketchConfig",
    "SketchLayout",
    "SketchPoints",
    "dask_errors",
    "is_dask",
    "joblib_on_dask",
]
