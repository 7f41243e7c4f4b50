"""The page of one visitor: it puts forms, figures and runs together."""

from __future__ import annotations

import time
from collections.abc import Callable
from html import escape
from typing import Any

import numpy as np
import panel as pn

from modeseek.explorer.data import EXAMPLES, Data, Subject, example, from_bytes
from modeseek.explorer.live import Live
from modeseek.explorer.page.exporting import ExportView
from modeseek.explorer.page.figures import Lines, Stage
from modeseek.explorer.page.forms import DataForm, SettingsForm, tick
from modeseek.explorer.page.sweeping import SweepView
from modeseek.explorer.page.switch import Switch
from modeseek.explorer.page.theme import FRAME, beside, ink
from modeseek.explorer.page.words import about, comparison, error, facts
from modeseek.explorer.run import Run
from modeseek.explorer.settings import Settings
from modeseek.explorer.sweep import settings_at
from modeseek.ranges import Range
from modeseek.types import IntArray

__all__ = ["Explorer"]

# a label that screen readers find and nobody sees
FOR_READERS = "label { position: absolute; clip-path: inset(50%); height: 1px; overflow: hidden; }"
TICK_MS = 50
# seconds between two drawings of the lines, and until a browser that does not answer is written to again
LINES_EVERY, PATIENCE = 0.4, 3.0
SPEEDS = {
    "1 sweep/s": 1.0,
    "2 sweeps/s": 2.0,
    "4 sweeps/s": 4.0,
    "10 sweeps/s": 10.0,
    "30 sweeps/s": 30.0,
    "as fast as it goes": float("inf"),
}


class Side:
    """One of the two runs: its form, its stage, and what runs."""

    def __init__(self, name: str, changed: Callable[[], None], algorithm: str):
        self.form = SettingsForm(name, changed, algorithm)
        self.stage = Stage(ink(dark=False))
        self.facts = pn.pane.HTML("", sizing_mode="stretch_width", margin=(0, 4))
        self.layout = pn.Column(
            pn.pane.Bokeh(self.stage.plot, sizing_mode="stretch_width", margin=0),
            self.facts,
            sizing_mode="stretch_width",
        )
        self.live: Live | None = None
        self.settings: Settings | None = None
        self.opened = False
        self.seen: tuple[Any, ...] = ()
        self.lines_seen = -1
        self.sent_at = 0.0

    def close(self) -> None:
        """Give up what runs."""
        if self.live is not None:
            self.live.close()
        self.live, self.settings, self.opened, self.seen, self.lines_seen = None, None, False, (), -1
        self.form.found(None)

    def start(self, subject: Subject, settings: Settings, pace: float) -> None:
        """Begin a run."""
        self.close()
        self.settings = settings
        self.live = Live(lambda cancelled: Run(subject, settings, cancelled), pace)


