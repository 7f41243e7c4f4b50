from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from modeseek.datasets import paper_mixture
from modeseek.meanshift.bandwidth import (
    POLICIES,
    Anchored,
    Constant,
    CustomNu,
    DrawPlan,
    LocalFactor,
    LocalFactorError,
    LogLog,
    Power,
    Shrinking,
    Uniform,
    Walk,
    get_nu,
    make_policy,
    uniforms,
)
from modeseek.meanshift.chains import Stopping, doubly_stochastic, make_problem, partition, run
from modeseek.meanshift.theory import partition_stays

MASK = 2**64 - 1


def philox(counter: tuple[int, int, int, int], key: tuple[int, int]) -> list[int]:
    """Salmon et al. 2011, Philox 4x64 with ten rounds, in plain Python, as documented."""
    c0, c1, c2, c3 = counter
    k0, k1 = key
    for _ in range(10):
        low = 0xD2E7470EE14C6C93 * c0
        high = 0xCA5A826395121157 * c2
        c0, c1, c2, c3 = (high >> 64) ^ c1 ^ k0, high & MASK, (low >> 64) ^ c3 ^ k1, low & MASK
        k0, k1 = (k0 + 0x9E3779B97F4A7C15) & MASK, (k1 + 0xBB67AE8584CAA73B) & MASK
    return [c0, c1, c2, c3]


@given(st.integers(0, MASK), st.integers(0, 1000), st.integers(1, 2**40), st.integers(0, 2**40))
def test_uniforms_follow_the_documented_recipe(seed, chain, first, page):
    words = [philox((first + j, page, 0, 0), (seed, chain)) for j in range(3)]
    expected = np.array([[(word >> 11) * 2.0**-53 for word in block] for block in words])
    assert_array_equal(uniforms(seed, chain, first, 3, page), expected)


def test_draws_do_not_depend_on_the_block():
    whole = uniforms(7, 3, 1, 100)
    assert_array_equal(whole[40:60], uniforms(7, 3, 41, 20))
    assert (uniforms(7, 3, 1, 5) != uniforms(7, 4, 1, 5)).all()
    assert (uniforms(7, 3, 1, 5) != uniforms(8, 3, 1, 5)).all()


def test_nu_sequences():
    k = np.array([1.0, 10.0, 1e7])
    assert_allclose(LogLog()(k), 1 / np.log10(10 + np.log10(k)))
    assert_allclose(Power(0.5)(k), k**-0.5)
    assert get_nu("log-log") == LogLog()
    assert get_nu("1/k") == Power(1.0)
    assert get_nu("1/k^0.25") == Power(0.25)
    assert get_nu(lambda k: 1 / k)(np.array([4.0])) == [0.25]
    assert CustomNu(lambda k: 1 / k).sup(5) == np.inf
    assert CustomNu(lambda k: 1 / k, falls=True).sup(5) == 0.2


@pytest.mark.parametrize("bad", ["loglog", "1/k^", True, None, -1.0, 0])
def test_bad_nu(bad):
    with pytest.raises((ValueError, TypeError), match="nu"):
        get_nu(bad)


def test_custom_nu_must_be_non_negative():
    with pytest.raises(ValueError, match=">= 0"):
        get_nu(lambda k: -1.0)(np.array([1.0]))


policies = st.sampled_from(list(POLICIES))
nus = st.sampled_from([LogLog(), Power(0.3), Power(1.0), Power(2.0)])


@given(policies, nus, st.floats(0.01, 1.0), st.floats(1.0, 20.0), st.floats(0.0, 1.0), st.integers(0, 10**6))
def test_draws_stay_in_the_range_and_below_upper(name, nu, h_min, ratio, where, k):
    h_max = h_min * ratio
    h_inf = min(max(h_min + where * (h_max - h_min), h_min), h_max)
    policy = make_policy(name, h_min, h_max, h_inf, nu)
    u = uniforms(k, 0, 1, 200)[:, 1]
    upper = policy.upper(policy.h_0, k)
    h = policy.draw(u, policy.h_0, k)
    slack = 1 + 1e-12
    assert (h >= h_min / slack).all()
    assert (h <= h_max * slack).all()
    assert (h <= upper * slack).all()
    # what can still come never grows
    assert policy.upper(float(h[-1]), k + 200) <= upper * slack


