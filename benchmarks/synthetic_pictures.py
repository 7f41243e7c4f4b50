"""Synthetic pictures with the outlines of several synthetic people, on which the constants of `segment` are chosen.

    python benchmarks/synthetic_pictures.py FILE.png

draws some pictures with two outlines each. A picture is painted from back to front, as in the dead-leaves model of
natural images:

- One to four areas without a definite shape, such as sky, water or grass.
- Up to a hundred objects whose sizes follow a power law: blobs, polygons and thin curved strips, alone or in groups
  of the same material. Half of the larger ones consist of parts with different colours.
- A material is smooth, or has noise, grain, stripes, spots or patches of random scale, direction and strength.
- Areas and objects are shaded; shadows with soft edges, a gradient of light and darker corners cover the picture.
- Two thirds of the pictures have less colour, down to nearly grey.
- Areas, objects and the whole picture are blurred by different amounts, as by a lens.
- The noise of the sensor depends on the brightness, and the picture is compressed as a JPEG file.

Five synthetic people outline each picture. A person outlines the largest pieces, objects or parts of objects, up to a
random number. People who outlined photographs were asked for pieces of about equal importance, 2 to 20 in most pictures
(Martin et al., 2001).
"""

from __future__ import annotations

import io
import sys
import warnings
from typing import NamedTuple

import numpy as np
from PIL import Image
from scipy.ndimage import gaussian_filter, zoom
from skimage.color import lab2rgb
from skimage.draw import polygon2mask
from skimage.measure import label as connected_parts

from modeseek.images import overlay

SHAPE = (320, 480)
SPREAD = (22, 9, 12)  # standard deviation of the colours of materials, CIELAB
PEOPLE = 5
CLUMPS = 0.6  # largest contrast between clumps of a material, relative to that between materials
PIECES = (2, 30)  # range of the number of pieces that a person outlines
PART_IMPORTANCE = (0.05, 1.0)  # range of the importance of a part of an object, relative to an object of this size
MAX_PARTS = 4


class Item(NamedTuple):
    """An area or an object: the corner of its box, its mask in the box, and the part of each pixel in the box."""

    corner: tuple[int, int]
    mask: np.ndarray
    parts: np.ndarray

    def box(self) -> tuple[slice, slice]:
        return tuple(slice(at, at + n) for at, n in zip(self.corner, self.mask.shape, strict=True))


def synthetic_picture(seed: int) -> tuple[np.ndarray, list[np.ndarray]]:
    """Return a picture (uint8, RGB) and the regions that each of several people outlines."""
    rng = np.random.default_rng([7, seed])
    contrast = rng.uniform(0.4, 1.2)  # pictures differ in contrast
    palette = rng.uniform((35, -8, -8), (65, 8, 12)), contrast
    lab, items = np.zeros((*SHAPE, 3)), []
    far = np.exp(rng.uniform(-1, 1.3)) if rng.uniform() < 0.4 else 0.3  # blur of the background
    areas = _fields(rng, SHAPE, int(rng.integers(1, 5)), rng.uniform(25, 90), rng.uniform(1, 4)).argmax(axis=0)
    for area in range(int(areas.max()) + 1):
        items.append(Item((0, 0), areas == area, np.zeros(SHAPE, int)))
        _paint(rng, lab, items[-1], _material(rng, palette, large=True), far)
    for item, material in _objects(rng, palette):
        items.append(item)
        _paint(rng, lab, item, material, np.exp(rng.uniform(-1.2, 0.7)))
    lab[..., 0] *= _light(rng)
    lab[..., 1:] *= min(rng.uniform(0, 1.5), 1.0)  # pictures differ in saturation; some are nearly grey
    lab = gaussian_filter(lab, (*[rng.uniform(0.3, 0.9)] * 2, 0))
    return _camera(rng, lab), [_outlined(rng, items) for _ in range(PEOPLE)]


class Material(NamedTuple):
    """What an area or an object is made of.

    Attributes
    ----------
    color : (3,) array
        Mean colour, CIELAB.
    slope : float
        Change of lightness by shading, from the middle to the edge.
    strength : float
        Standard deviation of the texture.
    tint : (3,) array
        Direction of the texture in colour.
    parts, clumps : float
        Contrast between the parts of an object, and between clumps that nobody outlines.
    seed : int
        Of the texture: objects of one material look alike.
    """

    color: np.ndarray
    slope: float
    strength: float
    tint: np.ndarray
    parts: float
    clumps: float
    seed: int


