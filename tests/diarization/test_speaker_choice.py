"""The learned test for one speaker."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import silhouette_score

from modeseek.diarization import SpeakerSearch
from modeseek.diarization.average_linkage import is_one_speaker
from modeseek.diarization.config import DEFAULT_CONFIG
from modeseek.diarization.speaker_choice import FARTHEST, FEATURES, Quadratic, mean_cosines, partition_features


def voices(speakers: int, each: int, noise: float = 0.5, d: int = 64) -> tuple[np.ndarray, np.ndarray]:
    """Return unit vectors around random directions, and their speakers."""
    rng = np.random.default_rng(speakers)
    y = np.repeat(np.arange(speakers), each)
    rows = rng.normal(size=(speakers, d))[y] + noise * rng.normal(size=(len(y), d))
    return rows / np.linalg.norm(rows, axis=1, keepdims=True), y


def test_mean_cosines_leave_the_row_out():
    """The cosines are those of a loop over rows and clusters."""
    rows, y = voices(3, 4)
    found = mean_cosines(rows, y).cosines
    for i, row in enumerate(rows):
        for speaker in range(3):
            own = (y == speaker) & (np.arange(len(rows)) != i)
            mean = rows[own].mean(axis=0)
            assert found[i, speaker] == pytest.approx(row @ mean / np.linalg.norm(mean))


def test_silhouette_is_that_of_scikit_learn():
    """The silhouette is computed from sums of clusters, and scikit-learn computes it from all distances."""
    rows, y = voices(5, 6)
    found = partition_features(rows, [y, y // 2])[:, FEATURES.index("silhouette")]
    assert found == pytest.approx([silhouette_score(rows, labels, metric="cosine") for labels in (y, y // 2)])


def test_quadratic_is_not_extrapolated():
    """Features far from those of the training count as `FARTHEST` standard deviations."""
    function = Quadratic(np.zeros(2), np.ones(2), 1.0, np.array([1.0, 0.0]), np.array([[0.0, 2.0], [0.0, 0.0]]))
    assert function(np.array([[3.0, 2.0]])) == pytest.approx([1 + 3 + 2 * 3 * 2])
    assert function(np.array([[1e9, 0.0]])) == pytest.approx([1 + FARTHEST])


@pytest.mark.parametrize(("speakers", "each"), [(2, 10), (4, 5), (9, 5), (5, 20)])
def test_clear_speakers_are_not_one(speakers, each):
    """Clear speakers with a few windows are not taken for one."""
    assert not is_one_speaker(voices(speakers, each)[0])


@pytest.mark.parametrize("windows", [12, 40, 100])
def test_one_speaker_stays_whole(windows):
    """Windows of one speaker are one cluster, unless two are asked for."""
    rows, _ = voices(1, windows, noise=1.0)
    assert SpeakerSearch().find(rows).n_speakers == 1
    assert SpeakerSearch(min_speakers=2).find(rows).n_speakers >= 2


def test_the_test_is_for_few_windows():
    """It does not decide for many windows, for very few, or if the number of speakers is given."""
    rows, _ = voices(1, 200, noise=1.0)
    assert is_one_speaker(rows[:100])
    assert not is_one_speaker(rows)
    assert not is_one_speaker(rows[:4])
    assert not is_one_speaker(rows[:100], replace(DEFAULT_CONFIG, max_single_windows=0))
    assert SpeakerSearch(num_speakers=2).find(rows[:20]).n_speakers == 2
