"""Settings of the selection, chosen on half of the data sets and scored on the other half, from stored candidates.

`candidates_of` stores all that the selection depends on for one data set and seed, and the score of each candidate by
the true labels. `answers` then repeats the selection for any settings without a fit.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.metrics import adjusted_rand_score
from threadpoolctl import threadpool_limits

from labelled import NOISE, LabelledSet, prepared
from modeseek._common.points import canonical_points
from modeseek._common.types import Geometry
from modeseek.metrics import rand_agreement
from modeseek.selection import DEFAULT, Candidate, build_knn_graph
from modeseek.selection.grid_proposers import Communities, MixtureProposer, Modes
from modeseek.selection.progress import SelectionProgress
from modeseek.selection.spherical import SphericalKMeans

Record = dict[str, Any]
SPLITS = 1000


class Constants(NamedTuple):
    """The settings that are tried; names are those of `SelectionConfig`."""

    smoothing: float
    entropy_weight: float
    communities_dimension: float
    min_stability: float
    min_excess_prominence: float
    min_stability_clear: float


PRESENT = Constants(*(getattr(DEFAULT, name) for name in Constants._fields))
# the present value of each is always among them
TRIED = Constants(
    (0.0, 0.25, 0.5),
    (0.0, 0.005, 0.01, 0.02, 0.04),
    (2.8, 3.6, 4.5, 6.0),
    (0.5, 0.6, 0.7, 0.8, 0.9),
    (0.3, 0.6, 0.9),
    (0.3, 0.5, 0.7),
)


def candidates_of(data: LabelledSet, seed: int) -> Record:
    """Return all candidates of modes and communities for a data set and seed, with their scores by the labels.

    Each candidate has its setting, its stability, the mean stability of neighbouring settings, -ln sum(share^2), the
    ARI with the labels (under cosine after refinement), and whether it agrees with the mixture.
    """
    order = np.random.default_rng(seed).permutation(len(data.X))
    X, y = prepared(data.X, data.prep)[order], data.y[order]
    geometry = Geometry("cosine" if data.prep == "l2" else "euclidean")
    points = canonical_points(X, np.ones(len(X)), geometry)
    # with these settings, the score of a candidate is the mean stability of neighbouring settings
    around = replace(DEFAULT, smoothing=1.0, entropy_weight=0.0)
    progress = SelectionProgress()
    with threadpool_limits(1):
        graph = build_knn_graph(points)
        excess_prominence = Modes().excess_prominence(graph)
        mixture = next(iter(MixtureProposer().propose(graph, seed, progress)), None)
        judged = {each.name: each(around).propose(graph, seed, progress) for each in (Modes, Communities)}
    refine = SphericalKMeans(points.values, DEFAULT.refinement_steps) if geometry.spherical else None

    def worth(labels: np.ndarray) -> float:
        last = labels if refine is None else refine(labels, np.arange(len(labels)))
        return round(float(adjusted_rand_score(y[y != NOISE], last[points.inverse][y != NOISE])), 5)

    def kept(each: Candidate) -> list[float]:
        shares = np.bincount(each.labels, weights=graph.weights) / graph.weights.sum()
        entropy = float(-np.log(np.square(shares).sum()))
        alike = mixture is not None and rand_agreement(mixture.labels, each.labels) >= DEFAULT.same_agreement
        figures = (round(figure, 6) for figure in (each.stability, each.score, entropy))
        return [*each.setting, *figures, worth(each.labels), int(alike)]

    record: Record = {"set": data.name, "kind": data.kind, "seed": seed, "dimension": round(graph.dimension, 4)}
    record |= {
        "excess_prominence": round(excess_prominence, 4),
        "mixture": None if mixture is None else worth(mixture.labels),
    }
    # in the order of the grid: among equal scores, the selection takes the first
    return record | {
        name: [kept(each) for each in sorted(found, key=lambda c: c.setting)] for name, found in judged.items()
    }


def read_records(path: Path | None) -> list[Record]:
    """Return the records of a file of JSON lines; an empty list if there is no file."""
    if path is None or not path.exists():
        return []
    return [json.loads(line) for line in path.read_text().splitlines()]


def add_record(path: Path, record: Record) -> None:
    """Add a record to a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "a") as file:
        file.write(json.dumps(record, separators=(",", ":")) + "\n")


class _Best(NamedTuple):
    """The best candidate of a proposer for each record; without one, its stability is -1 and its ARI 0."""

    stability: np.ndarray
    ari: np.ndarray
    alike: np.ndarray


