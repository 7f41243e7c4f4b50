"""Refinement of a partition of windows of speech, by whitening within its clusters.

Words and channels shift the embeddings of all speakers in the same directions. Whitening within speakers takes the
weight from these directions (within-class covariance normalisation). The clusters of a partition stand for the unknown
speakers.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import gammaln
from sklearn.covariance import ledoit_wolf

from modeseek._common.types import Array, IntArray
from modeseek.diarization.average_linkage import cosine_distances, cut_tree, join_small, merge_tree, move_rows
from modeseek.diarization.config import DEFAULT, DiarizationConfig
from modeseek.diarization.embeddings import unit_rows

# variances below this fraction of the largest or mean variance are rounding errors
MIN_VARIANCE_RATIO = 1e-6
TINY = np.finfo(np.float64).tiny
# variance between speakers, in units of the variance within, below which a direction does not separate speakers
MIN_BETWEEN = 1e-3
# concentrations of the prior of partitions
CONCENTRATIONS = np.exp(np.linspace(-2.0, 6.0, 30))


class Whitened(NamedTuple):
    """Rows in a space in which the covariance within clusters is the identity, and that covariance.

    Attributes
    ----------
    rows : (n, r) array
    log_determinant : float
        Logarithm of the determinant of the covariance within clusters.
    """

    rows: Array
    log_determinant: float


class Refined(NamedTuple):
    """A partition, and unit rows in which average linkage finds it: whitened rows if the partition was refined.

    Attributes
    ----------
    labels : (n,) integer array
    rows : (n, d) array
    """

    labels: IntArray
    rows: Array


def principal_components(rows: Array, config: DiarizationConfig = DEFAULT) -> Array:
    """Return the coordinates of centred rows in their principal components, shape (n, r).

    There is one component for every `rows_per_component` rows, and at most `max_components`.

    Examples
    --------
    >>> principal_components(np.random.default_rng(0).normal(size=(50, 64))).shape
    (50, 10)
    """
    left, sizes, _ = np.linalg.svd(np.asarray(rows - rows.mean(axis=0), dtype=np.float64), full_matrices=False)
    most = min(config.max_components, max(2, len(rows) // config.rows_per_component))
    count = min(most, max(1, int((sizes**2 > MIN_VARIANCE_RATIO * sizes[0] ** 2).sum())))
    return np.asarray(left[:, :count] * sizes[:count])


def whiten_within(components: Array, labels: IntArray) -> Whitened:
    """Whiten rows by the covariance within clusters, which is shrunk as proposed by Ledoit and Wolf.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> speakers, words = np.repeat([0, 1], 50), np.tile([0, 1], 50)
    >>> rows = np.column_stack([2.0 * speakers, 9.0 * words]) + rng.normal(0, 0.1, (100, 2))
    >>> whitened = whiten_within(rows - rows.mean(axis=0), speakers).rows
    >>> distances = np.abs(whitened[0] - whitened).sum(axis=1)
    >>> bool(distances[speakers == 0].mean() < distances[speakers == 1].mean())
    True
    """
    n = len(labels)
    means, sizes = _cluster_means(components, labels)
    within, _ = ledoit_wolf(components - means[labels], assume_centered=True)
    variances, directions = np.linalg.eigh(within * (n / max(1, n - len(sizes))))
    least = max(MIN_VARIANCE_RATIO * np.square(components).mean(), TINY)
    variances = np.maximum(variances, least)
    return Whitened(components @ (directions / np.sqrt(variances)), float(np.log(variances).sum()))


def log_evidence(components: Array, labels: IntArray) -> float:
    """Return the logarithm of the probability of rows and of their partition, up to a constant.

    In the model, speakers and the rows of each speaker have Gaussian distributions; the covariance within is the same
    for all speakers (two-covariance model, a form of PLDA). Both covariances are estimated from the partition. The
    prior of the partition is that of the Chinese restaurant process with the most probable concentration.

    Examples
    --------
    >>> speakers = np.repeat([0, 1, 2], 20)
    >>> rows = np.eye(4)[speakers] + np.random.default_rng(0).normal(0, 0.1, (60, 4))
    >>> log_evidence(rows, speakers) > log_evidence(rows, np.minimum(speakers, 1))
    True
    """
    n = len(labels)
    rows, log_determinant = whiten_within(components, labels)
    means, sizes = _cluster_means(rows, labels)
    scatter, directions = np.linalg.eigh((means.T * sizes) @ means)
    # the expectation of the scatter is this times the variance between speakers, plus the noise of the means
    effective = max(1.0, n - np.square(sizes).sum() / n)
    between = np.maximum((scatter - (len(sizes) - 1)) / effective, MIN_BETWEEN)
    spread = 1.0 + sizes[:, None] * between
    of_means = np.log(spread).sum() + (sizes[:, None] * np.square(means @ directions) / spread).sum()
    of_rows = n * log_determinant + np.square(rows - means[labels]).sum()
    prior = len(sizes) * np.log(CONCENTRATIONS) + gammaln(CONCENTRATIONS) - gammaln(CONCENTRATIONS + n)
    return float(prior.max() + gammaln(sizes).sum() - (of_means + of_rows) / 2)


def refine(
    rows: Array,
    labels: IntArray,
    min_clusters: int = 1,
    max_clusters: float = np.inf,
    config: DiarizationConfig = DEFAULT,
) -> Refined:
    """Return a better partition of unit rows, or the given partition and rows if none is found.

    Rows are whitened within the clusters, and average linkage divides them into as many clusters. This is repeated
    `refinements` times. The partition with the largest evidence replaces the given one if its logarithm is larger by
    `refinement_gain` per row.

    Parameters
    ----------
    rows : (n, d) array
    labels : (n,) integer array
        Labels 0, 1, ..., with two clusters or more.
    min_clusters, max_clusters : int
        Bounds on the number of clusters.
    config : DiarizationConfig

    Examples
    --------
    >>> from modeseek.diarization.average_linkage import linkage_partitions
    >>> from modeseek.metrics import rand_agreement
    >>> rng = np.random.default_rng(0)
    >>> speakers = np.repeat(np.arange(4), 25)
    >>> rows = np.eye(40)[speakers] + rng.normal(0, 0.1, (100, 40))
    >>> rows[:, 4:6] += 0.8 * rng.normal(size=(100, 2))
    >>> rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    >>> found = linkage_partitions(rows, 4, 4)[0]
    >>> rand_agreement(refine(rows, found).labels, speakers) > rand_agreement(found, speakers) + 0.1
    True
    """
    components, count = principal_components(rows, config), int(labels.max()) + 1
    best, most = Refined(labels, rows), log_evidence(components, labels) + config.refinement_gain * len(rows)
    for _ in range(config.refinements):
        whitened = unit_rows(whiten_within(components, labels).rows)
        labels = join_small(whitened, cut_tree(merge_tree(cosine_distances(whitened)), count), 2)
        labels = move_rows(whitened, labels, config)
        if labels.max() == 0:
            break
        evidence = log_evidence(components, labels)
        if evidence > most and min_clusters <= labels.max() + 1 <= max_clusters:
            best = Refined(labels, unit_rows(whiten_within(components, labels).rows))
            most = evidence
    return best


def _cluster_means(rows: Array, labels: IntArray) -> tuple[Array, Array]:
    """Return the mean of each cluster and its number of rows."""
    member = np.eye(int(labels.max()) + 1)[labels]
    sizes = member.sum(axis=0)
    return (member.T @ rows) / sizes[:, None], sizes
