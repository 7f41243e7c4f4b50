"""Clustering of the points of a GeoDataFrame, with distances along the surface of the Earth.

Only `cluster_centers` imports geopandas; the other functions call methods of the data frame that they receive.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from modeseek._common.types import Array
from modeseek.estimators import ModeSeek
from modeseek.estimators.base import BaseClusterer

if TYPE_CHECKING:
    import geopandas

__all__ = ["cluster", "cluster_centers", "coordinates"]

DEGREES = "EPSG:4326"


def coordinates(places: geopandas.GeoDataFrame) -> Array:
    """Return latitudes and longitudes in degrees, the input of an estimator with ``metric="haversine"``.

    Parameters
    ----------
    places : GeoDataFrame or GeoSeries
        Points in any coordinate reference system.

    Returns
    -------
    X : array of shape (n_places, 2)

    Examples
    --------
    >>> import geopandas
    >>> points = geopandas.points_from_xy([13.4, 11.6], [52.5, 48.1], crs="EPSG:4326")
    >>> coordinates(geopandas.GeoSeries(points).to_crs("EPSG:3035")).round(6)
    array([[52.5, 13.4],
           [48.1, 11.6]])
    """
    geometry = places.geometry
    if geometry.crs is None:
        raise ValueError('places have no coordinate reference system: call places.set_crs("EPSG:4326") or another.')
    wrong = np.flatnonzero(((geometry.geom_type != "Point") | geometry.is_empty).to_numpy())
    if len(wrong):
        raise ValueError(
            f"{len(wrong):,} of {len(geometry):,} geometries are not points; the first is {wrong[0]}. "
            "Convert lines and areas with representative_point(), and drop missing and empty geometries."
        )
    degrees = geometry.to_crs(DEGREES)
    return np.column_stack([degrees.y.to_numpy(), degrees.x.to_numpy()])


def cluster(
    places: geopandas.GeoDataFrame,
    *,
    estimator: BaseClusterer | None = None,
    name: str = "cluster",
    sample_weight: Any = None,
    random_state: Any = 0,
) -> geopandas.GeoDataFrame:
    """Cluster places, and return a copy of them with two more columns: the cluster, and the membership in it.

    Parameters
    ----------
    places : GeoDataFrame
        Points in any coordinate reference system.
    estimator : estimator of this package, optional
        The estimator that is fitted; it must have ``metric="haversine"``. If None,
        ``ModeSeek(metric="haversine", random_state=random_state)``.
    name : str, default="cluster"
        Name of the column of labels; -1 is noise. The column `name` + "_confidence" has the membership of each place in
        its cluster.
    sample_weight : array-like of shape (n_places,), optional
        Weights, for example the seconds that a position of a track stands for.
    random_state : int, RandomState, Generator or None, default=0
        Seed of `ModeSeek`. Ignored if `estimator` is given.

    Returns
    -------
    places : GeoDataFrame

    Examples
    --------
    >>> import geopandas
    >>> from modeseek import MeanShift
    >>> points = geopandas.points_from_xy([13.4, 13.5, 11.6], [52.5, 52.4, 48.1], crs="EPSG:4326")
    >>> places = geopandas.GeoDataFrame({"name": ["Berlin", "Schoenefeld", "Munich"]}, geometry=points)
    >>> cluster(places, estimator=MeanShift(60_000, metric="haversine"))["cluster"].to_list()
    [0, 0, 1]
    """
    if not hasattr(places, "assign"):
        raise TypeError(f'places must be a GeoDataFrame; got a {type(places).__name__}: call to_frame("geometry").')
    model = ModeSeek(metric="haversine", random_state=random_state) if estimator is None else estimator
    _check_metric(model)
    model.fit(coordinates(places), sample_weight=sample_weight)
    return places.assign(**{name: model.labels_, f"{name}_confidence": np.asarray(model.probabilities_)})


def cluster_centers(model: BaseClusterer, crs: Any = DEGREES) -> geopandas.GeoDataFrame:
    """Return the cluster centres of a fitted estimator as points, with the columns "cluster" and "size".

    Parameters
    ----------
    model : fitted estimator with ``metric="haversine"``
    crs : object, default="EPSG:4326"
        Coordinate reference system of the result, as for `GeoDataFrame.to_crs`.

    Examples
    --------
    >>> from modeseek import MeanShift
    >>> model = MeanShift(60_000, metric="haversine").fit([[52.5, 13.4], [52.5, 13.4], [48.1, 11.6]])
    >>> centers = cluster_centers(model)
    >>> centers["size"].to_list(), centers.geometry.y.round(3).to_list()
    ([2, 1], [52.5, 48.1])
    """
    try:
        import geopandas
    except ImportError:
        raise ImportError("modeseek.geo.cluster_centers needs geopandas: pip install 'modeseek[maps]'") from None
    _check_metric(model)
    latitude, longitude = model.cluster_centers_.T
    points = geopandas.points_from_xy(longitude, latitude, crs=DEGREES)
    columns = {"cluster": np.arange(model.n_clusters_), "size": model.result_.sizes}
    return geopandas.GeoDataFrame(columns, geometry=points).to_crs(crs)


def _check_metric(model: BaseClusterer) -> None:
    if model.metric != "haversine":
        raise ValueError(f'the estimator needs metric="haversine"; got {model.metric!r}.')
