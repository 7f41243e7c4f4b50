"""Training of the networks behind ModeSeek's choice, with NumPy alone.

A network scores each candidate of a set, and softmax(score) is the probability p that a candidate is the true
partition. With the agreement A of all pairs of candidates, e = A p is the expected agreement of each candidate, by
which `ModeSeek` chooses. Each step uses a random half of the candidates of each set. The loss is the sum of three
terms, with y the true adjusted Rand index of the candidates:

- the regret of a random choice by softmax(beta e): the best y less the expected y;
- the squared error of e as a prediction of y, so that the expected agreement is right on average;
- the regret of a random choice by p, with a small weight: it guides the first steps.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.special import softmax

from modeseek.selection.choice import BONUS_POINTS, CERTAIN, Choice, context_weights, probabilities, single_bonus
from modeseek.selection.features import FEATURES
from modeseek.selection.features.data_set import DATA_SET

# features of the data set would let a network recognise the family of a synthetic set
USED = tuple(name for name in FEATURES if name not in {each.name for each in DATA_SET})
FLAGS = ("log_k", "bic_gain", "gain", "apart_q10", "agree_mean_shift")


@dataclass(frozen=True)
class TrainingConfig:
    """Settings of the training.

    Attributes
    ----------
    hidden : int
        Units of each hidden layer.
    dropout : float
        Share of hidden units that are dropped in each step; half of it for inputs, the same ones for all candidates of
        a set.
    kept : float
        Share of the candidates of a set that are used in a step. The single cluster is always used.
    few_share : float
        Share of the sets with few rows that are used.
    epochs : int
    batch : int
        Sets in each step.
    rate : float
        Largest step size of Adam. It rises for a fifth of the steps, then falls as a cosine.
    decay : float
        Weight decay.
    quantiles : int
        Knots of the mapping of each feature to [-1, 1].
    least_ceiling : float
        Sets whose best candidate is worse than this are left out.
    beta : float
        Sharpness of the choice by the expected agreement.
    error_weight, guide_weight : float
        Weights of the second and of the third term of the loss.
    """

    hidden: int = 64
    dropout: float = 0.2
    kept: float = 0.5
    few_share: float = 0.5
    epochs: int = 18
    batch: int = 256
    rate: float = 3e-3
    decay: float = 1e-3
    quantiles: int = 33
    least_ceiling: float = 0.25
    beta: float = 10.0
    error_weight: float = 10.0
    guide_weight: float = 0.3


class Sets(NamedTuple):
    """Collected sets: a row of features and a score for each candidate, sorted by set.

    Features and agreement are kept in 16 bits, as they are stored, because 50,000 sets have millions of candidates.

    Attributes
    ----------
    features : (c, f) array
    scores : (c,) array
        Adjusted Rand index with the true labels.
    owner : (c,) array
        Set of each candidate.
    ceiling : (s,) array
        Score of the best candidate of each set.
    name : (s,) array of str
        Family, or name of a labelled set.
    few, change : (s,) arrays of bool
        Whether only few rows of the set were kept, and whether it was changed at random.
    agreement : (m,) array
        For each set, one after the other, the adjusted Rand index of each pair of its candidates.
    """

    features: np.ndarray
    scores: np.ndarray
    owner: np.ndarray
    ceiling: np.ndarray
    name: np.ndarray
    few: np.ndarray
    change: np.ndarray
    agreement: np.ndarray


class QuantileMaps(NamedTuple):
    """Knots and places of each used feature: quantiles, and their mean rank scaled to [-1, 1]."""

    knots: tuple[np.ndarray, ...]
    places: tuple[np.ndarray, ...]


def quantile_maps(features: np.ndarray, config: TrainingConfig) -> QuantileMaps:
    """Return the maps of features to the inputs of the networks."""
    grid = np.linspace(-1, 1, config.quantiles)
    knots, places = [], []
    for name in USED:
        column = features[:, FEATURES.index(name)].astype(np.float64)
        column = column[np.isfinite(column)]
        quantiles = np.quantile(column, np.linspace(0, 1, config.quantiles)) if len(column) else np.zeros(1)
        values = np.unique(quantiles)
        first, last = np.searchsorted(quantiles, values), np.searchsorted(quantiles, values, "right") - 1
        knots.append(values.astype(np.float32).astype(np.float64))
        places.append((grid[first] + grid[last]) / 2)
    return QuantileMaps(tuple(knots), tuple(places))


def in_processes(function: Callable[[Any], Any], items: Iterable[Any], jobs: int) -> list[Any]:
    """Return the results of a function, which may be a closure, for some items in forked processes."""
    if jobs == 1:
        return [function(item) for item in items]
    with multiprocessing.get_context("fork").Pool(jobs, initializer=_share, initargs=(function,)) as workers:
        return workers.map(_call, items, chunksize=1)


def _share(function: Callable[[Any], Any]) -> None:
    global _shared
    _shared = function


def _call(item: Any) -> Any:
    return _shared(item)


def train_choice(
    sets: Sets,
    inside: np.ndarray,
    seeds: Iterable[int],
    config: TrainingConfig,
    *,
    maps: QuantileMaps | None = None,
    jobs: int = 1,
) -> Choice:
    """Train one network for each seed on the sets `inside`; sharpness and bonus are not fitted.

    `maps` are those of a model to which the networks are added; by default, they are computed from the sets.
    """
    maps = quantile_maps(sets.features[inside[sets.owner]], config) if maps is None else maps
    empty = Choice(USED, FLAGS, *maps, ())
    blocks = np.array_split(sets.features, max(1, len(sets.features) // 100_000))
    inputs = np.concatenate([empty.encode(block).astype(np.float32) for block in blocks])
    left_out = sets.few & (np.random.default_rng(0).random(len(sets.few)) >= config.few_share)
    chosen = np.flatnonzero(inside & (sets.ceiling > config.least_ceiling) & ~left_out)
    agreement = list(_matrices(sets))
    networks = in_processes(lambda seed: _train(inputs, sets, agreement, chosen, seed, config), seeds, jobs)
    layers = tuple(np.stack(each).astype(np.float64) for each in zip(*networks, strict=True))
    return Choice(USED, FLAGS, *maps, layers)


class Batch(NamedTuple):
    """Some candidates of some sets.

    Attributes
    ----------
    rows : (c,) array
        The candidates, as rows of `Sets.features`.
    parts : list of slice
        The candidates of each set.
    agreement, context : lists of arrays
        For each set, the agreement of its candidates and their weights in each other's context.
    """

    rows: np.ndarray
    parts: list[slice]
    agreement: list[np.ndarray]
    context: list[np.ndarray]

    def averaged(self, values: np.ndarray, *, transposed: bool = False) -> np.ndarray:
        """Return the context of each candidate; `transposed`, the sum of each candidate over the contexts."""
        found = np.empty_like(values)
        for part, weights in zip(self.parts, self.context, strict=True):
            found[part] = (weights.T if transposed else weights) @ values[part]
        return found


def draw_batch(sets: list[int], start, agreement, rng: np.random.Generator, config: TrainingConfig) -> Batch:
    """Return a random share of the candidates of some sets."""
    kept = []
    for i in sets:
        inside = rng.random(start[i + 1] - start[i]) < config.kept
        inside[-1] = True
        kept.append(np.flatnonzero(inside))
    ends = np.cumsum([len(each) for each in kept])
    matrices = [agreement[i][np.ix_(each, each)].astype(np.float32) for i, each in zip(sets, kept, strict=True)]
    return Batch(
        np.concatenate([start[i] + each for i, each in zip(sets, kept, strict=True)]),
        [slice(end - len(each), end) for end, each in zip(ends, kept, strict=True)],
        matrices,
        [context_weights(each).astype(np.float32) for each in matrices],
    )


def _train(inputs, sets: Sets, agreement, chosen, seed: int, config: TrainingConfig) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    start = np.searchsorted(sets.owner, np.arange(len(sets.ceiling) + 1))
    h, d = config.hidden, inputs.shape[1]
    layers = [rng.normal(size=(d, h)) * (2 / d) ** 0.5, np.zeros(h)]
    layers += [rng.normal(size=(h, h)) / h**0.5, rng.normal(size=(h, h)) / h**0.5, np.zeros(h)]
    layers += [rng.normal(size=(h, 1)) * 0.1 / h**0.5, np.zeros(1)]
    layers = [each.astype(np.float32) for each in layers]
    moments = [(np.zeros_like(each), np.zeros_like(each)) for each in layers]
    size = min(config.batch, len(chosen))
    steps = max(1, int(config.epochs * len(chosen) / size))
    for step in range(steps):
        batch = draw_batch(rng.choice(chosen, size, replace=False), start, agreement, rng, config)
        gradient = _gradient(layers, inputs[batch.rows], np.clip(sets.scores[batch.rows], 0, 1), batch, rng, config)
        done = step / steps
        rate = config.rate * min(1.0, 5 * done + 0.02) * (0.5 + 0.5 * np.cos(np.pi * max(0.0, (done - 0.2) / 0.8)))
        for i, (slope, (mean, square)) in enumerate(zip(gradient, moments, strict=True)):
            mean += 0.1 * (slope - mean)
            square += 0.001 * (slope**2 - square)
            move = mean / (1 - 0.9 ** (step + 1)) / (np.sqrt(square / (1 - 0.999 ** (step + 1))) + 1e-8)
            layers[i] -= np.float32(rate) * (move + config.decay * layers[i] * (layers[i].ndim > 1))
    return layers


def _gradient(layers, x, y, batch: Batch, rng: np.random.Generator, config: TrainingConfig) -> list[np.ndarray]:
    """Return the gradient of the loss over the candidates of one step."""
    w1, b1, w2, v2, b2, w3, b3 = layers
    n_sets = len(batch.parts)

    def kept(shape: tuple[int, ...]) -> np.ndarray:
        return (rng.random(shape, dtype=np.float32) > config.dropout) / np.float32(1 - config.dropout)

    mask = rng.random((n_sets, x.shape[1]), dtype=np.float32) > config.dropout / 2
    x = x * np.repeat(mask, [part.stop - part.start for part in batch.parts], axis=0)
    a1 = x @ w1 + b1
    gate1 = (a1 > 0) * kept(a1.shape)
    first = a1 * gate1
    context = batch.averaged(first)
    a2 = first @ w2 + context @ v2 + b2
    gate2 = (a2 > 0) * kept(a2.shape)
    second = a2 * gate2
    out = (second @ w3 + b3)[:, 0]
    slope = np.empty((len(out), 1), dtype=np.float32)
    for part, agreement in zip(batch.parts, batch.agreement, strict=True):
        slope[part, 0] = _slope(out[part].astype(np.float64), y[part], agreement, config) / n_sets
    back2 = (slope @ w3.T) * gate2
    back1 = (back2 @ w2.T + batch.averaged(back2 @ v2.T, transposed=True)) * gate1
    return [
        x.T @ back1,
        back1.sum(0),
        first.T @ back2,
        context.T @ back2,
        back2.sum(0),
        second.T @ slope,
        slope.sum(0),
    ]


def scores_of(choice: Choice, sets: Sets, inside: np.ndarray | None = None) -> np.ndarray:
    """Return the scores of all candidates, without the bonus; 0 for sets that are not `inside`."""
    found = np.zeros(len(sets.owner))
    for i, (rows, agreement) in enumerate(each_set(sets)):
        if inside is None or inside[i]:
            found[rows] = choice.raw_scores(sets.features[rows], agreement)
    return found


def fit_sharpness(scores: np.ndarray, sets: Sets, null: np.ndarray, bonus: np.ndarray) -> np.ndarray:
    """Return the two factors of `probabilities`, from scores of families that were left out of the training.

    The first maximizes the likelihood of "one cluster" for the sets `null` and of "several" for the others. The second
    makes the expected agreement of the chosen candidates right on average. All families have the same weight, and sets
    of so few points that the bonus prefers clusters have none.
    """
    first = np.searchsorted(sets.owner, np.arange(len(sets.name)))
    enough = np.exp(sets.features[first, FEATURES.index("log_n")]) >= BONUS_POINTS[-2]
    family = np.unique(sets.name, return_inverse=True)[1]
    weight = (1.0 / np.maximum(np.bincount(family[enough], minlength=family.max() + 1), 1))[family] * enough
    factors = np.geomspace(0.2, 2.0, 24)
    likelihood = np.zeros(len(factors))
    for i, (rows, _) in enumerate(each_set(sets)):
        if enough[i]:
            single = np.array([softmax(factor * scores[rows])[-1] for factor in factors])
            likelihood += weight[i] * np.log(np.clip(single if null[i] else 1 - single, *CERTAIN))
    found = np.array([factors[likelihood.argmax()], 1.0])
    errors = []
    for factor in factors:
        chosen = decide(scores, sets, np.array([found[0], factor]), bonus)
        errors.append(abs(weight @ (chosen.expected - chosen.score)))
    found[1] = factors[int(np.argmin(errors))]
    return found


def _slope(scores: np.ndarray, y: np.ndarray, agreement: np.ndarray, config: TrainingConfig) -> np.ndarray:
    """Return the derivative of the loss of one set with respect to the scores of its candidates."""
    p = softmax(scores)
    expected = agreement @ p
    chosen = softmax(config.beta * expected)
    # half of the weight is on candidates that are likely to be chosen
    weight = (chosen + 1.0 / len(y)) / 2
    slope = 2 * config.error_weight * weight * (expected - y) - config.beta * chosen * (y - chosen @ y)
    back = agreement @ slope - config.guide_weight * y
    return p * (back - p @ back)


class Decisions(NamedTuple):
    """The chosen candidate of each set: its adjusted Rand index with the truth, and the expected one."""

    score: np.ndarray
    expected: np.ndarray


def decide(scores: np.ndarray, sets: Sets, sharpness: np.ndarray, bonus: np.ndarray) -> Decisions:
    """Choose the candidate with the largest expected agreement in each set, as `ModeSeek` does."""
    found = []
    for rows, agreement in each_set(sets):
        mine = scores[rows].astype(np.float64)
        mine[-1] += single_bonus(sets.features[rows], bonus)
        expected = probabilities(mine, sharpness) @ agreement
        best = int(expected.argmax())
        found.append((max(0.0, sets.scores[rows][best]), expected[best]))
    return Decisions(*np.array(found).T)


def each_set(sets: Sets) -> Iterator[tuple[slice, np.ndarray]]:
    """Yield the rows of each set, and the agreement of its candidates."""
    end = 0
    for agreement in _matrices(sets):
        begin, end = end, end + len(agreement)
        yield slice(begin, end), agreement.astype(np.float32)


def _matrices(sets: Sets) -> Iterator[np.ndarray]:
    end = 0
    for count in np.bincount(sets.owner, minlength=len(sets.name)):
        begin, end = end, end + count**2
        yield sets.agreement[begin:end].reshape(count, count)
