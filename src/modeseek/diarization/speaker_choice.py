"""The choice among partitions of the windows of a recording.

Two quadratic functions of features of a partition predict how well the partition agrees with the true speakers, and
whether there is only one speaker. Their coefficients, in `speaker_choice.npz`, are learned on synthetic recordings by
`benchmarks/train_speakers.py`.
"""

from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from typing import NamedTuple

import numpy as np
from scipy.special import expit, softmax

from modeseek._common.types import Array, IntArray
from modeseek.metrics import rand_agreement

# features of a partition of the rows
SHAPES = (
    *("log_n", "log_k", "silhouette", "silhouette_q10", "silhouette_negative", "silhouette_smallest"),
    *("margin", "margin_q10", "margin_positive", "within", "between", "gap", "within_share", "small", "evenness"),
    *("dimension_within", "mean_length", "own_cosine", "other_cosine", "dimension_between"),
    *("silhouette_behind", "gap_behind"),
)
# features of the agreement of a partition with subsamples and with the partitions of ModeSeek
AGREEMENTS = ("stability", "mode_seek", "mode_expected", "mode_most", "mode_single")
FEATURES = (*SHAPES, *AGREEMENTS)
# standardised features are clipped to this absolute value, because the functions must not be extrapolated
FARTHEST = 4.0
TINY = 1e-12


class MeanCosines(NamedTuple):
    """Cosines of rows with the mean directions of clusters. A row is left out of the mean of the cluster that it is in.

    Attributes
    ----------
    cosines : (n, k) array
        Cosine of each row with the mean direction of each cluster.
    products : (n, k) array
        Inner product of each row with the sum of the rows of each cluster.
    sums : (k, d) array
        Sum of the rows of each cluster.
    sizes : (k,) array
        Number of rows of each cluster.
    """

    cosines: Array
    products: Array
    sums: Array
    sizes: Array


def mean_cosines(rows: Array, labels: IntArray) -> MeanCosines:
    """Return the cosines of unit rows with the mean directions of clusters; -1 if the row is alone in the cluster."""
    every = np.arange(len(rows))
    member = np.zeros((len(rows), int(labels.max()) + 1))
    member[every, labels] = 1.0
    sums, sizes = member.T @ rows, member.sum(axis=0)
    products, squares = rows @ sums.T, np.square(sums).sum(axis=1)
    cosines = products / np.sqrt(np.maximum(squares, TINY))
    own = products[every, labels]
    left = np.sqrt(np.maximum(squares[labels] - 2 * own + 1, TINY))
    cosines[every, labels] = np.where(sizes[labels] > 1, (own - 1) / left, -1.0)
    return MeanCosines(cosines, products, sums, sizes)


def partition_features(rows: Array, partitions: list[IntArray]) -> Array:
    """Return the features of partitions of unit rows: one row for each partition, with the columns `SHAPES`.

    Examples
    --------
    >>> rows = np.repeat(np.eye(3), 5, axis=0)
    >>> partition_features(rows, [np.repeat([0, 1, 2], 5), np.repeat([0, 1, 1], 5)]).shape
    (2, 22)
    """
    rows = np.asarray(rows, dtype=np.float64)
    found = np.array([_features(rows, labels) for labels in partitions])
    behind = [found[:, SHAPES.index(name)] for name in ("silhouette", "gap")]
    return np.column_stack([found, *(values - values.max() for values in behind)])


class ModePartitions(NamedTuple):
    """The partition that ModeSeek chose, and its alternatives with several clusters.

    Attributes
    ----------
    labels : (n,) integer array
    alternatives : list of (n,) integer arrays
    expected : list of float
        Expected agreement of the alternatives with the true clusters.
    """

    labels: IntArray
    alternatives: list[IntArray]
    expected: list[float]


def mode_features(partitions: list[IntArray], modes: ModePartitions) -> Array:
    """Return how well each partition agrees with those of ModeSeek: the columns `AGREEMENTS` without the first.

    An alternative of ModeSeek bounds the expected agreement of a partition from below, by the expected agreement of the
    alternative times its agreement with the partition. The column has the largest of these bounds.

    Examples
    --------
    >>> one, two = np.array([0, 0, 1, 1]), np.array([0, 1, 1, 1])
    >>> mode_features([one, two], ModePartitions(one, [one, two], [0.8, 0.5]))
    array([[1. , 0.8, 0.8, 0. ],
           [0. , 0.5, 0.8, 0. ]])
    """
    agreement = np.array([_agreement_with(modes.labels, labels) for labels in partitions])
    expected = np.zeros(len(partitions))
    for other, value in zip(modes.alternatives, modes.expected, strict=True):
        expected = np.maximum(expected, [value * rand_agreement(labels, other) for labels in partitions])
    most, single = max(modes.expected, default=0.0), float(modes.labels.max() == 0)
    return np.column_stack([agreement, expected, np.full_like(expected, most), np.full_like(expected, single)])


def _agreement_with(chosen: IntArray, labels: IntArray) -> float:
    return rand_agreement(chosen, labels) if chosen.max() > 0 else 0.0


