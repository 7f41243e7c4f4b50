"""Clusters of GeoDataFrames."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from modeseek import MeanShift, ModeSeek
from modeseek.geo import cluster, cluster_centers, coordinates

geopandas = pytest.importorskip("geopandas")

# two towns, and one on both sides of the 180th meridian
TOWNS = np.array([[52.5, 13.4], [48.1, 11.6], [-17.8, 180.0]])
NOISE = np.random.default_rng(0).normal(scale=0.05, size=(3, 20, 2))
LATITUDE, LONGITUDE = (TOWNS[:, None] + NOISE).reshape(-1, 2).T
LONGITUDE = np.where(LONGITUDE > 180, LONGITUDE - 360, LONGITUDE)


def places(crs="EPSG:4326", rows=slice(None)):
    points = geopandas.points_from_xy(LONGITUDE[rows], LATITUDE[rows], crs="EPSG:4326")
    return geopandas.GeoDataFrame({"id": np.arange(len(points))}, geometry=points).to_crs(crs)


def test_clusters_are_columns_of_a_copy():
    given = places()
    found = cluster(given, estimator=MeanShift(60_000, metric="haversine"), name="town")
    assert "town" not in given
    assert_array_equal(found["town"], MeanShift(60_000, metric="haversine").fit(coordinates(given)).labels_)
    assert found["town"].nunique() == 3
    assert found["town_confidence"].between(0, 1).all()
    assert found.crs == given.crs


def test_other_reference_systems_are_converted():
    europe = slice(40)
    assert_allclose(coordinates(places("EPSG:3035", europe)), coordinates(places(rows=europe)), atol=1e-9)
    model = ModeSeek(metric="haversine", random_state=0)
    found = cluster(places("EPSG:3035", europe), estimator=model)
    centers = cluster_centers(model, crs=found.crs)
    assert centers["size"].sum() == len(found)
    nearest = centers.distance(found.geometry.iloc[0]).idxmin()
    assert nearest == found["cluster"].iloc[0]


def test_what_is_wrong_is_said():
    with pytest.raises(ValueError, match="no coordinate reference system"):
        coordinates(places().set_crs(None, allow_override=True))
    lines = places()
    lines.geometry = lines.to_crs(3857).buffer(1.0).to_crs(4326)
    with pytest.raises(ValueError, match="not points; the first is 0"):
        coordinates(lines)
    with pytest.raises(ValueError, match="haversine"):
        cluster(places(), estimator=MeanShift(1.0))
    # centres of other models were returned as degrees
    with pytest.raises(ValueError, match="haversine"):
        cluster_centers(MeanShift(1.0).fit(np.eye(2)))
    with pytest.raises(TypeError, match="got a GeoSeries"):
        cluster(places().geometry)
