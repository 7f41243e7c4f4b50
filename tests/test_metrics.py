"""Scores against tables computed by hand, and against plain loops."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import adjusted_rand_score

from modeseek.metrics import acp, alp, k_score, rand_agreement

# Table 1. Rows: clusters; columns: labels a, b, c; entries n_qr.
#
#            a   b   c | n_q | sum_r (n_qr/n_q)^2
#   q0       4   1   0 |  5  | (16 + 1)/25     = 17/25
#   q1       0   3   1 |  4  | (9 + 1)/16      = 5/8
#   q2       0   0   1 |  1  | 1
#   n_r      4   4   2 | 10
#   sum_q (n_qr/n_r)^2:  a: 1,  b: (1 + 9)/16 = 5/8,  c: (1 + 1)/4 = 1/2
#
#   ACP = (17/25 + 5/8 + 1)/3          weighted: (5*17/25 + 4*5/8 + 1*1)/10 = (3.4 + 2.5 + 1)/10 = 0.69
#   ALP = (1 + 5/8 + 1/2)/3 = 17/24    weighted: (4*1 + 4*5/8 + 2*1/2)/10 = (4 + 2.5 + 1)/10 = 0.75
TRUTH = ["a"] * 4 + ["b"] + ["b"] * 3 + ["c"] + ["c"]
FOUND = [0] * 5 + [1] * 4 + [2]
ACP, ALP = (17 / 25 + 5 / 8 + 1) / 3, 17 / 24
ACP_WEIGHTED, ALP_WEIGHTED = 0.69, 0.75


def test_table_1():
    assert acp(TRUTH, FOUND) == pytest.approx(ACP, rel=1e-14)
    assert alp(TRUTH, FOUND) == pytest.approx(ALP, rel=1e-14)
    assert k_score(TRUTH, FOUND) == pytest.approx((ACP * ALP) ** 0.5, rel=1e-14)


def test_table_1_weighted():
    assert acp(TRUTH, FOUND, weighted=True) == pytest.approx(ACP_WEIGHTED, rel=1e-14)
    assert alp(TRUTH, FOUND, weighted=True) == pytest.approx(ALP_WEIGHTED, rel=1e-14)
    assert k_score(TRUTH, FOUND, weighted=True) == pytest.approx((0.69 * 0.75) ** 0.5, rel=1e-14)


def test_clusters_of_one_row_increase_the_unweighted_purity():
    # Table 2: one cluster of 6 that mixes two labels in halves, and two singletons.
    #            a   b | n_q | purity
    #   q0       3   3 |  6  | 1/2
    #   q1       1   0 |  1  | 1
    #   q2       0   1 |  1  | 1
    #   ACP = (1/2 + 1 + 1)/3 = 5/6, weighted: (6/2 + 1 + 1)/8 = 5/8
    #   ALP = (9 + 1)/16 for both labels = 5/8, weighted the same
    truth, found = [0, 0, 0, 1, 1, 1, 0, 1], [0, 0, 0, 0, 0, 0, 1, 2]
    assert acp(truth, found) == pytest.approx(5 / 6)
    assert acp(truth, found, weighted=True) == pytest.approx(5 / 8)
    assert alp(truth, found) == alp(truth, found, weighted=True) == pytest.approx(5 / 8)


def test_noise_points_are_singletons():
    # the two -1 are the two singletons of Table 2
    truth = [0, 0, 0, 1, 1, 1, 0, 1]
    for score in (acp, alp, k_score):
        for weighted in (False, True):
            noisy = score(truth, [0, 0, 0, 0, 0, 0, -1, -1], weighted=weighted)
            assert noisy == score(truth, [0, 0, 0, 0, 0, 0, 1, 2], weighted=weighted)


def test_only_noise():
    # four singletons: every cluster is pure; each label of 2 lies in 2 clusters: (1/4 + 1/4) = 1/2
    assert acp([0, 0, 1, 1], [-1] * 4) == 1.0
    assert alp([0, 0, 1, 1], [-1] * 4) == 0.5


def test_rows_without_a_true_label_are_left_out():
    truth, found = [0, 0, -1, 1, 1, -1], [0, 0, 0, 1, 2, 9]
    for score in (acp, alp, k_score):
        assert score(truth, found) == score([0, 0, 1, 1], [0, 0, 1, 2])


def test_rows_without_a_true_label_among_strings():
    # numpy turns the -1 of such a list into "-1"
    assert k_score(["a", -1, "b"], [0, 0, 1]) == 1.0
    assert k_score(np.array(["a", -1, "b"], dtype=object), [0, 0, 1]) == 1.0


@pytest.mark.parametrize("kind", [list, np.array, lambda v: np.array(v, dtype=object), tuple])
def test_kinds_of_input(kind):
    assert acp(kind(TRUTH), kind(FOUND)) == pytest.approx(ACP)


def test_pandas_and_polars():
    pd = pytest.importorskip("pandas")
    pl = pytest.importorskip("polars")
    assert acp(pd.Series(TRUTH), pd.Series(FOUND)) == pytest.approx(ACP)
    assert acp(pd.Series(TRUTH, dtype="category"), pd.Series(FOUND)) == pytest.approx(ACP)
    assert acp(pl.Series(TRUTH), pl.Series(FOUND)) == pytest.approx(ACP)


def test_one_row():
    assert k_score([5], [5]) == k_score([5], [-1]) == 1.0


def naive(truth, found, weighted):
    """Return ACP and ALP by their definitions."""
    pairs = [(t, ("noise", i) if q == -1 else q) for i, (t, q) in enumerate(zip(truth, found, strict=True))]
    pairs = [pair for pair in pairs if pair[0] != -1]

    def average(own, other):
        total = 0.0
        groups = {pair[own] for pair in pairs}
        for group in groups:
            members = [pair[other] for pair in pairs if pair[own] == group]
            purity = sum((members.count(m) / len(members)) ** 2 for m in set(members))
            total += purity * (len(members) / len(pairs) if weighted else 1 / len(groups))
        return total

    return average(1, 0), average(0, 1)


labelled_rows = st.lists(st.tuples(st.integers(-1, 4), st.integers(-1, 5)), min_size=1, max_size=40).filter(
    lambda rows: any(truth != -1 for truth, _ in rows)
)


@given(labelled_rows, st.booleans())
def test_same_as_the_loops(rows, weighted):
    truth, found = zip(*rows, strict=True)
    purity, wholeness = naive(truth, found, weighted)
    assert acp(truth, found, weighted=weighted) == pytest.approx(purity, rel=1e-12)
    assert alp(truth, found, weighted=weighted) == pytest.approx(wholeness, rel=1e-12)
    score = k_score(truth, found, weighted=weighted)
    assert score == pytest.approx((purity * wholeness) ** 0.5, rel=1e-12)
    assert 0 < score <= 1 + 1e-12


@given(labelled_rows, st.permutations(range(6)), st.permutations(range(5)), st.randoms(use_true_random=False))
def test_names_and_order_of_rows_do_not_matter(rows, cluster_names, label_names, random):
    shuffled = random.sample(rows, len(rows))
    truth = [label_names[t] if t >= 0 else -1 for t, _ in shuffled]
    found = [10 * cluster_names[q] if q >= 0 else -1 for _, q in shuffled]
    before = zip(*rows, strict=True)
    assert k_score(truth, found) == pytest.approx(k_score(*before), rel=1e-12)


@given(st.lists(st.integers(0, 5), min_size=1, max_size=30))
def test_equal_partitions_score_one(truth):
    assert k_score(truth, [f"cluster {t}" for t in truth]) == pytest.approx(1.0, abs=1e-12)


def test_alp_is_acp_with_swapped_arguments():
    assert acp(TRUTH, FOUND) == alp(FOUND, TRUTH)


def test_a_million_rows():
    rng = np.random.default_rng(0)
    truth, found = rng.integers(0, 100, 1_000_000), rng.integers(-1, 100_000, 1_000_000)
    assert 0 < k_score(truth, found) < 1


@pytest.mark.parametrize(
    ("truth", "found", "message"),
    [
        ([0, 1], [0], "y_true and labels must have the same length; got 2 and 1"),
        ([], [], "y_true is empty"),
        ([0], [], "labels is empty"),
        ([[0], [1]], [0, 1], r"y_true must be one-dimensional.*\(2, 1\)"),
        ([0, 1], [[0, 1]], "labels must be one-dimensional"),
        ([-1, -1], [0, 1], "y_true is -1 for every row"),
        ([0.0, np.nan], [0, 1], "y_true is nan in row 1: use -1 for rows without a label"),
        (["a", None], [0, 1], "y_true is None in row 1"),
        ([0, 1], [0, 1j], "labels must contain integers or strings"),
    ],
)
def test_bad_input_names_the_argument(truth, found, message):
    for score in (acp, alp, k_score):
        with pytest.raises(ValueError, match=message):
            score(truth, found)


@given(st.integers(0, 1000))
def test_rand_agreement_is_scikit_learn_s_adjusted_rand_score(seed):
    rng = np.random.default_rng(seed)
    first, second = (np.unique(rng.integers(0, 5, 30), return_inverse=True)[1] for _ in range(2))
    assert rand_agreement(first, second) == pytest.approx(adjusted_rand_score(first, second))
