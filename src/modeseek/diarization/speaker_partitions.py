"""Candidate partitions of the windows, by ModeSeek and by average linkage, and the best of them."""

from typing import NamedTuple

import numpy as np

from modeseek._common.types import Array, IntArray
from modeseek.diarization.average_linkage import SubsampledLinkage, linkage_partitions, move_rows, number_labels
from modeseek.diarization.config import DEFAULT_CONFIG, DiarizationConfig
from modeseek.diarization.speaker_choice import (
    Decision,
    ModePartitions,
    load_speaker_choice,
    mode_features,
    partition_features,
)
from modeseek.estimators import ModeSeek


class LinkagePool(NamedTuple):
    """Candidate partitions of unit rows.

    Attributes
    ----------
    partitions : list of (n,) integer arrays
        Each has two clusters or more. If that of ModeSeek is among them, it is the first.
    features : (c, f) array
        A row with the columns `FEATURES` (or `SHAPES`) for each partition.
    agreement : (c, c) array
        Adjusted Rand index of all pairs of partitions.
    """

    partitions: list[IntArray]
    features: Array
    agreement: Array


class FoundPartition(NamedTuple):
    """The best partition, and the decision for it."""

    labels: IntArray
    decision: Decision


def decide_by_linkage(rows: Array, config: DiarizationConfig = DEFAULT_CONFIG) -> Decision | None:
    """Return the decision among partitions by average linkage; None if there are too few rows or too many.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> rows = np.eye(64)[[0] * 20] + rng.normal(0, 0.1, (20, 64))
    >>> rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    >>> decide_by_linkage(rows).is_single
    True
    """
    found = linkage_candidates(rows, config) if len(rows) < config.max_tested_windows else None
    if found is None:
        return None
    return load_speaker_choice()["test"].decide(found.features, found.agreement, config.choice_sharpness)


def linkage_candidates(rows: Array, config: DiarizationConfig = DEFAULT_CONFIG) -> LinkagePool | None:
    """Return the candidates of average linkage alone, with the features `SHAPES`; None if there are too few rows.

    Their agreement is left out, because most are variants of a few cuts: the best is the one that is predicted best.
    """
    partitions = linkage_partitions(rows, config=config) if len(rows) >= config.min_linkage_windows else []
    if not partitions:
        return None
    return LinkagePool(partitions, partition_features(rows, partitions), np.eye(len(partitions)))


def mode_partitions(model: ModeSeek, rows: IntArray) -> ModePartitions:
    """Return the partitions of a fitted model, on some of its rows, in place of the others."""
    inverse = model.result_.index.points.inverse[rows]
    different = [each for each in model.alternatives_ if each.n_clusters > 1]
    alternatives = [number_labels(each.labels[inverse]) for each in different]
    expected = [float(each.expected_agreement) for each in different]
    return ModePartitions(number_labels(model.labels_[rows]), alternatives, expected)


def find_candidates(
    rows: Array,
    modes: ModePartitions,
    *,
    min_clusters: int = 1,
    max_clusters: float = np.inf,
    seed: int = 0,
    config: DiarizationConfig = DEFAULT_CONFIG,
) -> LinkagePool | None:
    """Return the candidates within the bounds; None if there are none or too few rows.

    They are the partitions of ModeSeek, these after rows moved to the nearest mean directions, and those of
    `linkage_partitions`.

    Parameters
    ----------
    rows : (n, d) array
        Unit vectors. The memory grows with n^2.
    modes : ModePartitions
        The partitions of ModeSeek.
    min_clusters, max_clusters : int
        Bounds on the number of clusters.
    seed : int
        Seed of the subsamples.
    config : DiarizationConfig
    """
    from modeseek.selection.partition_loops import pair_agreement  # compiled

    n = len(rows)
    if n < config.min_linkage_windows:
        return None
    found: dict[bytes, IntArray] = {}
    for labels in (modes.labels, *modes.alternatives):
        for each in (labels, move_rows(rows, labels, config)):
            if max(2, min_clusters) <= each.max() + 1 <= min(max_clusters, n - 1):
                found.setdefault(each.tobytes(), each)
    for labels in linkage_partitions(rows, min_clusters, max_clusters, config):
        found.setdefault(labels.tobytes(), labels)
    partitions = list(found.values())
    if not partitions:
        return None
    shapes, stability = (
        partition_features(rows, partitions),
        SubsampledLinkage.of(rows, seed, config).stability(partitions),
    )
    features = np.column_stack([shapes, stability, mode_features(partitions, modes)])
    sizes = np.array([labels.max() + 1 for labels in partitions], dtype=np.int64)
    agreement, _ = pair_agreement(np.array(partitions, dtype=np.int32), sizes)
    return LinkagePool(partitions, features, agreement)


def find_partition(
    rows: Array,
    modes: ModePartitions,
    *,
    min_clusters: int = 1,
    max_clusters: float = np.inf,
    seed: int = 0,
    config: DiarizationConfig = DEFAULT_CONFIG,
) -> FoundPartition | None:
    """Return the best of the candidates; None if there are none. The parameters are those of `find_candidates`.

    Examples
    --------
    >>> speakers = np.repeat([0, 1, 2], 5)
    >>> rows = np.eye(3)[speakers] + np.random.default_rng(0).normal(0, 0.1, (15, 3))
    >>> rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    >>> found = find_partition(rows, ModePartitions(np.minimum(speakers, 1), [], []))
    >>> found.decision.is_single, found.labels.max() + 1
    (False, np.int64(3))
    """
    found = find_candidates(rows, modes, min_clusters=min_clusters, max_clusters=max_clusters, seed=seed, config=config)
    if found is None:
        return None
    decision = load_speaker_choice()["choice"].decide(found.features, found.agreement, config.choice_sharpness)
    return FoundPartition(found.partitions[decision.best], decision)
