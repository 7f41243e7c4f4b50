"""Draw the figure of docs/how-to-pictures.md: three images and the regions that `segment` finds at its defaults.

python examples/segment_picture.py docs/images/segmented.png

The photographs come with scikit-image: coffee (CC0, by Rachel Michetti), coins (Brooklyn Museum, no known copyright
restrictions). The still life is drawn by `still_life.py`.
"""

from __future__ import annotations

import sys

from matplotlib.figure import Figure
from skimage import data
from still_life import scene

from modeseek.images import overlay, segment


def main(path: str) -> None:
    """Segment the images, print the numbers of regions, and draw each image above its regions."""
    pictures = {"a cup (colour)": data.coffee(), "coins (grey)": data.coins(), "still life (made)": scene()[0]}
    figure = Figure(figsize=(12, 6.1), layout="constrained")
    for column, (name, image) in enumerate(pictures.items()):
        labels = segment(image)
        print(f"{name}: {labels.max()} regions")
        upper, lower = (figure.add_subplot(2, 3, 3 * row + column + 1) for row in (0, 1))
        upper.imshow(image, cmap="gray")
        upper.set_title(name)
        lower.imshow(overlay(image, labels))
        lower.set_title(f"{labels.max()} regions")
        for ax in (upper, lower):
            ax.set_axis_off()
    figure.savefig(path, dpi=64)


if __name__ == "__main__":
    main(sys.argv[1])
