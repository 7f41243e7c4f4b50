"""The scatter plot of moving points."""

from collections.abc import Sequence

import numpy as np
from bokeh.models import ColumnDataSource, CustomJS, LinearColorMapper, PlainText, Range1d
from bokeh.plotting import figure

from modeseek._common.types import Array, IntArray
from modeseek.explorer.animated_run import AnimationFrame
from modeseek.explorer.clump_colors import N_COLORS
from modeseek.explorer.page.line_figures import style_figure
from modeseek.explorer.page.style import FigureColors
from modeseek.plots import palette

NO_POINTS = {"x": np.empty(0), "y": np.empty(0), "c": np.empty(0, np.uint8)}
# the second of two animation frames begins when the first is on the screen
REPORT_DRAWN = """const done = () => { drawn.tags = [drawn.tags[0] + 1] }
if (document.hidden) { done() } else { requestAnimationFrame(() => requestAnimationFrame(done)) }"""
CLUMP_COLORS = palette(N_COLORS)
# size of a point at the end, when the points of a cluster coincide
END_SIZE = 9.0


class ScatterFigure:
    """Initial and current positions of points, drawn by WebGL, which is fast enough for tens of thousands.

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
            output_backend="webgl",
        )
        self._points, self._initial = ColumnDataSource(NO_POINTS), ColumnDataSource(NO_POINTS)
        self._mapper = LinearColorMapper(palette=["#888888"], low=-0.5, high=0.5)
        color = {"field": "c", "transform": self._mapper}
        options = {"line_color": None, "fill_color": color}
        self._initial_glyph = self.plot.scatter("x", "y", source=self._initial, **options)
        self._glyph = self.plot.scatter("x", "y", source=self._points, fill_alpha=0.85, **options)
        self._start = np.zeros((0, 2), np.float32)
        self._drawn = ColumnDataSource(tags=[0])
        self._points.js_on_change("data", CustomJS(args={"drawn": self._drawn}, code=REPORT_DRAWN))
        self.sent = 0
        self.set_colors(colors)

    @property
    def drawn(self) -> int:
        """Number of frames that the browser has drawn."""
        return int(self._drawn.tags[0])

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
        self._initial.data = NO_POINTS
        root = np.sqrt(max(len(start), 1))
        self._initial_glyph.glyph.size = float(np.clip(60 / root, 2.0, 5.0))
        self._glyph.glyph.size = float(np.clip(100 / root, 3.0, 8.0))

    def show_start(self) -> None:
        """Show the initial positions, all in one colour."""
        self._send(self._start, np.zeros(len(self._start), np.uint8), [self._colors.uncolored])

    def show(self, positions: Array, frame: AnimationFrame, *, ended: bool) -> None:
        """Send a frame."""
        colors = [*CLUMP_COLORS, self._colors.uncolored]
        if ended:
            count = max(1, min(int(frame.clumps), 255))
            colors = [*palette(count), *[self._colors.uncolored] * (256 - count)]
            self._glyph.glyph.size = END_SIZE
        self._send(positions, frame.colors, colors)

    def _send(self, positions: Array, numbers: IntArray, colors: list[str]) -> None:
        if self._mapper.palette != colors:
            self._mapper.update(palette=colors, low=-0.5, high=len(colors) - 0.5)
        self.sent += 1
        # initial positions have the current colours
        if len(colors) > 1 and not np.array_equal(self._initial.data["c"], numbers):
            self._initial.data = {"x": self._start[:, 0], "y": self._start[:, 1], "c": numbers}
        self._points.data = {"x": positions[:, 0], "y": positions[:, 1], "c": numbers}
