"""The GPU engine gives the reference's states: on Numba's simulator (NUMBA_ENABLE_CUDASIM=1), or on a device.

The simulator runs every thread in Python, so inputs are small. Without either, only what needs none is tested.
"""

from __future__ import annotations

import csv
import subprocess
import sys
from functools import partial
from importlib.util import find_spec
from io import StringIO

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from inputs import DEGENERATE, gpu, states
from modeseek import DoublyStochasticMeanShift, MeanShift, StochasticMeanShift
from modeseek._common.types import Geometry
from modeseek.estimators import sweep_bandwidths
from modeseek.meanshift.bandwidth import (
    Anchored,
    Constant,
    DrawPlan,
    Power,
    Shrinking,
    Uniform,
    Walk,
    encode_policy,
    uniforms,
)
from modeseek.meanshift.chains import (
    Checkpoint,
    Outcome,
    Record,
    Stopping,
    doubly_stochastic,
    make_problem,
    partition,
    run,
)
from modeseek.meanshift.engines import CUDA, ENGINES, choose
from modeseek.meanshift.engines.cuda import CudaEngine
from modeseek.meanshift.engines.cuda import engine as cuda_engine
from modeseek.meanshift.engines.cuda.config import CudaConfig
from modeseek.meanshift.ensemble import make_chains, run_chains
from modeseek.meanshift.kernels.profiles import BIWEIGHT, PROFILES, custom_profile
from modeseek.paper.job_list import JobList, run_jobs
from modeseek.paper.sparse import Sparse

if cuda_engine.why_unavailable() is None:  # the simulator looks for `cuda` among the names of a kernel's module
    from numba import cuda

    from modeseek.meanshift.engines.cuda.kernels import policies
    from modeseek.meanshift.engines.cuda.kernels.chain_draws import round_keys, uniform_pair


few = settings(max_examples=6, suppress_health_check=list(HealthCheck))
METRICS = ("euclidean", "cosine")


def data(n, d, rng, metric="euclidean", dtype=np.float64):
    rows = rng.normal(size=(n, d)) * 0.4 + 3.0 * (np.arange(n)[:, None] % 2)
    if metric == "cosine":
        rows = rows + 0.3
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return rows.astype(dtype)


def both(points, weights, profile, metric="euclidean"):
    geometry = Geometry(metric)
    return [ENGINES[name].open(points, weights, profile, geometry, None) for name in ("reference", "cuda")]


# --- what needs no device


def test_custom_profiles_are_refused():
    own = custom_profile(lambda t: (1 - t) ** 2, lambda t: 2 * (1 - t), name="mine")
    with pytest.raises(ValueError, match="profile 'mine' is a custom profile"):
        choose("cuda", own, np.zeros((3, 2)))


def test_missing_package_is_named(monkeypatch):
    monkeypatch.setattr(cuda_engine, "find_spec", lambda name: None)
    cuda_engine.why_unavailable.cache_clear()
    try:
        with pytest.raises(ValueError, match=r"pip install .modeseek\[cuda\]"):
            MeanShift(1.0, engine="cuda").fit(np.eye(3))
    finally:
        cuda_engine.why_unavailable.cache_clear()


@pytest.mark.skipif(find_spec("numba_cuda") is None, reason="numba-cuda is not installed")
def test_missing_device_is_named():
    """In a separate process without a device."""
    code = (
        "from modeseek.meanshift.engines.cuda.engine import why_unavailable; reason = why_unavailable();"
        "assert 'numba -s' in reason and ('no NVIDIA GPU' in reason or 'cannot be used' in reason), reason"
    )
    environment = {"CUDA_VISIBLE_DEVICES": "", "NUMBA_ENABLE_CUDASIM": "0", "PYTHONPATH": "src"}
    subprocess.run([sys.executable, "-c", code], check=True, env=environment)


def test_importing_the_engine_imports_no_compiler():
    code = "import sys, modeseek.meanshift.engines; assert 'numba' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True, env={"PYTHONPATH": "src"})


