"""Measure whether smoothing in time helps, on synthetic recordings.

    python benchmarks/speaker_smoothing.py [--recordings 12]

The speakers before smoothing are those of k-means with the true number of speakers, and those of the nearest true mean
direction. The error is the share of windows of one speaker whose speaker is wrong, after the best assignment.
"""

from argparse import ArgumentParser
from dataclasses import replace

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.cluster import KMeans

from common import table
from modeseek.diarization.config import DEFAULT
from modeseek.diarization.embeddings import mean_directions, nearest_direction
from modeseek.diarization.smoothing import smooth_labels
from synthetic.recordings import TIMED, make_recording

FIRST_SEED = 300  # not a seed that the search for speakers was developed on
MEAN_TURNS = (2.0, 4.0)


def error(y: np.ndarray, labels: np.ndarray) -> float:
    """Return the share of windows with a wrong speaker; windows without one main speaker do not count."""
    known = y >= 0
    counts = np.zeros((y.max() + 1, labels.max() + 1))
    np.add.at(counts, (y[known], labels[known]), 1)
    return float(1 - counts[linear_sum_assignment(counts, maximize=True)].sum() / known.sum())


def main() -> None:
    """Print a table of mean and median errors."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--recordings", type=int, default=12, help="recordings of each setting")
    count = parser.parse_args().recordings
    errors: dict[tuple[str, str], list[float]] = {}
    for setting in TIMED:
        for seed in range(FIRST_SEED, FIRST_SEED + count):
            sound = make_recording(setting, seed, alone=False)
            speakers = np.unique(sound.y[sound.y >= 0])
            if len(speakers) < 2:
                continue
            known = sound.y >= 0
            means = mean_directions(sound.X[known], np.searchsorted(speakers, sound.y[known]))
            starts = {
                "k-means, true number": KMeans(len(speakers), n_init=1, random_state=0).fit(sound.X).labels_,
                "nearest true direction": nearest_direction(sound.X, means),
            }
            for start, found in starts.items():
                labels = np.unique(found, return_inverse=True)[1]
                errors.setdefault((start, "none"), []).append(error(sound.y, labels))
                for turn in MEAN_TURNS:
                    smooth = smooth_labels(sound.X, labels, sound.times, replace(DEFAULT, mean_turn=turn))
                    errors.setdefault((start, f"mean turn {turn:g} s"), []).append(error(sound.y, smooth))
    lines = [[*key, f"{np.mean(all_):.1%}", f"{np.median(all_):.1%}", str(len(all_))] for key, all_ in errors.items()]
    print(table(["speakers", "smoothing", "mean error", "median error", "recordings"], lines))


if __name__ == "__main__":
    main()
