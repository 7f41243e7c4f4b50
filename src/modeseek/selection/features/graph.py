"""Features on the neighbour graph: whether neighbours share a cluster, and the density between clusters."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from modeseek._common.types import Array, IntArray
from modeseek.selection.config import FeaturesConfig
from modeseek.selection.data import SelectionData
from modeseek.selection.features.base import Feature
from modeseek.selection.features.partitions import Partitions
from modeseek.selection.proposers.modes import weight_up_to
from modeseek.selection.proposers.samples import draw
from modeseek.selection.sorting import ascending

# neighbours from which the two densities are estimated
COUNTS = (8, 24)
# number of neighbours that are used
NEAR = 15


def _density_features(count: int) -> tuple[Feature, ...]:
    where = f"(density from {count} neighbours)"
    return (
        Feature(f"dip{count}_mean", f"mean height of clusters above their highest saddle {where}"),
        Feature(f"dip{count}_min", f"the smallest of these heights {where}"),
        Feature(f"dip{count}_q10", f"their 10th percentile, by weight {where}"),
        Feature(f"dip{count}_min_big", f"the smallest of clusters with 2 % of the weight {where}"),
        Feature(f"dipz{count}_q10", f"the 10th percentile in standard errors of the log density {where}"),
        Feature(f"mid{count}_mean", f"mean over clusters of the median log density minus the highest saddle {where}"),
        Feature(f"mid{count}_q10", f"10th percentile of the median log density minus the highest saddle {where}"),
        Feature(
            f"edge{count}_mean", f"mean over clusters of median log density minus mean on edges that leave {where}"
        ),
        Feature(f"edge{count}_q10", f"10th percentile of the same {where}"),
    )


GRAPH = (
    Feature("inside15", "share of the 15 nearest neighbours in the same cluster"),
    Feature("inside5", "share of the 5 nearest neighbours in the same cluster"),
    Feature("minority", "share of points that have most of their neighbours in other clusters"),
    Feature("modularity", "inside15 minus its expectation for random labels"),
    Feature(
        "purity_min", "smallest share of neighbours inside a cluster, corrected for chance by its share of the weight"
    ),
    Feature("purity_mean", "mean of these shares"),
    Feature("purity_q10", "their 10th percentile, by weight"),
    Feature("cut_max", "largest share of the edges of a cluster that leave it"),
    Feature("cut_mean", "mean share of the edges that leave a cluster"),
    Feature("surface", "mean share of the edges that leave a cluster, times (rows in the cluster)^(1 / dimension)"),
    Feature("density_r2", "share of the variance of the log density (24 neighbours) that clusters explain"),
    Feature(
        "contrast", "mean change of this density along edges that leave a cluster, divided by that along all edges"
    ),
    *_density_features(COUNTS[0]),
    *_density_features(COUNTS[1]),
)


class GraphSample(NamedTuple):
    """Arrays of the graph from which the features of all candidates are computed.

    Attributes
    ----------
    indices : (n, k) array of int32
        Nearest neighbours, no more than are needed.
    weights : (n,) array
    step : int
        Densities and edges of every `step`-th point are used.
    rows : integer array
        Points over which shares of neighbours are averaged.
    densities : (2, n) array
        Log densities.
    orders : (2, m) integer array
        The points that are used, in the order of each density.
    edges : (n, 8) array
        Log density that corresponds to the length of the edge to each neighbour.
    changes : (m, 8) array
        Absolute change of the second density along the edges of the points `rows`.
    dimension : float
        Intrinsic dimension.
    """

    indices: IntArray
    weights: Array
    step: int
    rows: IntArray
    densities: Array
    orders: IntArray
    edges: Array
    changes: Array
    dimension: float


def graph_sample(data: SelectionData, rng: np.random.Generator, config: FeaturesConfig) -> GraphSample:
    """Compute the densities and draw the points."""
    densities = []
    for count in COUNTS:
        k = min(count, data.n_neighbors)
        densities.append(np.log(weight_up_to(data, k) / (k + 1)) - data.dimension * np.log(data.distances[:, k - 1]))
    step = max(1, len(data) // config.edge_points)
    orders = [step * ascending(each[::step]) for each in densities]
    edges = -data.dimension * np.log(data.distances[:, :8]) + np.log(data.weights.mean())
    rows = draw(len(data), config.graph_points, rng)
    densities[1] -= densities[1][rows].mean()
    near = np.ascontiguousarray(data.indices[:, :NEAR])
    changes = np.abs(densities[1][data.indices[rows, :8]] - densities[1][rows, None])
    return GraphSample(
        near, data.weights, step, rows, np.array(densities), np.array(orders), edges, changes, data.dimension
    )


def graph_features(sample: GraphSample, partitions: Partitions, mass: Array) -> dict[str, Array]:
    """Return the features of each partition, by name; `mass` is the weight of each cluster."""
    from modeseek.selection.features.graph_loops import graph_statistics

    found = graph_statistics(partitions, sample)
    share = mass / partitions.to_clusters(partitions.total(mass))
    purity = (found.inside - share) / np.maximum(1 - share, 1e-9)
    cut = found.leaving / (np.maximum(found.points, 1) * sample.edges.shape[1])
    big = mass >= partitions.to_clusters(np.maximum(4.0, 0.02 * partitions.total(mass)))
    by_density = []
    for saddle, peak, median, border in found.heights:
        edge = np.where(found.leaving > 0, np.clip(median - border, -6, 6), 6.0)
        by_density.append((np.clip(peak - saddle, -3, 6), np.clip(median - saddle, -6, 6), edge))
    low, *lows = partitions.quantiles(np.array([purity, *by_density[0], *by_density[1]]), mass, 0.1)
    between = partitions.total(found.density_sum**2 / np.maximum(found.counted, 1))
    variance = np.square(sample.densities[1, sample.rows])
    features = {
        "inside15": found.inside_15,
        "inside5": found.inside_5,
        "minority": found.minority,
        "modularity": found.inside_15 - partitions.total(np.square(share)),
        "purity_min": partitions.least(purity),
        "purity_mean": partitions.total(purity) / partitions.sizes,
        "purity_q10": low,
        "cut_max": partitions.largest(cut),
        "cut_mean": partitions.total(cut * share),
        "surface": partitions.total(cut * share * np.minimum(found.points ** (1 / sample.dimension), 1e3)),
        "density_r2": between / max(float(variance.sum()), 1e-300),
        "contrast": np.minimum(found.change / max(float(sample.changes.mean()), 1e-300), 20.0),
    }
    for count, (dip, middle, edge) in zip(COUNTS, by_density, strict=True):
        dip_low, middle_low, edge_low, *lows = lows
        least_big = partitions.least(np.where(big, dip, np.inf))
        features |= {
            f"dip{count}_mean": partitions.total(dip * share),
            f"dip{count}_min": partitions.least(dip),
            f"dip{count}_q10": dip_low,
            f"dip{count}_min_big": np.where(np.isfinite(least_big), least_big, np.nan),
            f"dipz{count}_q10": dip_low * np.sqrt(count) / 2,
            f"mid{count}_mean": partitions.total(middle * share),
            f"mid{count}_q10": middle_low,
            f"edge{count}_mean": partitions.total(edge * share),
            f"edge{count}_q10": edge_low,
        }
    return features