def test_auto_uses_the_cpu_for_small_work(monkeypatch):
    calls = []
    monkeypatch.setattr(cuda_engine, "why_unavailable", lambda: calls.append(1))
    monkeypatch.setattr(cuda_engine.os, "cpu_count", lambda: 4)
    points = np.zeros((600, 2))
    assert choose("auto", BIWEIGHT, points, 1.0).name != "cuda"
    assert choose("auto", BIWEIGHT, points, 1.0, chains=500).name != "cuda"
    assert not calls  # no device is searched for
    assert choose("auto", BIWEIGHT, points, 1.0, chains=100_000) is CUDA
    assert choose("auto", BIWEIGHT, np.zeros((600, 64)), 1.0, chains=100_000).name != "cuda"
    monkeypatch.setattr(cuda_engine, "why_unavailable", lambda: "there is none")
    assert choose("auto", BIWEIGHT, points, 1.0, chains=100_000).name != "cuda"


def test_only_built_in_policies_are_encoded():
    class Mine(Uniform):
        """A subclass, which may override the draws."""

    assert encode_policy(Mine(0.5, 1.0)) is None
    assert encode_policy(Shrinking(0.5, 1.0, 0.7, Power(0.5)))[-2:] == (1, 0.5)


# --- draws


@gpu
@given(seed=st.integers(0, 2**64 - 1), chain=st.integers(0, 2**32), first=st.integers(1, 2**40))
@few
def test_uniforms(seed, chain, first):
    @cuda.jit
    def kernel(keys, first, out):
        k = cuda.grid(1)
        if k < len(out):
            out[k, 0], out[k, 1] = uniform_pair(keys, first + k)

    out = cuda.device_array((5, 2), np.float64)
    kernel[1, 8](cuda.to_device(round_keys(seed, chain)), first, out)
    assert_array_equal(out.copy_to_host(), uniforms(seed, chain, first, 5, width=2))


@gpu
@pytest.mark.parametrize("nu", [None, Power(0.5)], ids=["log-log", "power"])
@pytest.mark.parametrize("policy", [Constant, Uniform, Shrinking, Anchored, Walk])
def test_policies(policy, nu, rng):
    """Bandwidths, upper bounds and `frozen`, number by number."""
    made = policy(0.7) if policy is Constant else policy(0.2, 1.6, 0.6, *([] if nu is None else [nu]))
    u, begin = rng.uniform(size=12), 40

    @cuda.jit
    def kernel(recipe, u, h, begin, out):
        for k in range(len(u)):
            at = begin + k + 1
            if recipe[0] == policies.WALK:
                h = policies.draw_walk(recipe, u[k], policies.nu_of(recipe, at), h)
            else:
                h = policies.draw(recipe, u[k], at)
            out[k, 0], out[k, 1] = h, policies.upper(recipe, h, at)

    out = cuda.device_array((12, 2), np.float64)
    kernel[1, 1](
        cuda.to_device(np.array(encode_policy(made), dtype=np.float64)), cuda.to_device(u), made.h_0, begin, out
    )
    found = out.copy_to_host()
    path = made.draw(u, made.h_0, begin)
    assert_allclose(found[:, 0], path, rtol=1e-14)
    assert_allclose(found[:, 1], [made.upper(h, begin + k + 1) for k, h in enumerate(path)], rtol=1e-14)


# --- sums


@gpu
@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize(
    ("d", "profile"), [*((2, name) for name in PROFILES), (1, "biweight"), (3, "flat"), (17, "biweight"), (17, "flat")]
)
def test_shifts(d, profile, metric, rng):
    """One after the other, in batches, and all at once, with weights."""
    if d == 1 and metric == "cosine":
        return
    n, m, profile = 21 if d < 17 else 9, 7, PROFILES[profile]
    points, queries = data(n, d, rng, metric), data(m, d, rng, metric)
    weights = rng.integers(1, 4, size=n).astype(float)
    h = (0.6 if metric == "cosine" else 1.1) * (np.sqrt(d) if metric == "euclidean" else 1.0)
    pair = both(points, weights, profile, metric)
    one, several = (
        DrawPlan(weights, Uniform(0.5 * h, 1.5 * h), seed=4, batch_size=batch).sweep(0, h).draws for batch in (1, 4)
    )
    bandwidths = h * rng.uniform(0.5, 1.5, size=m)
    for draws in (one, several._replace(indices=several.indices[:2], bandwidths=several.bandwidths[:2])):
        lengths = [workspace.shift_each(draws) for workspace in pair]
        assert_allclose(*lengths, atol=1e-12 * h, rtol=0)
        assert_allclose(*(workspace.points for workspace in pair), atol=1e-12 * h, rtol=0)
        assert_allclose(*(each.shift_all(queries, bandwidths) for each in pair), atol=1e-12 * h, rtol=0)


