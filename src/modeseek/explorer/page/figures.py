"""Bokeh's figures: points that move, lines that grow, and clusters against bandwidth."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from bokeh.core.property.descriptors import UnsetValueError
from bokeh.models import (
    BoxAnnotation,
    ColumnDataSource,
    CustomJS,
    FixedTicker,
    HoverTool,
    LinearColorMapper,
    NumeralTickFormatter,
    PlainText,
    Range1d,
    Scatter,
    TapTool,
)
from bokeh.plotting import figure

from modeseek._common.types import Array, IntArray
from modeseek.explorer.clumps import SLOTS
from modeseek.explorer.page.theme import Ink
from modeseek.explorer.raster import discs, paint, rgba
from modeseek.explorer.run import Frame
from modeseek.plots import palette

__all__ = ["Lines", "Stage", "SweepFigure"]

# more points than this are painted here and sent as an image
MOST_MARKERS = 3000
NO_POINTS = {"x": np.empty(0), "y": np.empty(0), "c": np.empty(0, np.uint8), "s": np.empty(0)}
NO_IMAGE: dict[str, list[object]] = {"image": [], "x": [], "y": [], "dw": [], "dh": []}
# the second of two frames begins when the first is on the screen
WHEN_DRAWN = """const done = () => { drawn.tags = [drawn.tags[0] + 1] }
if (document.hidden) { done() } else { requestAnimationFrame(() => requestAnimationFrame(done)) }"""
LIVE_COLOURS = palette(SLOTS)


def dress(plot: figure, look: Ink) -> None:
    """Give a figure the colours of the page."""
    # nothing of its own: the page shines through
    plot.background_fill_color = plot.border_fill_color = plot.outline_line_color = None
    for axis in plot.axis:
        axis.axis_label_text_color = axis.major_label_text_color = look.text
        axis.axis_line_color = axis.major_tick_line_color = look.faint
        axis.minor_tick_line_color = None
        axis.axis_label_text_font_style = "normal"
        axis.axis_label_text_font_size = "12px"
    for grid in plot.grid:
        grid.grid_line_color = look.grid
    plot.title.text_color = look.text
    plot.title.text_font_size = "13px"
    plot.toolbar.logo = None


def count_by_decades(plot: figure, axis: int, low: int, high: int) -> None:
    """Put the ticks of a logarithmic axis at 1, 2, 3, 5 and 7 of each decade."""
    ticks = [digit * 10.0**power for power in range(low, high) for digit in (1, 2, 3, 5, 7)]
    plot.axis[axis].ticker = FixedTicker(ticks=ticks)
    plot.axis[axis].formatter = NumeralTickFormatter(format="0,0.[0000]")


class Stage:
    """The points, where they began and where they are: markers, or one image where they are many.

    Frames go out one at a time: the next one when the browser has drawn the last, so that a slow one is never flooded.
    """

    def __init__(self, look: Ink):
        self.plot = figure(
            height=430, sizing_mode="stretch_width", tools="pan,wheel_zoom,box_zoom,reset", toolbar_location="above",
            x_range=Range1d(0, 1), y_range=Range1d(0, 1),
        )  # fmt: skip
        self._points, self._ghosts = ColumnDataSource(NO_POINTS), ColumnDataSource(NO_POINTS)
        self._image = ColumnDataSource(NO_IMAGE)
        self._mapper = LinearColorMapper(palette=["#888888"], low=-0.5, high=0.5)
        colour = {"field": "c", "transform": self._mapper}
        self.plot.image_rgba("image", x="x", y="y", dw="dw", dh="dh", source=self._image)
        self._ghost_glyph = self.plot.scatter(
            "x", "y", source=self._ghosts, size=4, line_color=None, fill_alpha=0.35, fill_color=colour
        )
        self._glyph = self.plot.scatter(
            "x", "y", source=self._points, size="s", line_color=None, fill_alpha=0.85, fill_color=colour
        )
        self._start = np.zeros((0, 2), np.float32)
        self._drawn = ColumnDataSource(tags=[0])
        self._points.js_on_change("data", CustomJS(args={"drawn": self._drawn}, code=WHEN_DRAWN))
        self.sent = 0
        self.paint(look)

    @property
    def drawn(self) -> int:
        """Frames that the browser has on its screen."""
        return int(self._drawn.tags[0])

    @property
    def ready(self) -> bool:
        """Whether the browser has drawn all that was sent."""
        return self.drawn >= self.sent

    @property
    def window(self) -> tuple[float, float, float, float]:
        """What of the plane is shown: left, right, bottom, top."""
        x, y = self.plot.x_range, self.plot.y_range
        return float(x.start), float(x.end), float(y.start), float(y.end)

    def paint(self, look: Ink) -> None:
        """Take the colours of the page."""
        dress(self.plot, look)
        self._look = look
        self._ghost_glyph.glyph.fill_alpha = look.ghosts
        if len(self._mapper.palette) == 1:  # nobody has moved yet
            self._mapper.palette = [look.lone]

    def open(self, start: Array, axes: Sequence[str]) -> None:
        """Set the axes by the original places, for all that follows."""
        for target, values in ((self.plot.x_range, start[:, 0]), (self.plot.y_range, start[:, 1])):
            low, high = float(values.min()), float(values.max())
            margin = 0.05 * (high - low) or 0.5
            target.start, target.end = target.reset_start, target.reset_end = low - margin, high + margin
        # plain text: a name between dollars is not mathematics here
        self.plot.xaxis[0].axis_label = PlainText(text=axes[0])
        self.plot.yaxis[0].axis_label = PlainText(text=axes[1])
        self.plot.yaxis[0].visible = bool(axes[1])
        self._start = start
        self._ghosts.data, self._image.data = NO_POINTS, NO_IMAGE
        self._ghost_glyph.glyph.size = float(np.clip(60 / np.sqrt(max(len(start), 1)), 2.0, 5.0))

    def blank(self) -> None:
        """Show points that nobody has moved yet, all in one colour."""
        self._send(self._start, np.zeros(len(self._start), np.uint8), [self._look.lone], ended=False)

    def show(self, places: Array, frame: Frame, *, ended: bool) -> None:
        """Send a frame."""
        if ended:
            count = max(1, min(int(frame.clumps), 255))
            colours = [*palette(count), *[self._look.lone] * (256 - count)]
        else:
            colours = [*LIVE_COLOURS, self._look.lone]
        self._send(places, frame.colours, colours, ended=ended)

    def _send(self, places: Array, numbers: IntArray, colours: list[str], *, ended: bool) -> None:
        if self._mapper.palette != colours:
            self._mapper.update(palette=colours, low=-0.5, high=len(colours) - 0.5)
        self.sent += 1
        if len(places) > MOST_MARKERS:
            self._send_image(places, numbers, colours, ended=ended)
            return
        # where points began, in the colours that they have now
        if len(colours) > 1 and not np.array_equal(self._ghosts.data["c"], numbers):
            self._ghosts.data = {"x": self._start[:, 0], "y": self._start[:, 1], "c": numbers, "s": numbers}
        size = np.full(len(places), np.clip(100 / np.sqrt(max(len(places), 1)), 3.0, 8.0), np.float32)
        self._points.data = {"x": places[:, 0], "y": places[:, 1], "c": numbers, "s": size}

    def _pixels(self) -> tuple[int, int]:
        """Return the size of the image, (height, width): the plot's own, once the browser has told it."""
        try:
            height, width = self.plot.inner_height, self.plot.inner_width
        except UnsetValueError:
            height, width = 380, 800
        return int(np.clip(height, 50, 450)), int(np.clip(width, 50, 900))

    def _send_image(self, places: Array, numbers: IntArray, colours: list[str], *, ended: bool) -> None:
        left, right, bottom, top = window = self.window
        shape = self._pixels()
        # at the end points lie in few places, and where they began says more
        seen = self._start if ended else places
        image = paint(seen, numbers, rgba(colours, 0.85), window, shape)
        self._image.data = {
            "image": [image], "x": [left], "y": [bottom], "dw": [right - left], "dh": [top - bottom],
        }  # fmt: skip
        extent = tuple(np.ptp(self._start, axis=0).tolist())
        found = discs(places, numbers, extent, 255 if ended else len(colours) - 1)
        size = 8 + 22 * np.sqrt(found.shares)
        self._points.data = {"x": found.x, "y": found.y, "c": found.colours.astype(np.uint8), "s": size}


