"""Learn the test for one speaker on synthetic recordings.

    python benchmarks/train_speakers.py [--recordings 200] [--write]
    python benchmarks/train_speakers.py --compare 40

The first form makes recordings of every setting (`synthetic/recordings.py`), partitions each by average linkage, fits
the two functions of `modeseek/diarization/speaker_choice.py` and prints their scores on recordings that were left out
(four folds). `--write` fits them on all recordings and replaces `speaker_choice.npz`. The second form prints the mean
score of `SpeakerSearch` with and without the test on other recordings: the adjusted Rand index, or for one speaker
whether it stays whole.
"""

from __future__ import annotations

from argparse import ArgumentParser
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.metrics import adjusted_rand_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

import modeseek.diarization
from common import table
from modeseek.diarization import SpeakerSearch
from modeseek.diarization.average_linkage import linkage_partitions
from modeseek.diarization.config import DEFAULT_CONFIG
from modeseek.diarization.speaker_choice import FARTHEST, Quadratic, SpeakerChoice, partition_features
from synthetic.recordings import SETTINGS, Recording, make_recording

MOST_WINDOWS = 250
# a wrong number of speakers costs this much for each factor e, at most once
NUMBER_PENALTY = 0.1
FIRST_COMPARED = 500
FOLDS = 4


class Collected(NamedTuple):
    """Partitions of all recordings: features, scores, penalised scores, recordings; speakers of each recording."""

    features: np.ndarray
    scores: np.ndarray
    targets: np.ndarray
    owner: np.ndarray
    speakers: np.ndarray


def recordings(first: int, count: int) -> list[Recording]:
    """Return recordings of every setting that are not too large."""
    made = [make_recording(setting, seed) for seed in range(first, first + count) for setting in SETTINGS]
    return [
        one
        for one in made
        if DEFAULT_CONFIG.min_linkage_windows <= len(one.X) <= MOST_WINDOWS and (one.y >= 0).sum() > 3
    ]


def collect(count: int) -> Collected:
    """Partition the recordings and score the partitions."""
    features, scores, targets, owner, speakers = [], [], [], [], []
    for one in recordings(0, count):
        partitions = linkage_partitions(one.X, DEFAULT_CONFIG)
        if not partitions:
            continue
        known = one.y >= 0
        k = len(np.unique(one.y[known]))
        found = np.array([adjusted_rand_score(one.y[known], labels[known]) if k > 1 else 0.0 for labels in partitions])
        sizes = np.array([labels.max() + 1 for labels in partitions])
        features.append(partition_features(one.X, partitions))
        scores.append(found)
        targets.append(found - NUMBER_PENALTY * np.minimum(1, np.abs(np.log(sizes / k))))
        owner.append(np.full(len(partitions), len(speakers)))
        speakers.append(k)
    return Collected(*map(np.concatenate, (features, scores, targets, owner)), np.array(speakers))


def quadratic(features: np.ndarray, target: np.ndarray, model: Any) -> Quadratic:
    """Fit a linear model to all products of two features, and return it as one function."""
    scaler = StandardScaler().fit(features)
    z = np.clip(scaler.transform(features), -FARTHEST, FARTHEST)
    products = PolynomialFeatures(2, include_bias=False)
    fitted = make_pipeline(StandardScaler(), model).fit(products.fit_transform(z), target)
    weights = np.ravel(fitted[-1].coef_) / fitted[0].scale_
    constant = float(np.ravel(fitted[-1].intercept_)[0] - weights @ fitted[0].mean_)
    square = np.zeros((z.shape[1], z.shape[1]))
    for powers, weight in zip(products.powers_[z.shape[1] :], weights[z.shape[1] :], strict=True):
        places = np.repeat(np.arange(len(powers)), powers)
        square[places[0], places[1]] += weight
    return Quadratic(scaler.mean_, scaler.scale_, np.float64(constant), weights[: z.shape[1]], square)