@gpu
# on a device numbers overflow to infinity without a word; the simulator's are NumPy's
@pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")
@pytest.mark.parametrize("kind", DEGENERATE)
@given(data=st.data())
@few
def test_degenerate_points(kind, data):
    state = data.draw(states(dimensions=(2, 5), kinds=(kind,), max_n=12))
    pair = both(state.points, state.weights, BIWEIGHT)
    draws = DrawPlan(state.weights, Uniform(0.5 * state.h, 1.5 * state.h), seed=state.seed).sweep(0, state.h).draws
    # what is left of coordinates at 1e9 and more is a few units of their rounding
    tolerance = 1e-9 * state.h + 16 * np.finfo(float).eps * np.abs(state.points).max()
    assert_allclose(*(workspace.shift_each(draws) for workspace in pair), atol=tolerance, rtol=0)
    assert_allclose(*(workspace.points for workspace in pair), atol=tolerance, rtol=0)
    assert_allclose(*(workspace.shift_all(state.points, state.h) for workspace in pair), atol=tolerance, rtol=0)


@gpu
@pytest.mark.parametrize(("n", "d"), [(1, 256), (3, 256), (33, 17)])
def test_odd_sizes(n, d, rng):
    points = data(n, d, rng)
    pair = both(points, np.ones(n), BIWEIGHT)
    draws = DrawPlan(np.ones(n), Uniform(8.0, 12.0), seed=1).sweep(0, 9.0).draws
    draws = draws._replace(indices=draws.indices[:2], bandwidths=draws.bandwidths[:2])
    assert_allclose(*(workspace.shift_each(draws) for workspace in pair), atol=1e-10, rtol=0)
    assert_allclose(*(workspace.shift_all(points[:2], 10.0) for workspace in pair), atol=1e-10, rtol=0)
    assert_allclose(*(workspace.points for workspace in pair), atol=1e-10, rtol=0)


@gpu
@pytest.mark.parametrize("d", [2, 5])
def test_float32(d, rng):
    points = data(25, d, rng, dtype=np.float32)
    pair = both(points, np.ones(25), BIWEIGHT)
    draws = DrawPlan(np.ones(25), Uniform(0.8, 1.6), seed=1).sweep(0, 1.0).draws
    assert_allclose(*(workspace.shift_each(draws) for workspace in pair), atol=1e-5, rtol=0)
    assert_allclose(*(workspace.points for workspace in pair), atol=1e-5, rtol=0)
    assert pair[1].points.dtype == np.float32
    assert_allclose(*(workspace.shift_all(points, 1.0) for workspace in pair), atol=1e-5, rtol=0)


@gpu
def test_tiles_farther_than_the_bandwidth_do_not_count(rng):
    """Two distant groups in many dimensions, in alternating rows."""
    points = rng.normal(size=(130, 5)) + 50.0 * (np.arange(130)[:, None] % 2)
    pair = both(points, np.ones(130), BIWEIGHT)
    assert_allclose(*(each.shift_all(points, 4.0) for each in pair), atol=1e-12, rtol=0)
    near = pair[1]._near(pair[1]._arranged(points, pair[1]._order, 64), np.full(130, 4.0)).copy_to_host()
    assert 0 < near.mean() < 1


