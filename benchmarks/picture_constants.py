"""Choose the constants of `modeseek.images.segment` on synthetic pictures.

    python benchmarks/picture_constants.py [--count 100]

The score of a set of constants is the largest mean covering on `--count` pictures (see `synthetic_pictures.py`), over
all thresholds that give at most as many regions on average as people outline. Without this bound, small superfluous
regions would remain, because they hardly change the covering. Each constant starts at the middle of its values. The
script replaces one constant after the other by its best value, until no constant of the merging changes; then it does
this once for the constants that change the regions or their histograms. It prints the chosen constants, and their
score on half as many other pictures. No photograph is read.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from typing import NamedTuple

import numpy as np

from common import parser_of
from modeseek.images import segment
from modeseek.images.config import SegmentConfig
from modeseek.images.input_image import InputImage, check_image
from modeseek.images.merging import merge_regions
from modeseek.images.region_graph import RegionGraph, bin_weights, measure_regions
from synthetic_pictures import synthetic_picture

TILE = 2**20
THRESHOLDS = np.geomspace(0.5, 12.0, 40)
MERGING = {
    "size_exponent": (0.2, 0.3, 0.4, 0.5, 0.6),
    "contrast_offset": (0.0, 1.0, 2.0, 4.0),
    # not below 0.2, because a grey image has no other colour
    "lightness_weight": (0.2, 1 / 3, 0.5),
    "texture_weight": (0.5, 0.75, 1.0, 1.5, 2.0),
}
MEASURING = {
    "bandwidths_per_side": (20.0, 28.0, 40.0),
    "border_sigma": (1.5, 2.0, 3.0),
    "texture_sigma": (2.0, 3.0, 4.5),
    "color_bin": (2.5, 5.0, 10.0),
}


class Divided(NamedTuple):
    """A picture divided into regions that are not merged yet; `shares` has the pixels in each region of each person."""

    graph: RegionGraph
    shares: list[np.ndarray]
    image: InputImage


painted = cache(synthetic_picture)


@cache
def unmerged(seed: int, per_side: float) -> np.ndarray:
    """Return the regions of a synthetic picture before merging, numbered from 0."""
    config = SegmentConfig(bandwidths_per_side=per_side)
    return segment(painted(seed)[0], threshold=0.0, start_label=0, config=config)


def divided(seed: int, config: SegmentConfig) -> Divided:
    """Measure the regions of a synthetic picture."""
    picture, people = painted(seed)
    labels = unmerged(seed, config.bandwidths_per_side)
    image = check_image(picture, None, None, None, -1, tile=TILE, max_channels=config.max_channels)
    scaled = config.for_bandwidth(max(np.sqrt(labels.size) / config.bandwidths_per_side, config.min_bandwidth_pixels))
    graph = measure_regions(image, lambda band: labels[band], int(labels.max()) + 1, TILE, scaled)
    shares = [np.zeros((len(graph.sizes), int(person.max()) + 1)) for person in people]
    for share, person in zip(shares, people, strict=True):
        np.add.at(share, (labels.ravel(), person.ravel()), 1)
    return Divided(graph, shares, image)


def cut(one: Divided, config: SegmentConfig) -> np.ndarray:
    """Return the covering (the mean over people) and the number of regions at each threshold."""
    tree = merge_regions(replace(one.graph, bin_weights=bin_weights(one.image, config)), config)
    found: dict[int, tuple[float, int]] = {}
    counts = [int((tree.heights <= threshold).sum()) for threshold in THRESHOLDS]
    for count, threshold in zip(counts, THRESHOLDS, strict=True):
        if count not in found:
            groups = tree.cut(threshold)
            covering = float(np.mean([_covering(share, groups) for share in one.shares]))
            found[count] = covering, int(groups.max()) + 1
    return np.array([found[count] for count in counts])


def _covering(shares: np.ndarray, groups: np.ndarray) -> float:
    both = np.zeros((int(groups.max()) + 1, shares.shape[1]))
    np.add.at(both, groups, shares)
    found, true = both.sum(axis=1, keepdims=True), both.sum(axis=0)
    return float(((both / (found + true - both)).max(axis=0) * true).sum() / true.sum())


def scored(made: list[Divided], config: SegmentConfig) -> np.ndarray:
    """Return the mean covering at each threshold, or 0 at those with more regions than people outline."""
    coverings, regions = np.mean([cut(one, config) for one in made], axis=0).T
    # the mean with the neighbours, because the covering varies at random
    padded = np.pad(coverings, 1, mode="edge")
    smooth = (padded[:-2] + 2 * padded[1:-1] + padded[2:]) / 4
    outlined = np.mean([share.shape[1] for one in made for share in one.shares])
    return np.where(regions <= outlined, smooth, 0.0)


def swept(
    config: SegmentConfig, values: dict[str, tuple[float, ...]], score: Callable[[SegmentConfig], np.ndarray]
) -> SegmentConfig:
    """Replace one constant after the other by its best value, once."""
    for name, candidates in values.items():
        options = [replace(config, **{name: value}) for value in candidates]
        curves = [score(option) for option in options]
        for value, curve in zip(candidates, curves, strict=True):
            print(f"{name} {value:.3g}: {curve.max():.4f} at threshold {THRESHOLDS[curve.argmax()]:.2f}", flush=True)
        config = options[int(np.argmax([curve.max() for curve in curves]))]
    return config


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--count", type=int, default=100, help="number of pictures to choose on")
    given = parser.parse_args()
    count = 2 if given.quick else given.count
    middle = {name: values[len(values) // 2] for name, values in (MERGING | MEASURING).items()}
    config, last = SegmentConfig(**middle), None
    merged = cache(partial(scored, [divided(seed, config) for seed in range(count)]))
    while config != last:
        config, last = swept(config, MERGING, merged), config
    measured = cache(lambda option: scored([divided(seed, option) for seed in range(count)], option))
    config = swept(config, MEASURING, measured)
    best = int(measured(config).argmax())
    chosen = {name: getattr(config, name) for name in middle}
    print(f"chosen: {chosen}, threshold {THRESHOLDS[best]:.2f}: {measured(config)[best]:.4f}")
    others = [divided(seed, config) for seed in range(count, count + max(count // 2, 1))]
    coverings, regions = np.mean([cut(one, config)[best] for one in others], axis=0)
    print(f"other pictures: covering {coverings:.4f}, {regions:.1f} regions")


if __name__ == "__main__":
    main()
