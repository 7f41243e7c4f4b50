"""Tests of runs that apply several sweeps at once: the same bits as one sweep after the other."""

from __future__ import annotations

import pickle
from threading import Event

import numpy as np
import pytest
from numba import njit
from numpy.testing import assert_allclose, assert_array_equal

from modeseek.meanshift.bandwidth import Anchored, Constant, DrawPlan, Shrinking, Uniform, Walk, compiled_draws, get_nu
from modeseek.meanshift.chains import (
    Outcome,
    Record,
    Stopping,
    Sweeps,
    doubly_stochastic,
    make_problem,
    run,
    stochastic,
)
from modeseek.meanshift.engines.brute import loops, sweep_loops
from modeseek.meanshift.engines.coincident_points import DEFAULT_MERGE, Merging, find_coincident


def two_groups(n, d, seed=0):
    points = np.random.default_rng(seed).normal(size=(n, d))
    points[: n // 2] += 4.0
    return points


def one_by_one(chain, stopping):
    sweeps = Sweeps(chain, stopping)
    for _ in sweeps:
        pass
    return sweeps.result()


def assert_same_result(result, expected):
    assert (result.outcome, result.sweeps) == (expected.outcome, expected.sweeps)
    for mine, other in zip(result.state, expected.state, strict=True):
        assert_array_equal(mine, other)
    for name in ("h", "shift"):
        for mine, other in zip(getattr(result.trace, name), getattr(expected.trace, name), strict=True):
            assert_array_equal(mine, other)


@pytest.mark.parametrize(
    ("n", "d", "changes"),
    [
        (20, 2, {}),
        (150, 2, {"order": "reshuffled"}),
        (150, 2, {"profile": "flat"}),
        (600, 2, {"weighted": True}),
        (120, 1, {"rule": "shifts"}),
        (120, 3, {"metric": "cosine"}),
        (90, 5, {"policy": Uniform}),
        (90, 2, {"policy": Walk, "weighted": True, "order": "even"}),
        (90, 2, {"policy": Anchored, "scales": True}),
        (90, 2, {"policy": Constant, "max_sweeps": 3}),
        (90, 2, {"max_updates": 91}),
        (60, 2, {"policy": Walk, "nu": 1.0, "order": "reshuffled"}),
        (60, 2, {"policy": Shrinking, "nu": 0.5, "scales": True, "profile": "flat", "weighted": True}),
        (40, 2, {"policy": Constant, "far": 1e7}),
        (40, 2, {"policy": Shrinking, "tiny": 1e-150}),
        (40, 1, {"same": True}),  # certified before the first sweep
        (200, 2, {"policy": Uniform, "spread": 60.0}),  # more clusters than points in most of them
        (1, 2, {}),
        (3000, 2, {"max_sweeps": 20}),  # fewer sweeps in one call than are left; memory was overwritten
    ],
)
def test_several_sweeps_at_once_are_those_of_one_after_the_other(n, d, changes):
    rng, s = np.random.default_rng(1), 0.6 * d**0.5
    points, weights = two_groups(n, d), rng.integers(1, 4, n).astype(float) if "weighted" in changes else None
    metric = changes.get("metric", "euclidean")
    points = points * changes.get("spread", 1.0) + changes.get("far", 0.0)
    points = np.zeros_like(points) if "same" in changes else points
    scale = changes.get("tiny", 1.0)
    points, s = points * scale, s * scale
    if metric == "cosine":
        points, s = points / np.linalg.norm(points, axis=1, keepdims=True), 0.3
    law = changes.get("policy", Shrinking)
    policy = Constant(s) if law is Constant else law(s / 2, 2 * s, s, get_nu(changes.get("nu", "log-log")))
    scales = rng.uniform(0.8, 1.2, n) if "scales" in changes else None
    limits = {name: changes[name] for name in ("rule", "max_updates") if name in changes}

    def chain(engine):
        profile = changes.get("profile", "biweight")
        problem = make_problem(points, weights, profile=profile, metric=metric, engine=engine)
        return doubly_stochastic(problem, policy, seed=1, order=changes.get("order", "random"), local_scales=scales)

    assert chain("brute").skip is not None
    stopping = Stopping(s / 8, max_sweeps=changes.get("max_sweeps", 150), **limits)
    assert_same_result(run(chain("brute"), stopping), one_by_one(chain("brute"), stopping))
    # rounding errors grow slowly
    few = Stopping(s / 8, max_sweeps=2)
    fast, slow = (run(chain(engine), few).state.points for engine in ("brute", "reference"))
    assert_allclose(fast, slow, rtol=0, atol=1e-9)


def test_a_run_can_be_split_anywhere():
    problem = make_problem(two_groups(200, 2), engine="brute")
    whole = run(stochastic(problem, 1.2, seed=0), Stopping(0.1))
    for sweeps in (1, 2, 5):
        start = run(stochastic(problem, 1.2, seed=0), Stopping(0.1, max_sweeps=sweeps)).state
        assert_array_equal(
            run(stochastic(problem, 1.2, seed=0), Stopping(0.1), start=start).state.points, whole.state.points
        )


def test_states_that_are_seen_are_not_skipped():
    """A callback, and a recorded quantity of the states, need every sweep."""
    problem, seen = make_problem(two_groups(60, 2), engine="brute"), []
    result = run(stochastic(problem, 1.2, seed=0), Stopping(0.1), callbacks=[lambda state, info: seen.append(state.k)])
    assert seen == [60 * sweep for sweep in range(1, result.sweeps + 1)]
    trace = run(stochastic(problem, 1.2, seed=0), Stopping(0.1), record=Record(clumps=1)).trace
    assert len(trace.clumps.k) == result.sweeps + 1


def test_addresses_of_compiled_code_are_not_pickled():
    """They are those of this process: chains on Dask workers would have crashed."""
    chain = stochastic(make_problem(two_groups(60, 2), engine="brute"), 1.2, seed=0)
    run(chain, Stopping(0.1))
    shifts = loops.shifts(1, 2, 0)
    assert "each_address" in vars(shifts)
    assert "each_address" not in vars(pickle.loads(pickle.dumps(shifts)))


def test_user_defined_policies_are_checked_after_each_sweep():
    class Own(Shrinking):
        pass

    problem = make_problem(two_groups(60, 2), engine="brute")
    assert doubly_stochastic(problem, Own(0.6, 2.4, 1.2), seed=0).skip is None
    assert doubly_stochastic(problem, Shrinking(0.6, 2.4, 1.2), seed=0, batch_size=2).skip is None


def test_an_event_ends_a_run():
    chain, stop = stochastic(make_problem(two_groups(60, 2)), 1.2, seed=0), Event()
    stop.set()
    result = run(chain, Stopping(0.1), stop=stop)
    assert (result.outcome, result.sweeps) == (Outcome.INTERRUPTED, 0)


@pytest.mark.parametrize("n", [1, 7, 8, 9, 100, 777])
def test_the_compiled_order_is_stable(n):
    line, order, spare = np.random.default_rng(n).integers(0, 20, n).astype(float), *np.empty((2, n), dtype=np.int64)
    sweep_loops._sort.py_func(line, order, spare)
    assert_array_equal(order, np.argsort(line, kind="stable"))


@pytest.mark.parametrize("groups", [1, 3, 40])
@pytest.mark.parametrize("d", [1, 2, 6])
def test_the_compiled_groups_are_those_of_the_search(groups, d):
    rng = np.random.default_rng(groups)
    points = rng.normal(size=(groups, d))[rng.integers(0, groups, 120)]
    points *= 1.0 + rng.integers(-1, 2, points.shape) * 2.0**-52
    n = len(points)
    scratch = sweep_loops.Scratch.empty(d, n, 0)
    find = sweep_loops._find_coincident.py_func
    expected = find_coincident(points)
    number = len({tuple(np.round(point, 9)) for point in points})
    found = _interpreted(find, points.T.copy(), Merging.of(DEFAULT_MERGE, d, points.dtype), scratch)
    assert found == len(expected.leaders) == number
    pairs = {*zip(scratch.group.tolist(), expected.group.tolist(), strict=True)}
    assert len(pairs) == number  # the same groups


def _interpreted(function, *arguments):
    """Call a function of compiled code, as Python code, with the compiled functions that it uses as Python code too."""
    from types import FunctionType

    plain = {name: getattr(value, "py_func", value) for name, value in function.__globals__.items()}
    return FunctionType(function.__code__, plain)(*arguments)


@njit
def _drawn(code, h, words, indices, path, bandwidths):
    """Make the draws of a sweep; only compiled code can call these functions."""
    compiled_draws.draw_words(code, 0, words, path)
    compiled_draws.draw_points(code, words, indices)
    compiled_draws.draw_bandwidths(code, 0, h, path, indices, bandwidths)
    return compiled_draws.upper_bound(code, len(path), path[-1])


@pytest.mark.parametrize("law", [Constant, Uniform, Shrinking, Anchored, Walk])
@pytest.mark.parametrize("nu", ["log-log", 0.3, 1.0])
@pytest.mark.parametrize("number", [0, 5, 10**6])
def test_compiled_draws_are_those_of_the_plan(law, nu, number):
    n, rng = 3000, np.random.default_rng(number)
    policy = Constant(0.7) if law is Constant else law(0.2, 1.6, 0.6, get_nu(nu))
    plan = DrawPlan(rng.uniform(0.5, 2.0, n), policy, 2**63 + 5, 7, local_scales=rng.uniform(0.5, 2.0, n))
    code, h = plan.encoded(number * n, n, 1.0), 0.61
    expected = plan.sweep(number, h)
    words, path, bandwidths, indices = np.empty(n), np.empty(n), np.empty(n), np.empty(n, dtype=np.intp)
    found = _drawn(code, h, words, indices, path, bandwidths)
    assert_array_equal(indices, expected.draws.indices)
    assert_array_equal(path, expected.path)
    assert_array_equal(bandwidths, expected.draws.bandwidths)
    upper = plan.upper((number + 1) * n, path[-1]) * plan.local_scales.max()
    assert_allclose(found, upper, rtol=1e-14)