@given(policies, nus, st.integers(1, 50))
def test_a_path_drawn_in_two_blocks_equals_one_drawn_in_one(name, nu, cut):
    policy = make_policy(name, 0.2, 1.6, 0.6, nu)
    u = uniforms(1, 0, 1, 60)[:, 1]
    first = policy.draw(u[:cut], policy.h_0, 0)
    second = policy.draw(u[cut:], float(first[-1]), cut)
    assert_array_equal(np.concatenate([first, second]), policy.draw(u, policy.h_0, 0))


def test_walk_is_algorithm_1b():
    walk = Walk(0.2, 1.6, 0.6)
    u = uniforms(5, 0, 1, 30)[:, 1]
    h, expected = 0.6, []
    for k, u_k in enumerate(u, start=1):
        nu = 1 / np.log10(10 + np.log10(k))
        delta = max(min(nu, (h / 0.2) ** 2 - 1, 1 - (h / 1.6) ** 2), 0)
        alpha = (1 - delta) + 2 * delta * u_k
        h = h / np.sqrt(alpha)
        expected.append(h)
    assert_allclose(walk.draw(u, 0.6, 0), expected, rtol=1e-9)


def test_walk_stays_at_an_end_of_its_range():
    walk = Walk(0.2, 1.6, 0.6)
    h = walk.draw(uniforms(0, 0, 1, 5000)[:, 1], 0.6, 0)
    assert h[-1] == h[2000]
    assert walk.upper(float(h[-1]), 5000) == h[-1]
    assert min(abs(h[-1] / 0.2 - 1), abs(h[-1] / 1.6 - 1)) < 1e-12
    assert walk.upper(0.6, 0) == 1.6


def test_absorption_by_formula():
    to_min, to_max, message = Walk(0.2, 1.6, 0.6).absorption()
    assert_allclose([to_min, to_max], [0.0970, 0.9030], atol=5e-5)
    assert "9.70 %" in message
    assert Walk(0.2, 1.6, 0.6, Power(1.0)).absorption().to_min is None
    assert "may stop inside" in Walk(0.2, 1.6, 0.6, Power(1.0)).absorption().message
    assert "unknown" in Walk(0.2, 1.6, 0.6, get_nu(lambda k: 1 / k)).absorption().message
    assert Walk(0.5, 0.5).absorption().to_min == 1.0


def test_shrinking_converges_to_h_inf():
    policy = Shrinking(0.2, 1.6, 0.6, Power(1.0))
    u = uniforms(0, 0, 1, 1000)[:, 1]
    early, late = policy.draw(u, 0.6, 0), policy.draw(u, 0.6, 10**6)
    assert early.max() > 0.7
    assert_allclose(late, 0.6, atol=2e-6)
    assert_allclose(policy.draw(np.array([0.0, 1.0 - 2**-53]), 0.6, 0), [0.2, 0.6 + 0.5 * 1.0], rtol=1e-12)


def test_uniform_covers_its_range():
    h = Uniform(0.2, 1.6).draw(uniforms(0, 0, 1, 20000)[:, 1], 0.6, 0)
    assert_allclose(np.quantile(h, [0, 0.25, 0.5, 0.75, 1]), [0.2, 0.55, 0.9, 1.25, 1.6], atol=0.02)


def test_anchored_is_one_step_of_walk_from_h_inf():
    u = uniforms(3, 0, 1, 50)[:, 1]
    anchored, walk = Anchored(0.2, 1.6, 0.6), Walk(0.2, 1.6, 0.6)
    expected = [walk.draw(u[j : j + 1], 0.6, j)[0] for j in range(50)]
    assert_allclose(anchored.draw(u, 123.0, 0), expected)


