"""Properties of public functions that no other file has any of; and a walk that says which have none at all."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.metrics import adjusted_rand_score

from modeseek import MeanShift, estimate_bandwidth
from modeseek._common.resources import (
    NotEnoughMemory,
    TimeUp,
    available_memory,
    check_memory,
    check_time,
    deadline,
    format_bytes,
    limit_memory,
    limit_time,
)
from modeseek.estimators import sweep_bandwidths
from modeseek.io import read_model, save
from modeseek.meanshift.bandwidth import (
    Anchored,
    Constant,
    LogLog,
    Power,
    Shrinking,
    Uniform,
    Walk,
    encode_policy,
    get_nu,
)
from modeseek.meanshift.chains import (
    Record,
    Stopping,
    as_record,
    blurring,
    make_problem,
    rebuild_trace,
    run,
    stochastic,
)
from modeseek.meanshift.kernels.profiles import PROFILES, custom_profile, failed_clauses, get_profile
from modeseek.meanshift.objective import (
    block_gradient,
    density,
    gradient,
    max_norm,
    mean_shift_vector,
    objective,
    shift_vector,
)
from modeseek.meanshift.theory import (
    STATEMENTS,
    Coverage,
    gradient_norms,
    partition_stays,
    proven,
    simulate_absorption,
    submartingale,
    walk_paths,
)
from modeseek.meanshift.types import ChainEnd
from modeseek.metrics import k_score
from modeseek.prepare import TablePreparer
from modeseek.scorers import ari_scorer, k_scorer, stability_scorer
from modeseek.selection.bandwidths import Range, automatic_range, complete_range, local_scales, score_bandwidths

few = settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
seeds = st.integers(0, 2**32 - 1)
bandwidths = st.floats(0.3, 3.0)


def cloud(seed, n=12, d=2):
    return np.random.default_rng(seed).normal(size=(n, d))


@few
@given(st.floats(0.01, 5.0), st.integers(1, 10**6))
def test_sequences_fall_from_one(a, k):
    for nu in (get_nu(a), get_nu("log-log"), get_nu("1/k")):
        one, two = nu(np.array([k, k + 1]))
        assert 0 < two <= one <= nu(np.array([1]))[0]
    assert get_nu(a) == Power(a)
    assert get_nu(get_nu(a)) == Power(a)


@few
@given(st.floats(0.1, 1.0), st.floats(0.0, 2.0), st.sampled_from([Shrinking, Walk, Uniform, Anchored]))
def test_a_policy_in_numbers_has_its_range(low, more, kind):
    recipe = encode_policy(kind(low, low + more))
    assert (recipe.h_min, recipe.h_max) == (low, low + more)
    assert low <= recipe.h_0 <= low + more
    assert encode_policy(Shrinking(low, low + more, nu=lambda k: 1.0 / k)) is None


@few
@given(seeds, st.floats(0.2, 1.0), st.floats(0.1, 2.0))
def test_walks_stay_in_their_range_and_are_absorbed_at_an_end(seed, low, more):
    walk = Walk(low, low + more)
    words = np.random.default_rng(seed).random((4, 20))
    paths = walk_paths(walk, words)
    assert ((paths >= low * (1 - 1e-12)) & (paths <= (low + more) * (1 + 1e-12))).all()
    for path, row in zip(paths, words, strict=True):
        np.testing.assert_allclose(path, walk.draw(row, walk.h_0, 0), rtol=1e-9)
    early, late = (simulate_absorption(walk, n_paths=50, n_draws=m, seed=seed % 100) for m in (5, 200))
    assert sum(early) == pytest.approx(1.0)
    assert late.inside <= early.inside


@few
@given(st.sampled_from([Walk, Shrinking, Uniform, Anchored]), st.sampled_from(sorted(PROFILES)), st.booleans())
def test_less_is_proven_of_more_general_set_ups(kind, profile, local):
    plain, other = proven(kind(0.2, 1.6)), proven(kind(0.2, 1.6), profile=profile, local_scale=local)
    assert set(plain) == set(STATEMENTS)
    order = [Coverage.PAPER, Coverage.EXTENSION, Coverage.OPEN]
    assert all(order.index(plain[name].coverage) <= order.index(other[name].coverage) for name in STATEMENTS)


@few
@given(seeds, bandwidths)
def test_gradients_vanish_and_partitions_stay_once_certified(seed, h):
    chain = stochastic(make_problem(cloud(seed)), h, seed=seed % 1000)
    norms = gradient_norms(chain, sweeps=3)
    assert norms.shape == (4,)
    assert norms[0] == pytest.approx(max_norm(gradient(cloud(seed), h)), rel=1e-9)
    result = run(chain, Stopping(tau=h / 4))
    assert partition_stays(chain, result.state, h / 4, sweeps=3)
    blurred = run(blurring(make_problem(cloud(seed)), h), Stopping(tau=h / 4))
    assert np.ptp(blurred.state.points) <= np.ptp(cloud(seed)) + 1e-12


@few
@given(seeds, bandwidths)
def test_the_objective_does_not_fall_in_the_mean(seed, h):
    found = submartingale(cloud(seed), Constant(h), n_draws=30, seed=seed % 1000)
    assert not found.refuted
    assert found.mean >= -1e-9  # at one bandwidth no update lowers it


@few
@given(seeds, bandwidths, st.integers(0, 11))
def test_vectors_blocks_and_densities_are_one_thing(seed, h, i):
    """The shift of a point is along its block of the gradient, and along that of the density."""
    points, profile = cloud(seed), get_profile("biweight")
    block = block_gradient(i, points, h)
    np.testing.assert_allclose(block, gradient(points, h)[i], atol=1e-12)
    assert max_norm(gradient(points, h)) >= np.linalg.norm(block) - 1e-12
    vector = mean_shift_vector(points[i], h, points, np.ones(12), profile)
    np.testing.assert_allclose(vector, shift_vector(points[i : i + 1], points, h)[0], atol=1e-12)
    assert vector @ block >= -1e-12
    here, there = density(np.stack([points[i], points[i] + vector]), points, h)
    assert there >= here * (1 - 1e-9) > 0
    assert objective(points, h) >= 12


@few
@given(st.floats(2.0, 6.0))
def test_profiles_of_ones_own(a):
    k, weight = (lambda t: (1 - t) ** a), (lambda t: a * (1 - t) ** (a - 1))
    assert failed_clauses(k, weight) == ([], [])
    own = custom_profile(k, weight)
    assert own.smooth
    assert get_profile(own) is own
    with pytest.raises(ValueError, match=r"\w"):
        custom_profile(lambda t: -k(t), weight)


@settings(few, max_examples=4)
@given(seeds, st.integers(-20, 20))
def test_ranges_scale_with_the_data(seed, power):
    rows, scale = cloud(seed, 40), 2.0**power
    here, there = automatic_range(rows), automatic_range(rows * scale)
    assert 0 < here.h_min <= here.h_inf <= here.h_max
    np.testing.assert_allclose(
        [there.h_min, there.h_inf, there.h_max], scale * np.array([here.h_min, here.h_inf, here.h_max]), rtol=1e-9
    )
    assert here.h_max <= 1.2 * max(each.h for each in score_bandwidths(rows)) * (1 + 1e-9)
    np.testing.assert_allclose(local_scales(rows), local_scales(rows * scale), rtol=1e-9)
    assert np.median(local_scales(rows)) == pytest.approx(1.0)
    wider = [estimate_bandwidth(rows, quantile=quantile) for quantile in (0.1, 0.5, 1.0)]
    assert wider == sorted(wider)
    assert estimate_bandwidth(rows * scale) == pytest.approx(scale * estimate_bandwidth(rows), rel=1e-9)


maybe = st.none() | st.floats(0.1, 10.0)


@few
@given(maybe, maybe, maybe)
def test_a_range_that_is_completed_keeps_what_was_given(h_min, h_inf, h_max):
    given_ = [each for each in (h_min, h_inf, h_max) if each is not None]
    if given_ != sorted(given_):
        with pytest.raises(ValueError, match="h_"):
            complete_range(h_min, h_inf, h_max, Range(1.0, 2.0, 3.0))
        return
    found = complete_range(h_min, h_inf, h_max, Range(1.0, 2.0, 3.0))
    assert 0 < found.h_min <= found.h_inf <= found.h_max
    for asked, got in zip((h_min, h_inf, h_max), (found.h_min, found.h_inf, found.h_max), strict=True):
        assert asked in (None, got)


@few
@given(seeds, bandwidths)
def test_scorers_score_predictions(seed, h):
    rows = cloud(seed, 30)
    truth = (rows[:, 0] > 0).astype(int)
    model = MeanShift(h).fit(rows[::2])
    told = model.predict(rows[1::2])
    assert ari_scorer(model, rows[1::2], truth[1::2]) == pytest.approx(adjusted_rand_score(truth[1::2], told))
    assert k_scorer(model, rows[1::2], truth[1::2]) == pytest.approx(k_score(truth[1::2], told))
    assert -1 <= stability_scorer(model, rows[1::2]) <= 1


@few
@given(st.floats(1.0, 1e18), st.floats(1.0, 1e18))
def test_memory_is_held_against_what_there_is(needed, there):
    assert available_memory() > 0
    with limit_memory(there):
        assert available_memory() == there
        if needed > there:
            with pytest.raises(NotEnoughMemory, match="something needs about"):
                check_memory(needed, "something", "Take less.")
        elif needed < there / 2:
            check_memory(needed, "something", "Take less.")
    number, unit = format_bytes(needed).split()
    size = {"MB": 1e6, "GB": 1e9, "TB": 1e12, "PB": 1e15, "EB": 1e18}[unit]
    assert float(number.replace(",", "")) * size == pytest.approx(needed, rel=0.06, abs=0.06e6)


@few
@given(st.floats(1e3, 1e6), st.floats(1e3, 1e6))
def test_the_nearer_of_two_deadlines_holds(outer, inner):
    with limit_time(outer):
        far = deadline()
        with limit_time(inner):
            assert deadline() <= far
            check_time()
        assert deadline() == far
        with limit_time(None):
            assert deadline() == far
    assert deadline() == math.inf
    with pytest.raises(TimeUp):
        check_time(-1.0)


@few
@given(st.sets(st.sampled_from(["clumps", "diameter", "gap", "objective", "snapshots"])))
def test_records_have_what_was_asked_for(names):
    record = as_record(sorted(names))
    assert {name for name in ("clumps", "diameter", "gap", "objective", "snapshots") if getattr(record, name)} == names
    assert as_record(record) is record
    assert as_record("all") == Record(clumps=1, diameter=1, gap=1, objective=1, snapshots=1)


@few
@given(seeds, bandwidths)
def test_draws_made_again_are_those_of_the_run(seed, h):
    chain = stochastic(make_problem(cloud(seed)), h, seed=seed % 1000)
    result = run(chain, Stopping(tau=h / 4))
    trace = rebuild_trace(
        chain, h / 4, ChainEnd(result.state, result.sweeps, result.outcome.name, result.trace.shift.values)
    )
    np.testing.assert_array_equal(trace.h.values, result.trace.h.values)
    np.testing.assert_array_equal(trace.h.k, result.trace.h.k)


@few
@given(seeds, bandwidths)
def test_models_are_read_as_they_were_saved(tmp_path, seed, h):
    rows = cloud(seed)
    preparer = TablePreparer(scale="none")
    model = MeanShift(h).fit(preparer.fit_transform({"x": rows[:, 0], "y": rows[:, 1]}))
    save(model, tmp_path / "a", preparer=preparer)
    saved = read_model(tmp_path / "a")
    assert saved.preparer.kept_columns_ == ("x", "y")
    np.testing.assert_array_equal(saved.predict(rows), model.labels_)
    np.testing.assert_array_equal(saved.predict({"y": rows[:, 1], "x": rows[:, 0]}), MeanShift(h).fit(rows).labels_)


@few
@given(arrays(np.float64, (8, 1), elements=st.integers(-50, 50), unique=True))
def test_a_sweep_goes_from_all_apart_to_all_in_one(rows):
    found = sweep_bandwidths(rows, [0.5, 3.0, 1e3])
    assert (found.n_clusters[0], found.n_clusters[-1]) == (8, 1)
    assert isinstance(get_nu("log-log"), LogLog)
