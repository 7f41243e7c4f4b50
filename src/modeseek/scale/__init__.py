"""Many rows: weighted points that stand for them, made in one pass, in parts and in any order."""

from modeseek.scale.distributed import DaskFailed, Distributed, is_distributed, on_workers, told
from modeseek.scale.grid import Cells, Grid
from modeseek.scale.parts import Labeller
from modeseek.scale.sample import Sample
from modeseek.scale.stored import survey_arrays, survey_from
from modeseek.scale.summary import FIRST, Plan, Summary, Survey

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
