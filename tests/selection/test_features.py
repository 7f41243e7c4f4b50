"""Features of candidates: documented, free of units, and equal to a few lines of NumPy."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist
from sklearn.metrics import silhouette_samples

from inputs import DEGENERATE, raw_rows, selection_data_of
from modeseek.selection import features
from modeseek.selection.config import DEFAULT
from modeseek.selection.data import base_sample
from modeseek.selection.features import FEATURES, TABLE, candidate_features, feature_samples, feature_table
from modeseek.selection.features.gaussians_loops import gaussian_scores
from modeseek.selection.features.geometry_loops import center_statistics, separations, silhouettes
from modeseek.selection.features.graph import graph_features, graph_sample
from modeseek.selection.features.graph_loops import graph_statistics
from modeseek.selection.features.pairs_loops import compare_pairs
from modeseek.selection.features.partitions import Partitions
from modeseek.selection.features.ranks import add_ranks
from modeseek.selection.features.sizes import size_features
from modeseek.selection.pool import build_pool

QUICK = replace(
    DEFAULT,
    centers=replace(DEFAULT.centers, n_centers=(2, 3, 5)),
    reproducibility=replace(DEFAULT.reproducibility, n_subsamples=1),
)


def labelled(seed=0, n=90, d=3, k=4):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, k, n).astype(np.int32)
    return rng.normal(size=(n, d)) + 2.0 * labels[:, None], labels


def test_every_feature_is_documented_once():
    assert len(set(FEATURES)) == len(FEATURES)
    assert all(each.meaning and not each.meaning.endswith(".") for each in TABLE)


def test_the_page_lists_the_features():
    page = (Path(__file__).parents[2] / "docs" / "mode-seek.md").read_text(encoding="utf-8")
    for each in TABLE:
        if not each.name.startswith(("best_", "rank_")):
            assert f"| `{each.name}` | {'g' if each.graph_only else ''} | {each.meaning} |" in page


def test_the_table_has_a_row_for_each_candidate_and_one_for_the_single_cluster():
    data = selection_data_of(labelled()[0])
    pool = build_pool(data, config=QUICK)
    table = candidate_features(data, base_sample(data), pool, config=QUICK)
    assert table.shape == (len(pool) + 1, len(FEATURES))
    assert np.isfinite(table[:-1]).mean() > 0.8
    log_k = table[:-1, FEATURES.index("log_k")]
    assert_allclose(np.exp(log_k), [each.labels.max() + 1 for each in pool.candidates])
    assert np.isnan(table[-1, FEATURES.index("log_k")])
    assert_array_equal(table, candidate_features(data, base_sample(data), pool, config=QUICK, n_jobs=2))


@pytest.mark.parametrize("scale", [1e-6, 1e6])
def test_units_change_nothing(scale):
    X, _ = labelled()
    data, other = selection_data_of(X), selection_data_of(scale * X)
    pool = build_pool(data, config=QUICK)
    one, two = (
        feature_table(each, pool, np.zeros(len(pool)), feature_samples(each, np.random.default_rng(0)))
        for each in (data, other)
    )
    assert_allclose(one, two, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("size", [1, 400])
def test_features_do_not_depend_on_the_batches(size, monkeypatch):
    data = selection_data_of(labelled()[0])
    pool = build_pool(data, config=QUICK)
    tables = []
    for labels in (features.MOST_LABELS, size):
        monkeypatch.setattr(features, "MOST_LABELS", labels)
        tables.append(feature_table(data, pool, np.zeros(len(pool)), feature_samples(data, np.random.default_rng(0))))
    assert_array_equal(*tables)


def test_sizes_by_their_definition():
    labels, weights = labelled()[1], np.random.default_rng(0).integers(1, 4, 90).astype(float)
    partitions = Partitions.of([np.arange(90) % 50, labels])
    mass = partitions.weights(weights)
    assert_array_equal(mass, np.concatenate([np.bincount(np.arange(90) % 50, weights), np.bincount(labels, weights)]))
    found = size_features(partitions, mass)
    for which, own in enumerate((mass[:50], mass[50:])):
        share = own / weights.sum()
        assert_allclose(found["entropy"][which], -(share * np.log(share)).sum())
        assert_allclose(found["simpson"][which], -np.log(np.square(share).sum()))
        assert_allclose(found["smallest"][which], np.log(own.min()))
        assert_allclose(found["tiny3"][which], share[own <= 3].sum())
        assert_allclose(found["n_tiny"][which], (share < 0.01).mean())


def test_quantiles_of_clusters_by_their_definition():
    rng = np.random.default_rng(0)
    partitions = Partitions.of([rng.integers(0, 9, 40), np.arange(40), np.zeros(40)])
    values, weights = (
        rng.integers(0, 5, (3, partitions.n_clusters)).astype(float),
        rng.integers(1, 5, partitions.n_clusters),
    )
    found = partitions.quantiles(values, weights, 0.3)
    for row, quantiles in zip(values, found, strict=True):
        for number, quantile in enumerate(quantiles):
            own = partitions.partition == number
            order = np.argsort(row[own], kind="stable")
            enough = np.cumsum(weights[own][order]) >= 0.3 * weights[own].sum()
            assert quantile == row[own][order][enough.argmax()]


def test_features_of_the_graph_do_not_use_coordinates():
    data = selection_data_of(labelled()[0])
    pool = build_pool(data, config=QUICK)
    rng = np.random.default_rng(9)
    other = replace(data, points=rng.normal(size=(90, 5)), components=rng.normal(size=data.components.shape))
    other = replace(other, coordinates=other.components)
    tables = (
        feature_table(each, pool, np.zeros(len(pool)), feature_samples(each, np.random.default_rng(0)))
        for each in (data, other)
    )
    one, two = tables
    alone = [each.graph_only for each in TABLE]
    assert_array_equal(one[:, alone], two[:, alone])
    assert not np.array_equal(one, two, equal_nan=True)


@pytest.mark.parametrize("kind", [kind for kind in DEGENERATE if kind != "single"])
def test_degenerate_data_have_features(kind):
    for n, d in ((5, 1), (30, 2), (40, 40)):
        rows = raw_rows(kind, np.random.default_rng(n), n, d)
        if len(np.unique(rows, axis=0)) >= 3:
            data = selection_data_of(rows)
            pool = build_pool(data, config=QUICK)
            table = candidate_features(data, base_sample(data), pool, config=QUICK)
            assert not np.isinf(table).any()


def test_silhouettes_are_those_of_scikit_learn():
    X, labels = labelled()
    labels[0] = 4  # alone
    other = np.arange(len(X)) % 3
    found = silhouettes(cdist(X, X), Partitions.of([other, labels]))
    assert_allclose(found, [silhouette_samples(X, each) for each in (other, labels)], atol=1e-12)


def test_centers_by_their_definition():
    X, labels = labelled()
    centers, within, inner, outer = center_statistics(X, Partitions.of([0 * labels, labels]))
    centers, within, inner, outer = centers[1:], within[1], inner[1], outer[1]
    means = np.array([X[labels == c].mean(axis=0) for c in range(4)])
    away = cdist(X, means)
    own = np.arange(4) == labels[:, None]
    assert_allclose(centers, means)
    assert_allclose(within, np.square(away[own]).sum())
    assert_allclose(inner, away[own])
    assert_allclose(outer, np.where(own, np.inf, away).min(axis=1))


def test_separations_by_their_definition():
    X, labels = labelled()
    X = X * [5.0, 1.0, 1.0]
    means, counts = np.array([X[labels == c].mean(axis=0) for c in range(4)]), np.bincount(labels)
    both = Partitions.of([labels, labels])
    chosen = both.largest_clusters(3, 6)
    found = separations(X, both, np.concatenate([means, means]), chosen)
    assert_array_equal(found[:3], found[3:])
    assert_array_equal(both.counts()[chosen[:3]], np.sort(counts)[::-1][:3])
    c = int(np.argmax(counts))
    near = int(np.where(np.arange(4) == c, np.inf, cdist(means, means)[c]).argmin())
    line = (means[near] - means[c]) / np.square(means[near] - means[c]).sum()
    along = [(X[labels == each] - means[c]) @ line for each in (c, near)]
    assert_allclose(found[0, 0], 1 / np.sqrt((along[0].var() + along[1].var()) / 2 + 1e-4))
    low, middle, high = ((np.abs(np.concatenate(along) - at) < 0.12).sum() for at in (0.0, 0.5, 1.0))
    assert_allclose(found[0, 1], (middle + 0.5) / (min(low, high) + 1))
    own = X[labels == c] - means[c]
    t = np.sort(own @ np.linalg.svd(own)[2][0])
    left = min(part[0].var() * len(part[0]) + part[1].var() * len(part[1]) for part in splits(t))
    assert_allclose(found[0, 2], left / np.square(t).sum(), rtol=1e-3)


def splits(t):
    return [(t[:cut], t[cut:]) for cut in range(1, len(t))]


def test_graph_statistics_by_their_definition():
    X, labels = labelled(n=120)
    data = selection_data_of(X)
    sample = graph_sample(data, np.random.default_rng(0), DEFAULT.features)
    found = graph_statistics(Partitions.of([np.zeros_like(labels), labels]), sample)
    same = labels[data.indices[:, :15]] == labels[:, None]
    assert_allclose(found.inside_15[1], same.mean())
    assert_allclose(found.inside_5[1], same[:, :5].mean())
    assert_allclose(found.minority[1], (2 * same.sum(axis=1) < 15).mean())
    near = data.indices[:, :8]
    leaves = labels[near] != labels[:, None]
    for c in range(4):
        own = labels == c
        assert_allclose(found.points[1 + c], own.sum())
        assert_allclose(found.inside[1 + c], same[own].mean())
        assert_allclose(found.leaving[1 + c], leaves[own].sum())
        touching = leaves & (own[:, None] | own[near])
        for which, heights in enumerate(found.heights):
            density = sample.densities[which]
            height = np.minimum(density[:, None], density[near])
            if which == 0:
                height = np.minimum(height, sample.edges)
            ordered = np.sort(density[own])
            assert_allclose(heights.saddle[1 + c], height[touching].max())
            assert_allclose(heights.peak[1 + c], ordered[int(0.95 * (len(ordered) - 1))])
            assert_allclose(heights.median[1 + c], ordered[(len(ordered) - 1) // 2])
            assert_allclose(heights.border[1 + c], height[leaves & own[:, None]].mean())


def test_density_contrast_by_its_definition():
    X, labels = labelled(n=120)
    data = selection_data_of(X * np.exp(labels)[:, None])
    sample = graph_sample(data, np.random.default_rng(0), DEFAULT.features)
    found = graph_features(sample, Partitions.of([labels]), np.bincount(labels).astype(float))
    density = sample.densities[1]
    means = np.array([density[labels == c].mean() for c in range(4)])
    assert_allclose(found["density_r2"][0], means[labels].var() / density.var())
    changes = np.abs(density[data.indices[:, :8]] - density[:, None])
    leaves = labels[data.indices[:, :8]] != labels[:, None]
    assert_allclose(found["contrast"][0], changes[leaves].mean() / changes.mean())


def log_determinant(x, floor):
    return 0.5 * np.linalg.slogdet(np.cov(x.T, bias=True) + floor * np.eye(x.shape[1]))[1]


def gain_of_two(first, second, floor):
    """Return the gain in log likelihood per point of two Gaussians over one."""
    n = len(first) + len(second)
    parts = [len(each) / n * (log_determinant(each, floor) - np.log(len(each) / n)) for each in (first, second)]
    return log_determinant(np.concatenate([first, second]), floor) - sum(parts)


def test_pairs_of_clusters_by_their_definition():
    X, labels = labelled(n=200)
    X = X @ np.array([[1.0, 0.9, 0.0], [0.0, 0.3, 0.2], [0.0, 0.0, 4.0]])
    both = Partitions.of([labels, labels])
    found = compare_pairs(X, both, both.largest_clusters(4, 6), 1e-9)
    assert_array_equal(found[:4], found[4:])
    found = found[:4]
    order = np.argsort(-np.bincount(labels), kind="stable")
    clusters = [X[labels == c] for c in order]
    assert_array_equal(found[:, 0], [len(each) for each in clusters])
    for own, row in zip(clusters, found, strict=True):
        best = (np.inf,)
        for other in clusters:
            if other is own:
                continue
            n = len(own) + len(other)
            common = (len(own) * np.cov(own.T, bias=True) + len(other) * np.cov(other.T, bias=True)) / n
            away = other.mean(axis=0) - own.mean(axis=0)
            line = np.linalg.solve(common, away)
            if line @ away < best[0]:
                best = line @ away, line, other
        square, line, other = best
        assert_allclose(row[1], np.sqrt(square))
        along = (np.concatenate([own, other]) - own.mean(axis=0)) @ line / square
        low, middle, high = ((np.abs(along - at) < 0.12).sum() for at in (0.0, 0.5, 1.0))
        assert_allclose(row[2], min(5.0, (middle + 0.5) / (min(low, high) + 1)))
        assert_allclose(row[3], gain_of_two(own, other, 1e-9), rtol=1e-6)


def test_halves_of_a_cluster_are_found_where_there_are_two():
    rng = np.random.default_rng(0)
    two = np.concatenate([rng.normal(size=(60, 2)), rng.normal([9.0, 4.0], size=(40, 2))])
    X, labels = np.concatenate([two, rng.normal(size=(80, 2)) + 40.0]), np.repeat([0, 1], [100, 80]).astype(np.int32)
    halves = compare_pairs(X, Partitions.of([labels]), np.arange(2), 1e-9)[:, 4]
    assert_allclose(halves[0], gain_of_two(two[:60], two[60:], 1e-9), rtol=1e-6)
    assert halves[1] < 0 < halves[0]


def test_gaussian_scores_by_their_definition():
    train, labels = labelled(0)
    test, _ = labelled(1)
    (logs,), (best,), (sure,) = gaussian_scores(train, labels[None], np.array([4]), test)
    n, d = train.shape
    counts = np.bincount(labels)
    means = np.array([train[labels == c].mean(axis=0) for c in range(4)])
    scatter = [(train[labels == c] - means[c]).T @ (train[labels == c] - means[c]) for c in range(4)]
    pooled = sum(scatter) / (n - 4) + 1e-4 * train.var(axis=0).mean() * np.eye(d)
    parts = []
    for c in range(4):
        covariance = (scatter[c] + (d + 2) * pooled) / (counts[c] + d + 2)
        away = test - means[c]
        square = np.einsum("ij,jk,ik->i", away, np.linalg.inv(covariance), away)
        parts.append(np.log(counts[c] / n) - 0.5 * (square + np.linalg.slogdet(2 * np.pi * covariance)[1]))
    density = np.exp(parts).sum(axis=0)
    assert_allclose(logs, np.log(density))
    assert_array_equal(best, np.argmax(parts, axis=0))
    assert_allclose(sure, np.exp(parts).max(axis=0) / density)


def test_ties_share_their_mean_rank():
    table = np.array([[0.3, 0], [0.1, 0], [0.3 + 1e-12, 0], [np.nan, 0], [0.9, 0], [9.0, 0]])
    table[:, 1] = np.nan
    add_ranks(table, ["a", "rank_a"], ["a"])
    assert_allclose(table[:, 1], [0.5, 0.0, 0.5, np.nan, 1.0, np.nan])
