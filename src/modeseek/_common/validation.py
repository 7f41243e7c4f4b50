"""Checks of arguments: numbers, choices, ranges, seeds, callbacks, arrays and weights."""

from collections.abc import Iterable
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from modeseek._common.hints import did_you_mean
from modeseek._common.points import needed_precision
from modeseek._common.types import Array

METRICS = ("euclidean", "cosine", "haversine")
# for weights in this range, products of weights and squared coordinates neither overflow nor vanish
MIN_WEIGHT = 1e-100
MAX_WEIGHT = 1e100


def check_choice(name: str, value: object, choices: Iterable[str]) -> str:
    """Check that an option has one of the given values."""
    choices = list(choices)
    if not isinstance(value, str) or value not in choices:
        words = ", ".join(repr(word) for word in choices)
        raise ValueError(f"{name} must be one of {words}; got {value!r}.{did_you_mean(value, choices)}")
    return value


def check_number(name: str, value: Any, *, low: float = 0.0, strict: bool = True) -> float:
    """Check that an option is a finite number above `low`, or at least `low` if not strict."""
    sign = ">" if strict else ">="
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{name} must be a number {sign} {low:g}; got {value!r}.")
    number = float(value)
    if not np.isfinite(number) or number < low or (strict and number == low):
        raise ValueError(f"{name} must be a finite number {sign} {low:g}; got {value!r}.")
    return number


def check_integer(name: str, value: Any, *, low: int) -> int:
    """Check that an option is an integer of at least `low`."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise TypeError(f"{name} must be a whole number >= {low}; got {value!r}.")
    if value < low:
        raise ValueError(f"{name} must be a whole number >= {low}; got {value!r}.")
    return int(value)


def check_jobs(n_jobs: Any) -> None:
    """Check a number of threads, as in joblib: -1 is all cores, None is joblib's default."""
    if n_jobs is not None and (isinstance(n_jobs, bool) or not isinstance(n_jobs, Integral) or n_jobs == 0):
        raise ValueError(f"n_jobs must be None, a number of threads, or -1 for all cores; got {n_jobs!r}.")


def check_callbacks(callbacks: Any) -> list[Any]:
    """Check that callbacks are a sequence of functions, and return them as a list; None gives an empty list."""
    if callbacks is None:
        return []
    if callable(callbacks):
        raise TypeError("callbacks must be a list of functions, not a function: write callbacks=[...].")
    functions = list(callbacks) if isinstance(callbacks, Iterable) else [None]
    if not all(map(callable, functions)):
        raise TypeError(f"callbacks must be a list of functions f(state, info); got {callbacks!r}.")
    return functions


def check_range(h_min: float, h_max: float, h_inf: float | None) -> tuple[float, float, float | None]:
    """Check that 0 < h_min <= h_inf <= h_max, where h_inf may be None."""
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
    """Check that tau, the distance within which points share a cluster, is below h_min / 2; None gives h_min / 4."""
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
    """Convert any `random_state` of scikit-learn to a 64-bit seed; an integer is returned unchanged."""
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


def check_state(points: ArrayLike, *, name: str = "points") -> Array:
    """Check an array of points and return it as float64 or float32, with shape (n, d).

    Single precision becomes double precision where squares would overflow or vanish.
    """
    from sklearn.utils.validation import check_array  # imported late to keep `modeseek --help` fast

    state = check_array(masked_as_nan(points), dtype=[np.float64, np.float32], input_name=name)
    return state.astype(needed_precision(float(np.abs(state).max()), state.dtype), copy=False)


def masked_as_nan(values: Any) -> Any:
    """Return a masked array as an ordinary array with NaN for masked values; return other objects unchanged.

    Without this function, NumPy would use the values that the mask hides.
    """
    if not np.ma.isMaskedArray(values):
        return values
    if not np.ma.is_masked(values) or values.dtype.kind not in "biuf":
        return np.ma.filled(values)
    kept = values.dtype if values.dtype.kind == "f" else np.float64
    return np.ma.filled(values.astype(kept), np.nan)


def check_weights(sample_weight: ArrayLike | None, n: int, *, some: bool = True) -> Array:
    """Check the weights of n rows; None gives weights of 1. With `some`, at least one must be positive."""
    if sample_weight is None:
        return np.ones(n)
    if isinstance(sample_weight, Real):
        weights = np.full(n, float(sample_weight))
    else:
        try:
            weights = np.asarray(masked_as_nan(sample_weight), dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise ValueError(f"sample_weight must be {n} numbers, one for each row of X: {error}") from None
    if weights.ndim != 1:
        raise ValueError(f"Sample weights must be 1D array or scalar; sample_weight has shape {weights.shape}.")
    if len(weights) != n:
        raise ValueError(f"sample_weight.shape == {weights.shape}, expected {(n,)}: give one weight for each row of X.")
    if not np.isfinite(weights).all():
        raise ValueError("sample_weight contains NaN or infinity: give finite weights. A weight of 0 leaves a row out.")
    if (weights < 0).any():
        row = int(np.argmax(weights < 0))
        raise ValueError(
            f"sample_weight must not be negative, but row {row} has {weights[row]:g}: use 0 to leave a row out."
        )
    extreme = ((weights > 0) & (weights < MIN_WEIGHT)) | (weights > MAX_WEIGHT)
    if extreme.any():
        row = int(np.argmax(extreme))
        raise ValueError(
            f"sample_weight must be 0 or between {MIN_WEIGHT:g} and {MAX_WEIGHT:g}, but row {row} has "
            f"{weights[row]:g}: divide all weights by one number; only their ratios matter."
        )
    if some and not (weights > 0).any():
        raise ValueError("sample_weight is zero for every row: give at least one row a positive weight.")
    return weights
