"""Neighbour lists: exact results for all moves of points, with fewer distances than pairs."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from inputs import DEGENERATE, states
from modeseek._common.types import Geometry
from modeseek.meanshift.bandwidth import DrawPlan, Shrinking, Uniform
from modeseek.meanshift.chains import Problem, Stopping, blurring, doubly_stochastic, mean_shift, run
from modeseek.meanshift.engines import ENGINES, choose
from modeseek.meanshift.engines.brute.blocks import expected_visits, power_of
from modeseek.meanshift.engines.neighbor_lists import NeighborListsEngine, lists
from modeseek.meanshift.engines.neighbor_lists.config import ListConfig
from modeseek.meanshift.kernels.profiles import BIWEIGHT, PROFILES, custom_profile
from modeseek.meanshift.types import Draws

EUCLIDEAN, COSINE = Geometry(), Geometry("cosine")


CONFIG = ListConfig()
ANY_SIZE = replace(CONFIG, min_groups=1)


def blobs(rng, n, d, k=6, spread=8.0, dtype=np.float64, cosine=False):
    points = rng.normal(size=(k, d))[rng.integers(0, k, n)] * spread + rng.normal(size=(n, d))
    if cosine:
        points /= np.linalg.norm(points, axis=1, keepdims=True)
    return points.astype(dtype)


def pair(points, weights, geometry=EUCLIDEAN, profile=BIWEIGHT, config=CONFIG):
    engines = ENGINES["reference"], NeighborListsEngine(config)
    return [engine.open(points, weights, profile, geometry, None) for engine in engines]


def same_sweeps(workspaces, plan, h, sweeps, tolerance):
    slow, fast = workspaces
    for sweep in sweeps:
        draws = plan.sweep(sweep, h).draws
        assert_allclose(slow.shift_each(draws), fast.shift_each(draws), rtol=0, atol=tolerance)
        assert_allclose(slow.points, fast.points, rtol=0, atol=tolerance)


# each type and each profile has kernels of its own, which take seconds to compile
@pytest.mark.parametrize(
    ("dtype", "tolerance"), [(np.float64, 1e-9), pytest.param(np.float32, 1e-5, marks=pytest.mark.slow)]
)
@given(data=st.data(), kind=st.sampled_from(DEGENERATE), d=st.sampled_from([1, 5, 16, 300]))
@settings(max_examples=30)
def test_random_inputs(dtype, tolerance, data, kind, d):
    state = data.draw(states(dimensions=(d,), kinds=(kind,), max_n=60, dtype=dtype))
    h = state.h * data.draw(st.sampled_from([0.3, 1.0]))
    plan = DrawPlan(state.weights, Uniform(0.5 * h, 1.5 * h), seed=state.seed)
    same_sweeps(pair(state.points, state.weights, config=ANY_SIZE), plan, h, range(3), tolerance * h)


@pytest.mark.parametrize(
    "profile",
    [
        pytest.param(profile, id=name, marks=() if name == "biweight" else pytest.mark.slow)
        for name, profile in PROFILES.items()
    ],
)
@pytest.mark.parametrize("geometry", [EUCLIDEAN, COSINE], ids=["euclidean", "cosine"])
def test_profiles_with_lists(profile, geometry, rng):
    points = blobs(rng, 400, 7, cosine=geometry.spherical)
    h = 0.5 if geometry.spherical else 4.0
    workspaces = pair(points, rng.uniform(0.5, 2.0, 400), geometry, profile)
    same_sweeps(workspaces, DrawPlan(np.ones(400), Uniform(0.5 * h, h), seed=3), h, range(3), 1e-9 * h)
    assert workspaces[1].builds >= 1


@pytest.mark.parametrize("skins", [(0.0,), (0.05,), (2.0, 0.0)])
@pytest.mark.parametrize("max_anchors", [0, 2, 64])
@pytest.mark.parametrize("d", [5, 300])
def test_points_that_leave_their_skin(d, max_anchors, skins, rng):
    """Without a skin every point is loose after its first move; there may be no, few or many anchors."""
    config = replace(ANY_SIZE, skins=skins, max_anchors=max_anchors)
    h = 1.5 * np.sqrt(d)
    points = blobs(rng, 300, d, spread=4.0)
    workspaces = pair(points, np.ones(300), config=config)
    same_sweeps(workspaces, DrawPlan(np.ones(300), Uniform(0.5 * h, h), seed=0), h, range(4), 1e-9 * h)
    assert workspaces[1].builds >= 1


@pytest.mark.parametrize("rebuild_cost", [0.0, 1e9], ids=["always rebuilt", "never rebuilt"])
def test_results_do_not_depend_on_when_lists_are_built(rebuild_cost, rng):
    """Bit for bit: sums run over the points within h in a fixed order, for any list that contains them."""
    points, h = blobs(rng, 500, 20), 7.0
    plan = DrawPlan(np.ones(500), Uniform(0.5 * h, h), seed=0)
    usual = ENGINES["neighbor_lists"].open(points, np.ones(500), BIWEIGHT, EUCLIDEAN, None)
    other = NeighborListsEngine(replace(CONFIG, rebuild_cost=rebuild_cost))
    odd = other.open(points, np.ones(500), BIWEIGHT, EUCLIDEAN, None)
    for sweep in range(4):
        draws = plan.sweep(sweep, h).draws
        usual.shift_each(draws)
        odd.shift_each(draws)
        assert_array_equal(usual.points, odd.points)
    assert odd.builds > usual.builds if rebuild_cost == 0 else odd.builds <= usual.builds


def test_a_sweep_is_pure(rng):
    """The result depends on the state alone, not on lists that were built for another state."""
    problem = Problem(blobs(rng, 600, 16), np.ones(600), engine=ENGINES["neighbor_lists"])
    chain = doubly_stochastic(problem, Shrinking(3.0, 8.0, 5.0), seed=0)
    start = chain.init()
    path = [start]
    for _ in range(4):
        path.append(chain.sweep(path[-1])[0])
    for before, after in reversed(list(itertools.pairwise(path))):
        assert_array_equal(chain.sweep(before)[0].points, after.points)


@pytest.mark.parametrize("max_entries", [0, 3_000], ids=["no lists", "short lists"])
def test_the_limit_on_memory(max_entries, rng):
    points = blobs(rng, 400, 6)
    workspaces = pair(points, np.ones(400), config=replace(CONFIG, max_entries=max_entries))
    same_sweeps(workspaces, DrawPlan(np.ones(400), Uniform(1.0, 4.0), seed=0), 4.0, range(3), 1e-9)
    assert workspaces[1].builds == 0


def test_the_skin_shrinks_before_lists_are_given_up(rng):
    points = rng.uniform(size=(2000, 5))
    assert lists.choose_lists(points, 0.05, CONFIG).radius > 0.05
    config = replace(CONFIG, max_growth=1e9)
    fewer = int(lists.choose_lists(points, 0.3, config).share * 4e6) - 1
    assert 0.3 <= lists.choose_lists(points, 0.3, replace(config, max_entries=fewer)).radius < 0.9
    assert lists.choose_lists(points, 0.3, replace(config, max_entries=10)) is None


def test_lists_that_would_hold_most_pairs_are_not_made(rng):
    points = rng.normal(size=(500, 8))
    workspaces = pair(points, np.ones(500))
    same_sweeps(workspaces, DrawPlan(np.ones(500), Uniform(5.0, 20.0), seed=0), 10.0, range(2), 1e-9)
    assert workspaces[1].builds == 0
    assert workspaces[1].evaluations == 2 * 500 * 500


def test_bandwidths_that_grow_between_blocks(rng):
    points = blobs(rng, 400, 10, spread=3.0)
    workspaces = pair(points, np.ones(400))
    for sweep, h in enumerate([1.0, 2.0, 5.0, 8.0, 1.0, 30.0, 3.0]):
        same_sweeps(workspaces, DrawPlan(np.ones(400), Uniform(0.5 * h, h), seed=0), h, [sweep], 1e-9)
    assert workspaces[1].builds >= 3


@pytest.mark.parametrize("batch_size", [1, 7, 200])
def test_batches_and_loaded_states(batch_size, rng):
    points = blobs(rng, 400, 10)
    workspaces = pair(points, np.ones(400))
    plan = DrawPlan(np.ones(400), Uniform(2.0, 6.0), seed=0, batch_size=batch_size)
    alone = DrawPlan(np.ones(400), Uniform(2.0, 6.0), seed=1)
    for turn in range(3):
        same_sweeps(workspaces, alone, 5.0, [turn], 1e-9)
        same_sweeps(workspaces, plan, 5.0, [turn], 1e-9)
        other = points + rng.normal(size=points.shape) * turn
        for workspace in workspaces:
            workspace.load(other)
    other[:] = 0.0  # the workspaces have copied it
    same_sweeps(workspaces, alone, 5.0, [4], 1e-9)


def test_products_lose_no_point_by_rounding(rng):
    """Far from the origin |x|^2 + |y|^2 - 2 x.y is mostly rounding: lists get longer, and exact distances decide."""
    for offset in (0.0, 1e3, 1e6):
        points = rng.normal(size=(500, 12)) + offset
        radius = float(np.median(np.linalg.norm(points - points[0], axis=1)))
        starts, members = lists.build_lists(points, radius, CONFIG.max_entries)
        squares = np.square(points[:, None] - points[None]).sum(axis=2)
        for i in range(500):
            listed = members[starts[i] : starts[i + 1]]
            assert set(np.flatnonzero(squares[i] <= radius**2)) <= set(listed)
            assert (np.diff(listed) > 0).all()


def test_huge_and_tiny_numbers(rng):
    for scale in (1e-60, 1e60):
        points = blobs(rng, 300, 5) * scale
        workspaces = pair(points, np.ones(300))
        h = 4.0 * scale
        same_sweeps(workspaces, DrawPlan(np.ones(300), Uniform(0.5 * h, h), seed=0), h, range(2), 1e-9 * h)


def test_any_number_of_threads_gives_the_same_bits(rng):
    points = blobs(rng, 999, 20)
    moved = [
        ENGINES["neighbor_lists"].open(points, np.ones(999), BIWEIGHT, EUCLIDEAN, jobs).shift_all(points + 0.1, 6.0)
        for jobs in (1, 2, 3)
    ]
    assert_array_equal(moved[0], moved[1])
    assert_array_equal(moved[0], moved[2])


def test_one_point():
    slow, fast = pair(np.ones((1, 40)), np.ones(1))
    draws = Draws(np.zeros(50, dtype=int), np.full(50, 1.0))
    assert_array_equal(slow.shift_each(draws), fast.shift_each(draws))
    assert_array_equal(fast.points, np.ones((1, 40)))


def test_all_four_algorithms_end_as_with_brute(rng):
    points = blobs(rng, 300, 8)

    def ends(engine):
        problem = Problem(points, np.ones(300), engine=ENGINES[engine])
        chains = [
            mean_shift(problem, 5.0, tol=1e-3),
            blurring(problem, 5.0),
            doubly_stochastic(problem, Shrinking(3.0, 7.0, 5.0), seed=0),
        ]
        return [run(chain, Stopping(tau=0.7)) for chain in chains]

    for one, other in zip(ends("brute"), ends("neighbor_lists"), strict=True):
        assert one.sweeps == other.sweeps
        assert one.outcome is other.outcome
        assert_allclose(one.state.points, other.state.points, rtol=0, atol=1e-8)


def test_lists_save_evaluations(rng):
    """With ten separate blobs an update visits its own blob only, and lists are rarely rebuilt."""
    n = 2000
    points = blobs(rng, n, 16, k=10)
    workspace = ENGINES["neighbor_lists"].open(points, np.ones(n), BIWEIGHT, EUCLIDEAN, None)
    plan = DrawPlan(np.ones(n), Uniform(3.0, 8.0), seed=0)
    for sweep in range(6):
        workspace.shift_each(plan.sweep(sweep, 5.0).draws)
    assert workspace.builds <= 3
    assert workspace.evaluations < 0.3 * 6 * n * n


def test_never_much_more_than_all_pairs(rng):
    """If the points change completely, lists are useless, and the work is at most twice that of brute force."""
    n = 400
    workspace = ENGINES["neighbor_lists"].open(rng.normal(size=(n, 5)), np.ones(n), BIWEIGHT, EUCLIDEAN, None)
    for sweep in range(4):
        workspace.load(rng.normal(size=(n, 5)))
        workspace.shift_each(DrawPlan(np.ones(n), Uniform(0.5, 1.0), seed=0).sweep(sweep, 1.0).draws)
    assert workspace.evaluations < 2 * 4 * n * n


def test_custom_profiles_are_refused_by_name(rng):
    own = custom_profile(lambda t: (1 - t) ** 2.5, lambda t: 2.5 * (1 - t) ** 1.5, name="own")
    with pytest.raises(ValueError, match=r"neighbor_lists.*'own'.*'brute'"):
        choose("neighbor_lists", own, rng.normal(size=(5, 2)))


@pytest.mark.parametrize(("d", "n"), [(16, 4000), (64, 2000)])
def test_lists_are_chosen_where_blocks_would_be_visited(d, n, rng):
    """In 16 dimensions, mean shift of 10^5 points in ten far clusters took ten times as long with lists."""
    cloud = rng.normal(size=(n, d))
    far = cloud + 100.0 * rng.normal(size=(20, d))[np.arange(n) % 20]
    few = 0.8 * np.sqrt(2 * d)  # about one pair in a hundred
    assert choose("auto", BIWEIGHT, cloud, few).name == "neighbor_lists"
    for one_by_one in (False, True):
        assert choose("auto", BIWEIGHT, far, 1.5 * np.sqrt(d), one_by_one=one_by_one).name == "brute"
    # without moments, blocks inside the ball are visited too
    assert expected_visits(far, 3.0 * np.sqrt(d), -1) > 1.5 * expected_visits(far, 3.0 * np.sqrt(d), 1)


@pytest.mark.parametrize("profile", ["flat", "biweight", "gaussian"])
def test_expected_visits_are_those_of_brute(profile, rng):
    n = 3000
    points = rng.normal(size=(n, 6)) + 8.0 * rng.normal(size=(5, 6))[rng.integers(0, 5, n)]
    for h in (1.0, 4.0, 12.0):
        workspace = ENGINES["brute"].open(points, np.ones(n), PROFILES[profile], EUCLIDEAN, None)
        workspace.shift_all(points, h)
        expected = expected_visits(points, h, power_of(PROFILES[profile].code))
        assert_allclose(expected, workspace.evaluations / n, rtol=0.3)
