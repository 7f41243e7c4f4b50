"""Constants of the choice, chosen on half of the sets and scored on the other: from proposals that were kept.

`candidates_of` keeps of a set and seed all that the choice looks at, and what each proposal is worth by the labels.
`answers` then replays the choice at any constants in no time.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.metrics import adjusted_rand_score
from threadpoolctl import threadpool_limits

from ablation_variants import Change, Shared, changed
from labelled import NOISE, LabelledSet, prepared
from modeseek import ModeSeek
from modeseek._common.points import canonical_points
from modeseek._common.types import Geometry
from modeseek.estimators.mode_seek import _Polish
from modeseek.metrics import rand_agreement
from modeseek.selection import select

Record = dict[str, Any]
VIEWS = ("modes", "communities")
SPLITS = 1000


class Constants(NamedTuple):
    """What the choice goes by; names are those of `modeseek.selection.select`."""

    next_to_it: float
    finer: float
    communities_from: float
    sure: float
    excess_prominence: float
    stability: float


PRESENT = Constants(*(getattr(select, name.upper()) for name in Constants._fields))
# around what is there; the present value of each is always among them
TRIED = Constants(
    (0.0, 0.25, 0.5),
    (0.0, 0.005, 0.01, 0.02, 0.04),
    (2.8, 3.6, 4.5, 6.0),
    (0.5, 0.6, 0.7, 0.8, 0.9),
    (0.3, 0.6, 0.9),
    (0.3, 0.5, 0.7),
)


def candidates_of(data: LabelledSet, seed: int, shared: Shared) -> Record:
    """Return all proposals of both views for a set and seed, with what they are worth.

    Of each proposal that is not trivial: setting, stability, mean stability of the settings next to it, ln(1 / sum
    p^2), ARI with the labels (on the sphere after the last step), and whether it agrees with the mixture.
    """
    order = np.random.default_rng(seed).permutation(len(data.X))
    X, y = prepared(data.X, data.prep)[order], data.y[order]
    model = ModeSeek(metric="cosine" if data.prep == "l2" else "euclidean", random_state=seed)
    around = (Change(select, "NEXT_TO_IT", 1.0), Change(select, "FINER", 0.0))  # then the score is that of neighbours
    with threadpool_limits(1), changed(shared.changes()), changed(around):
        points = canonical_points(X, np.ones(len(X)), Geometry(model.metric))
        graph = model._knn_graph(points)
        excess_prominence = select.excess_prominence(graph)
        mixture = select.by_mixture(
            graph, np.random.default_rng(seed), clear=excess_prominence >= select.CLEAR_PROMINENCE
        )
        judged = {view: select._judged(graph, view, seed) for view in VIEWS}
    polish = _Polish(points.values) if points.geometry.spherical else None

    def worth(labels: np.ndarray) -> float:
        last = labels if polish is None else polish(labels, np.arange(len(labels)))
        return round(float(adjusted_rand_score(y[y != NOISE], last[points.inverse][y != NOISE])), 5)

    def kept(each: select.Candidate) -> list[float]:
        shares = np.bincount(each.labels, weights=graph.weights) / graph.weights.sum()
        entropy = float(-np.log(np.square(shares).sum()))
        alike = mixture is not None and rand_agreement(mixture.labels, each.labels) >= select.ALIKE
        figures = (round(figure, 6) for figure in (each.stability, each.score, entropy))
        return [*each.setting, *figures, worth(each.labels), int(alike)]

    record: Record = {"set": data.name, "kind": data.kind, "seed": seed, "dimension": round(graph.dimension, 4)}
    record |= {
        "excess_prominence": round(excess_prominence, 4),
        "mixture": None if mixture is None else worth(mixture.labels),
    }
    # in the order of the grid: of equals the choice takes the first
    return record | {view: [kept(each) for each in sorted(judged[view], key=lambda c: c.setting)] for view in VIEWS}


def read_records(path: Path | None) -> list[Record]:
    """Return the records of a file, a line of JSON for each; none if it is not there."""
    if path is None or not path.exists():
        return []
    return [json.loads(line) for line in path.read_text().splitlines()]


def add_record(path: Path, record: Record) -> None:
    """Add a record to a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "a") as file:
        file.write(json.dumps(record, separators=(",", ":")) + "\n")


class _Best(NamedTuple):
    """The best proposal of a view for each record; where there is none, its stability is -1 and its ARI 0."""

    stability: np.ndarray
    ari: np.ndarray
    alike: np.ndarray


def _best(records: Sequence[Record], view: str, next_to_it: float, finer: float) -> _Best:
    found = []
    for record in records:
        if not record[view]:
            found.append((-1.0, 0.0, 0.0))
            continue
        _, _, stability, around, entropy, ari, alike = np.array(record[view]).T
        first = np.argmax((1.0 - next_to_it) * stability + next_to_it * around + finer * entropy)
        found.append((stability[first], ari[first], alike[first]))
    return _Best(*np.array(found).T)


def answers(records: Sequence[Record], constants: Sequence[Constants]) -> np.ndarray:
    """Return the ARI of what would be chosen, a row for each constants, a column for each record."""
    dimension, excess_prominence = (
        np.array([record[key] for record in records]) for key in ("dimension", "excess_prominence")
    )
    mixture = np.array([np.nan if record["mixture"] is None else record["mixture"] for record in records])
    bests: dict[tuple[float, float], tuple[_Best, _Best]] = {}
    found = np.empty((len(constants), len(records)))
    for row, c in enumerate(constants):
        key = c.next_to_it, c.finer
        if key not in bests:
            bests[key] = _best(records, "modes", *key), _best(records, "communities", *key)
        modes, communities = bests[key]
        least = np.where(excess_prominence >= select.CLEAR_PROMINENCE, c.stability, c.sure)
        passes = (excess_prominence >= c.excess_prominence) & (modes.stability >= least)
        # a mixture comes first, unless modes that pass say the same
        before = ~np.isnan(mixture) & ~(passes & (modes.alike > 0))
        low = np.where(before, mixture, np.where(passes, modes.ari, 0.0))
        high = np.where(communities.stability >= c.sure, communities.ari, 0.0)
        found[row] = np.where(dimension >= c.communities_from, high, low)
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
