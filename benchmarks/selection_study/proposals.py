"""Proposals: partitions of one data set by every proposer, at every setting."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree

from modeseek.selection.communities import shared_neighbor_graph
from modeseek.selection.communities.kernels import merge_communities, move_nodes
from modeseek.selection.mixture.em import n_parameters
from modeseek.selection.modes import cut, point_tree
from selection_study import kernels

__all__ = ["PROPOSERS", "Proposal", "Space", "graph_proposals", "model_proposals", "shift_proposals"]

PROPOSERS = ("modes", "communities", "tree", "centers", "mixture", "shift", "refined", "one")

# neighbours of the density, and standard errors of the log density by which a mode must rise
DENSITY_NEIGHBORS = (3, 4, 6, 8, 12, 16, 24, 36, 48)
PROMINENCES = (1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 6.0)
# neighbours in the lists of the shared-neighbour graph, and resolutions from the finest down
LIST_LENGTHS = (7, 14, 28)
RESOLUTIONS = (16.0, 8.0, 4.0, 2.0, 1.0, 0.5, 0.25)
# numbers of centers and of mixture components
CENTERS = (2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 17, 20, 25, 30, 40, 50, 65, 80, 100, 130, 170)
COMPONENTS = (2, 3, 4, 5, 6, 7, 8, 10, 12, 15, 20, 30)
FORMS = ("full", "tied", "ball")
# rows that Ward's tree, mixtures and mean-shift chains are fitted on
WARD_ROWS = 800
MIXTURE_ROWS = 500
SHIFT_ROWS = 300
SHIFT_SWEEPS = 30
SHIFT_SCALES = 7


class Space(NamedTuple):
    """A data set as the proposers see it.

    Attributes
    ----------
    full : (n, d) array
        Distinct rows, unit vectors under the cosine metric.
    x, low : arrays
        Their first 32 and 8 principal components.
    indices, distances : (n, k) arrays
        Nearest neighbours.
    weights : (n,) array
        How many rows each distinct row stands for.
    dimension : float
        Intrinsic dimension.
    spherical : bool
    """

    full: np.ndarray
    x: np.ndarray
    low: np.ndarray
    indices: np.ndarray
    distances: np.ndarray
    weights: np.ndarray
    dimension: float
    spherical: bool


class Proposal(NamedTuple):
    """One partition.

    Attributes
    ----------
    proposer : str
    labels : (n,) integer array
    bic_gain : float
        Of mixtures: how much the Bayesian information criterion falls against one Gaussian, per row.
    variant : int
        0 as proposed, 1 small clusters absorbed, 2 refined by EM, 3 refined by spherical k-means.
    """

    proposer: str
    labels: np.ndarray
    bic_gain: float = np.nan
    variant: int = 0


def graph_proposals(space: Space) -> list[Proposal]:
    """Return the partitions that need the neighbour graph only."""
    return [*_modes(space), *_communities(space), *_tree_clusters(space)]


def _modes(space: Space) -> list[Proposal]:
    n, width = len(space.weights), min(8, space.indices.shape[1])
    rows = np.repeat(np.arange(n), width)
    near = space.indices[:, :width].ravel()
    key, first = np.unique(np.minimum(rows, near) * n + np.maximum(rows, near), return_index=True)
    edges = np.column_stack([key // n, key % n])
    along = (-space.dimension * np.log(space.distances[:, :width])).ravel()[first]
    running = space.weights[:, None] + np.cumsum(space.weights[space.indices], axis=1)
    found = []
    for count in DENSITY_NEIGHBORS:
        enough = 2.5 * count < n - 1 and (count <= 24 or 40 * count <= n)
        if not enough or count > space.indices.shape[1]:
            continue
        mass = np.log(running[:, count - 1] / (count + 1))
        heights = mass - space.dimension * np.log(space.distances[:, count - 1])
        tree = point_tree(heights, edges, along + np.minimum(mass[edges[:, 0]], mass[edges[:, 1]]))
        found += [Proposal("modes", cut(tree, 2 * level / np.sqrt(count))) for level in PROMINENCES]
    return found


def _communities(space: Space) -> list[Proposal]:
    """Return Louvain communities; each resolution starts from the communities of the next finer one."""
    n, found = len(space.weights), []
    for length in LIST_LENGTHS:
        if 4 * length >= n or length > space.indices.shape[1]:
            continue
        graph = shared_neighbor_graph(space.indices[:, :length])
        start, column = graph.indptr.astype(np.int64), graph.indices.astype(np.int64)
        weight, loops, labels = graph.data.astype(np.float64), np.zeros(n), np.arange(n)
        rng = np.random.default_rng(0)
        for resolution in RESOLUTIONS:
            for _ in range(20):
                size = len(start) - 1
                community = move_nodes(start, column, weight, loops, resolution, rng.permutation(size), 20)
                start, column, weight, loops, numbers = merge_communities(start, column, weight, loops, community)
                labels = numbers[labels]
                if len(start) - 1 == size:
                    break
            found.append(Proposal("communities", labels.copy()))
    return found


def _tree_clusters(space: Space) -> list[Proposal]:
    """Return clusters of the spanning tree of mutual reachability, as HDBSCAN selects them; noise is filled in."""
    n, width = len(space.weights), min(space.indices.shape[1], 24)
    total = float(space.weights.sum())
    least = sorted(
        {
            min(size, max(2, int(total // 4)))
            for size in (5, 10, 20, 40, int(total // 50), int(total // 20))
            if size >= 5
        }
    )
    rows, near = np.repeat(np.arange(n), width), space.indices[:, :width].ravel()
    once = (rows < near) | ~_is_mutual(space.indices[:, :width])
    found = []
    for count in (4, 10):
        if count >= space.indices.shape[1]:
            continue
        core = space.distances[:, count - 1]
        length = np.maximum(space.distances[:, :width].ravel(), np.maximum(core[rows], core[near]))[once]
        left, right = rows[once], near[once]
        order = np.argsort(length, kind="stable")
        kept, _ = kernels.spanning_tree(n, left[order], right[order])
        tree = left[order][kept], right[order][kept], length[order][kept]
        if len(kept) < n - 1:
            tree = _joined(space.x, *tree)
        child, size = kernels.single_linkage(n, *tree, space.weights.astype(np.float64))
        for smallest in least:
            for leaves in (False, True):
                labels = kernels.condensed_labels(n, child, tree[2], size, float(smallest), leaves)
                if labels.max() >= 1:
                    found.append(Proposal("tree", kernels.fill(labels, space.indices[:, :15])))
    return found


def _is_mutual(near: np.ndarray) -> np.ndarray:
    """Return for each entry (i, j) of neighbour lists whether i is in the list of j too."""
    n, k = near.shape
    rows = np.repeat(np.arange(n), k)
    key = np.sort(rows * n + near.ravel())
    back = near.ravel() * n + rows
    return key[np.minimum(np.searchsorted(key, back), len(key) - 1)] == back


def _joined(x, left, right, length):
    """Join the parts of a spanning forest, each to the nearest part that is joined already."""
    n = len(x)
    count, part = connected_components(csr_array((np.ones(len(left)), (left, right)), shape=(n, n)), directed=False)
    rows = [np.flatnonzero(part == c) for c in range(count)]
    centers = np.array([x[each].mean(axis=0) for each in rows])
    first = int(np.bincount(part).argmax())
    joined, more = [first], []
    rest = [c for c in range(count) if c != first]
    for c in sorted(rest, key=lambda c: np.square(centers[c] - centers[first]).sum()):
        near = joined[int(np.square(centers[joined] - centers[c]).sum(axis=1).argmin())]
        i = rows[c][int(np.square(x[rows[c]] - centers[near]).sum(axis=1).argmin())]
        j = rows[near][int(np.square(x[rows[near]] - x[i]).sum(axis=1).argmin())]
        more.append((i, j, np.linalg.norm(x[i] - x[j])))
        joined.append(c)
    new_left, new_right, new_length = (np.array(each) for each in zip(*more, strict=True))
    left, right = np.concatenate([left, new_left]), np.concatenate([right, new_right])
    length = np.concatenate([length, new_length])
    order = np.argsort(length, kind="stable")
    return left[order], right[order], length[order]


def model_proposals(space: Space, rng: np.random.Generator, share: float = 1.0) -> list[Proposal]:
    """Return Ward's and k-means clusters and Gaussian mixtures, fitted on a sample; `share` shrinks the sample."""
    n = len(space.weights)
    rows = np.sort(rng.permutation(n)[: int(share * WARD_ROWS)])
    x, weights = np.ascontiguousarray(space.x[rows]), space.weights[rows].astype(np.float64)
    tree = linkage(x, "ward")
    found = []
    for k in CENTERS:
        if k > len(x) / 3:
            break
        labels = _level(tree, k)
        if labels.max() < 1:
            continue
        start = np.stack([x[labels == c].mean(axis=0) for c in range(labels.max() + 1)])
        found.append(Proposal("centers", labels if len(rows) == n else nearest_center(space.x, start)))
        found.append(Proposal("centers", nearest_center(space.x, kernels.lloyd(x, weights, start.copy(), 12))))
    return found + _mixtures(space, x, rows, weights, rng, int(share * MIXTURE_ROWS))