class Lines:
    """A small figure with a line for each of two runs."""

    def __init__(self, title: str, y_label: str, look: Ink, *, dots: bool = False, log: bool = False):
        self.plot = figure(
            height=210, sizing_mode="stretch_width", tools="", toolbar_location=None, title=title,
            y_axis_type="log" if log else "linear",
        )  # fmt: skip
        self.plot.xaxis[0].axis_label, self.plot.yaxis[0].axis_label = "sweeps", y_label
        self._sources = [ColumnDataSource({"x": [], "y": []}) for _ in range(2)]
        if dots:
            self._glyphs = [self.plot.scatter("x", "y", source=each, size=3, line_color=None) for each in self._sources]
        else:
            self._glyphs = [self.plot.line("x", "y", source=each, line_width=2) for each in self._sources]
        if log:
            count_by_decades(self.plot, 1, 0, 7)
        self._bands = [BoxAnnotation(fill_alpha=0.10, line_alpha=0.7, line_dash="dashed") for _ in range(2)]
        for band in self._bands:
            band.visible = False
            self.plot.add_layout(band)
        self.paint(look)

    def paint(self, look: Ink) -> None:
        """Take the colours of the page."""
        dress(self.plot, look)
        for glyph, band, colour in zip(self._glyphs, self._bands, (look.first, look.second), strict=True):
            if isinstance(glyph.glyph, Scatter):
                glyph.glyph.fill_color = colour
            else:
                glyph.glyph.line_color = colour
            band.fill_color = band.line_color = colour

    def show(self, number: int, x: Sequence[float], y: Sequence[float]) -> None:
        """Draw the line of a run."""
        self._sources[number].data = {"x": np.asarray(x, np.float32), "y": np.asarray(y, np.float32)}

    def band(self, number: int, ends: tuple[float, float] | None) -> None:
        """Show the range of a run as a band."""
        band = self._bands[number]
        if ends is not None:
            band.bottom, band.top = ends
        band.visible = ends is not None


