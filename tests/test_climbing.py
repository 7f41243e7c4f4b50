"""Climbers that come together climb as one: what plain climbing gives, for fewer sums."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import make_blobs

from inputs import states
from modeseek import MeanShift
from modeseek.chain import Stopping, mean_shift, run, setting
from modeseek.engines.brute import BruteWorkspace
from modeseek.neighbours import nearest
from modeseek.partition import components

BLOBS = make_blobs(600, centers=6, cluster_std=1.2, random_state=0)[0]
TOL = {"flat": 1e-3, "biweight": 1e-4, "gaussian": 1e-4}


def climb_alone(space, h, tol):
    """The slow twin: every climber by itself until its shift is at most tol * h."""
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
def test_together_is_alone_for_fewer_sums(profile, monkeypatch):
    h, tol, space = 2.0, TOL[profile], setting(BLOBS, profile=profile)
    alone, steps = climb_alone(space, h, tol)
    rows = counted(monkeypatch)
    together = run(mean_shift(space, h, tol=tol), Stopping(h / 4)).state.points
    # plateaus and rims let only climbers at one place join; otherwise ends differ by what stopping leaves open
    assert_allclose(together, alone, atol=(1e-8 if profile != "biweight" else 10 * tol) * h)
    assert_array_equal(components(together, h / 4), components(alone, h / 4))
    assert sum(rows) <= {"flat": 0.75, "biweight": 0.8, "gaussian": 1.0}[profile] * steps


@given(state=states(dimensions=(1, 2, 3, 5)))
@settings(max_examples=30)
def test_together_is_alone_on_ugly_data(state):
    space, tol = setting(state.points, state.weights), 1e-6
    alone, _ = climb_alone(space, state.h, tol)
    together = run(mean_shift(space, state.h, tol=tol), Stopping(state.h / 4, max_sweeps=10**5)).state
    assert (together.last_shift <= tol * state.h).all()
    assert_array_equal(components(together.points, state.h / 4), components(alone, state.h / 4))


@pytest.mark.parametrize("profile", TOL)
def test_a_chain_that_knows_nothing_goes_on_alike(profile):
    """What is remembered from sweep to sweep saves comparisons and must change nothing."""
    space = setting(BLOBS, profile=profile)

    def make():
        return mean_shift(space, 2.0, tol=TOL[profile])

    chain, state = make(), make().init()
    for _ in range(1000):
        if chain.frozen(state):
            break
        (next_state, info), (fresh_state, fresh_info) = chain.sweep(state), make().sweep(state)
        assert_array_equal(next_state.points, fresh_state.points)
        assert_array_equal(next_state.last_shift, fresh_state.last_shift)
        assert (next_state.k, info.largest_shift) == (fresh_state.k, fresh_info.largest_shift)
        state = next_state
    assert chain.frozen(state)


def test_the_order_of_climbers_changes_nothing(rng):
    space, order = setting(BLOBS), rng.permutation(len(BLOBS))
    ends = [
        run(mean_shift(space, 2.0, tol=1e-4, queries=queries), Stopping(0.5)).state.points
        for queries in (BLOBS, BLOBS[order])
    ]
    assert_array_equal(ends[0][order], ends[1])


def test_equal_seeds_cost_one(monkeypatch):
    rows = counted(monkeypatch)
    run(mean_shift(setting(BLOBS), 2.0, tol=1e-4, queries=np.repeat(BLOBS[:1], 50, axis=0)), Stopping(0.5))
    assert set(rows) == {1}


@pytest.mark.parametrize("frequency", [1, 4])
@pytest.mark.parametrize("d", [1, 2, 3, 4])
def test_a_point_belongs_to_its_nearest_bin_seed(d, frequency):
    """The bin of a row is known, so nobody searches; it must be what searching finds."""
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
    """A corner that rounding moves out of reach of its own points would never climb."""
    X = BLOBS[:50] + 1e3
    model = MeanShift(h, bin_seeding=True).fit(X)
    assert_array_equal(model.cluster_centers_[model.labels_], X)
