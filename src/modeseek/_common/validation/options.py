"""Options: numbers, words, ranges, seeds, callbacks."""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Integral, Real
from typing import Any

import numpy as np

from modeseek._common.hints import did_you_mean

__all__ = [
    "METRICS",
    "check_callbacks",
    "check_choice",
    "check_integer",
    "check_jobs",
    "check_number",
    "check_range",
    "check_tau",
    "seed_of",
]

METRICS = ("euclidean", "cosine")


def check_choice(name: str, value: object, choices: Iterable[str]) -> str:
    """Check that an option is one of some words; the error names the nearest."""
    choices = list(choices)
    if not isinstance(value, str) or value not in choices:
        words = ", ".join(repr(word) for word in choices)
        raise ValueError(f"{name} must be one of {words}; got {value!r}.{did_you_mean(value, choices)}")
    return value


def check_number(name: str, value: Any, *, low: float = 0.0, strict: bool = True) -> float:
    """Check that an option is a finite number above `low` (or at it, where not strict)."""
    sign = ">" if strict else ">="
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{name} must be a number {sign} {low:g}; got {value!r}.")
    number = float(value)
    if not np.isfinite(number) or number < low or (strict and number == low):
        raise ValueError(f"{name} must be a finite number {sign} {low:g}; got {value!r}.")
    return number


def check_integer(name: str, value: Any, *, low: int) -> int:
    """Check that an option is a whole number of at least `low`."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise TypeError(f"{name} must be a whole number >= {low}; got {value!r}.")
    if value < low:
        raise ValueError(f"{name} must be a whole number >= {low}; got {value!r}.")
    return int(value)


def check_jobs(n_jobs: Any) -> None:
    """Check a number of threads as joblib counts them: -1 for all cores, None for joblib's own default."""
    if n_jobs is not None and (isinstance(n_jobs, bool) or not isinstance(n_jobs, Integral) or n_jobs == 0):
        raise ValueError(f"n_jobs must be None, a number of threads, or -1 for all cores; got {n_jobs!r}.")


def check_callbacks(callbacks: Any) -> list[Any]:
    """Check that callbacks are a sequence of functions; return them as a list, which None leaves empty."""
    if callbacks is None:
        return []
    if callable(callbacks):
        raise TypeError("callbacks must be a list of functions, not a function: write callbacks=[...].")
    functions = list(callbacks) if isinstance(callbacks, Iterable) else [None]
    if not all(map(callable, functions)):
        raise TypeError(f"callbacks must be a list of functions f(state, info); got {callbacks!r}.")
    return functions


def check_range(h_min: float, h_max: float, h_inf: float | None) -> tuple[float, float, float | None]:
    """Check 0 < h_min <= h_inf <= h_max (h_inf may be None)."""
    h_min, h_max = check_number("h_min", h_min), check_number("h_max", h_max)
    if h_min > h_max:
        raise ValueError(f"h_min must not exceed h_max; got h_min={h_min:g} > h_max={h_max:g}: swap them.")
    if h_inf is not None:
        h_inf = check_number("h_inf", h_inf)
        if not h_min <= h_inf <= h_max:
            raise ValueError(
                f"h_inf must lie in [h_min, h_max] = [{h_min:g}, {h_max:g}]; got {h_inf:g}: "
                "widen the range or move h_inf."
            )
    return h_min, h_max, h_inf


def check_tau(tau: float | None, h_min: float) -> float:
    """Check the distance at which clusters are read off; None means h_min / 4, and h_min / 2 is too much."""
    if tau is None:
        return h_min / 4
    tau = check_number("tau", tau)
    if tau >= h_min / 2:
        raise ValueError(
            f"tau must be below h_min / 2 = {h_min / 2:g} (Theorem 2); got {tau:g}: "
            "take a smaller tau or a larger h_min."
        )
    return tau


def seed_of(random_state: Any) -> int:
    """Turn any random_state of scikit-learn into the 64-bit seed of the draws; a whole number is itself."""
    if isinstance(random_state, Integral) and not isinstance(random_state, bool):
        seed = int(random_state)
        if not 0 <= seed < 2**64:
            raise ValueError(f"random_state must be in [0, 2**64); got {seed}.")
        return seed
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**63))
    if random_state is None:
        return int(np.random.SeedSequence().generate_state(1, np.uint64)[0])
    from sklearn.utils import check_random_state

    if not isinstance(random_state, np.random.RandomState) and random_state is not np.random:
        raise ValueError(
            f"random_state must be None, a whole number, or a NumPy Generator or RandomState; got {random_state!r}."
        )
    return int(check_random_state(random_state).randint(2**31 - 1))
