"""The figures of the page: moving points, lines over the sweeps of a run, and a bandwidth scan."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from bokeh import models
from bokeh.plotting import figure

from modeseek._common.types import Array, IntArray
from modeseek.explorer.animated_run import AnimationFrame
from modeseek.explorer.bandwidth_scan import ScanRow
from modeseek.explorer.clump_colors import N_COLORS
from modeseek.explorer.page.style import DASH, FigureColors
from modeseek.plots import palette

WITHOUT_TOOLS: dict[str, Any] = {"sizing_mode": "stretch_width", "tools": "", "toolbar_location": None}
NO_POINTS = {"x": np.empty(0), "y": np.empty(0), "c": np.empty(0, np.uint8)}
# waits for two animation frames of the browser: when the second begins, the first is on the screen
REPORT_DRAWN = """const done = () => { drawn.tags = [drawn.tags[0] + 1] }
if (document.hidden) { done() } else { requestAnimationFrame(() => requestAnimationFrame(done)) }"""
CLUMP_COLORS = palette(N_COLORS)
# size of a point at the end, when the points of a cluster coincide
END_SIZE = 9.0


def style_figure(plot: figure, colors: FigureColors) -> None:
    """Apply the colours of the page to a figure."""
    plot.background_fill_color = plot.border_fill_color = plot.outline_line_color = None
    for axis in plot.axis:
        axis.axis_label_text_color = axis.major_label_text_color = colors.text
        axis.axis_line_color = axis.major_tick_line_color = colors.muted
        axis.minor_tick_line_color = None
        axis.axis_label_text_font_style = "normal"
        axis.axis_label_text_font_size = "12px"
    for grid in plot.grid:
        grid.grid_line_color = colors.grid
    plot.title.text_color = colors.text
    plot.title.text_font_size = "13px"
    plot.toolbar.logo = None


def _set_log_ticks(plot: figure, axis: int, low: int, high: int) -> None:
    """Set the ticks of a logarithmic axis at 1, 2, 3, 5 and 7 times the powers of 10 from `low` to `high`."""
    ticks = [digit * 10.0**power for power in range(low, high) for digit in (1, 2, 3, 5, 7)]
    plot.axis[axis].ticker = models.FixedTicker(ticks=ticks)
    plot.axis[axis].formatter = models.NumeralTickFormatter(format="0,0.[0000]")


class LineFigure:
    """A small figure of a quantity at each sweep, with one line for each of two runs."""

    def __init__(self, title: str, y_label: str, colors: FigureColors, *, dots: bool = False, log: bool = False):
        axis_type = "log" if log else "linear"
        self.plot = figure(height=210, title=title, y_axis_type=axis_type, **WITHOUT_TOOLS)
        self.plot.xaxis[0].axis_label, self.plot.yaxis[0].axis_label = "sweeps", y_label
        self._sources = [models.ColumnDataSource({"x": [], "y": []}) for _ in range(2)]
        if dots:
            self._glyphs = [self.plot.scatter("x", "y", source=each, size=3, line_color=None) for each in self._sources]
        else:
            self._glyphs = [self.plot.line("x", "y", source=each, line_width=2) for each in self._sources]
        if log:
            _set_log_ticks(self.plot, 1, 0, 7)
        self._bands = [
            models.BoxAnnotation(fill_alpha=0.10, line_alpha=0.7, line_dash="dashed", visible=False) for _ in range(2)
        ]
        for band in self._bands:
            self.plot.add_layout(band)
        self.set_colors(colors)

    def set_colors(self, colors: FigureColors) -> None:
        """Use the colours of a theme."""
        style_figure(self.plot, colors)
        for glyph, band, color in zip(self._glyphs, self._bands, (colors.run_a, colors.run_b), strict=True):
            if isinstance(glyph.glyph, models.Scatter):
                glyph.glyph.fill_color = color
            else:
                glyph.glyph.line_color = color
            band.fill_color = band.line_color = color

    def show(
        self, run: int, points: Sequence[tuple[float, float]] = (), band: tuple[float, float] | None = None
    ) -> None:
        """Draw the line of run 0 or 1 through points and, if given, a horizontal band."""
        x, y = np.asarray(points, np.float32).reshape(-1, 2).T
        self._sources[run].data = {"x": x, "y": y}
        box = self._bands[run]
        if band is not None:
            box.bottom, box.top = band
        box.visible = band is not None


class ScanFigure:
    """Number of clusters against bandwidth; points can be clicked."""

    def __init__(self, colors: FigureColors):
        self.plot = figure(height=340, x_axis_type="log", y_axis_type="log", **WITHOUT_TOOLS)
        self.plot.xaxis[0].axis_label, self.plot.yaxis[0].axis_label = "bandwidth", "clusters"
        _set_log_ticks(self.plot, 0, -4, 7)
        _set_log_ticks(self.plot, 1, 0, 7)
        self.source = models.ColumnDataSource({"h": [], "clusters": [], "largest": [], "agreement": []})
        self._line = self.plot.line("h", "clusters", source=self.source, line_width=1.5)
        self._dots = self.plot.scatter("h", "clusters", source=self.source, size=12, line_color=None)
        tooltips = [
            ("bandwidth", "@h"),
            ("clusters", "@clusters"),
            ("largest cluster", "@largest{0%}"),
            ("ARI with known groups", "@agreement"),
        ]
        self.plot.add_tools(
            models.TapTool(renderers=[self._dots]), models.HoverTool(renderers=[self._dots], tooltips=tooltips)
        )
        self.set_colors(colors)

    def set_colors(self, colors: FigureColors) -> None:
        """Use the colours of a theme."""
        style_figure(self.plot, colors)
        self._line.glyph.line_color = self._dots.glyph.fill_color = colors.run_a

    def show(self, rows: Sequence[ScanRow]) -> None:
        """Draw the results of a scan."""
        self.source.selected.indices = []
        columns = {name: [getattr(row, name) for row in rows] for name in ScanRow._fields}
        columns["agreement"] = [DASH if np.isnan(value) else f"{value:.2f}" for value in columns["agreement"]]
        self.source.data = columns


class ScatterFigure:
    """Initial and current positions of points, drawn by WebGL, which is fast enough for tens of thousands of points.

    The browser reports each frame that it has drawn. Only then is the next frame sent, so a slow browser does not
    receive more frames than it can draw.

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
            x_range=models.Range1d(0, 1),
            y_range=models.Range1d(0, 1),
            output_backend="webgl",
        )
        self._points, self._initial = models.ColumnDataSource(NO_POINTS), models.ColumnDataSource(NO_POINTS)
        self._mapper = models.LinearColorMapper(palette=["#888888"], low=-0.5, high=0.5)
        color = {"field": "c", "transform": self._mapper}
        options = {"line_color": None, "fill_color": color}
        self._initial_glyph = self.plot.scatter("x", "y", source=self._initial, **options)
        self._glyph = self.plot.scatter("x", "y", source=self._points, fill_alpha=0.85, **options)
        self._start = np.zeros((0, 2), np.float32)
        self._drawn = models.ColumnDataSource(tags=[0])
        self._points.js_on_change("data", models.CustomJS(args={"drawn": self._drawn}, code=REPORT_DRAWN))
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
        # plain text, because Bokeh would typeset a name between dollar signs as a formula
        self.plot.xaxis[0].axis_label = models.PlainText(text=axes[0])
        self.plot.yaxis[0].axis_label = models.PlainText(text=axes[1])
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
