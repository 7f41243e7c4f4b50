from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from numpy.testing import assert_allclose, assert_array_equal

from inputs import states
from modeseek.datasets import paper_mixture
from modeseek.meanshift.bandwidth import Constant, Shrinking, Uniform, Walk
from modeseek.meanshift.chains import (
    Outcome,
    Record,
    Stopping,
    Sweeps,
    as_record,
    blurring,
    doubly_stochastic,
    make_problem,
    mean_shift,
    partition,
    run,
    stochastic,
)
from modeseek.meanshift.chains.stopping import _is_due
from modeseek.meanshift.components import components
from modeseek.meanshift.objective import objective


@pytest.fixture
def space():
    return make_problem(paper_mixture(20, random_state=0)[0])


def make_chains(space):
    return {
        "ms": mean_shift(space, 0.6),
        "bms": blurring(space, 0.6),
        "sms": stochastic(space, 0.6, seed=1),
        "dsms": doubly_stochastic(space, Shrinking(0.2, 1.6, 0.6), seed=1),
        "batches": doubly_stochastic(space, Uniform(0.2, 1.6), seed=1, batch_size=7),
        "reshuffled": doubly_stochastic(space, Walk(0.2, 1.6), seed=1, order="reshuffled"),
        "scaled": stochastic(space, 0.6, seed=1, local_scales=np.linspace(0.5, 2, len(space.points))),
    }


CHAINS = list(make_chains(make_problem(np.zeros((1, 1)))))


@pytest.mark.parametrize("name", CHAINS)
def test_protocol(name, space):
    """One test for all algorithms: init and sweep are pure, the state is carried, the info is not."""
    chain = make_chains(space)[name]
    start = chain.init()
    assert start.k == 0
    assert np.isinf(start.last_shift).all()
    before = start.points.copy()
    first, info = chain.sweep(start)
    assert_array_equal(start.points, before)
    assert first.k > 0
    # a point that moved twice keeps its last shift, so the longest of the sweep may be gone from the state
    assert info.largest_shift >= first.last_shift[np.isfinite(first.last_shift)].max() > 0
    second, _ = chain.sweep(first)
    again, _ = chain.sweep(first)  # from the same state the same step, whatever was run in between
    assert_array_equal(second.points, again.points)
    assert_array_equal(second.last_shift, again.last_shift)


@pytest.mark.parametrize("name", CHAINS)
def test_a_run_split_in_two_gives_the_same_states(name, space):
    chain = make_chains(space)[name]
    tau = chain.h_min / 4
    whole = run(chain, Stopping(tau))
    first = run(chain, Stopping(tau, max_sweeps=3))
    assert first.outcome is Outcome.UPDATE_LIMIT
    fresh = make_chains(space)[name]  # another process would make a new chain
    second = run(fresh, Stopping(tau), start=first.state)
    assert_array_equal(whole.state.points, second.state.points)
    assert whole.state.k == second.state.k
    assert whole.outcome is second.outcome


@pytest.mark.parametrize("name", CHAINS)
def test_all_algorithms_converge_and_report_the_outcome(name, space):
    chain = make_chains(space)[name]
    result = run(chain, Stopping(chain.h_min / 4))
    # with a bandwidth for each point, a clump may see another that does not see it: such a state rests uncertified
    expected = {"ms": Outcome.CLIMBED, "scaled": Outcome.SMALL_SHIFTS}.get(name, Outcome.CERTIFIED)
    assert result.outcome is expected
    assert result.outcome.converged
    part = partition(chain, result, chain.h_min / 4)
    assert part.certified == (expected is Outcome.CERTIFIED)


@pytest.mark.parametrize("engine", ["reference", "brute"])
def test_engines_give_the_same_labels(engine):
    X = paper_mixture(20, random_state=3)[0]
    labels = []
    for name in ("reference", engine):
        chain = doubly_stochastic(make_problem(X, engine=name), Shrinking(0.2, 1.6, 0.6), seed=5)
        labels.append(partition(chain, run(chain, Stopping(0.05)), 0.05).labels)
    assert_array_equal(*labels)


