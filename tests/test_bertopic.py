"""ModeSeek as the clustering step of BERTopic."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from modeseek import ModeSeek

bertopic = pytest.importorskip("bertopic")

WORDS = {
    "sea": "wave tide harbour sail anchor reef storm current",
    "kitchen": "oven flour butter knife recipe sugar bake whisk",
    "orchestra": "violin tempo score flute melody rehearsal chord cello",
}


def corpus(rng: np.random.Generator) -> tuple[list[str], np.ndarray, np.ndarray]:
    """Documents of random words of three topics, their embeddings and their topics."""
    topics = np.repeat(np.arange(3), 40)
    lists = [words.split() for words in WORDS.values()]
    texts = [" ".join(rng.choice(lists[topic], 6)) for topic in topics]
    centers = rng.normal(size=(3, 32))
    return texts, centers[topics] + 0.2 * rng.normal(size=(len(topics), 32)), topics


@pytest.mark.filterwarnings("ignore")
def test_modeseek_is_the_clustering_step_of_bertopic(rng):
    texts, embeddings, truth = corpus(rng)
    model = ModeSeek(metric="cosine", random_state=0)
    topics = bertopic.BERTopic(
        umap_model=bertopic.dimensionality.BaseDimensionalityReduction(), hdbscan_model=model
    ).fit(texts, embeddings)
    found = np.array(topics.topics_)
    assert adjusted_rand_score(truth, found) == 1.0
    assert adjusted_rand_score(model.labels_, found) == 1.0
    np.testing.assert_allclose(topics.probabilities_, model.probabilities_)
    for topic in range(3):
        words = list(WORDS.values())[truth[found == topic][0]].split()
        assert {word for word, _ in topics.get_topic(topic)[:5]} <= set(words)
    again, _ = topics.transform(texts, embeddings)
    np.testing.assert_array_equal(again, found)
