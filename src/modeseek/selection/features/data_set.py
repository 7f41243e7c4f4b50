"""Features of the data set, the same for all its candidates."""

from __future__ import annotations

import numpy as np

from modeseek.selection.data import SelectionData
from modeseek.selection.features.base import Feature, third_moment

DATA_SET = (
    Feature("log_n", "logarithm of the number of distinct points"),
    Feature("log_d", "logarithm of the number of features", graph_only=False),
    Feature("filled", "number of principal components", graph_only=False),
    Feature("dimension", "intrinsic dimension"),
    Feature("dimension_share", "intrinsic dimension divided by the number of principal components", graph_only=False),
    Feature("spherical", "1 if points are unit vectors", graph_only=False),
    Feature("hubness", "skewness of how often points are among the ten nearest neighbours of other points"),
    Feature("participation", "effective number of principal components (participation ratio)", graph_only=False),
    Feature("distinct", "number of distinct points divided by number of rows"),
    Feature("kurtosis", "median kurtosis of the principal components, at most 50", graph_only=False),
    Feature("kurtosis_max", "largest kurtosis of the principal components, at most 200", graph_only=False),
    Feature("skew_max", "largest absolute skewness of the principal components, at most 20", graph_only=False),
    Feature("density_sd", "standard deviation of the log density, from 16 neighbours"),
    Feature("density_skew", "skewness of the log density, from 16 neighbours"),
    Feature("density_sd4", "standard deviation of the log density, from 4 neighbours"),
    Feature("ties", "share of equal distances among the eight nearest neighbours, as on a grid"),
)


def data_set_features(data: SelectionData) -> dict[str, float]:
    """Return the features by name; without coordinates, only those that need no coordinates."""
    n = len(data)
    hub = np.bincount(data.indices[:, :10].ravel(), minlength=n).astype(float)
    last = data.n_neighbors - 1
    reach, short = np.log(data.distances[:, min(15, last)]), np.log(data.distances[:, min(3, last)])
    ties = np.diff(data.distances[:, :8], axis=1) <= 1e-9 * data.distances[:, :1]
    return {
        "log_n": np.log(n),
        "dimension": data.dimension,
        "hubness": third_moment(hub),
        "distinct": n / data.total_weight,
        "density_sd": reach.std() * data.dimension,
        "density_skew": third_moment(reach),
        "density_sd4": short.std() * data.dimension,
        "ties": float(ties.mean()) if ties.size else 0.0,
        **(_component_features(data) if data.has_coordinates else {}),
    }


def _component_features(data: SelectionData) -> dict[str, float]:
    """Return the features that need coordinates."""
    filled = data.components.shape[1]
    centered = data.components - data.components.mean(axis=0)
    centered /= max(np.abs(centered).max(), 1e-300)  # fourth powers of large numbers overflow
    squares = np.square(centered)
    variance = squares.mean(axis=0)
    kurtosis = np.square(squares).mean(axis=0) / (variance**2 + 1e-300)
    skew = (squares * centered).mean(axis=0) / (variance**1.5 + 1e-300)
    return {
        "log_d": np.log(data.points.shape[1]),
        "filled": filled,
        "dimension_share": data.dimension / filled,
        "spherical": float(data.spherical),
        "participation": variance.sum() ** 2 / (np.square(variance).sum() + 1e-300),
        "kurtosis": min(float(np.median(kurtosis)), 50.0),
        "kurtosis_max": min(float(kurtosis.max()), 200.0),
        "skew_max": min(float(np.abs(skew).max()), 20.0),
    }