def test_doubly_stochastic_at_one_bandwidth_is_stochastic(space):
    one = run(doubly_stochastic(space, Constant(0.6), seed=4), Stopping(0.1))
    other = run(stochastic(space, 0.6, seed=4), Stopping(0.1))
    assert_array_equal(one.state.points, other.state.points)


@pytest.mark.parametrize("order", ["random", "reshuffled"])
def test_a_batch_of_all_points_is_blurring(space, order):
    n = len(space.points)
    batch = stochastic(space, 0.6, seed=4, batch_size=n, order=order)
    blur = blurring(space, 0.6)
    a, b = batch.init(), blur.init()
    for _ in range(4):
        (a, _), (b, _) = batch.sweep(a), blur.sweep(b)
        assert_array_equal(a.points, b.points)
        assert a.k == b.k


def test_blurring_is_the_operator_on_all_points(space):
    from modeseek.meanshift.objective import shift

    state, _ = blurring(space, 0.6).sweep(blurring(space, 0.6).init())
    assert_allclose(state.points, shift(space.points, space.points, 0.6), atol=1e-14)


def test_mean_shift_does_not_move_the_data(space):
    from modeseek.meanshift.objective import shift

    chain = mean_shift(space, 0.6)
    first, _ = chain.sweep(chain.init())
    second, _ = chain.sweep(first)
    assert_allclose(second.points, shift(first.points, space.points, 0.6), atol=1e-14)


def test_a_climber_that_arrived_does_not_move(space):
    chain = mean_shift(space, 0.6, tol=1e-3)
    result = run(chain, Stopping(0.1))
    further, info = chain.sweep(result.state)
    assert_array_equal(further.points, result.state.points)
    assert further.k == result.state.k
    assert info.largest_shift == 0.0


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
def test_mean_shift_converges_at_any_scale(scale):
    """Climbers stopped at tol * h while the run waited for an absolute threshold: it never ended for large h."""
    chain = mean_shift(make_problem(scale * paper_mixture(20, random_state=0)[0]), 0.6 * scale)
    result = run(chain, Stopping(0.1 * scale, max_sweeps=2000))
    assert result.outcome is Outcome.CLIMBED
    assert (result.state.last_shift <= 1e-6 * 0.6 * scale).all()


def test_a_long_run_split_anywhere_gives_the_same_states():
    """After 32 sweeps the certificate is checked less often, and a resumed run must keep this schedule."""
    seeds = [seed for seed in range(40) if run_dsms(seed).sweeps >= 40]
    assert len(seeds) >= 3
    for seed in seeds:
        whole = run_dsms(seed)
        for cut in (1, 20, 37):
            first = run_dsms(seed, max_sweeps=cut)
            second = run_dsms(seed, start=first.state)
            assert second.state.k == whole.state.k
            assert_array_equal(second.state.points, whole.state.points)


def run_dsms(seed, max_sweeps=None, start=None):
    space = make_problem(paper_mixture(50, random_state=seed)[0])
    chain = doubly_stochastic(space, Shrinking(0.2, 1.6, 0.6), seed=seed)
    return run(chain, Stopping(0.05, max_sweeps=max_sweeps), start=start)


def test_seeds_and_chains_differ_and_repeat(space):
    def end(seed, chain):
        return run(stochastic(space, 0.6, seed=seed, chain=chain), Stopping(0.1)).state.points

    assert_array_equal(end(0, 0), end(0, 0))
    assert (end(0, 0) != end(1, 0)).any()
    assert (end(0, 0) != end(0, 1)).any()


def test_update_and_time_limits(space):
    chain = stochastic(space, 0.6, seed=0)
    n = len(space.points)
    result = run(chain, Stopping(0.1, max_updates=n + 1))
    assert (result.outcome, result.state.k) == (Outcome.UPDATE_LIMIT, 2 * n)
    result = run(chain, Stopping(0.1, max_time=1e-9))
    assert (result.outcome, result.sweeps) == (Outcome.TIME_LIMIT, 0)  # cut short within its first sweep
    assert not result.outcome.converged


def test_default_limit_on_updates(space):
    chain = stochastic(space, 0.6, seed=0)
    assert Stopping(0.1).limit(chain) == 10**7
    large = stochastic(make_problem(np.arange(10.0**5)[:, None]), 0.5, seed=0)
    assert Stopping(0.1).limit(large) == 2 * 10**7


