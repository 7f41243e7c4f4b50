"""One of two runs on the page: its form, its stage, and what runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import panel as pn

from modeseek._common.types import Array, IntArray
from modeseek.explorer.data import Subject
from modeseek.explorer.live import Live
from modeseek.explorer.page.figures import Lines, Stage
from modeseek.explorer.page.forms import SettingsForm
from modeseek.explorer.page.theme import ink
from modeseek.explorer.page.words import facts
from modeseek.explorer.run import Run
from modeseek.explorer.settings import Settings

__all__ = ["Known", "Side"]

# seconds until a browser that does not answer is written to again
PATIENCE = 3.0
# seconds between two lines of facts while points move: nobody reads faster
FACTS_EVERY = 0.2


class Known(NamedTuple):
    """Known groups to compare with: the column's name, and numbers; both None where there are none."""

    column: str | None = None
    labels: IntArray | None = None


class Side:
    """One of two runs.

    Parameters
    ----------
    name : str
        "A" or "B".
    number : int
        Its line in the small figures.
    changed : callable
        Called without arguments when a setting changes.
    algorithm : str
        What its form begins with.
    """

    def __init__(self, name: str, number: int, changed: Callable[[], None], algorithm: str):
        self.name, self._number = name, number
        self.form = SettingsForm(name, changed, algorithm)
        self.stage = Stage(ink(dark=False))
        self._facts = pn.pane.HTML("", sizing_mode="stretch_width", margin=(0, 4))
        self.layout = pn.Column(
            pn.pane.Bokeh(self.stage.plot, sizing_mode="stretch_width", margin=0),
            self._facts,
            sizing_mode="stretch_width",
        )
        self.live: Live | None = None
        self._forget()

    def _forget(self) -> None:
        self._opened, self._lines_seen, self._sent_at, self._written_at = False, -1, 0.0, 0.0
        self._seen: tuple[object, ...] = ()

    @property
    def finished(self) -> Run | None:
        """The run, if it has ended with a result."""
        run = None if self.live is None else self.live.run
        return None if run is None or run.result is None else run

    def close(self) -> None:
        """Give up what runs."""
        if self.live is not None:
            self.live.close()
        self.live = None
        self._forget()
        self.form.found(None)

    def start(self, subject: Subject, settings: Settings, pace: float) -> None:
        """Begin a run."""
        self.close()
        self.live = Live(lambda cancelled: Run(subject, settings, cancelled), pace)

    def rest(self, start: Array, axes: Sequence[str]) -> None:
        """Show points that nobody has moved yet."""
        self.close()
        self.stage.open(start, axes)
        self.stage.blank()
        self._facts.object = ""

    def again(self) -> None:
        """Show once more what was shown: colours, or what is known, have changed."""
        self._seen = ()

    def show(self, now: float, known: Known) -> bool:
        """Send what is new to the browser, if it has drawn the last; tell whether this was the end."""
        live = self.live
        if live is None:
            return False
        if live.run is not None and not self._opened:
            self._opened = True
            self.stage.open(live.run.start, live.run.axes)
            self.form.found(live.run.h)
        frame, before, ended = live.now, live.before, live.ended
        if frame is None or before is None:
            self._write(known)
            return False
        share = min(max((now - live.since) / live.seconds_a_frame, 0.0), 1.0) if live.seconds_a_frame > 0 else 1.0
        key = (live.count, share, ended, live.playing, self.stage.window)
        waited = now - self._sent_at > PATIENCE
        if key == self._seen or not (self.stage.ready or waited):
            return False
        if waited:
            self.stage.sent = self.stage.drawn
        self._seen, self._sent_at = key, now
        places = frame.places
        if share < 1 and not ended:  # on the way from the frame before
            places = before.places + np.float32(share) * (places - before.places)
        self.stage.show(places, frame, ended=self.finished is not None)
        if not live.playing or now - self._written_at > FACTS_EVERY:
            self._written_at = now
            self._write(known)
        return ended

    def _write(self, known: Known) -> None:
        text = facts(self.live, known.labels, known.column)
        if self._facts.object != text:
            self._facts.object = text

    def clear_lines(self, lines: Sequence[Lines]) -> None:
        """Take its lines out of the small figures."""
        for each in lines:
            each.show(self._number, [], [])
            each.band(self._number, None)

    def draw_lines(self, bandwidths: Lines, levels: Lines, clumps: Lines) -> bool:
        """Draw bandwidths, L_h and the number of clumps; tell whether there is more of them than before."""
        run = None if self.live is None else self.live.run
        if run is None or run.h is None or run.history.version == self._lines_seen:
            return False
        self._lines_seen = run.history.version
        drawn, noted = run.history.drawn, run.history.levels
        bandwidths.show(self._number, [x for x, _ in drawn], [h for _, h in drawn])
        levels.show(self._number, [x for x, _, _ in noted], [level for _, level, _ in noted])
        clumps.show(self._number, [x for x, _, _ in noted], [count for _, _, count in noted])
        ranged = run.h.h_min < run.h.h_max
        bandwidths.band(self._number, (run.h.h_min, run.h.h_max) if ranged else None)
        return True
