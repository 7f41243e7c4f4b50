"""New rows of `MeanShift` get the label of the mode that they climb to."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.cluster import MeanShift as SklearnMeanShift
from sklearn.datasets import make_blobs

from modeseek import MeanShift, io
from modeseek.meanshift.basins import BasinConfig, find_points

RNG = np.random.default_rng(0)
PLANE, _ = make_blobs(300, centers=[[0, 0], [4, 0], [0, 4]], cluster_std=1.2, random_state=0)
NEW = RNG.uniform(-3, 7, (400, 2))
PLACES = np.column_stack([52 + PLANE[:, 0] / 10, 13 + PLANE[:, 1] / 10])
WIDE, _ = make_blobs(300, 20, centers=3, cluster_std=4.0, random_state=0)
CASES = {
    "plane": (PLANE, {"bandwidth": 2.0}),
    "flat": (PLANE, {"bandwidth": 1.5, "profile": "flat"}),
    "gaussian": (PLANE, {"bandwidth": 0.7, "profile": "gaussian"}),
    "small clusters": (PLANE, {"bandwidth": 1.0, "min_cluster_size": 20}),
    "outliers": (PLANE, {"bandwidth": 1.5, "outlier_fraction": 0.1}),
    "orphans": (PLANE, {"bandwidth": 1.0, "cluster_all": False}),
    "nearest centre": (PLANE, {"bandwidth": 1.5, "assign_labels": "nearest"}),
    "seeds": (PLANE, {"bandwidth": 1.5, "bin_seeding": True}),
    "few steps": (PLANE, {"bandwidth": 1.5, "max_iter": 2}),
    "single precision": (PLANE.astype(np.float32), {"bandwidth": 1.5}),
    "grid sketch": (PLANE, {"bandwidth": 1.5, "sketch": "grid"}),
    "sample sketch": (PLANE, {"bandwidth": 1.5, "sketch": "sample"}),
    "cosine": (WIDE, {"bandwidth": 0.8, "metric": "cosine"}),
    "wide": (WIDE, {"bandwidth": 22.0}),
    "haversine": (PLACES, {"bandwidth": 20_000.0, "metric": "haversine"}),
}
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning", "ignore::UserWarning")


def rows_between(X: np.ndarray) -> np.ndarray:
    """Return new rows: means of two rows of the data."""
    one, two = RNG.permutation(len(X)), RNG.permutation(len(X))
    return (X[one] + X[two]) / 2


def climbed(model: MeanShift, X: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return the labels of the training rows whose climbs ended nearest to those of new rows, as a slow twin."""
    at = rows.copy()
    for _ in range(500):
        weights = np.maximum(0.0, 1 - cdist(at, X, "sqeuclidean") / model.bandwidth_**2)
        at = weights @ X / weights.sum(axis=1, keepdims=True)
    return model.labels_[cdist(at, model.points_).argmin(axis=1)]


@pytest.mark.parametrize("name", CASES)
def test_training_rows_keep_their_labels(name):
    X, parameters = CASES[name]
    doubled = np.vstack([X, X[:50]])
    weights = RNG.integers(0, 4, len(doubled)).astype(float)
    for sample_weight in (None, weights):
        model = MeanShift(**parameters).fit(doubled, sample_weight=sample_weight)
        assert np.array_equal(model.predict(doubled), model.labels_)
        shares = model.predict_proba(doubled)
        clustered = model.labels_ >= 0
        assert np.array_equal(shares.argmax(axis=1)[clustered], model.labels_[clustered])
        present = slice(None) if sample_weight is None else weights > 0
        assert np.allclose(model.probabilities_[present], shares.max(axis=1, initial=0.0)[present])


@pytest.mark.parametrize("name", CASES)
def test_other_rows_chunks_threads_and_files_have_no_effect(name, tmp_path):
    X, parameters = CASES[name]
    model, rows = MeanShift(**parameters).fit(X), rows_between(X)
    labels = model.predict(rows)
    order = RNG.permutation(len(rows))
    assert np.array_equal(model.predict(rows[order]), labels[order])
    assert np.array_equal(np.concatenate([model.predict(rows[i : i + 7]) for i in range(0, len(rows), 7)]), labels)
    assert np.array_equal(model.set_params(n_jobs=2).predict(rows), labels)
    io.save(model, tmp_path / "a.modeseek")
    for other in (io.load(tmp_path / "a.modeseek"), pickle.loads(pickle.dumps(model))):
        assert np.array_equal(other.predict(rows), labels)
    shuffled = RNG.permutation(len(X))
    assert np.array_equal(MeanShift(**parameters).fit(X[shuffled]).predict(rows), labels)


@pytest.mark.parametrize("name", ["plane", "cosine", "haversine"])
def test_dask_gives_the_same_labels(name):
    da = pytest.importorskip("dask.array")
    X, parameters = CASES[name]
    model, rows = MeanShift(**parameters).fit(X), rows_between(X)
    assert np.array_equal(model.predict(da.from_array(rows, chunks=(37, -1))).compute(), model.predict(rows))


def test_rows_belong_to_the_mode_they_climb_to():
    model = MeanShift(2.0).fit(PLANE)
    rows = NEW[cdist(NEW, PLANE).min(axis=1) < 2.0]
    found, expected = model.predict(rows), climbed(model, PLANE, rows)
    index = model.result_.index
    canonical = index.points.to_canonical(rows)
    nearest = index.labels[find_points(index.points, canonical)]
    assert np.mean(found == expected) > 0.99
    assert np.mean(found == expected) > np.mean(nearest == expected)
    every = find_points(index.points, canonical, index.basins, config=BasinConfig(n_neighbors=len(PLANE)))
    assert np.array_equal(index.labels[every], expected)


def test_rows_of_weight_zero_are_labelled_as_new_rows():
    weights = np.repeat([1.0, 0.0], [len(PLANE), len(NEW)])
    model = MeanShift(1.5).fit(np.vstack([PLANE, NEW]), sample_weight=weights)
    without = MeanShift(1.5).fit(PLANE)
    assert np.array_equal(model.labels_[len(PLANE) :], without.predict(NEW))


def test_rows_far_away_get_the_label_of_the_nearest_row():
    model = MeanShift(1.5).fit(PLANE)
    far = np.array([[1e200, 0.0], [-50.0, 0.0]])
    assert model.predict(far)[1] == model.labels_[PLANE[:, 0].argmin()]


def test_nearest_centres_are_those_of_scikit_learn():
    theirs = SklearnMeanShift(bandwidth=1.5).fit(PLANE)
    ours = MeanShift(1.5, profile="flat", assign_labels="nearest").fit(PLANE)
    assert np.allclose(ours.cluster_centers_, theirs.cluster_centers_)
    assert np.array_equal(ours.predict(NEW), theirs.predict(NEW))
