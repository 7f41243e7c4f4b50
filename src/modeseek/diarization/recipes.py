"""Drop-ins for those who have a pipeline: the call shapes of pyannote.audio and of SpectralCluster."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import linear_sum_assignment

from modeseek._common.types import Array, IntArray
from modeseek.diarization.preparation import PLAIN, Preparation, check_embeddings
from modeseek.diarization.speakers import Search

__all__ = ["PyannoteClustering", "SpeakerClusterer"]

# what pyannote calls a speaker who does not speak
INACTIVE = -2


@dataclass(frozen=True)
class PyannoteClustering:
    """Clustering with the call shape that speaker diarization of pyannote.audio expects; it needs nothing of it.

    Attributes
    ----------
    preparation : Preparation
    min_active_ratio : float
        Speakers who are active in a smaller share of a chunk have no say; they go to the nearest speaker.
    constrained : bool
        Give speakers of one chunk to different clusters.
    random_state : int or None

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> voices = np.eye(16)[np.array([[0, 5], [0, 5], [0, 9], [0, 9], [5, 9], [5, 9]])]  # chunks, speakers, dimension
    >>> voices = np.tile(voices, (3, 1, 1)) + rng.normal(0, 0.05, (18, 2, 16))
    >>> voices[4, 1] = np.nan  # nobody spoke
    >>> hard, soft, centroids = PyannoteClustering()(embeddings=voices)
    >>> hard.shape, soft.shape, centroids.shape, int(hard[4, 1])
    ((18, 2), (18, 2, 3), (3, 16), -2)
    """

    preparation: Preparation = PLAIN
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
            NaN where a speaker does not speak.
        segmentations : optional
            With `data` of shape (chunks, frames, speakers): who is active; with `sliding_window.duration` and `.step`:
            which chunks overlap.
        num_clusters, min_clusters, max_clusters : int, optional
            Wishes. Bounds above the number of embeddings are lowered to it.
        file, frames : ignored

        Returns
        -------
        hard_clusters : (chunks, speakers) integer array
            Cluster of each speaker of each chunk; -2 where nobody speaks.
        soft_clusters : (chunks, speakers, clusters) array
            1 + cosine with the mean direction of each cluster; 0 where nobody speaks.
        centroids : (clusters, dimension) array
            Means of the embeddings of each cluster.
        """
        given = np.asarray(embeddings, dtype=np.float64)
        if given.ndim != 3:
            raise ValueError(f"embeddings must have shape (chunks, speakers, dimension); got {given.shape}.")
        share = self._activity(segmentations, given.shape[:2])
        active = np.isfinite(given).all(axis=2) & (share > 0)
        hard = np.full(given.shape[:2], INACTIVE, dtype=np.int64)
        if not active.any():
            return hard, np.zeros((*hard.shape, 1)), np.zeros((1, given.shape[2]))
        rows = check_embeddings(given[active])
        n = len(rows)
        number, least, most = (
            None if wish is None else min(wish, n) for wish in (num_clusters, min_clusters, max_clusters)
        )
        # who knows the number has no use for bounds, and pyannote hands over all three
        bounds = (None, None) if number is not None else (least, most)
        search = Search(
            number,
            *bounds,
            preparation=self.preparation,
            random_state=self.random_state,
        )
        found = search.speakers(rows, _times(segmentations, active), share[active] < self.min_active_ratio)
        prepared = self.preparation.apply(rows)
        soft = np.zeros((*hard.shape, found.n_speakers))
        soft[active] = 1.0 + prepared @ found.means.T
        hard[active] = found.labels
        if self.constrained:
            hard = _apart(hard, soft)
        centroids = np.array([rows[found.labels == label].mean(axis=0) for label in range(found.n_speakers)])
        return hard, soft, centroids

    def _activity(self, segmentations: Any, shape: tuple[int, int]) -> Array:
        """Return in which share of its chunk each speaker is active; 1 where nobody says."""
        if segmentations is None:
            return np.ones(shape)
        data = np.asarray(getattr(segmentations, "data", segmentations), dtype=np.float64)
        if data.ndim != 3 or (data.shape[0], data.shape[2]) != shape:
            raise ValueError(
                f"segmentations must have shape (chunks, frames, speakers), here ({shape[0]}, frames, {shape[1]}) as "
                f"embeddings say; got {data.shape}."
            )
        return np.nan_to_num(data).mean(axis=1)


@dataclass(frozen=True)
class SpeakerClusterer:
    """An object with `predict(embeddings) -> labels`, for code that was written for SpectralCluster.

    Attributes
    ----------
    min_clusters, max_clusters : int, optional
        Bounds on the number of speakers.
    preparation : Preparation
    random_state : int or None

    Examples
    --------
    >>> rows = np.repeat(np.eye(3), 6, axis=0) + np.random.default_rng(0).normal(0, 0.1, (18, 3))
    >>> SpeakerClusterer(max_clusters=5).predict(rows).max()
    np.int64(2)
    """

    min_clusters: int | None = None
    max_clusters: int | None = None
    preparation: Preparation = PLAIN
    random_state: int | None = 0

    def predict(self, embeddings: ArrayLike) -> IntArray:
        """Return the speaker of each row, 0 being who has most of them."""
        rows = check_embeddings(embeddings)
        search = Search(
            min_speakers=self.min_clusters,
            max_speakers=self.max_clusters,
            preparation=self.preparation,
            random_state=self.random_state,
        )
        if search.min_speakers is not None:
            # as there: bounds that the rows do not allow are lowered
            search = replace(search, min_speakers=min(search.min_speakers, len(rows)))
        return search.speakers(rows).labels


def _times(segmentations: Any, active: Array) -> Array | None:
    window = getattr(segmentations, "sliding_window", None)
    chunk = np.nonzero(active)[0]
    if window is None:
        # chunk after chunk, each apart
        return np.column_stack([chunk, chunk + 1.0])
    start = chunk * float(window.step)
    return np.column_stack([start, start + float(window.duration)])


def _apart(hard: IntArray, soft: Array) -> IntArray:
    """Give the speakers of each chunk to different clusters, as close as they can; who finds none is left out."""
    new = hard.copy()
    for chunk, labels in enumerate(hard):
        speaking = np.flatnonzero(labels >= 0)
        if len(speaking) > 1:
            rows, columns = linear_sum_assignment(soft[chunk, speaking], maximize=True)
            new[chunk, speaking] = INACTIVE
            new[chunk, speaking[rows]] = columns
    return new
