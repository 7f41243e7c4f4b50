from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_digits, make_blobs, make_moons
from sklearn.metrics import adjusted_rand_score

from modeseek import DoublyStochasticMeanShift, ModeSeek
from modeseek._common.points import canonical_points
from modeseek._common.rounding import rounding_steps, spread_rounded
from modeseek._common.types import Geometry
from modeseek.meanshift.consensus import counterparts

NORMAL = np.random.default_rng(0).normal(size=(1000, 2))


def in_levels(X, levels):
    """Round each column to a number of levels."""
    low, step = X.min(axis=0), np.ptp(X, axis=0) / (levels - 1)
    return low + np.round((X - low) / step) * step


def spread(X):
    return spread_rounded(canonical_points(X, np.ones(len(X)), Geometry()))


def steps(column):
    values, counts = np.unique(column, return_counts=True)
    return rounding_steps(values[:, None], counts * 1.0)[:, 0]


@pytest.mark.parametrize("step", [0.1, 0.25, 1.0, 50.0])
@pytest.mark.parametrize("factor", [1.0, 1 / 3])
def test_the_step_of_a_rounded_column(step, factor):
    column = np.round(NORMAL[:, 0] * 10) * step
    assert_allclose(steps((column - 17.3) * factor), step * factor, rtol=1e-9)


def test_several_steps_in_one_column():
    rng = np.random.default_rng(1)
    column = np.where(rng.random(3000) < 0.9, rng.integers(50, 80, 3000), np.round(50 + 30 * rng.random(3000), 1))
    values, found = np.unique(column), steps(column)
    whole = values == np.round(values)
    assert_allclose(found[whole], 1.0)
    assert_allclose(found[~whole], 0.1)


def test_a_frequent_parity_is_no_coarser_step():
    """The widths of table facets of diamonds: integers, mostly even, and a few tenths. The step was taken for 2."""
    rng = np.random.default_rng(1)
    whole = 2.0 * rng.integers(24, 36, 3000) + (rng.random(3000) < 0.3)
    column = np.where(rng.random(3000) < 0.98, whole, np.round(48 + 24 * rng.random(3000), 1))
    values, found = np.unique(column), steps(column)
    assert_allclose(found[values == np.round(values)], 1.0)
    assert_allclose(found[values != np.round(values)], 0.1)


def test_the_columns_of_the_data_are_named():
    """The points have their own order of columns."""
    X = np.column_stack([NORMAL[:, 1], np.round(30 * NORMAL[:, 0])])
    assert canonical_points(X, np.ones(len(X)), Geometry()).frame.columns.tolist() == [1, 0]
    assert spread(X).columns == (1,)


@pytest.mark.parametrize(
    "X",
    [
        NORMAL,
        np.round(NORMAL, 3),
        np.random.default_rng(0).integers(0, 2, (500, 3)) * 1.0,
        np.random.default_rng(0).poisson(2.0, (500, 2)) * 1.0,
        np.repeat(NORMAL[:20], 30, axis=0),
        load_digits().data,
    ],
    ids=["continuous", "fine steps", "binary", "small counts", "repeated rows", "pixels"],
)
def test_columns_that_are_not_visibly_rounded_are_left_alone(X):
    assert spread(X) is None


def test_copies_stay_within_their_step_and_fill_it():
    X = np.round(NORMAL, 1)
    found = spread(X)
    points = canonical_points(X, np.ones(len(X)), Geometry())
    moved = found.points.values - points.values[found.origin]
    assert np.abs(moved).max() < 0.05
    assert_array_equal(np.bincount(found.origin), points.weights)
    busiest = points.values[found.origin, 0] == np.median(points.values[found.origin, 0])
    assert_allclose(np.sort(moved[busiest, 0]), (np.arange(busiest.sum()) + 0.5) / busiest.sum() * 0.1 - 0.05)
    assert abs(np.corrcoef(moved.T)[0, 1]) < 0.1


