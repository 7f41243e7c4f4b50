"""The moment tree gives the states of `brute`, also in the special cases of its bookkeeping."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from modeseek._common.types import Geometry
from modeseek.meanshift.bandwidth import DrawPlan, Uniform
from modeseek.meanshift.engines import ENGINES, choose
from modeseek.meanshift.engines.moment_tree import MomentTreeEngine
from modeseek.meanshift.engines.moment_tree.config import TreeConfig
from modeseek.meanshift.engines.moment_tree.tree import CHUNK, make_basis
from modeseek.meanshift.kernels.profiles import GAUSSIAN, PROFILES
from modeseek.meanshift.types import Draws

POLYNOMIALS = ["flat", "biweight", "triweight", "quadweight"]
QUICK = {("biweight", 1), ("biweight", 3), ("triweight", 2)}

# few points make a deep tree
SMALL_CELLS = TreeConfig(max_cell_points=12)


def pair(points, weights=None, profile="biweight", config=SMALL_CELLS):
    weights = np.ones(len(points)) if weights is None else weights
    engines = ENGINES["brute"], MomentTreeEngine(config)
    return [engine.open(points, weights, PROFILES[profile], Geometry(), None) for engine in engines]


def sweeps(workspaces, weights, low, high, count, seed=0):
    """Apply the same draws to all workspaces; return the largest difference between their states."""
    plan = DrawPlan(weights, Uniform(low, high), seed=seed)
    worst = 0.0
    for number in range(count):
        draws = plan.sweep(number, low).draws
        for workspace in workspaces:
            workspace.shift_each(draws)
        worst = max(worst, float(np.abs(workspaces[0].points - workspaces[1].points).max()))
    return worst


@pytest.mark.parametrize(
    ("profile", "d"),
    [  # in the quick run each dimension and each order of moments once: every pair compiles kernels of its own
        pytest.param(profile, d, marks=() if (profile, d) in QUICK else pytest.mark.slow)
        for profile in POLYNOMIALS
        for d in (1, 2, 3)
    ],
)
def test_many_points_in_deep_trees(profile, d, rng):
    points = np.concatenate([rng.normal(size=(1500, d)), 0.01 * rng.normal(size=(500, d)) + 3])
    weights = rng.uniform(0.5, 2.0, len(points))
    workspaces = pair(points, weights, profile)
    assert sweeps(workspaces, weights, 0.3, 1.2, 4) < 1e-10
    assert workspaces[1].evaluations < workspaces[0].evaluations / 4


@given(
    seed=st.integers(0, 2**32 - 1),
    d=st.integers(1, 3),
    n=st.integers(1, 400),
    spread=st.sampled_from([1e-9, 1e-3, 1.0, 1e3, 1e9]),
    offset=st.sampled_from([0.0, 1e6]),
)
@settings(max_examples=40)
def test_outliers_scales_offsets_and_clumps(seed, d, n, spread, offset):
    """The tree handles far outliers, offsets and coincident points."""
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(n, d))
    points[: n // 3] *= spread
    points[n // 3 : n // 2] = points[0]
    points += offset
    weights = rng.integers(1, 4, n).astype(float)
    workspaces = pair(points, weights)
    # coordinates of this size carry rounding of their own
    tolerance = 1e-9 + 1e-15 * np.abs(points).max() * 100
    assert sweeps(workspaces, weights, 0.4, 1.6, 3, seed) < tolerance


def test_a_far_outlier_needs_little_memory(rng):
    points = np.concatenate([rng.normal(size=(2000, 2)), [[1e12, -1e12]]])
    workspace = pair(points)[1]
    workspace.shift_all(points[:1], 0.5)
    assert len(workspace._tree.boxes) < 1000


def test_a_cell_that_has_lost_its_weight_is_not_trusted(rng):
    """After a heavy point has left a cell, the moments of the cell are rounding errors."""
    points = np.concatenate([rng.uniform(-0.05, 0.05, size=(200, 2)), [[0.0, 0.0]], rng.normal(size=(200, 2)) + 3])
    weights = np.ones(len(points))
    weights[200] = 1e13
    workspaces = pair(points, weights)
    for workspace in workspaces:
        workspace.shift_all(points[:1], 1.0)
        workspace.place(np.array([200]), np.array([[3.0, 3.0]]))
    slow, fast = (workspace.shift_all(points[:200], 1.0) for workspace in workspaces)
    assert_allclose(fast, slow, atol=1e-9)


def test_batches_keep_the_tree(rng):
    points = rng.normal(size=(600, 2))
    workspaces = pair(points)
    plan = DrawPlan(np.ones(600), Uniform(0.3, 0.9), seed=1, batch_size=25)
    for number in range(3):
        draws = plan.sweep(number, 0.5).draws
        lengths = [workspace.shift_each(draws) for workspace in workspaces]
        assert_allclose(lengths[0], lengths[1], atol=1e-12)
    assert_allclose(workspaces[0].points, workspaces[1].points, atol=1e-12)
    assert workspaces[1]._moves > 0


def test_points_placed_outside_the_root(rng):
    points = rng.normal(size=(300, 2))
    workspaces = pair(points)
    for workspace in workspaces:
        workspace.shift_all(points[:1], 0.5)
        workspace.place(np.array([3, 7]), np.array([[50.0, 50.0], [50.1, 50.0]]))
    slow, fast = (workspace.shift_all(workspace.points, 0.5) for workspace in workspaces)
    assert_allclose(fast, slow, atol=1e-12)


def test_bandwidths_may_grow_and_shrink(rng):
    points = rng.normal(size=(800, 2))
    workspaces = pair(points)
    for h in (0.2, 3.0, 0.05, 100.0, 0.4):
        draws = Draws(rng.integers(0, 800, 400), np.full(400, h))
        for workspace in workspaces:
            workspace.shift_each(draws)
        assert_allclose(workspaces[1].points, workspaces[0].points, atol=1e-11)


def test_rounding_does_not_add_up_over_ten_million_updates(rng):
    """Moments stay accurate even in a tree that is never rebuilt."""
    n, h = 1000, 0.7
    points = rng.normal(size=(n, 2))
    slow, fast = pair(points, config=replace(SMALL_CELLS, moves_per_rebuild=(10**9, 10**9)))
    fast.shift_all(points, h)
    tree = fast._tree
    for _ in range(40):
        # all points jump within the root: all cells change all the time
        fast.place(rng.integers(0, n, 250_000), rng.uniform(-1.5, 1.5, size=(250_000, 2)))
    drifted = fast.shift_all(fast.points, h)
    assert fast._tree is tree
    slow.load(fast.points)
    assert_allclose(drifted, slow.shift_all(slow.points, h), rtol=0, atol=1e-9 * h)


@pytest.mark.parametrize("d", [1, 2, 3])
def test_the_tree_is_rebuilt_after_a_few_moves_per_point(d, rng):
    points = rng.normal(size=(500, d))
    workspace = pair(points)[1]
    plan = DrawPlan(np.ones(500), Uniform(0.3, 0.9), seed=0)
    for number in range(12):
        workspace.shift_each(plan.sweep(number, 0.5).draws)
        assert workspace._moves <= max(SMALL_CELLS.moves_per_rebuild) * 500


def test_a_state_once_returned_never_changes(rng):
    points = rng.normal(size=(400, 2))
    workspace = pair(points)[1]
    before = workspace.points
    workspace.shift_each(Draws(np.arange(400), np.full(400, 1.0)))
    assert_array_equal(before, points)


def test_full_and_empty_chunks():
    """All points pass through one cell and leave it again."""
    points = np.column_stack([np.linspace(-4, 4, 10 * CHUNK), np.zeros(10 * CHUNK)])
    workspaces = pair(points)
    everyone = np.arange(len(points))
    for workspace in workspaces:
        workspace.shift_all(points[:1], 0.5)
        workspace.place(everyone, np.full_like(points, 0.01))
        workspace.place(everyone, points[::-1].copy())
        workspace.place(everyone[::2], points[::2].copy())
    slow, fast = (workspace.shift_all(points, 0.5) for workspace in workspaces)
    assert_allclose(fast, slow, atol=1e-13)


@pytest.mark.parametrize("m", [0, 1, 2, 3])
@pytest.mark.parametrize("d", [1, 2, 3])
def test_monomials_multiply_as_the_table_says(m, d, rng):
    terms, u = make_basis(d, m).monomials, rng.normal(size=d)
    values = np.ones(len(terms.parent))
    for k in range(1, len(values)):
        values[k] = values[terms.parent[k]] * u[terms.axis[k]]
    n_low = len(terms.raised) // d
    quadratic = np.concatenate([[1.0], u, u**2])
    assert_allclose(values[terms.raised.reshape(n_low, d)], values[:n_low, None] * u)
    factors = terms.factors.reshape(2 * d + 1, n_low)
    valid = factors >= 0
    assert_allclose(values[factors[valid]], (quadratic[:, None] * values[:n_low])[valid])


def test_unsupported_problems_are_refused():
    with pytest.raises(ValueError, match=r"engine='moment_tree' cannot be used here: .* 3 dimensions.*have 5.*'auto'"):
        choose("moment_tree", PROFILES["biweight"], np.zeros((10, 5)))
    with pytest.raises(ValueError, match="weight of 'gaussian' is not a polynomial"):
        choose("moment_tree", GAUSSIAN, np.zeros((10, 2)))
