"""What a choice is made from and what comes out of it: candidates, bounds, the partition with its memberships."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from modeseek._common.resources import check_memory
from modeseek._common.storable import storable
from modeseek._common.types import Array, IntArray
from modeseek.meanshift.consensus import Vote, cluster_stability, counterparts
from modeseek.selection.proposers.proposals import Setting

__all__ = ["FEWEST_VOTES", "Candidate", "ClusterBounds", "Selection", "merge_clusters"]

# after Ctrl-C: with fewer votes than this, too many points were never asked for a confidence
FEWEST_VOTES = 4


@storable()
class Candidate(NamedTuple):
    """A partition that a proposer proposed.

    Attributes
    ----------
    proposer : str
    setting : tuple
        Of the proposer.
    labels : (n,) integer array
    n_clusters : int
    stability : float
        Mean adjusted Rand index with the proposer's partitions of thinned data.
    score : float
        Stability, with that of settings next to it and a little for each cluster more: what the choice goes by.
    """

    proposer: str
    setting: Setting
    labels: IntArray
    n_clusters: int
    stability: float
    score: float


class ClusterBounds(NamedTuple):
    """How many clusters a user wants at least and at most."""

    min_clusters: int = 1
    max_clusters: float = np.inf

    def contains(self, n_clusters: int) -> bool:
        """Return whether a number of clusters is wanted."""
        return self.min_clusters <= n_clusters <= self.max_clusters


@dataclass(frozen=True, eq=False)
class Selection:
    """The partition chosen, and what it was chosen from.

    Attributes
    ----------
    labels : (n,) integer array
    memberships : (n, c) array
        Share of thinned data in which a point, where it was kept, went with each cluster; rows add up to 1.
    cluster_stability : (c,) array
        Mean Jaccard index of each cluster with the closest of thinned data, among the points that were kept.
    votes : tuple of (rows, labels)
        The partitions of thinned data behind both.
    stability : float
    candidates : tuple of Candidate
        Different ones, from the best on.
    message : str
    cut : str
        What Ctrl-C cut short; "" where nothing was.
    """

    labels: IntArray
    memberships: Array
    cluster_stability: Array
    votes: tuple[Vote, ...]
    stability: float
    candidates: tuple[Candidate, ...]
    message: str
    cut: str = ""

    @property
    def n_clusters(self) -> int:
        """Number of clusters."""
        return self.memberships.shape[1]

    @property
    def asked(self) -> bool:
        """Whether there are votes enough behind memberships and stability of clusters."""
        return not self.cut or self.n_clusters == 1 or len(self.votes) >= FEWEST_VOTES


def merge_clusters(choice: Selection, points: Array, n_clusters: int) -> Selection:
    """Merge the clusters of a choice, those with the closest centres first, until so many are left."""
    from sklearn.cluster import AgglomerativeClustering  # slow to import, and seldom needed

    k = choice.n_clusters
    check_memory(12.0 * k * k, f"merging {k:,} clusters", "Ask for a number of clusters nearer to that.")
    sums = np.zeros((choice.n_clusters, points.shape[1]))
    np.add.at(sums, choice.labels, points)
    centres = sums / np.bincount(choice.labels)[:, None]
    into = AgglomerativeClustering(n_clusters, linkage="average").fit_predict(centres)
    shares = np.column_stack([choice.memberships[:, into == c].sum(axis=1) for c in range(n_clusters)])
    message = f"{n_clusters} clusters as wished, merged from: {choice.message}"
    labels = shares.argmax(axis=1)
    votes = tuple((rows, into[counterparts(found, choice.labels[rows])]) for rows, found in choice.votes)
    firm = cluster_stability(labels, votes)
    return replace(choice, labels=labels, memberships=shares, cluster_stability=firm, votes=votes, message=message)
