"""The pool: distinct candidates of a data set, how often each was proposed, and how well they agree."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from sklearn.decomposition import PCA

from modeseek._common.neighbors import Neighbors, intrinsic_dimension, nearest_neighbors
from modeseek._common.points import Points, canonical_points
from modeseek._common.types import Geometry
from modeseek.selection.knn_graph_kernels import keep_neighbors
from modeseek.selection.mixture.em import n_parameters
from selection_study import kernels
from selection_study.proposals import (
    FORMS,
    PROPOSERS,
    Proposal,
    Space,
    graph_proposals,
    model_proposals,
    shift_proposals,
)

__all__ = ["Pool", "build_pool", "make_space", "reproducibility"]

NEIGHBORS = 60
# partitions that agree better than this are one candidate
NEAR_COPY = 0.97
# rows on which partitions are compared
COMPARED_ROWS = 500
MOST_REFINED = 12


class Pool(NamedTuple):
    """The candidates of a data set.

    Attributes
    ----------
    candidates : list of Proposal
    votes : (c, p) array
        How many proposals of each proposer each candidate stands for.
    agreement : (c, c) array
        Adjusted Rand index between candidates.
    entropy : (c, c) array
        Entropy of the second given the first.
    """

    candidates: list[Proposal]
    votes: np.ndarray
    agreement: np.ndarray
    entropy: np.ndarray


def make_space(X: np.ndarray, metric: str) -> tuple[Points, Space]:
    """Return the distinct rows in canonical order, and what the proposers need of them."""
    points = canonical_points(np.asarray(X, np.float64), np.ones(len(X)), Geometry(metric))
    full = points.values.astype(np.float64)
    n, d = full.shape
    pca = PCA(min(32, n, d), svd_solver="full" if d <= 300 else "randomized", random_state=0)
    x = pca.fit_transform(full)
    filled = max(1, int((pca.singular_values_ > 1e-9 * pca.singular_values_[0]).sum()))
    x = np.ascontiguousarray(x[:, :filled])
    found = nearest_neighbors(x if d > 32 and n > 32 else full, min(n - 1, NEIGHBORS))
    positive = found.distances[found.distances > 0]
    distances = np.maximum(found.distances, positive.min() if len(positive) else 1.0)
    dimension = min(intrinsic_dimension(Neighbors(found.indices, distances)), filled)
    low, indices = np.ascontiguousarray(x[:, :8]), np.ascontiguousarray(found.indices)
    return points, Space(full, x, low, indices, distances, points.weights, dimension, metric == "cosine")


def build_pool(space: Space, rng: np.random.Generator) -> Pool:
    """Propose, add variants, and merge near-copies."""
    near = np.ascontiguousarray(space.indices[:, :15])
    raw = [*graph_proposals(space), *model_proposals(space, rng), *shift_proposals(space, rng)]
    least = max(4.0, 0.01 * float(space.weights.sum()))
    raw += [
        proposal._replace(labels=labels, variant=1)
        for proposal in raw
        if proposal.proposer in ("modes", "communities", "tree")
        and (labels := _absorb(proposal.labels, near, space.weights, least)) is not None
    ]
    rows = np.sort(rng.permutation(len(space.weights))[:COMPARED_ROWS])
    pool = _merged(_distinct(raw, space), None, rows)
    more = _refined(space, pool.candidates, rng)
    if space.spherical:
        vectors = space.full.astype(np.float32)
        more += [
            each._replace(labels=_spherical_k_means(vectors, each.labels), variant=3)
            for each in pool.candidates
            if each.labels.max() < 300
        ]
    if not more:
        return pool
    added = _distinct(more, space)
    votes = np.concatenate([pool.votes, _votes(added)]) if added else pool.votes
    return _merged([*pool.candidates, *added], votes, rows)


def reproducibility(space: Space, pool: Pool, rng: np.random.Generator, times: int = 2) -> np.ndarray:
    """Return for each candidate how well some proposer finds it again on 70 % of the rows: mean best agreement."""
    scores = np.zeros(len(pool.candidates))
    for _ in range(times):
        some, rows = _subsample(space, rng)
        again = [each.labels for each in (*graph_proposals(some), *model_proposals(some, rng, share=0.6))]
        compared = np.sort(rng.permutation(len(rows))[:400])
        theirs = [kernels.compact(np.asarray(labels, dtype=np.int64)[compared]) for labels in again]
        ours = [kernels.compact(each.labels[rows][compared]) for each in pool.candidates]
        if theirs and ours:
            scores += kernels.best_agreement(
                *map(np.array, zip(*ours, strict=True)), *map(np.array, zip(*theirs, strict=True))
            )[0]
    return scores / times


def _subsample(space: Space, rng: np.random.Generator) -> tuple[Space, np.ndarray]:
    n = len(space.weights)
    rows = np.sort(rng.permutation(n)[: max(4, round(0.7 * n))])
    place = np.full(n, -1, dtype=np.int64)
    place[rows] = np.arange(len(rows))
    width = min(len(rows) - 1, space.indices.shape[1], 40)
    indices, distances = keep_neighbors(space.indices, space.distances, rows, place, width)
    low, x = np.ascontiguousarray(space.low[rows]), np.ascontiguousarray(space.x[rows])
    return space._replace(
        full=space.full[rows], x=x, low=low, indices=indices, distances=distances, weights=space.weights[rows]
    ), rows


def _distinct(proposals: list[Proposal], space: Space) -> list[Proposal]:
    """Drop trivial partitions; labels are renumbered by first appearance."""
    found = []
    for each in proposals:
        labels, k = kernels.compact(np.asarray(each.labels, dtype=np.int64))
        mass, rows = np.bincount(labels, weights=space.weights), np.bincount(labels)
        if k <= len(labels) / 2 and mass.max() < 0.98 * space.weights.sum() and (rows >= 2).sum() >= 2:
            found.append(each._replace(labels=labels))
    return found


def _votes(proposals: list[Proposal]) -> np.ndarray:
    votes = np.zeros((len(proposals), len(PROPOSERS)))
    votes[np.arange(len(proposals)), [PROPOSERS.index(each.proposer) for each in proposals]] = 1
    return votes


def _merged(proposals: list[Proposal], votes: np.ndarray | None, rows: np.ndarray) -> Pool:
    """Merge near-copies into the one that agrees best with the whole pool."""
    votes = _votes(proposals) if votes is None else votes
    if not proposals:
        return Pool([], votes, np.ones((0, 0)), np.zeros((0, 0)))
    compact = [kernels.compact(each.labels[rows]) for each in proposals]
    agreement, entropy = kernels.pair_agreement(*map(np.array, zip(*compact, strict=True)))
    kept: list[int] = []
    votes = votes.copy()
    for i in np.argsort(-agreement.mean(axis=1), kind="stable"):
        copy = next((j for j in kept if agreement[i, j] >= NEAR_COPY), None)
        if copy is None:
            kept.append(int(i))
        else:
            votes[copy] += votes[i]
    kept.sort()
    square = np.ix_(kept, kept)
    return Pool([proposals[i] for i in kept], votes[kept], agreement[square], entropy[square])


def _absorb(labels: np.ndarray, near: np.ndarray, weights: np.ndarray, least: float) -> np.ndarray | None:
    """Give clusters lighter than `least` to the clusters around them; None if that changes nothing."""
    small = np.bincount(labels, weights=weights) < least
    if not small.any() or small.all():
        return None
    return kernels.fill(np.where(small[labels], -1, labels).astype(np.int64), near)


def _refined(space: Space, candidates: list[Proposal], rng: np.random.Generator) -> list[Proposal]:
    """Return Gaussian mixtures that start from candidates of the other proposers."""
    n, d = space.low.shape
    rows = np.sort(rng.permutation(n)[:COMPARED_ROWS])
    low, weights = np.ascontiguousarray(space.low[rows]), space.weights[rows].astype(np.float64)
    sources = [each for each in candidates if each.proposer not in ("centers", "mixture") and each.labels.max() < 30]
    found = []
    for each in sources[:: max(1, len(sources) // MOST_REFINED)][:MOST_REFINED]:
        labels, k = kernels.compact(each.labels[rows])
        form = next((f for f, name in enumerate(FORMS) if 2 * n_parameters(k, d, name) <= len(rows)), None)
        if k < 2 or form is None:
            continue
        fitted = kernels.expectation_maximization(low, weights, labels, k, form, 20, 1e-3)
        if fitted[0][0] > 0:
            found.append(Proposal("refined", kernels.most_likely(space.low, *fitted[:4]), variant=2))
    return found


def _spherical_k_means(x: np.ndarray, labels: np.ndarray, rounds: int = 6) -> np.ndarray:
    for _ in range(rounds):
        labels = np.unique(labels, return_inverse=True)[1]
        centers = np.zeros((labels.max() + 1, x.shape[1]), dtype=x.dtype)
        np.add.at(centers, labels, x)
        centers /= np.maximum(np.linalg.norm(centers, axis=1, keepdims=True), 1e-12)
        new = (x @ centers.T).argmax(axis=1)
        if (new == labels).all():
            break
        labels = new
    return labels