def test_constant():
    assert make_policy("constant", 0.2, 1.6, 0.6) == Constant(0.6)
    assert Constant(0.6).upper(0.6, 0) == 0.6


def test_h_0_is_h_inf_or_the_geometric_mean():
    assert Walk(0.2, 1.6, 0.6).h_0 == 0.6
    assert_allclose(Walk(0.5, 2.0).h_0, 1.0)


@pytest.mark.parametrize(
    ("args", "match"),
    [
        ((2.0, 1.0, None), "h_min must not exceed h_max"),
        ((0.2, 1.6, 2.0), "h_inf must lie in"),
        ((0.0, 1.6, None), "h_min must be a finite number > 0"),
        ((0.2, np.inf, None), "h_max must be a finite number"),
    ],
)
def test_bad_ranges(args, match):
    with pytest.raises(ValueError, match=match):
        Shrinking(*args)


def test_unknown_policy():
    with pytest.raises(ValueError, match="Did you mean 'shrinking'"):
        make_policy("shrinkin", 0.2, 1.6, 0.6)


def test_indices_follow_the_weights():
    plan = DrawPlan(np.array([1.0, 2.0, 5.0]), Constant(1.0), seed=0)
    counts = np.bincount(np.concatenate([plan.sweep(s, 1.0).draws.indices for s in range(4000)]), minlength=3)
    # 12,000 draws: five standard deviations are below 0.023
    assert_allclose(counts / counts.sum(), [1 / 8, 2 / 8, 5 / 8], atol=0.023)


def test_reshuffled_visits_each_point_once_per_sweep():
    plan = DrawPlan(np.ones(17), Constant(1.0), seed=1, order="reshuffled")
    sweeps = [plan.sweep(s, 1.0).draws.indices for s in range(3)]
    for indices in sweeps:
        assert sorted(indices) == list(range(17))
    assert (sweeps[0] != sweeps[1]).any()


@pytest.mark.parametrize("order", ["random", "reshuffled"])
@pytest.mark.parametrize("batch", [2, 5, 17, 40])
def test_batches_hold_distinct_points(order, batch):
    plan = DrawPlan(np.ones(17), Uniform(0.5, 1.0), seed=1, order=order, batch_size=batch)
    indices, bandwidths = plan.sweep(2, 1.0).draws
    assert indices.shape == bandwidths.shape == (plan.steps, min(batch, 17))
    for row, h in zip(indices, bandwidths, strict=True):
        chosen = row[row >= 0]
        assert len(set(chosen)) == len(chosen)
        assert len(set(h)) == 1
    assert (indices >= 0).sum() == plan.updates
    if order == "reshuffled":
        assert sorted(indices[indices >= 0]) == list(range(17))


def test_errors_about_invalid_draws_name_the_policy():
    class Negative(Uniform):
        def draw(self, uniforms, h, k):
            return -uniforms - 1

    with pytest.raises(ValueError, match=r"policy Negative\.draw"):
        DrawPlan(np.ones(3), Negative(0.2, 1.0), seed=0).sweep(0, 1.0)


@pytest.mark.parametrize(("argument", "value"), [("order", "shuffled"), ("batch_size", 0)])
def test_bad_plan(argument, value):
    with pytest.raises(ValueError, match=argument):
        DrawPlan(np.ones(3), Constant(1.0), seed=0, **{argument: value})


