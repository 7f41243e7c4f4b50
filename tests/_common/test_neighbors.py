"""Nearest neighbours are exact, even if distances are tiny relative to the coordinates."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist

from inputs import states
from modeseek import BlurringMeanShift, DoublyStochasticMeanShift, MeanShift, ModeSeek, StochasticMeanShift
from modeseek._common.distances import kth_distance, kth_distances, pairs_within
from modeseek._common.neighbors import Neighbors, intrinsic_dimension, nearest, nearest_neighbors
from modeseek._common.product_neighbors import nearest_by_products

DIMENSIONS = [2, 13, 40]  # by trees, and by products of rows


def cone(rng, n, d):
    """Nearly equal directions, as of data far from the origin."""
    rows = rng.normal(size=(n, d)) + 1e9
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def clumps(rng, n, d):
    """Clumps narrower than the rounding error of products, and one distant point."""
    rows = rng.normal(size=(4, d))[rng.integers(0, 4, n)] + 1e-10 * rng.normal(size=(n, d))
    rows[0] = 1e5
    return rows


def plain(rng, n, d):
    return rng.normal(size=(n, d))


KINDS = {"plain": plain, "cone": cone, "clumps": clumps}


@pytest.fixture(params=DIMENSIONS)
def d(request):
    return request.param


@pytest.fixture(params=KINDS)
def points(request, d, rng):
    return KINDS[request.param](rng, 120, d)


def test_kth_distances(points):
    ks = [3, 1, 40, 2, 119]
    expected = np.sort(cdist(points, points), axis=1)[:, np.array(ks) - 1]
    assert_allclose(kth_distances(points, ks, points), expected, rtol=1e-9, atol=0)
    for k in ks:
        assert_allclose(kth_distance(points, k), np.sort(cdist(points, points), axis=1)[:, k - 1], rtol=1e-9, atol=0)


def test_nearest(points, rng):
    queries = points[rng.integers(0, len(points), 50)] + 1e-13 * rng.normal(size=(50, points.shape[1]))
    distances = cdist(queries, points)
    assert_array_equal(distances[np.arange(50), nearest(points, queries)], distances.min(axis=1))


@pytest.mark.parametrize("n", [5, 120])
def test_nearest_with_huge_coordinates(d, n, rng):
    """Model files may hold such numbers, although no fit accepts them."""
    points, queries = rng.normal(size=(n, d)), rng.normal(size=(30, d))
    expected = nearest(points, queries)
    assert_array_equal(nearest(points * 2.0**1000, queries * 2.0**1000), expected)
    assert_array_equal(nearest(points * 2.0**600, queries * 2.0**600), expected)


@pytest.mark.parametrize("k", [1, 5])
def test_nearest_neighbours(points, k):
    found, distances = nearest_neighbors(points, k), cdist(points, points)
    np.fill_diagonal(distances, np.inf)
    assert_allclose(found.distances, np.sort(distances, axis=1)[:, :k], rtol=1e-9, atol=0)
    assert_allclose(found.distances, np.take_along_axis(distances, found.indices, axis=1), rtol=1e-9, atol=0)
    assert (found.indices != np.arange(len(points))[:, None]).all()


def test_pairs_within(points):
    distances = cdist(points, points)[np.triu_indices(len(points), 1)]
    radius = float(np.median(distances)) * (1 + 1e-9)
    pairs, found = pairs_within(points, radius)
    assert_allclose(np.sort(found), np.sort(distances[distances <= radius]), rtol=1e-9)
    assert len(np.unique(pairs, axis=0)) == len(pairs)


@given(
    kind=st.sampled_from(list(KINDS)),
    d=st.sampled_from(DIMENSIONS),
    n=st.integers(2, 60),
    seed=st.integers(0, 2**32 - 1),
    power=st.integers(-100, 100),
)
def test_distances_increase_with_k(kind, d, n, seed, power):
    """With few ranks, rounding could make a later neighbour nearer than an earlier one."""
    points = KINDS[kind](np.random.default_rng(seed), n, d) * 2.0**power
    found = kth_distances(points, range(1, n + 1), points)
    assert (np.diff(found, axis=1) >= 0).all()


@pytest.mark.parametrize(
    "model",
    [
        MeanShift(metric="cosine"),
        BlurringMeanShift(metric="cosine"),
        StochasticMeanShift(metric="cosine", random_state=0),
        DoublyStochasticMeanShift(metric="cosine", random_state=0),
        ModeSeek(metric="cosine", random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_directions_of_data_far_from_zero(model, rng):
    """Cosine distances of such data are below the rounding error of products, which reversed the automatic range."""
    middles = 6 * np.eye(16)[[0, 4, 8]]
    X = np.concatenate([middle + rng.normal(size=(40, 16)) for middle in middles]) + 1e9
    labels = model.fit(X).labels_.reshape(3, 40)
    assert (labels == labels[:, :1]).mean() > 0.9
    assert len(set(np.median(labels, axis=1))) == 3


@given(states(dimensions=(1, 2, 13, 40), max_n=60), st.integers(1, 5))
def test_nearest_kth_and_pairs_are_those_of_all_pairs(state, k):
    points = state.points
    queries = np.concatenate([points, points + 0.1 * state.h])
    distances = cdist(queries, points)
    index = nearest(points, queries)
    assert_allclose(distances[np.arange(len(queries)), index], distances.min(axis=1), rtol=1e-12, atol=1e-13 * state.h)
    assert_array_equal(index[: len(points)], np.arange(len(points)))
    k = min(k, len(points))
    assert_allclose(kth_distance(points, k, queries), np.sort(distances, axis=1)[:, k - 1], atol=1e-7 * state.h)
    pairs, lengths = pairs_within(points, state.h)
    # a pair at just that distance (collinear states have such) is in or out by rounding
    sure, possible = (
        {(i, j) for i, j in np.argwhere(cdist(points, points) <= state.h * (1 + slack)) if i < j}
        for slack in (-1e-12, 1e-12)
    )
    assert sure <= {tuple(pair) for pair in pairs} <= possible
    assert (lengths <= state.h).all()


@given(states(dimensions=(1, 2, 13, 40), max_n=60), st.integers(1, 8))
def test_nearest_neighbours_are_those_of_all_pairs(state, k):
    points = np.unique(state.points.astype(np.float64), axis=0)
    if len(points) == 1:
        return
    k = min(k, len(points) - 1)
    found = nearest_neighbors(points, k)
    distances = cdist(points, points)
    np.fill_diagonal(distances, np.inf)
    assert found.indices.shape == found.distances.shape == (len(points), k)
    assert (found.indices != np.arange(len(points))[:, None]).all()
    assert all(len(set(row)) == k for row in found.indices.tolist())
    expected = np.sort(distances, axis=1)[:, :k]
    assert_allclose(found.distances, expected, rtol=1e-9, atol=1e-7 * state.h)
    assert_allclose(
        np.take_along_axis(distances, found.indices, axis=1), found.distances, rtol=1e-9, atol=1e-12 * state.h
    )


@pytest.mark.parametrize("d", [1, 2, 5, 14])
def test_intrinsic_dimension_of_a_flat_patch(d, rng):
    # a patch of d dimensions, turned into 20
    turn = np.linalg.qr(rng.normal(size=(20, 20)))[0][:d]
    points = rng.normal(size=(3000, d)) @ turn
    assert intrinsic_dimension(nearest_neighbors(points, 2)) == pytest.approx(d, rel=0.2)


def test_intrinsic_dimension_of_too_few_or_coincident_points():
    assert intrinsic_dimension(nearest_neighbors(np.array([[0.0], [1.0], [2.5]]), 2)) > 0
    assert intrinsic_dimension(Neighbors(np.zeros((5, 2), dtype=int), np.zeros((5, 2)))) == 1.0


@pytest.mark.parametrize("n", [10, 400])
def test_far_neighbours_by_blocks(n, rng):
    points = rng.normal(size=(n, 2))
    k = max(1, int(0.3 * n))
    assert_allclose(kth_distance(points, k), np.sort(cdist(points, points), axis=1)[:, k - 1], atol=1e-12)


@pytest.mark.parametrize("n_jobs", [1, 3])
@pytest.mark.parametrize(("n", "m", "k"), [(1, 1, 1), (40, 7, 40), (700, 130, 30), (2500, 90, 9)])
def test_neighbours_by_products_are_the_first_of_equally_near_ones(n, m, k, n_jobs, rng):
    points, queries = rng.integers(0, 3, (n, 14)) * 1.0, rng.integers(0, 3, (m, 14)) * 1.0
    squares = cdist(queries, points, "sqeuclidean")
    wanted = np.argsort(squares, axis=1, kind="stable")[:, :k]
    assert_array_equal(np.sort(nearest_by_products(points, queries, k, n_jobs), axis=1), np.sort(wanted, axis=1))


@pytest.mark.parametrize("order", ["ascending", "descending", "random"])
def test_neighbours_by_products_in_any_order_of_distance(order, rng):
    points = rng.normal(size=(3000, 13))
    length = np.argsort(np.linalg.norm(points, axis=1))
    points = {"ascending": points[length], "descending": points[length[::-1]], "random": points}[order]
    queries = 0.1 * points[:100]
    wanted = np.argsort(cdist(queries, points), axis=1)[:, :20]
    assert_array_equal(np.sort(nearest_by_products(points, queries, 20, 1), axis=1), np.sort(wanted, axis=1))