def test_labels_of_copies_become_one():
    found = spread(np.round(NORMAL, 1))
    labels = np.zeros(1000, dtype=np.intp)
    labels[found.origin == 5] = 2
    expected = np.zeros(len(found.first), dtype=np.intp)
    expected[5] = 2
    assert_array_equal(counterparts(found.origin, labels, found.points.weights)[found.first], expected)
    assert_allclose(found.mean(np.eye(3)[labels])[:, 2], expected / 2)


def best_agreement(labels, rounded):
    """Return the adjusted Rand index of labels and the best labels that are the same for equal rows."""
    number = np.unique(rounded, axis=0, return_inverse=True)[1].ravel()
    counts = np.zeros((number.max() + 1, labels.max() + 1))
    np.add.at(counts, (number, labels), 1)
    return adjusted_rand_score(labels, counts.argmax(axis=1)[number])


CLUSTERED = {
    "blobs": make_blobs(800, centers=5, cluster_std=0.9, random_state=4)[0],
    "moons": make_moons(800, noise=0.06, random_state=0)[0],
}


@pytest.mark.parametrize("levels", [20, 40])
@pytest.mark.parametrize("name", CLUSTERED)
def test_rounding_keeps_the_clusters(name, levels):
    """A rounded table of diamonds had 78 clusters; with the values moved within their rounding step it had 3."""
    X = CLUSTERED[name]
    rounded = in_levels(X, levels)
    here, there = ModeSeek(random_state=0).fit(X), ModeSeek(random_state=0).fit(rounded)
    assert there.result_.settings.rounded == (0, 1)
    note = "2 of 2 columns are visibly rounded, and their values are treated as intervals of one rounding step"
    assert there.message_.endswith(note)
    assert here.n_clusters_ == there.n_clusters_
    # rows of two clusters may be equal after rounding: 0.97 is possible for the blobs at 20 levels
    assert adjusted_rand_score(here.labels_, there.labels_) >= 0.95 * best_agreement(here.labels_, rounded)
    _, number = np.unique(rounded, axis=0, return_inverse=True)
    assert len(np.unique(np.column_stack([number.ravel(), there.labels_]), axis=0)) == number.max() + 1
    assert_array_equal(there.predict(rounded), there.labels_)
    assert there.memberships_.shape == (800, there.n_clusters_)
    assert there.tree_.clusters(2).shape == (800,)


@pytest.mark.parametrize("levels", [20, 60])
@pytest.mark.parametrize("X", [NORMAL[:600], np.random.default_rng(1).random((600, 2))], ids=["normal", "uniform"])
def test_rounded_data_without_clusters_are_one(X, levels):
    assert ModeSeek(random_state=0).fit(in_levels(X, levels)).n_clusters_ == 1


def test_weights_equal_copies():
    rows, counts = np.unique(in_levels(CLUSTERED["blobs"], 25), axis=0, return_counts=True)
    weighted = ModeSeek(random_state=0).fit(rows, sample_weight=counts)
    copied = ModeSeek(random_state=0).fit(np.repeat(rows, counts, axis=0))
    assert_array_equal(np.repeat(weighted.labels_, counts), copied.labels_)


def test_only_automatic_bandwidths_are_those_of_spread_rows():
    X = in_levels(CLUSTERED["blobs"], 20)
    automatic = DoublyStochasticMeanShift(random_state=0).fit(X)
    assert "rounded" in automatic.result_.message
    given = DoublyStochasticMeanShift(automatic.h_min_, automatic.h_max_, automatic.h_inf_, random_state=0).fit(X)
    assert "rounded" not in given.result_.message
    assert_array_equal(given.labels_, automatic.labels_)
    exact = DoublyStochasticMeanShift(random_state=0).fit(CLUSTERED["blobs"])
    # without the variance of the rounding in the bandwidths: 0.89, and 22 clusters instead of 6
    assert adjusted_rand_score(exact.labels_, automatic.labels_) >= 0.92
