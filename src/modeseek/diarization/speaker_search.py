"""Speakers of windows: a test for one speaker, ModeSeek under cosine distance, average linkage if it is clearer."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from modeseek._common.neighbors import nearest
from modeseek._common.types import Array, IntArray
from modeseek._common.validation import check_integer, seed_of
from modeseek.diarization.average_linkage import (
    LinkagePartition,
    cosine_distances,
    find_linkage_partition,
    is_one_speaker,
    mean_silhouette,
)
from modeseek.diarization.config import DEFAULT_CONFIG, DiarizationConfig
from modeseek.diarization.embeddings import UNIT_LENGTH, EmbeddingTransform, mean_directions, nearest_direction
from modeseek.diarization.turns import TIME_TOLERANCE
from modeseek.estimators import ModeSeek
from modeseek.meanshift.consensus import memberships
from modeseek.meanshift.partition import rank_by_weight

ONE_SPEAKER = "1 speaker by the test for few windows"


class Speakers(NamedTuple):
    """The speaker of each window.

    Attributes
    ----------
    labels : (n,) integer array
        Speaker of each window; speaker 0 has the most windows.
    confidence : (n,) array
        Estimate of how often a window keeps its speaker if other windows are left out at random; halved for windows
        that were too short to be clustered.
    directions : (k, d) array
        Mean direction of each speaker, among the transformed embeddings.
    clustered : (n,) boolean array
        Windows that were clustered; the others were assigned to the nearest speaker.
    message : str
        How the number of speakers was determined.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> voices = np.repeat([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], 20, axis=0) + 0.05 * rng.normal(size=(40, 3))
    >>> times = np.column_stack([np.arange(40.0), np.arange(1.0, 41.0)])
    >>> from modeseek.diarization import find_turns
    >>> speakers = find_turns(voices, times).speakers
    >>> speakers.n_speakers, np.bincount(speakers.labels)
    (2, array([20, 20]))
    """

    labels: IntArray
    confidence: Array
    directions: Array
    clustered: Array
    message: str

    @property
    def n_speakers(self) -> int:
        """Number of speakers."""
        return len(self.directions)


@dataclass(frozen=True)
class SpeakerSearch:
    """Settings of the search for speakers.

    Attributes
    ----------
    num_speakers, min_speakers, max_speakers : int, optional
        The number of speakers, or bounds on it, if known.
    transform : EmbeddingTransform
        Transformation of the embeddings.
    random_state : int or None
    n_jobs : int, optional
        Number of threads of the neighbour search.
    verbose : int
        1 shows progress.
    config : DiarizationConfig
        Constants of the method.

    Examples
    --------
    >>> rows = np.repeat(np.eye(3), 10, axis=0) + np.random.default_rng(0).normal(0, 0.1, (30, 3))
    >>> np.bincount(SpeakerSearch().find(rows).labels)
    array([10, 10, 10])
    """

    num_speakers: int | None = None
    min_speakers: int | None = None
    max_speakers: int | None = None
    transform: EmbeddingTransform = UNIT_LENGTH
    random_state: int | None = 0
    n_jobs: int | None = None
    verbose: int = 0
    config: DiarizationConfig = DEFAULT_CONFIG

    def find(self, embeddings: Array, times: Array | None = None, short: Array | None = None) -> Speakers:
        """Find the speakers of windows.

        Parameters
        ----------
        embeddings : (n, d) array
        times : (n, 2) array, optional
            Start and end of each window. Average linkage uses only windows that do not overlap.
        short : (n,) boolean array, optional
            Windows with too little speech. They are not clustered, unless fewer than three others remain, and are
            assigned to the nearest speaker.
        """
        low, high = self.bounds(len(embeddings))
        rows = self.transform.apply(embeddings)
        if short is None or (~short).sum() < max(3, low):
            short = np.zeros(len(rows), dtype=bool)
        clustered = self._clustered(short, times)
        seed = seed_of(self.random_state)
        disjoint = self._disjoint(clustered, times)
        if low == 1 < high and is_one_speaker(rows[disjoint], self.config):
            labels, confidence, message = np.zeros(len(rows), dtype=np.intp), np.ones(len(rows)), ONE_SPEAKER
        else:
            labels, confidence, message = self._search(rows, clustered, disjoint, seed)
        confidence = np.where(short, self.config.unclustered_confidence * confidence, confidence)
        in_clustering = np.isin(np.arange(len(rows)), clustered)
        return Speakers(labels, confidence, mean_directions(rows, labels), in_clustering, message)

    def _search(self, rows: Array, clustered: IntArray, disjoint: IntArray, seed: int) -> tuple[IntArray, Array, str]:
        """Return labels, confidence and message of ModeSeek or of average linkage."""
        low, high = self.bounds(len(rows))
        model = self._model(seed).fit(rows[clustered])
        linkage = None
        if not low == high == 1:
            linkage = find_linkage_partition(
                rows[disjoint], min_clusters=low, max_clusters=high, seed=seed, config=self.config
            )
        first = np.full(len(rows), -1, dtype=np.intp)
        first[clustered] = model.labels_
        in_bounds = bool(low <= model.n_clusters_ <= high)
        if linkage is not None and self._prefers(linkage, rows[disjoint], first[disjoint], in_bounds):
            labels, confidence = _from_linkage(rows, disjoint, linkage)
            message = f"{int(labels.max()) + 1} speakers by average linkage, stability {linkage.stability:.2f}"
        else:
            labels, confidence = self._from_model(rows, clustered, model)
            message = f"ModeSeek: {model.message_}"
        return labels, confidence, message

    def bounds(self, n: int) -> tuple[int, float]:
        """Return the bounds on the number of speakers of n windows; raise ValueError if they contradict each other."""
        for name in ("num_speakers", "min_speakers", "max_speakers"):
            value = getattr(self, name)
            if value is not None and check_integer(name, value, low=1) > n and name != "max_speakers":
                raise ValueError(f"{name}={value} is larger than the number of embeddings, {n}: give a smaller number.")
        low, high = self.min_speakers or 1, self.max_speakers or np.inf
        if self.num_speakers is not None:
            if not low <= self.num_speakers <= high:
                given = f"min_speakers={self.min_speakers} and max_speakers={self.max_speakers}"
                raise ValueError(f"num_speakers={self.num_speakers} contradicts {given}: remove the bounds.")
            return self.num_speakers, self.num_speakers
        if low > high:
            raise ValueError(f"min_speakers={low} is larger than max_speakers={high}: change one of them.")
        return low, high

    def _model(self, seed: int) -> ModeSeek:
        return ModeSeek(
            metric="cosine",
            n_clusters=self.num_speakers,
            min_clusters=None if self.num_speakers else self.min_speakers,
            max_clusters=None if self.num_speakers else self.max_speakers,
            sketch=None,
            random_state=seed,
            n_jobs=self.n_jobs,
            verbose=self.verbose,
        )

    def _clustered(self, short: Array, times: Array | None) -> IntArray:
        """Return the windows to cluster in temporal order: all that are not short, or every m-th of too many."""
        order = np.arange(len(short)) if times is None else np.argsort(times[:, 0], kind="stable")
        rows = order[~short[order]]
        return rows[:: -(-len(rows) // self.config.max_clustered)]

    def _disjoint(self, rows: IntArray, times: Array | None) -> IntArray:
        """Return windows that do not overlap in time, an even selection if there are too many.

        Windows with the same start are all kept: they belong to speakers that an earlier step has separated.
        """
        if times is not None:
            kept, begin, until = [], -np.inf, -np.inf
            for row in rows:
                start, end = times[row]
                if start >= until - TIME_TOLERANCE or start <= begin + TIME_TOLERANCE:
                    kept.append(row)
                    begin, until = start, max(end, until)
            rows = np.array(kept, dtype=np.intp)
        return rows[np.linspace(0, len(rows) - 1, min(len(rows), self.config.max_linkage_windows)).astype(int)]

    def _prefers(self, linkage: LinkagePartition, rows: Array, labels: IntArray, in_bounds: bool) -> bool:
        """Return whether average linkage is stable and has a larger silhouette than the labels of ModeSeek.

        It serves to find speakers with a few windows. It is not preferred if ModeSeek finds one speaker, or more
        speakers than it does. It is always preferred if the number of clusters of ModeSeek is out of bounds.
        """
        if not in_bounds:
            return True
        count = len(np.unique(labels))
        if count == 1 or linkage.labels.max() + 1 < count or linkage.stability < self.config.min_linkage_stability:
            return False
        return linkage.silhouette > mean_silhouette(cosine_distances(rows), labels)

    def _from_model(self, rows: Array, clustered: IntArray, model: ModeSeek) -> tuple[IntArray, Array]:
        """Assign the other windows to the nearest direction, with the confidence of the nearest clustered window."""
        labels = np.empty(len(rows), dtype=np.intp)
        confidence = np.ones(len(rows))
        labels[clustered], confidence[clustered] = model.labels_, model.confidence_
        others = np.setdiff1d(np.arange(len(rows)), clustered)
        if len(others):
            labels[others] = nearest_direction(rows[others], mean_directions(rows[clustered], model.labels_))
            closest = clustered[nearest(rows[clustered], rows[others], n_jobs=self.n_jobs)]
            agrees = labels[closest] == labels[others]
            confidence[others] = confidence[closest] * np.where(agrees, 1.0, self.config.unclustered_confidence)
        return by_size(labels), confidence


def _from_linkage(rows: Array, disjoint: IntArray, linkage: LinkagePartition) -> tuple[IntArray, Array]:
    """Assign all windows to the nearest direction; the confidence is the share of subsamples that agree."""
    labels = by_size(nearest_direction(rows, mean_directions(rows[disjoint], linkage.labels)))
    every = np.arange(len(rows))
    votes = [
        (every, nearest_direction(rows, mean_directions(rows[disjoint[subsample]], found)))
        for subsample, found in linkage.votes
    ]
    return labels, np.asarray(memberships(labels, votes)[every, labels]).ravel()


def by_size(labels: IntArray) -> IntArray:
    """Renumber speakers so that speaker 0 has the most windows, and no speaker is without windows."""
    return rank_by_weight(labels, np.ones(len(labels))).labels
