"""Synthetic pictures with known regions, on which the default threshold of `segment` is calibrated.

    python benchmarks/synthetic_pictures.py --count 40

A picture has 3 to 25 regions: areas of a random field, ellipses and polygons in front of them. A region has a colour, a
texture (noise of random scale, direction and strength) and shading. Blur and noise are added to the whole picture. The
script prints the mean covering at each threshold and the threshold with the largest; `--gallery FILE` draws pictures
and regions, and `--data DIR` scores photographs of the choosing half instead (see `pictures.py`).
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PIL import Image
from scipy.ndimage import gaussian_filter, zoom
from skimage.color import lab2rgb
from skimage.draw import ellipse, polygon
from skimage.measure import label as connected_parts

from common import parser_of
from modeseek.images import overlay, segment
from picture_methods import scores
from pictures import read_pictures

SHAPE = (200, 280)
THRESHOLDS = np.round(np.geomspace(0.25, 1.6, 14), 2)


def synthetic_picture(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return a picture (uint8, RGB) and its regions."""
    regions = _layout(rng)
    k = int(regions.max()) + 1
    # pictures differ in contrast; lightness varies more than colour
    contrast = rng.uniform(0.4, 1.2)
    means = rng.uniform((40, -8, -8), (65, 8, 12)) + contrast * rng.normal(0, (22, 9, 12), (k, 3))
    lab = means[regions]
    for region in range(k):
        inside = regions == region
        texture = _texture(rng)[inside]
        lab[inside, 0] += texture + _shading(rng)[inside]
        lab[inside, 1:] += np.outer(texture, rng.normal(0, 0.15, 2))
    lab = gaussian_filter(lab, (*[rng.uniform(0.4, 1.2)] * 2, 0))
    rgb = lab2rgb(np.clip(lab, (0, -80, -80), (100, 80, 80))) * 255
    return np.clip(rgb + rng.normal(0, rng.uniform(1, 6), rgb.shape), 0, 255).astype(np.uint8), regions


def _layout(rng: np.random.Generator) -> np.ndarray:
    """Return regions: areas of a smooth random field, and objects in front of them."""
    areas = int(rng.integers(2, 6))
    smooth = rng.uniform(20, 60)
    fields = gaussian_filter(rng.normal(size=(areas, *SHAPE)), (0, smooth, smooth * rng.uniform(1, 2)))
    regions = fields.argmax(axis=0)
    for number in range(int(np.exp(rng.uniform(0, 3)))):
        center, radius = rng.uniform(0.1, 0.9, 2) * SHAPE, np.exp(rng.uniform(np.log(10), np.log(70), 2))
        if rng.uniform() < 0.5:
            rows, columns = ellipse(*center, *radius, SHAPE, rotation=rng.uniform(-np.pi, np.pi))
        else:
            angles = np.sort(rng.uniform(0, 2 * np.pi, int(rng.integers(3, 8))))
            corners = center[:, None] + radius[:, None] * np.array([np.cos(angles), np.sin(angles)])
            rows, columns = polygon(*corners, SHAPE)
        regions[rows, columns] = areas + number
    return connected_parts(regions, background=-1, connectivity=1) - 1


def _texture(rng: np.random.Generator) -> np.ndarray:
    """Return noise with standard deviation 0.5 to 15, of two scales, stretched along rows or columns."""
    noise = np.zeros(SHAPE)
    for _ in range(2):
        scale, stretch = np.exp(rng.uniform(np.log(0.5), np.log(5))), np.exp(rng.uniform(0, 1.5))
        sigmas = rng.permutation([scale, scale * stretch])
        one = gaussian_filter(rng.normal(size=SHAPE), sigmas, truncate=2)
        noise += one / one.std()
    return np.exp(rng.uniform(np.log(0.5), np.log(15))) * noise / noise.std()


def _shading(rng: np.random.Generator) -> np.ndarray:
    """Return a slope and a smooth variation of lightness."""
    rows, columns = np.mgrid[-1 : 1 : SHAPE[0] * 1j, -1 : 1 : SHAPE[1] * 1j]
    slope = rng.normal(0, 5, 2)
    smooth = zoom(rng.normal(size=(5, 7)), (SHAPE[0] / 5, SHAPE[1] / 7), order=3)
    return slope[0] * rows + slope[1] * columns + rng.uniform(0, 6) * smooth / smooth.std()


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--count", type=int, default=40, help="number of pictures")
    parser.add_argument("--gallery", type=Path, help="draw the first pictures with their regions")
    parser.add_argument("--data", type=Path, help="folder with photographs, of which the choosing half is scored")
    given = parser.parse_args()
    count = 2 if given.quick else given.count
    if given.data:
        pictures = list(read_pictures(given.data, "choosing", count).values())
    else:
        made = [synthetic_picture(np.random.default_rng(seed)) for seed in range(count)]
        pictures = [(picture, [regions]) for picture, regions in made]
    if given.gallery:
        tiles = [np.hstack([picture, overlay(picture, people[0])]) for picture, people in pictures[:8]]
        Image.fromarray(np.vstack([np.hstack(tiles[i : i + 2]) for i in (0, 2, 4, 6)])).save(given.gallery)
    covering = np.zeros(len(THRESHOLDS))
    for picture, people in pictures:
        layers = segment(picture, threshold=THRESHOLDS)
        covering += [scores(layer, people)["covering"] / len(pictures) for layer in layers]
    for threshold, mean in zip(THRESHOLDS, covering, strict=True):
        print(f"threshold {threshold:5.2f}  covering {mean:.3f}")
    print(f"largest at {THRESHOLDS[covering.argmax()]:.2f}, over {len(pictures)} pictures")


if __name__ == "__main__":
    main()
