"""The scores of the image benchmark."""

import importlib

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score, rand_score


def test_scores_of_known_partitions():
    """Scores agree with scikit-learn, and with values computed by hand for two halves found as one."""
    scores = importlib.import_module("picture_methods").scores
    rng = np.random.default_rng(0)
    found, person = rng.integers(0, 4, (8, 9)), rng.integers(0, 3, (8, 9))
    assert scores(found, [person])["ari"] == pytest.approx(adjusted_rand_score(person.ravel(), found.ravel()))
    assert scores(found, [person])["rand"] == pytest.approx(rand_score(person.ravel(), found.ravel()))
    same = scores(found, [found, found])
    assert same == pytest.approx({"ari": 1.0, "covering": 1.0, "rand": 1.0, "vi": 0.0}, abs=1e-12)
    halves = np.array([[0] * 6 + [1] * 4])
    one = scores(np.zeros((1, 10), int), [halves])
    assert one["covering"] == pytest.approx(0.6 * 0.6 + 0.4 * 0.4)
    assert one["vi"] == pytest.approx(-0.6 * np.log(0.6) - 0.4 * np.log(0.4))
    assert one["ari"] == 0.0