@pytest.mark.parametrize("batch", [1, 3])
def test_even_draws_ignore_weights(batch):
    """A heavy point is drawn as often as the others, where "random" draws it nearly always."""
    weights = np.array([1e6, 1.0, 1.0, 1.0, 1.0, 1.0])
    drawn = {}
    for order in ("even", "random"):
        plan = DrawPlan(weights, Constant(1.0), seed=3, order=order, batch_size=batch)
        indices = np.concatenate([plan.sweep(number, 1.0).draws.indices.ravel() for number in range(400)])
        drawn[order] = np.bincount(indices, minlength=6) / len(indices)
    # four standard errors of a share of 1/6 among 2,400
    assert np.abs(drawn["even"] - 1 / 6).max() < 4 * np.sqrt(5 / 36 / 2400)
    assert drawn["random"][0] > 0.99 / batch
    plain = DrawPlan(np.ones(6), Constant(1.0), seed=3, batch_size=batch).sweep(0, 1.0).draws.indices
    even = DrawPlan(weights, Constant(1.0), seed=3, order="even", batch_size=batch).sweep(0, 1.0).draws.indices
    assert_array_equal(np.sort(plain, axis=-1), np.sort(even, axis=-1))


# -- data-dependent bandwidths ----------------------------------------------------------------------------------------


def sparse_points_reach_further(point, density):
    return float(np.clip(0.1 / density, 1.0, 1.5))


LOCAL = LocalFactor(sparse_points_reach_further, 1.0, 1.5)


@pytest.mark.parametrize(
    ("engines", "batch_size"),
    [
        (("reference", "brute"), 1),
        pytest.param(("reference", "brute", "neighbor_lists", "moment_tree"), 1, marks=pytest.mark.slow),
        pytest.param(("reference", "brute", "neighbor_lists", "moment_tree"), 7, marks=pytest.mark.slow),
    ],
)
def test_engines_agree_on_local_factors(engines, batch_size):
    X, states, blind = paper_mixture(15, random_state=0)[0], [], None
    for engine in engines:
        problem = make_problem(X, engine=engine)
        chain = doubly_stochastic(problem, Uniform(0.2, 1.0), seed=3, batch_size=batch_size, local_factor=LOCAL)
        plain = doubly_stochastic(problem, Uniform(0.2, 1.0), seed=3, batch_size=batch_size)
        state, info = chain.sweep(chain.init())
        assert (info.bandwidths == plain.sweep(plain.init())[1].bandwidths).all()  # the draws stay blind
        states.append(chain.sweep(state)[0].points)
        blind = plain.sweep(plain.sweep(plain.init())[0])[0].points
    for points in states[1:]:
        assert_allclose(points, states[0], atol=1e-10)
    assert np.abs(states[0] - blind).max() > 1e-3


def test_local_factors_widen_the_bounds_of_the_certificate():
    X = paper_mixture(6, random_state=0)[0]
    right = LocalFactor(lambda point, density: 1.5 if point[0] > 0 else 1.4, 1.4, 1.5)
    chain = doubly_stochastic(make_problem(X, engine="reference"), Uniform(0.5, 1.0), seed=0, local_factor=right)
    assert_allclose((chain.h_min, chain.upper(chain.init())), (0.7, 1.5))
    result = run(chain, Stopping(0.1, max_sweeps=200))
    part = partition(chain, result, 0.1)
    assert part.certified
    assert part.gap > 1.5
    assert partition_stays(chain, result.state, 0.1, sweeps=10)


def test_local_factors_outside_their_bounds_and_on_a_gpu_are_refused():
    problem = make_problem(paper_mixture(5, random_state=0)[0])
    chain = doubly_stochastic(
        problem, Constant(0.5), seed=0, local_factor=LocalFactor(lambda point, density: 3.0, 1, 2)
    )
    with pytest.raises(LocalFactorError, match=r"returned 3, outside its bounds \[1, 2\]"):
        chain.sweep(chain.init())
    on_gpu = replace(problem, engine=SimpleNamespace(name="cuda"))
    with pytest.raises(ValueError, match="local_factor is a Python function, which the engine 'cuda' cannot call"):
        doubly_stochastic(on_gpu, Constant(0.5), seed=0, local_factor=LOCAL)
