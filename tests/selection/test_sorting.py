"""Sorting by digits gives the order of NumPy's stable sorts."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from modeseek.selection.sorting import LEAST_LENGTH, ascending, ascending_integers


@pytest.mark.parametrize("n", [0, 1, LEAST_LENGTH - 1, LEAST_LENGTH, 5 * LEAST_LENGTH])
@pytest.mark.parametrize("digits", [1, 12])
def test_numbers(n, digits):
    values = np.random.default_rng(n).normal(size=n).round(digits) * 1e3
    values[::7], values[3::11] = np.inf, -np.inf
    values[1::5], values[2::5] = 0.0, -0.0
    assert_array_equal(ascending(values), np.argsort(values, kind="stable"))


@pytest.mark.parametrize("bound", [1, 2, 3000, 1 << 11, 1 << 40])
def test_integers(bound):
    values = np.random.default_rng(0).integers(0, bound, 2 * LEAST_LENGTH)
    assert_array_equal(ascending_integers(values, bound), np.argsort(values, kind="stable"))
