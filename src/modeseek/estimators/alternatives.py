"""Alternatives of `ModeSeek`: the partition that was chosen, and the others."""

import numpy as np

from modeseek.estimators.mode_seek import ModeSeek
from modeseek.metrics import rand_agreement
from modeseek.selection.select import Candidate

# largest number of alternatives that are shown, and of their clusters, unless twice the chosen number is larger
MAX_LISTED = 5
MAX_CLUSTERS = 30


def other_partitions(model: ModeSeek) -> list[Candidate]:
    """Return the alternatives that differ from `labels_`, best first, with labels of all rows.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> X, y = make_blobs(300, centers=5, cluster_std=0.6, random_state=4)
    >>> model = ModeSeek(random_state=0).fit(X)
    >>> len(model.alternatives_) - len(other_partitions(model))
    1
    """
    return [each for each, same in _compared(model) if not same]


def listed_alternatives(model: ModeSeek) -> list[Candidate]:
    """Return the alternatives to show: by expected agreement, each number of clusters once, none with very many.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> X, y = make_blobs(300, centers=5, cluster_std=0.6, random_state=4)
    >>> model = ModeSeek(random_state=0).fit(X)
    >>> 5 in [each.n_clusters for each in listed_alternatives(model)]
    False
    """
    most = max(MAX_CLUSTERS, 2 * model.n_clusters_)
    found: dict[int, Candidate] = {}
    for each in sorted(other_partitions(model), key=lambda each: -each.expected_agreement):
        if 1 < each.n_clusters <= most and each.n_clusters != model.n_clusters_:
            found.setdefault(each.n_clusters, each)
    return list(found.values())[:MAX_LISTED]


def chosen_one(model: ModeSeek) -> Candidate | None:
    """Return the alternative that `labels_` are made from; None if there is none, as for a single cluster."""
    return next((each for each, same in _compared(model) if same), None)


def _compared(model: ModeSeek) -> list[tuple[Candidate, bool]]:
    """Return the alternatives, and whether each is the chosen one: labels may differ in noise and after refinement."""
    index = model.result_.index
    inverse, labels = index.points.inverse, index.labels[index.points.inverse]
    known = np.where(labels < 0, labels.max() + 1, labels)
    rows = [each._replace(labels=each.labels[inverse]) for each in model.alternatives_]
    agreement = [rand_agreement(known, each.labels) for each in rows]
    # another alternative may be nearly the same
    chosen = max(agreement, default=0.0)
    same = agreement.index(chosen) if chosen >= model._config.same_agreement else None
    return [(each, number == same) for number, each in enumerate(rows)]
