"""Which window is whose: ModeSeek by cosine, a second opinion about the number, and the rest to the nearest speaker."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from modeseek._common.neighbors import nearest
from modeseek._common.types import Array, IntArray
from modeseek._common.validation import check_integer, seed_of
from modeseek.diarization.linkage import Opinion, by_linkage, nearest_mean, silhouette
from modeseek.diarization.preparation import PLAIN, Preparation, unit
from modeseek.estimators import ModeSeek
from modeseek.meanshift.consensus import memberships
from modeseek.meanshift.partition import by_weight

__all__ = ["Search", "Speakers"]

# rows that ModeSeek sees, and rows of which all pairs are compared for a second opinion (8 MB)
MANY, PAIRED = 20_000, 1_000
# the second opinion is taken if it comes back like this; those of overlapping windows and of single words do not
STEADY = 0.9
# what rows that were not clustered are worth where they had too little speech, or stand between speakers
DOUBT = 0.5


class Speakers(NamedTuple):
    """Whose each window is.

    Attributes
    ----------
    labels : (n,) integer array
        Speaker of each window, 0 being who has most of them.
    confidence : (n,) array
        About how often a window would keep its speaker if others were taken away; halved for windows that were too
        short to be clustered.
    means : (k, d) array
        Mean direction of each speaker, among the rows as prepared.
    clustered : (n,) boolean array
        Windows that had a say; the others were given to the nearest speaker.
    message : str
        How the number of speakers was found, in words.
    """

    labels: IntArray
    confidence: Array
    means: Array
    clustered: Array
    message: str

    @property
    def n_speakers(self) -> int:
        """Number of speakers."""
        return len(self.means)


@dataclass(frozen=True)
class Search:
    """How speakers are looked for: wishes, preparation, seed.

    Attributes
    ----------
    num_speakers, min_speakers, max_speakers : int, optional
        How many there are, or bounds, where known.
    preparation : Preparation
    random_state : int
    n_jobs : int, optional
    verbose : int
        1 shows progress.

    Examples
    --------
    >>> rows = np.repeat(np.eye(3), 6, axis=0) + np.random.default_rng(0).normal(0, 0.1, (18, 3))
    >>> Search().speakers(rows).labels
    array([0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2])
    """

    num_speakers: int | None = None
    min_speakers: int | None = None
    max_speakers: int | None = None
    preparation: Preparation = PLAIN
    random_state: int | None = 0
    n_jobs: int | None = None
    verbose: int = 0

    def speakers(self, embeddings: Array, times: Array | None = None, brief: Array | None = None) -> Speakers:
        """Find the speakers of windows.

        Parameters
        ----------
        embeddings : (n, d) array
        times : (n, 2) array, optional
            Start and end of each window: overlapping ones are not counted twice where speakers are counted.
        brief : (n,) boolean array, optional
            Windows with too little speech: they have no say, unless hardly any others are there, and go to the nearest
            speaker.
        """
        least, most = self.bounds(len(embeddings))
        rows = self.preparation.apply(embeddings)
        brief = np.zeros(len(rows), dtype=bool) if brief is None or (~brief).sum() < max(3, least) else brief
        seen = _seen(brief, times)
        seed = seed_of(self.random_state)
        model = self._model(seed).fit(rows[seen])
        spaced = _spaced(seen, times)
        second = None if least == most == 1 else by_linkage(rows[spaced], least=least, most=most, seed=seed)
        keeps = bool(least <= model.n_clusters_ <= most)
        first = np.full(len(rows), -1, dtype=np.intp)
        first[seen] = model.labels_
        if second is not None and _prefer(second, rows[spaced], first[spaced], keeps):
            labels, confidence = _from_opinion(rows, spaced, second)
            count = int(labels.max()) + 1
            said = f"{count} speakers by average linkage, stability {second.stability:.2f}"
        else:
            labels, confidence = _from_model(rows, seen, model, self.n_jobs)
            said = f"ModeSeek: {model.message_}"
        confidence = np.where(brief, DOUBT * confidence, confidence)
        clustered = np.zeros(len(rows), dtype=bool)
        clustered[seen] = True
        return Speakers(labels, confidence, _means(rows, labels), clustered, said)

    def bounds(self, n: int) -> tuple[int, float]:
        """Return the least and the largest number of speakers that n windows may have; refuse wishes that clash."""
        for name in ("num_speakers", "min_speakers", "max_speakers"):
            wish = getattr(self, name)
            if wish is not None and check_integer(name, wish, low=1) > n and name != "max_speakers":
                raise ValueError(f"{name}={wish} is more than there are embeddings, {n}: give a smaller one.")
        if self.num_speakers is not None:
            for name in ("min_speakers", "max_speakers"):
                wish = getattr(self, name)
                if wish is not None and (self.num_speakers - wish) * (1 if name[1] == "i" else -1) < 0:
                    raise ValueError(f"num_speakers={self.num_speakers} does not keep to {name}={wish}: leave one out.")
            return self.num_speakers, self.num_speakers
        least, most = self.min_speakers or 1, self.max_speakers or np.inf
        if least > most:
            raise ValueError(
                f"min_speakers={least} is above max_speakers={most}: give a smaller one, or a larger max_speakers."
            )
        return least, most

    def _model(self, seed: int) -> ModeSeek:
        return ModeSeek(
            metric="cosine",
            n_clusters=self.num_speakers,
            min_clusters=None if self.num_speakers else self.min_speakers,
            max_clusters=None if self.num_speakers else self.max_speakers,
            summary=None,
            random_state=seed,
            n_jobs=self.n_jobs,
            verbose=self.verbose,
        )


def _seen(brief: Array, times: Array | None) -> IntArray:
    """Return the rows to cluster, in the order of time; every m-th where there are too many."""
    order = np.arange(len(brief)) if times is None else np.argsort(times[:, 0], kind="stable")
    seen = order[~brief[order]]
    return seen[:: -(-len(seen) // MANY)]


def _spaced(seen: IntArray, times: Array | None) -> IntArray:
    """Return rows that do not overlap in time, evenly taken where they are many.

    Those that begin together are kept: somebody has told them apart.
    """
    if times is not None:
        free, begun, until = [], -np.inf, -np.inf
        for row in seen:
            start, end = times[row]
            if start >= until - 1e-6 or start <= begun + 1e-6:
                free.append(row)
                begun, until = start, max(end, until)
        seen = np.array(free, dtype=np.intp)
    return seen[np.linspace(0, len(seen) - 1, min(len(seen), PAIRED)).astype(int)]


def _prefer(second: Opinion, rows: Array, labels: IntArray, keeps: bool) -> bool:
    """Return whether the second opinion is steady, and its groups stand further apart than those of the first.

    It is also taken where the first does not keep to the wishes.
    """
    if not keeps or second.stability < STEADY:
        return not keeps
    first = np.unique(labels, return_inverse=True)[1]
    apart = np.maximum(1.0 - np.asarray(rows @ rows.T, dtype=np.float64), 0.0)
    np.fill_diagonal(apart, 0.0)
    return second.silhouette > silhouette(apart, first)


def _from_opinion(rows: Array, spaced: IntArray, second: Opinion) -> tuple[IntArray, Array]:
    """Give all rows to the nearest mean direction of the groups; confidence is how often thinned groups agree."""
    labels = _ranked(nearest_mean(rows, _means(rows[spaced], second.labels)))
    everyone = np.arange(len(rows))
    votes = [(everyone, nearest_mean(rows, _means(rows[spaced[some]], found))) for some, found in second.votes]
    shares = memberships(labels, votes)
    return labels, np.asarray(shares[everyone, labels]).ravel()


def _from_model(rows: Array, seen: IntArray, model: ModeSeek, n_jobs: int | None) -> tuple[IntArray, Array]:
    """Keep what ModeSeek says of the rows that it saw; others go to the nearest mean, as sure as the nearest row is."""
    labels = np.empty(len(rows), dtype=np.intp)
    confidence = np.ones(len(rows))
    labels[seen], confidence[seen] = model.labels_, model.confidence_
    others = np.setdiff1d(np.arange(len(rows)), seen)
    if len(others):
        labels[others] = nearest_mean(rows[others], _means(rows[seen], model.labels_))
        twins = seen[nearest(rows[seen], rows[others], n_jobs=n_jobs)]
        agree = labels[twins] == labels[others]
        confidence[others] = confidence[twins] * np.where(agree, 1.0, DOUBT)
    return _ranked(labels), confidence


def _ranked(labels: IntArray) -> IntArray:
    return by_weight(np.unique(labels, return_inverse=True)[1], np.ones(len(labels))).labels


def _means(rows: Array, labels: IntArray) -> Array:
    order = np.argsort(labels, kind="stable")
    starts = np.append(0, np.cumsum(np.bincount(labels))[:-1])
    return unit(np.add.reduceat(rows[order], starts, axis=0))
