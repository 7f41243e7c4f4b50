"""The scatter plot of moving points."""

from collections.abc import Sequence

import numpy as np
from bokeh.core.property.descriptors import UnsetValueError
from bokeh.models import ColumnDataSource, CustomJS, LinearColorMapper, PlainText, Range1d
from bokeh.plotting import figure

from modeseek._common.types import Array, IntArray
from modeseek.explorer.animated_run import Frame
from modeseek.explorer.clump_colors import N_COLORS
from modeseek.explorer.page.line_figures import style_figure
from modeseek.explorer.page.style import FigureColors
from modeseek.explorer.point_image import collapsed_groups, paint, to_rgba
from modeseek.plots import palette

# more points than this are sent as an image
MAX_MARKERS = 3000
IMAGE_ALPHA = 0.85
# size of the image, in pixels, before the browser reports that of the plot
DEFAULT_IMAGE_SHAPE = (380, 800)
NO_POINTS = {"x": np.empty(0), "y": np.empty(0), "c": np.empty(0, np.uint8), "s": np.empty(0)}
NO_IMAGE: dict[str, list[object]] = {"image": [], "x": [], "y": [], "dw": [], "dh": []}
# the second of two animation frames begins when the first is on the screen
REPORT_DRAWN = """const done = () => { drawn.tags = [drawn.tags[0] + 1] }
if (document.hidden) { done() } else { requestAnimationFrame(() => requestAnimationFrame(done)) }"""
CLUMP_COLORS = palette(N_COLORS)


class ScatterFigure:
    """Initial and current positions of points: markers, or one image if there are many.

    The browser reports each frame that it has drawn, and the next one is sent after that, so that a slow browser does
    not receive more than it can draw.

    Attributes
    ----------
    plot : bokeh figure
    sent : int
        Number of frames that were sent.
    """

    def __init__(self, colors: FigureColors):
        self.plot = figure(
            height=430,
            sizing_mode="stretch_width",
            tools="pan,wheel_zoom,box_zoom,reset",
            toolbar_location="above",
            x_range=Range1d(0, 1),
            y_range=Range1d(0, 1),
        )
        self._points, self._initial = ColumnDataSource(NO_POINTS), ColumnDataSource(NO_POINTS)
        self._image = ColumnDataSource(NO_IMAGE)
        self._mapper = LinearColorMapper(palette=["#888888"], low=-0.5, high=0.5)
        color = {"field": "c", "transform": self._mapper}
        self.plot.image_rgba("image", x="x", y="y", dw="dw", dh="dh", source=self._image)
        self._initial_glyph = self.plot.scatter(
            "x", "y", source=self._initial, size=4, line_color=None, fill_color=color
        )
        self.plot.scatter(
            "x", "y", source=self._points, size="s", line_color=None, fill_alpha=IMAGE_ALPHA, fill_color=color
        )
        self._start = np.zeros((0, 2), np.float32)
        self._drawn = ColumnDataSource(tags=[0])
        self._points.js_on_change("data", CustomJS(args={"drawn": self._drawn}, code=REPORT_DRAWN))
        self.sent = 0
        self.set_colors(colors)

    @property
    def drawn(self) -> int:
        """Number of frames that the browser has drawn."""
        return int(self._drawn.tags[0])

    @property
    def window(self) -> tuple[float, float, float, float]:
        """The visible part of the plane: left, right, bottom, top."""
        x, y = self.plot.x_range, self.plot.y_range
        return float(x.start), float(x.end), float(y.start), float(y.end)

    def set_colors(self, colors: FigureColors) -> None:
        """Use the colours of a theme."""
        style_figure(self.plot, colors)
        self._colors = colors
        self._initial_glyph.glyph.fill_alpha = colors.start_alpha
        if len(self._mapper.palette) == 1:  # before the first run
            self._mapper.palette = [colors.uncolored]

    def open(self, start: Array, axes: Sequence[str]) -> None:
        """Set the axes from the initial positions."""
        for target, values in ((self.plot.x_range, start[:, 0]), (self.plot.y_range, start[:, 1])):
            low, high = float(values.min()), float(values.max())
            margin = 0.05 * (high - low) or 0.5
            target.start, target.end = target.reset_start, target.reset_end = low - margin, high + margin
        # plain text: Bokeh would typeset a name between dollar signs
        self.plot.xaxis[0].axis_label = PlainText(text=axes[0])
        self.plot.yaxis[0].axis_label = PlainText(text=axes[1])
        self.plot.yaxis[0].visible = bool(axes[1])
        self._start = start
        self._initial.data, self._image.data = NO_POINTS, NO_IMAGE
        self._initial_glyph.glyph.size = float(np.clip(60 / np.sqrt(max(len(start), 1)), 2.0, 5.0))

    def show_start(self) -> None:
        """Show the initial positions, all in one colour."""
        self._send(self._start, np.zeros(len(self._start), np.uint8), [self._colors.uncolored], ended=False)

    def show(self, positions: Array, frame: Frame, *, ended: bool) -> None:
        """Send a frame."""
        colors = [*CLUMP_COLORS, self._colors.uncolored]
        if ended:
            count = max(1, min(int(frame.clumps), 255))
            colors = [*palette(count), *[self._colors.uncolored] * (256 - count)]
        self._send(positions, frame.colors, colors, ended=ended)

    def _send(self, positions: Array, numbers: IntArray, colors: list[str], *, ended: bool) -> None:
        if self._mapper.palette != colors:
            self._mapper.update(palette=colors, low=-0.5, high=len(colors) - 0.5)
        self.sent += 1
        if len(positions) > MAX_MARKERS:
            self._send_image(positions, numbers, colors, ended=ended)
            return
        # initial positions have the current colours
        if len(colors) > 1 and not np.array_equal(self._initial.data["c"], numbers):
            self._initial.data = {"x": self._start[:, 0], "y": self._start[:, 1], "c": numbers, "s": numbers}
        size = np.full(len(positions), np.clip(100 / np.sqrt(max(len(positions), 1)), 3.0, 8.0), np.float32)
        self._points.data = {"x": positions[:, 0], "y": positions[:, 1], "c": numbers, "s": size}

    def _image_shape(self) -> tuple[int, int]:
        try:
            height, width = self.plot.inner_height, self.plot.inner_width
        except UnsetValueError:
            height, width = DEFAULT_IMAGE_SHAPE
        return int(np.clip(height, 50, 450)), int(np.clip(width, 50, 900))

    def _send_image(self, positions: Array, numbers: IntArray, colors: list[str], *, ended: bool) -> None:
        left, right, bottom, top = self.window
        # at the end, points are at a few positions, and the initial positions show the clusters better
        painted = self._start if ended else positions
        image = paint(painted, numbers, to_rgba(colors, IMAGE_ALPHA), self.window, self._image_shape())
        self._image.data = {"image": [image], "x": [left], "y": [bottom], "dw": [right - left], "dh": [top - bottom]}
        extent = np.ptp(self._start, axis=0).tolist()
        discs = collapsed_groups(positions, numbers, extent, 255 if ended else len(colors) - 1)
        size = 8 + 22 * np.sqrt(discs.shares)
        self._points.data = {"x": discs.x, "y": discs.y, "c": discs.colors.astype(np.uint8), "s": size}
