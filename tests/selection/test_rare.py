"""Rare clusters, which are found on all points and not on the sample on which candidates are compared."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.datasets import make_blobs

from inputs import Wanted, labels_of_points, selection_data_of
from modeseek.selection import DEFAULT, ClusterBounds
from modeseek.selection.rare import add_rare, find_rare, split_off_rare
from modeseek.selection.select import Selector

# the rules of large data, for small ones: a cluster of fewer than 100 of 3,000 points is rare
CONFIG = replace(
    DEFAULT,
    base_points=300,
    proposers=("centers",),
    rare=replace(DEFAULT.rare, min_points=30),
    reproducibility=replace(DEFAULT.reproducibility, n_subsamples=1),
)
CENTERS = [(0, 0), (12, 0), (0, 12), (12, 12)]
X, Y = make_blobs([1500, 1380, 60, 60], centers=CENTERS, cluster_std=[1, 1, 0.3, 0.3], random_state=0)
DATA, TRUTH = selection_data_of(X), labels_of_points(X, Y)
RARE = [TRUTH == 2, TRUTH == 3]


@pytest.mark.parametrize("coarse", [(0, 1, 0, 1), (0, 0, 0, 0), (0, 1, 2, 2)])
def test_rare_clusters_are_split_off(coarse):
    found, halves = split_off_rare(np.array(coarse, dtype=np.int32)[TRUTH], find_rare(DATA, CONFIG), CONFIG)
    for rows in RARE:
        assert_array_equal(found == found[rows][0], rows)
    assert len(halves) == CONFIG.rare.n_halves


def test_clusters_of_the_partition_are_kept():
    labels = TRUTH.astype(np.int32)
    found, halves = split_off_rare(labels, find_rare(DATA, CONFIG), CONFIG)
    assert found is labels
    assert halves == []


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", ["normal", "uniform", "t", "log-normal", "rounded"])
def test_data_without_rare_clusters(kind, seed):
    rng = np.random.default_rng(seed)
    draws = {
        "normal": rng.normal,
        "uniform": rng.random,
        "t": lambda size: rng.standard_t(2, size=size),
        "log-normal": lambda size: np.exp(rng.normal(size=size)),
        "rounded": lambda size: np.round(rng.normal(size=size), 2),
    }
    data = selection_data_of(draws[kind](size=(3000, 2)))
    assert split_off_rare(np.zeros(len(data), dtype=np.int32), find_rare(data, CONFIG), CONFIG)[1] == []


@pytest.mark.parametrize("config", [DEFAULT, replace(CONFIG, rare=replace(CONFIG.rare, min_points=61))])
def test_clusters_with_too_few_points_are_not_split_off(config):
    labels = np.zeros(len(DATA), dtype=np.int32)
    assert split_off_rare(labels, find_rare(DATA, config), config)[0] is labels


def test_the_selection_has_rare_clusters_with_their_confidence():
    found = Selector(DATA, 0, config=CONFIG, choice=Wanted(2)).select()
    for rows in RARE:
        number = found.labels[rows][0]
        assert_array_equal(found.labels == number, rows)
        assert found.cluster_stability[number] > 0.8
        assert found.memberships[rows][:, [number]].toarray().min() > 0.5
    assert "rare clusters were split off" in found.message
    assert found.candidates[0].n_clusters == found.n_clusters


def test_bounds_on_the_number_of_clusters_hold():
    found = Selector(DATA, 0, bounds=ClusterBounds(2, 2), config=CONFIG).select()
    assert found.n_clusters == 2
    assert "rare" not in found.message


def test_votes_get_the_rare_clusters_of_halves():
    votes = [(np.arange(4), np.array([0, 0, 1, 1])), (np.array([1, 3]), np.array([0, 1]))]
    added = add_rare(votes, [np.array([0, 0, 0, 1])])
    assert_array_equal(added[0][1], [0, 0, 1, 2])
    assert_array_equal(added[1][1], [0, 2])
