"""The line figures of a run, and the figure of a bandwidth scan."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from bokeh.models import BoxAnnotation, ColumnDataSource, FixedTicker, HoverTool, NumeralTickFormatter, Scatter, TapTool
from bokeh.plotting import figure

from modeseek.explorer.bandwidth_scan import ScanRow
from modeseek.explorer.page.style import DASH, FigureColors

WITHOUT_TOOLS: dict[str, Any] = {"sizing_mode": "stretch_width", "tools": "", "toolbar_location": None}


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
    plot.axis[axis].ticker = FixedTicker(ticks=ticks)
    plot.axis[axis].formatter = NumeralTickFormatter(format="0,0.[0000]")


class LineFigure:
    """A small figure over sweeps, with one line for each of two runs."""

    def __init__(self, title: str, y_label: str, colors: FigureColors, *, dots: bool = False, log: bool = False):
        axis_type = "log" if log else "linear"
        self.plot = figure(height=210, title=title, y_axis_type=axis_type, **WITHOUT_TOOLS)
        self.plot.xaxis[0].axis_label, self.plot.yaxis[0].axis_label = "sweeps", y_label
        self._sources = [ColumnDataSource({"x": [], "y": []}) for _ in range(2)]
        if dots:
            self._glyphs = [self.plot.scatter("x", "y", source=each, size=3, line_color=None) for each in self._sources]
        else:
            self._glyphs = [self.plot.line("x", "y", source=each, line_width=2) for each in self._sources]
        if log:
            _set_log_ticks(self.plot, 1, 0, 7)
        self._bands = [
            BoxAnnotation(fill_alpha=0.10, line_alpha=0.7, line_dash="dashed", visible=False) for _ in range(2)
        ]
        for band in self._bands:
            self.plot.add_layout(band)
        self.set_colors(colors)

    def set_colors(self, colors: FigureColors) -> None:
        """Use the colours of a theme."""
        style_figure(self.plot, colors)
        for glyph, band, color in zip(self._glyphs, self._bands, (colors.run_a, colors.run_b), strict=True):
            if isinstance(glyph.glyph, Scatter):
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
        self.source = ColumnDataSource({"h": [], "clusters": [], "largest": [], "agreement": []})
        self._line = self.plot.line("h", "clusters", source=self.source, line_width=1.5)
        self._dots = self.plot.scatter("h", "clusters", source=self.source, size=12, line_color=None)
        tooltips = [
            ("bandwidth", "@h"),
            ("clusters", "@clusters"),
            ("largest cluster", "@largest{0%}"),
            ("ARI with known groups", "@agreement"),
        ]
        self.plot.add_tools(TapTool(renderers=[self._dots]), HoverTool(renderers=[self._dots], tooltips=tooltips))
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
