"""The learned choice among partitions of windows."""

import numpy as np
import pytest
from scipy.cluster.hierarchy import fcluster, linkage
from sklearn.metrics import adjusted_rand_score, silhouette_score

from modeseek.diarization import DiarizationConfig, SpeakerSearch
from modeseek.diarization.average_linkage import SubsampledLinkage, cut_tree, linkage_partitions
from modeseek.diarization.speaker_choice import (
    FARTHEST,
    FEATURES,
    SHAPES,
    ModePartitions,
    Quadratic,
    SpeakerChoice,
    mean_cosines,
    partition_features,
)
from modeseek.diarization.speaker_partitions import find_candidates


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
    found = partition_features(rows, [y, y // 2])[:, SHAPES.index("silhouette")]
    assert found == pytest.approx([silhouette_score(rows, labels, metric="cosine") for labels in (y, y // 2)])


def test_quadratic_is_not_extrapolated():
    """Features far from those of the training count as `FARTHEST` standard deviations."""
    function = Quadratic(np.zeros(2), np.ones(2), 1.0, np.array([1.0, 0.0]), np.array([[0.0, 2.0], [0.0, 0.0]]))
    assert function(np.array([[3.0, 2.0]])) == pytest.approx([1 + 3 + 2 * 3 * 2])
    assert function(np.array([[1e9, 0.0]])) == pytest.approx([1 + FARTHEST])


def test_cuts_are_those_of_scipy():
    """A tree is cut by undoing its last merges."""
    tree = linkage(voices(6, 7)[0], "average")
    for count in (1, 2, 5, 13, 42):
        assert adjusted_rand_score(cut_tree(tree, count), fcluster(tree, count, "maxclust")) == 1.0


def test_the_best_partition_agrees_with_the_other_good_ones():
    """The choice is the largest expected agreement, not the largest predicted one."""
    agreement = Quadratic(np.zeros(1), np.ones(1), 0.0, np.ones(1), np.zeros((1, 1)))
    single = Quadratic(np.zeros(2), np.ones(2), -3.0, np.zeros(2), np.zeros((2, 2)))
    pairs = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.9], [0.0, 0.9, 1.0]])
    found = SpeakerChoice(agreement, single).decide(np.array([[0.72], [0.7], [0.69]]), pairs, 10.0)
    assert found.best == 1
    assert found.agreement == pytest.approx(0.7)
    assert found.single == pytest.approx(1 / (1 + np.exp(3)))
    assert not found.is_single


def test_candidates_contain_the_partitions_of_mode_seek():
    """They come first, and their expected agreement is a feature."""
    rows, y = voices(4, 8)
    two = np.minimum(y, 1)
    found = find_candidates(rows, ModePartitions(y, [y, two], [0.9, 0.2]))
    assert (found.partitions[0] == y).all()
    values = found.features[0, FEATURES.index("mode_seek") :]
    assert values == pytest.approx([1.0, 0.9, 0.9, 0.0])
    assert any((labels == two).all() for labels in found.partitions)
    pairs = [adjusted_rand_score(found.partitions[0], labels) for labels in found.partitions]
    assert found.agreement[0] == pytest.approx(pairs)


@pytest.mark.parametrize(("low", "high"), [(1, 2), (3, 3), (5, 6), (20, 20), (32, 32)])
def test_candidates_are_within_the_bounds(low, high):
    """There is always one, also if joining small clusters leaves fewer."""
    rows, y = voices(4, 8)
    counts = [labels.max() + 1 for labels in linkage_partitions(rows, low, high)]
    assert counts
    assert max(2, low) <= min(counts) <= max(counts) <= high
    found = find_candidates(rows, ModePartitions(y, [], []), min_clusters=low, max_clusters=high)
    assert low <= found.partitions[found.decide("choice").best].max() + 1


def test_partitions_of_noise_are_not_reproduced_by_subsamples():
    """Clear speakers are."""
    for rows, low, high in ((voices(1, 80, noise=2.0)[0], -0.1, 0.5), (voices(4, 20)[0], 0.99, 1.0)):
        labels = max(linkage_partitions(rows, 4, 4), key=lambda each: np.bincount(each).min())
        assert low <= SubsampledLinkage.of(rows, 0).stability([labels])[0] <= high


@pytest.mark.parametrize(("speakers", "each"), [(2, 10), (4, 5), (9, 5), (5, 20)])
def test_clear_speakers_are_found(speakers, each):
    """Clear speakers with a few windows are not taken for one."""
    rows, y = voices(speakers, each)
    assert adjusted_rand_score(SpeakerSearch().find(rows).labels, y) == 1.0


@pytest.mark.parametrize("windows", [12, 40, 100, 200])
def test_one_speaker_stays_whole(windows):
    """Windows of one speaker are one cluster, unless two are asked for."""
    rows, _ = voices(1, windows, noise=1.0)
    found = SpeakerSearch().find(rows)
    assert found.n_speakers == 1
    assert found.message.startswith("1 speaker")
    assert SpeakerSearch(min_speakers=2).find(rows).n_speakers >= 2


def test_very_few_windows_are_left_to_mode_seek():
    """There are too few for features."""
    rows, y = voices(2, 3)
    assert find_candidates(rows[:5], ModePartitions(y[:5], [], [])) is None
    assert SpeakerSearch(config=DiarizationConfig(min_linkage_windows=7)).find(rows).message.startswith("ModeSeek")
