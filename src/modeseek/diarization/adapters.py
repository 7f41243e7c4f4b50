"""Drop-in replacements for the clustering of pyannote.audio and of SpectralCluster."""

from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import linear_sum_assignment

from modeseek._common.types import Array, IntArray
from modeseek.diarization.embeddings import UNIT_LENGTH, EmbeddingTransform, check_embeddings
from modeseek.diarization.speaker_search import SpeakerSearch

# label of inactive speakers in pyannote
INACTIVE = -2


@runtime_checkable
class SlidingWindowFeature(Protocol):
    """The part of `pyannote.core.SlidingWindowFeature` that is used here."""

    data: Any
    sliding_window: Any


@dataclass(frozen=True)
class PyannoteClustering:
    """Clustering with the call signature that the diarization pipeline of pyannote.audio expects.

    It does not need pyannote.

    Attributes
    ----------
    transform : EmbeddingTransform
        Transformation of the embeddings.
    min_active_ratio : float
        Speakers that are active in a smaller share of a chunk are not clustered, but assigned to the nearest cluster.
    constrained : bool
        Whether to assign the speakers of one chunk to different clusters.
    random_state : int or None

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> voices = np.eye(16)[np.array([[0, 5], [0, 5], [0, 9], [0, 9], [5, 9], [5, 9]])]  # chunks, speakers, dimension
    >>> voices = np.tile(voices, (3, 1, 1)) + rng.normal(0, 0.05, (18, 2, 16))
    >>> voices[4, 1] = np.nan  # an inactive speaker
    >>> hard, soft, centroids = PyannoteClustering()(embeddings=voices)
    >>> hard.shape, soft.shape, centroids.shape, int(hard[4, 1])
    ((18, 2), (18, 2, 3), (3, 16), -2)
    """

    expects_num_clusters: ClassVar[bool] = False
    transform: EmbeddingTransform = UNIT_LENGTH
    min_active_ratio: float = 0.2
    constrained: bool = False
    random_state: int | None = 0

    def __call__(
        self,
        embeddings: ArrayLike,
        segmentations: Any = None,
        num_clusters: int | None = None,
        min_clusters: int | None = None,
        max_clusters: int | None = None,
        file: Any = None,
        frames: Any = None,
    ) -> tuple[IntArray, Array, Array]:
        """Cluster the speakers of chunks.

        Parameters
        ----------
        embeddings : array-like of shape (chunks, speakers, dimension)
            NaN for inactive speakers.
        segmentations : pyannote.core.SlidingWindowFeature, or array-like of shape (chunks, frames, speakers), optional
            Activity of each speaker in each frame. A sliding window also determines which chunks overlap.
        num_clusters, min_clusters, max_clusters : int, optional
            The number of clusters, or bounds on it. Values above the number of embeddings are lowered to it.
        file, frames : ignored

        Returns
        -------
        hard_clusters : (chunks, speakers) integer array
            Cluster of each speaker of each chunk; -2 for inactive speakers. If no active speaker has an
            embedding, all active speakers are in cluster 0.
        soft_clusters : (chunks, speakers, clusters) array
            1 + cosine with the mean direction of each cluster; 0 for inactive speakers.
        centroids : (clusters, dimension) array
            Mean embedding of each cluster.
        """
        given = np.asarray(embeddings, dtype=np.float64)
        if given.ndim != 3:
            raise ValueError(f"embeddings must have shape (chunks, speakers, dimension); got {given.shape}.")
        activity = _activity(segmentations, given.shape[:2])
        active = np.isfinite(given).all(axis=2) & (activity > 0)
        hard = np.full(given.shape[:2], INACTIVE, dtype=np.int64)
        if not active.any():
            if segmentations is not None:
                hard[activity > 0] = 0  # the pipeline of pyannote fails if there is speech but no cluster
            return hard, np.zeros((*hard.shape, 1)), np.zeros((1, given.shape[2]))
        rows = check_embeddings(given[active])
        number, low, high = (
            None if count is None else min(count, len(rows)) for count in (num_clusters, min_clusters, max_clusters)
        )
        # the pipelines of pyannote pass bounds even if they pass the number of clusters, which makes bounds superfluous
        bounds = (None, None) if number is not None else (low, high)
        search = SpeakerSearch(number, *bounds, transform=self.transform, random_state=self.random_state)
        found = search.find(rows, _chunk_times(segmentations, active), activity[active] < self.min_active_ratio)
        soft = np.zeros((*hard.shape, found.n_speakers))
        soft[active] = 1.0 + self.transform.apply(rows) @ found.directions.T
        hard[active] = found.labels
        if self.constrained:
            hard = _separate_speakers(hard, soft)
        centroids = np.array([rows[found.labels == label].mean(axis=0) for label in range(found.n_speakers)])
        return hard, soft, centroids


@dataclass(frozen=True)
class SpeakerClusterer:
    """A clusterer with the method `predict(embeddings)` of SpectralCluster.

    Attributes
    ----------
    min_clusters, max_clusters : int, optional
        Bounds on the number of speakers. As in SpectralCluster, `min_clusters` may exceed the number of rows.
    transform : EmbeddingTransform
        Transformation of the embeddings.
    random_state : int or None

    Examples
    --------
    >>> rows = np.repeat(np.eye(3), 10, axis=0) + np.random.default_rng(0).normal(0, 0.1, (30, 3))
    >>> SpeakerClusterer(max_clusters=5).predict(rows).max()
    np.int64(2)
    """

    min_clusters: int | None = None
    max_clusters: int | None = None
    transform: EmbeddingTransform = UNIT_LENGTH
    random_state: int | None = 0

    def predict(self, embeddings: ArrayLike) -> IntArray:
        """Return the speaker of each row; speaker 0 has the most rows."""
        rows = check_embeddings(embeddings)
        low = None if self.min_clusters is None else min(self.min_clusters, len(rows))
        search = SpeakerSearch(None, low, self.max_clusters, self.transform, self.random_state)
        return search.find(rows).labels


def _activity(segmentations: Any, shape: tuple[int, int]) -> Array:
    """Return (chunks, speakers) shares: how much of a chunk a speaker is active; 1 without segmentations."""
    if segmentations is None:
        return np.ones(shape)
    data = segmentations.data if isinstance(segmentations, SlidingWindowFeature) else segmentations
    data = np.asarray(data, dtype=np.float64)
    if data.ndim != 3 or (data.shape[0], data.shape[2]) != shape:
        raise ValueError(f"segmentations must have shape ({shape[0]}, frames, {shape[1]}); got {data.shape}.")
    return np.nan_to_num(data).mean(axis=1)


def _chunk_times(segmentations: Any, active: Array) -> Array:
    chunk = np.nonzero(active)[0]
    if not isinstance(segmentations, SlidingWindowFeature):
        return np.column_stack([chunk, chunk + 1.0])  # without a sliding window, chunks do not overlap
    window = segmentations.sliding_window
    start = chunk * float(window.step)
    return np.column_stack([start, start + float(window.duration)])


def _separate_speakers(hard: IntArray, soft: Array) -> IntArray:
    """Assign the speakers of each chunk to different clusters; speakers without a cluster become inactive."""
    separated = hard.copy()
    for chunk, labels in enumerate(hard):
        active = np.flatnonzero(labels >= 0)
        if len(active) > 1:
            rows, columns = linear_sum_assignment(soft[chunk, active], maximize=True)
            separated[chunk, active] = INACTIVE
            separated[chunk, active[rows]] = columns
    return separated