def test_the_papers_rule(space):
    chain = stochastic(space, 0.6, seed=0)
    strict = run(chain, Stopping(0.1, rule="shifts", threshold=1e-6))
    assert strict.outcome is Outcome.SMALL_SHIFTS
    assert (strict.state.last_shift <= 1e-6).all()
    lax = run(chain, Stopping(0.1, rule="shifts", threshold=1e-6, fraction=0.5))
    assert np.mean(lax.state.last_shift <= 1e-6) >= 0.5
    assert lax.state.k < strict.state.k
    assert run(chain, Stopping(0.1)).state.k <= strict.state.k  # the certificate comes first


def test_points_at_distance_h_end_by_small_shifts():
    # exactly h apart: out of reach, yet no gap above h for a certificate
    chain = stochastic(make_problem([[0.0], [1.0], [2.0]]), 1.0, seed=0)
    result = run(chain, Stopping(0.2))
    assert result.outcome is Outcome.SMALL_SHIFTS
    assert partition(chain, result, 0.2).n_clusters == 3


def test_a_policy_with_unknown_upper_end_falls_back_on_shifts(space):
    class Mine:
        """A policy in plain Python, as in the documentation."""

        h_0 = h_min = 0.6

        def draw(self, uniforms, h, k):
            return [0.6 + 0.2 * u for u in uniforms]

        def upper(self, h, k):
            return float("inf")

    chain = doubly_stochastic(space, Mine(), seed=0)
    result = run(chain, Stopping(0.1))
    assert result.outcome is Outcome.SMALL_SHIFTS
    assert not partition(chain, result, 0.1).certified


def test_interruption_keeps_the_last_whole_sweep(space):
    chain = stochastic(space, 0.6, seed=0)

    def stop(state, info):
        if state.k >= 3 * len(space.points):
            raise KeyboardInterrupt

    result = run(chain, Stopping(0.1), callbacks=[stop])
    assert result.outcome is Outcome.INTERRUPTED
    assert result.state.k == 3 * len(space.points)
    rest = run(chain, Stopping(0.1), start=result.state)
    assert_array_equal(rest.state.points, run(chain, Stopping(0.1)).state.points)


def test_interruption_inside_a_sweep(space, monkeypatch):
    chain = stochastic(space, 0.6, seed=0)
    state, _ = chain.sweep(chain.init())
    expected, _ = chain.sweep(state)
    from modeseek.meanshift.engines.brute.engine import BruteWorkspace

    original, calls = BruteWorkspace.shift_one_by_one, []

    def broken(self, draws):
        original(self, draws)  # the state in the workspace has changed
        calls.append(1)
        raise KeyboardInterrupt

    monkeypatch.setattr(BruteWorkspace, "shift_one_by_one", broken)
    with pytest.raises(KeyboardInterrupt):
        chain.sweep(state)
    monkeypatch.setattr(BruteWorkspace, "shift_one_by_one", original)
    assert calls
    assert_array_equal(chain.sweep(state)[0].points, expected.points)


def test_trace(space):
    chain = doubly_stochastic(space, Shrinking(0.2, 1.6, 0.6), seed=0)
    n = len(space.points)
    record = Record(h=1, shift=1, clumps=2, objective=3, snapshots=4)
    result = run(chain, Stopping(0.05, max_sweeps=12), record=record)
    trace = result.trace
    assert_array_equal(trace.h.k, np.arange(1, 12 * n + 1))
    assert_array_equal(trace.shift.k, n * np.arange(1, 13))
    assert_array_equal(trace.clumps.k, n * np.arange(0, 13, 2))
    assert_array_equal(trace.objective.k, n * np.arange(0, 13, 3))
    assert_array_equal(trace.snapshots.k, n * np.arange(0, 13, 4))
    assert trace.snapshots.values.shape == (4, *space.points.shape)
    assert_array_equal(trace.snapshots.values[0], space.points)
    assert trace.clumps.values[0] == components(space.points, 0.05).max() + 1
    assert trace.h.values.min() >= 0.2
    assert trace.h.values[-1] == result.state.h


