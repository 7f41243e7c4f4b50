"""The choice among candidates: a small neural network, trained on synthetic sets, that scores each candidate.

The arrays of the network are in `choice.npz`, written by `benchmarks/train_selection.py`; docs/model-card.md describes
the training. Evaluation needs NumPy only.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from importlib import resources
from pathlib import Path
from typing import IO

import numpy as np
from scipy.special import softmax

from modeseek._common.types import Array, IntArray
from modeseek.selection.features import FEATURES

# expected agreements closer than this count as equal, so that rounding does not decide; the earlier candidate is chosen
TIE = 1e-9
# bounds on the probability of the single cluster, so that the other candidates never all have probability 0
CERTAIN = (1e-6, 1.0 - 1e-6)
# numbers of points for which `Choice.single_bonus` is given; between them it is interpolated
BONUS_POINTS = (60, 100, 200, 1000)
TYPICAL_SIZES = ("log_k", "log_rows", "entropy", "simpson", "evenness", "largest", "smallest", "tiny", "n_tiny")
# reasons in messages; a reason stands for the features whose names, without "rank_" and "best_", start with its words
REASONS = {
    "it is reproduced better on subsamples": ("stable",),
    "the density is lower between clusters": ("dip", "mid", "edge"),
    "its clusters differ in density": ("density_r2", "contrast"),
    "fewer nearest neighbours are in other clusters": ("inside", "minority", "modularity", "purity", "cut", "surface"),
    "the clusters are more compact": ("r2", "calinski", "simple", "silhouette"),
    "neighbouring clusters are further apart": ("apart", "valley", "split", "pair_m", "pair_q", "pair_v"),
    "Gaussians fitted to the clusters predict new rows better": ("gain", "gauss", "bic", "pair_gain", "halves"),
    "more of the proposals agree with it": ("votes", "vote_kinds", "agree", "finer", "coarser", "is_", "variant"),
    "its cluster sizes are more typical": TYPICAL_SIZES,
}
# points on the line between two candidates at which gradients are evaluated
PATH_POINTS = 16
# the weight of another candidate in the context is its agreement to this power
CONTEXT_POWER = 4


@dataclass(frozen=True, eq=False)
class Choice:
    """An ensemble of networks with two hidden layers that scores candidates by their features.

    The second layer of a candidate also receives its *context*: the mean of the first layers of all candidates,
    weighted by their agreement with this candidate (`context_weights`).

    Attributes
    ----------
    names : tuple of str
        Features that the networks use.
    flags : tuple of str
        Features that have an additional input, which is 1 if the feature is missing (NaN).
    knots, places : sequences of arrays
        For each feature, values and the inputs in [-1, 1] that they are mapped to; values between are interpolated.
        A missing value is mapped to 0.
    layers : tuple of arrays
        Weights and offsets; the first axis of each array is the network. The seven arrays are: weights of the inputs
        and offset, for the first layer; weights of the first layer, weights of the context and offset, for the second
        layer; weights of the second layer and offset, for the score.
    sharpness : (2,) array
        Factors of the scores in `probabilities`. The first one determines the probability of a single cluster, the
        second one those of the other candidates. With these factors, the expected agreement of the chosen candidates is
        about equal to the actual agreement on average.
    single_bonus : (4,) array
        Number that is added to the score of the single cluster, for each number of points in `BONUS_POINTS`. Between
        these, it is linear in the logarithm of the number of points. With few points, data with and without clusters
        look alike; a negative bonus then prefers clusters. With a few hundred points, a positive bonus prevents that
        data without clusters are divided. For unit vectors, the last bonus is used with any number of points, because
        fewer points are enough to distinguish their clusters from a single one.
    """

    names: tuple[str, ...]
    flags: tuple[str, ...]
    knots: tuple[Array, ...]
    places: tuple[Array, ...]
    layers: tuple[Array, ...]
    sharpness: Array = field(default_factory=lambda: np.ones(2))
    single_bonus: Array = field(default_factory=lambda: np.zeros(len(BONUS_POINTS)))

    def scores(self, features: Array, agreement: Array) -> Array:
        """Return the score of each candidate.

        Parameters
        ----------
        features : (c, f) array
            Table of `candidate_features`, with the columns of `FEATURES`. The last row is the single cluster.
        agreement : (c, c) array
            Agreement of all pairs of candidates (`with_single`).
        """
        found = self.raw_scores(features, agreement)
        found[-1] += single_bonus(features, self.single_bonus)
        return found

    def raw_scores(self, features: Array, agreement: Array) -> Array:
        """Return the score of each candidate without the bonus of the single cluster."""
        inputs = self.encode(features)
        return self._scores(inputs, self._context(inputs, agreement))

    def probabilities(self, features: Array, agreement: Array) -> Array:
        """Return the probability that each candidate is the true partition, given that one of them is."""
        return probabilities(self.scores(features, agreement), self.sharpness)

    def reasons(self, features: Array, agreement: Array, chosen: int, other: int, *, limit: int = 2) -> list[str]:
        """Return the reasons for one candidate over another, the strongest first.

        The difference of the scores is divided among the features by integrated gradients: the mean gradient on the
        line between the inputs of the two candidates, times the difference of the inputs. The part that is due to
        their contexts is left out.
        """
        inputs = self.encode(features)
        both, context = inputs[[other, chosen]], self._context(inputs, agreement)[:, [other, chosen]]
        steps = (np.arange(PATH_POINTS) + 0.5)[:, None] / PATH_POINTS
        path = (each[..., :1, :] + steps * (each[..., 1:, :] - each[..., :1, :]) for each in (both, context))
        shares = self._gradient(*path).mean(axis=0) * (both[1] - both[0])
        total = {reason: sum(shares[own].tolist()) for reason, own in self._inputs_of.items()}
        best = sorted((reason for reason in total if total[reason] > 0), key=lambda reason: -total[reason])
        return best[:limit]

    def encode(self, features: Array) -> Array:
        """Return the inputs of the networks: features mapped to [-1, 1], and flags for missing ones."""
        table = np.asarray(features, dtype=np.float64)[:, self._columns]
        inputs = np.zeros(table.shape)
        present = np.isfinite(table)
        for j, (knots, places) in enumerate(zip(self.knots, self.places, strict=True)):
            inputs[present[:, j], j] = np.interp(table[present[:, j], j], knots, places)
        inputs[:, len(self.names) :] = ~present[:, len(self.names) :]
        return inputs

    @cached_property
    def _columns(self) -> IntArray:
        """Indices of the features and flags in `FEATURES`."""
        return np.array([FEATURES.index(name) for name in (*self.names, *self.flags)])

    @cached_property
    def _inputs_of(self) -> dict[str, list[int]]:
        """Indices of the inputs that belong to each reason."""
        names = list(enumerate(self.names))
        return {reason: [i for i, name in names if _concerns(name, starts)] for reason, starts in REASONS.items()}

    def _first(self, inputs: Array) -> Array:
        w1, b1 = self.layers[:2]
        return np.asarray(np.maximum(inputs @ w1 + b1[:, None], 0.0))

    def _context(self, inputs: Array, agreement: Array) -> Array:
        return np.asarray(context_weights(agreement) @ self._first(inputs))

    def _second(self, first: Array, context: Array) -> Array:
        w2, v2, b2 = self.layers[2:5]
        return np.asarray(np.maximum(first @ w2 + context @ v2 + b2[:, None], 0.0))

    def _scores(self, inputs: Array, context: Array) -> Array:
        w3, b3 = self.layers[5:]
        return np.asarray((self._second(self._first(inputs), context) @ w3 + b3[:, None]).mean(axis=0)[:, 0])

    def _gradient(self, inputs: Array, context: Array) -> Array:
        """Return the gradient of the score with respect to the inputs, for a fixed context."""
        w1, _, w2, _, _, w3, _ = self.layers
        first = self._first(inputs)
        back = (self._second(first, context) > 0) * w3[:, None, :, 0]
        back = (first > 0) * (back @ w2.transpose(0, 2, 1))
        return np.asarray((back @ w1.transpose(0, 2, 1)).mean(axis=0))


def context_weights(agreement: Array) -> Array:
    """Return the weights of all candidates (columns) in the context of each candidate (row); rows sum to 1.

    Parameters
    ----------
    agreement : (c, c) array
        Agreement of all pairs of candidates. The last candidate is the single cluster, which agrees with no other one:
        its context is the mean of all others.

    Examples
    --------
    >>> context_weights(np.array([[1.0, 0.5, 0.0], [0.5, 1.0, 0.0], [0.0, 0.0, 1.0]])).round(2)
    array([[0.94, 0.06, 0.  ],
           [0.06, 0.94, 0.  ],
           [0.5 , 0.5 , 0.  ]])
    """
    found = np.maximum(agreement, 0.0) ** CONTEXT_POWER
    if len(found) > 1:
        found[-1, :-1], found[-1, -1] = 1.0, 0.0
    return np.asarray(found / found.sum(axis=1, keepdims=True))


def single_bonus(features: Array, bonus: Array) -> float:
    """Return the bonus of the single cluster for the number of points in `features`; see `Choice.single_bonus`."""
    log_n, spherical = (features[-1, FEATURES.index(name)] for name in ("log_n", "spherical"))
    return float(bonus[-1] if spherical == 1 else np.interp(log_n, np.log(BONUS_POINTS), bonus))


def probabilities(scores: Array, sharpness: Array) -> Array:
    """Turn the scores of candidates into probabilities.

    The probability of the single cluster, the last candidate, is its share in softmax(sharpness[0] * score). The rest
    is divided among the others in proportion to exp(sharpness[1] * score).

    Examples
    --------
    >>> probabilities(np.array([2.0, 2.0, 2.0]), np.array([1.0, 0.5])).round(3)
    array([0.333, 0.333, 0.333])
    """
    if len(scores) == 1:
        return np.ones(1)
    single = np.clip(softmax(sharpness[0] * scores)[-1], *CERTAIN)
    return np.append((1.0 - single) * softmax(sharpness[1] * scores[:-1]), single)


def with_single(agreement: Array) -> Array:
    """Add the single cluster, as the last candidate, to the agreement of all pairs of candidates.

    Examples
    --------
    >>> with_single(np.ones((1, 1)))
    array([[1., 0.],
           [0., 1.]])
    """
    found = np.eye(len(agreement) + 1)
    found[:-1, :-1] = agreement
    return found


@lru_cache(maxsize=1)
def load_choice() -> Choice:
    """Return the trained model that is part of the package."""
    with resources.files("modeseek.selection").joinpath("choice.npz").open("rb") as file:
        return read_choice(file)


def read_choice(file: Path | IO[bytes]) -> Choice:
    """Read a trained model from a file."""
    with np.load(file) as stored:
        ends = np.cumsum(stored["n_knots"])[:-1]
        return Choice(
            tuple(map(str, stored["names"])),
            tuple(map(str, stored["flags"])),
            tuple(np.split(stored["knots"].astype(np.float64), ends)),
            tuple(np.split(stored["places"].astype(np.float64), ends)),
            tuple(stored[f"layer{i}"].astype(np.float64) for i in range(7)),
            stored["sharpness"],
            stored["single_bonus"],
        )


def _concerns(name: str, starts: tuple[str, ...]) -> bool:
    return name.removeprefix("rank_").removeprefix("best_").startswith(starts)
