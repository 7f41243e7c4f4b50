"""The selection: which proposers are used, the test for one cluster, bounds, scores and votes."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import adjusted_rand_score

from inputs import knn_graph_of
from modeseek.selection import ClusterBounds, select_partition
from modeseek.selection.candidates import Candidate, is_trivial
from modeseek.selection.grid_proposers import PROPOSERS, Communities, GridProposer, MixtureProposer, Modes
from modeseek.selection.grid_proposers.base import smoothed_stability
from modeseek.selection.progress import SelectionProgress
from modeseek.selection.rules_config import DEFAULT

HALVES, THIRDS = np.repeat([0, 1], 60), np.repeat([0, 1, 2], 40)


@pytest.fixture
def staged(monkeypatch):
    """Replace what proposers propose; the fixture returns a list of the proposers that were called."""

    def stage(*, mixture=None, modes_labels=HALVES, stability=1.0, excess=1.0):
        called = []

        class Staged:
            def propose(self, graph, seed, progress):
                called.append(self.name)
                labels, sure = (mixture, 0.9) if self.name == "mixture" else (modes_labels, stability)
                if labels is None:
                    return []
                return [Candidate(self.name, (3.0, 1.0), labels, int(labels.max()) + 1, sure, 1.0)]

            def propose_n_clusters(self, *_):
                return []

            def repeat(self, candidate):
                return lambda sample, rng: candidate.labels[sample.rows]

        for cls in (Communities, Modes, MixtureProposer):
            monkeypatch.setitem(PROPOSERS, cls.name, type(cls.__name__, (Staged, cls), {}))
        monkeypatch.setattr("modeseek.selection.select.Modes", PROPOSERS["modes"])
        monkeypatch.setattr(Modes, "excess_prominence", lambda self, graph: excess)
        return called

    return stage


def flat(dimension=2.0, n=120):
    """Return a graph of random points with a given dimension."""
    graph = knn_graph_of(np.random.default_rng(0).normal(size=(n, 2)))
    return replace(graph, dimension=dimension)


@pytest.mark.parametrize(("dimension", "called"), [(3.5, ["modes", "mixture"]), (3.6, ["communities"])])
def test_the_dimension_decides_which_proposers_apply(staged, dimension, called):
    found = staged()
    assert called[0] in select_partition(flat(dimension), seed=0).message
    assert found == called


def test_a_mixture_precedes_modes_unless_they_agree(staged):
    staged(mixture=HALVES, modes_labels=HALVES)
    found = select_partition(flat(), seed=0)
    assert [each.proposer for each in found.candidates] == ["modes"]
    staged(mixture=HALVES, modes_labels=THIRDS)
    found = select_partition(flat(), seed=0)
    assert [each.proposer for each in found.candidates] == ["mixture", "modes"]
    assert_array_equal(found.labels, HALVES)
    assert found.stability == 0.9
    staged(mixture=HALVES, modes_labels=None)
    assert "2 clusters by mixture" in select_partition(flat(), seed=0).message


def test_a_mixture_is_selected_if_modes_agree_but_are_not_significant(staged):
    staged(mixture=HALVES, modes_labels=HALVES, excess=0.5)
    assert "by mixture" in select_partition(flat(), seed=0).message


def test_the_message_warns_of_few_points(staged):
    for n, warned in ((63, True), (64, False)):
        halves = np.arange(n) % 2
        staged(mixture=halves, modes_labels=np.arange(n) % 3)
        assert ("may occur by chance" in select_partition(flat(n=n), seed=0).message) == warned
        staged(modes_labels=halves)
        assert "chance" not in select_partition(flat(n=n), seed=0).message


@pytest.mark.parametrize(
    ("excess", "stability", "dimension", "significant"),
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
def test_the_test_for_one_cluster(staged, excess, stability, dimension, significant):
    staged(excess=excess, stability=stability)
    found = select_partition(flat(dimension), seed=0)
    assert found.n_clusters == (2 if significant else 1)
    assert ("one cluster" in found.message) != significant
    # min_clusters=2 skips the test
    assert select_partition(flat(dimension), seed=0, bounds=ClusterBounds(2)).n_clusters == 2


def test_bounds_exclude_candidates(staged):
    staged(mixture=HALVES, modes_labels=THIRDS)
    assert select_partition(flat(), seed=0, bounds=ClusterBounds(3)).n_clusters == 3
    assert select_partition(flat(), seed=0, bounds=ClusterBounds(1, 2)).n_clusters == 2
    none = select_partition(flat(), seed=0, bounds=ClusterBounds(4))
    assert none.n_clusters == 1
    assert none.candidates == ()
    assert none.memberships.shape == (120, 1)


def test_neighbouring_settings_are_averaged():
    stability = {(float(a), b): 0.0 for a in (3, 4, 6) for b in (1.0, 2.0, 3.0)}
    middle = stability | {(4.0, 2.0): 1.0}
    assert smoothed_stability(middle, (4.0, 2.0), 0.25) == pytest.approx(0.75)
    assert smoothed_stability(middle, (3.0, 1.0), 0.25) == pytest.approx(0.25 / 3)
    assert smoothed_stability(middle, (3.0, 2.0), 0.25) == pytest.approx(0.25 / 5)
    # settings two steps away do not count
    assert smoothed_stability(stability | {(3.0, 1.0): 1.0}, (6.0, 1.0), 0.25) == 0.0
    assert smoothed_stability(dict.fromkeys(stability, 0.6), (6.0, 3.0), 0.25) == pytest.approx(0.6)
    assert smoothed_stability({(3.0, 1.0): 0.4}, (3.0, 1.0), 0.25) == pytest.approx(0.4)


def test_scores_of_grid_proposers():
    said = {(3.0, 1.0): HALVES, (9.0, 1.0): THIRDS, (27.0, 1.0): np.repeat([0, 1], (119, 1))}

    class Fixed(GridProposer):
        name = "fixed"

        def partitions(self, graph, only=None):
            return {setting: labels[graph.rows] for setting, labels in said.items()}

    def scored():
        return Fixed(DEFAULT).propose(flat(), 0, SelectionProgress())

    found = scored()
    # both are perfectly stable, but THIRDS has a trivial neighbour in the grid; the entropy of k equal clusters is ln k
    assert [each.n_clusters for each in found] == [2, 3]
    assert [each.stability for each in found] == pytest.approx([1.0, 1.0])
    assert found[0].score == pytest.approx(1.0 + 0.01 * np.log(2))
    assert found[1].score == pytest.approx(0.75 + 0.25 * 0.5 + 0.01 * np.log(3))
    del said[27.0, 1.0]
    assert [each.n_clusters for each in scored()] == [3, 2]


def test_a_rejected_repeat_votes_for_the_second_candidate(staged, monkeypatch):
    staged(mixture=HALVES, modes_labels=THIRDS)
    monkeypatch.setattr(PROPOSERS["mixture"], "repeat", lambda self, candidate: lambda sample, rng: None)
    found = select_partition(flat(), seed=0)
    assert all(labels.max() == 2 for _, labels in found.votes)
    staged(mixture=HALVES, modes_labels=THIRDS, stability=0.1)
    monkeypatch.setattr(PROPOSERS["mixture"], "repeat", lambda self, candidate: lambda sample, rng: None)
    found = select_partition(flat(), seed=0)
    assert all(labels.max() == 0 for _, labels in found.votes)


def test_trivial_partitions():
    assert is_trivial(np.array([0] * 99 + [1]), np.ones(100))
    assert is_trivial(np.array([0, 0, 0, 0, 1, 1]), np.ones(6))
    assert not is_trivial(np.array([0] * 50 + [1] * 50), np.ones(100))


# ---------------------------------------- with nothing replaced


def in_a_row(seed, n=150, gap=4.0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    X = rng.normal(size=(n, 2))
    X[:, 0] += gap * y
    return X, y


def test_few_overlapping_groups_by_mixture():
    X, y = in_a_row(1, n=50, gap=3.5)
    found = select_partition(knn_graph_of(X), seed=0)
    assert "by mixture" in found.message
    assert "by chance" in found.message
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
    assert graph.dimension >= DEFAULT.communities_dimension
    assert "3 clusters by communities" in select_partition(graph, seed=0).message


def test_unclustered_data_are_one_cluster():
    for seed in range(3):
        X = np.random.default_rng(seed).normal(size=(150, 2))
        found = select_partition(knn_graph_of(X), seed=seed)
        assert found.n_clusters == 1
        assert_array_equal(found.labels, 0)


@pytest.mark.parametrize("proposer", [Modes, Communities])
def test_grid_proposers_label_every_point(proposer):
    X, y = in_a_row(0, n=300, gap=9.0)
    proposals = proposer().partitions(knn_graph_of(X))
    assert proposals
    for labels in proposals.values():
        assert_array_equal(np.unique(labels), np.arange(labels.max() + 1))
    assert max(adjusted_rand_score(y, labels) for labels in proposals.values()) == 1.0


def test_excess_prominence_of_clusters_and_of_noise():
    clear, _ = in_a_row(0, n=300, gap=9.0)
    assert Modes().excess_prominence(knn_graph_of(clear)) == pytest.approx(1.5)
    assert Modes().excess_prominence(knn_graph_of(np.random.default_rng(0).normal(size=(300, 2)))) < 0.6
