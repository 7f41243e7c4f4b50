"""The selection: the model's order, bounds on the number of clusters, messages, votes."""

import re
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from inputs import Wanted, labels_of_points, selection_data_of
from modeseek.selection import DEFAULT, ClusterBounds
from modeseek.selection.data import base_sample
from modeseek.selection.proposers import PROPOSERS, Proposal
from modeseek.selection.proposers.base import ABSORBED, REFINED, SPHERICAL
from modeseek.selection.select import Selector
from modeseek.selection.votes import vote

X, Y = make_blobs(160, centers=[(0, 0), (6, 0), (0, 6)], random_state=0)
DATA = selection_data_of(X)
TRUTH = labels_of_points(X, Y)
QUICK = replace(
    DEFAULT,
    proposers=("modes", "centers"),
    reproducibility=replace(DEFAULT.reproducibility, n_subsamples=1),
    votes=replace(DEFAULT.votes, n_subsamples=4),
)


def select(wanted, low=1, high=np.inf, data=DATA):
    return Selector(data, 0, ClusterBounds(low, high), config=QUICK, choice=Wanted(wanted)).select()


@pytest.mark.parametrize("wanted", [1, 2, 3, 7])
def test_the_candidate_with_the_largest_expected_agreement_is_selected(wanted):
    found = select(wanted)
    assert found.n_clusters == wanted
    assert found.memberships.shape == (len(DATA), wanted)
    assert float(re.search(r"expected agreement ([\d.]+)", found.message)[1]) > 0.9
    assert "because it has more clusters and it looks better" in found.message
    assert found.message.startswith("one cluster" if wanted == 1 else f"{wanted} clusters by ")
    if wanted > 1:
        assert_array_equal(found.candidates[0].labels, found.labels)
        assert found.candidates[0].stability == found.stability
    counts = [each.n_clusters for each in found.candidates]
    assert len(set(counts)) == len(counts) <= QUICK.max_alternatives
    expected = [round(each.expected_agreement, 9) for each in found.candidates]
    assert expected == sorted(expected, reverse=True)


@pytest.mark.parametrize(("wanted", "low", "high", "count"), [(1, 2, np.inf, 2), (7, 1, 3, 3), (3, 5, 9, 5)])
def test_bounds_exclude_candidates(wanted, low, high, count):
    assert select(wanted, low, high).n_clusters == count


def test_clusters_are_merged_if_no_candidate_has_the_number():
    found = select(3, 11, 11)
    assert found.n_clusters == 11
    assert found.message.startswith("11 clusters as requested, merged from: ")
    np.testing.assert_allclose(found.memberships.sum(axis=1), 1.0)
    assert found.mode_setting is None


def test_the_tree_of_modes_has_more_clusters_than_any_candidate():
    few = replace(QUICK, proposers=("centers",), centers=replace(DEFAULT.centers, n_centers=(2, 3)))
    found = Selector(DATA, 0, ClusterBounds(8, 8), config=few, choice=Wanted(3)).select()
    assert found.n_clusters == 8
    assert "8 clusters by modes" in found.message
    assert found.mode_setting is not None
    many = Selector(DATA, 0, ClusterBounds(150), config=few, choice=Wanted(3)).select()
    assert many.n_clusters == 150
    assert many.message == "150 clusters by centers"


@pytest.mark.parametrize("count", [2, 4, 6])
def test_an_alternative_is_the_partition_that_its_number_of_clusters_selects(count):
    (alternative,) = [each for each in select(3).candidates if each.n_clusters == count]
    found = select(3, count, count)
    assert_array_equal(found.labels, alternative.labels)
    # the bounds do not change what is expected
    assert found.candidates[0].expected_agreement == alternative.expected_agreement


def test_wards_clusters_of_a_sample_reach_all_points():
    centers = replace(DEFAULT.centers, max_points=20)
    found = PROPOSERS["centers"](replace(DEFAULT, centers=centers)).with_clusters(DATA, 3)
    assert len(found.labels) == len(DATA)
    assert adjusted_rand_score(found.labels, TRUTH) > 0.9


def test_the_seed_changes_the_memberships_only():
    one, other = (Selector(DATA, seed, config=QUICK, choice=Wanted(7)).select() for seed in (0, 1))
    assert_array_equal(one.labels, other.labels)
    assert one.message == other.message
    assert (one.memberships != other.memberships).nnz


def test_threads_change_nothing():
    one, other = (Selector(DATA, 0, config=QUICK, n_jobs=jobs, choice=Wanted(7)).select() for jobs in (1, 3))
    assert_array_equal(one.labels, other.labels)
    assert not (one.memberships != other.memberships).nnz
    assert one.message == other.message


@pytest.mark.parametrize("variant", [0, ABSORBED, REFINED, SPHERICAL])
@pytest.mark.parametrize("name", PROPOSERS)
def test_votes_find_clear_clusters_again(name, variant):
    chosen = Proposal(name, TRUTH.astype(np.int32), variant=variant)
    rows, labels = vote(DATA, base_sample(DATA), chosen, (0, 1), DEFAULT)
    assert len(rows) == len(labels) == 112
    if variant != SPHERICAL:  # these points are no directions
        assert adjusted_rand_score(TRUTH[rows], labels) > 0.9


def test_votes_of_small_subsamples_reach_all_points():
    base = base_sample(DATA, replace(DEFAULT, base_points=90))
    rows, labels = vote(DATA, base, Proposal("modes", TRUTH.astype(np.int32)), (0, 1), DEFAULT)
    assert_array_equal(rows, np.arange(160))
    assert adjusted_rand_score(TRUTH, labels) > 0.9