def test_trace_memory_is_bounded(space):
    chain = stochastic(space, 0.6, seed=0)
    record = Record(h=1, shift=1, snapshots=1, limit=64)
    result = run(chain, Stopping(0.1, threshold=0.0, rule="shifts", max_sweeps=300), record=record)
    trace = result.trace
    assert 16 <= len(trace.shift.k) <= 64
    assert 4 <= len(trace.snapshots.k) <= 9  # the last state is always there
    for k in (trace.shift.k, trace.snapshots.k[:-1]):
        assert len(set(np.diff(k))) == 1  # evenly spaced still
    assert trace.snapshots.k[-1] == result.state.k


def test_the_first_draws_stay_in_a_long_run(space):
    chain = doubly_stochastic(space, Shrinking(0.2, 1.6, 0.6), seed=0)
    stopping = Stopping(0.05, threshold=0.0, rule="shifts", max_sweeps=100)
    whole, some = (run(chain, stopping, record=Record(limit=limit)).trace.h for limit in (10**6, 16))
    assert len(some.k) <= 16 + 8 * np.log2(whole.k[-1])
    assert_array_equal(some.values, whole.values[some.k - 1])
    assert (np.diff(some.k) > 0).all()
    assert some.k[0] == 1
    assert (np.diff(some.k) <= np.maximum(some.k[:-1] / 8, 1)).all()


def test_recorded_quantities_are_those_of_the_state(space):
    chain = doubly_stochastic(space, Shrinking(0.2, 1.6, 0.6), seed=0)
    result = run(chain, Stopping(0.05, max_sweeps=9), record=as_record("all"))
    part = partition(chain, result, 0.05)
    trace = result.trace
    assert trace.clumps.values[-1] == part.n_clusters
    assert (trace.diameter.values[-1], trace.gap.values[-1]) == (part.diameter, part.gap)
    assert trace.objective.values[-1] == objective(result.state.points, result.state.h, weights=space.weights)
    assert_array_equal(trace.snapshots.values[-1], result.state.points)
    one = run(stochastic(make_problem([[0.0], [0.1]]), 5.0, seed=0), Stopping(0.5), record=as_record(["gap"])).trace
    assert np.isinf(one.gap.values[-1])
    assert one.diameter is None


@pytest.mark.parametrize(("size", "most"), [(1000, 128), (1 << 22, 16), (1 << 28, 8)])
def test_large_states_have_few_snapshots(size, most):
    assert Record().snapshot_limit(size) == most


@pytest.mark.parametrize("bad", ["snapshot", ["clumps", "gaps"], [3]])
def test_a_wrong_name_to_record(bad):
    with pytest.raises(ValueError, match="record must be one of 'all', 'h', 'shift', 'clumps'"):
        as_record(bad)


def test_a_wrong_kind_of_record():
    with pytest.raises(TypeError, match="record must be None, a Record, or some of the names 'all'"):
        as_record(3)


def test_record_nothing(space):
    trace = run(stochastic(space, 0.6, seed=0), Stopping(0.1), record=Record(h=None, shift=None)).trace
    assert trace.h is trace.shift is trace.objective is None


def test_the_iterator_yields_the_states_of_the_run(space):
    def make():
        return doubly_stochastic(space, Shrinking(0.2, 1.6, 0.6), seed=2)

    whole, sweeps, chain = run(make(), Stopping(0.05)), Sweeps(make(), Stopping(0.05)), make()
    state = chain.init()
    for number, (found, info) in enumerate(sweeps, 1):
        state, expected = chain.sweep(state)
        assert_array_equal(found.points, state.points)
        assert_array_equal(info.bandwidths, expected.bandwidths)
        assert sweeps.sweeps == number
        assert sweeps.state is found
    assert sweeps.outcome is whole.outcome is Outcome.CERTIFIED
    assert_array_equal(sweeps.result().trace.h.values, whole.trace.h.values)
    assert sweeps.result().sweeps == whole.sweeps
    with pytest.raises(StopIteration):
        next(sweeps)