def _mixtures(space, x, rows, weights, rng, most) -> list[Proposal]:
    some = np.sort(rng.permutation(len(rows))[:most])
    low, mass = np.ascontiguousarray(space.low[rows[some]]), weights[some]
    m, d = low.shape
    tree = linkage(x[some], "ward")
    one = np.zeros(m, dtype=np.int64)
    single = min(kernels.expectation_maximization(low, mass, one, 1, form, 3, 1e-3)[4] for form in range(3))
    found = []
    for number, form in enumerate(FORMS):
        worse, lowest = 0, np.inf
        for k in COMPONENTS:
            if 2 * n_parameters(k, d, form) > m or worse == 2:
                break
            start = _level(tree, k)
            if start.max() < 1:
                continue
            fitted = kernels.expectation_maximization(low, mass, start, int(start.max()) + 1, number, 30, 1e-3)
            worse, lowest = (worse + 1, lowest) if fitted[4] >= lowest else (0, fitted[4])
            if fitted[0][0] > 0:
                labels = kernels.most_likely(space.low, *fitted[:4])
                found.append(Proposal("mixture", labels, (single - fitted[4]) / m))
    return found


def shift_proposals(space: Space, rng: np.random.Generator) -> list[Proposal]:
    """Return clusters of doubly stochastic mean shift at several scales, on a sample of the rows."""
    rows = np.sort(rng.permutation(len(space.weights))[:SHIFT_ROWS])
    whole = space.full if space.full.shape[1] <= 32 else space.x
    x, weights = np.ascontiguousarray(whole[rows]), space.weights[rows].astype(np.float64)
    m = len(rows)
    squares = np.square(x).sum(axis=1)
    distances = np.sort(np.sqrt(np.maximum(squares[:, None] + squares - 2 * x @ x.T, 0.0)), axis=1)
    owner = None if m == len(whole) else _nearest_row(whole, x)
    found = []
    for count in np.unique(np.round(np.geomspace(max(2, 0.01 * m), 0.6 * m, SHIFT_SCALES)).astype(int)):
        h = float(np.median(distances[:, min(count, m - 1)]))
        if h <= 0:
            continue
        words = rng.random((2, SHIFT_SWEEPS * m))
        # the range of the draws shrinks to h as the sweeps pass
        width = np.log(2.0) / (1.0 + np.arange(1, SHIFT_SWEEPS * m + 1) / m)
        ends = kernels.chain(x, weights, words[0], h * np.exp((2 * words[1] - 1) * width), SHIFT_SWEEPS)
        labels = kernels.components_within(ends, h / 4)
        if 0 < labels.max() < m / 2:
            found.append(Proposal("shift", labels if owner is None else labels[owner]))
    return found


def nearest_center(x: np.ndarray, centers: np.ndarray) -> np.ndarray:
    """Return the nearest center of each row."""
    half = np.square(centers).sum(axis=1) / 2
    parts = [(x[i : i + 8192] @ centers.T - half).argmax(axis=1) for i in range(0, len(x), 8192)]
    return np.concatenate(parts)


def _nearest_row(queries: np.ndarray, x: np.ndarray) -> np.ndarray:
    return cKDTree(x).query(queries)[1] if x.shape[1] <= 10 else nearest_center(queries, x)


def _level(tree: np.ndarray, k: int) -> np.ndarray:
    return np.unique(fcluster(tree, k, "maxclust"), return_inverse=True)[1]