class SweepFigure:
    """Clusters against bandwidth; a click chooses one."""

    def __init__(self, look: Ink):
        self.plot = figure(
            height=340, sizing_mode="stretch_width", tools="", toolbar_location=None, x_axis_type="log",
            y_axis_type="log",
        )  # fmt: skip
        self.plot.xaxis[0].axis_label, self.plot.yaxis[0].axis_label = "bandwidth", "clusters"
        count_by_decades(self.plot, 0, -4, 7)
        count_by_decades(self.plot, 1, 0, 7)
        self.source = ColumnDataSource({"h": [], "clusters": [], "biggest": [], "agreement": []})
        self._line = self.plot.line("h", "clusters", source=self.source, line_width=1.5)
        self._dots = self.plot.scatter("h", "clusters", source=self.source, size=12, line_color=None)
        self.plot.add_tools(
            TapTool(renderers=[self._dots]),
            HoverTool(
                renderers=[self._dots],
                tooltips=[
                    ("bandwidth", "@h"), ("clusters", "@clusters"), ("largest", "@biggest{0%}"),
                    ("ARI to the known groups", "@agreement"),
                ],
            ),
        )  # fmt: skip
        self.paint(look)

    def paint(self, look: Ink) -> None:
        """Take the colours of the page."""
        dress(self.plot, look)
        self._line.glyph.line_color = self._dots.glyph.fill_color = look.first