def _best(records: Sequence[Record], proposer: str, smoothing: float, entropy_weight: float) -> _Best:
    found = []
    for record in records:
        if not record[proposer]:
            found.append((-1.0, 0.0, 0.0))
            continue
        _, _, stability, around, entropy, ari, alike = np.array(record[proposer]).T
        first = np.argmax((1.0 - smoothing) * stability + smoothing * around + entropy_weight * entropy)
        found.append((stability[first], ari[first], alike[first]))
    return _Best(*np.array(found).T)


def answers(records: Sequence[Record], constants: Sequence[Constants]) -> np.ndarray:
    """Return the ARI of the selected partition, for each of the constants (rows) and records (columns)."""
    dimension, excess_prominence = (
        np.array([record[key] for record in records]) for key in ("dimension", "excess_prominence")
    )
    mixture = np.array([np.nan if record["mixture"] is None else record["mixture"] for record in records])
    bests: dict[tuple[float, float], tuple[_Best, _Best]] = {}
    found = np.empty((len(constants), len(records)))
    for row, c in enumerate(constants):
        key = c.smoothing, c.entropy_weight
        if key not in bests:
            bests[key] = _best(records, "modes", *key), _best(records, "communities", *key)
        modes, communities = bests[key]
        least = np.where(excess_prominence >= DEFAULT.clear_excess_prominence, c.min_stability_clear, c.min_stability)
        significant = (excess_prominence >= c.min_excess_prominence) & (modes.stability >= least)
        # a mixture precedes modes, unless these are significant and agree with it
        before = ~np.isnan(mixture) & ~(significant & (modes.alike > 0))
        low = np.where(before, mixture, np.where(significant, modes.ari, 0.0))
        high = np.where(communities.stability >= c.min_stability, communities.ari, 0.0)
        found[row] = np.where(dimension >= c.communities_dimension, high, low)
    return found


def by_set(records: Sequence[Record], scores: np.ndarray) -> np.ndarray:
    """Return the means over seeds, a column for each set."""
    names = np.array([record["set"] for record in records])
    return np.column_stack([scores[:, names == name].mean(axis=1) for name in dict.fromkeys(names)])


class SplitHalf(NamedTuple):
    """Mean ARI of constants: those that are there, the best on all sets, and chosen on halves.

    Attributes
    ----------
    present, best : float
        Over all sets.
    chosen_on, scored_on : float
        Over many splits: on the half that they were chosen on, and on the other. Of constants that are equally good on
        a half, the mean counts.
    near : float
        As `scored_on`, where of equals only those count that have most in common with the present constants.
    spread : float
        Standard deviation over splits of how far `scored_on` is ahead of the present constants on that half.
    constants : Constants
        The best on all sets, of equals one that has most in common with the present ones.
    sets, tried : int
    """

    present: float
    best: float
    chosen_on: float
    scored_on: float
    near: float
    spread: float
    constants: Constants
    sets: int
    tried: int


def split_half(records: Sequence[Record], splits: int = SPLITS, seed: int = 0) -> SplitHalf:
    """Choose constants on a random half of the sets and score them on the other, many times, both ways round."""
    tried = [PRESENT, *(c for c in itertools.starmap(Constants, itertools.product(*TRIED)) if c != PRESENT)]
    common = (np.array(tried) == np.array(PRESENT)).sum(axis=1)
    scores = by_set(records, answers(records, tried))
    rng = np.random.default_rng(seed)
    n = scores.shape[1]
    found = []
    for _ in range(splits):
        half = np.isin(np.arange(n), rng.permutation(n)[: n // 2])
        for one in (half, ~half):
            mean, rest = scores @ (one / one.sum()), scores @ (~one / (n - one.sum()))
            equals = _best_of(mean)
            near = equals[common[equals] == common[equals].max()]
            found.append((mean.max(), rest[equals].mean(), rest[near].mean(), rest[0]))
    chosen_on, scored_on, near, present = np.array(found).T
    everywhere = scores.mean(axis=1)
    equals = _best_of(everywhere)
    best = tried[equals[common[equals].argmax()]]
    means = (everywhere[0], everywhere.max(), chosen_on.mean(), scored_on.mean(), near.mean())
    return SplitHalf(*map(float, means), float((scored_on - present).std()), best, n, len(tried))


def _best_of(means: np.ndarray) -> np.ndarray:
    return np.flatnonzero(means >= means.max() - 1e-9)
