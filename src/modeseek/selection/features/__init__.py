"""Features of candidates: numbers without units that say how good a partition is.

Each row of the table is a candidate, and the last one is the single cluster. There are three kinds of columns: features
of the data set (the same in all rows), features of the candidate, and the candidate's place in the pool (its rank by
each feature, and the best value in the pool of some). `TABLE` documents each of them.
"""

from __future__ import annotations

import numpy as np
from joblib import effective_n_jobs

from modeseek._common.threads import run_each
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
from modeseek.selection.features.partitions import Partitions
from modeseek.selection.features.ranks import BEST, add_best, add_ranks
from modeseek.selection.features.sizes import SIZES, size_features
from modeseek.selection.pool import Pool
from modeseek.selection.reproducibility import reproducibility

__all__ = ["FEATURES", "TABLE", "Feature", "candidate_features"]

# labels of the candidates whose features are computed at a time: bounds the memory
BATCH_LABELS = 1 << 14

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

    def measure(part: slice) -> dict[str, Array]:
        partitions = Partitions.of([each.labels for each in pool.candidates[part]])
        mass = partitions.weights(data.weights)
        found = {**size_features(partitions, mass), **graph_features(graph, partitions, mass)}
        if not data.has_coordinates:
            return found
        return {
            **found,
            **geometry_features(geometry, partitions, config.features),
            **gaussian_features(gaussians, partitions, config.features),
            **pair_features(pairs, partitions, config.features),
        }

    c = len(pool)
    table = np.full((c + 1, len(FEATURES)), np.nan)
    common = data_set_features(data)
    table[:, : len(DATA_SET)] = [common.get(each.name, np.nan) for each in DATA_SET]
    if not c:
        return table
    step = max(1, min(BATCH_LABELS // len(data), -(-c // effective_n_jobs(n_jobs))))
    columns = {each.name: np.full(c, np.nan) for each in _CANDIDATE} | {"log_k_sample": np.full(c, np.nan)}
    parts = [slice(start, start + step) for start in range(0, c, step)]
    for part, found in zip(parts, run_each(measure, parts, n_jobs), strict=True):
        for name, values in found.items():
            columns[name][part] = values
    if data.has_coordinates:
        add_relative_r2(pool.candidates, columns)
    columns |= agreement_features(pool) | {"stable": stable}
    table[:-1, len(DATA_SET) : len(DATA_SET) + len(_CANDIDATE)] = np.array([columns[e.name] for e in _CANDIDATE]).T
    add_best(table, FEATURES)
    add_ranks(table, FEATURES, _RANKED)
    return table
