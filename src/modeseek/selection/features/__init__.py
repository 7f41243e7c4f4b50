"""Features of candidates: numbers without units that say how good a partition is.

Each row of the table is a candidate, and the last one is the single cluster. There are three kinds of columns: features
of the data set (the same in all rows), features of the candidate, and comparisons with the pool (the rank of the
candidate by each feature, and the best value of some features in the pool). `TABLE` documents each column.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np
from joblib import effective_n_jobs

from modeseek._common.threads import Later, run_each
from modeseek._common.types import Array
from modeseek.selection.config import DEFAULT, SelectionConfig
from modeseek.selection.data import SelectionData, Subset
from modeseek.selection.features.agreement import AGREEMENT, ORIGIN, VOTES, agreement_features
from modeseek.selection.features.base import Feature
from modeseek.selection.features.data_set import DATA_SET, data_set_features
from modeseek.selection.features.gaussians import GAUSSIANS, GaussianSample, gaussian_features, gaussian_sample
from modeseek.selection.features.geometry import (
    GEOMETRY,
    GeometrySample,
    add_relative_r2,
    geometry_features,
    geometry_sample,
)
from modeseek.selection.features.graph import GRAPH, GraphSample, graph_features, graph_sample
from modeseek.selection.features.pairs import PAIRS, PairSample, pair_features, pair_sample
from modeseek.selection.features.partitions import Partitions
from modeseek.selection.features.ranks import BEST, add_best, add_ranks
from modeseek.selection.features.sizes import SIZES, size_features
from modeseek.selection.pool import Pool
from modeseek.selection.reproducibility import Repeat, propose_again, reproducibility

__all__ = ["FEATURES", "TABLE", "Feature", "candidate_features"]

# bounds on the number of labels (points times candidates) in a task: more need too much memory, fewer are not worth a
# task
MOST_LABELS, LEAST_LABELS = 1 << 20, 1 << 14

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


class Samples(NamedTuple):
    """Features of the data set (`common`), and the samples of points from which the other features are computed.

    Without coordinates, the last three fields are None.
    """

    common: dict[str, float]
    graph: GraphSample
    geometry: GeometrySample | None = None
    gaussians: GaussianSample | None = None
    pairs: PairSample | None = None


def feature_samples(data: SelectionData, rng: np.random.Generator, config: SelectionConfig = DEFAULT) -> Samples:
    """Draw the points from which features are computed, and compute the values that all candidates share."""
    common, graph = data_set_features(data), graph_sample(data, rng, config.features)
    if not data.has_coordinates:
        return Samples(common, graph)
    geometry = geometry_sample(data, rng, config.features)
    return Samples(common, graph, geometry, gaussian_sample(data, geometry.rows), pair_sample(data, geometry.rows))


class EarlyWork(NamedTuple):
    """Inputs of the features that do not depend on the pool, and may be computed while the pool is built."""

    repeats: list[Later[Repeat | None]]
    samples: Later[Samples]

    @classmethod
    def of(cls, data: SelectionData, base: Subset, config: SelectionConfig) -> EarlyWork:
        """Return the work for the features of `data`; nothing is computed yet."""
        numbers = range(config.reproducibility.n_subsamples)
        return cls(
            [Later(partial(propose_again, base, number, config)) for number in numbers],
            Later(lambda: feature_samples(data, np.random.default_rng((config.seed, 2000)), config)),
        )


def candidate_features(
    data: SelectionData,
    base: Subset,
    pool: Pool,
    *,
    config: SelectionConfig = DEFAULT,
    n_jobs: int | None = None,
    early: EarlyWork | None = None,
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
    early : EarlyWork, optional
        Inputs that may have been computed already, with the same config.
    """
    repeats, samples = early or EarlyWork.of(data, base, config)
    stable = reproducibility(base, pool, config=config, n_jobs=n_jobs, repeats=repeats)
    return feature_table(data, pool, stable, samples(), config, n_jobs)


def feature_table(
    data: SelectionData,
    pool: Pool,
    stable: Array,
    samples: Samples,
    config: SelectionConfig = DEFAULT,
    n_jobs: int | None = None,
) -> Array:
    """Return the table of features, with `stable` as the reproducibility of the candidates."""
    common, graph, geometry, gaussians, pairs = samples

    def measure(part: slice) -> dict[str, Array]:
        partitions = Partitions.of([each.labels for each in pool.candidates[part]])
        mass = partitions.weights(data.weights)
        found = {**size_features(partitions, mass), **graph_features(graph, partitions, mass)}
        if geometry is None or gaussians is None or pairs is None:
            return found
        return {
            **found,
            **geometry_features(geometry, partitions, config.features),
            **gaussian_features(gaussians, partitions, config.features),
            **pair_features(pairs, partitions, config.features),
        }

    c = len(pool)
    table = np.full((c + 1, len(FEATURES)), np.nan)
    table[:, : len(DATA_SET)] = [common.get(each.name, np.nan) for each in DATA_SET]
    if not c:
        return table
    share = max(LEAST_LABELS // len(data), -(-c // (2 * effective_n_jobs(n_jobs))))
    step = max(1, min(MOST_LABELS // len(data), share))
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
