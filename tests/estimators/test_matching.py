"""Cluster numbers that agree with an earlier model."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.datasets import make_blobs
from sklearn.exceptions import NotFittedError

from modeseek import MeanShift
from modeseek.estimators.matching import matched_labels


def test_the_best_assignment_is_chosen():
    # by the largest overlap first, the cluster 0 would take 0, and 3 rows would keep their number instead of 4
    assert_array_equal(matched_labels([0, 0, 0, 0, 0, 1, 1], [0, 0, 0, 1, 1, 0, 0])[[0, 5]], [1, 0])


def test_noise_and_new_clusters():
    assert_array_equal(matched_labels([-1, 0, 1, 1], [0, -1, 2, 2]), [-1, 3, 2, 2])
    assert_array_equal(matched_labels([-1, -1], [-1, -1]), [-1, -1])
    with pytest.raises(ValueError, match="same length"):
        matched_labels([0], [0, 1])


def test_a_refit_keeps_the_numbers():
    centers = [[0, 0], [10, 0], [0, 10]]
    old_rows, _ = make_blobs([10, 30, 20], centers=centers, random_state=0)
    new_rows, _ = make_blobs([40, 15, 20, 5], centers=[*centers, [30, 30]], random_state=1)
    old, new = MeanShift(4.0).fit(old_rows), MeanShift(4.0).fit(new_rows)
    assert (old.n_clusters_, new.n_clusters_) == (3, 4)
    labels, before = new.match_labels(old), new.labels_.copy()
    assert (labels != new.labels_).any()
    known = np.linalg.norm(new_rows, axis=1) < 20
    assert_array_equal(labels[known], old.predict(new_rows[known]))
    assert set(labels[~known]) == {3}
    assert_array_equal(new.labels_, before)


def test_both_models_must_be_fitted():
    with pytest.raises(NotFittedError):
        MeanShift(1.0).fit([[0.0]]).match_labels(MeanShift())
