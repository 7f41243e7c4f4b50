"""Features of a candidate among the others of the pool: who proposed it, how often, and which others agree with it."""

from __future__ import annotations

import numpy as np

from modeseek.selection.features.base import Feature
from modeseek.selection.pool import ORIGINS, Pool
from modeseek.selection.proposers import PROPOSERS

ORIGIN = (
    *(
        feature
        for name in ORIGINS
        for feature in (
            Feature(f"is_{name}", f"1 if the candidate was proposed by {name}"),
            Feature(f"votes_{name}", f"proposals by {name} that the candidate stands for"),
        )
    ),
    Feature("variant", "0 as proposed, 1 small clusters absorbed, 2 refined as a mixture, 3 by spherical k-means"),
)
VOTES = (
    Feature("votes", "logarithm of 1 + all proposals that the candidate stands for"),
    Feature("vote_kinds", "number of proposers among these"),
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
    Feature("finer", "mean entropy of the other candidates given this one: how much finer they are"),
    Feature("coarser", "mean entropy of this candidate given another one: how much coarser they are"),
    Feature("bic_gain", "of mixtures: gain in the Bayesian information criterion over one Gaussian", graph_only=False),
    Feature("stable", "best agreement with a proposal on random subsamples, as a mean"),
)


def agreement_features(pool: Pool) -> list[dict[str, float]]:
    """Return the features by name, for each candidate."""
    owner = np.array([ORIGINS.index(each.proposer) for each in pool.candidates])
    total = pool.votes.sum(axis=1)
    return [_of_candidate(pool, i, owner, total) for i in range(len(pool))]


def _of_candidate(pool: Pool, i: int, owner: np.ndarray, total: np.ndarray) -> dict[str, float]:
    others = np.arange(len(pool)) != i
    weight = total * others
    scale = max(weight.sum(), 1e-9)
    each = pool.candidates[i]
    found = {
        "variant": float(each.variant),
        "bic_gain": each.bic_gain,
        "votes": float(np.log1p(total[i])),
        "vote_kinds": float((pool.votes[i] > 0).sum()),
        "agree_votes": (pool.agreement[i] * weight).sum() / scale,
        "agree": (pool.agreement[i].sum() - 1) / max(len(pool) - 1, 1),
        "agree_q90": float(np.quantile(pool.agreement[i], 0.9)),
        "finer": (pool.entropy[i] * weight).sum() / scale,
        "coarser": (pool.entropy[:, i] * weight).sum() / scale,
    }
    for j, name in enumerate(ORIGINS):
        found[f"is_{name}"], found[f"votes_{name}"] = float(owner[i] == j), pool.votes[i, j]
        theirs = pool.agreement[i, (owner == j) & others]
        if len(theirs):
            found[f"agree_{name}"], found[f"agree_max_{name}"] = theirs.mean(), theirs.max()
    return found
