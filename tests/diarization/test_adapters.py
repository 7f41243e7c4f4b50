"""The drop-in replacements for the clustering of other packages."""

from types import SimpleNamespace

import numpy as np
from voices import same, voices

from modeseek.diarization import PyannoteClustering, SpeakerClusterer


def test_pyannote_clustering_call():
    rng = np.random.default_rng(0)
    who = np.array([[0, 1], [0, 2], [1, 2], [2, 0]] * 8)
    means = rng.normal(size=(3, 32)) / np.sqrt(32)
    rows = means[who] + 0.4 * rng.normal(size=(32, 2, 32)) / np.sqrt(32)
    active = np.ones((32, 10, 2))
    active[3, :, 1] = 0  # silent, though there is an embedding
    rows[5, 0] = np.nan
    said = SimpleNamespace(data=active, sliding_window=SimpleNamespace(duration=10.0, step=10.0))
    hard, soft, centroids = PyannoteClustering()(
        embeddings=rows, segmentations=said, num_clusters=None, min_clusters=1, max_clusters=20, file={}, frames=None
    )
    assert hard[3, 1] == hard[5, 0] == -2
    assert soft.shape == (32, 2, 3)
    assert centroids.shape == (3, 32)
    heard = hard >= 0
    assert same(hard[heard], who[heard])
    assert (soft[heard].argmax(axis=1) == hard[heard]).all()
    assert np.isfinite(soft).all()


def test_pyannote_clustering_with_number_and_bounds():
    """The pipelines pass all three, and bounds above the number of embeddings."""
    rows, _ = voices((6, 6))
    hard, _, _ = PyannoteClustering()(rows[:, None, :], num_clusters=2, min_clusters=2, max_clusters=2)
    assert set(hard.ravel()) == {0, 1}
    hard, soft, centroids = PyannoteClustering()(np.full((3, 2, 8), np.nan), min_clusters=1, max_clusters=np.int64(4))
    assert (hard == -2).all()
    assert soft.shape == (3, 2, 1)
    assert centroids.shape == (1, 8)


def test_speech_without_embeddings_has_one_cluster():
    """The pipeline fails if there is speech, but no cluster."""
    active = np.ones((3, 10, 2))
    active[1, :, 0] = 0
    hard, soft, centroids = PyannoteClustering()(np.full((3, 2, 8), np.nan), active, max_clusters=np.inf)
    assert hard.tolist() == [[0, 0], [-2, 0], [0, 0]]
    assert (soft.shape, centroids.shape) == ((3, 2, 1), (1, 8))


def test_constrained_speakers_of_one_chunk_differ():
    rows, _ = voices((8, 8))
    pairs = np.stack([rows[:8], rows[:8] + 0.01], axis=1)  # one voice, twice in each chunk
    pairs = np.concatenate([pairs, np.stack([rows[8:], rows[:8]], axis=1)])
    hard, _, _ = PyannoteClustering(constrained=True)(pairs, num_clusters=2)
    assert (hard[:, 0] != hard[:, 1]).all()


def test_speaker_clusterer_predicts():
    rows, who = voices((20, 16, 12))
    assert same(SpeakerClusterer(min_clusters=1, max_clusters=20).predict(rows), who)
    assert SpeakerClusterer(min_clusters=100, max_clusters=200).predict(rows[:5]).shape == (5,)
