"""The only gate: data, weights, seeds and ranges are checked and put in canonical form here."""

from modeseek._common.validation.options import (
    METRICS,
    check_callbacks,
    check_choice,
    check_integer,
    check_jobs,
    check_number,
    check_range,
    check_tau,
    seed_of,
)
from modeseek._common.validation.points import (
    LONGEST,
    SHORTEST,
    Points,
    canonical_points,
    check_state,
    check_weights,
    distinct_rows,
    row_keys,
    same_rows,
    unit_rows,
)

__all__ = [
    "LONGEST",
    "METRICS",
    "SHORTEST",
    "Points",
    "canonical_points",
    "check_callbacks",
    "check_choice",
    "check_integer",
    "check_jobs",
    "check_number",
    "check_range",
    "check_state",
    "check_tau",
    "check_weights",
    "distinct_rows",
    "row_keys",
    "same_rows",
    "seed_of",
    "unit_rows",
]
