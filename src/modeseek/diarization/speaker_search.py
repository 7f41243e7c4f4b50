"""The search for the speakers of windows, by ModeSeek with the cosine metric and by average linkage."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from modeseek._common.neighbors import nearest
from modeseek._common.types import Array, IntArray
from modeseek._common.validation import check_integer, seed_of
from modeseek.diarization.average_linkage import SubsampledLinkage
from modeseek.diarization.config import DEFAULT, DiarizationConfig
from modeseek.diarization.embeddings import UNIT_LENGTH, EmbeddingTransform, mean_directions, nearest_direction
from modeseek.diarization.speaker_choice import Decision
from modeseek.diarization.speaker_partitions import decide_by_linkage, find_candidates, mode_partitions
from modeseek.diarization.turns import TIME_TOLERANCE
from modeseek.diarization.whitening import Refined, refine
from modeseek.estimators import ModeSeek
from modeseek.meanshift.consensus import memberships
from modeseek.meanshift.partition import rank_by_weight


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
        Mean direction of the transformed embeddings of each speaker.
    clustered : (n,) boolean array
        Whether a window was clustered; the other windows were assigned to the nearest speaker.
    message : str
        How the number of speakers was determined.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> voices = np.repeat(np.eye(8)[:2], 20, axis=0) + 0.1 * rng.normal(size=(40, 8))
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
    config: DiarizationConfig = DEFAULT

    def find(self, embeddings: Array, times: Array | None = None, short: Array | None = None) -> Speakers:
        """Find the speakers of windows.

        Parameters
        ----------
        embeddings : (n, d) array
        times : (n, 2) array, optional
            Start and end of each window. Average linkage uses only windows that do not overlap.
        short : (n,) boolean array, optional
            Whether a window has too little speech. Such windows are not clustered but assigned to the nearest speaker,
            unless fewer than three windows would remain to be clustered.
        """
        low, _ = self.bounds(len(embeddings))
        rows = self.transform.apply(embeddings)
        if short is None or (~short).sum() < max(3, low):
            short = np.zeros(len(rows), dtype=bool)
        clustered = self._clustered(short, times)
        seed = seed_of(self.random_state)
        labels, confidence, message = self._search(rows, clustered, self._disjoint(clustered, times), seed)
        confidence = np.where(short, self.config.unclustered_confidence * confidence, confidence)
        in_clustering = np.isin(np.arange(len(rows)), clustered)
        return Speakers(labels, confidence, mean_directions(rows, labels), in_clustering, message)

    def _search(self, rows: Array, clustered: IntArray, disjoint: IntArray, seed: int) -> tuple[IntArray, Array, str]:
        """Return labels, confidence and message of the best partition."""
        low, high = self.bounds(len(rows))
        if low == 1 < high:
            tested = decide_by_linkage(rows[disjoint], self.config)
            if tested is not None and tested.is_single:
                return _one_speaker(len(rows), tested)
        model = self._model(seed).fit(rows[clustered])
        modes = mode_partitions(model, _places(clustered, disjoint))
        found = None
        if high > 1:
            found = find_candidates(
                rows[disjoint], modes, min_clusters=low, max_clusters=high, seed=seed, config=self.config
            )
        if found is not None:
            decision = found.decide("choice", self.config)
            if low == 1 and decision.is_single:
                return _one_speaker(len(rows), decision)
            best = refine(rows[disjoint], found.partitions[decision.best], low, high, self.config)
            if not np.array_equal(best.labels, modes.labels):
                labels, confidence = self._from_partition(rows, disjoint, best, seed)
                message = f"{int(labels.max()) + 1} speakers, expected agreement {decision.agreement:.2f}"
                return labels, confidence, message
        labels, confidence = self._from_model(rows, clustered, model)
        return labels, confidence, f"ModeSeek: {model.message_}"

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
        """Return the windows to cluster, in temporal order: all that are not short, or every m-th if there are many."""
        order = np.arange(len(short)) if times is None else np.argsort(times[:, 0], kind="stable")
        rows = order[~short[order]]
        return rows[:: -(-len(rows) // self.config.max_clustered)]

    def _disjoint(self, rows: IntArray, times: Array | None) -> IntArray:
        """Return those of the windows that do not overlap in time; if there are too many, an evenly spaced part.

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

    def _from_model(self, rows: Array, clustered: IntArray, model: ModeSeek) -> tuple[IntArray, Array]:
        """Return labels and confidence by ModeSeek.

        Other windows get the nearest direction, and the confidence of the nearest clustered window.
        """
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

    def _from_partition(self, rows: Array, disjoint: IntArray, found: Refined, seed: int) -> tuple[IntArray, Array]:
        """Return labels and confidence by the partition `found` of the disjoint windows.

        Other windows get the nearest direction. The confidence is the share of subsamples that agree with the label.
        """
        labels = nearest_direction(rows, mean_directions(rows[disjoint], found.labels))
        labels[disjoint] = found.labels
        labels, every = by_size(labels), np.arange(len(rows))
        linkage = SubsampledLinkage.of(found.rows, seed, self.config)
        votes = [
            (every, nearest_direction(rows, mean_directions(rows[disjoint[subsample]], part)))
            for subsample, part in linkage.votes(int(found.labels.max()) + 1)
        ]
        return labels, np.asarray(memberships(labels, votes)[every, labels]).ravel()


def _one_speaker(n: int, decision: Decision) -> tuple[IntArray, Array, str]:
    return np.zeros(n, dtype=np.intp), np.ones(n), f"1 speaker, probability {decision.single:.2f}"


def _places(rows: IntArray, some: IntArray) -> IntArray:
    """Return the index in `rows` of each entry of `some`."""
    order = np.argsort(rows)
    return order[np.searchsorted(rows, some, sorter=order)]


def by_size(labels: IntArray) -> IntArray:
    """Renumber speakers so that speaker 0 has the most windows, and no speaker is without windows."""
    return rank_by_weight(labels, np.ones(len(labels))).labels
