"""Learn the choice among partitions of windows, and of one speaker, on synthetic recordings.

    python benchmarks/train_speakers.py [--recordings 124] [--write]
    python benchmarks/train_speakers.py --compare 12

The first form makes recordings of every setting (`synthetic/recordings.py`), finds the candidate partitions of each by
ModeSeek and by average linkage, fits the two functions of `modeseek/diarization/speaker_choice.py` and prints their
scores on recordings that were left out (four folds). `--write` fits them on all recordings and replaces those of the
choice in `speaker_choice.npz`. The functions of the test by average linkage alone, in the same file, were learned by
this script as of commit c6cd1080 and are kept. The second form prints the mean score of ModeSeek alone and of
`SpeakerSearch` (with and without refinement, and told the number of speakers) on other recordings: the adjusted Rand
index, or for one speaker whether it stays whole.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler
from threadpoolctl import threadpool_limits

import modeseek.diarization
from common import table
from modeseek import ModeSeek
from modeseek._common.types import IntArray
from modeseek.diarization import SpeakerSearch
from modeseek.diarization.config import DEFAULT
from modeseek.diarization.speaker_choice import (
    FARTHEST,
    Decision,
    ModePartitions,
    Quadratic,
    SpeakerChoice,
    load_speaker_choice,
)
from modeseek.diarization.speaker_partitions import LinkagePool, find_candidates, mode_partitions
from modeseek.metrics import rand_agreement
from synthetic.recordings import SETTINGS, Recording, make_recording

# of the recordings with more windows than this, which take long, a third is used
MANY_WINDOWS = 500
# a wrong number of speakers costs this much for each factor e, at most once
NUMBER_PENALTY = 0.1
# numbers of speakers within this factor of the truth are right
NUMBER_FACTOR = 1.2
# strengths of the regularisation of the two functions
AGREEMENT_ALPHA, SINGLE_C = 1000.0, 0.03
SEEDS = (*range(51), *range(500, 573))
FIRST_COMPARED = 1000
FOLDS = 4


class Examined(NamedTuple):
    """A recording: candidates with features, agreement and scores; numbers of clusters; speakers; ModeSeek's result."""

    setting: str
    features: np.ndarray
    agreement: np.ndarray
    scores: np.ndarray
    counts: np.ndarray
    speakers: int
    mode_score: float

    @property
    def targets(self) -> np.ndarray:
        """Scores less the penalty for a wrong number of speakers."""
        return self.scores - NUMBER_PENALTY * np.minimum(1, np.abs(np.log(self.counts / self.speakers)))

    def score(self, best: int, *, single: bool) -> float:
        """Return the score of a decision."""
        if self.speakers == 1 or single:
            return float(self.speakers == 1 and single)
        return float(self.scores[best])


def recordings(seeds: Iterable[int]) -> Iterator[tuple[str, int, Recording]]:
    """Yield recordings of every setting with their seeds."""
    for seed in seeds:
        for setting in SETTINGS:
            one = make_recording(setting, seed)
            enough = len(one.X) >= DEFAULT.min_linkage_windows and (one.y >= 0).sum() > 3
            if enough and (len(one.X) <= MANY_WINDOWS or seed % 3 == 0):
                yield setting, seed, one


def find(one: Recording) -> tuple[np.ndarray, ModePartitions, LinkagePool | None]:
    """Return windows that do not overlap, the partitions of ModeSeek on them, and all candidates."""
    search = SpeakerSearch()
    clustered = search._clustered(np.zeros(len(one.X), dtype=bool), one.times)
    disjoint = search._disjoint(clustered, one.times)
    modes = mode_partitions(search._model(0).fit(one.X), disjoint)
    return disjoint, modes, find_candidates(one.X[disjoint], modes)


def examine(setting: str, y: np.ndarray, modes: IntArray, found: LinkagePool) -> Examined | None:
    """Score the candidates of a recording, and the partition of ModeSeek."""
    known = y >= 0
    true = y[known]
    if len(true) < 2:
        return None
    k = len(np.unique(true))
    scores = [rand_agreement(true, labels[known]) if k > 1 else 0.0 for labels in found.partitions]
    counts = np.array([labels.max() + 1 for labels in found.partitions])
    of_modes = rand_agreement(true, modes[known]) if k > 1 else float(modes.max() == 0)
    return Examined(setting, found.features, found.agreement, np.array(scores), counts, k, of_modes)


def collect(count: int) -> list[Examined]:
    """Examine recordings of every setting."""
    done = []
    for setting, seed, one in recordings(SEEDS[:count]):
        disjoint, modes, found = find(one)
        if found is not None:
            done.append(examine(setting, one.y[disjoint], modes.labels, found))
        print(setting, seed, file=sys.stderr, flush=True)
    return [each for each in done if each is not None]


def quadratic(features: np.ndarray, target: np.ndarray, model: Any, weights: np.ndarray | None = None) -> Quadratic:
    """Fit a linear model to all products of two features, and return it as one function."""
    scaler = StandardScaler().fit(features)
    z = np.clip(scaler.transform(features), -FARTHEST, FARTHEST)
    products = PolynomialFeatures(2, include_bias=False)
    name = type(model).__name__.lower()
    options = {} if weights is None else {f"{name}__sample_weight": weights}
    fitted = make_pipeline(StandardScaler(), model).fit(products.fit_transform(z), target, **options)
    linear = np.ravel(fitted[-1].coef_) / fitted[0].scale_
    constant = float(np.ravel(fitted[-1].intercept_)[0] - linear @ fitted[0].mean_)
    square = np.zeros((z.shape[1], z.shape[1]))
    for powers, weight in zip(products.powers_[z.shape[1] :], linear[z.shape[1] :], strict=True):
        places = np.repeat(np.arange(len(powers)), powers)
        square[places[0], places[1]] += weight
    return Quadratic(scaler.mean_, scaler.scale_, np.float64(constant), linear[: z.shape[1]], square)


