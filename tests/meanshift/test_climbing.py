"""Merged climbers and scout paths give the modes of separate climbers, with fewer sums."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import make_blobs
from sklearn.exceptions import ConvergenceWarning

from inputs import states
from modeseek import MeanShift
from modeseek._common.neighbors import nearest
from modeseek.meanshift.chains import ClimbConfig, Outcome, Stopping, make_problem, mean_shift, run, scout_paths
from modeseek.meanshift.climbing import weight_within_radius
from modeseek.meanshift.components import components
from modeseek.meanshift.engines.brute.engine import BruteWorkspace
from modeseek.meanshift.objective import kernel_mass
from modeseek.meanshift.types import ChainState, SweepInfo

BLOBS = make_blobs(600, centers=6, cluster_std=1.2, random_state=0)[0]
TOL = {"flat": 1e-3, "biweight": 1e-4, "gaussian": 1e-4}


def climb_alone(space, h, tol):
    """Move every climber separately until its shift is at most tol * h."""
    workspace = space.open()
    points = space.points.copy()
    climbing = np.arange(len(points))
    steps = 0
    while len(climbing):
        new = workspace.shift_all(points[climbing], h)
        far = np.linalg.norm(new - points[climbing], axis=1) > tol * h
        points[climbing], climbing, steps = new, climbing[far], steps + len(climbing)
    return points, steps


def counted(monkeypatch):
    """Count the sums that the engine makes."""
    original, rows = BruteWorkspace.shift_all, []

    def shift_all(self, queries, h):
        rows.append(len(queries))
        return original(self, queries, h)

    monkeypatch.setattr(BruteWorkspace, "shift_all", shift_all)
    return rows


@pytest.mark.parametrize("profile", TOL)
def test_merged_climbers_reach_the_same_modes_with_fewer_sums(profile, monkeypatch):
    h, tol, space = 2.0, TOL[profile], make_problem(BLOBS, profile=profile)
    alone, steps = climb_alone(space, h, tol)
    rows = counted(monkeypatch)
    together = run(mean_shift(space, h, tol=tol), Stopping(h / 4)).state.points
    # plateaus and rims let only climbers at one place join; otherwise ends differ by what stopping leaves open
    assert_allclose(together, alone, atol=(1e-8 if profile != "biweight" else 10 * tol) * h)
    assert_array_equal(components(together, h / 4), components(alone, h / 4))
    assert sum(rows) <= {"flat": 0.75, "biweight": 0.8, "gaussian": 1.0}[profile] * steps


@given(state=states(dimensions=(1, 2, 3, 5)))
@settings(max_examples=15)
def test_merged_climbers_on_degenerate_data(state):
    space, tol = make_problem(state.points, state.weights), 1e-6
    alone, _ = climb_alone(space, state.h, tol)
    together = run(mean_shift(space, state.h, tol=tol), Stopping(state.h / 4, max_sweeps=10**5)).state
    assert (together.last_shift <= tol * state.h).all()
    assert_array_equal(components(together.points, state.h / 4), components(alone, state.h / 4))


@pytest.mark.parametrize("many", [0, 10**9])
@pytest.mark.parametrize("profile", TOL)
def test_a_new_chain_continues_from_any_state(profile, many):
    """Groups that are remembered between sweeps save comparisons and must not change the result."""
    space, config = make_problem(BLOBS, profile=profile), ClimbConfig(scouts_from=many)

    def make():
        return mean_shift(space, 2.0, tol=TOL[profile], config=config)

    chain, state = make(), make().init()
    for _ in range(1000):
        if chain.arrived(state).all():
            break
        (next_state, info), (fresh_state, fresh_info) = chain.sweep(state), make().sweep(state)
        assert_array_equal(next_state.points, fresh_state.points)
        assert_array_equal(next_state.last_shift, fresh_state.last_shift)
        assert (next_state.k, info.largest_shift) == (fresh_state.k, fresh_info.largest_shift)
        state = next_state
    assert chain.arrived(state).all()


@pytest.mark.parametrize("many", [0, 10**9])
def test_the_order_of_climbers_does_not_matter(rng, many):
    config = ClimbConfig(scouts_from=many)
    space, order = make_problem(BLOBS), rng.permutation(len(BLOBS))
    ends = [
        run(mean_shift(space, 2.0, tol=1e-4, queries=queries, config=config), Stopping(0.5)).state.points
        for queries in (BLOBS, BLOBS[order])
    ]
    assert_array_equal(ends[0][order], ends[1])


# scouts climb first even if there are few climbers
WITH_SCOUTS = ClimbConfig(scouts_from=0)
# a long ridge and a bent one, where ways run together early
RIDGES = np.concatenate(
    [
        np.random.default_rng(1).normal(size=(400, 2)) * [3.0, 0.4],
        [10.0, 0.0] + np.random.default_rng(2).normal(size=(400, 2)) * [0.4, 3.0],
    ]
)


@pytest.mark.parametrize("profile", ["biweight", pytest.param("quadweight", marks=pytest.mark.slow)])
@pytest.mark.parametrize(("data", "at_most"), [(BLOBS, 0.9), (RIDGES, 0.7)])
def test_scout_paths_give_the_same_modes(data, at_most, profile, monkeypatch):
    h, tol, space = 2.0, 1e-4, make_problem(data, profile=profile, engine="brute")
    alone, _ = climb_alone(space, h, tol)
    rows = counted(monkeypatch)
    together = run(mean_shift(space, h, tol=tol, most_steps=0), Stopping(h / 4)).state
    without, rows[:] = sum(rows), []
    behind = run(mean_shift(space, h, tol=tol, config=WITH_SCOUTS), Stopping(h / 4)).state
    assert_allclose(behind.points, alone, atol=20 * tol * h)
    assert_array_equal(components(behind.points, h / 4), components(alone, h / 4))
    assert sum(rows) <= at_most * without
    assert (behind.last_shift <= tol * h).all()
    assert sum(rows) <= behind.k < together.k  # followers and scouts count


@given(state=states(dimensions=(1, 2, 3, 5)))
@settings(max_examples=15)
def test_scout_paths_on_degenerate_data(state):
    space, tol = make_problem(state.points, state.weights), 1e-6
    alone, _ = climb_alone(space, state.h, tol)
    config = ClimbConfig(scouts_from=0, scouts_per_root=1.0)
    chain = mean_shift(space, state.h, tol=tol, most_steps=10**5, config=config)
    behind = run(chain, Stopping(state.h / 4, max_sweeps=10**5)).state
    assert (behind.last_shift <= tol * state.h).all()
    assert_array_equal(components(behind.points, state.h / 4), components(alone, state.h / 4))


@pytest.mark.parametrize("profile", ["flat", "gaussian"])
def test_there_are_no_scouts_if_weights_jump(profile):
    space = make_problem(BLOBS, profile=profile)
    chains = [mean_shift(space, 2.0, tol=1e-3, most_steps=most, config=WITH_SCOUTS) for most in (0, 300)]
    ends = [run(chain, Stopping(0.5)).state for chain in chains]
    assert_array_equal(ends[0].points, ends[1].points)
    assert ends[0].k == ends[1].k


def test_a_scout_that_does_not_arrive_leaves_no_path():
    space = make_problem(BLOBS)
    chains = [mean_shift(space, 2.0, tol=1e-4, most_steps=most, config=WITH_SCOUTS) for most in (0, 3)]
    states_ = [run(chain, Stopping(0.5)).state for chain in chains]
    assert_array_equal(states_[0].points, states_[1].points)
    with pytest.warns(ConvergenceWarning):
        model = MeanShift(2.0, max_iter=3).fit(BLOBS)
    assert model.n_iter_ == 3


def test_ctrl_c_while_scouts_climb(monkeypatch):
    space = make_problem(BLOBS, engine="brute")
    whole = run(mean_shift(space, 2.0, tol=1e-4, config=WITH_SCOUTS), Stopping(0.5)).state
    chain, original, calls = mean_shift(space, 2.0, tol=1e-4, config=WITH_SCOUTS), BruteWorkspace.shift_all, []

    def interrupted(self, queries, h):
        calls.append(len(queries))
        if len(calls) == 4:
            raise KeyboardInterrupt
        return original(self, queries, h)

    monkeypatch.setattr(BruteWorkspace, "shift_all", interrupted)
    result = run(chain, Stopping(0.5))
    assert (result.outcome, result.state.k) == (Outcome.INTERRUPTED, 0)
    assert max(calls) < len(BLOBS) / 2  # the scouts were interrupted
    assert_array_equal(result.state.points, BLOBS)
    assert_array_equal(run(chain, Stopping(0.5), start=result.state).state.points, whole.points)


def two_ways(ends):
    """Paths of two scouts, through 7 and through 3, that meet at 5 and then continue to different modes."""
    stops = iter(np.array([[[7.0], [3.0]], [[5.0], [5.0]], ends]))

    def sweep(state):
        points = next(stops)
        return ChainState(points, 4.0, state.k + 2, np.ones(2)), SweepInfo(np.ones(1), 0.0)

    start = ChainState(np.array([[9.0], [1.0]]), 4.0, 0, np.full(2, np.inf))
    return scout_paths.record_paths(sweep, lambda state: np.full(2, state.k < 6), start, 1e-3, 10)


@pytest.mark.parametrize(("ends", "entered"), [([[5.5], [5.5]], [0, 1, 2]), ([[2.0], [8.0]], [0, 2])])
def test_a_cell_on_paths_to_different_modes_is_left_out(ends, entered):
    found = two_ways(ends)
    rows, owner = found.find(np.array([[7.0], [5.0], [3.0], [6.0], [8.9]]))
    assert_array_equal(rows, entered)
    assert_array_equal(found.ends[owner[[0, -1]]], ends)
    assert found.updates == 6


def test_cells_with_equal_hashes_are_distinguished(monkeypatch):
    monkeypatch.setattr(scout_paths, "hash_rows", lambda rows: np.zeros(len(rows), dtype=np.uint64))
    rows, owner = two_ways([[5.5], [5.5]]).find(np.array([[7.0], [9.0], [3.0]]))
    assert_array_equal(rows, [1])  # of several cells with one hash, the first is found
    assert_array_equal(owner, [0])


def test_scouts_are_spread_over_all_climbers():
    chosen = scout_paths.choose_scouts(np.arange(10_000)[::-1], 4.0)
    assert len(chosen) == 400
    assert (chosen[0], chosen[-1]) == (9999, 0)
    assert np.ptp(np.diff(chosen)) <= 1
    assert_array_equal(scout_paths.choose_scouts(np.arange(5), 4.0), np.arange(5))


def test_equal_seeds_are_shifted_once(monkeypatch):
    rows = counted(monkeypatch)
    run(mean_shift(make_problem(BLOBS), 2.0, tol=1e-4, queries=np.repeat(BLOBS[:1], 50, axis=0)), Stopping(0.5))
    assert set(rows) == {1}


@pytest.mark.parametrize("frequency", [1, 4])
@pytest.mark.parametrize("d", [1, 2, 3, 4])
def test_a_point_belongs_to_its_nearest_bin_seed(d, frequency):
    """The bin of a row is known without a search; it must equal the nearest seed."""
    X = make_blobs(400, n_features=d, centers=5, center_box=(-6, 6), random_state=d)[0]
    h = 1.3
    model = MeanShift(h, bin_seeding=True, min_bin_freq=frequency).fit(X)
    corners, counts = np.unique(np.round(X / h), axis=0, return_counts=True)
    seeds = corners[counts >= frequency] * h
    ends = MeanShift(h, seeds=seeds).fit(X)
    assert_allclose(np.sort(model.points_, axis=0), np.sort(ends.points_, axis=0), atol=1e-9)
    expected = ends.points_[nearest(seeds, X)]
    assert_allclose(model.cluster_centers_[model.labels_], expected, atol=h / 4)


@pytest.mark.parametrize("h", [3e-13, 1e-14, 1e-140])
def test_bins_finer_than_rounding_start_at_the_points(h):
    """A corner that rounding moves farther than h from its points would never climb."""
    X = BLOBS[:50] + 1e3
    model = MeanShift(h, bin_seeding=True).fit(X)
    assert_array_equal(model.cluster_centers_[model.labels_], X)


@given(states())
def test_weight_within_a_distance(state):
    """Points at distance h up to rounding may be counted or not; all others are counted exactly."""
    queries = np.concatenate([state.points, state.points[::2] + 0.3 * state.h])
    found = weight_within_radius(queries, state.points, state.h, state.weights)
    low, high = (
        kernel_mass(queries, state.points, state.h * factor, profile="flat", weights=state.weights)
        for factor in (1 - 1e-9, 1 + 1e-9)
    )
    assert (low <= found).all()
    assert (found <= high).all()
