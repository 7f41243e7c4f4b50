"""Synthetic pictures with known regions, on which the constants of `segment` are learned.

    python benchmarks/synthetic_pictures.py [--count 40] [--gallery FILE]

A picture has 3 to 25 regions: areas of a random field, ellipses and polygons in front of them. A region has a colour,
a texture (noise of random scale, direction and strength; spots) and shading. Some regions are smooth and have strong
gradients, as the sky has. Half of the regions consist of patches that differ less than regions do. Small specks, soft
shadows, blur and noise are added to the whole picture. Patches, specks and shadows are not regions: people outline
objects, not their parts.

The script segments `--count` pictures without merging. It then merges the regions with each combination of constants
in `GRID` and prints the mean covering at the best threshold, and that on half as many other pictures. `--data DIR`
scores photographs of the choosing half at each threshold instead (see `pictures.py`), with the present constants or
with `--constants`; `--gallery FILE` draws pictures and regions.
"""

from __future__ import annotations

import itertools
import sys
import warnings
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from PIL import Image
from scipy.ndimage import gaussian_filter, zoom
from skimage.color import lab2rgb
from skimage.draw import ellipse, polygon
from skimage.measure import label as connected_parts

from common import parser_of, table
from modeseek.images import overlay, segment
from modeseek.images.config import DEFAULT_CONFIG, SegmentConfig
from modeseek.images.input_image import check_image
from modeseek.images.merging import merge_regions
from modeseek.images.region_graph import RegionGraph, bin_weights, measure_regions
from picture_methods import scores
from pictures import read_pictures

SHAPE = (320, 480)
SPREAD = (22, 9, 12)  # standard deviation of the colours of regions, CIELAB
TILE = 2**20
THRESHOLDS = np.round(np.geomspace(0.2, 2.0, 25), 2)
# the weight of colour is 1: the threshold sets the scale
GRID = {
    "texture_weight": (1.0, 2.0, 4.0),
    "border_weight": (1 / 120, 1 / 60, 1 / 30),
    "size_exponent": (0.1, 0.2, 0.3),
}
SMOOTH = 0.35  # share of regions without texture, with a strong gradient
PATCHED = 0.5  # share of the other regions that consist of patches
PATCH_CONTRAST = 0.4  # differences between patches, relative to those between regions
SPECKS = 40  # largest number of specks


