"""The theory, executed: one test for every cell of "what is proven for what" (docs/theory.md)."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from inputs import states
from modeseek._common.points import canonical_points
from modeseek._common.types import Geometry
from modeseek.datasets import paper_mixture
from modeseek.meanshift import theory
from modeseek.meanshift.bandwidth import Anchored, Constant, DrawPlan, LogLog, Power, Shrinking, Uniform, Walk, uniforms
from modeseek.meanshift.chains import Outcome, Stopping, doubly_stochastic, make_problem, partition, run, stochastic
from modeseek.meanshift.kernels.profiles import PROFILES
from modeseek.meanshift.objective import objective, shift_vector

PROVEN = [profile for profile in PROFILES.values() if profile.smooth]
EUCLIDEAN = states(dimensions=(1, 2, 3))

SETUPS = {
    "fixed": (Constant(0.6), {}),
    "walk": (Walk(0.2, 1.6, 0.6), {}),
    "shrinking": (Shrinking(0.2, 1.6, 0.6), {}),
    "uniform": (Uniform(0.2, 1.6, 0.6), {}),
    "anchored": (Anchored(0.2, 1.6, 0.6), {}),
    "per-point scales": (Walk(0.2, 1.6, 0.6), {"local_scale": True}),
    "cosine": (Walk(0.2, 1.6, 0.6), {"metric": "cosine"}),
    "flat weights": (Walk(0.2, 1.6, 0.6), {"profile": "flat"}),
    "truncated Gaussian": (Walk(0.2, 1.6, 0.6), {"profile": "gaussian"}),
    "batches": (Walk(0.2, 1.6, 0.6), {"batch_size": 5}),
    "reshuffled": (Walk(0.2, 1.6, 0.6), {"order": "reshuffled"}),
}

TABLE = {  # rows of THEORY's table: proposition 1, theorem 1, submartingale, vanishing gradient, theorem 2
    "fixed": (True, True, False, False, False),
    "walk": (True, True, True, True, True),
    "shrinking": (False,) * 5,
    "uniform": (False,) * 5,
    "anchored": (False,) * 5,
    "per-point scales": (False,) * 5,
    "cosine": (False,) * 5,
    "flat weights": (False,) * 5,
    "truncated Gaussian": (False,) * 5,
    "batches": (False,) * 5,
    "reshuffled": (True, True, False, False, False),  # one update at a time still, but not drawn independently
}


@pytest.mark.parametrize("name", SETUPS)
def test_table_of_what_is_proven(name):
    policy, options = SETUPS[name]
    assert tuple(theory.proven(policy, **options).values()) == TABLE[name]


@pytest.mark.parametrize("profile", PROVEN, ids=lambda p: p.name)
@given(state=EUCLIDEAN)
@settings(max_examples=20)
def test_proposition_1_at_every_update_of_a_fixed_bandwidth(profile, state):
    follow_proposition_1(state, Constant(state.h), profile)


@pytest.mark.parametrize("profile", PROVEN, ids=lambda p: p.name)
@given(state=EUCLIDEAN)
@settings(max_examples=20)
def test_proposition_1_at_every_update_of_a_walk(profile, state):
    follow_proposition_1(state, Walk(0.5 * state.h, 2 * state.h, state.h), profile)


def follow_proposition_1(state, policy, profile):
    points = state.points.copy()
    draws = DrawPlan(state.weights, policy, seed=state.seed).sweep(0, policy.h_0).draws
    for i, h in zip(draws.indices, draws.bandwidths, strict=True):
        check = theory.proposition1(points, i, h, profile=profile, weights=state.weights)
        assert check.holds, check
        points[i] += theory.shift_vector(points[i], points, h, profile=profile, weights=state.weights)


def test_proposition_1_check_can_fail():
    assert not theory.Proposition1(0.1, 0.2, 1.0, 2.0).holds
    assert not theory.Proposition1(0.2, 0.1, 2.0, 1.0).holds


@pytest.mark.parametrize("profile", PROVEN, ids=lambda p: p.name)
@given(state=states(dimensions=(1, 2, 3), max_n=8))
@settings(max_examples=20)
def test_gradient_against_finite_differences(profile, state):
    assert theory.gradient_error(state.points, state.h, profile=profile, weights=state.weights) < 1e-4


@pytest.mark.parametrize("profile", PROVEN, ids=lambda p: p.name)
@given(state=EUCLIDEAN, share=st.floats(0.2, 0.999))
@settings(max_examples=30)
def test_theorem_1_points_in_reach_have_a_gradient(profile, state, share):
    if len(state.points) == 1:
        return
    nearest = np.sort(np.linalg.norm(state.points - state.points[0], axis=1))[1]
    check = theory.theorem1(state.points, nearest / share, profile=profile, weights=state.weights)
    assert not check.separated
    assert not check.critical


@pytest.mark.parametrize("profile", PROVEN, ids=lambda p: p.name)
@given(seed=st.integers(0, 10**6), d=st.integers(1, 4), h=st.floats(0.1, 10))
@settings(max_examples=30)
def test_theorem_1_points_out_of_reach_are_critical(profile, seed, d, h):
    rng = np.random.default_rng(seed)
    lattice = np.unique(rng.integers(-3, 4, size=(12, d)), axis=0) * h * 1.0000001
    points = np.repeat(lattice, rng.integers(1, 4, len(lattice)), axis=0)  # coincident ones too
    check = theory.theorem1(points, h, profile=profile)
    assert check.separated
    assert check.critical


@given(state=states(dimensions=(1, 2, 3, 10)))
@settings(max_examples=30)
def test_points_stay_in_the_convex_hull(state):
    chain = doubly_stochastic(make_problem(state.points, state.weights), Uniform(0.5 * state.h, 2 * state.h), seed=1)
    now = chain.init()
    for _ in range(3):
        now, _ = chain.sweep(now)
        assert theory.hull_distance(now.points, state.points) < 1e-8 * state.h


def test_hull_distance_sees_a_point_outside():
    square = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    assert theory.hull_distance([[0.5, 0.5], [1.0, 1.0]], square) < 1e-12
    assert theory.hull_distance([[1.2, 0.5]], square) > 0.05


def chain_for(name, seed):
    policy, options = SETUPS[name]
    metric = options.get("metric", "euclidean")
    X = paper_mixture(15, random_state=seed)[0]
    if metric == "cosine":
        X = np.column_stack([X, np.full(len(X), 2.0)])
        policy = Walk(0.1, 0.8, 0.3)
    points = canonical_points(X, np.ones(len(X)), Geometry(metric))
    scales = np.linspace(0.8, 1.2, len(points.values)) if options.get("local_scale") else None
    space = make_problem(points.values, points.weights, profile=options.get("profile", "biweight"), metric=metric)
    how = {name: options[name] for name in ("order", "batch_size") if name in options}
    return doubly_stochastic(space, policy, seed=seed, scales=scales, **how)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("name", SETUPS)
def test_the_certificate_is_never_followed_by_a_change(name, seed):
    """In every column of the table, proven or not: the certificate is what a run can show for itself."""
    chain = chain_for(name, seed)
    tau = chain.h_min / 4
    result = run(chain, Stopping(tau, max_sweeps=3000))
    if result.outcome is Outcome.CERTIFIED:
        assert partition(chain, result, tau).certified
        assert theory.partition_stays(chain, result.state, tau, sweeps=100)
    else:  # a clump may see another that does not see it only where each point has a bandwidth of its own
        assert name == "per-point scales"


def test_gap_above_h_alone_is_followed_by_a_change():
    """The counterexample: D = 0.4, gap = 1.001 > h = 1, and yet the three points merge."""
    chain = stochastic(make_problem([[0.0, 0.2], [0.0, -0.2], [0.981, 0.0]]), 1.0, seed=0)
    start = chain.init()
    assert theory.theorem2(start.points, 0.45, 1.0).gap > 1.0
    assert not theory.partition_stays(chain, start, 0.45, sweeps=200)
    result = run(chain, Stopping(0.45))
    assert partition(chain, result, 0.45).n_clusters == 1


@pytest.mark.parametrize("h", [0.25, 0.6, 1.2])
@pytest.mark.parametrize("seed", range(3))
def test_submartingale_under_walk(seed, h):
    """From a random state, the mean of L does not fall: wrongly refuted with probability at most 1e-6."""
    X = paper_mixture(5, random_state=seed)[0]
    check = theory.submartingale(X, Walk(0.2, 1.6, 0.6), h=h, seed=seed, n_draws=1500, error=1e-6)
    assert not check.refuted
    assert check.margin < 0.25 * len(X) * (len(X) + 1) / 2  # the bound says something


def test_submartingale_is_confirmed_where_it_is_strict():
    X = paper_mixture(4, random_state=0)[0]
    assert theory.submartingale(X, Walk(0.2, 1.6, 0.6), h=0.9, n_draws=6000).confirmed


def test_submartingale_is_refuted_for_a_policy_that_is_none():
    """Uniform draws after a large bandwidth: L falls, and the check sees it."""
    X = paper_mixture(4, random_state=0)[0]
    assert theory.submartingale(X, Uniform(0.2, 1.6), h=1.6, n_draws=3000).refuted


@pytest.mark.parametrize("seed", range(5))
def test_gradient_vanishes_under_walk(seed):
    norms = theory.gradient_norms(chain_for("walk", seed), sweeps=120)
    assert norms[-1] < 1e-9 * norms[0]


@pytest.mark.parametrize("seed", range(10))
def test_theorem_2_on_real_runs(seed):
    policy = Walk(0.2, 1.6, 0.6)
    chain = doubly_stochastic(make_problem(paper_mixture(30, random_state=seed)[0]), policy, seed=seed)
    result = run(chain, Stopping(0.05))
    assert partition(chain, result, 0.05).theorem2
    state = result.state
    for _ in range(30):  # for every later k as well
        state, _ = chain.sweep(state)
        assert theory.theorem2(state.points, 0.05, 0.2).holds


def test_walk_is_absorbed_as_the_formula_says():
    walk = Walk(0.2, 1.6, 0.6)
    found = theory.simulate_absorption(walk, n_paths=4000)
    # 4,000 paths: five standard deviations of a share of 9.7 % are 0.0234
    assert_allclose(found.to_min, walk.absorption().to_min, atol=0.0234)
    assert_allclose(found.to_max, walk.absorption().to_max, atol=0.0234)
    assert found.inside == 0.0


@pytest.mark.parametrize("nu", [LogLog(), Power(1.0)])
def test_walks_side_by_side_are_those_one_by_one(nu):
    """The slow twin is `Walk.draw`, path by path."""
    walk, words = Walk(0.2, 1.6, 0.6, nu), np.random.default_rng(0).random((40, 300))
    starts = np.linspace(0.2, 1.6, 40)
    slow = np.array([walk.draw(row, float(h), 0) for row, h in zip(words, starts, strict=True)])
    assert_allclose(theory.walk_paths(walk, words, starts), slow, rtol=1e-9)
    assert (theory.walk_paths(walk, words)[:, 0] != slow[:, 0]).sum() >= 39  # another start, other paths


@pytest.mark.parametrize("policy", [Walk(0.2, 1.6, 0.6), Uniform(0.2, 1.6)])
def test_submartingale_against_whole_objectives(policy):
    """The slow twin: move the point, and sum over all pairs again."""
    X, h, k, m = paper_mixture(6, random_state=3)[0], 0.8, 5, 40
    differences = []
    for u_index, u_bandwidth in uniforms(9, 0, 1, m)[:, :2]:
        after, i = X.copy(), int(u_index * len(X))
        next_h = policy.draw(np.array([u_bandwidth]), h, k)[0]
        after[i] += shift_vector(X[i], X, next_h)
        differences.append(objective(after, next_h) - objective(X, h))
    found = theory.submartingale(X, policy, h=h, k=k, n_draws=m, seed=9)
    assert_allclose([found.mean, found.std], [np.mean(differences), np.std(differences, ddof=1)], rtol=1e-9)


def test_walk_freezes_inside_where_the_squares_of_nu_converge():
    found = theory.simulate_absorption(Walk(0.2, 1.6, 0.6, Power(1.0)), n_paths=500, n_draws=1000)
    assert found.inside > 0.5


@pytest.mark.parametrize("distance", [1.2, 1.5, 1.59])
def test_clumps_closer_than_the_upper_end_merge(distance):
    X = np.repeat([[0.0], [distance]], 5, axis=0) + np.linspace(0, 1e-3, 10)[:, None]
    chain = doubly_stochastic(make_problem(X), Uniform(0.2, 1.6), seed=0)
    result = run(chain, Stopping(0.05))
    assert partition(chain, result, 0.05).n_clusters == 1


def test_clumps_beyond_the_upper_end_do_not_merge():
    X = np.repeat([[0.0], [1.62]], 5, axis=0)
    chain = doubly_stochastic(make_problem(X), Uniform(0.2, 1.6), seed=0)
    result = run(chain, Stopping(0.05))
    assert (result.outcome, partition(chain, result, 0.05).n_clusters) == (Outcome.CERTIFIED, 2)
