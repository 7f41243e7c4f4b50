"""The pool of candidates, their refinements, and their reproducibility."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from inputs import labels_of_points, selection_data_of
from modeseek.selection.config import DEFAULT
from modeseek.selection.data import base_sample
from modeseek.selection.pool import ORIGINS, build_pool, distinct
from modeseek.selection.proposers import PROPOSERS, Proposal
from modeseek.selection.proposers.base import ABSORBED
from modeseek.selection.refinements import absorb_small, refine_as_mixture, spherical_k_means
from modeseek.selection.reproducibility import reproducibility

X, Y = make_blobs(160, centers=[(0, 0), (6, 0), (0, 6)], random_state=0)
DATA = selection_data_of(X)
TRUTH = labels_of_points(X, Y)


@pytest.fixture(scope="module")
def pool():
    return build_pool(DATA)


def test_candidates_differ(pool):
    others = pool.agreement[np.triu_indices(len(pool), 1)]
    assert others.max() < DEFAULT.pool.same_agreement
    for (i, one), (j, other) in zip(enumerate(pool.candidates), list(enumerate(pool.candidates))[1:], strict=False):
        assert pool.agreement[i, j] == pytest.approx(adjusted_rand_score(one.labels, other.labels))
    assert max(adjusted_rand_score(TRUTH, each.labels) for each in pool.candidates) > 0.97


def test_every_proposal_votes(pool):
    proposed = [
        PROPOSERS[name](DEFAULT).propose(DATA, np.random.default_rng((DEFAULT.seed, number)))
        for number, name in enumerate(DEFAULT.proposers)
    ]
    proposed = [each for found in proposed for each in found]
    count = len(distinct([*proposed, *absorb_small(DATA, proposed, DEFAULT.refinements)], DATA, DEFAULT.pool))
    assert pool.votes[:, : len(PROPOSERS)].sum() == count
    assert pool.votes.shape[1] == len(ORIGINS)
    assert (pool.votes.sum(axis=1) > 0).all()


def test_the_number_of_threads_changes_nothing(pool):
    other = build_pool(DATA, n_jobs=3)
    assert_array_equal(pool.votes, other.votes)
    for one, two in zip(pool.candidates, other.candidates, strict=True):
        assert_array_equal(one.labels, two.labels)
    assert_array_equal(reproducibility(base_sample(DATA), pool), reproducibility(base_sample(DATA), pool, n_jobs=2))


def test_a_rare_cluster_stays_in_the_pool():
    rng = np.random.default_rng(0)
    rows = np.concatenate([rng.normal(size=(3000, 2)), [20.0, 0.0] + 0.1 * rng.normal(size=(12, 2))])
    data = selection_data_of(rows)
    settings = replace(DEFAULT.pool, compared_points=100, rare_from=1000, max_share=1.0)
    found = build_pool(data, config=replace(DEFAULT, proposers=("modes", "spanning_tree"), pool=settings))
    assert [12, 3000] in [sorted(np.bincount(each.labels).tolist()) for each in found.candidates]


def test_trivial_partitions_are_dropped():
    n = len(DATA)
    kept = np.where(np.arange(n) < n // 2, 7, 3)
    cases = [np.zeros(n), np.arange(n), np.where(np.arange(n) < 2, 1, 0), np.arange(n) == 5, kept]
    proposals = [Proposal("modes", labels.astype(np.int32)) for labels in cases]
    (found,) = distinct(proposals, DATA, DEFAULT.pool)
    assert_array_equal(found.labels, kept == 3)


def test_small_clusters_are_absorbed():
    labels = TRUTH.astype(np.int32)
    first = np.flatnonzero(labels == 0)[0]
    labels[first] = 3
    proposals = [Proposal("modes", labels), Proposal("centers", labels), Proposal("modes", TRUTH.astype(np.int32))]
    (found,) = absorb_small(DATA, proposals, DEFAULT.refinements)
    assert_array_equal(found.labels, TRUTH)
    assert found.variant == ABSORBED


def test_a_mixture_repairs_a_partition():
    rng = np.random.default_rng(0)
    labels = np.where(rng.random(len(DATA)) < 0.15, rng.integers(0, 3, len(DATA)), TRUTH).astype(np.int32)
    refined = refine_as_mixture(DATA, labels, np.arange(len(DATA)), DEFAULT.refinements)
    assert adjusted_rand_score(TRUTH, refined) > 0.97 > adjusted_rand_score(TRUTH, labels)
    assert refine_as_mixture(DATA, np.zeros(len(DATA), np.int32), np.arange(len(DATA)), DEFAULT.refinements) is None


def test_directions_are_refined_in_blocks():
    rng = np.random.default_rng(0)
    truth = (np.arange(120) % 3).astype(np.int32)
    points = np.eye(5)[truth] + 0.2 * rng.normal(size=(120, 5))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    labels = np.where(rng.random(120) < 0.2, (truth + 1) % 3, truth).astype(np.int32)
    found = spherical_k_means(points, labels, 6)
    assert adjusted_rand_score(truth, found) > 0.97 > adjusted_rand_score(truth, labels)
    assert_array_equal(spherical_k_means(points, labels, 6, block_size=30), found)


def test_clear_clusters_are_reproducible_and_random_ones_are_not(pool):
    best = int(np.argmax([adjusted_rand_score(TRUTH, each.labels) for each in pool.candidates]))
    noise = pool.candidates[best]._replace(labels=np.random.default_rng(0).permutation(TRUTH).astype(np.int32))
    both = replace(pool, candidates=(pool.candidates[best], noise))
    found = reproducibility(base_sample(DATA), both)
    assert found[0] > 0.95
    assert found[1] < 0.2
    nothing = replace(DEFAULT, reproducibility=replace(DEFAULT.reproducibility, n_subsamples=0))
    assert np.isnan(reproducibility(base_sample(DATA), both, config=nothing)).all()
