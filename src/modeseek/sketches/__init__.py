"""Many rows: weighted points that stand for them, made in one pass, in parts and in any order."""

from modeseek.sketches.blocks import Labeler
from modeseek.sketches.dask_input import DaskError, DaskRows, dask_errors, is_dask, joblib_on_dask
from modeseek.sketches.grid import Grid, GridCells
from modeseek.sketches.sample import Sample
from modeseek.sketches.sketch import LAYOUT_ROWS, Sketch, SketchLayout, SketchPoints

__all__ = [
    "LAYOUT_ROWS",
    "DaskError",
    "DaskRows",
    "Grid",
    "GridCells",
    "Labeler",
    "Sample",
    "Sketch",
    "SketchLayout",
    "SketchPoints",
    "dask_errors",
    "is_dask",
    "joblib_on_dask",
]
