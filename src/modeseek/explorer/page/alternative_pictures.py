"""Small pictures of the partition that ModeSeek chose and of its alternatives, which can be clicked."""

import base64
import io
from typing import ClassVar

import numpy as np
import panel as pn
import param
from PIL import Image, ImageDraw

from modeseek._common.text import counted
from modeseek._common.types import Array, IntArray
from modeseek.explorer.animated_run import AnimatedRun
from modeseek.explorer.page.style import LIGHT, read_asset
from modeseek.plots import palette

# pixels; twice the size on the page, for screens of high resolution
SIZE = (264, 176)
MARGIN = 6
MAX_POINTS = 1500


class AlternativePictures(pn.custom.JSComponent):
    """A row of pictures; the browser sets `chosen` to the number of the picture that was clicked.

    Attributes
    ----------
    pictures : list of dict
        `title`, `note` and `image` (an address) of each partition, the chosen one first.
    chosen : int
        Number of the picture whose partition is drawn.
    """

    pictures = param.List(default=[])
    chosen = param.Integer(default=0)

    _esm = read_asset("alternative_pictures.js")
    _stylesheets: ClassVar[list[str]] = [read_asset("alternative_pictures.css")]

    def clear(self) -> None:
        """Remove the pictures."""
        self.param.update(pictures=[], chosen=0)

    def show(self, run: AnimatedRun) -> None:
        """Show the partitions of a run that has ended; nothing if there are no alternatives."""
        if not run.alternatives:
            self.clear()
            return
        title = f"chosen: {counted(run.frame.clumps, 'cluster')}"
        partitions = [
            (title, run.chosen_note, run.frame.colors),
            *((f"{each.n_clusters} clusters", each.note, each.colors) for each in run.alternatives),
        ]
        shown = [
            {"title": title, "note": note, "image": draw_partition(run.start, colors)}
            for title, note, colors in partitions
        ]
        self.param.update(pictures=shown, chosen=0)


def draw_partition(positions: Array, labels: IntArray) -> str:
    """Return a picture of points in the colours of their clusters, as the data URL of a PNG. Label 255 is noise."""
    inside = labels != 255
    colors = [*palette(int(labels[inside].max(initial=0)) + 1), LIGHT.uncolored]
    low, high = positions.min(axis=0), positions.max(axis=0)
    scaled = (positions - low) / np.where(high > low, high - low, 1.0)
    places = MARGIN + scaled * (np.array(SIZE) - 2 * MARGIN)
    picture = Image.new("RGBA", SIZE)
    draw = ImageDraw.Draw(picture)
    radius = 3.5 if len(places) <= 600 else 2.5
    for i in np.random.default_rng(0).permutation(len(places))[:MAX_POINTS]:
        x, y = float(places[i, 0]), SIZE[1] - float(places[i, 1])
        color = colors[labels[i]] if inside[i] else colors[-1]
        draw.ellipse((x - radius, y - radius, x + radius, y + radius), fill=color)
    target = io.BytesIO()
    picture.save(target, "PNG")
    return "data:image/png;base64," + base64.b64encode(target.getvalue()).decode("ascii")
