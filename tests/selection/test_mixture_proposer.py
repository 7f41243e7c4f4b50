"""The mixture proposer: each of its tests by itself, and what it does on subsamples."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import adjusted_rand_score

from inputs import lone_graph
from modeseek.selection.candidates import Candidate, is_trivial
from modeseek.selection.grid_proposers import MixtureProposer, Modes
from modeseek.selection.mixture import FORMS, MixtureSample, sample, search_mixtures
from modeseek.selection.mixture.em import fit
from modeseek.selection.mixture.sample import HeldOut
from modeseek.selection.progress import SelectionProgress
from modeseek.selection.rules_config import DEFAULT

# every test of the proposer passes
OPEN = {
    "max_components": 11,
    "min_gain": -np.inf,
    "min_saddle_depth": -1.0,
    "min_stability": -1.0,
    "strict_margin": -np.inf,
    "margin": -np.inf,
    "uniform_margin": -np.inf,
}


def config(clear=None, **changes):
    """Return the default settings with changes to those of the mixture; `clear` fixes whether modes are clear."""
    known = {} if clear is None else {"clear_excess_prominence": -np.inf if clear else np.inf}
    return replace(DEFAULT, mixture=replace(DEFAULT.mixture, **changes), **known)


def only(*names):
    """Return settings under which only the named tests can fail."""
    kept = {name: value for name, value in OPEN.items() if name not in names}
    return {"n_holdouts": 4, "n_uniform": 6, **kept}


@pytest.fixture(autouse=True)
def unclear(monkeypatch):
    """Graphs without neighbours have no density: their excess prominence is 0."""
    monkeypatch.setattr(Modes, "excess_prominence", lambda self, graph: 0.0)


def in_a_row(seed, n=150, k=2, gap=4.0, d=2):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % k
    X = rng.normal(size=(n, d))
    X[:, 0] += gap * y
    return X, y


def ring(seed, n=150):
    rng = np.random.default_rng(seed)
    angle = rng.random(n) * 2 * np.pi
    return np.column_stack([np.cos(angle), np.sin(angle)]) * (1.0 + 0.08 * rng.normal(size=(n, 1)))


def square(seed, n=200):
    return np.random.default_rng(seed).random((n, 2))


def heavy_tail(seed, n=150):
    return np.random.default_rng(seed).standard_t(2, size=(n, 2))


def lognormal(seed, n=150):
    return np.exp(np.random.default_rng(seed).normal(size=(n, 2)))


def one_gaussian(seed, n=150):
    return np.random.default_rng(seed).normal(size=(n, 2))


def propose(X, *, seed=0, clear=False, **changes):
    """Return the candidate, or None."""
    found = MixtureProposer(config(clear, **changes)).propose(lone_graph(X), seed, SelectionProgress())
    return found[0] if found else None


def with_held_out(monkeypatch, stability, lead, uniform=-np.inf):
    """Fix the results on held-out points and on uniform data."""
    monkeypatch.setattr(MixtureSample, "hold_out", lambda *_: HeldOut(stability, lead))
    monkeypatch.setattr(MixtureSample, "uniform_gain", lambda *_: uniform)


# ---------------------------------------- accepted


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("clear", [False, True])
def test_overlapping_gaussians_are_accepted(seed, clear):
    X, y = in_a_row(seed, d=4)
    found = propose(X, clear=clear)
    assert found.setting == (2.0, float(FORMS.index("ball")))
    assert found.labels.shape == (150,)
    assert adjusted_rand_score(y, found.labels) > 0.75
    assert 0.75 <= found.stability <= 1.0


def test_the_seed_determines_the_candidate():
    X, _ = in_a_row(0, d=4)
    one, other, third = (propose(X, seed=seed, max_points=120) for seed in (3, 3, 4))
    assert_array_equal(one.labels, other.labels)
    assert one.stability == other.stability
    # another sample and other splits: the same groups, with another stability
    assert adjusted_rand_score(one.labels, third.labels) > 0.8
    assert one.stability != third.stability


def test_all_points_are_labelled_if_a_sample_is_fitted(monkeypatch):
    sizes = []
    monkeypatch.setattr(
        sample, "search_mixtures", lambda *given: sizes.append(len(given[0])) or search_mixtures(*given)
    )
    X, y = in_a_row(0, n=400, gap=6.0)
    found = propose(X, max_points=100)
    assert sizes == [100]
    assert adjusted_rand_score(y, found.labels) > 0.95


# ---------------------------------------- rejected, by each test alone


@pytest.mark.parametrize(
    ("name", "make", "clear"),
    [
        ("min_gain", one_gaussian, False),
        ("min_saddle_depth", heavy_tail, False),
        ("min_stability", one_gaussian, False),
        ("strict_margin", ring, True),
        ("strict_margin", square, True),
        ("uniform_margin", square, False),
    ],
)
def test_one_test_alone_rejects(name, make, clear):
    for seed in range(2):
        X = make(seed)
        assert propose(X, clear=clear, **only()) is not None
        assert propose(X, clear=clear, **only(name)) is None


def test_the_largest_number_of_components_is_rejected():
    X, y = in_a_row(0, k=3, gap=9.0)
    assert adjusted_rand_score(y, propose(X, **{**only(), "max_components": 4}).labels) == 1.0
    assert propose(X, **{**only(), "max_components": 3}) is None


def test_trivial_partitions_are_rejected():
    for many, few in ((146, 4), (100, 50)):
        X = np.random.default_rng(0).normal(size=(many + few, 2))
        X[many:] += 12.0
        found = propose(X, **only())
        assert (found is None) == is_trivial(np.repeat([0, 1], (many, few)), np.ones(many + few))
    assert found is not None


@pytest.mark.parametrize(
    ("n", "clear", "stability", "lead", "accepted"),
    [
        (100, False, 0.76, -0.9, True),
        (100, False, 0.74, 9.0, False),
        (100, False, 0.76, -1.1, False),
        (100, True, 0.76, 2.1, True),
        (100, True, 0.76, 1.9, False),
        (63, True, 0.76, -99.0, True),
        (63, False, 0.74, 9.0, False),
        (64, False, 0.76, -1.1, False),
    ],
)
def test_thresholds_on_held_out_points(monkeypatch, n, clear, stability, lead, accepted):
    with_held_out(monkeypatch, stability, lead)
    X, _ = in_a_row(0, n=n, gap=6.0)
    assert (propose(X, clear=clear) is not None) == accepted


@pytest.mark.parametrize(("n", "lead", "accepted"), [(200, 1.9, False), (200, 2.1, True), (60, 9.0, False)])
def test_more_than_three_components_need_the_strict_margin(monkeypatch, n, lead, accepted):
    with_held_out(monkeypatch, 1.0, lead)
    X, _ = in_a_row(0, n=n, k=4, gap=8.0)
    assert (propose(X) is not None) == accepted


@pytest.mark.parametrize(
    ("n", "d", "clear", "accepted"),
    [(100, 2, False, False), (100, 3, False, False), (100, 4, False, True), (100, 2, True, True), (63, 2, False, True)],
)
def test_when_uniform_data_are_compared(monkeypatch, n, d, clear, accepted):
    with_held_out(monkeypatch, 1.0, 9.0, uniform=np.inf)
    X, _ = in_a_row(0, n=n, d=d, gap=6.0)
    assert (propose(X, clear=clear) is not None) == accepted


def test_the_gain_on_uniform_data_is_a_mean_plus_standard_deviations(monkeypatch):
    # gains of 1, 2 and 3: their mean is 2, their standard deviation 1
    X, _ = in_a_row(0)
    points = MixtureSample(X, np.ones(150), replace(DEFAULT.mixture, n_uniform=3))
    found, gains = points.search().mixture, iter([1.0, 2.0, 3.0])
    monkeypatch.setattr(MixtureSample, "fit", lambda *_: found)
    monkeypatch.setattr(MixtureSample, "gain", lambda *_: next(gains))
    assert points.uniform_gain(2, "ball", np.random.default_rng(0)) == pytest.approx(3.5)


def test_the_gain_is_over_the_best_single_gaussian():
    X, _ = in_a_row(0)
    points = MixtureSample(X, np.ones(150))
    found = points.search()
    assert points.gain(found.mixture) == pytest.approx(found.gain)


def test_uniform_data_have_the_spread_of_the_points(monkeypatch):
    X = np.random.default_rng(0).normal(size=(400, 2)) * [5.0, 0.2]
    drawn, kept = [], MixtureSample.fit
    monkeypatch.setattr(MixtureSample, "fit", lambda self, *given: drawn.append(self.points) or kept(self, *given))
    MixtureSample(X, np.ones(400)).uniform_gain(2, "ball", np.random.default_rng(0))
    assert len(drawn) == DEFAULT.mixture.n_uniform
    assert_allclose(np.concatenate(drawn).std(axis=0), X.std(axis=0), rtol=0.03)
    assert_allclose(np.abs(np.concatenate(drawn)).max(axis=0), np.sqrt(3.0) * X.std(axis=0), rtol=0.01)


def test_held_out_points_tell_gaussians_from_a_ring():
    def held_out(X, found):
        return MixtureSample(X, np.ones(150)).hold_out(found, np.random.default_rng(0), 8)

    X, y = in_a_row(0, d=4, gap=6.0)
    good = held_out(X, fit(X, np.ones(150), y, "ball"))
    assert good.stability > 0.95
    assert good.lead > 2.0
    shape = ring(0)
    assert held_out(shape, search_mixtures(shape, np.ones(150)).mixture).lead < 2.0


def test_a_component_that_is_lost_on_the_training_points_rejects(monkeypatch):
    X, _ = in_a_row(0, gap=8.0)
    assert propose(X) is not None
    monkeypatch.setattr(MixtureSample, "fit", lambda *_, **__: None)
    assert propose(X) is None


@pytest.mark.slow
@pytest.mark.parametrize("make", [square, heavy_tail, lognormal, one_gaussian])
def test_unclustered_data_are_seldom_accepted(make):
    assert sum(propose(make(seed), n_uniform=8) is not None for seed in range(100, 105)) <= 1


def test_a_curve_is_rejected_if_modes_are_clear():
    assert all(propose(ring(seed), clear=True) is None for seed in range(3))


@pytest.mark.parametrize("n", [3, 7, 12])
def test_few_points(n):
    found = propose(np.random.default_rng(n).normal(size=(n, 1)))
    assert found is None or len(found.labels) == n


# ---------------------------------------- on subsamples


def repeated(X, labels, k=3.0, form="ball"):
    candidate = Candidate("mixture", (k, float(FORMS.index(form))), labels, int(k), 1.0, 1.0)
    return MixtureProposer(config(False)).repeat(candidate)(lone_graph(X), np.random.default_rng(0))


def test_a_repeat_starts_from_the_labels_too(monkeypatch):
    X, y = in_a_row(0, n=120, k=3, gap=8.0)
    assert adjusted_rand_score(y, repeated(X, y)) == 1.0
    # if Ward's tree misleads, the labels of the candidate still lead to the better fit
    monkeypatch.setattr(sample, "cut_ward_tree", lambda tree, k: np.arange(len(tree) + 1) * k // (len(tree) + 1))
    monkeypatch.setattr(MixtureSample, "uniform_gain", lambda *_: -np.inf)
    assert adjusted_rand_score(y, repeated(X, y)) == 1.0


def test_a_repeat_may_be_rejected(monkeypatch):
    X, y = in_a_row(0, n=120, k=3, gap=8.0)
    monkeypatch.setattr(MixtureSample, "uniform_gain", lambda *_: np.inf)
    assert repeated(X, y) is None
    monkeypatch.setattr(MixtureSample, "fit", lambda *_, **__: None)
    assert repeated(X, y) is None


def test_the_fit_of_lower_criterion_is_kept(monkeypatch):
    X, y = in_a_row(0, n=60, gap=8.0)
    for better in (0, 1):
        bics, made = iter([1.0 - better, 0.5]), []
        monkeypatch.setattr(
            sample, "fit", lambda *given, b=bics, m=made: m.append(fit(*given)._replace(bic=next(b))) or m[-1]
        )
        found = MixtureSample(X, np.ones(60)).fit(2, "ball", hint=y)
        assert found is made[1 - better]


def test_every_other_repeat_uses_the_verdict_of_the_one_before(monkeypatch):
    verdicts = iter([1.0, None])
    monkeypatch.setattr(MixtureProposer, "test", lambda *_: next(verdicts))
    X, y = in_a_row(0, n=120, k=3, gap=20.0)
    candidate = Candidate("mixture", (3.0, 0.0), y, 3, 1.0, 1.0)
    repeat = MixtureProposer().repeat(candidate)
    found = [repeat(lone_graph(X), np.random.default_rng(0)) for _ in range(4)]
    assert [each is not None for each in found] == [True, True, False, False]
    assert adjusted_rand_score(y, found[0]) == 1.0
