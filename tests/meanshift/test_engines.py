"""Every engine gives the reference's states on the same draws."""

from __future__ import annotations

import gc
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba.core.dispatcher import Dispatcher
from numpy.testing import assert_allclose, assert_array_equal

from inputs import DEGENERATE, states
from modeseek._common.types import Geometry
from modeseek.meanshift.bandwidth import DrawPlan, Uniform
from modeseek.meanshift.engines import ENGINES, choose
from modeseek.meanshift.engines.brute.blocks import (
    BLOCK_POINTS,
    MAX_LEVEL,
    MAX_SECOND_DIMENSION,
    divide,
    make_blocks,
)
from modeseek.meanshift.kernels.profiles import FLAT, PROFILES, custom_profile
from modeseek.meanshift.objective import shift
from modeseek.meanshift.types import Draws

# the GPU has tests of its own
HERE = [name for name in ENGINES if name != "cuda"]
FAST = [name for name in HERE if name != "reference"]


def both(name, state, profile, geometry=None, n_jobs=None):
    geometry = geometry or Geometry()
    return [
        ENGINES[engine].open(state.points, state.weights, profile, geometry, n_jobs) for engine in ("reference", name)
    ]


def draws_for(state, sweeps=3, batch_size=1, order="random"):
    policy = Uniform(0.5 * state.h, 1.5 * state.h)
    plan = DrawPlan(state.weights, policy, seed=state.seed, order=order, batch_size=batch_size)
    return [plan.sweep(number, state.h).draws for number in range(sweeps)]


def at_the_rim(workspace, draws):
    """Whether some update has a point at distance h up to rounding, where flat weights jump."""
    points = workspace.points
    squares = np.square(points[:, None] - points[None]).sum(axis=2)
    t = squares[None] / np.square(draws.bandwidths.ravel())[:, None, None]
    return bool((np.abs(t - 1) < 1e-9).any())


def agree(name, state, profile, geometry=None, tolerance=1e-9, batch_size=1, order="random"):
    if ENGINES[name].refusal(profile, state.points.shape[1]) is not None:
        return
    workspaces = both(name, state, profile, geometry)
    for draws in draws_for(state, batch_size=batch_size, order=order):
        if profile is FLAT and at_the_rim(workspaces[0], draws):
            return
        lengths = [workspace.shift_each(draws) for workspace in workspaces]
        assert_allclose(lengths[0], lengths[1], atol=tolerance * state.h, rtol=0)
        assert_allclose(workspaces[0].points, workspaces[1].points, atol=tolerance * state.h, rtol=0)
        assert workspaces[1].points.dtype == state.points.dtype


def test_draws_of_brute_may_have_strides(rng):
    # compiled sweeps need contiguous arrays, and a policy of the user may return `np.broadcast_to(h, n)`
    points, weights = rng.normal(size=(60, 2)), np.ones(60)
    draws = Draws(np.repeat(rng.permutation(60), 2)[::2], np.broadcast_to(0.7, 60))
    assert 0 in draws.bandwidths.strides
    slow, fast = (
        ENGINES[name].open(points, weights, PROFILES["biweight"], Geometry(), 1) for name in ("reference", "brute")
    )
    assert_allclose(fast.shift_each(draws), slow.shift_each(draws), atol=1e-9, rtol=0)
    assert_allclose(fast.points, slow.points, atol=1e-9, rtol=0)


