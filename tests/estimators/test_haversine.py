from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import adjusted_rand_score
from sklearn.metrics.pairwise import haversine_distances

from modeseek import BlurringMeanShift, DoublyStochasticMeanShift, MeanShift, ModeSeek, StochasticMeanShift
from modeseek._common.sphere import EARTH_RADIUS, CoordinateError, meters_to_chord, place_on_sphere
from modeseek.io import read_model, save

# Fiji lies on both sides of the 180th meridian
CITIES = np.array([[52.5, 13.4], [48.9, 2.35], [-17.8, 179.9], [89.5, 10.0]])
RNG = np.random.default_rng(0)
# clusters of about 10 km
NOISE = RNG.normal(size=(160, 2)) * 0.1
CITY = np.repeat(np.arange(4), 40)
NOISE[:, 1] /= np.cos(np.radians(CITIES[CITY, 0]))
X = CITIES[CITY] + NOISE
X[:, 1] = (X[:, 1] + 180) % 360 - 180
KM = 1000.0

ESTIMATORS = {
    "ModeSeek": ModeSeek(metric="haversine", random_state=0),
    "DSMS": DoublyStochasticMeanShift(20 * KM, 80 * KM, metric="haversine", random_state=0),
    "SMS": StochasticMeanShift(60 * KM, metric="haversine", random_state=0),
    "BMS": BlurringMeanShift(60 * KM, metric="haversine"),
    "MS": MeanShift(60 * KM, metric="haversine"),
    "MS, seeds": MeanShift(60 * KM, metric="haversine", seeds=CITIES),
}


def distance(a, b):
    return haversine_distances(np.radians(a), np.radians(b)) * EARTH_RADIUS


def test_chords_are_those_of_great_circles():
    vectors = place_on_sphere(X, "haversine")
    chords = np.linalg.norm(vectors[:, None] - vectors[:5], axis=2)
    expected = np.vectorize(meters_to_chord)(distance(X, X[:5]))
    assert_allclose(chords, expected, atol=1e-9)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_cities_across_the_date_line_and_at_the_pole(name):
    model = ESTIMATORS[name].fit(X)
    assert adjusted_rand_score(model.labels_, CITY) == 1.0
    assert model.cluster_centers_.shape == (4, 2)
    nearest = distance(CITIES, model.cluster_centers_).min(axis=1)
    assert nearest.max() < 10 * KM
    assert_array_equal(model.predict(X), model.labels_)
    # a turn of longitude changes nothing
    turned = np.column_stack([X[:, 0], (X[:, 1] + 77.0 + 180) % 360 - 180])
    if name != "MS, seeds":
        assert adjusted_rand_score(ESTIMATORS[name].fit(turned).labels_, CITY) == 1.0


def test_bandwidths_are_in_meters():
    model = DoublyStochasticMeanShift(20 * KM, 80 * KM, metric="haversine", record="all", random_state=0).fit(X)
    assert_allclose([model.h_min_, model.h_max_], [20 * KM, 80 * KM])
    assert (model.trace_.h.values <= 80.001 * KM).all()
    assert model.trace_.snapshots.values.shape[1:] == (160, 2)
    assert model.outcome_.name == "CERTIFIED"
    automatic = MeanShift(metric="haversine").fit(X)
    assert 1 * KM < automatic.bandwidth_ < 5000 * KM
    assert_array_equal(MeanShift(automatic.bandwidth_, metric="haversine").fit(X).labels_, automatic.labels_)
    apart = MeanShift(distance(CITIES[:1], CITIES[1:2])[0, 0] * 0.9, metric="haversine").fit(CITIES)
    together = MeanShift(distance(CITIES[:1], CITIES[1:2])[0, 0] * 1.1, metric="haversine").fit(CITIES)
    assert apart.n_clusters_ > together.n_clusters_


@pytest.mark.parametrize("sketch", ["grid", "sample"])
def test_sketches_and_batches(sketch):
    model = StochasticMeanShift(60 * KM, metric="haversine", sketch=sketch, random_state=0)
    assert adjusted_rand_score(model.fit(X).labels_, CITY) == 1.0
    for part in np.array_split(RNG.permutation(160), 3):
        model.partial_fit(X[part])
    assert adjusted_rand_score(model.finalize().predict(X), CITY) == 1.0


def test_model_files_keep_places(tmp_path):
    model = MeanShift(60 * KM, metric="haversine").fit(X)
    save(model, tmp_path / "m")
    assert_array_equal(read_model(tmp_path / "m").predict(X), model.labels_)


@pytest.mark.parametrize(
    ("rows", "column", "message"),
    [
        ([[95.0, 10.0], [1.0, 2.0]], 0, "latitude of row 0 is 95, outside -90 to 90. The columns may be swapped"),
        ([[5.0, 10.0], [1.0, 361.0]], 1, "longitude of row 1 is 361, outside -180 to 360"),
        ([[5.0, 10.0, 3.0], [1.0, 2.0, 4.0]], None, "two columns"),
        ([[5.0], [1.0]], None, "two columns"),
    ],
)
def test_wrong_degrees(rows, column, message):
    with pytest.raises(CoordinateError, match=message) as error:
        MeanShift(60 * KM, metric="haversine").fit(rows)
    assert error.value.column == column


def test_policy_objects_have_no_unit():
    from modeseek.meanshift.bandwidth import Constant

    with pytest.raises(ValueError, match="name of a policy"):
        DoublyStochasticMeanShift(policy=Constant(1.0), metric="haversine").fit(X)
