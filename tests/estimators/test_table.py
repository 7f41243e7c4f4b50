"""`ClusterTable`: the same figures from one result and from rows that come in chunks."""

from __future__ import annotations

import numpy as np
import pytest

from modeseek import ModeSeek, StochasticMeanShift
from modeseek.datasets import paper_mixture
from modeseek.estimators.table import DOUBTFUL, ClusterTable, RowCounts

X = paper_mixture(30, random_state=1)[0]


@pytest.fixture(scope="module")
def result():
    return StochasticMeanShift(0.5, n_chains=4, min_cluster_size=3, random_state=0).fit(X).result_


def test_figures_of_a_result(result):
    table = ClusterTable.of(result)
    member = result.labels >= 0
    assert table.n_noise == (~member).sum() > 0
    assert table.n_rows == len(X)
    np.testing.assert_array_equal(table.sizes, np.bincount(result.labels[member]))
    np.testing.assert_allclose(table.shares.sum() + table.n_noise / len(X), 1)
    for label in range(table.n_clusters):
        sure = result.confidence[result.labels == label]
        assert table.confidence[label] == pytest.approx(sure.mean())
        assert table.doubtful[label] == (sure < DOUBTFUL).sum()
    np.testing.assert_array_equal(table.stability, result.cluster_stability)
    assert table.largest(2).tolist() == np.argsort(-table.sizes, kind="stable")[:2].tolist()
    assert table.headline == f"{table.n_clusters} clusters in 90 rows, {table.n_noise} of them noise"


def test_traits_compare_with_the_other_clusters():
    centers = np.array([[0.0, 1.0, 5.0], [4.0, 1.1, 6.0], [8.0, 1.0, 6.0]])
    table = ClusterTable(np.array([6, 3, 1]), 90, 100, centers)
    first, _, last = table.traits(np.array([2.0, 1.0, 1.0]), 3)
    assert [each.feature for each in first] == [0, 2]
    assert [first[0].center, first[0].others, first[0].effect] == pytest.approx([0.0, 5.0, -2.5])
    assert last[0].others == pytest.approx(12 / 9)
    assert [len(each) for each in table.traits(np.ones(3), 1)] == [1, 1, 1]
    assert ClusterTable(np.array([5, 0]), 0, 5, centers[:2]).traits(np.ones(3), 1)[0] == []


@pytest.mark.parametrize("size", [1, 7, 90])
def test_chunks_give_the_figures_of_the_whole(result, size):
    whole, counts = ClusterTable.of(result), RowCounts()
    for at in range(0, len(X), size):
        chunk = slice(at, at + size)
        counts = counts.add(result.labels[chunk], result.confidence[chunk], result.n_clusters)
    table = ClusterTable.of(result, counts)
    for name, values in whole.columns().items():
        np.testing.assert_allclose(table.columns()[name], values)
    assert table.headline == whole.headline


def test_a_weight_counts_as_that_many_rows():
    labels, confidence = np.array([0, 0, 1, -1]), np.array([0.9, 0.5, 1.0, 0.0])
    weights = np.array([1, 3, 2, 1])
    weighted = RowCounts().add(labels, confidence, 2, weights)
    repeated = RowCounts().add(np.repeat(labels, weights), np.repeat(confidence, weights), 2)
    assert weighted.sizes == repeated.sizes == (4, 2)
    assert weighted.doubtful == repeated.doubtful == (3, 0)
    assert weighted.n_rows == repeated.n_rows == 7
    np.testing.assert_allclose(weighted.confidence_sums, repeated.confidence_sums)


def test_centers_in_other_units():
    table = ClusterTable.of(ModeSeek(random_state=0).fit(X).result_)
    assert (table.with_centers(2 * table.centers).centers == 2 * table.centers).all()
    assert table.with_centers(2 * table.centers).sizes is table.sizes


def test_no_rows():
    assert RowCounts.joined([]) == RowCounts() == RowCounts().add(np.array([], int), None, 0)
