"""Changes of clusters after the fit: large clusters are split, and points are moved to satisfy constraints."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.sparse import coo_array, csr_array

from modeseek._common.types import Array, IntArray
from modeseek.estimators.layers import build_layers
from modeseek.estimators.result import FitResult, largest_membership, row_fields
from modeseek.meanshift.consensus import with_own_largest
from modeseek.meanshift.partition import partition_of
from modeseek.metrics import rand_agreement
from modeseek.selection.hierarchy import split_large


def with_limited_size(result: FitResult, largest: float, n_jobs: int | None) -> FitResult:
    """Return the result after clusters with a weight above `largest` are split; see `split_large`."""
    index, weights = result.index, result.index.points.weights
    clustered = np.flatnonzero(index.labels >= 0)
    large = np.bincount(index.labels[clustered], weights=weights[clustered]) > largest
    if not large.any():
        return result
    hierarchy, edges = build_layers(result, clustered, n_jobs)
    labels = index.labels.copy()
    labels[clustered] = split_large(hierarchy, edges, largest)
    what = "1 cluster was" if large.sum() == 1 else f"{large.sum()} clusters were"
    return regrouped(result, labels, f"{what} above max_cluster_size={largest:g} and split")


def regrouped(result: FitResult, labels: IntArray, note: str) -> FitResult:
    """Return the result with other labels of the points; -1 for noise.

    The membership of a point in its old cluster becomes its membership in its new cluster. Its memberships in other old
    clusters are divided among the new clusters in proportion to the weight that they share with the old ones. The
    stability of a new cluster is the largest product of the stability of an old cluster and the Jaccard index with it.
    The stability of the partition is multiplied by the adjusted Rand index with the old partition.
    """
    index, points, old = result.index, result.index.points, result.index.labels
    kept = labels >= 0
    part = partition_of(points.values[kept], points.weights[kept], labels[kept], points.geometry, diameter=0.0, gap=0.0)
    new = np.full(len(labels), -1)
    new[kept] = part.labels
    k = len(part.sizes)
    fields = row_fields(new[points.inverse], k)
    if result.stability is not None:
        fields["stability"] = result.stability * rand_agreement(old[kept], new[kept], points.weights[kept])
    if result.memberships is not None and result.cluster_stability is not None:
        both = kept & (old >= 0)
        shape = result.n_clusters, k
        common = coo_array((points.weights[both], (old[both], new[both])), shape=shape).toarray()
        memberships = _regrouped_memberships(result.memberships, common, old, new)
        union = common.sum(axis=1, keepdims=True) + common.sum(axis=0) - common
        jaccard = np.divide(common, union, out=np.zeros(shape), where=union > 0)
        fields |= {
            "memberships": memberships,
            "confidence": largest_membership(memberships)[points.inverse],
            "cluster_stability": (jaccard * result.cluster_stability[:, None]).max(axis=0, initial=0.0),
        }
    return replace(
        result,
        centers=points.to_data(part.centers),
        weights=None if result.weights is None and (fields["sizes"] == part.sizes).all() else part.sizes,
        index=replace(index, labels=new),
        message=f"{result.message}; {note}",
        **fields,
    )


def _regrouped_memberships(memberships: csr_array, common: Array, old: IntArray, new: IntArray) -> csr_array:
    """Return memberships in new clusters; `common` is the weight that each old (row) and new (column) cluster share."""
    total = common.sum(axis=1, keepdims=True)
    shares = csr_array(np.divide(common, total, out=np.zeros(common.shape), where=total > 0))
    entries = memberships.tocoo()
    row, own = entries.row, entries.col == old[entries.row]
    others = csr_array((entries.data[~own], (row[~own], entries.col[~own])), shape=memberships.shape)
    spread = (others @ shares).tocoo()
    own &= new[row] >= 0
    rows, columns = np.append(row[own], spread.row), np.append(new[row[own]], spread.col)
    found = coo_array((np.append(entries.data[own], spread.data), (rows, columns)), shape=spread.shape)
    return with_own_largest(found, new)
