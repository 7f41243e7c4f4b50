from __future__ import annotations

import numpy as np
from sklearn.datasets import make_blobs

from modeseek import ModeSeek
from modeseek.estimators.alternatives import chosen_one, listed_alternatives


def test_an_alternative_that_is_nearly_the_chosen_one_is_listed():
    """The runner-up of a table of airports agreed with the chosen partition, and only the message named it."""
    model = ModeSeek(random_state=0).fit(make_blobs(300, centers=5, cluster_std=0.6, random_state=4)[0])
    chosen, k = model.alternatives_[0], model.n_clusters_
    near = chosen.labels.copy()
    near[0] = k
    model.alternatives_ = (chosen, chosen._replace(labels=near, n_clusters=k + 1))
    assert chosen_one(model).n_clusters == k
    assert [each.n_clusters for each in listed_alternatives(model)] == [k + 1]


def test_alternatives_with_very_many_clusters_are_listed():
    """The message on 3,000 embeddings named an alternative with 75 clusters, which no list had."""
    model = ModeSeek(random_state=0).fit(make_blobs(300, centers=5, cluster_std=0.6, random_state=4)[0])
    chosen = model.alternatives_[0]
    many = chosen._replace(labels=np.arange(300) % 75, n_clusters=75)
    model.alternatives_ = (chosen, many)
    assert [each.n_clusters for each in listed_alternatives(model)] == [75]