def _material(rng: np.random.Generator, palette: tuple[np.ndarray, float], large: bool = False) -> Material:
    center, contrast = palette
    smooth = rng.uniform() < 0.4
    strength = np.exp(rng.uniform(*np.log((0.2, 1.5) if smooth else (1.0, 18.0))))
    slope = rng.normal(0, (14 if large else 8) if smooth else 5)
    tint = np.append(1.0, rng.normal(0, 0.2, 2))
    clumps = 0.0 if smooth else contrast * rng.choice([0.0, rng.uniform(0.0, CLUMPS)])
    color = center + contrast * rng.normal(0, SPREAD)
    return Material(color, slope, strength, tint, contrast, clumps, int(rng.integers(2**32)))


def _objects(rng: np.random.Generator, palette: tuple[np.ndarray, float]) -> list[tuple[Item, Material]]:
    """Return objects from back to front, mostly from large to small, with their materials."""
    made: list[tuple[Item, Material, float]] = []
    # the density of sizes falls with the third power of the radius, between these bounds
    low, high = rng.uniform(6, 25), 200.0
    main = int(rng.integers(0, 4))
    for number in range(main + int(np.exp(rng.uniform(0, np.log(50))))):
        radius = (low**-2 - rng.uniform() * (low**-2 - high**-2)) ** -0.5
        center = rng.uniform(0, 1, 2)
        if number < main:  # what the picture is of: larger, and closer to the middle
            radius, center = np.exp(rng.uniform(np.log(30), np.log(130))), rng.normal(0.5, 0.2, 2)
        material, center = _material(rng, palette), center * SHAPE
        group = int(rng.integers(2, 9)) if rng.uniform() < 0.2 else 1
        for _ in range(group):
            place = center + (group > 1) * rng.normal(0, 3 * radius, 2)
            item = _shape(rng, place, radius * rng.uniform(0.8, 1.2))
            if item is not None:
                made.append((item, material, radius * np.exp(rng.normal(0, 0.5))))
    made.sort(key=lambda one: -one[2])
    return [(item, material) for item, material, _ in made]


def _shape(rng: np.random.Generator, center: np.ndarray, radius: float) -> Item | None:
    """Return a blob, a polygon or a thin strip; None if it is outside the picture."""
    kind = rng.uniform()
    if kind < 0.15:  # a strip along a curve
        along = np.linspace(-1, 1, 30)
        heading = rng.uniform(0, np.pi) + np.cumsum(rng.normal(0, 0.06, 30))
        path = np.cumsum(np.stack([np.sin(heading), np.cos(heading)], axis=1), axis=0) * radius / 6
        wide = np.clip(radius * rng.uniform(0.03, 0.12), 1.0, 8.0) * (1 - rng.uniform(0, 0.8) * along)
        across = np.stack([np.cos(heading), -np.sin(heading)], axis=1) * wide[:, None]
        outline = np.concatenate([path + across, (path - across)[::-1]]) - path.mean(axis=0)
    else:
        corners = kind > 0.75
        angles = (
            np.sort(rng.uniform(0, 2 * np.pi, int(rng.integers(3, 8)))) if corners else np.linspace(0, 2 * np.pi, 60)
        )
        waves = np.arange(2, 7)
        bumps = rng.normal(0, 0.35 * rng.uniform(), 5) / waves**0.7
        size = 1 + (0 if corners else (bumps * np.cos(waves * angles[:, None] + rng.uniform(0, 6, 5))).sum(axis=1))
        stretch = np.exp(rng.normal(0, 0.35))
        turn = rng.uniform(0, np.pi)
        outline = radius * np.stack([size * np.sin(angles) * stretch, size * np.cos(angles) / stretch], axis=1)
        outline = outline @ np.array([[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]])
    outline = outline + center
    first = np.maximum(np.floor(outline.min(axis=0)).astype(int) - 6, 0)
    last = np.minimum(np.ceil(outline.max(axis=0)).astype(int) + 7, SHAPE)
    if (last - first < 2).any():
        return None
    mask = polygon2mask(tuple(last - first), outline - first)
    if not mask.any():
        return None
    parts = np.zeros(mask.shape, int)
    if radius > 15 and rng.uniform() < 0.5:
        parts = _fields(
            rng, mask.shape, int(rng.integers(2, MAX_PARTS + 1)), radius * rng.uniform(0.2, 0.5), 1.0
        ).argmax(axis=0)
    return Item((int(first[0]), int(first[1])), mask, parts)


