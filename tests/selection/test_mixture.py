"""Gaussian mixtures: the fit against plain formulas, the search, saddle depths and kernel densities."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import logsumexp
from scipy.stats import multivariate_normal, norm
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import GaussianMixture

from inputs import DEGENERATE, raw_rows
from modeseek.selection.mixture import FORMS, Mixture, em, saddle_depths, search_mixtures
from modeseek.selection.mixture import search as search_module
from modeseek.selection.mixture.em import fit, log_density, n_parameters, posterior
from modeseek.selection.mixture.kde_baseline import kernel_log_density
from modeseek.selection.mixture.kernels import adaptive_log_density, sums
from modeseek.selection.mixture.search import cut_ward_tree, ward_tree
from modeseek.selection.rules_config import DEFAULT

CONFIG = DEFAULT.mixture
SKLEARN = {"full": "full", "tied": "tied", "diagonal": "diag"}


def overlapping(seed=0, n=60, d=2, k=3, gap=3.0):
    """Return overlapping groups in a row, random weights, and the group of each point."""
    rng = np.random.default_rng(seed)
    labels = np.arange(n) % k
    points = rng.normal(size=(n, d)) * np.linspace(0.5, 1.5, d)
    points[:, 0] += gap * labels
    return points, rng.integers(1, 4, n).astype(float), labels


def covariances(mixture):
    return np.linalg.inv(np.einsum("kab,kac->kbc", mixture.factors, mixture.factors))


def least_variance(points, weights):
    centred = points - np.average(points, axis=0, weights=weights)
    return CONFIG.min_variance * np.average(np.square(centred), axis=0, weights=weights).mean()


def by_hand(points, weights, labels, form, iterations):
    """Return mixing weights, means, covariances and log likelihood after a number of steps, by the formulas."""
    n, d = points.shape
    k, least = labels.max() + 1, least_variance(points, weights)
    shares = (labels[:, None] == np.arange(k)).astype(float)
    for _ in range(iterations):
        mass = weights @ shares
        means = (shares * weights[:, None]).T @ points / mass[:, None]
        spread = [np.cov(points.T, aweights=weights * shares[:, j], ddof=0).reshape(d, d) for j in range(k)]
        if form in ("tied", "ball"):
            spread = [sum(m * s for m, s in zip(mass, spread, strict=True)) / mass.sum()] * k
        if form == "diagonal":
            spread = [np.diag(np.diag(s)) for s in spread]
        if form == "ball":
            spread = [np.diag(s).mean() * np.eye(d) for s in spread]
        spread = np.array(spread) + least * np.eye(d)
        logs = [
            np.log(m / weights.sum()) + multivariate_normal(u, s).logpdf(points)
            for m, u, s in zip(mass, means, spread, strict=True)
        ]
        logs = np.reshape(logs, (k, n)).T
        shares = np.exp(logs - logsumexp(logs, axis=1)[:, None])
    return mass / weights.sum(), means, spread, float(weights @ logsumexp(logs, axis=1))


def steps(iterations, **changes):
    """Return settings under which a fit takes exactly this number of steps."""
    return replace(CONFIG, max_iterations=iterations, tol=-np.inf, **changes)


# ---------------------------------------- the fit


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("d", [1, 2, 4])
@pytest.mark.parametrize("iterations", [1, 2, 7])
def test_steps_are_the_formulas(form, d, iterations):
    points, weights, labels = overlapping(d=d)
    found = fit(points, weights, labels, form, steps(iterations))
    mixing, means, spread, likelihood = by_hand(points, weights, labels, form, iterations)
    assert found.form == form
    assert_allclose(found.weights, mixing, rtol=1e-9)
    assert_allclose(found.means, means, rtol=1e-9)
    assert_allclose(covariances(found), spread, rtol=1e-8, atol=1e-12)
    penalty = n_parameters(3, d, form) * np.log(weights.sum())
    assert found.bic == pytest.approx(-2.0 * likelihood + penalty, rel=1e-10)
    assert_allclose(np.triu(found.factors, 1), 0.0, atol=1e-12)


@pytest.mark.parametrize("form", SKLEARN)
def test_scikit_learn_finds_the_same_from_the_same_start(form):
    points, _, labels = overlapping(n=90)
    ones = np.ones(len(points))
    start = fit(points, ones, labels, form, steps(1))
    precisions = np.einsum("kab,kac->kbc", start.factors, start.factors)
    if form == "tied":
        precisions = precisions[0]
    if form == "diagonal":
        precisions = np.diagonal(precisions, axis1=1, axis2=2)
    theirs = GaussianMixture(
        3,
        covariance_type=SKLEARN[form],
        tol=0.0,
        reg_covar=least_variance(points, ones),
        max_iter=10,
        weights_init=start.weights,
        means_init=start.means,
        precisions_init=precisions,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        theirs.fit(points)
    ours = fit(points, ones, labels, form, steps(11))
    assert_allclose(ours.means, theirs.means_, rtol=1e-8)
    assert_allclose(ours.weights, theirs.weights_, rtol=1e-8)
    assert_allclose(log_density(ours, points), theirs.score_samples(points), rtol=1e-8)
    assert_allclose(posterior(ours, points), theirs.predict_proba(points), atol=1e-8)
    assert ours.bic == pytest.approx(theirs.bic(points), rel=1e-10)


@pytest.mark.parametrize("form", FORMS)
def test_likelihood_never_falls(form):
    points, weights, labels = overlapping(seed=3, gap=1.5)
    labels = np.random.default_rng(0).permutation(labels)
    # the variance that is added is no part of the likelihood: nearly none here
    settings = [steps(iterations, min_variance=1e-12) for iterations in range(1, 25)]
    found = [fit(points, weights, labels, form, each).bic for each in settings]
    assert (np.diff(found) <= 1e-8).all()
    assert found[0] - found[-1] > 1.0


def test_a_fit_ends_when_the_likelihood_converges(monkeypatch):
    points, weights, labels = overlapping(gap=8.0)
    calls = []
    monkeypatch.setattr(em, "_factors", lambda *given, kept=em._factors: calls.append(1) or kept(*given))
    first = fit(points, weights, labels, "full")
    assert 2 <= len(calls) < 10
    assert fit(points, weights, labels, "full", steps(60)).bic == pytest.approx(first.bic, abs=1e-2)


@pytest.mark.parametrize("form", FORMS)
def test_a_weight_is_a_repeated_point(form):
    points, weights, labels = overlapping(seed=1)
    times = weights.astype(int)
    one = fit(points, weights, labels, form)
    other = fit(np.repeat(points, times, axis=0), np.ones(times.sum()), np.repeat(labels, times), form)
    for ours, theirs in zip(one._replace(form=0.0), other._replace(form=0.0), strict=True):
        assert_allclose(ours, theirs, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("factor", [1e-13, 1e6])
def test_the_total_weight_changes_only_the_criterion(form, factor):
    # the threshold for negligible shares is relative: an absolute one lost the scatter of light points
    points, weights, labels = overlapping(seed=1)
    one, other = fit(points, weights, labels, form), fit(points, factor * weights, labels, form)
    for name in ("weights", "means", "factors"):
        assert_allclose(getattr(one, name), getattr(other, name), rtol=1e-7, atol=1e-12)


@given(st.sampled_from(FORMS), st.integers(0, 1000), st.sampled_from([1, 2, 5]), st.floats(-8, 8), st.floats(-1e6, 1e6))
@settings(max_examples=30)
def test_invariance(form, seed, d, log_scale, shift):
    rng = np.random.default_rng(seed)
    points, weights, labels = overlapping(seed, d=d)
    scale = float(np.exp(log_scale))
    turn = np.linalg.qr(rng.normal(size=(d, d)))[0] if form != "diagonal" else np.eye(d)
    before = fit(points, weights, labels, form)
    after = fit(scale * points @ turn.T, weights, labels, form)
    # a density in units `scale` times as long
    change = 2.0 * weights.sum() * d * np.log(scale)
    assert after.bic - before.bic == pytest.approx(change, abs=1e-6)
    assert_allclose(after.means, scale * before.means @ turn.T, rtol=1e-6, atol=1e-6 * scale)
    assert_allclose(posterior(after, scale * points @ turn.T), posterior(before, points), atol=1e-6)
    # at an offset of a million, six of sixteen digits go into the offset
    moved = fit(points + shift, weights, labels, form)
    assert moved.bic == pytest.approx(before.bic, abs=1e-5)
    assert_allclose(moved.means, before.means + shift, rtol=1e-9, atol=1e-6)
    assert_allclose(moved.factors, before.factors, atol=1e-6)


@pytest.mark.parametrize(("k", "d"), [(1, 1), (2, 3), (5, 8)])
def test_parameters_are_counted(k, d):
    # a mean each, shares that add up to 1, and the lower triangles
    rest = k * d + (k - 1)
    triangle = len(np.tril_indices(d)[0])
    assert n_parameters(k, d, "full") == rest + k * triangle
    assert n_parameters(k, d, "tied") == rest + triangle
    assert n_parameters(k, d, "diagonal") == rest + k * d
    assert n_parameters(k, d, "ball") == rest + 1


def test_density_adds_up_to_one_and_is_that_of_scipy():
    mixture = Mixture(np.array([0.3, 0.7]), np.array([[0.0], [4.0]]), np.array([[[1.0]], [[2.0]]]), "full", 0.0)
    grid = np.linspace(-10, 14, 4001)
    density = np.exp(log_density(mixture, grid[:, None]))
    assert np.trapezoid(density, grid) == pytest.approx(1.0, abs=1e-9)
    assert_allclose(density, 0.3 * norm(0, 1).pdf(grid) + 0.7 * norm(4, 0.5).pdf(grid), rtol=1e-9)
    shares = posterior(mixture, grid[:, None])
    assert_allclose(shares.sum(axis=1), 1.0, rtol=1e-12)
    assert_allclose(shares[:, 0] * density, 0.3 * norm(0, 1).pdf(grid), rtol=1e-9)
    # far out, where every density is 0
    assert_allclose(posterior(mixture, np.array([[1e6], [-1e6]])), [[1.0, 0.0], [1.0, 0.0]])


@pytest.mark.parametrize("form", FORMS)
def test_a_lost_component_gives_no_fit(form):
    points, weights, labels = overlapping()
    for light, found in ((1e-7, False), (1e-4, True)):
        share = np.where(labels == 2, light, 1.0)
        mixture = fit(points + 50.0 * (labels == 2)[:, None], weights * share, labels, form)
        assert (mixture is not None) == found


@given(
    st.sampled_from(DEGENERATE),
    st.integers(0, 1000),
    st.integers(3, 30),
    st.sampled_from([1, 2, 8]),
    st.integers(1, 4),
    st.sampled_from(FORMS),
)
@settings(max_examples=30)
def test_ugly_points_have_a_mixture_or_none(kind, seed, n, d, k, form):
    rng = np.random.default_rng(seed)
    points = raw_rows(kind, rng, n, d)
    weights = rng.integers(1, 4, len(points)).astype(float)
    labels = cut_ward_tree(ward_tree(points), k) if len(points) > 1 else np.zeros(1, dtype=int)
    found = fit(points, weights, labels, form)
    if found is None:
        return
    assert np.isfinite(found.bic)
    assert found.weights.sum() == pytest.approx(1.0)
    slack = 1e-6 * max(1.0, np.abs(points).max())
    assert (found.means >= points.min(axis=0) - slack).all()
    assert (found.means <= points.max(axis=0) + slack).all()
    least = least_variance(points, weights)
    if least > 0:
        assert np.linalg.eigvalsh(covariances(found)).min() >= 0.999 * least
    assert_allclose(posterior(found, points).sum(axis=1), 1.0, rtol=1e-9)
    between = saddle_depths(found)
    assert (between >= 0).all()


def test_sums_are_those_of_numpy(rng):
    points, weights, shares = rng.normal(size=(20, 3)), rng.random(20), rng.dirichlet(np.ones(4), 20)
    mass, means, scatter = sums(points, weights, shares)
    parts = weights[:, None] * shares
    assert_allclose(mass, parts.sum(axis=0))
    assert_allclose(means, parts.T @ points / mass[:, None])
    for j in range(4):
        away = points - means[j]
        assert_allclose(scatter[j], (away * parts[:, [j]]).T @ away)


# ---------------------------------------- the search


def search_up_to(max_components, points, weights, **changes):
    return search_mixtures(points, weights, replace(CONFIG, max_components=max_components, **changes))


OBLIQUE = np.array([[1.0, 0.0], [2.0, 0.5]])
SHAPES = {
    "full": [OBLIQUE, OBLIQUE[::-1] * 0.5, np.array([[0.3, 0.0], [0.0, 1.5]])],
    "tied": [OBLIQUE] * 3,
    "diagonal": [np.diag(each) for each in ((2.0, 0.3), (0.3, 2.0), (1.0, 1.0))],
    "ball": [np.eye(2)] * 3,
}


@pytest.mark.parametrize("form", FORMS)
def test_number_and_form_are_found(form):
    rng = np.random.default_rng(5)
    centres = np.array([(0.0, 0.0), (12.0, 0.0), (0.0, 12.0)])
    points = np.concatenate(
        [rng.normal(size=(70, 2)) @ shape.T + c for shape, c in zip(SHAPES[form], centres, strict=True)]
    )
    found = search_up_to(7, points, np.ones(210))
    assert (len(found.mixture.weights), found.mixture.form) == (3, form)
    assert_allclose(np.sort(found.mixture.means, axis=0), np.sort(centres, axis=0), atol=1.0)
    assert found.gain > 200
    # the criterion itself, of the best single Gaussian
    single = min(fit(points, np.ones(210), np.zeros(210, dtype=int), each).bic for each in FORMS)
    assert found.gain == pytest.approx(single - found.mixture.bic)
    assert len(search_up_to(2, points, np.ones(210)).mixture.weights) == 2


def test_more_components_do_not_improve_one_gaussian():
    for seed in range(6):
        points = np.random.default_rng(seed).normal(size=(150, 2))
        assert search_up_to(4, points, np.ones(150)).gain < 0


def test_too_few_points_for_a_mixture():
    points = np.random.default_rng(0).normal(size=(8, 1))
    # a ball of two in one dimension has four numbers: eight points are just enough
    assert search_up_to(5, points, np.ones(8)) is not None
    assert search_up_to(5, points[:7], np.ones(7)) is None
    assert search_up_to(1, points, np.ones(8)) is None
    assert search_up_to(5, np.zeros((9, 1)), np.ones(9)) is None


def test_the_search_ends_after_three_numbers_without_improvement(monkeypatch):
    tried = []

    def fake(points, weights, labels, form, config):
        k = int(labels.max()) + 1
        tried.append((form, k))
        return Mixture(
            np.full(k, 1 / k), np.zeros((k, 1)), np.ones((k, 1, 1)), form, {1: 10.0, 2: 5.0, 6: 0.0}.get(k, 7.0)
        )

    monkeypatch.setattr(search_module, "fit", fake)
    found = search_up_to(9, np.arange(100.0)[:, None], np.ones(100))
    assert [k for form, k in tried if form == "ball"] == [1, 2, 3, 4, 5]
    assert len(found.mixture.weights) == 2
    assert found.gain == 5.0
    patient = search_up_to(9, np.arange(100.0)[:, None], np.ones(100), patience=4)
    assert len(patient.mixture.weights) == 6


def test_levels_of_the_tree_with_too_few_clusters(monkeypatch):
    # three groups in a triangle of equal sides merge at one height, and a tree has no level of two
    pattern = np.array([[0.0, 0.0, 0.0], [0.5, 0.5, 0.5], [-0.5, -0.5, -0.5]])
    points = np.concatenate([pattern + 4.0 * corner for corner in np.eye(3)] * 3)
    assert cut_ward_tree(ward_tree(points), 2).max() == 0
    assert cut_ward_tree(ward_tree(points), 3).max() == 2
    kept = fit

    def worse(points, weights, labels, form, config):
        mixture = kept(points, weights, labels, form, config)
        return mixture._replace(bic=mixture.bic + 1e3 * labels.max())

    monkeypatch.setattr(search_module, "fit", worse)
    found = search_up_to(3, points, np.ones(27))
    assert len(found.mixture.weights) == 3


# ---------------------------------------- saddle depths


def pair(gap, *, weight=0.5, sd=(1.0, 1.0)):
    factors = np.array([[[1.0 / sd[0]]], [[1.0 / sd[1]]]])
    return Mixture(np.array([weight, 1 - weight]), np.array([[0.0], [gap]]), factors, "full", 0.0)


def depth_on_grid(mixture):
    grid = np.linspace(mixture.means.min(), mixture.means.max(), 200_001)
    height = log_density(mixture, grid[:, None])
    left, right = np.maximum.accumulate(height), np.maximum.accumulate(height[::-1])[::-1]
    return float((np.minimum(left, right) - height).max())


@given(st.floats(0.1, 8.0))
@settings(max_examples=20)
def test_saddle_depth_of_two_equal_gaussians(gap):
    depth = float(saddle_depths(pair(gap))[0, 1])
    assert depth == pytest.approx(depth_on_grid(pair(gap)), abs=0.01)
    if gap <= 2.0:  # two equal ones have one mode up to two standard deviations
        assert depth == 0.0
    if gap >= 5.0:  # peak: half of one; valley: both, half way
        assert depth == pytest.approx(gap**2 / 8 - np.log(2.0), abs=0.02)


@given(st.floats(0.5, 10.0), st.floats(0.1, 0.9), st.floats(-3.5, 0.0))
@settings(max_examples=30)
def test_saddle_depth_of_unequal_gaussians(gap, weight, log_sd):
    # steps that were even in the share went past the valley beside a narrow component
    mixture = pair(gap, weight=weight, sd=(1.0, float(np.exp(log_sd))))
    assert saddle_depths(mixture)[0, 1] == pytest.approx(depth_on_grid(mixture), rel=0.05, abs=0.05)


def test_a_narrow_component_beside_a_wide_one_is_a_mode():
    assert saddle_depths(pair(1.6, weight=0.9, sd=(1.0, 0.03)))[0, 1] > 1.0


def climb(mixture, x):
    """Return the mode that mean shift on the density of a mixture reaches."""
    precisions = np.einsum("kab,kac->kbc", mixture.factors, mixture.factors)
    for _ in range(1000):
        share = posterior(mixture, x[None])[0]
        x = np.linalg.solve(
            np.einsum("k,kab->ab", share, precisions), np.einsum("k,kab,kb->a", share, precisions, mixture.means)
        )
    return x


@pytest.mark.parametrize("seed", range(12))
def test_components_with_a_saddle_between_them_are_modes(seed):
    rng = np.random.default_rng(seed)
    factors = np.tril(rng.normal(size=(2, 2, 2)))
    factors[:, [0, 1], [0, 1]] = rng.uniform(0.5, 2.0, (2, 2))
    mixture = Mixture(np.array([0.4, 0.6]), rng.normal(size=(2, 2)) * 1.5, factors, "full", 0.0)
    depth = saddle_depths(mixture)[0, 1]
    one, other = (climb(mixture, mean) for mean in mixture.means)
    finer = saddle_depths(mixture, replace(CONFIG, saddle_steps=20_001))[0, 1]
    assert (np.linalg.norm(one - other) > 1e-3) == (finer > 1e-9)
    assert depth == pytest.approx(finer, abs=0.02)


def test_saddle_depths_of_many():
    means = np.array([[0.0, 0.0], [6.0, 0.0], [6.5, 0.0], [0.0, 9.0]])
    mixture = Mixture(np.full(4, 0.25), means, np.tile(np.eye(2), (4, 1, 1)), "ball", 0.0)
    found = saddle_depths(mixture)
    assert_array_equal(found, found.T)
    assert np.isinf(np.diag(found)).all()
    assert found[1, 2] == 0.0
    assert 2.0 < found[0, 1] < found[0, 3] < np.inf
    same = mixture._replace(means=np.zeros((4, 2)))
    assert (saddle_depths(same)[np.triu_indices(4, 1)] == 0.0).all()


# ---------------------------------------- kernel densities


@pytest.fixture
def seen(rng):
    return rng.normal(size=(30, 1)) * 2.0, rng.integers(1, 4, 30).astype(float)


def test_every_kernel_density_adds_up_to_one(seen):
    grid = np.linspace(-40, 40, 40_001)
    for log in kernel_log_density(*seen, grid[:, None]).values():
        assert np.trapezoid(np.exp(log), grid) == pytest.approx(1.0, abs=1e-3)


def test_kernel_densities_are_their_definition(rng):
    points, weights, there = rng.normal(size=(25, 2)) * [1.0, 3.0], rng.random(25) + 0.5, rng.normal(size=(5, 2))
    away = np.sort(np.linalg.norm(points[:, None] - points, axis=2), axis=1)
    found = kernel_log_density(points, weights, there)
    assert len(found) == 2 * (6 + 3 * 2)
    for (whitened, k, multiple), log in found.items():
        if whitened:
            continue
        widths = multiple * (np.full(25, np.median(away[:, 6])) if k == 0 else away[:, k])
        parts = [w * multivariate_normal(x, h**2).pdf(there) for x, w, h in zip(points, weights, widths, strict=True)]
        assert_allclose(log, np.log(np.sum(parts, axis=0) / weights.sum()), rtol=1e-9)


def test_kernel_densities_follow_the_units(rng):
    points, weights, there = rng.normal(size=(25, 2)) * [1.0, 3.0], rng.random(25) + 0.5, rng.normal(size=(5, 2))
    before = kernel_log_density(points, weights, there)
    longer = kernel_log_density(5.0 * points, weights, 5.0 * there)
    stretch = np.array([[2.0, 0.0], [1.5, 0.7]])
    stretched = kernel_log_density(points @ stretch.T, weights, there @ stretch.T)
    for each in before:
        assert_allclose(longer[each], before[each] - 2 * np.log(5.0), rtol=1e-8)
        if each[0]:  # whitened: no linear map matters, but for the little that keeps it from being singular
            assert_allclose(stretched[each], before[each] - np.log(1.4), atol=1e-3)
    assert abs(stretched[False, 0, 1.0] - before[False, 0, 1.0] + np.log(1.4)).max() > 0.1
    heavier = kernel_log_density(points, 7.0 * weights, there)
    assert all(np.allclose(heavier[each], before[each]) for each in before)


def test_in_one_dimension_whitening_changes_nothing(seen):
    found = kernel_log_density(*seen, np.array([[0.3], [5.0]]))
    for _, k, multiple in found:
        assert_allclose(found[True, k, multiple], found[False, k, multiple], rtol=1e-8)


def test_a_weight_of_a_kernel_is_a_repeated_point(seen, rng):
    points, weights = seen
    widths, times = rng.random(30) + 0.1, weights.astype(int)
    squares = np.square(rng.normal(size=(4, 1)) - points.T)
    one = adaptive_log_density(squares, np.log(weights / weights.sum()), widths, 1)
    log_mass = np.full(times.sum(), -np.log(times.sum()))
    other = adaptive_log_density(np.repeat(squares, times, axis=1), log_mass, np.repeat(widths, times), 1)
    assert_allclose(one, other, rtol=1e-12)


def test_kernel_densities_of_few_and_of_equal_points():
    few = kernel_log_density(np.arange(5.0)[:, None], np.ones(5), np.array([[2.5]]))
    assert {k for _, k, _ in few} == {0}
    assert {k for _, k, _ in kernel_log_density(np.arange(9.0)[:, None], np.ones(9), np.array([[2.5]]))} == {0, 6}
    # many a point on another: no width is 0
    piled = np.array([0.0] * 20 + [1.0, 2.0, 3.0])[:, None]
    for log in kernel_log_density(piled, np.ones(23), np.array([[0.0], [1.5]])).values():
        assert np.isfinite(log).all()
