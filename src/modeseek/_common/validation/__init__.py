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
    MAX_EXTENT,
    MIN_EXTENT,
    Points,
    canonical_points,
    check_state,
    check_weights,
    hash_rows,
    sorted_unique_rows,
    unique_rows,
    unit_rows,
)

__all__ = [
    "MAX_EXTENT",
    "METRICS",
    "MIN_EXTENT",
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
    "hash_rows",
    "seed_of",
    "sorted_unique_rows",
    "unique_rows",
    "unit_rows",
]