def train(data: Collected, inside: np.ndarray) -> SpeakerChoice:
    """Fit the choice on the recordings `inside`."""
    several = (inside & (data.speakers > 1))[data.owner]
    agreement = quadratic(data.features[several], data.targets[several], RidgeCV(np.logspace(0, 5, 6)))
    expected = agreement(data.features)
    best = np.array([_best(data, expected, recording) for recording in np.flatnonzero(inside)])
    inputs = np.column_stack([data.features[best], np.clip(expected[best], 0.0, 1.0)])
    single = quadratic(inputs, data.speakers[inside] == 1, LogisticRegression(C=0.05, max_iter=3000))
    return SpeakerChoice(agreement, single)


def _best(data: Collected, expected: np.ndarray, recording: int) -> int:
    own = np.flatnonzero(data.owner == recording)
    return int(own[expected[own].argmax()])


def left_out(data: Collected) -> None:
    """Print the decisions of the test on recordings that it was not fitted on."""
    fold = np.random.default_rng(0).integers(0, FOLDS, len(data.speakers))
    rows = []
    for each in range(FOLDS):
        choice = train(data, fold != each)
        for recording in np.flatnonzero(fold == each):
            own = data.owner == recording
            single = choice.prefers_single(data.features[own])
            first = choice.agreement(data.features[own]).argmax()
            rows.append((data.speakers[recording] == 1, single, data.scores[own][first], data.scores[own].max()))
    alone, single, score, ceiling = np.array(rows, dtype=float).T
    several = alone == 0
    print(f"{(~several).sum()} recordings of one speaker: {single[~several].mean():.0%} stay whole")
    print(f"{several.sum()} recordings of several speakers: {single[several].mean():.0%} are taken for one")
    print(f"mean ARI of their partition with the largest expected agreement {score[several].mean():.3f}", end="")
    print(f", of the best partition {ceiling[several].mean():.3f}")


def compare(count: int) -> None:
    """Print the scores of the search with and without the test."""
    without = replace(DEFAULT_CONFIG, max_single_windows=0)
    rows = []
    for one in recordings(FIRST_COMPARED, count):
        known = one.y >= 0
        alone = len(np.unique(one.y[known])) == 1
        line: list[float] = [len(one.X), alone]
        for config in (without, DEFAULT_CONFIG):
            labels = SpeakerSearch(config=config).find(one.X).labels
            line.append(float(labels.max() == 0) if alone else adjusted_rand_score(one.y[known], labels[known]))
        rows.append(line)
    found = np.array(rows)
    ends = (0, 60, DEFAULT_CONFIG.max_single_windows, MOST_WINDOWS + 1)
    groups = {
        f"{low} to {high - 1} windows": (found[:, 0] >= low) & (found[:, 0] < high) for low, high in pairwise(ends)
    }
    groups |= {"several speakers": found[:, 1] == 0, "one speaker": found[:, 1] == 1}
    lines = [
        [name, str(own.sum()), *(f"{mean:.3f}" for mean in found[own, 2:].mean(axis=0))] for name, own in groups.items()
    ]
    print(table(["recordings", "number", "without the test", "with it"], lines))


def main() -> None:
    """Train and print, or compare."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--recordings", type=int, default=200, help="recordings of each setting")
    parser.add_argument("--write", action="store_true", help="replace speaker_choice.npz")
    parser.add_argument("--compare", type=int, metavar="N", help="compare on N other recordings of each setting")
    given = parser.parse_args()
    if given.compare:
        return compare(given.compare)
    data = collect(given.recordings)
    left_out(data)
    if given.write:
        choice = train(data, np.ones(len(data.speakers), dtype=bool))
        parts = {name: getattr(choice, name) for name in ("agreement", "single")}
        values = {f"{name}_{i}": value for name, part in parts.items() for i, value in enumerate(vars(part).values())}
        np.savez(Path(modeseek.diarization.__file__).parent / "speaker_choice.npz", **values)
    return None


if __name__ == "__main__":
    main()
