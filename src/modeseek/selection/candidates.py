"""Input and output types of a selection: candidates, bounds on the number of clusters, and the result."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from modeseek._common.resources import check_memory
from modeseek._common.storable import storable
from modeseek._common.types import Array, IntArray
from modeseek.meanshift.consensus import Vote, cluster_stability, counterparts


@storable()
class Candidate(NamedTuple):
    """A partition that a proposer proposed.

    Attributes
    ----------
    proposer : str
        Name of the proposer, for messages.
    setting : tuple of float
        Parameters of the proposer.
    labels : (n,) integer array
        Cluster of each point.
    n_clusters : int
    stability : float
        Mean adjusted Rand index with the partitions of random subsamples.
    expected_agreement : float
        Predicted adjusted Rand index with the true clusters, by which candidates are ranked.
    """

    proposer: str
    setting: tuple[float, float]
    labels: IntArray
    n_clusters: int
    stability: float
    expected_agreement: float

    def __str__(self) -> str:
        return f"{self.n_clusters} clusters by {self.proposer}"

    def __repr__(self) -> str:
        return f"Candidate({self}, expected agreement {self.expected_agreement:.2f})"


class ClusterBounds(NamedTuple):
    """Bounds on the number of clusters, both included."""

    min_clusters: int = 1
    max_clusters: float = np.inf

    def contains(self, n_clusters: int) -> bool:
        """Return whether a number of clusters lies within the bounds."""
        return self.min_clusters <= n_clusters <= self.max_clusters


@dataclass(frozen=True, eq=False)
class Selection:
    """The selected partition, with memberships and alternatives.

    Attributes
    ----------
    labels : (n,) integer array
        Cluster of each point.
    memberships : (n, c) sparse array
        For each point and cluster, the share of the subsamples with this point that assign it to this cluster; rows add
        up to 1.
    cluster_stability : (c,) array
        Mean Jaccard index of each cluster with the most similar cluster of each subsample.
    votes : tuple of (rows, labels)
        The partitions of subsamples from which `memberships` and `cluster_stability` were computed.
    stability : float
        Mean adjusted Rand index with the partitions of subsamples.
    candidates : tuple of Candidate
        The best candidates that differ from each other, best first.
    message : str
        One sentence on what was selected and why.
    interruption : str
        The step that Ctrl-C ended early; empty if there is none.
    has_confidence : bool
        Whether there were enough subsamples for `memberships` and `cluster_stability`.
    mode_setting : tuple of float or None
        If the clusters are those of modes of the density: its number of neighbours, and the least prominence of a mode
        in standard errors. Otherwise None.
    """

    labels: IntArray
    memberships: csr_array
    cluster_stability: Array
    votes: tuple[Vote, ...]
    stability: float
    candidates: tuple[Candidate, ...]
    message: str
    interruption: str = ""
    has_confidence: bool = True
    mode_setting: tuple[float, float] | None = None

    @property
    def n_clusters(self) -> int:
        """Number of clusters."""
        return len(self.cluster_stability)


def merge_clusters(selection: Selection, points: Array, n_clusters: int) -> Selection:
    """Merge the clusters with the closest centres until `n_clusters` are left (average linkage)."""
    from sklearn.cluster import AgglomerativeClustering  # slow to import, and seldom needed

    k, labels = selection.n_clusters, selection.labels
    check_memory(12.0 * k * k, f"merging {k:,} clusters", "Choose a number of clusters nearer to that.")
    sums = np.zeros((k, points.shape[1]))
    np.add.at(sums, labels, points)
    into = AgglomerativeClustering(n_clusters, linkage="average").fit_predict(sums / np.bincount(labels)[:, None])
    return merge_into(selection, into)


def merge_into(selection: Selection, into: IntArray) -> Selection:
    """Merge clusters; `into` has the new number of each old cluster."""
    labels, n_clusters = selection.labels, int(into.max()) + 1
    shares = csr_array(selection.memberships @ csr_array(np.eye(n_clusters)[into]))
    merged = np.ravel(shares.argmax(axis=1))
    votes = tuple((rows, into[counterparts(found, labels[rows])]) for rows, found in selection.votes)
    return replace(
        selection,
        labels=merged,
        memberships=shares,
        cluster_stability=cluster_stability(merged, votes),
        votes=votes,
        mode_setting=None,
        message=f"{n_clusters} clusters as requested, merged from: {selection.message}",
    )