def _paint(rng: np.random.Generator, lab: np.ndarray, item: Item, material: Material, blur: float) -> None:
    """Paint an item over the picture; its outline and its texture are blurred."""
    own, shape = np.random.default_rng(material.seed), item.mask.shape
    values = np.tile(material.color, (*shape, 1))
    for part in range(1, int(item.parts.max()) + 1):
        values[item.parts == part] += rng.uniform(0.3, 1.2) * material.parts * rng.normal(0, SPREAD)
    values += material.tint * (material.strength * _texture(own, shape))[..., None]
    if material.clumps:
        clumps = _fields(own, shape, 5, own.uniform(5, 40), own.uniform(1, 3)).argmax(axis=0)
        values += gaussian_filter(
            material.clumps * own.normal(0, SPREAD, (5, 3))[clumps], (own.uniform(0, 3),) * 2 + (0,)
        )
    rows, columns = np.mgrid[-1 : 1 : shape[0] * 1j, -1 : 1 : shape[1] * 1j]
    turn = rng.uniform(0, 2 * np.pi) if rng.uniform() < 0.5 else np.pi / 2
    shading = material.slope * (np.sin(turn) * rows + np.cos(turn) * columns)
    shading += rng.uniform(0, 4) * _smooth(rng, shape)
    values += np.append(1.0, rng.normal(0, 0.3, 2)) * shading[..., None]
    cover = gaussian_filter(item.mask.astype(float), blur)[..., None]
    box = item.box()
    lab[box] = lab[box] * (1 - cover) + gaussian_filter(values, (blur, blur, 0)) * cover


