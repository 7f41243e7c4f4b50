"""Draw the example image still-life.png: a ball, a box and a jar on a table, with shading and noise.

    python examples/still_life.py [FILE]

`scene()` returns the image and the object that each pixel belongs to.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from PIL import Image

ROWS, COLUMNS = 240, 320
WALL, TABLE, BALL, JAR, FRONT, SIDE, TOP = range(7)


def scene(noise: float = 6.0, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return an RGB image (uint8) and the number of the object at each pixel."""
    row, column = np.mgrid[:ROWS, :COLUMNS].astype(float)
    picture = np.empty((ROWS, COLUMNS, 3))
    things = np.full((ROWS, COLUMNS), WALL)

    def paint(thing: int, where: np.ndarray, color: tuple[int, int, int], light: np.ndarray) -> None:
        things[where] = thing
        picture[where] = (light[..., None] * np.array(color))[where]

    paint(WALL, np.full(row.shape, True), (176, 190, 205), 1.0 - 0.12 * column / COLUMNS)
    grain = 0.02 * np.sin(row / 3 + 2 * np.sin(column / 40))
    paint(TABLE, row > 150, (150, 105, 66), 0.92 + 0.1 * (row - 150) / 90 + grain)
    # light comes from the upper left
    across, down = (column - 95) / 52, (row - 140) / 52
    height = np.sqrt(np.maximum(0.0, 1 - across**2 - down**2))
    light = 0.75 + 0.3 * (-0.5 * across - 0.6 * down + 0.6 * height)
    paint(BALL, across**2 + down**2 < 1, (196, 58, 48), light)
    wide = (column - 268) / 27
    upper = row > 62 + 7 * (1 - np.sqrt(np.maximum(0.0, 1 - wide**2)))
    lower = row < 176 + 7 * np.sqrt(np.maximum(0.0, 1 - wide**2))
    paint(JAR, (abs(wide) < 1) & upper & lower, (62, 118, 84), 1.05 - 0.25 * (wide + 0.4) ** 2)
    one = np.ones(row.shape)
    slope = (column - 205) * 0.45
    paint(FRONT, (column >= 150) & (column < 205) & (row >= 128) & (row < 200), (214, 168, 70), one)
    paint(SIDE, (column >= 205) & (column < 232) & (row >= 128 - slope) & (row < 200 - slope), (150, 108, 34), one)
    left = 150 + (128 - row) / 0.45
    paint(TOP, (row < 128) & (row >= 116) & (column >= left) & (column < left + 55), (240, 214, 140), one)
    picture += np.random.default_rng(seed).normal(0, noise, picture.shape)
    return np.clip(np.rint(picture), 0, 255).astype(np.uint8), things


if __name__ == "__main__":
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("still-life.png")
    Image.fromarray(scene()[0]).save(target, optimize=True)
