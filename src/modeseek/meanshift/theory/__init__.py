"""The theory of the paper as checks: which statements are proven for a set-up, and each statement on given states."""

from modeseek.meanshift.theory.coverage import STATEMENTS, Cell, Coverage, proven
from modeseek.meanshift.theory.simulation import (
    AbsorbedShares,
    GradientPaths,
    Lemma1,
    Submartingale,
    gradient_paths,
    lemma1,
    simulate_absorption,
    submartingale,
    walk_paths,
)
from modeseek.meanshift.theory.statements import (
    Proposition1,
    Theorem1,
    Theorem2,
    gradient_error,
    gradient_norms,
    hull_distance,
    partition_stays,
    proposition1,
    theorem1,
    theorem2,
)

__all__ = [
    "STATEMENTS",
    "AbsorbedShares",
    "Cell",
    "Coverage",
    "GradientPaths",
    "Lemma1",
    "Proposition1",
    "Submartingale",
    "Theorem1",
    "Theorem2",
    "gradient_error",
    "gradient_norms",
    "gradient_paths",
    "hull_distance",
    "lemma1",
    "partition_stays",
    "proposition1",
    "proven",
    "simulate_absorption",
    "submartingale",
    "theorem1",
    "theorem2",
    "walk_paths",
]
