"""Must-link and cannot-link pairs of `ModeSeek.fit`."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.datasets import make_blobs
from sklearn.metrics import pairwise_distances

from modeseek import ModeSeek
from modeseek.estimators.constraints import Constraints, ContradictoryConstraints
from modeseek.estimators.matching import matched_labels

ROWS, _ = make_blobs(120, centers=[[0, 0], [8, 0], [0, 8]], random_state=0)
DISTANCES = pairwise_distances(ROWS)


def fit(X=ROWS, must_link=(), cannot_link=(), **parameters):
    constraints = {"must_link": must_link, "cannot_link": cannot_link}
    return ModeSeek(random_state=0, **parameters).fit(X, constraints=constraints)


@pytest.fixture(scope="module")
def plain():
    return ModeSeek(random_state=0).fit(ROWS)


@pytest.mark.parametrize(("X", "metric"), [(ROWS, "euclidean"), (DISTANCES, "precomputed")])
def test_random_constraints_always_hold(X, metric):
    rng = np.random.default_rng(0)
    for _ in range(3):
        groups = rng.integers(5, size=len(ROWS))  # constraints that contradict the data, but not each other
        pairs = rng.integers(len(ROWS), size=(25, 2))
        same = groups[pairs[:, 0]] == groups[pairs[:, 1]]
        model = fit(X, pairs[same], pairs[~same], metric=metric)
        first, second = model.labels_[pairs].T
        assert_array_equal(first == second, same)
        assert_array_equal(model.predict(X), model.labels_)
        assert_array_equal(model.memberships_.argmax(axis=1), model.labels_)
        np.testing.assert_allclose(model.memberships_.sum(axis=1), 1)


def test_the_smallest_number_of_rows_moves(plain):
    a, b = (np.flatnonzero(plain.labels_ == label)[:3] for label in (0, 1))
    model = fit(must_link=[(a[0], b[0]), (b[0], b[1])])
    assert_array_equal(np.flatnonzero(matched_labels(model.labels_, plain.labels_) != plain.labels_), [a[0]])
    assert "1 row moved to satisfy the constraints" in model.message_


def test_satisfied_constraints_change_nothing(plain):
    a, b = (np.flatnonzero(plain.labels_ == label) for label in (0, 1))
    model = fit(must_link=[(a[0], a[1])], cannot_link=[(a[0], b[0])])
    assert_array_equal(model.labels_, plain.labels_)
    assert model.message_.split(";")[0] == plain.message_.split(";")[0]
    assert_array_equal(ModeSeek(random_state=0).fit(ROWS, constraints={}).labels_, plain.labels_)


def test_many_constraints_choose_another_candidate():
    rows, clusters = make_blobs(120, centers=[[0, 0], [7, 0], [30, 0]], random_state=0)
    known = clusters == 2  # the first two clusters are one class
    pairs = np.random.default_rng(1).integers(len(rows), size=(50, 2))
    same = known[pairs[:, 0]] == known[pairs[:, 1]]
    assert ModeSeek(random_state=0).fit(rows).n_clusters_ == 3
    assert_array_equal(fit(rows, pairs[same], pairs[~same]).labels_, known)


def test_cannot_links_make_new_clusters():
    model = fit(np.random.default_rng(0).normal(size=(40, 2)), cannot_link=[(0, 1), (1, 2), (0, 2)], max_clusters=3)
    assert len(set(model.labels_[:3])) == 3
    with pytest.raises(ValueError, match="at most 2 are allowed"):
        fit(cannot_link=[(0, 1), (1, 2), (0, 2)], n_clusters=2)


@pytest.mark.parametrize(
    ("must_link", "cannot_link", "message"),
    [
        ([(0, 1), (1, 2), (5, 2)], [(7, 8), (5, 0)], "rows 5 and 0 have a cannot-link.*5 - 2 - 1 - 0"),
        ([], [(3, 3)], "rows 3 and 3 .* equal rows"),
        ([(0, 500)], [], "row 500, but X has 120 rows"),
        ([(0, -1)], [], "row -1"),
        ([0, 1], [], r"of shape \(m, 2\)"),
        ([(0.5, 1.0)], [], "pairs of row numbers"),
    ],
)
def test_what_is_wrong_is_said(must_link, cannot_link, message):
    with pytest.raises(ValueError, match=message):
        fit(must_link=must_link, cannot_link=cannot_link)


def test_contradictions_have_fields():
    with pytest.raises(ContradictoryConstraints) as caught:
        fit(must_link=[(0, 1), (1, 2)], cannot_link=[(0, 2)])
    assert (caught.value.pair, caught.value.chain) == ((0, 2), (0, 1, 2))


def test_what_cannot_be_combined_is_refused():
    with pytest.raises(ValueError, match="not Dask"):
        fit(must_link=[(0, 1)], min_cluster_size=3)
    with pytest.raises(TypeError, match="dictionary"):
        ModeSeek().fit(ROWS, constraints=[(0, 1)])


def test_shares_of_satisfied_pairs():
    pairs = Constraints(np.array([[0, 1], [0, 2]]), np.array([[0, 3]]))
    assert pairs.satisfied(np.array([0, 0, 1, 1])) == 0.75
    assert pairs.satisfied(np.zeros(4, dtype=int)) == 0.5