@gpu
@pytest.mark.parametrize("profile", ["flat", "biweight", "triweight"])
@pytest.mark.parametrize("d", [1, 2, 3])
def test_climbing_by_cells(d, profile, rng):
    points, queries = rng.normal(size=(60, d)), rng.normal(size=(9, d))
    weights = rng.integers(1, 4, size=60).astype(float)
    reference = ENGINES["reference"].open(points, weights, PROFILES[profile], Geometry(), None)
    # small enough that some cells are entirely within reach
    engine = CudaEngine(CudaConfig(cells_per_bandwidth=6))
    device = engine.open(points, weights, PROFILES[profile], Geometry())
    for h in (0.2, 1.5):
        assert_allclose(device.climb(queries, h, 0.0, 1)[0], reference.shift_all(queries, h), atol=1e-12, rtol=0)
    ends, last, steps = device.climb(queries, 1.5, 1e-3, 50)
    assert ((last <= 1e-3 * 1.5) | (steps == 50)).all()
    assert_allclose(reference.shift_all(ends, 1.5), ends, atol=1e-2)


# --- chains


def run_both(points, policy, stopping, *, n_chains=2, weights=None, metric="euclidean", profile="biweight", **options):
    found = []
    for engine in ("reference", "cuda"):
        given = make_problem(points, weights, engine=engine, metric=metric, profile=profile)
        chains = make_chains(partial(doubly_stochastic, given, policy, seed=11, **options), n_chains)
        found.append((chains, run_chains(chains, stopping)))
    return found


def assert_same_chains(found, tau, tolerance=1e-10):
    for reference, a, device, b in zip(*(each for pair in found for each in pair), strict=True):
        assert (b.outcome, b.sweeps, b.state.k) == (a.outcome, a.sweeps, a.state.k)
        assert_allclose(b.state.points, a.state.points, atol=tolerance, rtol=0)
        assert_allclose(b.state.last_shift, a.state.last_shift, atol=tolerance, rtol=0)
        assert_allclose(b.state.h, a.state.h, rtol=1e-12)
        assert_array_equal(partition(device, b, tau).labels, partition(reference, a, tau).labels)


@gpu
@pytest.mark.parametrize("order", ["random", "reshuffled", "even"])
@pytest.mark.parametrize(
    "policy",
    [Constant(0.9), Uniform(0.5, 1.5), Shrinking(0.5, 1.5, 0.9), Anchored(0.5, 1.5, 0.9), Walk(0.5, 1.5, 0.9)],
    ids=lambda policy: type(policy).__name__,
)
def test_chains_to_their_ends(policy, order, rng):
    points, weights = data(13, 2, rng), rng.integers(1, 4, size=13).astype(float)
    found = run_both(points, policy, Stopping(0.1, max_sweeps=40), weights=weights, order=order)
    assert_same_chains(found, 0.1)
    assert found[1][1][0].outcome is Outcome.CERTIFIED


@gpu
@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize(("n", "d"), [(1, 2), (2, 1), (9, 3), (33, 2), (7, 17), (3, 256)])
def test_chains_of_any_shape(n, d, metric, rng):
    if d == 1 and metric == "cosine":
        return
    points = data(n, d, rng, metric)
    h = 0.5 if metric == "cosine" else 0.7 * np.sqrt(d)
    policy = Uniform(h, 1.5 * h)
    assert_same_chains(run_both(points, policy, Stopping(0.2 * h, max_sweeps=4), metric=metric), 0.2 * h)


@gpu
@pytest.mark.parametrize("profile", PROFILES)
def test_chains_of_every_profile(profile, rng):
    assert_same_chains(
        run_both(data(11, 2, rng), Shrinking(0.5, 1.5, 0.9), Stopping(0.1, max_sweeps=25), profile=profile), 0.1
    )


@gpu
def test_scales_and_float32(rng):
    points = data(12, 2, rng)
    stopping = Stopping(0.1, max_sweeps=20)
    assert_same_chains(run_both(points, Uniform(0.6, 1.2), stopping, local_scales=rng.uniform(0.8, 1.2, size=12)), 0.1)
    chains, results = run_both(points.astype(np.float32), Uniform(0.6, 1.2), stopping)[1]
    assert results[0].state.points.dtype == np.float32
    assert partition(chains[0], results[0], 0.1).n_clusters == 2


