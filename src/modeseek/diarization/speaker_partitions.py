"""The best of the candidate partitions of the windows of a recording, which ModeSeek and average linkage provide."""

from typing import NamedTuple

import numpy as np

from modeseek._common.types import Array, IntArray
from modeseek.diarization.average_linkage import SubsampledLinkage, linkage_partitions, move_rows, number_labels
from modeseek.diarization.config import DEFAULT, DiarizationConfig
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
        Each has two clusters or more. If the choice of ModeSeek is a candidate, it is the first.
    features : (c, f) array
        A row with the columns `FEATURES` (or `SHAPES`) for each partition.
    agreement : (c, c) array
        Adjusted Rand index of all pairs of partitions.
    """

    partitions: list[IntArray]
    features: Array
    agreement: Array

    def decide(self, use: str, config: DiarizationConfig = DEFAULT) -> Decision:
        """Return the decision of the learned choice for "test" or "choice"; see `load_speaker_choice`."""
        return load_speaker_choice()[use].decide(self.features, self.agreement, config.choice_sharpness)


def decide_by_linkage(rows: Array, config: DiarizationConfig = DEFAULT) -> Decision | None:
    """Return the best of the partitions by average linkage as a `Decision`; None if rows are too few or too many.

    Their agreement is left out, because most are variants of a few cuts: the best is the one that is predicted best.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> rows = np.eye(64)[[0] * 20] + rng.normal(0, 0.1, (20, 64))
    >>> rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    >>> decide_by_linkage(rows).is_single
    True
    """
    if not config.min_linkage_windows <= len(rows) < config.max_tested_windows:
        return None
    partitions = linkage_partitions(rows, config=config)
    if not partitions:
        return None
    return LinkagePool(partitions, partition_features(rows, partitions), np.eye(len(partitions))).decide("test", config)


def mode_partitions(model: ModeSeek, rows: IntArray) -> ModePartitions:
    """Return the partitions of a fitted model, restricted to some of its rows."""
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
    config: DiarizationConfig = DEFAULT,
) -> LinkagePool | None:
    """Return the candidates within the bounds; None if there are none or too few rows.

    The candidates are the partitions of ModeSeek, each of them after `move_rows`, and those of `linkage_partitions`.

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

    Examples
    --------
    >>> speakers = np.repeat([0, 1, 2], 5)
    >>> rows = np.eye(3)[speakers] + np.random.default_rng(0).normal(0, 0.1, (15, 3))
    >>> rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    >>> found = find_candidates(rows, ModePartitions(np.minimum(speakers, 1), [], []))
    >>> decision = found.decide("choice")
    >>> decision.is_single, found.partitions[decision.best].max() + 1
    (False, np.int64(3))
    """
    from modeseek.selection.partition_loops import pair_agreement  # here, because it loads compiled code

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