def _texture(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Return a mixture of two random textures."""
    share = rng.uniform(0, 1)
    return np.sqrt(share) * _one_texture(rng, shape) + np.sqrt(1 - share) * _one_texture(rng, shape)


def _one_texture(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Return a random texture with mean 0 and standard deviation 1."""
    kind, wide = rng.integers(0, 5), np.exp(rng.uniform(np.log(0.6), np.log(7)))
    stretch = np.exp(rng.uniform(0, 1.6)) if rng.uniform() < 0.5 else 1.0
    upright = bool(rng.integers(0, 2))
    if kind == 0:  # noise of all scales, as in clouds and rock
        steps = np.hypot(np.fft.fftfreq(shape[0])[:, None], np.fft.rfftfreq(shape[1]))
        noise = np.fft.irfft2(np.fft.rfft2(rng.normal(size=shape)) / (steps + 0.01) ** rng.uniform(0.6, 1.8), shape)
    elif kind == 1:  # grain, as in grass
        noise = _fields(rng, shape, 1, wide / 2, stretch, upright)[0]
    elif kind == 2:  # stripes, bent
        rows, columns = np.mgrid[: shape[0], : shape[1]]
        turn = rng.uniform(0, np.pi)
        phase = (np.sin(turn) * rows + np.cos(turn) * columns) / wide + rng.uniform(0, 3) * _smooth(rng, shape)
        noise = np.sin(phase) if rng.uniform() < 0.5 else np.sign(np.sin(phase) - rng.uniform(-0.7, 0.7))
    elif kind == 3:  # spots
        noise = _fields(rng, shape, 1, wide, stretch, upright)[0]
        noise = (noise > rng.uniform(0, 1.5) * noise.std()).astype(float)
    else:  # patches, as in foliage and pebbles
        noise = rng.normal(size=6)[_fields(rng, shape, 6, wide, stretch, upright).argmax(axis=0)]
    noise = noise - noise.mean()
    return noise / max(noise.std(), 1e-3)


def _fields(
    rng: np.random.Generator, shape: tuple[int, ...], count: int, sigma: float, stretch: float, upright: bool = False
) -> np.ndarray:
    """Return smooth random fields; `stretch` widens them along columns, or along rows if `upright`."""
    sigmas = (sigma * stretch, sigma) if upright else (sigma, sigma * stretch)
    # wide fields are computed on fewer pixels
    factor = max(1, int(sigma / 4))
    small = tuple(-(-n // factor) + 1 for n in shape)
    fields = gaussian_filter(rng.normal(size=(count, *small)), (0, *(one / factor for one in sigmas)), truncate=3)
    return (
        zoom(fields, (1, factor, factor), order=1)[:, : shape[0], : shape[1]]
        if factor > 1
        else fields[:, : shape[0], : shape[1]]
    )


def _smooth(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Return a field that varies over half the picture, with standard deviation of about 1."""
    return 2 * zoom(rng.normal(size=(4, 4)), (shape[0] / 4, shape[1] / 4), order=3)[: shape[0], : shape[1]] / 1.5


def _light(rng: np.random.Generator) -> np.ndarray:
    """Return a factor of the lightness: a gradient, darker corners, and up to three shadows with soft edges."""
    rows, columns = np.mgrid[-1 : 1 : SHAPE[0] * 1j, -1 : 1 : SHAPE[1] * 1j]
    light = 1 - rng.uniform(0, 0.15) * (rows**2 + columns**2) + np.tensordot(rng.normal(0, 0.06, 2), [rows, columns], 1)
    for _ in range(int(rng.integers(0, 4))):
        shadow = _shape(rng, rng.uniform(0, 1, 2) * SHAPE, np.exp(rng.uniform(np.log(20), np.log(150))))
        if shadow is not None:
            dark = np.zeros(SHAPE)
            dark[shadow.box()] = shadow.mask
            light *= 1 - rng.uniform(0.05, 0.4) * gaussian_filter(dark, np.exp(rng.uniform(0.0, 3.0)))
    return light


def _camera(rng: np.random.Generator, lab: np.ndarray) -> np.ndarray:
    """Return the picture in RGB with the noise of a sensor, compressed."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # colours outside sRGB are clipped
        rgb = lab2rgb(np.clip(lab, (0, -80, -80), (100, 80, 80)))
    # noise of counted light: its variance grows with the brightness; the curve of sRGB makes it larger in the dark
    linear = rgb**2.2
    linear = linear + rng.normal(size=rgb.shape) * np.exp(rng.uniform(np.log(0.003), np.log(0.04))) * np.sqrt(
        linear + 0.003
    )
    noisy = np.clip(linear, 0, 1) ** (1 / 2.2)
    file = io.BytesIO()
    Image.fromarray(np.rint(255 * noisy).astype(np.uint8)).save(file, "JPEG", quality=int(rng.integers(60, 96)))
    return np.asarray(Image.open(file))


def _outlined(rng: np.random.Generator, items: list[Item]) -> np.ndarray:
    """Return the regions that one person outlines: the largest pieces; what is left out belongs to what is behind."""
    seen, parts = np.zeros(SHAPE, int), np.zeros(SHAPE, int)
    for number, item in enumerate(items):
        seen[item.box()][item.mask] = number
        parts[item.box()][item.mask] = item.parts[item.mask]
    visible = np.bincount(seen.ravel(), minlength=len(items))
    within = np.bincount((seen * MAX_PARTS + parts).ravel(), minlength=MAX_PARTS * len(items))
    # parts matter less than objects, and a part is outlined only if another part is left
    matters = within * np.exp(rng.uniform(*np.log(PART_IMPORTANCE))) * (within < np.repeat(visible, MAX_PARTS))
    matters.reshape(-1, MAX_PARTS)[:, 0] = visible
    pieces = int(np.exp(rng.uniform(*np.log(PIECES))))
    outlined = np.zeros(len(matters), bool)
    outlined[np.argsort(-matters)[:pieces]] = True
    outlined &= matters > 0
    regions = np.zeros(SHAPE, int)
    for number, item in enumerate(items):
        first = MAX_PARTS * number
        if outlined[first : first + MAX_PARTS].any():
            named = np.where(outlined[first : first + MAX_PARTS], np.arange(MAX_PARTS), 0)
            regions[item.box()][item.mask] = first + 1 + named[item.parts[item.mask]]
    return connected_parts(regions, background=-1, connectivity=1) - 1


def main() -> None:
    rows = []
    for seed in range(12):
        picture, people = synthetic_picture(seed)
        rows.append(np.hstack([picture, overlay(picture, people[0] + 1), overlay(picture, people[1] + 1)]))
    Image.fromarray(np.vstack([np.hstack(rows[i : i + 2]) for i in range(0, 12, 2)])[::2, ::2]).save(sys.argv[1])


if __name__ == "__main__":
    main()
