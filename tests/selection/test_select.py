"""The view of a mixture, test by test, and the choice between it, modes, communities and one cluster."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import adjusted_rand_score

from inputs import knn_graph_of
from modeseek.selection import select
from modeseek.selection.mixture import FORMS, fit
from modeseek.selection.proposers import Gaussians, KnnGraph, Retrial, by_mixture, gaussians
from modeseek.selection.proposers.proposals import is_trivial
from modeseek.selection.select import Candidate, ClusterBounds, select_partition

# each test of the view, open for everything
OPEN = {
    "MOST_COMPONENTS": 11,
    "LEAST_GAIN": -np.inf,
    "DIP": -1.0,
    "STABLE": -1.0,
    "BETTER": -np.inf,
    "NOT_WORSE": -np.inf,
    "BEYOND": -np.inf,
}
CLOSED = {name: getattr(gaussians, name) for name in OPEN}


def seen(X, weights=None):
    """Make what a mixture looks at: coordinates and weights, no neighbours."""
    return KnnGraph(None, np.ones(len(X)) if weights is None else weights, 2.0, (3,), X)


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


def ask(X, *, clear=False, seed=0):
    return by_mixture(seen(X), np.random.default_rng(seed), clear=clear)


@pytest.fixture
def only(monkeypatch):
    """Leave only the tests named in force, with fewer repetitions."""
    monkeypatch.setattr(gaussians, "HELD_OUT", 4)
    monkeypatch.setattr(gaussians, "PATCHES", 6)

    def leave(*names):
        for name in OPEN:
            monkeypatch.setattr(gaussians, name, CLOSED[name] if name in names else OPEN[name])

    return leave


# ---------------------------------------- what is let in


@pytest.mark.parametrize("seed", range(3))
def test_overlapping_gaussians_are_let_in(seed):
    X, y = in_a_row(seed, d=4)
    for clear in (False, True):
        found = ask(X, clear=clear)
        assert found.setting == (2.0, float(FORMS.index("ball")))
        assert found.labels.shape == (150,)
        assert adjusted_rand_score(y, found.labels) > 0.75
        assert 0.75 <= found.stability <= 1.0


def test_the_same_seed_says_the_same(monkeypatch):
    monkeypatch.setattr(gaussians, "MOST_POINTS", 120)
    X, _ = in_a_row(0, d=4)
    one, other, third = ask(X, seed=3), ask(X, seed=3), ask(X, seed=4)
    assert_array_equal(one.labels, other.labels)
    assert one[1:] == other[1:]
    # others are sampled and held out: the same groups, with another stability
    assert adjusted_rand_score(one.labels, third.labels) > 0.8
    assert one.stability != third.stability


def test_all_points_have_a_label_where_only_some_are_fitted(monkeypatch):
    monkeypatch.setattr(gaussians, "MOST_POINTS", 100)
    sizes = []
    kept = gaussians.search
    monkeypatch.setattr(
        gaussians, "search", lambda *given, most: sizes.append(len(given[0])) or kept(*given, most=most)
    )
    X, y = in_a_row(0, n=400, gap=6.0)
    found = ask(X)
    assert sizes == [100]
    assert adjusted_rand_score(y, found.labels) > 0.95


# ---------------------------------------- what is not, and why: each test by itself


@pytest.mark.parametrize(
    ("name", "make", "clear"),
    [
        ("LEAST_GAIN", one_gaussian, False),
        ("DIP", heavy_tail, False),
        ("STABLE", one_gaussian, False),
        ("BETTER", ring, True),
        ("BETTER", square, True),
        ("BEYOND", square, False),
    ],
)
def test_one_test_alone_refuses(only, name, make, clear):
    for seed in range(2):
        X = make(seed)
        only()
        assert ask(X, clear=clear) is not None
        only(name)
        assert ask(X, clear=clear) is None


def test_as_many_components_as_allowed_tile_a_shape(only, monkeypatch):
    only()
    X, y = in_a_row(0, k=3, gap=9.0)
    monkeypatch.setattr(gaussians, "MOST_COMPONENTS", 4)
    assert adjusted_rand_score(y, ask(X).labels) == 1.0
    monkeypatch.setattr(gaussians, "MOST_COMPONENTS", 3)
    assert ask(X) is None


def test_trivial_partitions_are_refused(only):
    only()
    for many, few in ((146, 4), (100, 50)):
        X = np.random.default_rng(0).normal(size=(many + few, 2))
        X[many:] += 12.0
        found = ask(X)
        assert (found is None) == is_trivial(np.repeat([0, 1], (many, few)), np.ones(many + few))
    assert found is not None


@pytest.mark.parametrize(
    ("n", "clear", "stability", "ahead", "let_in"),
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
def test_thresholds_of_what_was_held_out(monkeypatch, n, clear, stability, ahead, let_in):
    monkeypatch.setattr(gaussians, "_hold_out", lambda *given: gaussians._Trial(stability, ahead))
    monkeypatch.setattr(gaussians, "_gain_of_uniform", lambda *given: -np.inf)
    X, _ = in_a_row(0, n=n, gap=6.0)
    assert (ask(X, clear=clear) is not None) == let_in


@pytest.mark.parametrize(("n", "ahead", "let_in"), [(200, 1.9, False), (200, 2.1, True), (60, 9.0, False)])
def test_more_than_three_must_be_better(monkeypatch, n, ahead, let_in):
    monkeypatch.setattr(gaussians, "_hold_out", lambda *given: gaussians._Trial(1.0, ahead))
    monkeypatch.setattr(gaussians, "_gain_of_uniform", lambda *given: -np.inf)
    X, _ = in_a_row(0, n=n, k=4, gap=8.0)
    assert (ask(X, clear=False) is not None) == let_in


@pytest.mark.parametrize(
    ("n", "d", "clear", "let_in"),
    [(100, 2, False, False), (100, 3, False, False), (100, 4, False, True), (100, 2, True, True), (63, 2, False, True)],
)
def test_when_the_uniform_patch_is_asked(monkeypatch, n, d, clear, let_in):
    monkeypatch.setattr(gaussians, "_hold_out", lambda *given: gaussians._Trial(1.0, 9.0))
    monkeypatch.setattr(gaussians, "_gain_of_uniform", lambda *given: np.inf)
    X, _ = in_a_row(0, n=n, d=d, gap=6.0)
    assert (ask(X, clear=clear) is not None) == let_in


def test_a_gain_is_compared_with_that_of_patches(monkeypatch):
    # the gains of patches are given: 1, 2, 3, so 2 and 1.5 standard deviations of 1
    X, _ = in_a_row(0)
    found = gaussians.search(X, np.ones(150), most=3)
    monkeypatch.setattr(gaussians, "PATCHES", 3)
    bics = iter([-1.0, -2.0, -3.0])
    monkeypatch.setattr(gaussians, "fit", lambda *given: found.mixture._replace(bic=0.0))
    monkeypatch.setattr(gaussians, "_fitted", lambda *given: found.mixture._replace(bic=next(bics)))
    gain = gaussians._gain_of_uniform(X, np.ones(150), 2, "ball", np.random.default_rng(0))
    assert gain == pytest.approx(3.5)


def test_patches_spread_as_the_points_do(monkeypatch):
    X = np.random.default_rng(0).normal(size=(400, 2)) * [5.0, 0.2]
    found = gaussians.search(X, np.ones(400), most=2)
    patches = []
    kept = gaussians._fitted
    monkeypatch.setattr(gaussians, "_fitted", lambda *given: patches.append(given[0]) or kept(*given))
    gaussians._gain_of_uniform(X, np.ones(400), 2, found.mixture.form, np.random.default_rng(0))
    assert len(patches) == gaussians.PATCHES
    assert_allclose(np.concatenate(patches).std(axis=0), X.std(axis=0), rtol=0.03)
    assert_allclose(np.abs(np.concatenate(patches)).max(axis=0), np.sqrt(3.0) * X.std(axis=0), rtol=0.01)


def test_held_out_points_judge():
    X, y = in_a_row(0, d=4, gap=6.0)
    good = fit(X, np.ones(150), y, "ball")
    trial = gaussians._hold_out(X, np.ones(150), good, y, np.random.default_rng(0), 8)
    assert trial.stability > 0.95
    assert trial.ahead > 2.0
    shape = ring(0)
    tiles = gaussians.search(shape, np.ones(150), most=9).mixture
    labels = gaussians._labels(tiles, shape)
    assert gaussians._hold_out(shape, np.ones(150), tiles, labels, np.random.default_rng(0), 8).ahead < 2.0


def test_a_component_that_dies_out_when_held_out_refuses(monkeypatch):
    X, _ = in_a_row(0, gap=8.0)
    assert ask(X) is not None
    monkeypatch.setattr(gaussians, "_fitted", lambda *given: None)
    assert ask(X) is None


@pytest.mark.parametrize("make", [square, heavy_tail, lognormal, one_gaussian])
def test_no_groups_are_seldom_let_in(make, monkeypatch):
    monkeypatch.setattr(gaussians, "PATCHES", 8)
    assert sum(ask(make(seed)) is not None for seed in range(100, 105)) <= 1


def test_a_curve_is_not_let_in_where_modes_are_clear():
    assert all(ask(ring(seed), clear=True) is None for seed in range(3))


@pytest.mark.parametrize("n", [3, 7, 12])
def test_too_few_points_have_no_mixture_or_a_whole_one(n):
    found = ask(np.random.default_rng(n).normal(size=(n, 1)))
    assert found is None or len(found.labels) == n


# ---------------------------------------- the same mixture again


def retried(X, labels, k=3.0, form="ball"):
    return Retrial((k, float(FORMS.index(form))))(seen(X), labels, np.random.default_rng(0), clear=False)


def test_thinned_data_follow_the_hint(monkeypatch):
    X, y = in_a_row(0, n=120, k=3, gap=8.0)
    assert adjusted_rand_score(y, retried(X, y)) == 1.0
    # where the tree is led astray, a hint of as many clusters still leads to the likelier fit
    monkeypatch.setattr(gaussians, "level", lambda tree, k: np.arange(len(tree) + 1) * k // (len(tree) + 1))
    monkeypatch.setattr(gaussians, "_gain_of_uniform", lambda *given: -np.inf)
    assert adjusted_rand_score(y, retried(X, y)) == 1.0


def test_thinned_data_may_refuse(monkeypatch):
    X, y = in_a_row(0, n=120, k=3, gap=8.0)
    monkeypatch.setattr(gaussians, "_gain_of_uniform", lambda *given: np.inf)
    assert retried(X, y) is None
    monkeypatch.setattr(gaussians, "fit", lambda *given: None)
    assert retried(X, y) is None


def test_the_likelier_fit_is_kept(monkeypatch):
    X, y = in_a_row(0, n=60, gap=8.0)
    for better in (0, 1):
        bics = iter([1.0 - better, 0.5])
        made = []
        monkeypatch.setattr(
            gaussians, "fit", lambda *given, b=bics, m=made: m.append(fit(*given)._replace(bic=next(b))) or m[-1]
        )
        found = gaussians._fitted(X, np.ones(60), 2, "ball", y)
        assert found is made[1 - better]


# ---------------------------------------- the choice

HALVES, THIRDS = np.repeat([0, 1], 60), np.repeat([0, 1, 2], 40)


@pytest.fixture
def staged(monkeypatch):
    """Let views say what a test wants them to; give back which were asked, and whether modes were said to be clear."""

    def stage(*, mixture=None, modes=HALVES, stability=1.0, excess_prominence=1.0):
        asked = []

        def judged(graph, view, seed, course):
            asked.append(view)
            return [] if modes is None else [Candidate(view, (3.0, 1.0), modes, int(modes.max()) + 1, stability, 1.0)]

        def mixed(graph, rng, *, clear):
            asked.append(clear)
            return None if mixture is None else Gaussians(mixture, (2.0, 3.0), 0.9)

        monkeypatch.setattr(select, "_judged", judged)
        monkeypatch.setattr(select, "by_mixture", mixed)
        monkeypatch.setattr(select, "excess_prominence", lambda graph: excess_prominence)
        monkeypatch.setattr(
            select, "_votes", lambda graph, found, *_, **__: [(np.arange(len(found[0].labels)), found[0].labels)]
        )
        return asked

    return stage


def flat(dimension=2.0, n=120):
    return KnnGraph(None, np.ones(n), dimension, (3,), np.zeros((n, 2)))


@pytest.mark.parametrize(("dimension", "view"), [(3.5, "modes"), (3.6, "communities")])
def test_the_dimension_says_which_view_speaks(staged, dimension, view):
    asked = staged()
    assert view in select_partition(flat(dimension), seed=0).message
    assert asked == ([view, False] if view == "modes" else [view])


@pytest.mark.parametrize(("excess_prominence", "clear"), [(1.5, True), (1.4, False)])
def test_a_mixture_is_told_whether_modes_are_clear(staged, excess_prominence, clear):
    asked = staged(excess_prominence=excess_prominence)
    select_partition(flat(), seed=0)
    assert asked == ["modes", clear]


def test_a_mixture_speaks_where_modes_say_otherwise(staged):
    staged(mixture=HALVES, modes=HALVES)
    found = select_partition(flat(), seed=0)
    assert [each.proposer for each in found.candidates] == ["modes"]
    staged(mixture=HALVES, modes=THIRDS)
    found = select_partition(flat(), seed=0)
    assert [each.proposer for each in found.candidates] == ["mixture", "modes"]
    assert_array_equal(found.labels, HALVES)
    assert found.stability == 0.9
    staged(mixture=HALVES, modes=None)
    assert "2 clusters by mixture" in select_partition(flat(), seed=0).message


def test_a_mixture_speaks_where_modes_say_the_same_but_do_not_pass(staged):
    staged(mixture=HALVES, modes=HALVES, excess_prominence=0.5)
    assert "by mixture" in select_partition(flat(), seed=0).message


def test_few_points_are_told_of_chance(staged):
    for n, told in ((63, True), (64, False)):
        halves = np.arange(n) % 2
        staged(mixture=halves, modes=np.arange(n) % 3)
        assert ("may look like this by chance" in select_partition(flat(n=n), seed=0).message) == told
        staged(modes=halves)
        assert "chance" not in select_partition(flat(n=n), seed=0).message


@pytest.mark.parametrize(
    ("excess_prominence", "stability", "dimension", "passes"),
    [
        (0.59, 1.0, 2.0, False),
        (0.61, 0.71, 2.0, True),
        (0.61, 0.69, 2.0, False),
        (1.49, 0.69, 2.0, False),
        (1.5, 0.51, 2.0, True),
        (1.5, 0.49, 2.0, False),
        (0.0, 0.71, 9.0, True),
        (1.5, 0.69, 9.0, False),
    ],
)
def test_the_gate(staged, excess_prominence, stability, dimension, passes):
    staged(excess_prominence=excess_prominence, stability=stability)
    found = select_partition(flat(dimension), seed=0)
    assert found.n_clusters == (2 if passes else 1)
    assert ("one cluster" in found.message) != passes
    # who bounds for two has answered
    assert select_partition(flat(dimension), seed=0, bounds=ClusterBounds(2)).n_clusters == 2


def test_wishes_pass_over_the_first(staged, monkeypatch):
    staged(mixture=HALVES, modes=THIRDS)
    monkeypatch.setattr(select, "_from_trees", lambda *_: [])
    assert select_partition(flat(), seed=0, bounds=ClusterBounds(3)).n_clusters == 3
    assert select_partition(flat(), seed=0, bounds=ClusterBounds(1, 2)).n_clusters == 2
    none = select_partition(flat(), seed=0, bounds=ClusterBounds(4))
    assert none.n_clusters == 1
    assert none.candidates == ()
    assert none.memberships.shape == (120, 1)


def test_settings_next_to_one_are_heard():
    stability = {(float(a), b): 0.0 for a in (3, 4, 6) for b in (1.0, 2.0, 3.0)}
    alone = select._smoothed(stability | {(4.0, 2.0): 1.0}, (4.0, 2.0))
    assert alone == pytest.approx(0.75)
    assert select._smoothed(stability | {(4.0, 2.0): 1.0}, (3.0, 1.0)) == pytest.approx(0.25 / 3)
    assert select._smoothed(stability | {(4.0, 2.0): 1.0}, (3.0, 2.0)) == pytest.approx(0.25 / 5)
    # two away, nobody is heard
    assert select._smoothed(stability | {(3.0, 1.0): 1.0}, (6.0, 1.0)) == 0.0
    assert select._smoothed(dict.fromkeys(stability, 0.6), (6.0, 3.0)) == pytest.approx(0.6)
    assert select._smoothed({(3.0, 1.0): 0.4}, (3.0, 1.0)) == pytest.approx(0.4)


def test_finer_partitions_are_worth_a_little_more(monkeypatch):
    said = {(3.0, 1.0): HALVES, (9.0, 1.0): THIRDS, (27.0, 1.0): np.repeat([0, 1], (119, 1))}
    rows = []

    def propose(graph):
        return {setting: labels[rows[-1] if rows else slice(None)] for setting, labels in said.items()}

    def thinned(graph, rng):
        rows.append(np.sort(rng.permutation(120)[:84]))
        return select.Subsample(graph, rows[-1])

    monkeypatch.setattr(select, "GRIDS", {"modes": propose})
    monkeypatch.setattr(select, "subsample", thinned)
    found = select._judged(flat(), "modes", 0)
    # equally stable, but for the trivial neighbour in the grid that THIRDS hears of; -ln sum of squared shares is ln K
    assert [each.n_clusters for each in found] == [2, 3]
    assert [each.stability for each in found] == pytest.approx([1.0, 1.0])
    assert found[0].score == pytest.approx(1.0 + 0.01 * np.log(2))
    assert found[1].score == pytest.approx(0.75 + 0.25 * 0.5 + 0.01 * np.log(3))
    del said[27.0, 1.0]
    rows.clear()
    assert [each.n_clusters for each in select._judged(flat(), "modes", 0)] == [3, 2]


# ---------------------------------------- the choice, with nothing staged


def test_few_overlapping_groups_by_mixture():
    X, y = in_a_row(1, n=50, gap=3.5)
    found = select_partition(knn_graph_of(X), seed=0)
    assert "by mixture" in found.message
    assert "so few points" in found.message
    assert found.candidates[0].proposer == "mixture"
    assert adjusted_rand_score(y, found.labels) > 0.6
    assert_allclose(found.memberships.sum(axis=1), 1.0)
    again = select_partition(knn_graph_of(X), seed=0)
    assert_array_equal(found.memberships, again.memberships)


def test_clear_groups_by_modes_and_many_dimensions_by_communities():
    X, y = in_a_row(0, gap=9.0)
    found = select_partition(knn_graph_of(X), seed=0)
    assert "by modes" in found.message
    assert adjusted_rand_score(y, found.labels) == 1.0
    rng = np.random.default_rng(0)
    wide = rng.normal(size=(120, 12)) + 8.0 * np.eye(12)[np.arange(120) % 3]
    graph = knn_graph_of(wide)
    assert graph.dimension >= select.COMMUNITIES_FROM
    assert "3 clusters by communities" in select_partition(graph, seed=0).message


def test_noise_is_one_cluster():
    for seed in range(3):
        found = select_partition(knn_graph_of(one_gaussian(seed)), seed=seed)
        assert found.n_clusters == 1
        assert_array_equal(found.labels, 0)
