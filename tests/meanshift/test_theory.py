"""The theory, executed: one test for every cell of "what is proven for what" (docs/theory.md)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from inputs import State, states
from modeseek._common.points import canonical_points
from modeseek._common.types import Geometry
from modeseek.datasets import paper_mixture
from modeseek.meanshift import theory
from modeseek.meanshift.bandwidth import (
    Anchored,
    Constant,
    DrawPlan,
    GeneralWalk,
    Law,
    LogLog,
    Power,
    Shrinking,
    Uniform,
    Walk,
    law_of,
    uniforms,
)
from modeseek.meanshift.bandwidth.walks import STEPS
from modeseek.meanshift.chains import Outcome, Stopping, doubly_stochastic, make_problem, partition, run, stochastic
from modeseek.meanshift.kernels.profiles import PROFILES, get_profile
from modeseek.meanshift.objective import gradient, max_norm, objective, shift_vector

PROVEN = [profile for profile in PROFILES.values() if profile.smooth]
EUCLIDEAN = states(dimensions=(1, 2, 3))

WALK = Walk(0.2, 1.6, 0.6)
SETUPS = {  # the rows of the table in docs/theory.md
    "fixed h": (Constant(0.6), {}),
    "walk": (WALK, {}),
    "Remark 1's family": (GeneralWalk(0.2, 1.6, 0.6), {}),
    "shrinking": (Shrinking(0.2, 1.6, 0.6), {}),
    "uniform": (Uniform(0.2, 1.6, 0.6), {}),
    "anchored": (Anchored(0.2, 1.6, 0.6), {}),
    "walk, weights or merged duplicates": (WALK, {"weighted": True}),
    "walk, even order, weights": (WALK, {"order": "even", "weighted": True}),
    "walk, reshuffled order": (WALK, {"order": "reshuffled"}),
    "walk, flat weights": (WALK, {"profile": "flat"}),
    "walk, truncated Gaussian": (WALK, {"profile": "gaussian"}),
    "walk, batches": (WALK, {"batch_size": 5}),
    "walk, local scales": (WALK, {"local_scale": True}),
    "walk, cosine": (WALK, {"metric": "cosine"}),
}


def cells(*coverages):
    """Return the cells of the table with these coverages, as (setup, statement)."""
    table = {name: theory.proven(policy, **options) for name, (policy, options) in SETUPS.items()}
    return [(name, key) for name, row in table.items() for key, cell in row.items() if cell.coverage in coverages]


def test_the_table_on_the_page_is_that_of_the_code():
    page = (Path(__file__).parents[2] / "docs" / "theory.md").read_text(encoding="utf-8")
    header = next(line for line in page.splitlines() if line.startswith("| set-up |"))
    statements = [cell.strip().lower() for cell in header.strip("|").split("|")][1:]
    assert statements == list(theory.STATEMENTS)
    for name, (policy, options) in SETUPS.items():
        words = [cell.coverage.value for cell in theory.proven(policy, **options).values()]
        assert f"| {name} | {' | '.join(words)} |" in page


class Biased(Walk):
    """Draws twice the step downwards."""

    def draw(self, uniforms, h, k):
        return super().draw(uniforms**2, h, k)


class Declared(Biased):
    law = Law.OTHER


def test_a_subclass_has_to_declare_its_law():
    for policy in (Biased(0.2, 1.6), Declared(0.2, 1.6)):
        assert theory.proven(policy)["theorem 2"].coverage is theory.Coverage.OPEN
        assert theory.proven(policy)["proposition 1"].coverage is theory.Coverage.PAPER
    same = [theory.proven(policy) for policy in (Constant(0.6), Walk(0.6, 0.6))]
    assert same[0] == same[1]


@pytest.mark.parametrize("policy", [WALK, *(GeneralWalk(0.2, 1.6, 0.6, step=step) for step in STEPS)], ids=str)
@pytest.mark.parametrize("h", [0.2, 0.21, 0.6, 1.5, 1.6])
def test_policies_have_the_law_that_they_declare(policy, h):
    u = (np.arange(4000) + 0.5) / 4000
    mean = np.mean([(h / policy.draw(np.array([each]), h, 3)[0]) ** 2 for each in u])
    assert mean < 1 + 1e-9
    if law_of(policy) is Law.MARTINGALE:
        assert mean > 1 - 1e-9
    biased = Biased(0.2, 1.6, 0.6)
    drawn = [(0.6 / biased.draw(np.array([each]), 0.6, 3)[0]) ** 2 for each in u]
    assert abs(np.mean(drawn) - 1) > 0.1  # so the check can fail


def cell_state(name, seed=0):
    """Return the policy, points, weights, profile and order of a row of the table."""
    policy, options = SETUPS[name]
    points = paper_mixture(4, random_state=seed)[0]
    weights = np.linspace(0.5, 3.0, len(points)) if options.get("weighted") else np.ones(len(points))
    return policy, points, weights, options.get("profile", "biweight"), options.get("order", "random")


def check_updates(name):
    policy, points, weights, profile, order = cell_state(name)
    follow_proposition_1(State(points, weights, 0.6, 3, name), policy, get_profile(profile), order)


def check_theorem_1(name):
    _, points, weights, profile, _ = cell_state(name)
    lattice = np.repeat(np.arange(4.0)[:, None], 3, axis=0)
    assert theory.theorem1(lattice, 0.99, profile=profile, weights=weights).critical
    assert not theory.theorem1(points, 0.6, profile=profile, weights=weights).critical


def check_proposition_2(name):
    """In reshuffled order the past determines the last index of a sweep, so it must hold for each index."""
    policy, points, weights, profile, order = cell_state(name)
    rates = np.ones(len(points)) if order == "even" else weights
    shares = np.eye(len(points)) if order == "reshuffled" else [rates / rates.sum()]
    for h in (0.3, 0.9):
        h = policy.h_0 if isinstance(policy, Constant) else h
        each = [
            theory.submartingale(points, policy, h=h, n_draws=400, profile=profile, weights=weights, index=i)
            for i in range(len(points))
        ]
        for share in shares:
            assert share @ [found.mean for found in each] > -(share @ [found.std for found in each]) / np.sqrt(400)
        assert not any(found.refuted for found in each)


def check_vanishing(name, statement):
    policy, points, weights, profile, order = cell_state(name)
    how = {"profile": profile, "weights": weights, "order": order}
    paths = theory.gradient_paths(points, policy, n_runs=8, n_updates=700, **how)
    norms = (paths.selected if statement == "corollary 1" else paths.largest).T
    assert norms[-1].max() < 1e-6 * norms[0].max()


def check_lemma_1(name):
    policy, _, weights, profile, order = cell_state(name)
    clump = np.append(np.zeros(len(weights) - 1), 0.1)[:, None]
    weights = np.sort(weights)[::-1]  # the point beside the clump is the lightest
    how = {"profile": profile, "weights": weights, "order": order}
    paths = theory.gradient_paths(clump, policy, n_runs=400, n_updates=9, **how)
    share = 1 / len(weights) if order == "even" else weights.min() / weights.sum()
    found = theory.lemma1(paths, share, epsilon=np.median(paths.largest))
    assert not found.refuted
    assert found.share[0] > 0


def check_theorem_2(name):
    policy, points, weights, profile, order = cell_state(name)
    chain = doubly_stochastic(make_problem(points, weights, profile=profile), policy, seed=1, order=order)
    state = run(chain, Stopping(policy.h_min / 4)).state
    for _ in range(20):
        state, _ = chain.sweep(state)
        assert theory.theorem2(state.points, policy.h_min / 4, policy.h_min).holds


@pytest.mark.parametrize(("name", "statement"), cells(theory.Coverage.PAPER, theory.Coverage.EXTENSION))
def test_every_proven_cell_passes_its_check(name, statement):
    checks = {
        "proposition 1": check_updates,
        "theorem 1": check_theorem_1,
        "proposition 2": check_proposition_2,
        "lemma 1": check_lemma_1,
        "theorem 2": check_theorem_2,
    }
    if statement in checks:
        checks[statement](name)
    else:
        check_vanishing(name, statement)


def test_open_cells_with_a_counterexample():
    """The truncated Gaussian violates Proposition 1; uniform and shrinking draws violate Proposition 2."""
    jump = [[0.0], [0.999], [0.999], [0.999], [-0.07]]  # the point leaves the reach of three others
    assert not theory.proposition1(jump, 0, 1.0, profile="gaussian").holds
    points = paper_mixture(4, random_state=0)[0]
    for name in ("uniform", "shrinking", "anchored"):
        assert theory.submartingale(points, SETUPS[name][0], h=1.6, n_draws=3000).refuted


def test_lemma_1_check_can_fail_and_its_bound_is_sharp():
    """An index law that avoids the point with the longest gradient; and a clump with a single point beside it."""
    largest = np.ones((2000, 6))
    assert theory.lemma1(theory.GradientPaths(np.zeros((2000, 6)), largest), 0.25, epsilon=0.5).refuted
    paths = theory.gradient_paths([[0.0]] * 3 + [[0.5]], Constant(1.0), n_runs=4000, n_updates=6)
    found = theory.lemma1(paths, 1 / 4, epsilon=3.0)
    assert not found.refuted
    # the event at the largest p: the single point is never drawn; the bound leaves out its first draw
    assert_allclose(found.share[-1], found.bound[-1] * 3 / 4, atol=0.025)  # four standard deviations


@pytest.mark.parametrize("weights", [None, np.array([2.0, 1.0, 0.5])])
def test_gradient_paths_are_those_of_chains(weights):
    points = np.array([[0.0, 0.1], [0.4, 0.0], [0.9, 0.2]])
    paths = theory.gradient_paths(points, WALK, n_runs=2, n_updates=7, seed=5, weights=weights)
    w = np.ones(3) if weights is None else weights
    for number in range(2):
        state, h = points.copy(), WALK.h_0
        for sweep in range(3):
            draws = DrawPlan(w, WALK, 5, number).sweep(sweep, h).draws
            for k, (i, h) in enumerate(zip(*draws, strict=True), start=3 * sweep):
                blocks = gradient(state, h, weights=w)
                if k < 7:
                    assert_allclose(paths.largest[number, k], max_norm(blocks), rtol=1e-9)
                    assert_allclose(paths.selected[number, k], np.linalg.norm(blocks[i]), rtol=1e-9, atol=1e-15)
                state[i] += shift_vector(state[i], state, h, weights=w)


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


def follow_proposition_1(state, policy, profile, order="random"):
    points = state.points.copy()
    draws = DrawPlan(state.weights, policy, seed=state.seed, order=order).sweep(0, policy.h_0).draws
    for i, h in zip(draws.indices, draws.bandwidths, strict=True):
        check = theory.proposition1(points, i, h, profile=profile, weights=state.weights)
        assert check.holds, check
        points[i] += shift_vector(points[i], points, h, profile=profile, weights=state.weights)


def test_proposition_1_check_can_fail():
    assert not theory.Proposition1(0.1, 0.2, 1.0, 2.0).holds
    assert not theory.Proposition1(0.2, 0.1, 2.0, 1.0).holds
    assert not theory.Proposition1(0.2, 0.1, 1.0, 2.0, 0.9).holds


@pytest.mark.parametrize("profile", PROVEN, ids=lambda p: p.name)
@given(state=states(dimensions=(1, 2, 3), max_n=8))
@settings(max_examples=20)
def test_gradient_against_finite_differences(profile, state):
    # the second derivative of L_h jumps where two points are h apart, and differences across a jump are not exact
    gaps = np.linalg.norm(state.points[:, None] - state.points, axis=2) / state.h
    assume((np.abs(gaps - 1) > 1e-5).all())
    assert theory.gradient_error(state.points, state.h, profile=profile, weights=state.weights) < 1e-4


@pytest.mark.parametrize("scale", [1e-4, 1.0, 1e4])
def test_gradient_error_sees_a_wrong_profile_at_any_weights(scale):
    points, weights = paper_mixture(3, random_state=0)[0], np.full(9, scale)
    wrong = replace(PROFILES["biweight"], weight=PROFILES["triweight"].weight)
    assert theory.gradient_error(points, 0.9, weights=weights) < 1e-6
    assert theory.gradient_error(points, 0.9, profile=wrong, weights=weights) > 0.1


def test_gradient_norms_are_at_the_next_bandwidth():
    chain = chain_for("walk", 0)
    state = chain.sweep(chain.init())[0]
    following = chain.plan.sweep(1, state.h).path[0]
    assert_allclose(theory.gradient_norms(chain, sweeps=1)[1], max_norm(gradient(state.points, following)))


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


@pytest.mark.parametrize(("profile", "separated"), [("flat", False), ("biweight", True)])
def test_theorem_1_at_distance_h(profile, separated):
    """Flat weights include distance h."""
    check = theory.theorem1([[0.0], [1.0]], 1.0, profile=profile)
    assert check.separated is separated
    assert check.holds


def test_theorem_1_sees_weights_that_vanish_too_early():
    """Both sides were computed from the weights, so that wrong weights agreed with themselves."""
    early = replace(PROFILES["biweight"], weight=lambda t: PROFILES["biweight"].weight(2.0 * t))
    check = theory.theorem1([[0.0], [0.8]], 1.0, profile=early)
    assert (check.critical, check.separated, check.holds) == (True, False, False)


@given(state=states(dimensions=(1, 2, 3, 10)))
@settings(max_examples=10)
def test_points_stay_in_the_convex_hull(state):
    chain = doubly_stochastic(make_problem(state.points, state.weights), Uniform(0.5 * state.h, 2 * state.h), seed=1)
    now = chain.init()
    for _ in range(3):
        now, _ = chain.sweep(now)
    assert theory.hull_distance(now.points, state.points) < 1e-8 * state.h


def test_hull_distance_sees_a_point_outside():
    square = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    assert theory.hull_distance([[0.5, 0.5], [1.0, 1.0]], square) < 1e-12
    assert_allclose(theory.hull_distance([[1.2, 0.5]], square), 0.2)


def chain_for(name, seed):
    policy, options = SETUPS[name]
    metric = options.get("metric", "euclidean")
    X = paper_mixture(15, random_state=seed)[0]
    if metric == "cosine":
        X = np.column_stack([X, np.full(len(X), 2.0)])
        policy = Walk(0.1, 0.8, 0.3)
    points = canonical_points(X, np.ones(len(X)), Geometry(metric))
    local_scales = np.linspace(0.8, 1.2, len(points.values)) if options.get("local_scale") else None
    weights = points.weights * (np.linspace(0.5, 2.0, len(points.weights)) if options.get("weighted") else 1.0)
    space = make_problem(points.values, weights, profile=options.get("profile", "biweight"), metric=metric)
    how = {name: options[name] for name in ("order", "batch_size") if name in options}
    return doubly_stochastic(space, policy, seed=seed, local_scales=local_scales, **how)


# other profiles and metrics have kernels of their own, which take seconds to compile
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 4))])
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.slow if {"profile", "metric"} & options.keys() else ())
        for name, (_, options) in SETUPS.items()
    ],
)
def test_the_certificate_is_never_followed_by_a_change(name, seed):
    """In every column of the table, proven or not: the certificate is what a run can show for itself."""
    chain = chain_for(name, seed)
    tau = chain.h_min / 4
    result = run(chain, Stopping(tau, max_sweeps=3000))
    if result.outcome is Outcome.CERTIFIED:
        assert partition(chain, result, tau).certified
        assert theory.partition_stays(chain, result.state, tau, sweeps=100)
    else:  # a clump may see another that does not see it only where each point has a bandwidth of its own
        assert name == "walk, local scales"


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
    found = theory.submartingale(X, Walk(0.2, 1.6, 0.6), h=0.9, n_draws=6000)
    assert found.mean - found.margin >= 0


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
