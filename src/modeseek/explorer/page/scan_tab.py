"""The view of a sweep: clusters against bandwidth."""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from typing import Any

import numpy as np
import panel as pn

from modeseek.explorer.data import Subject
from modeseek.explorer.page.figures import SweepFigure
from modeseek.explorer.page.theme import ink
from modeseek.explorer.page.words import DASH, error
from modeseek.explorer.settings import Settings
from modeseek.explorer.sweep import MOST_ROWS, Sweep
from modeseek.selection.bandwidths import Range

__all__ = ["SweepView"]

HINT = "For the algorithm and settings of run A. Click a point, or choose a bandwidth below, to use it."


class SweepView:
    """Starts and shows sweeps.

    Parameters
    ----------
    request : callable
        () -> (subject, settings, known groups or None); may refuse with a message.
    use : callable
        Called with a bandwidth and the range whose ratios it keeps.
    say : callable
        Called with a message, and `bad=True` for an error.
    later : callable
        Takes an action and does it when figures may be changed.
    """

    def __init__(
        self,
        request: Callable[[], tuple[Subject, Settings, Any]],
        use: Callable[[float, Range], None],
        say: Callable[..., None],
        later: Callable[[Callable[[], None]], None],
    ):
        self._request, self._use, self._say = request, use, say
        self._sweep: Sweep | None = None
        self._seen: tuple[int, bool] = (0, True)
        self.figure = SweepFigure(ink(dark=False))
        self.figure.source.selected.on_change("indices", self._clicked)
        self.low, self.high = (
            pn.widgets.TextInput(label=name, placeholder="from the data", width=150, margin=3)
            for name in ("from", "to")
        )
        self.count = pn.widgets.Select(label="how many", options=[8, 16, 24, 48], value=16, width=100, margin=3)
        self.button = pn.widgets.Button(label="Start sweep", color="primary", width=130, margin=3, align="end")
        self.button.on_click(lambda event: later(self._press))
        self.progress = pn.pane.HTML("", sizing_mode="stretch_width", margin=(2, 3))
        self.choice = pn.widgets.Select(label="bandwidth", options={}, width=300, margin=3)
        self.take = pn.widgets.Button(label="Use in run A", width=130, margin=3, align="end", disabled=True)
        self.take.on_click(lambda event: later(lambda: self._take(self.choice.value)))
        self.layout = pn.Column(
            pn.pane.HTML(f'<p class="faint">{HINT}</p>', margin=(0, 3)),
            pn.FlexBox(self.low, self.high, self.count, self.button, align_items="end"),
            self.progress,
            pn.pane.Bokeh(self.figure.plot, sizing_mode="stretch_width", margin=0),
            pn.FlexBox(self.choice, self.take, align_items="end"),
            sizing_mode="stretch_width",
            visible=False,
        )

    def close(self) -> None:
        """Give up."""
        if self._sweep is not None:
            self._sweep.cancel()

    def clear(self) -> None:
        """Forget the sweep: it was of other data."""
        self.close()
        self._sweep = None
        self._show([])
        self.progress.object, self.button.label = "", "Start sweep"

    def _press(self) -> None:
        if self._sweep is not None and not self._sweep.ended:
            self._sweep.cancel()
            return
        try:
            subject, settings, truth = self._request()
            low, high = (_end(field.label, field.value) for field in (self.low, self.high))
            self._sweep = Sweep(subject, settings, low, high, self.count.value, truth)
        except (ValueError, TypeError) as problem:
            self._say(str(problem), bad=True)
            return
        self._say("")
        self._seen = (-1, False)
        label = "h_max (h_min and h_inf in proportion)" if settings.algorithm == "dsms" else "bandwidth"
        self.figure.plot.xaxis[0].axis_label = label
        self._sweep.start()
        self.button.label = "Cancel"

    def tick(self) -> None:
        """Show what is new."""
        sweep = self._sweep
        if sweep is None or (len(sweep.rows), sweep.ended) == self._seen:
            return
        self._seen = (len(sweep.rows), sweep.ended)
        self._show(sweep.rows)
        total = len(sweep.grid)
        if sweep.failure:
            self.progress.object = error(sweep.failure)
        else:
            text = f"{len(sweep.rows)} of {total} bandwidths" if total else "Looking at the data ..."
            if sweep.ended:
                text += ", cancelled." if len(sweep.rows) < total else ": done."
            if sweep.sampled:
                text += f" On a sample of {MOST_ROWS:,} rows."
            self.progress.object = f'<p class="state" role="status">{escape(text)}</p>'
        if sweep.ended:
            self.button.label = "Start sweep"

    def _show(self, rows: list[Any]) -> None:
        h, clusters, biggest, agreement = zip(*rows, strict=True) if rows else ((), (), (), ())
        words = [DASH if np.isnan(each) else f"{each:.2f}" for each in agreement]
        self.figure.source.selected.indices = []
        self.figure.source.data = {
            "h": list(h), "clusters": list(clusters), "biggest": list(biggest), "agreement": words,
        }  # fmt: skip
        self.choice.options = {
            f"{row.h:g}: {row.clusters:,} {'cluster' if row.clusters == 1 else 'clusters'}": row.h
            for row in reversed(rows)
        }
        if rows:
            self.choice.value = rows[len(rows) // 2].h
        self.take.disabled = not rows

    def _clicked(self, name: str, old: list[int], new: list[int]) -> None:
        if new and self._sweep is not None and new[0] < len(self._sweep.rows):
            self._take(self._sweep.rows[new[0]].h)

    def _take(self, h: float | None) -> None:
        if h is None or self._sweep is None or self._sweep.base is None:
            return
        try:
            self._use(float(h), self._sweep.base)
        except (ValueError, TypeError) as problem:
            self._say(str(problem), bad=True)


def _end(name: str, text: str) -> float | None:
    if not text.strip():
        return None
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"{name} must be a number > 0, or empty to take it from the data; got {text!r}.") from None
