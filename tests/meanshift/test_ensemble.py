from __future__ import annotations

import _thread
import threading
import time
from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from modeseek.datasets import paper_mixture
from modeseek.meanshift import ensemble
from modeseek.meanshift.bandwidth import DrawPlan, Shrinking, Uniform, uniforms
from modeseek.meanshift.chains import Outcome, Stopping, doubly_stochastic, make_problem, mean_shift, run, stochastic
from modeseek.meanshift.ensemble import make_chains, run_chains

SPACE = make_problem(paper_mixture(20, random_state=0)[0])
MAKE = partial(doubly_stochastic, SPACE, Shrinking(0.2, 1.6, 0.6), seed=3)


@pytest.mark.parametrize("n_jobs", [None, 1, 2, 3, -1])
def test_results_do_not_depend_on_the_number_of_threads(n_jobs):
    alone = [run(MAKE(chain=number), Stopping(0.05)) for number in range(5)]
    results = run_chains(make_chains(MAKE, 5), Stopping(0.05), n_jobs=n_jobs)
    for result, expected in zip(results, alone, strict=True):
        assert_array_equal(result.state.points, expected.state.points)
        assert (result.outcome, result.sweeps) == (expected.outcome, expected.sweeps)
    assert_array_equal(results[0].trace.h.values, alone[0].trace.h.values)
    assert results[1].trace.h is None  # only the first chain is recorded
    assert (results[0].state.points != results[1].state.points).any()


@pytest.mark.parametrize(("n", "changes", "threads"), [(5, {}, 2), (600, {}, 16), (600, {"batch_size": 2}, 2)])
def test_chains_of_little_compiled_work_take_few_threads(n, changes, threads, monkeypatch):
    """Python code of several threads waits for the GIL."""
    requested, pool = [], ensemble.ThreadPoolExecutor
    monkeypatch.setattr(ensemble, "ThreadPoolExecutor", lambda workers: requested.append(workers) or pool(workers))
    space = make_problem(np.random.default_rng(0).normal(size=(n, 2)))
    make = partial(doubly_stochastic, space, Shrinking(0.2, 1.6, 0.6), seed=3, **changes)
    run_chains(make_chains(make, 16), Stopping(0.05, max_sweeps=1), n_jobs=16)
    assert requested == [threads]


def test_chains_of_different_algorithms():
    chains = [mean_shift(SPACE, 0.6), stochastic(SPACE, 0.6, seed=0)]
    outcomes = [result.outcome for result in run_chains(chains, Stopping(0.1), n_jobs=2)]
    assert outcomes == [Outcome.CLIMBED, Outcome.CERTIFIED]


def test_no_chains():
    assert run_chains([], Stopping(0.1), n_jobs=2) == []


def test_callbacks_come_one_at_a_time():
    inside, calls = threading.Lock(), []

    def note(state, info):
        assert inside.acquire(blocking=False)
        calls.append(state.k)
        inside.release()

    results = run_chains(make_chains(MAKE, 4), Stopping(0.05), n_jobs=3, callbacks=[note])
    assert len(calls) == sum(result.sweeps for result in results)


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_interruption_by_a_callback_ends_all_and_keeps_what_was_done(n_jobs):
    sweeps = []

    def stop(state, info):
        sweeps.append(1)
        if len(sweeps) == 7:
            raise KeyboardInterrupt

    results = run_chains(make_chains(MAKE, 6), Stopping(0.05), n_jobs=n_jobs, callbacks=[stop])
    assert [result.outcome for result in results] == [Outcome.INTERRUPTED] * 6
    assert 7 <= sum(result.sweeps for result in results) <= 7 + n_jobs
    assert results[-1].sweeps == 0
    for number, result in enumerate(results):  # and each can go on
        rest = run(MAKE(chain=number), Stopping(0.05), start=result.state)
        assert_array_equal(rest.state.points, run(MAKE(chain=number), Stopping(0.05)).state.points)


def test_ctrl_c_reaches_chains_on_other_threads():
    """Ctrl-C interrupts the main thread, which waits; a signal just before the wait does not end it."""
    begun = []

    def interrupt(state, info):
        if not begun:
            begun.append(1)
            _thread.interrupt_main()  # does not end the wait
        time.sleep(0.05)  # without the signal, the sweeps would take more than an hour

    stopping = Stopping(0.05, rule="shifts", threshold=0.0, max_sweeps=10**5, max_updates=10**9)
    results = run_chains(make_chains(MAKE, 2), stopping, n_jobs=2, callbacks=[interrupt])
    assert [result.outcome for result in results] == [Outcome.INTERRUPTED] * 2


def test_an_error_in_one_chain_is_raised_and_ends_the_others():
    def fail(state, info):
        raise RuntimeError("broken callback")

    with pytest.raises(RuntimeError, match="broken callback"):
        run_chains(make_chains(MAKE, 4), Stopping(0.05), n_jobs=2, callbacks=[fail])


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_one_chain_cannot_run_twice_at_once(n_jobs):
    chain = MAKE(chain=0)
    with pytest.raises(ValueError, match="a chain occurs twice"):
        run_chains([chain, chain._replace(name="other")], Stopping(0.05), n_jobs=n_jobs)


def test_make_chains_requires_at_least_one_chain():
    with pytest.raises(ValueError, match="n must be a whole number >= 1"):
        make_chains(MAKE, 0)
    assert len({np.float64(chain.sweep(chain.init())[0].points.sum()) for chain in make_chains(MAKE, 4)}) == 4


@pytest.mark.parametrize("n", [3, 700, 5000])
def test_draws_generated_ahead_are_those_of_each_sweep(n):
    """In any order, because a run may continue from an earlier state."""
    plan = DrawPlan(np.ones(n), Uniform(0.5, 1.0), seed=7, chain=2)
    for number in (0, 1, 9, 2000, 3, 2001):
        words = uniforms(7, 2, number * n + 1, n)
        draws = plan.sweep(number, 1.0).draws
        assert_array_equal(draws.indices, np.minimum(np.floor(n * words[:, 0]), n - 1))
        assert_array_equal(draws.bandwidths, 0.5 + 0.5 * words[:, 1])
