"""The search for speakers."""

import numpy as np
import pytest
from voices import same, voices

from modeseek.diarization import DiarizationConfig, EmbeddingTransform, SpeakerSearch, find_turns
from modeseek.diarization.average_linkage import find_linkage_partition


@pytest.mark.parametrize("seed", [0, 3])
def test_speakers_with_few_windows_are_found(seed):
    rows, who = voices((20, 9, 5, 4, 3), seed=seed)
    found = SpeakerSearch().find(rows)
    assert same(found.labels, who)
    assert np.bincount(found.labels).tolist() == [20, 9, 5, 4, 3]  # speaker 0 has the most windows


def test_the_length_of_rows_does_not_matter():
    rows, _ = voices((12, 8, 6))
    first = SpeakerSearch().find(rows)
    second = SpeakerSearch().find(rows * np.random.default_rng(1).uniform(0.1, 10, (len(rows), 1)))
    assert (first.labels == second.labels).all()


@pytest.mark.parametrize("number", [2, 3, 4, 7])
def test_num_speakers_is_respected(number):
    rows, _ = voices((15, 12, 10, 8))
    assert SpeakerSearch(num_speakers=number).find(rows).n_speakers == number


def test_bounds_are_respected():
    rows, _ = voices((15, 12, 10, 8))
    assert SpeakerSearch(max_speakers=3).find(rows).n_speakers <= 3
    assert SpeakerSearch(min_speakers=5).find(rows).n_speakers >= 5
    assert SpeakerSearch(max_speakers=1).find(rows).n_speakers == 1


def test_short_windows_are_not_clustered_and_have_low_confidence():
    rows, who = voices((14, 12, 10))
    times = np.column_stack([np.arange(36.0), np.arange(36.0) + 0.9])
    times[::4, 1] = times[::4, 0] + 0.3
    stray = rows.copy()
    stray[0] = np.random.default_rng(5).normal(size=rows.shape[1])
    found = find_turns(stray, times).speakers
    assert not found.clustered[::4].any()
    assert found.clustered.sum() == 27
    assert (found.confidence[::4] <= 0.5).all()
    assert found.confidence[1::4].min() > 0.5
    assert same(found.labels[1:], who[1:])
    # if all are short, all are clustered
    assert find_turns(rows, times, min_duration=5.0).speakers.clustered.all()


def test_a_subset_of_many_windows_is_clustered_and_all_get_a_speaker():
    rows, who = voices((80, 70, 50))
    found = SpeakerSearch(config=DiarizationConfig(max_clustered=60)).find(rows)
    assert found.clustered.sum() <= 60
    assert same(found.labels, who)
    assert found.confidence.shape == (200,)


def test_stretches_of_overlapping_windows_are_not_speakers():
    """Windows with a large overlap have similar embeddings, so that each stretch looks like a cluster."""
    rng = np.random.default_rng(0)
    means = rng.normal(size=(3, 24)) / np.sqrt(24)
    who = np.repeat([0, 1, 2, 0, 1, 2], 40)
    drift = rng.normal(size=(240, 24)) / np.sqrt(24)
    for row in range(1, 240):
        drift[row] = 0.95 * drift[row - 1] + 0.31 * drift[row]
    rows = means[who] + 0.8 * drift
    times = np.column_stack([0.25 * np.arange(240), 0.25 * np.arange(240) + 3.0])
    assert find_turns(rows, times).speakers.n_speakers <= 6


def test_linkage_of_noise_is_unstable():
    rows = np.random.default_rng(0).normal(size=(80, 32))
    found = find_linkage_partition(
        rows / np.linalg.norm(rows, axis=1, keepdims=True), min_clusters=1, max_clusters=np.inf, seed=0
    )
    assert found.stability < DiarizationConfig().min_linkage_stability


@pytest.mark.parametrize("options", [{"center": True}, {"components": 8}, {"components": 8, "whiten": True}], ids=str)
def test_transforms_keep_well_separated_speakers(options):
    rows, who = voices((20, 18, 15, 12), noise=0.3)
    found = SpeakerSearch(transform=EmbeddingTransform(**options)).find(rows.astype(np.float32))
    assert same(found.labels, who)


def test_whitened_rows_have_unit_covariance():
    rows, _ = voices((50, 50, 50), d=6)
    x = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    projected = EmbeddingTransform(whiten=True)._project(x - x.mean(axis=0))
    assert np.allclose(np.cov(projected.T, bias=True), np.eye(projected.shape[1]), atol=1e-8)