def synthetic_picture(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return a picture (uint8, RGB) and its regions."""
    regions = _layout(rng)
    k = int(regions.max()) + 1
    # pictures differ in contrast; lightness varies more than colour
    contrast = rng.uniform(0.4, 1.2)
    means = rng.uniform((40, -8, -8), (65, 8, 12)) + contrast * rng.normal(0, SPREAD, (k, 3))
    lab = means[regions]
    for region in range(k):
        inside = regions == region
        smooth = rng.uniform() < SMOOTH
        texture = _texture(rng, (0.2, 1.5) if smooth else (0.5, 15))[inside]
        shading = _shading(rng, 14 if smooth else 5)[inside]
        if not smooth and rng.uniform() < PATCHED:
            patches = _areas(rng, int(rng.integers(3, 9)), rng.uniform(8, 40))[inside]
            lab[inside] += (PATCH_CONTRAST * contrast * rng.normal(0, SPREAD, (9, 3)))[patches]
        lab[inside, 0] += texture + shading
        lab[inside, 1:] += np.outer(texture, rng.normal(0, 0.15, 2)) + np.outer(shading, rng.normal(0, 0.3, 2))
    for _ in range(int(rng.integers(0, SPECKS + 1))):
        where = _outline(rng, rng.uniform(0, 1, 2) * SHAPE, rng.uniform(2, 10, 2))
        lab[where] += contrast * rng.normal(0, SPREAD)
    lab[..., 0] *= _shadows(rng)
    lab = gaussian_filter(lab, (*[rng.uniform(0.4, 1.2)] * 2, 0))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # colours outside sRGB are clipped
        rgb = lab2rgb(np.clip(lab, (0, -80, -80), (100, 80, 80))) * 255
    return np.clip(rgb + rng.normal(0, rng.uniform(1, 6), rgb.shape), 0, 255).astype(np.uint8), regions


def _layout(rng: np.random.Generator) -> np.ndarray:
    """Return regions: areas of a smooth random field, and objects in front of them."""
    areas = int(rng.integers(2, 6))
    regions = _areas(rng, areas, rng.uniform(30, 100))
    for number in range(int(np.exp(rng.uniform(0, 3)))):
        center, radius = rng.uniform(0.1, 0.9, 2) * SHAPE, np.exp(rng.uniform(np.log(16), np.log(110), 2))
        rows, columns = _outline(rng, center, radius)
        regions[rows, columns] = areas + number
    return connected_parts(regions, background=-1, connectivity=1) - 1


def _areas(rng: np.random.Generator, count: int, smooth: float) -> np.ndarray:
    """Return the areas in which each of several smooth random fields is the largest."""
    return gaussian_filter(rng.normal(size=(count, *SHAPE)), (0, smooth, smooth * rng.uniform(1, 2))).argmax(axis=0)


def _outline(rng: np.random.Generator, center: np.ndarray, radius: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the pixels of an ellipse or of a polygon."""
    if rng.uniform() < 0.5:
        return ellipse(*center, *radius, SHAPE, rotation=rng.uniform(-np.pi, np.pi))
    angles = np.sort(rng.uniform(0, 2 * np.pi, int(rng.integers(3, 8))))
    return polygon(*(center[:, None] + radius[:, None] * np.array([np.cos(angles), np.sin(angles)])), SHAPE)


def _texture(rng: np.random.Generator, strength: tuple[float, float]) -> np.ndarray:
    """Return noise of two scales, stretched along rows or columns; in a third of the cases, spots of two values."""
    noise = np.zeros(SHAPE)
    for _ in range(2):
        scale, stretch = np.exp(rng.uniform(np.log(0.5), np.log(6))), np.exp(rng.uniform(0, 1.5))
        sigmas = rng.permutation([scale, scale * stretch])
        one = gaussian_filter(rng.normal(size=SHAPE), sigmas, truncate=2)
        noise += one / one.std()
    if rng.uniform() < 1 / 3:
        noise = (noise > rng.uniform(0, 1.5) * noise.std()).astype(float)
        noise -= noise.mean()
    return np.exp(rng.uniform(*np.log(strength))) * noise / max(noise.std(), 1e-9)


def _shading(rng: np.random.Generator, slope: float) -> np.ndarray:
    """Return a slope and a smooth variation of lightness."""
    rows, columns = np.mgrid[-1 : 1 : SHAPE[0] * 1j, -1 : 1 : SHAPE[1] * 1j]
    down, right = rng.normal(0, slope, 2)
    smooth = zoom(rng.normal(size=(5, 7)), (SHAPE[0] / 5, SHAPE[1] / 7), order=3)
    return down * rows + right * columns + rng.uniform(0, 6) * smooth / smooth.std()


def _shadows(rng: np.random.Generator) -> np.ndarray:
    """Return a factor of the lightness: up to three dark areas with soft edges."""
    light = np.ones(SHAPE)
    for _ in range(int(rng.integers(0, 4))):
        dark = np.zeros(SHAPE)
        center, radius = rng.uniform(0, 1, 2) * SHAPE, np.exp(rng.uniform(np.log(30), np.log(150), 2))
        dark[_outline(rng, center, radius)] = 1.0
        light *= 1 - rng.uniform(0.05, 0.35) * gaussian_filter(dark, np.exp(rng.uniform(0.7, 3.0)))
    return light


class Divided(NamedTuple):
    """A picture divided into regions that are not merged yet.

    Attributes
    ----------
    graph : RegionGraph
    shares : (regions, true regions) array
        Pixels of each region in each true region.
    config : SegmentConfig
        The configuration for the size of the picture.
    image : InputImage
    """

    graph: RegionGraph
    shares: np.ndarray
    config: SegmentConfig
    image: object


def divided(picture: np.ndarray, regions: np.ndarray, config: SegmentConfig = DEFAULT_CONFIG) -> Divided:
    """Return the regions of a picture before merging."""
    labels = segment(picture, threshold=0.0, start_label=0, config=config)
    image = check_image(picture, None, None, None, -1, tile=TILE, max_channels=config.max_channels)
    side = np.sqrt(np.prod(labels.shape))
    config = config.for_bandwidth(max(side / config.bandwidths_per_side, config.min_bandwidth_pixels))
    graph = measure_regions(image, lambda band: labels[band], int(labels.max()) + 1, TILE, config)
    shares = np.zeros((len(graph.sizes), int(regions.max()) + 1))
    np.add.at(shares, (labels.ravel(), regions.ravel()), 1)
    return Divided(graph, shares, config, image)


def coverings(one: Divided, **constants: float) -> np.ndarray:
    """Return the covering at each threshold."""
    config = replace(one.config, **constants)
    graph = replace(one.graph, bin_weights=bin_weights(one.image, config))
    tree = merge_regions(graph, config)
    return np.array([_covering(one.shares, tree.cut(threshold)) for threshold in THRESHOLDS])


def _covering(shares: np.ndarray, groups: np.ndarray) -> float:
    both = np.zeros((int(groups.max()) + 1, shares.shape[1]))
    np.add.at(both, groups, shares)
    found, true = both.sum(axis=1, keepdims=True), both.sum(axis=0)
    return float(((both / (found + true - both)).max(axis=0) * true).sum() / true.sum())


def learn(count: int) -> None:
    """Print the best combinations of constants, and their covering on half as many other pictures.

    The covering at a threshold is averaged with those at the thresholds next to it, because it varies at random.
    """
    made = [divided(*synthetic_picture(np.random.default_rng(seed))) for seed in range(count + count // 2)]
    names, found = list(GRID), []
    for values in itertools.product(*GRID.values()):
        each = np.array([coverings(one, **dict(zip(names, values, strict=True))) for one in made])
        mean, other = (_smoothed(part.mean(axis=0)) for part in (each[:count], each[count:]))
        best = int(mean.argmax())
        found.append((float(mean[best]), float(other[best]), float(THRESHOLDS[best]), values))
    found.sort(reverse=True)
    lines = [[f"{value:.3f}" for value in (*values, at, mean, other)] for mean, other, at, values in found]
    print(table([*names, "threshold", "covering", "on other pictures"], lines))


def _smoothed(values: np.ndarray) -> np.ndarray:
    padded = np.pad(values, 1, mode="edge")
    return (padded[:-2] + 2 * padded[1:-1] + padded[2:]) / 4


def by_threshold(pictures: list[tuple[np.ndarray, list[np.ndarray]]], config: SegmentConfig) -> None:
    """Print the mean covering of `segment` at each threshold."""
    covering = np.zeros(len(THRESHOLDS))
    for picture, people in pictures:
        layers = segment(picture, threshold=THRESHOLDS, config=config)
        covering += [scores(layer, people)["covering"] / len(pictures) for layer in layers]
    for threshold, mean in zip(THRESHOLDS, covering, strict=True):
        print(f"threshold {threshold:5.2f}  covering {mean:.3f}")
    print(f"largest at {THRESHOLDS[covering.argmax()]:.2f}, over {len(pictures)} pictures")


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--count", type=int, default=40, help="number of pictures to learn on")
    parser.add_argument("--gallery", type=Path, help="draw the first pictures with their regions")
    parser.add_argument("--data", type=Path, help="folder with photographs, of which the choosing half is scored")
    parser.add_argument("--constants", type=float, nargs=3, metavar="X", help=f"{', '.join(GRID)} for --data")
    given = parser.parse_args()
    count = 2 if given.quick else given.count
    if given.gallery:
        some = [synthetic_picture(np.random.default_rng(seed)) for seed in range(8)]
        tiles = [np.hstack([picture, overlay(picture, regions + 1)]) for picture, regions in some]
        Image.fromarray(np.vstack([np.hstack(tiles[i : i + 2]) for i in (0, 2, 4, 6)])[::2, ::2]).save(given.gallery)
        sys.exit()
    if given.data:
        config = replace(DEFAULT_CONFIG, **dict(zip(GRID, given.constants or (), strict=False)))
        by_threshold(list(read_pictures(given.data, "choosing", count).values()), config)
    else:
        learn(count)


if __name__ == "__main__":
    main()
