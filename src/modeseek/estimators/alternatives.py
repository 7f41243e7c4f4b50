"""Partitions that were nearly chosen: those that ModeSeek kept, without the one it chose."""

from __future__ import annotations

import numpy as np

from modeseek.estimators.mode_seek import ModeSeek
from modeseek.metrics import rand_agreement
from modeseek.selection import Candidate

__all__ = ["chosen_one", "nearly_chosen"]


def nearly_chosen(model: ModeSeek) -> list[Candidate]:
    """Return the alternatives that differ from the labels, from the best on, with labels for all rows.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> X, y = make_blobs(300, centers=5, cluster_std=0.6, random_state=4)
    >>> model = ModeSeek(random_state=0).fit(X)
    >>> len(model.alternatives_) - len(nearly_chosen(model))
    1
    """
    return [each for each, same in _compared(model) if not same]


def chosen_one(model: ModeSeek) -> Candidate | None:
    """Return the alternative that the labels come from; None if it is none of them, as for one cluster."""
    return next((each for each, same in _compared(model) if same), None)


def _compared(model: ModeSeek) -> list[tuple[Candidate, bool]]:
    labels = model.result_.index.labels[model.tree_.inverse]
    # noise as a cluster of its own, so that numbers start at 0
    known = np.where(labels < 0, labels.max() + 1, labels)
    rows = [each._replace(labels=each.labels[model.tree_.inverse]) for each in model.alternatives_]
    # so alike that it is theirs, up to the last steps: noise, directions
    return [(each, rand_agreement(known, each.labels) >= model._config.same_agreement) for each in rows]
