"""Rows on the unit sphere: directions of rows, or places on the Earth."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from modeseek._common.blocks import row_blocks
from modeseek._common.types import Array

# mean radius of the Earth in metres, as defined by the International Union of Geodesy and Geophysics
EARTH_RADIUS = 6_371_008.8
LATITUDES = ("lat", "latitude")
LONGITUDES = ("lon", "lng", "long", "longitude")


class CoordinateError(ValueError):
    """Rows that are not pairs of latitude and longitude in degrees.

    Attributes
    ----------
    row : int or None
        First wrong row; None if the number of columns is wrong.
    column : int or None
        0 for a wrong latitude, 1 for a wrong longitude.
    """

    def __init__(self, message: str, row: int | None = None, column: int | None = None):
        super().__init__(message)
        self.row, self.column = row, column


def place_on_sphere(rows: Array, metric: str) -> Array:
    """Return rows as unit vectors.

    Parameters
    ----------
    rows : (n, d) array
        Under "haversine", two columns are latitude and longitude in degrees, and three columns are vectors.
    metric : {"cosine", "haversine"}

    Examples
    --------
    >>> place_on_sphere(np.array([[90.0, 0.0], [0.0, 180.0]]), "haversine").round(9) + 0.0
    array([[ 0.,  0.,  1.],
           [-1.,  0.,  0.]])
    """
    degrees = metric == "haversine" and rows.shape[1] != 3  # rows of a sketch are vectors already
    return unit_rows(_vectors(rows) if degrees else rows)


def unit_rows(rows: Array) -> Array:
    """Scale rows to unit length; raise an error if a row is all zeros."""
    largest = np.maximum(rows.max(axis=1, keepdims=True), -rows.min(axis=1, keepdims=True)).astype(np.float64)
    if not (largest > 0).all():
        row = int(np.argmin(largest))
        raise ValueError(
            f'metric="cosine" needs rows of positive length, but row {row} of X is all zeros: '
            'leave it out or use metric="euclidean".'
        )
    units = np.empty_like(rows)
    for part in row_blocks(rows):
        scaled = rows[part] / largest[part]  # squares of huge or tiny coordinates would overflow or vanish
        # sorted, so that the rounding of the sum does not depend on the order of columns
        squares = np.sort(np.square(scaled), axis=1).sum(axis=1, keepdims=True)
        units[part] = scaled / np.sqrt(squares)
    return units


def to_degrees(vectors: Array) -> Array:
    """Return the latitude and the longitude of vectors, in degrees; the inverse of `place_on_sphere`."""
    x, y, z = np.moveaxis(vectors.astype(np.float64), -1, 0)
    return np.degrees(np.stack([np.arctan2(z, np.hypot(x, y)), np.arctan2(y, x)], axis=-1))


def meters_to_chord(meters: float) -> float:
    """Return the chord of the unit sphere for a distance along the surface of the Earth.

    Examples
    --------
    >>> round(chord_to_meters(meters_to_chord(1500.0)), 6)
    1500.0
    """
    return float(2 * np.sin(min(meters / (2 * EARTH_RADIUS), np.pi / 2)))


def chord_to_meters(chord: float) -> float:
    """Return the distance along the surface of the Earth for a chord of the unit sphere."""
    return float(chords_to_meters(np.asarray(chord)))


def chords_to_meters(chords: Array) -> Array:
    """Return the distances along the surface of the Earth for chords of the unit sphere."""
    return 2 * EARTH_RADIUS * np.arcsin(np.minimum(chords / 2, 1.0))


def check_two_columns(n: int) -> None:
    """Raise an error unless the number of columns `n` is 2, for latitude and longitude."""
    if n != 2:
        raise CoordinateError(f'metric="haversine" needs two columns, latitude and longitude in degrees; X has {n}.')


def _vectors(rows: Array) -> Array:
    check_two_columns(rows.shape[1])
    degrees = rows.astype(np.float64)
    wrong = np.stack([np.abs(degrees[:, 0]) > 90, (degrees[:, 1] < -180) | (degrees[:, 1] > 360)], axis=1)
    if wrong.any():
        row, column = (int(i) for i in np.argwhere(wrong)[0])
        name, limits = ("latitude", "-90 to 90") if column == 0 else ("longitude", "-180 to 360")
        swapped = not (np.abs(degrees[:, 1]) > 90).any() and column == 0
        remedy = "The columns may be swapped: latitude comes first." if swapped else "Correct it or leave the row out."
        raise CoordinateError(
            f'metric="haversine" needs degrees: the {name} of row {row} is {degrees[row, column]:g}, outside {limits}. '
            f"{remedy}",
            row,
            column,
        )
    latitude, longitude = np.radians(degrees).T
    horizontal = np.cos(latitude)
    vectors = np.stack([horizontal * np.cos(longitude), horizontal * np.sin(longitude), np.sin(latitude)], axis=1)
    return vectors.astype(rows.dtype)


def map_axes(names: Sequence[str]) -> tuple[int, int] | None:
    """Return the indices of the longitude and latitude columns, found by name; None unless there is one of each.

    Examples
    --------
    >>> map_axes(["Latitude", "station_long", "depth"])
    (1, 0)
    >>> map_axes(["plate", "along"]) is None
    True
    """
    words = [re.split(r"[^a-z]+", str(name).lower()) for name in names]
    found = [[j for j, each in enumerate(words) if set(known) & set(each)] for known in (LONGITUDES, LATITUDES)]
    return (found[0][0], found[1][0]) if [len(each) for each in found] == [1, 1] and found[0] != found[1] else None