def fit_agreement(data: list[Examined]) -> Quadratic:
    """Fit the agreement of a partition; every recording of several speakers has the same weight."""
    several = [each for each in data if each.speakers > 1]
    weights = np.concatenate([np.full(len(each.scores), 1.0 / len(each.scores)) for each in several])
    features, targets = (np.concatenate([getattr(each, name) for each in several]) for name in ("features", "targets"))
    return quadratic(features, targets, Ridge(AGREEMENT_ALPHA), weights / weights.mean())


def train(data: list[Examined]) -> SpeakerChoice:
    """Fit the choice; the test for one speaker is fitted to agreements that were predicted for recordings left out."""
    inputs = np.zeros((len(data), data[0].features.shape[1] + 1))
    fold = np.arange(len(data)) % FOLDS
    for each in range(FOLDS):
        part = fit_agreement([one for one, own in zip(data, fold, strict=True) if own != each])
        for row in np.flatnonzero(fold == each):
            found = decide(SpeakerChoice(part, _even), data[row])
            inputs[row] = [*data[row].features[found.best], found.agreement]
    alone = np.array([each.speakers == 1 for each in data])
    single = quadratic(inputs, alone, LogisticRegression(C=SINGLE_C, max_iter=3000))
    return SpeakerChoice(fit_agreement(data), single)


def _even(features: np.ndarray) -> np.ndarray:
    return np.zeros(len(features))


def decide(choice: SpeakerChoice, one: Examined) -> Decision:
    """Return the decision for a recording."""
    return choice.decide(one.features, one.agreement, DEFAULT.choice_sharpness)


def left_out(data: list[Examined]) -> None:
    """Print the decisions on recordings that the choice was not fitted on."""
    fold = np.random.default_rng(0).integers(0, FOLDS, len(data))
    decisions: list[Any] = [None] * len(data)
    for each in range(FOLDS):
        choice = train([one for one, own in zip(data, fold, strict=True) if own != each])
        for row in np.flatnonzero(fold == each):
            decisions[row] = decide(choice, data[row])
    rows = np.array([_line(one, found) for one, found in zip(data, decisions, strict=True)])
    settings = np.array([one.setting for one in data])
    alone = np.array([one.speakers == 1 for one in data])
    groups = {f"several, {name}": (settings == name) & ~alone for name in SETTINGS}
    groups |= {"several speakers": ~alone, "one speaker": alone}
    lines = [
        [name, str(own.sum()), *(f"{mean:.3f}" for mean in rows[own].mean(axis=0))]
        for name, own in groups.items()
        if own.any()
    ]
    names = ["recordings", "number", "ModeSeek", "choice", "without one speaker", "best candidate", "taken for one"]
    print(table([*names, "number within 20 %"], lines))


def _line(one: Examined, found: Decision) -> list[float]:
    count = 1 if found.is_single else one.counts[found.best]
    right = abs(np.log(count / one.speakers)) <= np.log(NUMBER_FACTOR)
    scores = one.score(found.best, single=found.is_single), one.score(found.best, single=False), one.scores.max()
    return [one.mode_score, *scores, found.is_single, right]


def compare(count: int) -> None:
    """Print the scores of ModeSeek alone, and of the search with and without refinement and number of speakers."""
    rows = []
    plain = replace(DEFAULT, refinements=0)
    for setting, seed, one in recordings(range(FIRST_COMPARED, FIRST_COMPARED + count)):
        known = one.y >= 0
        k = len(np.unique(one.y[known]))
        found = [ModeSeek(metric="cosine").fit(one.X).labels_]
        for told in (None, k):
            found += [SpeakerSearch(told, config=each).find(one.X, one.times).labels for each in (plain, DEFAULT)]
        scores = (float(each.max() == 0) if k == 1 else rand_agreement(one.y[known], each[known]) for each in found)
        rows.append([k == 1, *scores])
        print(setting, seed, len(one.X), *rows[-1], file=sys.stderr, flush=True)
    scored = np.array(rows)
    groups = {"several speakers": scored[:, 0] == 0, "one speaker": scored[:, 0] == 1}
    lines = [
        [name, str(own.sum()), *(f"{mean:.3f}" for mean in scored[own, 1:].mean(axis=0))]
        for name, own in groups.items()
    ]
    names = ("search without refinement", "search", "told, without refinement", "told")
    print(table(["recordings", "number", "ModeSeek", *names], lines))


def write(choice: SpeakerChoice) -> None:
    """Replace the arrays of the choice in the package; those of the test are kept."""
    values = {
        f"{use}_{part}_{i}": value
        for use, each in {**load_speaker_choice(), "choice": choice}.items()
        for part in ("agreement", "single")
        for i, value in enumerate(vars(getattr(each, part)).values())
    }
    np.savez(Path(modeseek.diarization.__file__).parent / "speaker_choice.npz", **values)


def main() -> None:
    """Train and print, or compare."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--recordings", type=int, default=len(SEEDS), help="recordings of each setting")
    parser.add_argument("--write", action="store_true", help="replace speaker_choice.npz")
    parser.add_argument("--compare", type=int, metavar="N", help="compare on N other recordings of each setting")
    given = parser.parse_args()
    with threadpool_limits(1):
        if given.compare:
            return compare(given.compare)
        data = collect(given.recordings)
    left_out(data)
    if given.write:
        write(train(data))
    return None


if __name__ == "__main__":
    main()
