"""Training of the networks behind ModeSeek's choice, with NumPy alone.

A network scores each candidate of a set, and softmax(score) is the probability p that a candidate is the true
partition. With the agreement A of all pairs of candidates, e = A p is the expected agreement of each candidate, by
which `ModeSeek` chooses. The loss is the sum of three terms, with y the true adjusted Rand index of the candidates:

- the regret of a random choice by softmax(beta e): the best y less the expected y;
- the squared error of e as a prediction of y, so that the expected agreement is right on average;
- the regret of a random choice by p, with a small weight: it guides the first steps.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import softmax

from modeseek.selection.choice import Choice, probabilities, single_bonus
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
        Share of hidden units that are dropped in each step; half of it for inputs.
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
    epochs: int = 45
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


def quantile_maps(features: np.ndarray, config: TrainingConfig) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Return knots and places of each used feature: quantiles, and their mean rank scaled to [-1, 1]."""
    grid = np.linspace(-1, 1, config.quantiles)
    knots, places = [], []
    for name in USED:
        column = features[:, FEATURES.index(name)]
        column = column[np.isfinite(column)]
        quantiles = np.quantile(column, np.linspace(0, 1, config.quantiles)) if len(column) else np.zeros(1)
        values = np.unique(quantiles)
        first, last = np.searchsorted(quantiles, values), np.searchsorted(quantiles, values, "right") - 1
        knots.append(values.astype(np.float32).astype(np.float64))
        places.append((grid[first] + grid[last]) / 2)
    return knots, places


def train_choice(sets: Sets, inside: np.ndarray, seeds: range, config: TrainingConfig) -> Choice:
    """Train one network for each seed on the sets `inside`; sharpness and bonus are not fitted."""
    rows = inside[sets.owner]
    knots, places = quantile_maps(sets.features[rows], config)
    empty = Choice(USED, FLAGS, tuple(knots), tuple(places), ())
    inputs = empty.encode(sets.features).astype(np.float32)
    chosen = np.flatnonzero(inside & (sets.ceiling > config.least_ceiling))
    agreement = [each for _, each in each_set(sets)]
    with ThreadPoolExecutor(2) as threads:
        networks = list(threads.map(lambda seed: _train(inputs, sets, agreement, chosen, seed, config), seeds))
    layers = tuple(np.stack(each).astype(np.float64) for each in zip(*networks, strict=True))
    return Choice(USED, FLAGS, tuple(knots), tuple(places), layers)


def _train(inputs, sets: Sets, agreement, chosen, seed: int, config: TrainingConfig) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    start = np.searchsorted(sets.owner, np.arange(len(sets.ceiling) + 1))
    h, d = config.hidden, inputs.shape[1]
    layers = [rng.normal(size=(d, h)) * (2 / d) ** 0.5, np.zeros(h), rng.normal(size=(h, h)) * (2 / h) ** 0.5]
    layers += [np.zeros(h), rng.normal(size=(h, 1)) * 0.1 / h**0.5, np.zeros(1)]
    layers = [each.astype(np.float32) for each in layers]
    moments = [(np.zeros_like(each), np.zeros_like(each)) for each in layers]
    batch = min(config.batch, len(chosen))
    steps = max(1, int(config.epochs * len(chosen) / batch))
    for step in range(steps):
        some = rng.choice(chosen, batch, replace=False)
        parts = [slice(start[i], start[i + 1]) for i in some]
        x, y = (np.concatenate([each[part] for part in parts]) for each in (inputs, sets.scores))
        gradient = _gradient(layers, x, np.clip(y, 0, 1), [agreement[i] for i in some], rng, config)
        done = step / steps
        rate = config.rate * min(1.0, 5 * done + 0.02) * (0.5 + 0.5 * np.cos(np.pi * max(0.0, (done - 0.2) / 0.8)))
        for i, (slope, (mean, square)) in enumerate(zip(gradient, moments, strict=True)):
            mean += 0.1 * (slope - mean)
            square += 0.001 * (slope**2 - square)
            move = mean / (1 - 0.9 ** (step + 1)) / (np.sqrt(square / (1 - 0.999 ** (step + 1))) + 1e-8)
            layers[i] -= np.float32(rate) * (move + config.decay * layers[i] * (layers[i].ndim > 1))
    return layers


def _gradient(layers, x, y, agreement, rng: np.random.Generator, config: TrainingConfig) -> list[np.ndarray]:
    """Return the gradient of the loss over the sets of one step; `agreement` has a matrix for each set."""
    w1, b1, w2, b2, w3, b3 = layers

    def kept(shape: tuple[int, ...], share: float) -> np.ndarray:
        return (rng.random(shape, dtype=np.float32) > share) / np.float32(1 - config.dropout)

    x = x * (rng.random(x.shape, dtype=np.float32) > config.dropout / 2)
    a1 = x @ w1 + b1
    gate1 = (a1 > 0) * kept(a1.shape, config.dropout)
    a2 = (a1 * gate1) @ w2 + b2
    gate2 = (a2 > 0) * kept(a2.shape, config.dropout)
    out = ((a2 * gate2) @ w3 + b3)[:, 0]
    slope, start = np.empty((len(out), 1), dtype=np.float32), 0
    for each in agreement:
        part = slice(start, start + len(each))
        slope[part, 0] = _slope(out[part].astype(np.float64), y[part], each, config) / len(agreement)
        start += len(each)
    back2 = (slope @ w3.T) * gate2
    back1 = (back2 @ w2.T) * gate1
    return [x.T @ back1, back1.sum(0), (a1 * gate1).T @ back2, back2.sum(0), (a2 * gate2).T @ slope, slope.sum(0)]


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
    counts = np.bincount(sets.owner, minlength=len(sets.name))
    end, square = np.cumsum(counts), np.cumsum(counts**2)
    for i, count in enumerate(counts):
        agreement = sets.agreement[square[i] - count**2 : square[i]].reshape(count, count)
        yield slice(end[i] - count, end[i]), agreement
