"""Alternatives of `ModeSeek`: the partition that was chosen, and the others."""

import numpy as np

from modeseek.estimators.mode_seek import ModeSeek
from modeseek.metrics import rand_agreement
from modeseek.selection.select import Candidate


def listed_alternatives(model: ModeSeek) -> list[Candidate]:
    """Return the alternatives that differ from `labels_`, best first, with labels of all rows.

    All displays list these, and the partition that `message_` compares with the chosen one is among them.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> X, y = make_blobs(300, centers=5, cluster_std=0.6, random_state=4)
    >>> model = ModeSeek(random_state=0).fit(X)
    >>> len(model.alternatives_) - len(listed_alternatives(model))
    1
    """
    return [each for each, same in _compared(model) if not same]


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
