"""The random mixtures: sizes, centres, reproducibility."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from modeseek.datasets import imbalanced_mixture, many_clusters, paper_mixture

MAKERS = [
    lambda **options: paper_mixture(30, **options),
    lambda **options: imbalanced_mixture(4, 30, **options),
    lambda **options: many_clusters(5, 30, **options),
]


@pytest.mark.parametrize(("spread", "std"), [("std", 0.65), ("variance", 0.65**0.5)])
def test_the_paper_s_means_and_spread(spread, std):
    X, y = paper_mixture(20_000, spread=spread, random_state=0)
    for label, centre in enumerate([(1, 1), (-1, -1), (1, -1)]):
        own = X[y == label]
        # 5 standard errors of a mean of 20,000: 5 * 0.81 / 141 < 0.03
        assert_allclose(own.mean(axis=0), centre, atol=0.03)
        assert_allclose(np.cov(own.T), std**2 * np.eye(2), atol=0.03)


@pytest.mark.parametrize("make", MAKERS)
def test_shapes_and_types(make):
    X, y = make(random_state=1)
    assert X.dtype == np.float64
    assert np.issubdtype(y.dtype, np.integer)
    assert X.shape == (len(y), 2)
    assert np.isfinite(X).all()


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("state", [lambda: 7, lambda: np.random.default_rng(7), lambda: np.random.RandomState(7)])
def test_reproducible(make, state):
    assert_array_equal(make(random_state=state())[0], make(random_state=state())[0])


@pytest.mark.parametrize("make", MAKERS)
def test_different_seeds_and_none_give_different_points(make):
    assert (make(random_state=0)[0] != make(random_state=1)[0]).all()
    assert (make()[0] != make()[0]).all()


@pytest.mark.parametrize("make", MAKERS)
def test_the_spread_scales_the_same_draw(make):
    narrow, y = make(spread="std", random_state=3)
    wide, _ = make(spread="variance", random_state=3)
    # solves narrow = c + 0.65 z, wide = c + sqrt(0.65) z for c
    centres = narrow - (wide - narrow) / (0.65**-0.5 - 1)
    for label in np.unique(y):
        assert_allclose(centres[y == label], centres[y == label][:1].repeat((y == label).sum(), 0), atol=1e-9)


def test_ratio_one_is_the_paper_s_mixture():
    assert_array_equal(imbalanced_mixture(1, 40, random_state=2)[0], paper_mixture(40, random_state=2)[0])


def test_ratio_by_hand():
    # 16 : 4 : 1 of 210 points
    assert_array_equal(np.bincount(imbalanced_mixture(16, 70, random_state=0)[1]), [160, 40, 10])
    # 4 : 2 : 1 of 150: 85.71, 42.86, 21.43; floors leave 2 points, to the largest remainders 0.86 and 0.71
    assert_array_equal(np.bincount(imbalanced_mixture(4, 50, random_state=0)[1]), [86, 43, 21])


def test_one_small_component_by_hand():
    # 4 : 4 : 1 of 90 points
    _, y = imbalanced_mixture(4, 30, sizes="one small", random_state=0)
    assert_array_equal(np.bincount(y), [40, 40, 10])
    with pytest.raises(ValueError, match="sizes must be"):
        imbalanced_mixture(4, 30, sizes="small", random_state=0)


@given(st.floats(1, 50), st.integers(60, 400))
def test_sizes_have_the_right_sum_and_order(ratio, n):
    sizes = np.bincount(imbalanced_mixture(ratio, n, random_state=0)[1])
    assert sizes.sum() == 3 * n
    assert sizes[0] >= sizes[1] >= sizes[2] >= 1
    exact = 3 * n * np.array([ratio, ratio**0.5, 1]) / (ratio + ratio**0.5 + 1)
    assert np.abs(sizes - exact).max() < 1


@given(st.integers(1, 60), st.floats(0.1, 10))
def test_nearest_centre_is_one_spacing_away(n_clusters, spacing):
    # with the same draw at two spacings, twice the difference of the points is the centre at spacing 2
    at_one, y = many_clusters(n_clusters, 1, spacing=spacing, random_state=0)
    at_two, _ = many_clusters(n_clusters, 1, spacing=2 * spacing, random_state=0)
    centres = at_two - at_one
    assert_array_equal(y, np.arange(n_clusters))
    if n_clusters > 1:
        distances = np.linalg.norm(centres[:, None] - centres[None], axis=2)
        np.fill_diagonal(distances, np.inf)
        assert_allclose(distances.min(axis=1), spacing, rtol=1e-6)


def test_four_clusters_are_the_corners_of_the_paper_s_square():
    X, y = many_clusters(4, 4000, random_state=0)
    means = np.array([X[y == label].mean(axis=0) for label in range(4)])
    assert_allclose(means, [(-1, -1), (1, -1), (-1, 1), (1, 1)], atol=0.06)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: paper_mixture(0), ValueError, "n_per_cluster must be a whole number >= 1; got 0"),
        (lambda: paper_mixture(2.5), TypeError, "n_per_cluster must be a whole number"),
        (lambda: paper_mixture(spread="variants"), ValueError, "spread must be.*Did you mean 'variance'"),
        (lambda: paper_mixture(random_state=-1), ValueError, "random_state"),
        (lambda: imbalanced_mixture(0.5), ValueError, "ratio must be a finite number >= 1; got 0.5"),
        (lambda: imbalanced_mixture(float("inf")), ValueError, "ratio must be a finite number"),
        (lambda: imbalanced_mixture(1e6, 10), ValueError, "ratio=1e.06 leaves no point.*n_per_cluster"),
        (lambda: many_clusters(0), ValueError, "n_clusters must be a whole number >= 1"),
        (lambda: many_clusters(3, spacing=0), ValueError, "spacing must be a finite number > 0"),
    ],
)
def test_errors_name_argument_and_remedy(call, error, message):
    with pytest.raises(error, match=message):
        call()
