from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from numpy.testing import assert_allclose

from inputs import states
from modeseek.meanshift import objective
from modeseek.meanshift.kernels.profiles import PROFILES


def naive_objective(points, h, profile):
    n = len(points)
    return sum(
        float(profile.k(np.array([np.square((points[i] - points[j]) / h).sum()]))[0])
        for i in range(n)
        for j in range(i, n)
    )


@pytest.mark.parametrize("profile", PROFILES.values(), ids=PROFILES)
def test_objective_is_the_sum_over_pairs(profile, rng):
    points = rng.normal(size=(12, 3))
    assert_allclose(objective.objective(points, 1.5, profile=profile), naive_objective(points, 1.5, profile))


@pytest.mark.parametrize("function", ["objective", "density", "shift", "kernel_mass"])
def test_weights_are_copies(function, rng):
    points, weights = rng.normal(size=(8, 2)), rng.integers(1, 4, 8)
    copies = np.repeat(points, weights, axis=0)
    f = getattr(objective, function)
    if function == "objective":
        assert_allclose(f(points, 1.0, weights=weights), f(copies, 1.0))
    else:
        assert_allclose(f(points, points, 1.0, weights=weights), f(points, copies, 1.0))


def test_gradient_of_a_weighted_point_is_that_of_its_copies_together(rng):
    points, weights = rng.normal(size=(8, 2)), rng.integers(1, 4, 8)
    copies = np.repeat(points, weights, axis=0)
    per_copy = objective.gradient(copies, 1.0)
    summed = np.add.reduceat(per_copy, np.concatenate([[0], np.cumsum(weights)[:-1]]))
    assert_allclose(objective.gradient(points, 1.0, weights=weights), summed, atol=1e-12)


@given(states(dimensions=(1, 2, 5)))
def test_the_shift_is_a_scaled_block_gradient(state):
    # equation (step of SMS): shift = h^2 / 2 / sum_j G * gradient, per unit of the moving weight
    h, w = state.h, state.weights
    mass = objective.kernel_mass(state.points, state.points, h, weights=w)
    blocks = objective.gradient(state.points, h, weights=w) / w[:, None]
    vector = objective.shift_vector(state.points, state.points, h, weights=w)
    assert_allclose(vector, h**2 / 2 / mass[:, None] * blocks, atol=1e-12 * h)


def test_block_gradient_and_max_norm(rng):
    points = rng.normal(size=(6, 2))
    blocks = objective.gradient(points, 1.0)
    for i in range(6):
        assert_allclose(objective.block_gradient(i, points, 1.0), blocks[i])
    assert_allclose(objective.max_norm(blocks), max(np.linalg.norm(block) for block in blocks))


def test_density_integrates_to_a_constant(rng):
    points, grid = rng.normal(size=(20, 1)), np.linspace(-8, 8, 20001)
    # integral of (1 - u^2)^2 over [-1, 1] is 16 / 15, for every h
    for h in (0.5, 1.0, 2.0):
        values = objective.density(grid[:, None], points, h)
        assert_allclose(values.sum() * (grid[1] - grid[0]), 16 / 15, rtol=1e-4)


def test_one_query_or_many(rng):
    points = rng.normal(size=(9, 2))
    assert objective.shift(points[0], points, 1.0).shape == (2,)
    assert_allclose(objective.shift(points[0], points, 1.0), objective.shift(points, points, 1.0)[0])


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda: objective.objective([[0.0]], -1.0), "h must be"),
        (lambda: objective.objective([[np.nan]], 1.0), "NaN"),
        (lambda: objective.objective([[0.0]], 1.0, weights=[-1.0]), "sample_weight"),
        (lambda: objective.shift([0.0, 1.0], [[0.0]], 1.0), "coordinates"),
        (lambda: objective.objective([[0.0]], 1.0, profile="flatt"), "Did you mean 'flat'"),
    ],
)
def test_bad_input(call, match):
    with pytest.raises(ValueError, match=match):
        call()
