"""Coincident points are summed as one, up to rounding and no further."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from modeseek._common.types import Geometry
from modeseek.meanshift.bandwidth import DrawPlan, Uniform
from modeseek.meanshift.engines import ENGINES
from modeseek.meanshift.engines.coincident_points import find_coincident
from modeseek.meanshift.kernels.profiles import BIWEIGHT, FLAT
from modeseek.meanshift.types import Draws

COLLAPSING = ("brute", "neighbor_lists")


def clumps(rng, n, d, k, dtype=np.float64, spread=1.0):
    """Points in k clumps, each within a unit in the last place."""
    centres = rng.normal(size=(k, d)) * spread
    eps = np.finfo(dtype).eps
    points = centres[rng.integers(0, k, n)] * (1.0 + 0.5 * eps * rng.integers(-1, 2, size=(n, d)))
    return points.astype(dtype)


def pair(name, points, weights, profile=BIWEIGHT, geometry=None):
    geometry = geometry or Geometry()
    return [ENGINES[engine].open(points, weights, profile, geometry, None) for engine in ("reference", name)]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("d", [1, 2, 16, 300])
def test_clumps_are_found(d, dtype, rng):
    points = clumps(rng, 400, d, 5, dtype)
    groups = find_coincident(points)
    assert len(groups.leaders) == 5
    assert_allclose(points[groups.leaders][groups.group], points, rtol=0, atol=4 * np.finfo(dtype).eps * 5)
    assert_allclose(groups.sum_weights(np.full(400, 0.5)).sum(), 200)


def test_points_that_differ_by_more_than_rounding_are_not_merged(rng):
    points = np.repeat(rng.normal(size=(20, 3)), 5, axis=0)
    points[1::5, 2] += 1e-12  # thousands of units in the last place, and far below any tolerance of clustering
    groups = find_coincident(points)
    assert len(groups.leaders) == 40
    assert find_coincident(rng.normal(size=(100, 3))) is None


def test_an_outlier_does_not_merge_the_rest():
    """A tolerance relative to the largest coordinate of the state would merge them."""
    points = np.repeat(np.linspace(1.0, 1.0 + 1e-9, 50)[:, None], 2, axis=0)
    points[-1] = 1e12
    assert len(find_coincident(points).leaders) == 51


def test_few_points_are_not_merged():
    assert find_coincident(np.zeros((10, 2))) is None


@pytest.mark.parametrize("single", [False, pytest.param(True, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", COLLAPSING)
@given(
    d=st.sampled_from([2, 5, 16, 300]),
    n=st.integers(40, 150),
    k=st.integers(1, 9),
    seed=st.integers(0, 2**32 - 1),
    weighted=st.booleans(),
    cosine=st.booleans(),
)
@settings(max_examples=15)
def test_clumps_move_as_in_the_reference(name, d, n, k, seed, weighted, single, cosine):
    rng = np.random.default_rng(seed)
    dtype, tolerance = (np.float32, 1e-5) if single else (np.float64, 1e-9)
    points = clumps(rng, n, d, k, dtype)
    if cosine:
        points = (points + np.sign(points)) / np.linalg.norm(points + np.sign(points), axis=1, keepdims=True)
        points = points.astype(dtype)
    # a few stragglers on the way
    points[: n // 8] = points[rng.integers(0, n, n // 8)] * dtype(0.9 if not cosine else 1)
    weights = rng.integers(1, 4, n) * 1.0 if weighted else np.ones(n)
    h = 1.0 if cosine else float(np.sqrt(d))
    slow, fast = pair(name, points, weights, geometry=Geometry("cosine" if cosine else "euclidean"))
    plan = DrawPlan(weights, Uniform(0.5 * h, 1.5 * h), seed=seed)
    for sweep in range(3):
        draws = plan.sweep(sweep, h).draws
        assert_allclose(slow.shift_each(draws), fast.shift_each(draws), rtol=0, atol=tolerance * h)
        assert_allclose(slow.points, fast.points, rtol=0, atol=tolerance * h)
        queries = slow.points
        assert_allclose(slow.shift_all(queries, h), fast.shift_all(queries, h), rtol=0, atol=2 * tolerance * h)
    assert fast.points.dtype == dtype


@pytest.mark.parametrize("name", COLLAPSING)
@pytest.mark.parametrize("d", [2, 16])
def test_an_update_costs_one_distance_per_clump(name, d, rng):
    n = 10_000
    workspace = ENGINES[name].open(clumps(rng, n, d, 5, spread=10.0), np.ones(n), BIWEIGHT, Geometry(), None)
    workspace.shift_each(Draws(rng.integers(0, n, n), np.full(n, 1.0)))
    assert n <= workspace.evaluations <= 6 * n
    before = workspace.evaluations
    workspace.shift_all(workspace.points, 1.0)
    assert workspace.evaluations - before <= 100  # five queries against five sites


@pytest.mark.parametrize("name", COLLAPSING)
def test_groups_that_run_out_of_capacity_are_merged_again(name, rng):
    """Every point of the clump repeatedly moves to a new position."""
    n = 400
    points = np.zeros((n, 2))
    points[:, 0] = 1.0
    points[-1] = 1.9, 0.0
    slow, fast = pair(name, points, np.ones(n))
    draws = Draws(rng.integers(0, n - 1, 4 * n), np.full(4 * n, 1.0))
    assert_allclose(slow.shift_each(draws), fast.shift_each(draws), rtol=0, atol=1e-9)
    assert_allclose(slow.points, fast.points, rtol=0, atol=1e-9)


@pytest.mark.parametrize("name", COLLAPSING)
def test_a_group_keeps_the_weight_of_its_remaining_points(name):
    """Subtracting a large weight from that of a group would leave its rounding error instead of the small weight."""
    points, weights = np.zeros((64, 1)), np.ones(64)
    points[1], points[40:] = 1.0, -0.2
    weights[:2] = 1e18
    slow, fast = pair(name, points, weights, FLAT)
    draws = Draws(np.r_[0, np.arange(2, 64)], np.r_[1.2, np.full(62, 0.3)])  # the heavy one leaves, then the light
    assert_allclose(slow.shift_each(draws), fast.shift_each(draws), rtol=0, atol=1e-9)
    assert_allclose(slow.points, fast.points, rtol=0, atol=1e-9)


@pytest.mark.parametrize("name", COLLAPSING)
@pytest.mark.parametrize("batch_size", [50, 300])
def test_batches_of_clumps(name, batch_size, rng):
    points = clumps(rng, 300, 5, 4)
    slow, fast = pair(name, points, np.ones(300))
    plan = DrawPlan(np.ones(300), Uniform(1.0, 3.0), seed=1, batch_size=batch_size)
    for sweep in range(2):
        draws = plan.sweep(sweep, 2.0).draws
        assert_allclose(slow.shift_each(draws), fast.shift_each(draws), rtol=0, atol=1e-9)
        assert_allclose(slow.points, fast.points, rtol=0, atol=1e-9)


@pytest.mark.parametrize("name", COLLAPSING)
def test_a_clump_that_does_not_move_stays_exactly(name, rng):
    points = np.repeat(rng.normal(size=(4, 6)) * 10, 30, axis=0)
    workspace = ENGINES[name].open(points, np.ones(120), BIWEIGHT, Geometry(), None)
    lengths = workspace.shift_each(Draws(rng.integers(0, 120, 500), np.full(500, 0.5)))
    assert_array_equal(lengths, 0)
    assert_array_equal(workspace.points, points)
    assert_array_equal(workspace.shift_all(points, 0.5), points)


@pytest.mark.parametrize("name", COLLAPSING)
def test_queries_of_several_bandwidths_are_not_merged(name, rng):
    points = rng.normal(size=(80, 2))
    queries = np.repeat(points[:1], 60, axis=0)
    h = np.linspace(0.5, 2.0, 60)
    slow, fast = pair(name, points, np.ones(80))
    assert_allclose(slow.shift_all(queries, h), fast.shift_all(queries, h), rtol=0, atol=1e-12)