class Explorer:
    """All that one visitor sees; nothing is shared between visitors.

    Parameters
    ----------
    data : Data, optional
        What to begin with; None: the first example.
    """

    def __init__(self, data: Data | None = None):
        self.subject: Subject | None = None
        self._stale, self._lines_at, self._quiet = True, 0.0, False
        self.data_form = DataForm(self._choose_example, self._upload, self._columns_changed)
        self.sides = [Side("A", self._settings_changed, "dsms"), Side("B", self._settings_changed, "sms")]
        self.two = tick("compare two runs")
        self.two.param.watch(lambda event: self._count_runs(), "value")
        self.switch = Switch()
        self.switch.param.watch(lambda event: self._paint(), "dark")
        self._make_transport()
        look = ink(dark=False)
        self.lines = [
            Lines("Bandwidths drawn, and their range", "h", look, dots=True),
            Lines("L_h, as a share of its largest", "L_h / max", look),
            Lines("Clumps", "clumps", look, log=True),
        ]
        self.table = pn.pane.HTML("", sizing_mode="stretch_width", margin=(6, 4))
        self.sweep = SweepView(self._sweep_request, self._use_bandwidth, self._say)
        self.export = ExportView()
        self._make_views()
        self._load(data or example(next(iter(EXAMPLES))), None if data else next(iter(EXAMPLES)))
        self._lay_out()

    # ---------------------------------------- the page

    def _make_transport(self) -> None:
        self.run_button = pn.widgets.Button(name="Run", button_type="primary", width=110, margin=3)
        self.step_button = pn.widgets.Button(name="Step", width=80, margin=3)
        self.reset_button = pn.widgets.Button(name="Reset", width=80, margin=3)
        self.speed = pn.widgets.Select(
            name="speed", options=list(SPEEDS), value="4 sweeps/s", width=170, margin=3, stylesheets=[FOR_READERS]
        )
        self.view = pn.widgets.RadioButtonGroup(options=["Watch", "Sweep", "Export"], value="Watch", width=240, margin=3)
        self.message = pn.pane.HTML("", sizing_mode="stretch_width", margin=(2, 3))
        self.run_button.on_click(lambda event: self._guarded(self._run))
        self.step_button.on_click(lambda event: self._guarded(self._step))
        self.reset_button.on_click(lambda event: self._guarded(self._reset))
        self.speed.param.watch(lambda event: self._set_pace(), "value")
        self.view.param.watch(lambda event: self._lay_out(), "value")

    def _make_views(self) -> None:
        self.stages = pn.Column(stylesheets=beside("21rem"), sizing_mode="stretch_width")
        row = pn.Column(
            *(pn.pane.Bokeh(each.plot, sizing_mode="stretch_width", margin=0) for each in self.lines),
            stylesheets=beside("15rem"),
            sizing_mode="stretch_width",
        )
        # a layout of its own to hide, because a grid shows whatever it is told
        self.line_row = pn.Column(row, sizing_mode="stretch_width", visible=False)
        self.run_view = pn.Column(self.stages, self.table, self.line_row, sizing_mode="stretch_width")

    def template(self) -> pn.Template:
        """Return the page."""
        page = pn.Template(FRAME)
        page.add_panel("theme", self.switch)
        page.add_panel("data", self.data_form.layout)
        page.add_panel("forms", pn.Column(self.sides[0].form.layout, self.two, self.sides[1].form.layout))
        bar = pn.FlexBox(
            self.run_button, self.step_button, self.reset_button, self.speed, self.view, align_items="center",
            sizing_mode="stretch_width",
        )  # fmt: skip
        page.add_panel("transport", pn.Column(bar, self.message, sizing_mode="stretch_width"))
        page.add_panel(
            "main", pn.Column(self.run_view, self.sweep.layout, self.export.layout, sizing_mode="stretch_width")
        )
        return page

    def open(self) -> None:
        """Begin to look at runs; to be called where there is a document."""
        pn.state.add_periodic_callback(self.tick, period=TICK_MS)
        pn.state.on_session_destroyed(lambda context: self.close())

    def close(self) -> None:
        """End all threads."""
        for side in self.sides:
            side.close()
        self.sweep.close()

    @property
    def active(self) -> list[Side]:
        """The runs that take part."""
        return self.sides if self.two.value else self.sides[:1]

    def _count_runs(self) -> None:
        self._settings_changed()
        self._lay_out()

    def _lay_out(self) -> None:
        two = bool(self.two.value)
        self.sides[1].form.layout.visible = two
        if len(self.stages) != len(self.active):
            self.stages.objects = [side.layout for side in self.active]
        self.sides[0].form.heading.visible = two
        for side in self.sides:
            side.stage.plot.title.text = f"Run {side.form.name}" if two else ""
        if not two:
            self.sides[1].close()
            self.table.object = ""
            for lines in self.lines:
                lines.show(1, [], [])
                lines.band(1, None)
        self.run_view.visible = self.view.value == "Watch"
        self.sweep.layout.visible = self.view.value == "Sweep"
        self.export.layout.visible = self.view.value == "Export"
        self._tell_export()

    def _paint(self) -> None:
        look = ink(dark=self.switch.dark)
        for each in [*(side.stage for side in self.sides), *self.lines, self.sweep.figure]:
            each.paint(look)
        for side in self.sides:
            side.seen = ()

    # ---------------------------------------- data

    def _choose_example(self, name: str) -> None:
        self._guarded(lambda: self._load(example(name), name))

    def _upload(self, name: str, content: bytes) -> None:
        if content:
            self._guarded(lambda: self._load(from_bytes(name, content), None))

    def _load(self, data: Data, name: str | None) -> None:
        self.data_form.show(data, name)
        self.data = data
        self._take_columns()
        self._say("")

    def _truth(self) -> IntArray | None:
        return None if self.data_form.truth is None else self.data.truth_labels(self.data_form.truth)

    def _columns_changed(self) -> None:
        self._guarded(self._take_columns)

    def _take_columns(self) -> None:
        subject = Subject.of(self.data, self.data_form.columns.value, standardise=bool(self.data_form.standardise.value))
        self.subject = subject
        self.data_form.about.object = about(subject)
        self.sweep.clear()
        self._reset()

    # ---------------------------------------- runs

    def _guarded(self, action: Callable[[], None]) -> None:
        """Do something; what a user can put right becomes a message, and everything stays as it was."""
        try:
            action()
        except (ValueError, TypeError, OSError, MemoryError) as problem:
            self._say(str(problem) or type(problem).__name__, bad=True)

    def _say(self, text: str, *, bad: bool = False) -> None:
        self.message.object = error(text) if bad else (f'<p class="note" role="status">{escape(text)}</p>' if text else "")

    def _settings_changed(self) -> None:
        self._stale = True
        self._label()

    def _set_pace(self) -> None:
        for side in self.sides:
            if side.live is not None:
                side.live.pace = SPEEDS[self.speed.value]

    def _start(self) -> None:
        assert self.subject is not None
        wanted = [side.form.read() for side in self.active]  # all of them first: what is wrong stops nothing
        for side, settings in zip(self.active, wanted, strict=True):
            side.start(self.subject, settings, SPEEDS[self.speed.value])
        self._stale = False
        self._say("")

    def _fresh(self) -> None:
        if self._stale or all(side.live is None or side.live.ended for side in self.active):
            self._start()

    def _run(self) -> None:
        if not self._stale and any(side.live is not None and side.live.playing for side in self.active):
            for side in self.active:
                if side.live is not None:
                    side.live.pause()
        else:
            self._fresh()
            for side in self.active:
                if side.live is not None:
                    side.live.play()
        self._label()

    def _step(self) -> None:
        self._fresh()
        for side in self.active:
            if side.live is not None:
                side.live.step()
        self._label()

    def _reset(self) -> None:
        assert self.subject is not None
        points = self.subject.points("euclidean")
        eye = self.subject.eye(points)
        for number, side in enumerate(self.sides):
            side.close()
            side.stage.open(eye.start, eye.axes)
            side.stage.blank()
            side.facts.object = ""
            for lines in self.lines:
                lines.show(number, [], [])
                lines.band(number, None)
        self._stale = True
        self.line_row.visible = False
        self.table.object = ""
        self._say("")
        self._tell_export()
        self._label()

    def _label(self) -> None:
        lives = [side.live for side in self.active if side.live is not None]
        if not lives:
            name = "Run"
        elif self._stale:
            name = "Run anew"
        elif any(live.playing for live in lives):
            name = "Pause"
        else:
            name = "Run again" if all(live.ended for live in lives) else "Go on"
        if self.run_button.name != name:
            self.run_button.name = name

    # ---------------------------------------- looking

    def tick(self) -> None:
        """Show what is new."""
        now = time.monotonic()
        for number, side in enumerate(self.active):
            self._show(number, side, now)
        if now - self._lines_at > LINES_EVERY:
            self._lines_at = now
            for number, side in enumerate(self.active):
                self._draw_lines(number, side)
        self.sweep.tick()
        self._label()

    def _show(self, number: int, side: Side, now: float) -> None:
        live = side.live
        if live is None:
            return
        if live.run is not None and not side.opened:
            side.opened = True
            side.stage.open(live.run.start, live.run.axes)
            if side.settings is not None and side.settings.moves:
                side.form.found(live.run.h)
        frame, ended = live.now, live.ended
        if frame is None or live.before is None:
            self._write(side)
            return
        share = 1.0
        if live.playing or live.since + live.seconds_a_frame > now:
            share = float(np.clip((now - live.since) / max(live.seconds_a_frame, 1e-9), 0.0, 1.0))
        key = (id(frame), share, ended, side.stage.window)
        waited = now - side.sent_at > PATIENCE
        if key == side.seen or not (side.stage.ready or waited):
            return
        if waited:
            side.stage.sent = side.stage.drawn
        side.seen, side.sent_at = key, now
        places = frame.places if share >= 1 else live.before.places + np.float32(share) * (frame.places - live.before.places)
        side.stage.show(places, frame, ended=ended and not live.failure)
        self._write(side)
        if ended:
            self._ended()

    def _write(self, side: Side) -> None:
        text = facts(side.live, self._truth(), self.data_form.truth)
        if side.facts.object != text:
            side.facts.object = text

    def _draw_lines(self, number: int, side: Side) -> None:
        if side.live is None or side.live.run is None or side.live.run.history.version == side.lines_seen:
            return
        run = side.live.run
        side.lines_seen = run.history.version
        drawn, levels = run.history.drawn, run.history.levels
        self.line_row.visible = True
        self.lines[0].show(number, [x for x, _ in drawn], [h for _, h in drawn])
        self.lines[1].show(number, [x for x, _, _ in levels], [level for _, level, _ in levels])
        self.lines[2].show(number, [x for x, _, _ in levels], [clumps for _, _, clumps in levels])
        ranged = run.h is not None and run.h.h_min < run.h.h_max
        self.lines[0].band(number, (run.h.h_min, run.h.h_max) if ranged and run.h is not None else None)

    def _ended(self) -> None:
        done = [side for side in self.active if side.live is not None and side.live.run is not None]
        runs = [(side.form.name, side.live.run) for side in done if side.live.run.result is not None]  # type: ignore[union-attr]
        self.table.object = comparison(runs, self._truth(), self.data_form.truth)
        self._tell_export()

    def _tell_export(self) -> None:
        runs = {
            side.form.name: side.live.run
            for side in self.active
            if side.live is not None and side.live.run is not None and side.live.run.result is not None
        }
        self.export.show(runs)

    # ---------------------------------------- sweeps

    def _sweep_request(self) -> tuple[Subject, Settings, Any]:
        assert self.subject is not None
        return self.subject, self.sides[0].form.read(), self._truth()

    def _use_bandwidth(self, h: float, base: Range) -> None:
        settings = settings_at(self.sides[0].form.read(), h, base)
        self.sides[0].form.take(settings)
        self.view.value = "Watch"
        self._say(f"Run A now has bandwidth {h:g}: press Run.")
