"""Bokeh's figures: points that move, lines that grow, and clusters against bandwidth."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from bokeh.models import (
    BoxAnnotation,
    ColumnDataSource,
    CustomJS,
    HoverTool,
    LinearColorMapper,
    PlainText,
    Range1d,
    TapTool,
)
from bokeh.plotting import figure

from modeseek.explorer.clumps import SLOTS
from modeseek.explorer.page.theme import Ink
from modeseek.explorer.run import Frame
from modeseek.plots import palette
from modeseek.types import Array

__all__ = ["Lines", "Stage", "SweepFigure"]

# above this many points the places where they began are not drawn
MOST_GHOSTS = 3000
LIVE_COLOURS = [*palette(7), *palette(SLOTS - 7)]


def dress(plot: figure, look: Ink) -> None:
    """Give a figure the colours of the page."""
    plot.background_fill_color = plot.border_fill_color = look.paper
    plot.outline_line_color = None
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


class Stage:
    """The points, where they began and where they are.

    Frames go out one at a time: the next one when the browser has drawn the last, so that a slow one is never flooded.
    """

    def __init__(self, look: Ink):
        self.plot = figure(
            height=430, sizing_mode="stretch_width", tools="pan,wheel_zoom,box_zoom,reset", toolbar_location="above",
            x_range=Range1d(0, 1), y_range=Range1d(0, 1),
        )  # fmt: skip
        self._points = ColumnDataSource({"x": [], "y": [], "c": np.empty(0, np.uint8)})
        self._ghosts = ColumnDataSource({"x": [], "y": []})
        self._mapper = LinearColorMapper(palette=["#888888"], low=-0.5, high=0.5)
        self._ghost_glyph = self.plot.scatter("x", "y", source=self._ghosts, size=4, line_color=None, fill_alpha=0.3)
        self._glyph = self.plot.scatter(
            "x", "y", source=self._points, size=7, line_color=None, fill_alpha=0.8,
            fill_color={"field": "c", "transform": self._mapper},
        )  # fmt: skip
        self._drawn = ColumnDataSource(tags=[0])
        self._points.js_on_change(
            "data",
            CustomJS(
                args={"drawn": self._drawn},
                # the second of two frames begins when the first is on the screen
                code="""const done = () => { drawn.tags = [drawn.tags[0] + 1] }
                if (document.hidden) { done() } else { requestAnimationFrame(() => requestAnimationFrame(done)) }""",
            ),
        )
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

    def paint(self, look: Ink) -> None:
        """Take the colours of the page."""
        dress(self.plot, look)
        self._look = look
        self._ghost_glyph.glyph.fill_color = look.lone

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
        few = len(start) <= MOST_GHOSTS
        self._ghosts.data = {"x": start[:, 0], "y": start[:, 1]} if few else {"x": [], "y": []}
        self._glyph.glyph.size = float(np.clip(400 / np.sqrt(max(len(start), 1)) / 4, 3.0, 8.0))

    def show(self, places: Array, frame: Frame, *, ended: bool) -> None:
        """Send a frame."""
        if ended:
            count = min(int(frame.clumps), 255)
            colours = [*palette(max(count, 1)), *[self._look.lone] * (256 - max(count, 1))]
        else:
            colours = [*LIVE_COLOURS, self._look.lone]
        if self._mapper.palette != colours:
            self._mapper.update(palette=colours, low=-0.5, high=len(colours) - 0.5)
        self._points.data = {"x": places[:, 0], "y": places[:, 1], "c": frame.colours}
        self.sent += 1


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
        self._bands = [BoxAnnotation(fill_alpha=0.10, line_alpha=0.7, line_dash="dashed") for _ in range(2)]
        for band in self._bands:
            band.visible = False
            self.plot.add_layout(band)
        self.paint(look)

    def paint(self, look: Ink) -> None:
        """Take the colours of the page."""
        dress(self.plot, look)
        for glyph, band, colour in zip(self._glyphs, self._bands, (look.first, look.second), strict=True):
            for name in ("fill_color", "line_color"):
                if name == "fill_color" and hasattr(glyph.glyph, "fill_color"):
                    glyph.glyph.fill_color = colour
                elif not hasattr(glyph.glyph, "fill_color"):
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
