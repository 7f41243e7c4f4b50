"""Features on the neighbour graph: whether neighbours share a cluster, and the density between clusters."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from modeseek._common.types import Array, IntArray
from modeseek.selection.config import FeaturesConfig
from modeseek.selection.data import SelectionData
from modeseek.selection.features.base import Feature, weighted_quantiles
from modeseek.selection.proposers.modes import weight_up_to
from modeseek.selection.proposers.samples import draw
from modeseek.selection.sorting import ascending

# neighbours from which the two densities are estimated
COUNTS = (8, 24)
# neighbours that are looked at in all
NEAR = 15


def _density_features(count: int) -> tuple[Feature, ...]:
    where = f"(density from {count} neighbours)"
    return (
        Feature(f"dip{count}_mean", f"mean height of clusters above their highest saddle {where}"),
        Feature(f"dip{count}_min", f"the smallest of these heights {where}"),
        Feature(f"dip{count}_q10", f"their 10th percentile, by weight {where}"),
        Feature(f"dip{count}_min_big", f"the smallest of clusters with 2 % of the weight {where}"),
        Feature(f"dipz{count}_q10", f"the 10th percentile in standard errors of the log density {where}"),
        Feature(f"mid{count}_mean", f"mean of median log density less highest saddle {where}"),
        Feature(f"mid{count}_q10", f"10th percentile of median log density less highest saddle {where}"),
        Feature(f"edge{count}_mean", f"mean of median log density less mean on the edges that leave {where}"),
        Feature(f"edge{count}_q10", f"10th percentile of the same {where}"),
    )


GRAPH = (
    Feature("inside15", "share of the 15 nearest neighbours in the same cluster"),
    Feature("inside5", "share of the 5 nearest neighbours in the same cluster"),
    Feature("minority", "share of points most of whose neighbours are in other clusters"),
    Feature("modularity", "inside15 less its expectation for random labels"),
    Feature("purity_min", "smallest share of neighbours inside a cluster, adjusted for its size"),
    Feature("purity_mean", "mean of these shares"),
    Feature("purity_q10", "their 10th percentile, by weight"),
    Feature("cut_max", "largest share of the edges of a cluster that leave it"),
    Feature("cut_mean", "mean share of the edges that leave a cluster"),
    Feature("surface", "cut_mean relative to compact clusters: shares times (rows in the cluster)^(1 / dimension)"),
    Feature("density_r2", "share of the variance of the log density (24 neighbours) that clusters explain"),
    Feature("contrast", "mean change of this density along edges that leave a cluster, over that of all edges"),
    *_density_features(COUNTS[0]),
    *_density_features(COUNTS[1]),
)


class GraphSample(NamedTuple):
    """What all candidates are measured with on the graph.

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


def graph_features(sample: GraphSample, labels: IntArray) -> dict[str, float]:
    """Return the features by name."""
    from modeseek.selection.features.graph_loops import graph_statistics

    k = int(labels.max()) + 1
    clusters, inside15, inside5, minority = graph_statistics(labels, k, *sample[:7])
    mass, rows, leaving = clusters[:, 0], clusters[:, 1], clusters[:, 3]
    share = mass / mass.sum()
    purity = (clusters[:, 2] - share) / np.maximum(1 - share, 1e-9)
    cut = leaving / (np.maximum(rows, 1) * sample.edges.shape[1])
    big = mass >= max(4.0, 0.02 * mass.sum())
    by_density = []
    for at in (4, 8):
        saddle, peak, median, border = clusters[:, at : at + 4].T
        edge = np.where(leaving > 0, np.clip(median - border, -6, 6), 6.0)
        by_density.append((np.clip(peak - saddle, -3, 6), np.clip(median - saddle, -6, 6), edge))
    low, *lows = weighted_quantiles(np.array([purity, *by_density[0], *by_density[1]]), mass, 0.1)
    found = {
        "inside15": inside15,
        "inside5": inside5,
        "minority": minority,
        "modularity": inside15 - np.square(share).sum(),
        "purity_min": purity.min(),
        "purity_mean": purity.mean(),
        "purity_q10": low,
        "cut_max": cut.max(),
        "cut_mean": (cut * share).sum(),
        "surface": (cut * share * np.minimum(rows ** (1 / sample.dimension), 1e3)).sum(),
        **_density_contrast(sample, labels, k),
    }
    for count, (dip, middle, edge) in zip(COUNTS, by_density, strict=True):
        dip_low, middle_low, edge_low, *lows = lows
        found |= {
            f"dip{count}_mean": (dip * share).sum(),
            f"dip{count}_min": dip.min(),
            f"dip{count}_q10": dip_low,
            f"dip{count}_min_big": dip[big].min() if big.any() else np.nan,
            f"dipz{count}_q10": dip_low * np.sqrt(count) / 2,
            f"mid{count}_mean": (middle * share).sum(),
            f"mid{count}_q10": middle_low,
            f"edge{count}_mean": (edge * share).sum(),
            f"edge{count}_q10": edge_low,
        }
    return found


def _density_contrast(sample: GraphSample, labels: IntArray, k: int) -> dict[str, float]:
    """Return how much of the differences in density lies between clusters, and at their borders."""
    from modeseek.selection.features.graph_loops import density_contrast

    between, change = density_contrast(labels, k, sample.rows, sample.indices, sample.densities, sample.changes)
    total = float(np.square(sample.densities[1, sample.rows]).sum())
    return {
        "density_r2": between / max(total, 1e-300),
        "contrast": min(change / max(float(sample.changes.mean()), 1e-300), 20.0),
    }
