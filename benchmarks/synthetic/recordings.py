"""Speaker embeddings of recordings, with times where there are windows; the choice of speakers is trained on them.

A window is the unit vector of offset + speaker + channel + content + drift + noise. The offset is common to all rows. A
speaker has one or several channels (sessions). The content (words, phones) shifts the embeddings of all speakers in
the same few directions. Drift changes slowly in time. These sets are not families of `FAMILIES`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from synthetic.base import Array
from synthetic.tools import log_integer, log_uniform

FRAME = 0.25  # seconds
DIMENSIONS = (64, 128, 192, 256, 512)
MOST_WINDOWS = 1000
# the number of speakers and of windows (or seconds) of each, by setting
SETTINGS = {
    "utterances": ((2, 40), (5, 60)),
    "many": ((30, 150), (2, 12)),
    "few": ((2, 20), (3, 20)),
    "words": ((2, 25), (10, 60)),
    "recordings": ((2, 25), (3, 120)),
    "meeting": ((2, 8), (20, 250)),
    "conversation": ((2, 5), (10, 150)),
    "uneven": ((2, 60), (2, 500)),
}
TIMED = ("meeting", "conversation")
ALONE = 0.25  # share of recordings with one speaker


class Recording(NamedTuple):
    """Embeddings with their true speakers.

    Attributes
    ----------
    X : (n, d) array
        Unit vectors.
    y : (n,) integer array
        Speaker of each row; -1 if no speaker has 80 % of the window.
    times : (n, 2) array or None
        Start and end of each window in seconds.
    turns : list of (start, end, speaker)
        The true turns, if there are times.
    """

    X: Array
    y: NDArray[np.intp]
    times: Array | None = None
    turns: tuple[tuple[float, float, int], ...] = ()


class Encoder:
    """A random encoder: an offset, and the directions and sizes of what moves an embedding."""

    def __init__(self, rng: np.random.Generator, content: tuple[float, float]) -> None:
        self.rng, self.d = rng, int(rng.choice(DIMENSIONS))
        self.decay = np.exp(-np.arange(self.d) / log_uniform(rng, 20, 150))
        self.flat = self.decay ** rng.uniform(0.2, 0.8)
        self.offset = rng.choice([0.0, rng.uniform(0.5, 2.5)]) * self._unit_rows(1, self.decay)
        self.rectified = rng.random() < 0.35
        self.group = rng.choice([0.0, rng.uniform(0.3, 0.9)])  # women and men
        self.channel = rng.choice([0.0, rng.uniform(0.1, 0.7)])
        self.content = rng.uniform(*content)
        self.noise = log_uniform(rng, 0.3, 1.5)
        self.directions = self._unit_rows(log_integer(rng, 4, 40), self.decay)
        self.words = self._words(log_integer(rng, 6, 60))

    def _unit_rows(self, n: int, spectrum: Array) -> Array:
        """Draw rows whose expected squared length is 1."""
        return self.rng.normal(size=(n, self.d)) * spectrum / np.linalg.norm(spectrum)

    def _words(self, n: int) -> Array:
        return self.rng.normal(size=(n, len(self.directions))) @ self.directions / np.sqrt(len(self.directions))

    def speakers(self, k: int) -> Array:
        """Draw the vectors of k speakers in two groups; some pairs are alike."""
        found = self._unit_rows(k, self.decay)
        for twin in np.flatnonzero(self.rng.random(k) < 0.08):
            found[twin] = 0.75 * found[twin - 1] + 0.66 * found[twin]
        groups = self._unit_rows(2, self.decay)[self.rng.integers(0, 2, k)]
        return np.sqrt(1 - self.group**2 / 2) * found + self.group * groups / np.sqrt(2)

    def channels(self, n: int) -> Array:
        """Draw the vectors of n channels."""
        return self.channel * self._unit_rows(n, self.decay)

    def contents(self, n: int, *, discrete: bool) -> Array:
        """Draw the content of n windows: one of the words, or anything."""
        return self.content * (self.words[self.rng.integers(0, len(self.words), n)] if discrete else self._words(n))

    def noises(self, n: int) -> Array:
        """Draw the noise of n windows; some windows are noisier."""
        return self.noise * self._unit_rows(n, self.flat) * np.exp(0.25 * self.rng.normal(size=(n, 1)))

    def finish(self, X: Array) -> Array:
        """Return unit vectors, without negative values if the encoder has none."""
        X = X + self.offset
        X = np.maximum(X, 0.0) if self.rectified else X
        length = np.linalg.norm(X, axis=1, keepdims=True)
        return X / np.where(length > 0, length, 1.0)


def make_recording(setting: str, seed: int, *, alone: bool | None = None) -> Recording:
    """Return the recording of a setting for a seed.

    `alone` determines whether there is one speaker; by default a share of `ALONE` has one.
    """
    rng = np.random.default_rng([seed, *setting.encode()])
    speakers, amount = SETTINGS[setting]
    one = rng.random() < ALONE if alone is None else alone
    encoder = Encoder(rng, (0.7, 1.5) if setting == "words" else (0.0, 0.8))
    k = 1 if one else log_integer(rng, *speakers)
    if one:
        amount = (10, 500) if setting != "few" else (10, 40)
    return (_windows if setting in TIMED else _utterances)(encoder, setting, k, amount)


def _utterances(encoder: Encoder, setting: str, k: int, amount: tuple[int, int]) -> Recording:
    rng = encoder.rng
    even = rng.random() < 0.4
    counts = np.full(k, log_integer(rng, *amount)) if even else np.array([log_integer(rng, *amount) for _ in range(k)])
    counts = np.maximum(2, (counts * min(1.0, MOST_WINDOWS / counts.sum())).astype(int))
    y = np.repeat(np.arange(k), counts)
    sessions = int(rng.integers(1, 5))
    channel = y * sessions + rng.integers(0, sessions, len(y))
    X = encoder.speakers(k)[y] + encoder.channels(k * sessions)[channel]
    X += encoder.contents(len(y), discrete=setting == "words")
    X += encoder.noises(len(y)) * np.exp(rng.uniform(-0.35, 0.35, k))[y][:, None]
    order = rng.permutation(len(y))
    return Recording(encoder.finish(X)[order], y[order])


def _windows(encoder: Encoder, setting: str, k: int, amount: tuple[int, int]) -> Recording:
    """Windows of a meeting: sums over frames, so that windows that overlap are alike."""
    rng = encoder.rng
    turns = _turns(rng, k, amount, log_uniform(rng, 1.5, 10.0), rng.choice([0.0, 0.1, 0.4]) if k > 1 else 0.0)
    frames = int(np.ceil(max(end for _, end, _ in turns) / FRAME))
    active = np.zeros((frames, k))
    for start, end, speaker in turns:
        active[round(start / FRAME) : round(end / FRAME), speaker] = 1.0
    length = int(rng.choice([4, 6, 8, 12]))
    step = max(1, int(length / rng.choice([1, 1, 2, 4, 6])))
    begin = np.arange(0, max(1, frames - length + 1), step)
    speech = active / np.maximum(active.sum(axis=1, keepdims=True), 1.0)
    noise = (encoder.contents(frames, discrete=True) + encoder.noises(frames)) * np.sqrt(length)
    drift = _drift(encoder, frames)
    share = _sums(speech, begin, length) / length
    loud = share.sum(axis=1)
    kept = np.flatnonzero(loud > 0.6)
    if len(kept) < 5:
        kept = np.argsort(-loud, kind="stable")[:5]
    kept = np.sort(kept)[:: -(-len(kept) // MOST_WINDOWS)]
    begin, share, loud = begin[kept], share[kept], loud[kept]
    X = share @ (encoder.speakers(k) + encoder.channels(k))
    X += _sums((noise + drift) * (speech.sum(axis=1) > 0)[:, None], begin, length) / length
    y = np.where(share.max(axis=1) >= 0.8 * loud, share.argmax(axis=1), -1)
    times = np.column_stack([begin, begin + length]) * FRAME
    return Recording(encoder.finish(X / loud[:, None]), y, times, tuple(turns))


def _turns(
    rng: np.random.Generator, k: int, amount: tuple[int, int], mean: float, overlap: float
) -> list[tuple[float, float, int]]:
    """Draw turns with pauses; a share of `overlap` starts before the end of the turn before."""
    total = float(min(k * log_integer(rng, *amount), 1200))
    shares = rng.dirichlet(np.full(k, 1.5)) * 0.8 + 0.2 / k
    turns, at, last = [], 0.0, -1
    while at < total or not turns:
        weights = np.where(np.arange(k) == last, 0.0, shares) if k > 1 else shares
        last = int(rng.choice(k, p=weights / weights.sum()))
        length = max(2 * FRAME, round(float(rng.exponential(mean) + 0.5) / FRAME) * FRAME)
        turns.append((at, at + length, last))
        pause = -min(length / 2, 2.0) if rng.random() < overlap else float(rng.exponential(0.3))
        at += length + round(pause / FRAME) * FRAME
    return turns


def _drift(encoder: Encoder, frames: int) -> Array:
    """Draw a slow change: a weighted mean of noise over about ten seconds."""
    size = encoder.rng.choice([0.0, encoder.rng.uniform(0.1, 0.5)])
    slow = encoder.noises(frames // 20 + 2) / encoder.noise
    place = np.arange(frames) / 20
    low, rest = place.astype(int), (place % 1)[:, None]
    return size * ((1 - rest) * slow[low] + rest * slow[low + 1])


def _sums(values: Array, begin: NDArray[np.intp], length: int) -> Array:
    total = np.concatenate([np.zeros((1, values.shape[1])), np.cumsum(values, axis=0)])
    return total[np.minimum(begin + length, len(values))] - total[begin]
