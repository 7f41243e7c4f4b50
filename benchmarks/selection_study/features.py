"""Features of candidates: numbers without units that say how good a partition is.

Each row of the result is a candidate, and the last one is the single cluster. There are three kinds of columns:
features of the data set (the same in all rows), features of the candidate, and the candidate's place in the pool (its
rank by each feature, and the best value in the pool of some).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from selection_study import kernels
from selection_study.pool import Pool
from selection_study.proposals import PROPOSERS, Space

__all__ = ["FEATURES", "candidate_features"]

GRAPH_ROWS = 4800
GEOMETRY_ROWS = 1200
SILHOUETTE_ROWS = 300
MOST_GAUSSIANS = 60

SET = (
    *("log_n", "log_d", "filled", "dimension", "dimension_share", "spherical", "hubness", "participation", "distinct"),
    *("kurtosis", "kurtosis_max", "skew_max", "density_sd", "density_skew", "density_sd4", "ties"),
)
CANDIDATE = (
    *(f"{kind}_{name}" for name in PROPOSERS[:-1] for kind in ("is", "votes")),
    *("variant", "log_k", "entropy", "simpson", "evenness", "log_rows_per_cluster", "largest", "smallest"),
    *("tiny3", "tiny10", "tiny1p", "n_tiny", "votes", "vote_kinds"),
    *(f"{kind}_{name}" for name in PROPOSERS[:-2] for kind in ("agree", "agree_max")),
    *("agree_votes", "agree", "agree_q90", "finer", "coarser", "bic_gain", "stable"),
    *(
        "inside15",
        "inside5",
        "minority",
        "modularity",
        "purity_min",
        "purity_mean",
        "purity_q10",
        "cut_max",
        "cut_mean",
    ),
    *(
        f"{kind}{count}_{what}"
        for count in (8, 24)
        for kind, what in (
            *(("dip", "mean"), ("dip", "min"), ("dip", "q10"), ("dip", "min_big"), ("dipz", "q10")),
            *(("mid", "mean"), ("mid", "q10"), ("edge", "mean"), ("edge", "q10")),
        )
    ),
    *("r2", "r2_relative", "calinski", "simple_silhouette", "simple_negative"),
    *("silhouette", "silhouette_negative", "silhouette_min", "silhouette_cluster"),
    *("apart_mean", "apart_min", "apart_q10", "valley_mean", "valley_max", "split_mean", "split_min"),
    *("gain", "gain_total", "gauss_accuracy", "gauss_sure"),
)
BEST = (
    *("stable", "votes", "agree_votes", "agree_q90", "inside15", "modularity", "purity_q10", "dip8_q10", "dip24_q10"),
    *("dipz24_q10", "mid24_q10", "edge24_q10", "edge24_mean", "r2", "calinski", "simple_silhouette", "silhouette"),
    *("apart_q10", "apart_mean", "gain", "gauss_accuracy", "bic_gain", "dip24_min_big", "dip8_min_big"),
)
RANKED = tuple(name for name in CANDIDATE if not name.startswith("is_") and name != "variant")
FEATURES = (*SET, *CANDIDATE, *(f"best_{name}" for name in BEST), *(f"rank_{name}" for name in RANKED))


class _Shared(NamedTuple):
    """What all candidates of a set are measured with: densities, samples and their distances."""

    weights: np.ndarray
    near: np.ndarray
    density: tuple[np.ndarray, np.ndarray]
    order: tuple[np.ndarray, np.ndarray]
    edges: np.ndarray
    graph_rows: np.ndarray
    sample: np.ndarray
    sample_x: np.ndarray
    total_squares: float
    distances: np.ndarray
    train: np.ndarray
    test: np.ndarray
    one_gaussian: float


def candidate_features(
    space: Space, n_rows: int, pool: Pool, stable: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """Return the table of features, columns as in `FEATURES`.

    Parameters
    ----------
    space : Space
    n_rows : int
        Rows of the data set, duplicates included.
    pool : Pool
    stable : (c,) array
        Reproducibility of each candidate.
    rng : Generator
        Draws the samples that the features are estimated on.
    """
    shared = _measure(space, rng)
    common = _set_features(space, n_rows)
    geometry = [_geometry(shared, each.labels) for each in pool.candidates]
    curve = _explained_by_centers(pool, geometry)
    table = np.full((len(pool.candidates) + 1, len(FEATURES)), np.nan)
    table[:, : len(SET)] = [common[name] for name in SET]
    for i, each in enumerate(pool.candidates):
        found = {
            **_size_features(space, each.labels),
            **_pool_features(pool, i),
            **_graph_features(shared, each.labels),
            **geometry[i],
            **_gaussian_features(shared, each.labels),
            "variant": each.variant,
            "bic_gain": each.bic_gain,
            "stable": stable[i],
        }
        expected = float(np.interp(found["log_k"], *curve))
        found["r2_relative"] = found["r2"] / max(expected, 1e-3)
        table[i, len(SET) : len(SET) + len(CANDIDATE)] = [found.get(name, np.nan) for name in CANDIDATE]
    _add_places(table)
    return table


def _measure(space: Space, rng: np.random.Generator) -> _Shared:
    n, dimension = len(space.weights), space.dimension
    weights = space.weights.astype(np.float64)
    running = weights[:, None] + np.cumsum(weights[space.indices], axis=1)
    densities = []
    for count in (8, 24):
        k = min(count, space.indices.shape[1])
        densities.append(np.log(running[:, k - 1] / (k + 1)) - dimension * np.log(space.distances[:, k - 1]))
    edges = -dimension * np.log(space.distances[:, :8]) + np.log(weights.mean())
    graph_rows = np.sort(rng.permutation(n)[:GRAPH_ROWS])
    sample = rng.permutation(n)[:GEOMETRY_ROWS]
    x = np.ascontiguousarray(space.x[sample])
    small = x[:SILHOUETTE_ROWS]
    squares = np.square(small).sum(axis=1)
    distances = np.sqrt(np.maximum(squares[:, None] + squares - 2 * small @ small.T, 0.0))
    half = len(sample) // 2
    train, test = (np.ascontiguousarray(space.low[part]) for part in (sample[:half], sample[half:]))
    one = kernels.gaussian_score(train, np.zeros(half, dtype=np.int64), test, 1)[0].mean() if half else 0.0
    return _Shared(
        weights,
        np.ascontiguousarray(space.indices[:, :15]),
        (densities[0], densities[1]),
        (np.argsort(densities[0], kind="stable"), np.argsort(densities[1], kind="stable")),
        np.ascontiguousarray(edges),
        graph_rows,
        sample,
        x,
        float(np.square(x - x.mean(axis=0)).sum()),
        distances,
        train,
        test,
        float(one),
    )


def _set_features(space: Space, n_rows: int) -> dict[str, float]:
    n, filled = space.x.shape
    hub = np.bincount(space.indices[:, :10].ravel(), minlength=n).astype(float)
    centered = space.x - space.x.mean(axis=0)
    variance = centered.var(axis=0)
    kurtosis = np.power(centered, 4).mean(axis=0) / (variance**2 + 1e-300)
    skew = np.power(centered, 3).mean(axis=0) / (variance**1.5 + 1e-300)
    reach = np.log(space.distances[:, min(15, space.distances.shape[1] - 1)])
    short = np.log(space.distances[:, min(3, space.distances.shape[1] - 1)])
    ties = np.diff(space.distances[:, :8], axis=1) <= 1e-9 * space.distances[:, :1]
    return {
        "log_n": np.log(n),
        "log_d": np.log(space.full.shape[1]),
        "filled": filled,
        "dimension": space.dimension,
        "dimension_share": space.dimension / filled,
        "spherical": float(space.spherical),
        "hubness": _skewness(hub),
        "participation": variance.sum() ** 2 / np.square(variance).sum(),
        "distinct": n / n_rows,
        "kurtosis": min(float(np.median(kurtosis)), 50.0),
        "kurtosis_max": min(float(kurtosis.max()), 200.0),
        "skew_max": min(float(np.abs(skew).max()), 20.0),
        "density_sd": reach.std() * space.dimension,
        "density_skew": _skewness(reach),
        "density_sd4": short.std() * space.dimension,
        "ties": float(ties.mean()) if ties.size else 0.0,
    }


def _skewness(values: np.ndarray) -> float:
    return float(np.power(values - values.mean(), 3).mean() / (values.std() ** 3 + 1e-9))


def _size_features(space: Space, labels: np.ndarray) -> dict[str, float]:
    mass = np.bincount(labels, weights=space.weights)
    total, k = mass.sum(), len(mass)
    share = mass / total
    entropy = float(-(share * np.log(share)).sum())
    return {
        "log_k": np.log(k),
        "entropy": entropy,
        "simpson": float(-np.log(np.square(share).sum())),
        "evenness": entropy / np.log(k),
        "log_rows_per_cluster": np.log(total / k),
        "largest": share.max(),
        "smallest": np.log(mass.min()),
        "tiny3": mass[mass <= 3].sum() / total,
        "tiny10": mass[mass <= 10].sum() / total,
        "tiny1p": share[share < 0.01].sum(),
        "n_tiny": float((share < 0.01).mean()),
    }


def _pool_features(pool: Pool, i: int) -> dict[str, float]:
    """Return how often the candidate was proposed, and its agreement with the others."""
    c = len(pool.candidates)
    owner = np.array([PROPOSERS.index(each.proposer) for each in pool.candidates])
    others = np.arange(c) != i
    total = pool.votes.sum(axis=1)
    weight = total * others
    scale = max(weight.sum(), 1e-9)
    found = {
        "votes": np.log1p(total[i]),
        "vote_kinds": float((pool.votes[i] > 0).sum()),
        "agree_votes": (pool.agreement[i] * weight).sum() / scale,
        "agree": (pool.agreement[i].sum() - 1) / max(c - 1, 1),
        "agree_q90": float(np.quantile(pool.agreement[i], 0.9)),
        "finer": (pool.entropy[i] * weight).sum() / scale,
        "coarser": (pool.entropy[:, i] * weight).sum() / scale,
    }
    for j, name in enumerate(PROPOSERS[:-1]):
        found[f"is_{name}"], found[f"votes_{name}"] = float(owner[i] == j), pool.votes[i, j]
        theirs = pool.agreement[i, (owner == j) & others]
        if len(theirs):
            found[f"agree_{name}"], found[f"agree_max_{name}"] = theirs.mean(), theirs.max()
    return found


def _graph_features(shared: _Shared, labels: np.ndarray) -> dict[str, float]:
    """Return how well the neighbour graph and the density separate the clusters."""
    k = int(labels.max()) + 1
    clusters, inside15, inside5, minority = kernels.graph_statistics(
        labels, k, shared.graph_rows, shared.near, shared.weights, *shared.density, *shared.order, shared.edges
    )
    mass, rows, leaving = clusters[:, 0], clusters[:, 1], clusters[:, 3]
    share = mass / mass.sum()
    purity = (clusters[:, 2] - share) / np.maximum(1 - share, 1e-9)
    cut = leaving / (np.maximum(rows, 1) * min(8, shared.near.shape[1]))
    found = {
        "inside15": inside15,
        "inside5": inside5,
        "minority": minority,
        "modularity": inside15 - np.square(share).sum(),
        "purity_min": purity.min(),
        "purity_mean": purity.mean(),
        "purity_q10": _quantile(purity, mass, 0.1),
        "cut_max": cut.max(),
        "cut_mean": (cut * share).sum(),
    }
    big = mass >= max(4.0, 0.02 * mass.sum())
    for count, at in ((8, 4), (24, 8)):
        saddle, peak, median, border = clusters[:, at : at + 4].T
        dip, middle = np.clip(peak - saddle, -3, 6), np.clip(median - saddle, -6, 6)
        edge = np.where(leaving > 0, np.clip(median - border, -6, 6), 6.0)
        low = _quantile(dip, mass, 0.1)
        found |= {
            f"dip{count}_mean": (dip * share).sum(),
            f"dip{count}_min": dip.min(),
            f"dip{count}_q10": low,
            f"dip{count}_min_big": dip[big].min() if big.any() else np.nan,
            # in units of the standard error of the log density
            f"dipz{count}_q10": low * np.sqrt(count) / 2,
            f"mid{count}_mean": (middle * share).sum(),
            f"mid{count}_q10": _quantile(middle, mass, 0.1),
            f"edge{count}_mean": (edge * share).sum(),
            f"edge{count}_q10": _quantile(edge, mass, 0.1),
        }
    return found


def _geometry(shared: _Shared, labels: np.ndarray) -> dict[str, float]:
    """Return silhouettes, explained variance and separations on a sample."""
    own, k = kernels.compact(labels[shared.sample])
    centers, counts, within, inner, outer = kernels.center_statistics(shared.sample_x, own, k)
    r2 = 1 - within / shared.total_squares
    simple = np.where(np.isfinite(outer), (outer - inner) / np.maximum(np.maximum(inner, outer), 1e-300), 0.0)
    small, k_small = kernels.compact(own[: len(shared.distances)])
    silhouette = kernels.silhouettes(shared.distances, small, k_small)
    by_cluster = np.bincount(small, weights=silhouette) / np.bincount(small)
    found = {
        "log_k_sample": np.log(k),
        "r2": r2,
        "calinski": np.log(max(r2, 1e-6) / max(k - 1, 1) / (max(1 - r2, 1e-6) / max(len(own) - k, 1))),
        "simple_silhouette": simple.mean(),
        "simple_negative": float((simple < 0).mean()),
        "silhouette": silhouette.mean(),
        "silhouette_negative": float((silhouette < 0).mean()),
        "silhouette_min": by_cluster.min(),
        "silhouette_cluster": by_cluster.mean(),
    }
    apart = kernels.separations(shared.sample_x, own, centers, counts, k, 40)
    apart = apart[np.isfinite(apart[:, 1])]
    if len(apart):
        rows, distance, valley, split = apart.T
        found |= {
            "apart_mean": (distance * rows).sum() / rows.sum(),
            "apart_min": distance.min(),
            "apart_q10": _quantile(distance, rows, 0.1),
            "valley_mean": (valley * rows).sum() / rows.sum(),
            "valley_max": valley.max(),
            "split_mean": (split * rows).sum() / rows.sum(),
            "split_min": split[rows >= min(20.0, rows.max())].min(),
        }
    return found


def _explained_by_centers(pool: Pool, geometry: list[dict[str, float]]) -> tuple[np.ndarray, np.ndarray]:
    """Return the variance that k-means explains, as a rising curve over the logarithm of k."""
    pairs = [(0.0, 0.0)]
    for each, found in zip(pool.candidates, geometry, strict=True):
        if each.proposer == "centers":
            pairs.append((found["log_k_sample"], found["r2"]))
    log_k, r2 = np.array(sorted(pairs)).T
    return log_k, np.maximum.accumulate(r2)


def _gaussian_features(shared: _Shared, labels: np.ndarray) -> dict[str, float]:
    """Return how well one Gaussian for each cluster, fitted on half of a sample, predicts the other half."""
    half, d = len(shared.train), shared.train.shape[1]
    first, second = labels[shared.sample[:half]], labels[shared.sample[half:]]
    own, k = kernels.compact(first)
    if k > MOST_GAUSSIANS:
        return {}
    logs, best, sure = kernels.gaussian_score(shared.train, own, shared.test, k)
    name = np.zeros(k, dtype=np.int64)
    name[own] = first
    gain = float(logs.mean()) - shared.one_gaussian
    return {
        "gain": np.clip(gain / d, -20, 20),
        "gain_total": np.clip(gain, -50, 50),
        "gauss_accuracy": float((name[best] == second).mean()),
        "gauss_sure": sure.mean(),
    }


def _add_places(table: np.ndarray) -> None:
    """Fill in the best value in the pool of some features, and the rank of each candidate by each feature."""
    c = len(table) - 1
    if not c:
        return
    at = [FEATURES.index(name) for name in BEST]
    best = np.where(np.isfinite(table[:c, at]), table[:c, at], -np.inf).max(axis=0)
    table[:, FEATURES.index(f"best_{BEST[0]}") :][:, : len(BEST)] = np.where(np.isfinite(best), best, np.nan)
    for name in RANKED:
        column = table[:c, FEATURES.index(name)]
        known = np.flatnonzero(np.isfinite(column))
        if len(known) > 1:
            _, inverse, counts = np.unique(column[known], return_inverse=True, return_counts=True)
            # ties share their mean rank
            mean = np.cumsum(counts) - (counts + 1) / 2
            table[known, FEATURES.index(f"rank_{name}")] = mean[inverse] / (len(known) - 1)


def _quantile(values: np.ndarray, weights: np.ndarray, q: float) -> float:
    order = np.argsort(values, kind="stable")
    total = np.cumsum(weights[order])
    return float(values[order][min(len(values) - 1, int(np.searchsorted(total, q * total[-1])))])
