"""Fits that need more memory than there is are refused before they start."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from modeseek import BlurringMeanShift, DoublyStochasticMeanShift, MeanShift, ModeSeek, StochasticMeanShift
from modeseek._common.resources import NotEnoughMemory, limit_memory
from modeseek.estimators.fit_input import data_from_rows

FITS = {
    "D": DoublyStochasticMeanShift(0.5, 2.0, 1.0, random_state=0, max_updates=3000),
    "D4": DoublyStochasticMeanShift(0.5, 2.0, 1.0, random_state=0, max_updates=3000, n_chains=4, record="snapshots"),
    "S": StochasticMeanShift(1.0, random_state=0, max_updates=3000, local_scale=True),
    "B": BlurringMeanShift(1.0, max_updates=3000),
    "M": MeanShift(1.0, max_iter=2),
    "K": ModeSeek(random_state=0),
}


def rows(n: int, d: int, dtype: type = np.float64) -> np.ndarray:
    rng = np.random.default_rng(0)  # the same rows in any order of tests: the candidates of ModeSeek depend on them
    return (rng.normal(size=(n, d)) + 4 * rng.integers(0, 5, size=(n, 1))).astype(dtype)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", FITS)
@pytest.mark.parametrize("d", [2, pytest.param(20, marks=pytest.mark.slow)])
def test_bounds_hold_and_are_not_too_large(name, d):
    X, model = rows(600, d), FITS[name]
    model.fit(X)  # compiles
    tracemalloc.start()
    try:
        model.fit(X)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    estimate = model._memory(*X.shape, X.itemsize)
    assert peak <= estimate + 3e6  # pieces that do not grow with n: 2.4 MB in ModeSeek
    assert estimate <= 20 * peak


@pytest.mark.parametrize("name", FITS)
def test_the_error_names_the_need_and_the_alternatives(name):
    model, X = FITS[name], rows(400, 3)
    fresh = type(model)(**model.get_params())
    with (
        limit_memory(1e5),
        pytest.raises(NotEnoughMemory, match=r"400 rows in 3 dimensions needs about .* but 0\.1 MB") as e,
    ):
        fresh.fit(X)
    assert "sketch=" in str(e.value)
    assert "float32" in str(e.value)
    assert "Dask" in str(e.value)
    assert not hasattr(fresh, "labels_")
    with limit_memory(1e5), pytest.raises(NotEnoughMemory) as e:
        fresh.fit(X.astype(np.float32))
    assert "float32" not in str(e.value)


def test_a_sketch_needs_less_memory():
    """A fit of a million rows is refused; a fit of their sketch is not."""
    model = StochasticMeanShift(1.0, random_state=0, sketch="grid")
    n = 10**6
    with limit_memory(1e9), pytest.raises(NotEnoughMemory, match="1,000,000 rows"):
        data_from_rows(StochasticMeanShift(1.0, sketch=None), np.empty((n, 2)), np.ones(n), None, None)
    with limit_memory(4e8):
        model.fit(rows(3000, 2))
    with limit_memory(1e7), pytest.raises(NotEnoughMemory, match="partial_fit"):
        model.fit(rows(3000, 2))
