"""Choose the constants of `modeseek.images.segment` on synthetic pictures.

    python benchmarks/picture_constants.py [--count 24]

The script segments `--count` pictures (see `synthetic_pictures.py`) without merging. It then merges the regions with
each combination of constants in `GRID` and finds the threshold with the largest mean covering. At the best
combination, it compares the values of `BANDWIDTHS_PER_SIDE` in the same way. It prints the chosen constants, and their
covering on half as many other pictures. No photograph is read.
"""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from common import parser_of, table
from modeseek.images import segment
from modeseek.images.config import DEFAULT_CONFIG, SegmentConfig
from modeseek.images.input_image import InputImage, check_image
from modeseek.images.merging import merge_regions
from modeseek.images.region_graph import RegionGraph, bin_weights, measure_regions
from synthetic_pictures import synthetic_picture

TILE = 2**20
THRESHOLDS = np.round(np.arange(0.1, 2.51, 0.05), 2)
# the weight of colour is 1: the threshold sets the scale
GRID = {
    "texture_weight": (0.5, 1.0, 2.0),
    "border_weight": (1 / 120, 1 / 60, 1 / 30, 1 / 15),
    "size_exponent": (0.0, 1 / 8, 1 / 4, 3 / 8),
}
BANDWIDTHS_PER_SIDE = (20.0, 28.0, 40.0)


class Divided(NamedTuple):
    """A picture divided into regions that are not merged yet; `shares` has the pixels in each region of each person."""

    graph: RegionGraph
    shares: list[np.ndarray]
    config: SegmentConfig
    image: InputImage


def divided(seed: int, per_side: float) -> Divided:
    """Return the regions of a synthetic picture before merging."""
    picture, people = synthetic_picture(seed)
    config = replace(DEFAULT_CONFIG, bandwidths_per_side=per_side)
    labels = segment(picture, threshold=0.0, start_label=0, config=config)
    image = check_image(picture, None, None, None, -1, tile=TILE, max_channels=config.max_channels)
    config = config.for_bandwidth(max(np.sqrt(labels.size) / per_side, config.min_bandwidth_pixels))
    graph = measure_regions(image, lambda band: labels[band], int(labels.max()) + 1, TILE, config)
    shares = [np.zeros((len(graph.sizes), int(person.max()) + 1)) for person in people]
    for share, person in zip(shares, people, strict=True):
        np.add.at(share, (labels.ravel(), person.ravel()), 1)
    return Divided(graph, shares, config, image)


def coverings(one: Divided, constants: dict[str, float]) -> list[float]:
    """Return the covering at each threshold, the mean over people."""
    config = replace(one.config, **constants)
    tree = merge_regions(replace(one.graph, bin_weights=bin_weights(one.image, config)), config)
    cuts = [tree.cut(threshold) for threshold in THRESHOLDS]
    return [float(np.mean([_covering(share, groups) for share in one.shares])) for groups in cuts]


def _covering(shares: np.ndarray, groups: np.ndarray) -> float:
    both = np.zeros((int(groups.max()) + 1, shares.shape[1]))
    np.add.at(both, groups, shares)
    found, true = both.sum(axis=1, keepdims=True), both.sum(axis=0)
    return float(((both / (found + true - both)).max(axis=0) * true).sum() / true.sum())


def scored(made: list[Divided], constants: dict[str, float]) -> np.ndarray:
    """Return the mean covering at each threshold, averaged with its neighbours because it varies at random."""
    mean = np.mean([coverings(one, constants) for one in made], axis=0)
    padded = np.pad(mean, 1, mode="edge")
    return (padded[:-2] + 2 * padded[1:-1] + padded[2:]) / 4


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--count", type=int, default=24, help="number of pictures to choose on")
    given = parser.parse_args()
    count = 2 if given.quick else given.count
    made, found = [divided(seed, DEFAULT_CONFIG.bandwidths_per_side) for seed in range(count)], []
    for values in itertools.product(*GRID.values()):
        curve = scored(made, dict(zip(GRID, values, strict=True)))
        found.append((float(curve.max()), float(THRESHOLDS[curve.argmax()]), values))
    found.sort(reverse=True)
    lines = [[*(f"{value:.4f}" for value in values), f"{at:.2f}", f"{mean:.4f}"] for mean, at, values in found]
    print(table([*GRID, "threshold", "covering"], lines), flush=True)
    chosen, best = dict(zip(GRID, found[0][2], strict=True)), []
    for per_side in BANDWIDTHS_PER_SIDE:
        curve = scored([divided(seed, per_side) for seed in range(count)], chosen)
        best.append((float(curve.max()), float(THRESHOLDS[curve.argmax()]), per_side))
        print(
            f"bandwidths_per_side {per_side:g}: covering {best[-1][0]:.4f} at threshold {best[-1][1]:.2f}", flush=True
        )
    _, threshold, per_side = max(best)
    others = [divided(seed, per_side) for seed in range(count, count + max(count // 2, 1))]
    other = float(scored(others, chosen)[np.flatnonzero(threshold == THRESHOLDS)[0]])
    print(f"chosen: {chosen}, bandwidths_per_side {per_side:g}, threshold {threshold:.2f}; other pictures: {other:.4f}")


if __name__ == "__main__":
    main()
