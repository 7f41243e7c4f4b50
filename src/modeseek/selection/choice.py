"""The choice among candidates: a small neural network, trained on synthetic sets, that scores each candidate.

The arrays of the network are in `choice.npz`, written by `benchmarks/train_selection.py`; docs/model-card.md says what
it was trained on. Evaluation needs NumPy only.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from importlib import resources

import numpy as np

from modeseek._common.types import Array
from modeseek.selection.features import FEATURES

# scores closer than this are equal: the earlier candidate wins, whatever the last bits of the sums are
TIE = 1e-9
# with fewer points, data with and without clusters differ less
FEW_POINTS = 100
# what speaks for a candidate, by the start of the names of its features
REASONS = {
    "it is reproduced better on subsamples": ("stable",),
    "the density is lower between clusters": ("dip", "mid", "edge"),
    "fewer nearest neighbours are in other clusters": ("inside", "minority", "modularity", "purity", "cut"),
    "the clusters are more compact": ("r2", "calinski", "simple", "silhouette"),
    "neighbouring clusters are further apart": ("apart", "valley", "split"),
    "Gaussians fitted to the clusters predict new rows better": ("gain", "gauss", "bic"),
    "more of the proposals agree with it": ("votes", "vote_kinds", "agree", "finer", "coarser", "is_", "variant"),
    "its cluster sizes are more typical": (
        *("log_k", "log_rows", "entropy", "simpson", "evenness", "largest", "smallest", "tiny", "n_tiny"),
    ),
}
# points on the line between two candidates at which gradients are evaluated
PATH_POINTS = 16


@dataclass(frozen=True, eq=False)
class Choice:
    """An ensemble of networks with two hidden layers that scores candidates by their features.

    Attributes
    ----------
    names : tuple of str
        Features that the networks use.
    flags : tuple of str
        Features whose absence (NaN) is an input of its own.
    knots, places : sequences of arrays
        For each feature, values and the inputs in [-1, 1] that they are mapped to; values between are interpolated.
        A missing value is mapped to 0.
    layers : tuple of arrays
        Weights and offsets of the three layers, each with one leading axis for the networks. The last layer has two
        outputs: a score, and the logit of the adjusted Rand index with the true partition.
    calibration : (2,) array
        Offset and factor of the logit, so that the prediction for a chosen candidate is right on average.
    single_bonus : (2,) array
        Added to the score of the single cluster, for fewer than `FEW_POINTS` points and for more. Networks are trained
        on some of the candidates of a set; among all of them, the best score of a wrong candidate is higher.
    """

    names: tuple[str, ...]
    flags: tuple[str, ...]
    knots: tuple[Array, ...]
    places: tuple[Array, ...]
    layers: tuple[Array, ...]
    calibration: Array
    single_bonus: Array = field(default_factory=lambda: np.zeros(2))

    def regret(self, features: Array) -> Array:
        """Return the negative score of each candidate: the one with the smallest value is chosen.

        Parameters
        ----------
        features : (c, f) array
            Table of `candidate_features`, with the columns of `FEATURES`.
        """
        table = np.asarray(features)
        single = np.isnan(table[:, FEATURES.index("log_k")])
        many = table[:, FEATURES.index("log_n")] >= np.log(FEW_POINTS)
        return -self._outputs(self.encode(table))[:, 0] - np.where(single, self.single_bonus[many.astype(int)], 0.0)

    def expected_agreement(self, features: Array) -> Array:
        """Return the expected adjusted Rand index of each candidate with the true partition, if it is chosen."""
        offset, factor = self.calibration
        return 1.0 / (1.0 + np.exp(-offset - factor * self._outputs(self.encode(features))[:, 1]))

    def reasons(self, features: Array, chosen: int, other: int, *, limit: int = 2) -> list[str]:
        """Return what decides for one candidate against another, the strongest reason first.

        The difference of the scores is divided among the features by integrated gradients: the mean gradient on the
        line between the inputs of the two candidates, times the difference of the inputs.
        """
        both = self.encode(features[[other, chosen]])
        steps = (np.arange(PATH_POINTS) + 0.5)[:, None] / PATH_POINTS
        gradient = self._gradient(both[0] + steps * (both[1] - both[0])).mean(axis=0)
        shares = gradient * (both[1] - both[0])
        total = {
            reason: sum(share for name, share in zip(self.names, shares, strict=False) if _concerns(name, starts))
            for reason, starts in REASONS.items()
        }
        best = sorted((reason for reason in total if total[reason] > 0), key=lambda reason: -total[reason])
        return best[:limit]

    def encode(self, features: Array) -> Array:
        """Return the inputs of the networks: features mapped to [-1, 1], and flags for missing ones."""
        columns = [FEATURES.index(name) for name in (*self.names, *self.flags)]
        table = np.asarray(features, dtype=np.float64)[:, columns]
        inputs = np.zeros(table.shape)
        present = np.isfinite(table)
        for j, (knots, places) in enumerate(zip(self.knots, self.places, strict=True)):
            inputs[present[:, j], j] = np.interp(table[present[:, j], j], knots, places)
        inputs[:, len(self.names) :] = ~present[:, len(self.names) :]
        return inputs

    def _hidden(self, inputs: Array) -> tuple[Array, Array]:
        w1, b1, w2, b2, _, _ = self.layers
        first = np.maximum(inputs @ w1 + b1[:, None], 0.0)
        return first, np.maximum(first @ w2 + b2[:, None], 0.0)

    def _outputs(self, inputs: Array) -> Array:
        w3, b3 = self.layers[4:]
        return np.asarray((self._hidden(inputs)[1] @ w3 + b3[:, None]).mean(axis=0))

    def _gradient(self, inputs: Array) -> Array:
        """Return the gradient of the score with respect to the inputs."""
        w1, _, w2, _, w3, _ = self.layers
        first, second = self._hidden(inputs)
        back = (second > 0) * w3[:, None, :, 0]
        back = (first > 0) * (back @ w2.transpose(0, 2, 1))
        return np.asarray((back @ w1.transpose(0, 2, 1)).mean(axis=0))


def best_candidate(regret: Array) -> int:
    """Return the candidate with the smallest regret; of several within rounding, the first.

    Examples
    --------
    >>> best_candidate(np.array([0.5, 0.25, 0.25]))
    1
    """
    return int(np.flatnonzero(regret <= regret.min() + TIE)[0])


@lru_cache(maxsize=1)
def load_choice() -> Choice:
    """Return the trained model that is part of the package."""
    with resources.files("modeseek.selection").joinpath("choice.npz").open("rb") as file, np.load(file) as stored:
        ends = np.cumsum(stored["n_knots"])[:-1]
        return Choice(
            tuple(map(str, stored["names"])),
            tuple(map(str, stored["flags"])),
            tuple(np.split(stored["knots"].astype(np.float64), ends)),
            tuple(np.split(stored["places"].astype(np.float64), ends)),
            tuple(stored[f"layer{i}"].astype(np.float64) for i in range(6)),
            stored["calibration"],
            stored["single_bonus"],
        )


def _concerns(name: str, starts: tuple[str, ...]) -> bool:
    return name.removeprefix("rank_").removeprefix("best_").startswith(starts)
