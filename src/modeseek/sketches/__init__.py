"""Many rows: weighted points that stand for them, made in one pass, in parts and in any order."""

from modeseek.sketches.distributed import DaskFailed, Distributed, is_distributed, on_workers, told
from modeseek.sketches.grid import Cells, Grid
from modeseek.sketches.parts import Labeller
from modeseek.sketches.sample import Sample
from modeseek.sketches.stored import survey_arrays, survey_from
from modeseek.sketches.summary import FIRST, Plan, Summary, Survey

__all__ = [
    "FIRST",
    "Cells",
    "DaskFailed",
    "Distributed",
    "Grid",
    "Labeller",
    "Plan",
    "Sample",
    "Summary",
    "Survey",
    "is_distributed",
    "on_workers",
    "survey_arrays",
    "survey_from",
    "told",
]
