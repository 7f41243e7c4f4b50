"""Features of candidates: numbers without units that say how good a partition is.

Each row of the table is a candidate, and the last one is the single cluster. There are three kinds of columns: features
of the data set (the same in all rows), features of the candidate, and the candidate's place in the pool (its rank by
each feature, and the best value in the pool of some). `TABLE` documents each of them.
"""

from __future__ import annotations

import numpy as np

from modeseek._common.types import Array
from modeseek.selection.config import DEFAULT, SelectionConfig
from modeseek.selection.data import SelectionData, Subset
from modeseek.selection.features.agreement import AGREEMENT, ORIGIN, VOTES, agreement_features
from modeseek.selection.features.base import Feature
from modeseek.selection.features.data_set import DATA_SET, data_set_features
from modeseek.selection.features.gaussians import GAUSSIANS, gaussian_features, gaussian_sample
from modeseek.selection.features.geometry import GEOMETRY, add_relative_r2, geometry_features, geometry_sample
from modeseek.selection.features.graph import GRAPH, graph_features, graph_sample
from modeseek.selection.features.pairs import PAIRS, pair_features, pair_sample
from modeseek.selection.features.ranks import BEST, add_best, add_ranks
from modeseek.selection.features.sizes import SIZES, size_features
from modeseek.selection.pool import Pool
from modeseek.selection.reproducibility import reproducibility
from modeseek.selection.threads import run_each

__all__ = ["FEATURES", "TABLE", "Feature", "candidate_features"]

_CANDIDATE = (*ORIGIN, *SIZES, *VOTES, *AGREEMENT, *GRAPH, *GEOMETRY, *GAUSSIANS, *PAIRS)
_MEANING = {each.name: each for each in _CANDIDATE}
_RANKED = tuple(each.name for each in _CANDIDATE if not each.name.startswith("is_") and each.name != "variant")

TABLE: tuple[Feature, ...] = (
    *DATA_SET,
    *_CANDIDATE,
    *(Feature(f"best_{name}", f"best {name} in the pool", _MEANING[name].graph_only) for name in BEST),
    *(Feature(f"rank_{name}", f"rank by {name} in the pool", _MEANING[name].graph_only) for name in _RANKED),
)
FEATURES: tuple[str, ...] = tuple(each.name for each in TABLE)


def candidate_features(
    data: SelectionData, base: Subset, pool: Pool, *, config: SelectionConfig = DEFAULT, n_jobs: int | None = None
) -> Array:
    """Return the table of features: a row for each candidate and one for the single cluster, columns as in `FEATURES`.

    Features that do not apply are NaN.

    Parameters
    ----------
    data : SelectionData
    base : Subset
        The points from which subsamples are drawn (`base_sample`).
    pool : Pool
    config : SelectionConfig
    n_jobs : int, optional
        Number of threads; the result does not depend on it.
    """
    stable = reproducibility(base, pool, config=config, n_jobs=n_jobs)
    return feature_table(data, pool, stable, np.random.default_rng((config.seed, 2000)), config, n_jobs)


def feature_table(
    data: SelectionData,
    pool: Pool,
    stable: Array,
    rng: np.random.Generator,
    config: SelectionConfig = DEFAULT,
    n_jobs: int | None = None,
) -> Array:
    """Return the table of features for given reproducibilities of the candidates."""
    graph = graph_sample(data, rng, config.features)
    if data.has_coordinates:
        geometry = geometry_sample(data, rng, config.features)
        gaussians = gaussian_sample(data, geometry.rows)
        pairs = pair_sample(data, geometry.rows)

    def measure(i: int) -> dict[str, float]:
        labels = pool.candidates[i].labels
        found = {**size_features(data, labels), **graph_features(graph, labels)}
        if not data.has_coordinates:
            return found
        return {
            **found,
            **geometry_features(geometry, labels, config.features),
            **gaussian_features(gaussians, labels, config.features),
            **pair_features(pairs, labels, config.features),
        }

    table = np.full((len(pool) + 1, len(FEATURES)), np.nan)
    common = data_set_features(data)
    table[:, : len(DATA_SET)] = [common.get(each.name, np.nan) for each in DATA_SET]
    found = list(run_each(measure, range(len(pool)), n_jobs))
    if not found:
        return table
    if data.has_coordinates:
        add_relative_r2(pool.candidates, found)
    columns = agreement_features(pool) | {"stable": stable}
    for at, each in enumerate(_CANDIDATE, start=len(DATA_SET)):
        values = columns.get(each.name)
        table[:-1, at] = [one.get(each.name, np.nan) for one in found] if values is None else values
    add_best(table, FEATURES)
    add_ranks(table, FEATURES, _RANKED)
    return table
