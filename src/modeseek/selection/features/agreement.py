"""Features that relate a candidate to the pool: its proposers, number of proposals, agreement with other candidates."""

from __future__ import annotations

import numpy as np

from modeseek._common.types import Array
from modeseek.selection.features.base import Feature
from modeseek.selection.pool import ORIGINS, Pool
from modeseek.selection.proposers import PROPOSERS

ORIGIN = (
    *(
        feature
        for name in ORIGINS
        for feature in (
            Feature(f"is_{name}", f"1 if the candidate was proposed by {name}"),
            Feature(f"votes_{name}", f"number of proposals by {name} that were merged into the candidate"),
        )
    ),
    Feature("variant", "0 as proposed, 1 small clusters absorbed, 2 refined as a mixture, 3 by spherical k-means"),
)
VOTES = (
    Feature("votes", "logarithm of 1 + the number of proposals that were merged into the candidate"),
    Feature("vote_kinds", "number of different proposers of these proposals"),
)
AGREEMENT = (
    *(
        feature
        for name in PROPOSERS
        for feature in (
            Feature(f"agree_{name}", f"mean agreement with the other candidates by {name} (adjusted Rand index)"),
            Feature(f"agree_max_{name}", f"best agreement with another candidate by {name}"),
        )
    ),
    Feature("agree_votes", "mean agreement with the other candidates, weighted by their votes"),
    Feature("agree", "mean agreement with the other candidates"),
    Feature("agree_q90", "90th percentile of the agreement with candidates"),
    Feature("finer", "mean entropy of the other candidates given this one, weighted by votes: how much finer they are"),
    Feature(
        "coarser", "mean entropy of this candidate given another one, weighted by votes: how much coarser they are"
    ),
    Feature("bic_gain", "of mixtures: gain in the Bayesian information criterion over one Gaussian", graph_only=False),
    Feature("stable", "mean over random subsamples of the best agreement with a proposal"),
)


def agreement_features(pool: Pool) -> dict[str, Array]:
    """Return each feature of all candidates, by name."""
    c, total = len(pool), pool.votes.sum(axis=1)
    owner = np.array([ORIGINS.index(each.proposer) for each in pool.candidates])
    others = 1.0 - np.eye(c)
    weight = others * total
    scale = np.maximum(weight.sum(axis=1), 1e-9)
    found = {
        "variant": np.array([float(each.variant) for each in pool.candidates]),
        "bic_gain": np.array([each.bic_gain for each in pool.candidates]),
        "votes": np.log1p(total),
        "vote_kinds": (pool.votes > 0).sum(axis=1),
        "agree_votes": (pool.agreement * weight).sum(axis=1) / scale,
        "agree": (pool.agreement.sum(axis=1) - 1) / max(c - 1, 1),
        "agree_q90": np.quantile(pool.agreement, 0.9, axis=1),
        "finer": (pool.entropy * weight).sum(axis=1) / scale,
        "coarser": (pool.entropy.T * weight).sum(axis=1) / scale,
    }
    for j, name in enumerate(ORIGINS):
        theirs = others * (owner == j)
        count = theirs.sum(axis=1)
        found[f"is_{name}"], found[f"votes_{name}"] = (owner == j).astype(float), pool.votes[:, j]
        mean = (pool.agreement * theirs).sum(axis=1) / np.maximum(count, 1)
        best = np.where(theirs > 0, pool.agreement, -np.inf).max(axis=1)
        found[f"agree_{name}"], found[f"agree_max_{name}"] = (np.where(count, each, np.nan) for each in (mean, best))
    return found
