"""Compiled loops over partitions, against NumPy and scikit-learn."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import entropy
from sklearn.metrics import adjusted_rand_score, mutual_info_score

from modeseek.selection.partition_loops import best_agreement, compact, compact_each, fill, pair_agreement
from modeseek.selection.pool import table_of


def partitions(seed, count=6, n=40):
    rng = np.random.default_rng(seed)
    return [rng.integers(0, rng.integers(1, 9), n).astype(np.int32) for _ in range(count)]


@given(st.lists(st.integers(0, 9), min_size=1))
@settings(max_examples=50)
def test_labels_are_numbered_by_first_appearance(labels):
    order = list(dict.fromkeys(labels))
    found, count = compact(np.array(labels, dtype=np.int32))
    assert_array_equal(found, [order.index(each) for each in labels])
    assert count == len(order)


def test_several_partitions_are_renumbered_each_for_itself():
    table = np.array(partitions(0))
    found, counts = compact_each(table)
    each = [compact(labels) for labels in table]
    assert_array_equal(found, [labels for labels, _ in each])
    assert_array_equal(counts, [count for _, count in each])


@pytest.mark.parametrize("seed", range(5))
def test_agreement_of_all_pairs(seed):
    found = partitions(seed)
    table, sizes, which = table_of(found, np.arange(40))
    agreement, conditional = pair_agreement(table, sizes)
    for i, a in zip(which, found, strict=True):
        for j, b in zip(which, found, strict=True):
            assert_allclose(agreement[i, j], adjusted_rand_score(a, b), atol=1e-12)
            expected = entropy(np.bincount(b)) - mutual_info_score(a, b)
            assert_allclose(conditional[i, j], expected, atol=1e-12)


@pytest.mark.parametrize("n_known", [0, 3])
def test_known_agreements_are_kept_and_the_others_computed(n_known):
    table, sizes, _ = table_of(partitions(1), np.arange(40))
    whole = pair_agreement(table, sizes)
    known = tuple(each[:n_known, :n_known].copy() for each in whole)
    assert_array_equal(pair_agreement(table, sizes, known=known), whole)
    if n_known:
        known[0][0, -1] = 7.0
        assert pair_agreement(table, sizes, known=known)[0][0, n_known - 1] == 7.0


@pytest.mark.parametrize("seed", range(10))
def test_the_best_agreement(seed):
    ours, theirs = partitions(seed), partitions(seed + 100, count=9)
    best, which = best_agreement(*table_of(ours, np.arange(40))[:2], *table_of(theirs, np.arange(40))[:2])
    distinct = list(dict.fromkeys(compact(each)[0].tobytes() for each in theirs))
    for i, own in enumerate({compact(each)[0].tobytes(): each for each in ours}.values()):
        scores = [adjusted_rand_score(own, np.frombuffer(each, dtype=np.int32)) for each in distinct]
        assert_allclose(best[i], max(scores), atol=1e-12)
        assert_allclose(scores[which[i]], max(scores), atol=1e-12)


def test_equal_partitions_share_a_row_of_the_table():
    same = [np.array([3, 3, 1], dtype=np.int32), np.array([0, 0, 2], dtype=np.int32), np.array([0, 1, 1], np.int32)]
    table, sizes, which = table_of(same, np.arange(3))
    assert_array_equal(table, [[0, 0, 1], [0, 1, 1]])
    assert_array_equal(sizes, [2, 2])
    assert_array_equal(which, [0, 0, 1])


def test_gaps_are_filled_from_neighbours():
    # a path; the right end is cut off from all labels
    indices = np.array([[1, 2], [0, 2], [1, 3], [2, 4], [5, 3], [4, 6], [7, 7], [6, 6]], dtype=np.int32)
    labels = np.array([2, 2, -1, -1, 1, -1, -1, -1], dtype=np.int32)
    assert_array_equal(fill(labels, indices, 2), [2, 2, 2, 1, 1, 1, 1, 1])  # a tie goes to the lowest
    assert_array_equal(fill(labels, indices, 1), [2, 2, 2, 2, 1, 1, 2, 2])