def _features(rows: Array, labels: IntArray) -> list[float]:
    """Return the features of a partition that do not depend on the other partitions."""
    n, every = len(rows), np.arange(len(rows))
    cosines, products, sums, sizes = mean_cosines(rows, labels)
    k, size = len(sizes), sizes[labels]
    own, others = cosines[every, labels], cosines.copy()
    others[every, labels] = -np.inf
    other = others.max(axis=1)
    margin = own - other
    # the cosine of unit rows is linear in each row, so mean distances follow from the sums of the rows
    within = np.where(size > 1, 1 - (products[every, labels] - 1) / np.maximum(size - 1, 1), 0.0)
    distances = 1 - products / sizes
    distances[every, labels] = np.inf
    between = distances.min(axis=1)
    silhouette = np.where(size > 1, (between - within) / np.maximum(np.maximum(within, between), TINY), 0.0)
    total = sums.sum(axis=0)
    everywhere = max((n * n - float(total @ total)) / (n * (n - 1)), TINY)
    means = np.bincount(labels, margin) / sizes
    deviations = np.sqrt(np.maximum(np.bincount(labels, margin**2) / sizes - means**2, 1e-6))
    centers = sums / sizes[:, None]
    shares = sizes / n
    return [
        *(np.log(n), np.log(k), silhouette.mean(), np.quantile(silhouette, 0.1), (silhouette < 0).mean()),
        (np.bincount(labels, silhouette) / sizes).min(),
        *(margin.mean() / max(margin.std(), 1e-6), np.quantile(means / deviations, 0.1), (margin > 0).mean()),
        *(within.mean(), between.mean(), (between - within).mean() / everywhere, within.mean() / everywhere),
        *((sizes < 3).mean(), -(shares * np.log(shares)).sum() / np.log(k)),
        *(np.log(_dimension(rows - centers[labels])), float(np.linalg.norm(total)) / n, own.mean(), other.mean()),
        np.log(_dimension(centers - centers.mean(axis=0)) / (k - 1)),
    ]


def _dimension(rows: Array) -> float:
    """Return the participation ratio of centred rows: the number of directions with much of the variance."""
    squares = rows @ rows.T if len(rows) < rows.shape[1] else rows.T @ rows
    return float(max(np.trace(squares), TINY) ** 2 / max(float(np.square(squares).sum()), TINY**2))


@dataclass(frozen=True, eq=False)
class Quadratic:
    """A quadratic function of standardised features.

    Attributes
    ----------
    means, scales : (f,) arrays
    constant : float
    linear : (f,) array
    square : (f, f) array
    """

    means: Array
    scales: Array
    constant: float
    linear: Array
    square: Array

    def __call__(self, features: Array) -> Array:
        """Return the value for each row of features."""
        z = np.clip((features - self.means) / self.scales, -FARTHEST, FARTHEST)
        return self.constant + z @ self.linear + ((z @ self.square) * z).sum(axis=1)


class Decision(NamedTuple):
    """The best of several partitions, the agreement predicted for it, and the probability that there is one speaker."""

    best: int
    agreement: float
    single: float

    @property
    def is_single(self) -> bool:
        """Whether one speaker is a better answer than the best partition.

        The adjusted Rand index of one cluster is 1 if there is one speaker and 0 otherwise, so one speaker is better
        if its probability exceeds the agreement times the probability of several.
        """
        return self.single > (1.0 - self.single) * self.agreement


@dataclass(frozen=True, eq=False)
class SpeakerChoice:
    """The learned choice.

    Attributes
    ----------
    agreement : Quadratic
        Predicted adjusted Rand index of a partition with the true speakers, minus a penalty for a wrong number of
        speakers.
    single : Quadratic
        Logit of the probability that there is one speaker, from the features of the best partition and its agreement.
    """

    agreement: Quadratic
    single: Quadratic

    def decide(self, features: Array, agreement: Array, sharpness: float) -> Decision:
        """Return the partition with the largest mean agreement with all partitions.

        In this mean, a partition has the weight exp(sharpness * predicted agreement).

        Parameters
        ----------
        features : (c, f) array
            A row with the columns `FEATURES` for each partition.
        agreement : (c, c) array
            Adjusted Rand index of all pairs of partitions.
        sharpness : float
        """
        predicted = self.agreement(features)
        best = int((agreement @ softmax(sharpness * predicted)).argmax())
        value = float(np.clip(predicted[best], 0.0, 1.0))
        return Decision(best, value, float(expit(self.single(np.append(features[best], value)[None])[0])))


@lru_cache(maxsize=1)
def load_speaker_choice() -> dict[str, SpeakerChoice]:
    """Return the learned choices that are part of the package.

    The choice "test" uses the columns `SHAPES` of partitions by average linkage; "choice" uses all `FEATURES`.
    """
    with resources.files("modeseek.diarization").joinpath("speaker_choice.npz").open("rb") as file:
        stored = np.load(file)
        return {
            use: SpeakerChoice(
                *(Quadratic(*(stored[f"{use}_{part}_{i}"] for i in range(5))) for part in ("agreement", "single"))
            )
            for use in ("test", "choice")
        }
