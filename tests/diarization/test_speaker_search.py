"""The search for speakers."""

import itertools

import numpy as np
import pytest
from voices import same, voices

from modeseek.diarization import DiarizationConfig, EmbeddingTransform, SpeakerSearch, find_turns
from modeseek.diarization.smoothing import _viterbi, smooth_labels


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
    rows, who = voices((28, 24, 20))
    times = np.column_stack([np.arange(72.0), np.arange(72.0) + 0.9])
    times[::4, 1] = times[::4, 0] + 0.3
    stray = rows.copy()
    stray[0] = np.random.default_rng(5).normal(size=rows.shape[1])
    found = find_turns(stray, times).speakers
    assert not found.clustered[::4].any()
    assert found.clustered.sum() == 54
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


def test_windows_in_any_order_have_the_speakers_of_windows_in_temporal_order():
    rows, who = voices((20, 12, 8))
    times = np.column_stack([np.arange(40.0), np.arange(40.0) + 1.0])
    order = np.random.default_rng(2).permutation(40)
    found, shuffled = find_turns(rows, times).speakers, find_turns(rows[order], times[order]).speakers
    assert same(found.labels, who)
    assert (found.labels[order] == shuffled.labels).all()
    assert np.allclose(found.confidence[order], shuffled.confidence)


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


def test_whitening_does_not_make_all_rows_equally_distant():
    """n rows that are whitened in n - 1 components are a simplex, and only rounding tells them apart."""
    rows, _ = voices((20, 15, 14), d=64)
    whitened = EmbeddingTransform(whiten=True).apply(rows.astype(np.float32))
    cosines = (whitened @ whitened.T)[np.triu_indices(len(rows), 1)]
    assert whitened.shape[1] == 4
    assert cosines.std() > 0.1
    nearly = EmbeddingTransform(whiten=True).apply((rows + 1e-7).astype(np.float32))
    assert np.allclose(np.abs(nearly), np.abs(whitened), atol=1e-3)


def test_smoothing_is_the_most_probable_sequence():
    """All sequences of two speakers in six windows are compared."""
    rng = np.random.default_rng(0)
    rows = np.eye(2)[[0, 0, 1, 0, 1, 1]] + rng.normal(0, 0.5, (6, 2))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    evidence, elapsed, mean_turn = 3.0 * rows, np.array([1.0, 1.0, 4.0, 1.0, 0.5]), 2.0
    stay = 0.5 + 0.5 * np.exp(-elapsed / mean_turn)
    best = max(
        itertools.product(range(2), repeat=6),
        key=lambda s: (
            sum(evidence[range(6), s])
            + sum(np.log(stay if same else 1 - stay) for stay, same in zip(stay, np.diff(s) == 0, strict=True))
        ),
    )
    assert tuple(_viterbi(evidence, elapsed, np.arange(6), mean_turn)) == best


def test_smoothing_removes_an_uncertain_window_within_a_turn():
    rows, who = voices((20, 20), noise=0.3)
    rows[7] = rows[8] / np.linalg.norm(rows[8]) + rows[30] / np.linalg.norm(rows[30])
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    times = np.column_stack([0.5 * np.arange(40), 0.5 * np.arange(40) + 1.0])
    wrong = who.copy()
    wrong[7] = 1
    assert (smooth_labels(rows, wrong, times) == who).all()
    # two long turns stay two turns
    assert (smooth_labels(rows, who, times) == who).all()


def test_smoothing_needs_windows_that_follow_each_other():
    rows, _ = voices((6, 6))
    times = np.column_stack([np.arange(12.0), np.arange(12.0) + 1.0])
    with pytest.raises(ValueError, match="overlapping"):
        find_turns(rows, times, overlapping="keep", smooth=True)