@gpu
def test_outcomes(rng):
    points = data(10, 2, rng)
    for stopping, outcome in (
        (Stopping(0.1, max_sweeps=1), Outcome.UPDATE_LIMIT),
        (Stopping(0.1, max_updates=15), Outcome.UPDATE_LIMIT),
        (Stopping(0.1, rule="shifts", threshold=1e-3), Outcome.SMALL_SHIFTS),
        (Stopping(0.1, rule="shifts", threshold=0.3, fraction=0.6), Outcome.SMALL_SHIFTS),
    ):
        found = run_both(points, Uniform(0.5, 0.6), stopping)
        assert_same_chains(found, 0.1)
        assert found[1][1][0].outcome is outcome


@gpu
def test_the_trace_of_the_first_chain_is_rebuilt(rng):
    (_, reference), (_, device) = run_both(data(12, 2, rng), Shrinking(0.5, 1.5, 0.9), Stopping(0.1))
    for name in ("h", "shift"):
        a, b = getattr(reference[0].trace, name), getattr(device[0].trace, name)
        assert_array_equal(b.k, a.k)
        assert_allclose(b.values, a.values, atol=1e-12)


@gpu
def test_records_and_callbacks_run_sweep_by_sweep(rng):
    given = make_problem(data(9, 2, rng), engine="cuda")
    make = partial(doubly_stochastic, given, Uniform(0.6, 1.2), seed=1)
    seen = []
    stopping = Stopping(0.1, max_sweeps=2)
    results = run_chains(make_chains(make, 2), stopping, callbacks=[lambda state, info: seen.append(1)])
    assert len(seen) == sum(result.sweeps for result in results)
    recorded = run_chains(make_chains(make, 1), stopping, record=Record(clumps=1))
    assert recorded[0].trace.clumps is not None


# --- estimators


@gpu
def test_estimators_give_the_labels_of_the_cpu(rng):
    X = data(16, 2, rng)
    for model in (
        DoublyStochasticMeanShift(0.5, 2.0, 1.0, n_chains=3, random_state=0),
        DoublyStochasticMeanShift(0.5, 2.0, 1.0, random_state=0),
        StochasticMeanShift(1.0, random_state=0),
        MeanShift(1.0),
        MeanShift(1.0, profile="flat"),
    ):
        own = model.fit(X).labels_.copy()
        other = model.set_params(engine="cuda").fit(X)
        assert other.engine_ == "cuda"
        assert_array_equal(other.labels_, own)


@gpu
def test_sweep_bandwidths(rng):
    X = data(12, 2, rng)
    own, device = (
        sweep_bandwidths(X, [0.3, 1.0, 8.0], estimator=StochasticMeanShift(random_state=0, engine=engine))
        for engine in ("auto", "cuda")
    )
    assert_array_equal(device.labels, own.labels)


@gpu
def test_experiments():
    """The rows of an experiment are those of the CPU, up to the rounding of sums."""
    small = Sparse(sizes=(3,), sweep=(), spreads=("std",))
    rows = []
    for engine in ("auto", "cuda"):
        experiment = small.on_engine(engine)
        plan = JobList([experiment], 2, 0)
        run_jobs(plan)
        rows.append(list(csv.reader(StringIO(plan.rows(experiment).csv()))))
    for own, device in zip(*rows, strict=True):
        for one, other in zip(own, device, strict=True):
            assert one == other or float(other) == pytest.approx(float(one), rel=1e-12)


@gpu
@pytest.mark.filterwarnings("ignore::modeseek._common.hints.CheckpointWarning")
def test_a_run_resumes_from_a_checkpoint_bit_for_bit(tmp_path):
    space = make_problem(data(70, 2, np.random.default_rng(1)), engine="cuda")

    def states(name, *limits):
        for limit in limits:
            chain = doubly_stochastic(space, Uniform(0.9, 1.2), seed=1)
            stopping = Stopping(0.01, rule="shifts", threshold=0.0, max_sweeps=limit)
            result = run(chain, stopping, checkpoint=Checkpoint(tmp_path / name))
        return result.state

    whole, parts = states("whole", 5), states("parts", 2, 3, 5)
    assert whole.k == parts.k == 350
    assert_array_equal(parts.points, whole.points)
    assert_array_equal(parts.last_shift, whole.last_shift)
