from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal

from modeseek._common.points import canonical_points
from modeseek._common.sphere import unit_rows
from modeseek._common.types import Geometry
from modeseek._common.unique_rows import hash_rows, sorted_unique_rows, unique_rows
from modeseek._common.validation import check_tau, seed_of

ROWS = arrays(
    np.float64,
    st.tuples(st.integers(1, 30), st.integers(1, 4)),
    elements=st.sampled_from([-1.0, -0.0, 0.0, 0.5, 2.0, 1e9]),
)


@given(ROWS)
def test_distinct_rows_are_those_of_numpy(rows):
    values, inverse = np.unique(rows, axis=0, return_inverse=True)
    first, code = sorted_unique_rows(rows)
    assert_array_equal(rows[first], values)
    assert_array_equal(code, inverse.reshape(-1))


@given(ROWS)
def test_same_rows_are_the_distinct_rows_in_any_order(rows):
    expected, code = sorted_unique_rows(rows)
    first, number = unique_rows(rows)
    assert_array_equal(np.sort(first), np.sort(expected))
    assert_array_equal(first[number], expected[code])


def test_rows_with_equal_hashes_are_distinguished():
    rows = np.array([[1.0, 2.0], [3.0, 2.0], [1.0, 2.0]])
    # the second column of the second row cancels the difference of the hashes of the first columns
    one, other, _ = hash_rows(rows[:, :1])
    rows.view(np.uint64)[1, 1] ^= one ^ other
    assert len(set(hash_rows(rows).tolist())) == 1
    assert np.isfinite(rows).all()
    first, number = unique_rows(rows)
    assert_array_equal(first[number], [0, 1, 0])


@given(ROWS, st.integers(0, 10**6))
def test_canonical_form_ignores_order_and_repetition(rows, seed):
    rng = np.random.default_rng(seed)
    weights = rng.integers(1, 4, len(rows))
    order = rng.permutation(weights.sum())
    weighted = canonical_points(rows, weights.astype(float), Geometry())
    copied = canonical_points(np.repeat(rows, weights, axis=0)[order], np.ones(weights.sum()), Geometry())
    assert_array_equal(weighted.values, copied.values)
    assert_array_equal(weighted.weights, copied.weights)
    assert_array_equal(weighted.offset, copied.offset)
    assert_array_equal(weighted.values[weighted.inverse], weighted.to_canonical(rows))
    assert_allclose(weighted.to_data(weighted.values)[weighted.inverse], rows, atol=1e-6)


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
@given(st.sampled_from(["plain", "integers", "binary", "codes", "mirrored", "decimals"]), st.integers(0, 10**6))
def test_canonical_form_ignores_order_and_signs_of_columns(metric, kind, seed):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(rng.integers(2, 40), rng.integers(1, 4)))
    n, d = rows.shape
    rows = {
        "plain": rows,
        "integers": rng.integers(1, 4, (n, d)) * 1.0,
        "binary": rng.integers(0, 2, (n, d)) + 0.1,
        "codes": np.eye(d)[rng.integers(0, d, n)],
        "mirrored": np.concatenate([rows, -rows]),
        "decimals": np.round(rows, 1) + 0.01,
    }[kind]
    changed = rows[rng.permutation(len(rows))][:, rng.permutation(d)] * rng.choice([-1, 1], d)
    one, two = (canonical_points(each, np.ones(len(each)), Geometry(metric)) for each in (rows, changed))
    assert_array_equal(one.values, two.values)
    assert_array_equal(one.weights, two.weights)
    assert_allclose(two.to_data(two.values)[two.inverse], changed if metric == "euclidean" else unit_rows(changed))


@pytest.mark.parametrize("scale", [1e200, 1e-200])
def test_data_of_extreme_extent_are_refused(scale):
    with pytest.raises(ValueError, match=r"X extends .*: divide X by"):
        canonical_points(np.array([[1.0], [3.0]]) * scale, np.ones(2), Geometry())


def test_huge_coordinates_do_not_overflow():
    points = canonical_points(np.full((2, 1), 1.7e308), np.ones(2), Geometry())
    assert_array_equal(points.values, [[0.0]])
    unit = canonical_points(np.array([[1e300, 1e300], [1e-300, 0.0]]), np.ones(2), Geometry("cosine"))
    assert_allclose(np.linalg.norm(unit.values, axis=1), 1.0)


def test_rows_of_weight_zero_are_marked():
    points = canonical_points(np.array([[1.0], [9.0], [2.0]]), np.array([1.0, 0.0, 2.0]), Geometry())
    assert_array_equal(points.inverse, [0, -1, 1])
    assert_array_equal(points.offset, [1.5])


def test_seeds():
    assert seed_of(7) == 7
    assert seed_of(np.int64(7)) == 7
    assert seed_of(2**64 - 1) == 2**64 - 1
    with pytest.raises(ValueError, match="random_state"):
        seed_of(2**64)
    assert 0 <= seed_of(None) < 2**64


def test_tau():
    assert check_tau(None, 1.0) == 0.25
    with pytest.raises(ValueError, match="h_min / 2"):
        check_tau(0.5, 1.0)