@pytest.mark.parametrize("name", ["sms", "dsms", "batches", "reshuffled", "scaled", "bms", "ms"])
def test_sweeps_in_parts_end_where_whole_sweeps_end(name, space):
    whole, seen = run(make_chains(space)[name], Stopping(0.04, max_sweeps=8)), []
    sizes = iter([1, 2, 3, 5, 8, 13, 21, 34] * 1000)
    sweeps = Sweeps(make_chains(space)[name], Stopping(0.04, max_sweeps=8), part_size=lambda: next(sizes))
    for state, info in sweeps:
        seen.append((info.sweeps, state.k, state.points))
    assert [sweep for sweep, *_ in seen].count(1) == whole.sweeps
    assert len(seen) > whole.sweeps or name in ("bms", "ms")
    assert (np.diff([k for _, k, _ in seen]) > 0).all()
    result = sweeps.result()
    assert_array_equal(result.state.points, whole.state.points)
    assert_array_equal(result.state.last_shift, whole.state.last_shift)
    assert_array_equal(result.trace.h.values, whole.trace.h.values)
    assert_array_equal(result.trace.shift.values, whole.trace.shift.values)
    assert (result.state.k, result.state.h, result.outcome) == (whole.state.k, whole.state.h, whole.outcome)


def test_a_loop_of_your_own_can_stop_and_be_continued(space):
    chain = doubly_stochastic(space, Shrinking(0.2, 1.6, 0.6), seed=2)
    sweeps = Sweeps(chain, Stopping(0.05), record=Record.nothing())
    for state, _ in sweeps:
        if state.k >= 3 * len(space.points):
            break
    result = sweeps.result()
    assert (result.outcome, result.sweeps) == (Outcome.INTERRUPTED, 3)
    assert result.trace.h is result.trace.shift is None
    assert next(sweeps, None) is None
    rest = run(chain, Stopping(0.05), start=result.state)
    assert_array_equal(rest.state.points, run(chain, Stopping(0.05)).state.points)


def test_callbacks_see_every_sweep(space):
    seen = []
    result = run(stochastic(space, 0.6, seed=0), Stopping(0.1), callbacks=[lambda s, i: seen.append(s.k)])
    assert seen == [len(space.points) * (s + 1) for s in range(result.sweeps)]


def test_the_certificate_is_checked_less_often_in_long_runs():
    due = [s for s in range(2000) if _is_due(s)]
    assert due[:33] == list(range(33))
    late = np.array(due[40:])
    assert (np.diff(late) / late[:-1]).max() < 0.07


@given(states(dimensions=(1, 2, 3)))
@settings(max_examples=30)
def test_every_state_ends_certified_unless_clumps_are_at_distance_h(state):
    space = make_problem(state.points, state.weights)
    chain = doubly_stochastic(space, Uniform(0.5 * state.h, state.h), seed=state.seed)
    result = run(chain, Stopping(0.1 * state.h, max_sweeps=5000))
    if result.outcome is not Outcome.CERTIFIED:
        # just inside the largest bandwidth: rarely seen, and weakly; they merge, but not within 5,000 sweeps
        assert 0.95 * state.h < partition(chain, result, 0.1 * state.h).gap <= state.h * (1 + 1e-9)


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ({"tau": 0.0}, "tau"),
        ({"tau": 0.1, "rule": "shift"}, "Did you mean 'shifts'"),
        ({"tau": 0.1, "fraction": 1.5}, "fraction"),
        ({"tau": 0.1, "max_updates": 0}, "max_updates"),
        ({"tau": 0.1, "max_sweeps": 0}, "max_sweeps"),
        ({"tau": 0.1, "max_time": -1.0}, "max_time"),
    ],
)
def test_bad_stopping(arguments, match):
    with pytest.raises(ValueError, match=match):
        Stopping(**arguments)


def test_tau_is_checked_against_the_chain(space):
    with pytest.raises(ValueError, match="tau must be below h_min / 2"):
        run(stochastic(space, 0.6, seed=0), Stopping(0.3))


def test_make_problem_checks_its_arguments():
    with pytest.raises(ValueError, match="unit vectors"):
        make_problem([[2.0, 0.0]], metric="cosine")
    with pytest.raises(ValueError, match="metric"):
        make_problem([[2.0, 0.0]], metric="cosin")
