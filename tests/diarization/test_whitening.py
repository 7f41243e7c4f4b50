"""Whitening within clusters, the evidence of partitions, and their refinement."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from modeseek.diarization import SpeakerSearch
from modeseek.diarization.config import DiarizationConfig
from modeseek.diarization.embeddings import unit_rows
from modeseek.diarization.whitening import CONCENTRATIONS, log_evidence, principal_components, refine, whiten_within
from modeseek.metrics import rand_agreement


def words(strength: float) -> tuple[np.ndarray, np.ndarray]:
    """Return unit vectors of four speakers whose words shift them in two common directions, and their speakers."""
    rng = np.random.default_rng(0)
    speakers = np.repeat(np.arange(4), 25)
    rows = np.eye(40)[speakers] + rng.normal(0, 0.1, (100, 40))
    rows[:, 4:6] += strength * rng.normal(size=(100, 2))
    return unit_rows(rows), speakers


def test_whitened_rows_have_unit_covariance_within_clusters():
    """With many rows, the covariance is barely shrunk."""
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1, 2], 5000)
    rows = 3.0 * np.eye(4)[labels] + rng.normal(size=(15000, 4)) * [1.0, 2.0, 3.0, 0.5]
    whitened, log_determinant = whiten_within(rows, labels)
    residuals = whitened - np.array([whitened[labels == label].mean(axis=0) for label in range(3)])[labels]
    assert np.allclose(residuals.T @ residuals / len(rows), np.eye(4), atol=0.02)
    assert log_determinant == pytest.approx(2 * np.log([1.0, 2.0, 3.0, 0.5]).sum(), abs=0.1)


def test_evidence_is_that_of_the_joint_distribution():
    """The rows of a speaker have a joint Gaussian distribution. One dimension has no shrinkage."""
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(10), np.arange(3, 13))
    rows = rng.normal(size=(10, 1))[labels] + 0.5 * rng.normal(size=(len(labels), 1))
    rows -= rows.mean()
    n, sizes = len(labels), np.bincount(labels)
    means = np.bincount(labels, rows[:, 0]) / sizes
    within = np.square(rows[:, 0] - means[labels]).sum() / (n - 10)
    between = (sizes @ means**2 - 9 * within) / (n - np.square(sizes).sum() / n)
    joint = sum(
        multivariate_normal(np.zeros(size), within * np.eye(size) + between).logpdf(rows[labels == label, 0])
        for label, size in enumerate(sizes)
    )
    # the probability of each row's table in a restaurant, given the rows before it
    seen = [np.count_nonzero(labels[:row] == labels[row]) for row in range(n)]
    prior = max(
        sum(np.log((count or each) / (row + each)) for row, count in enumerate(seen)) for each in CONCENTRATIONS
    )
    assert log_evidence(rows, labels) == pytest.approx(joint + n / 2 * np.log(2 * np.pi) + prior)


def test_refinement_separates_speakers_from_their_words():
    """Average linkage and ModeSeek join windows by their words."""
    rows, speakers = words(0.8)
    plain = SpeakerSearch(num_speakers=4, config=DiarizationConfig(refinements=0)).find(rows)
    found = SpeakerSearch(num_speakers=4).find(rows)
    assert rand_agreement(found.labels, speakers) > rand_agreement(plain.labels, speakers) + 0.1
    assert found.n_speakers == 4
    assert found.confidence.mean() > 0.9


def test_refinement_keeps_clear_speakers_and_bounds():
    """Without a gain, and outside the bounds, the given partition is returned."""
    rows, speakers = words(0.1)
    assert refine(rows, speakers).labels is speakers
    rows, speakers = words(1.0)
    given = np.arange(100) % 4
    assert refine(rows, given, 5, 6).labels is given


@pytest.mark.parametrize("rows", [np.ones((8, 3)), np.repeat(np.eye(4), 3, axis=0)], ids=["equal", "repeated"])
def test_repeated_rows_are_whitened(rows):
    """Their covariance within clusters is zero."""
    components = principal_components(unit_rows(rows))
    labels = np.arange(len(rows)) // 3
    assert np.isfinite(whiten_within(components, labels).rows).all()
    assert np.isfinite(log_evidence(components, labels))
    assert len(refine(unit_rows(rows), labels).labels) == len(rows)
