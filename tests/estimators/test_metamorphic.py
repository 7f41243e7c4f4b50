"""Changes of the data that must not change the clusters: order of rows and columns, signs, factors, rotations."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import ortho_group
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import StandardScaler

from modeseek import BlurringMeanShift, DoublyStochasticMeanShift, MeanShift, ModeSeek, StochasticMeanShift
from modeseek.sketches import SketchConfig
from pipelines import with_sketch

BLOBS = make_blobs(120, n_features=3, centers=4, cluster_std=1.3, random_state=3)[0]
DATA = {
    "blobs": BLOBS,
    "decimals": np.round(BLOBS, 1),
    "integers": np.random.default_rng(5).integers(0, 4, size=(100, 3)) * 1.0,
}
# bandwidths for blobs, as multiples of a factor on the data
ESTIMATORS = {
    "ModeSeek": lambda factor: ModeSeek(random_state=0),
    "DSMS": lambda factor: DoublyStochasticMeanShift(0.8 * factor, 4 * factor, random_state=0),
    "SMS": lambda factor: StochasticMeanShift(2.5 * factor, random_state=0),
    "BMS": lambda factor: BlurringMeanShift(2.5 * factor),
    "MS": lambda factor: MeanShift(2.5 * factor),
    "MS, seeds in bins": lambda factor: MeanShift(2.5 * factor, bin_seeding=True),
    "DSMS, automatic": lambda factor: DoublyStochasticMeanShift(random_state=0),
    "BMS, cosine": lambda factor: BlurringMeanShift(0.7, metric="cosine"),
    "MS, cosine": lambda factor: MeanShift(0.7, metric="cosine"),
    "SMS, cosine": lambda factor: StochasticMeanShift(0.7, metric="cosine", random_state=0),
    "DSMS, cosine": lambda factor: DoublyStochasticMeanShift(0.2, 1.0, metric="cosine", random_state=0),
    "ModeSeek, cosine": lambda factor: ModeSeek(metric="cosine", random_state=0),
}
# bandwidths in meters
ON_EARTH = {
    "ModeSeek": lambda: ModeSeek(metric="haversine", random_state=0),
    "MS": lambda: MeanShift(4e5, metric="haversine"),
    "BMS": lambda: BlurringMeanShift(4e5, metric="haversine"),
    "SMS": lambda: StochasticMeanShift(4e5, metric="haversine", random_state=0),
    "DSMS": lambda: DoublyStochasticMeanShift(2e5, 8e5, metric="haversine", random_state=0),
    "DSMS, automatic": lambda: DoublyStochasticMeanShift(metric="haversine", random_state=0),
}


def variants(X):
    rng = np.random.default_rng(1)
    rows, columns = rng.permutation(len(X)), rng.permutation(X.shape[1])
    yield X[:, ::-1], slice(None), slice(None, None, -1), 1.0
    yield (X * [-1, 1, -1])[rows][:, columns], rows, columns, np.array([-1, 1, -1])


@pytest.mark.parametrize("data", DATA)
@pytest.mark.parametrize("name", ESTIMATORS)
def test_order_and_signs_change_no_bit(name, data):
    """Airports by latitude and longitude had 7 clusters, and by longitude and latitude 6."""
    X = DATA[data] + (0.25 if "cosine" in name else 0.0)  # no row of zeros
    here = ESTIMATORS[name](1.0).fit(X)
    for other, rows, columns, signs in variants(X):
        there = ESTIMATORS[name](1.0).fit(other)
        assert_array_equal(there.labels_, here.labels_[rows])
        assert_array_equal(there.cluster_centers_, (here.cluster_centers_ * signs)[:, columns])


@pytest.mark.parametrize("factor", [2.0**30, 0.1])
@pytest.mark.parametrize("name", ESTIMATORS)
def test_a_common_factor_changes_no_label(name, factor):
    here, there = ESTIMATORS[name](1.0).fit(BLOBS), ESTIMATORS[name](factor).fit(BLOBS * factor)
    assert_array_equal(there.labels_, here.labels_)
    centers = here.cluster_centers_ if "cosine" in name else here.cluster_centers_ * factor
    assert_allclose(there.cluster_centers_, centers, rtol=1e-6)


@pytest.mark.parametrize("name", ["ModeSeek", "DSMS", "SMS", "BMS", "MS"])
def test_units_of_columns_do_not_matter_after_standardization(name):
    units = np.array([1e-3, 0.3, 7e5])
    here, there = (StandardScaler().fit_transform(X) for X in (BLOBS, BLOBS * units + [5.0, -3.0, 1e4]))
    assert_array_equal(ESTIMATORS[name](0.2).fit(there).labels_, ESTIMATORS[name](0.2).fit(here).labels_)


@pytest.mark.parametrize("name", ["ModeSeek", "MS", "DSMS, automatic"])
def test_rotations_change_no_cluster(name):
    rotation = ortho_group.rvs(3, random_state=0)
    here, there = ESTIMATORS[name](1.0).fit(BLOBS), ESTIMATORS[name](1.0).fit(BLOBS @ rotation)
    # clusters of equal weight may be numbered differently
    assert adjusted_rand_score(there.labels_, here.labels_) == 1.0


def test_a_duplicated_column_counts_twice():
    """Distances are those of data whose column is multiplied by sqrt(2)."""
    doubled = MeanShift(2.5).fit(BLOBS[:, [0, 1, 2, 2]])
    assert_array_equal(doubled.labels_, MeanShift(2.5).fit(BLOBS * [1, 1, np.sqrt(2)]).labels_)


@pytest.mark.parametrize("sketch", ["grid", "sample"])
def test_sketches_ignore_order_and_signs_of_columns(sketch):
    def fit(rows):
        model = StochasticMeanShift(2.5, sketch=sketch, resolution=0.3, random_state=0)
        return with_sketch(model, SketchConfig(sample_rows=60)).fit(rows)

    here = fit(BLOBS)
    assert len(here.sketch_.points) < len(BLOBS)
    assert_array_equal(fit(BLOBS[:, ::-1] * [1, -1, -1]).labels_, here.labels_)


def places():
    """Return latitudes and longitudes of four clear groups, one of them across the date line and one near a pole."""
    rng = np.random.default_rng(2)
    centers = np.array([[50.0, 10.0], [10.0, 179.5], [-35.0, -60.0], [84.0, 30.0]])
    X = np.repeat(centers, 25, axis=0) + rng.normal(0, 1.0, (100, 2))
    X[:, 1] = wrapped(X[:, 1])
    return X


def wrapped(longitudes):
    return (longitudes + 180.0) % 360.0 - 180.0


@pytest.mark.parametrize("name", ON_EARTH)
def test_order_of_places_changes_no_bit(name):
    X, rows = places(), np.random.default_rng(1).permutation(100)
    here, there = ON_EARTH[name]().fit(X), ON_EARTH[name]().fit(X[rows])
    assert_array_equal(there.labels_, here.labels_[rows])
    assert_array_equal(there.cluster_centers_, here.cluster_centers_)
    assert_array_equal(there.predict(X), here.labels_)


@pytest.mark.parametrize("change", ["turned by 170 degrees", "mirrored north and south", "mirrored east and west"])
@pytest.mark.parametrize("name", ON_EARTH)
def test_places_on_a_turned_or_mirrored_earth(name, change):
    """The sphere has no first meridian and no upper end."""
    X = places()
    other = X.copy()
    if change.startswith("turned"):
        other[:, 1] = wrapped(other[:, 1] + 170)
    else:
        other[:, int(change.endswith("west"))] *= -1
    here, there = ON_EARTH[name]().fit(X), ON_EARTH[name]().fit(other)
    # clusters of equal weight may be numbered differently
    assert adjusted_rand_score(there.labels_, here.labels_) == 1.0


@pytest.mark.parametrize("name", ["ModeSeek, cosine", "MS, cosine", "BMS, cosine", "SMS, cosine", "DSMS, cosine"])
def test_lengths_of_rows_do_not_matter_to_cosine(name):
    """Powers of 2 change no digit of a direction."""
    factors = 2.0 ** np.random.default_rng(4).integers(-40, 40, (len(BLOBS), 1))
    here, there = ESTIMATORS[name](1.0).fit(BLOBS), ESTIMATORS[name](1.0).fit(BLOBS * factors)
    assert_array_equal(there.labels_, here.labels_)