@pytest.mark.parametrize(
    ("metric", "profile"), [("euclidean", "biweight"), pytest.param("cosine", "gaussian", marks=pytest.mark.slow)]
)
def test_brute_skips_only_blocks_out_of_reach(metric, profile):
    rng = np.random.default_rng(0)
    points = rng.normal(size=(1100, 5)) + 9.0 * np.eye(5)[rng.integers(0, 5, 1100)]
    weights, h, geometry = rng.uniform(0.5, 2.0, 1100), 3.0, Geometry(metric)
    if metric == "cosine":
        points, h = points / np.linalg.norm(points, axis=1, keepdims=True), 0.3
    assert 0 < len(points) % BLOCK_POINTS < BLOCK_POINTS
    slow, fast = (
        ENGINES[name].open(points, weights, PROFILES[profile], geometry, 1) for name in ("reference", "brute")
    )
    plan = DrawPlan(weights, Uniform(0.2 * h, h), seed=1)
    for number in range(2):
        draws = plan.sweep(number, h).draws
        assert_allclose(fast.shift_each(draws), slow.shift_each(draws), atol=1e-9 * h, rtol=0)
    assert_allclose(fast.points, slow.points, atol=1e-9 * h, rtol=0)


def members_of(blocks, places):
    """Return the points of each group, from the arrays that compiled code reads."""
    points_of = [np.flatnonzero(places // BLOCK_POINTS == b) for b in range(len(blocks.sizes))]
    members = []
    for g, stop in enumerate(blocks.after):
        inside = blocks.block[g:stop]
        members.append(np.concatenate([points_of[b] for b in inside[inside >= 0]]))
    return members


@pytest.mark.parametrize("spread", [0.0, 0.01, 1.0])
def test_balls_and_moments_are_those_of_their_groups(spread, rng):
    n, d = 6000, 4
    points = 9.0 * rng.normal(size=(3, d))[rng.choice(3, n, p=[0.9, 0.09, 0.01])] + spread * rng.normal(size=(n, d))
    weights = rng.uniform(0.5, 2.0, n)
    blocks, places = make_blocks(points, weights, 0.5, 1)
    assert len(set(places)) == n
    assert_array_equal(blocks.points[places // BLOCK_POINTS, :, places % BLOCK_POINTS], points)
    assert_array_equal(blocks.weights[places], weights)
    assert_array_equal(blocks.sizes, np.bincount(places // BLOCK_POINTS))
    assert_array_equal(blocks.block[blocks.group], np.arange(len(blocks.sizes)))
    found, members = blocks.groups, members_of(blocks, places)
    assert_array_equal(np.sort(np.concatenate([members[g] for g in np.flatnonzero(blocks.parents < 0)])), np.arange(n))
    for g, rows in enumerate(members):
        parent = blocks.parents[g]
        assert parent < 0 or set(rows) <= set(members[parent])
        u, w = points[rows] - found.centers[g], weights[rows]
        assert_allclose(found.radii[g], np.linalg.norm(u, axis=1).max(), atol=1e-12)
        u *= blocks.scale
        squares = np.square(u).sum(axis=1)
        assert_allclose(found.weight[g], w.sum())
        assert_allclose(found.square[g], squares @ w, atol=1e-9)
        assert_allclose(found.first[g], w @ u, atol=1e-9)
        assert_allclose(found.cubic[g], (squares * w) @ u, atol=1e-9)
        assert_allclose(found.second[g], (u * w[:, None]).T @ u, atol=1e-9)


@pytest.mark.parametrize("h", [0.1, 1.0, 100.0])
def test_points_that_are_close_together_are_a_group(h, rng):
    centers = np.array([[0.0, 0.0], [50.0, 0.0], [50.0, 50.0]])
    label = rng.choice(3, 5000, p=[0.7, 0.28, 0.02])
    order, groups = divide(centers[label] + 0.02 * rng.normal(size=(5000, 2)), 64, h)
    assert_array_equal(np.sort(order), np.arange(5000))
    assert all(group.stop - group.start <= 64 for group in groups if group.is_block)
    assert all(group.stop - group.start <= 64 * 16**MAX_LEVEL for group in groups)
    if h < 100.0:  # no group has points of several clusters, and each cluster is a group
        assert all(len(set(label[order[group.start : group.stop]])) == 1 for group in groups)
        assert {np.count_nonzero(label == k) for k in range(3)} <= {group.stop - group.start for group in groups}


def test_few_divisions_separate_far_points(monkeypatch):
    """Dividing at the mean alone cut off one block at a time."""
    calls, original = [], np.argpartition
    monkeypatch.setattr(np, "argpartition", lambda *arguments: calls.append(len(arguments[0])) or original(*arguments))
    points = np.exp(np.linspace(0.0, 300.0, 20_000))[:, None]
    order, groups = divide(points, 128, 1.0)
    first = next(group for group in groups if group.is_block)
    assert_array_equal(np.sort(order[: first.stop]), np.arange(first.stop))
    assert sum(calls) < 40 * len(points)


class InBlocks(NamedTuple):
    """Tight clusters, so that whole blocks are inside the ball, and the bandwidth."""

    points: np.ndarray
    weights: np.ndarray
    h: float
    profile: str = "biweight"


def tight_clusters(kind, n=2500):
    """Return points of six clusters; some of them are cut by the ball, as are the blocks of the kind 'outliers'."""
    rng = np.random.default_rng(5)
    centers, d = 2.5 * rng.normal(size=(6, 5)), 5
    points = centers[rng.integers(0, 6, n)] + 0.3 * rng.normal(size=(n, d))
    case = InBlocks(points, np.ones(n), 3.0)
    if kind == "flat":
        return case._replace(profile="flat")
    if kind == "float32":
        return case._replace(points=points.astype(np.float32))
    if kind == "outliers":
        points[rng.choice(n, 20, replace=False)] *= 10.0 ** rng.uniform(1, 9, size=(20, 1))
    if kind == "coincident":  # fewer than those that are merged
        points[: n // 5] = points[0]
    if kind == "equal weights":
        return case._replace(weights=np.full(n, 2.5))
    if kind == "weights":
        return case._replace(weights=10.0 ** rng.uniform(-3, 3, n))
    if kind in ("tiny", "huge"):  # third powers of the coordinates vanish or overflow
        factor = 1e-130 if kind == "tiny" else 1e130
        return case._replace(points=points * factor, h=3.0 * factor)
    return case


KINDS = ["plain", "flat", "float32", "outliers", "coincident", "equal weights", "weights", "tiny", "huge"]


@pytest.mark.parametrize("kind", KINDS)
def test_blocks_inside_the_ball_are_summed_by_their_moments(kind):
    """Equal weights other than 1 were counted in moments, and not in the sums over points."""
    case = tight_clusters(kind)
    slow, fast = (
        ENGINES[name].open(case.points, case.weights, PROFILES[case.profile], Geometry(), 1)
        for name in ("reference", "brute")
    )
    n, tolerance = len(case.points), 1e-5 if kind == "float32" else 1e-9
    plan = DrawPlan(case.weights, Uniform(0.7 * case.h, case.h), seed=1)
    for number in range(2):
        draws = plan.sweep(number, case.h).draws
        assert_allclose(fast.shift_each(draws), slow.shift_each(draws), atol=tolerance * case.h, rtol=0)
    assert_allclose(fast.points, slow.points, atol=tolerance * case.h, rtol=0)
    assert fast.points.dtype == case.points.dtype
    assert 0 < fast.evaluations < 0.6 * 2 * n * n  # otherwise nothing was summed by moments


@pytest.mark.parametrize("kind", KINDS)
def test_simultaneous_shifts_use_the_moments(kind):
    case = tight_clusters(kind)
    slow, *fast = (
        ENGINES[name].open(case.points, case.weights, PROFILES[case.profile], Geometry(), n_jobs)
        for name, n_jobs in (("reference", 1), ("brute", 1), ("brute", 2))
    )
    one, two = (each.shift_all(case.points, case.h) for each in fast)
    assert_array_equal(one, two)
    assert fast[0].evaluations == fast[1].evaluations < 0.6 * len(case.points) ** 2
    some, tolerance = slice(None, None, 5), 1e-5 if kind == "float32" else 1e-9  # the reference is slow
    assert_allclose(one[some], slow.shift_all(case.points[some], case.h), atol=tolerance * case.h, rtol=0)
    for workspace in (slow, fast[0]):  # the blocks of an earlier state or bandwidth are not used
        workspace.load(one)
    again = fast[0].shift_all(one, 0.9 * case.h)
    assert_allclose(again[some], slow.shift_all(one[some], 0.9 * case.h), atol=tolerance * case.h, rtol=0)


@pytest.mark.parametrize(("power", "d"), [(-1, 5), (0, 5), (1, 5), (1, MAX_SECOND_DIMENSION + 1)])
def test_blocks_have_only_the_moments_in_use(power, d):
    """Second moments of 10^5 points in 256 dimensions took 400 MB."""
    points = np.random.default_rng(0).normal(size=(300, d))
    blocks, _ = make_blocks(points, np.ones(300), 1.0, power)
    few, groups = power == 1 and d > MAX_SECOND_DIMENSION, len(blocks.after)
    assert len(blocks.groups.first) == (0 if few or power < 0 else groups)
    assert len(blocks.groups.second) == (groups if power == 1 and not few else 0)


def test_brute_without_second_moments():
    rng = np.random.default_rng(0)
    points, weights = rng.normal(size=(1100, MAX_SECOND_DIMENSION + 1)), np.ones(1100)
    points[:, 0] += 50.0 * rng.integers(0, 3, 1100)
    slow, fast = (
        ENGINES[name].open(points, weights, PROFILES["biweight"], Geometry(), 1) for name in ("reference", "brute")
    )
    draws = DrawPlan(weights, Uniform(8.0, 30.0), seed=1).sweep(0, 30.0).draws
    assert_allclose(fast.shift_each(draws), slow.shift_each(draws), atol=1e-9, rtol=0)
    assert_allclose(fast.points, slow.points, atol=1e-9, rtol=0)


def kinds_of_arguments():
    """Return the number of argument types for which this process has compiled code."""
    return sum(len(each.signatures) for each in gc.get_objects() if issubclass(type(each), Dispatcher))


@pytest.mark.parametrize("name", FAST)
def test_single_and_read_only_queries_are_not_compiled_again(name):
    """Numba compiled the functions again for a single query."""
    points = np.random.default_rng(0).normal(size=(40, 2))
    workspace = ENGINES[name].open(points, np.ones(40), PROFILES["biweight"], Geometry(), None)
    several, before = workspace.shift_all(points, 1.0), kinds_of_arguments()
    assert before > 0
    assert_array_equal(workspace.shift_all(points[:1], 1.0), several[:1])
    points.setflags(write=False)
    assert_array_equal(workspace.shift_all(points, np.broadcast_to(1.0, 40)), several)
    assert kinds_of_arguments() == before


# each profile has kernels of its own in each engine, which take seconds to compile
@pytest.mark.parametrize(
    ("name", "profile"),
    [
        pytest.param(
            engine,
            profile,
            id=f"{engine}-{profile}",
            marks=() if profile == "biweight" else pytest.mark.slow,  # each profile compiles kernels of its own
        )
        for engine in FAST
        for profile in PROFILES
    ],
)
@given(state=states(dimensions=(2,), kinds=[kind for kind in DEGENERATE if kind != "single"]))
@settings(max_examples=15)
def test_profiles(name, profile, state):
    # never equal weights, which have kernels of their own; test_dimensions has both
    agree(name, state._replace(weights=1.0 + np.arange(len(state.points)) % 3), PROFILES[profile])


@pytest.mark.parametrize("name", FAST)
@given(state=states(dimensions=(1, 2, 3, 4, 7)))
@settings(max_examples=40)
def test_dimensions(name, state):
    agree(name, state, PROFILES["biweight"])


@pytest.mark.parametrize("kind", DEGENERATE)
@pytest.mark.parametrize("name", FAST)
@given(data=st.data())
@settings(max_examples=4)
def test_three_hundred_dimensions(name, kind, data):
    agree(name, data.draw(states(dimensions=(300,), kinds=(kind,), max_n=20)), PROFILES["biweight"])


@pytest.mark.slow
@pytest.mark.parametrize("name", FAST)
@given(state=states(dimensions=(2, 5), dtype=np.float32))
@settings(max_examples=15)
def test_float32(name, state):
    # both sum in float64 and round each new place to float32: they differ by a few last places
    agree(name, state, PROFILES["biweight"], tolerance=1e-5)


@pytest.mark.parametrize("name", FAST)
@given(state=states(dimensions=(2, 3, 8), kinds=("plain", "duplicates", "single"), metric="cosine"))
@settings(max_examples=20)
def test_cosine(name, state):
    agree(name, state, PROFILES["biweight"], Geometry("cosine"))


@pytest.mark.parametrize("order", ["random", "reshuffled"])
@pytest.mark.parametrize("name", FAST)
@given(state=states(dimensions=(2,)), batch_size=st.integers(2, 50))
@settings(max_examples=15)
def test_batches(name, order, state, batch_size):
    agree(name, state, PROFILES["biweight"], batch_size=batch_size, order=order)


@pytest.mark.parametrize("name", FAST)
@given(state=states(dimensions=(2, 5)))
@settings(max_examples=30)
def test_shift_all(name, state):
    if ENGINES[name].refusal(PROFILES["biweight"], state.points.shape[1]) is not None:
        return
    h = np.linspace(0.5, 1.5, len(state.points)) * state.h
    slow, fast = (w.shift_all(state.points, h) for w in both(name, state, PROFILES["biweight"]))
    assert_allclose(slow, fast, atol=1e-9 * state.h, rtol=0)


@pytest.mark.parametrize("d", [2, 20])
@pytest.mark.parametrize("n", [511, 512, 513, 1500])
def test_block_edges(n, d, rng):
    points = rng.normal(size=(n, d))
    queries = points[:5] + 0.1
    able = [engine for engine in ENGINES.values() if engine.refusal(PROFILES["biweight"], d) is None]
    workspaces = [e.open(points, np.ones(n), PROFILES["biweight"], Geometry(), None) for e in able]
    slow, *fast = (w.shift_all(queries, np.sqrt(d)) for w in workspaces)
    for moved in fast:
        assert_allclose(moved, slow, atol=1e-12)


@pytest.mark.parametrize("name", FAST)
def test_any_number_of_threads_gives_the_same_bits(name, rng):
    points = rng.normal(size=(999, 2))
    moved = [
        ENGINES[name].open(points, np.ones(999), PROFILES["biweight"], Geometry(), jobs).shift_all(points, 0.7)
        for jobs in (1, 2, 3)
    ]
    assert_array_equal(moved[0], moved[1])
    assert_array_equal(moved[0], moved[2])


@pytest.mark.parametrize("engine", [ENGINES[name] for name in HERE], ids=HERE)
def test_a_query_without_points_within_h_stays(engine, rng):
    workspace = engine.open(rng.normal(size=(10, 2)), np.ones(10), PROFILES["biweight"], Geometry(), None)
    assert_array_equal(workspace.shift_all(np.array([[100.0, 0.0]]), 1.0), [[100.0, 0.0]])


@pytest.mark.parametrize("engine", [ENGINES[name] for name in HERE], ids=HERE)
def test_no_queries(engine, rng):
    """Mean shift in 16-D failed if every climber was on a path, so that no climber had to step."""
    workspace = engine.open(rng.normal(size=(400, 2)), np.ones(400), PROFILES["biweight"], Geometry(), 2)
    assert workspace.shift_all(np.empty((0, 2)), 1.0).shape == (0, 2)


@pytest.mark.parametrize("engine", [ENGINES[name] for name in HERE], ids=HERE)
def test_coincident_points_stay_exactly(engine):
    points = np.full((50, 2), 0.1)
    workspace = engine.open(points, np.ones(50), PROFILES["biweight"], Geometry(), None)
    assert_array_equal(workspace.shift_all(points, 1.0), points)


@pytest.mark.parametrize("engine", [ENGINES[name] for name in HERE], ids=HERE)
def test_opposite_points_on_the_sphere_stay(engine):
    points = np.array([[1.0, 0.0], [-1.0, 0.0]])
    workspace = engine.open(points, np.ones(2), PROFILES["flat"], Geometry("cosine"), None)
    # seen from either, the flat mean is the origin, which has no direction
    assert_array_equal(workspace.shift_all(points, 3.0), points)


@pytest.mark.parametrize("engine", [ENGINES[name] for name in HERE], ids=HERE)
def test_shift_is_the_operator(engine, rng):
    points, weights = rng.normal(size=(30, 2)), rng.uniform(0.5, 2, 30)
    workspace = engine.open(points, weights, PROFILES["biweight"], Geometry(), None)
    expected = shift(points, points, 0.9, profile="biweight", weights=weights)
    assert_allclose(workspace.shift_all(points, 0.9), expected, atol=1e-14)


def test_a_custom_profile_compiles_and_agrees(rng):
    own = custom_profile(lambda t: (1 - t) ** 2.5, lambda t: 2.5 * (1 - t) ** 1.5, name="own")
    points = rng.normal(size=(40, 2))
    slow, fast = (
        ENGINES[name].open(points, np.ones(40), own, Geometry(), None).shift_all(points, 0.8)
        for name in ("reference", "brute")
    )
    assert_allclose(slow, fast, atol=1e-12)
    assert choose("auto", own, points).name == "reference"


def test_a_custom_profile_that_does_not_compile_is_named(rng):
    table = {"power": 2}  # a dictionary of strings is nothing that compiles
    own = custom_profile(lambda t: (1 - t) ** table["power"], lambda t: 2 * (1 - t) ** table.get("none", 1), name="odd")
    with pytest.raises(ValueError, match=r"profile 'odd' cannot be compiled.*engine='reference'"):
        ENGINES["brute"].open(rng.normal(size=(5, 2)), np.ones(5), own, Geometry(), None)


def test_unknown_engine():
    with pytest.raises(ValueError, match="Did you mean 'brute'"):
        choose("brut", PROFILES["biweight"], np.zeros((5, 2)))


def test_names_of_cached_functions_contain_a_checksum_of_the_formulas_and_the_memory_layout():
    """Numba's cache checks only the file of a function: a changed formula was ignored, a changed layout crashed."""
    from modeseek._common import jit
    from modeseek.meanshift import types
    from modeseek.meanshift.bandwidth import compiled_draws, draws, policies
    from modeseek.meanshift.bandwidth import formulas as bandwidth_formulas
    from modeseek.meanshift.engines import coincident_points, shared_loops, workspace
    from modeseek.meanshift.engines.brute import block_loops, blocks, loops, sweep_loops
    from modeseek.meanshift.engines.moment_tree import sums, tree, updates
    from modeseek.meanshift.kernels import formulas

    shared = formulas, shared_loops, workspace, coincident_points
    kernels = loops.shifts(1, 2, 0)
    checksum = jit.source_checksum(jit, loops, *shared)
    for kernel in (kernels.each, kernels.each_group, kernels.all):
        assert kernel.py_func.__qualname__.endswith(checksum)
    drawn = types, compiled_draws, draws, policies, bandwidth_formulas
    sweeps = sweep_loops.apply_sweeps
    assert sweeps.py_func.__qualname__.endswith(jit.source_checksum(jit, sweep_loops, *shared, loops, *drawn))
    checksum = jit.source_checksum(jit, block_loops, *shared, loops, blocks)
    for kernel in (kernels.blocks.each, kernels.blocks.all):
        assert kernel.py_func.__qualname__.endswith(checksum)
    checksum = jit.source_checksum(jit, sums, *shared, updates, tree)
    assert sums.shift_each.py_func.__qualname__.endswith(checksum)
