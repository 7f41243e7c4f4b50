"""Write the figure of gallery/plot_compare_algorithms.py to a file.

python examples/comparison_picture.py docs/images/comparison.png
"""

from __future__ import annotations

import runpy
import sys
from io import BytesIO
from pathlib import Path

import matplotlib as mpl
from PIL import Image


def main(path: str) -> None:
    """Run the script of the gallery and save its figure."""
    mpl.use("agg")
    figure = runpy.run_path(str(Path(__file__).parent / "gallery" / "plot_compare_algorithms.py"))["figure"]
    whole = BytesIO()
    figure.savefig(whole, format="png", dpi=120)
    # a palette reduces the file to a quarter of its size
    Image.open(whole).convert("RGB").quantize(128, dither=Image.Dither.NONE).save(path, optimize=True)


if __name__ == "__main__":
    main(sys.argv[1])
