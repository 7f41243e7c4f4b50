"""The page of one visitor: it puts forms, figures and runs together."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import panel as pn

from modeseek.explorer.data import EXAMPLES, Data, Subject, example, from_bytes
from modeseek.explorer.page.exporting import ExportView
from modeseek.explorer.page.figures import Lines, Stage, SweepFigure
from modeseek.explorer.page.forms import DataForm, tick
from modeseek.explorer.page.side import Known, Side
from modeseek.explorer.page.sweeping import SweepView
from modeseek.explorer.page.switch import Switch
from modeseek.explorer.page.theme import FRAME, beside, ink
from modeseek.explorer.page.words import about, comparison, error, note
from modeseek.explorer.settings import Settings
from modeseek.explorer.sweep import settings_at
from modeseek.selection.bandwidths import Range

__all__ = ["Explorer"]

# a label that screen readers find and nobody sees
FOR_READERS = "label { position: absolute; clip-path: inset(50%); height: 1px; overflow: hidden; }"
TICK_MS = 50
# seconds between two drawings of the lines
LINES_EVERY = 0.8
SPEEDS = {
    "1 sweep/s": 1.0,
    "2 sweeps/s": 2.0,
    "4 sweeps/s": 4.0,
    "10 sweeps/s": 10.0,
    "30 sweeps/s": 30.0,
    "as fast as it goes": float("inf"),
}


class Explorer:
    """All that one visitor sees; nothing is shared between visitors.

    Parameters
    ----------
    data : Data, optional
        What to begin with; None: the first example.
    """

    def __init__(self, data: Data | None = None):
        self.subject: Subject | None = None
        self._stale, self._lines_at = True, 0.0
        self._todo: list[Callable[[], None]] = []
        self.data_form = DataForm(
            self._choose_example,
            self._upload,
            lambda: self._later(self._take_columns),
            lambda: self._later(self._compare_with),
        )
        self._known = Known()
        self.sides = [Side("A", 0, self._settings_changed, "dsms"), Side("B", 1, self._settings_changed, "sms")]
        self.two = tick("compare two runs")
        self.two.param.watch(lambda event: self._later(self._count_runs), "value")
        self.switch = Switch()
        self.switch.param.watch(lambda event: self._later(self._paint), "dark")
        self._make_transport()
        look = ink(dark=False)
        self.lines = [
            Lines("Bandwidths drawn, and their range", "h", look, dots=True),
            Lines("L_h, as a share of its largest", "L_h / max", look),
            Lines("Clumps", "clumps", look, log=True),
        ]
        self.table = pn.pane.HTML("", sizing_mode="stretch_width", margin=(6, 4))
        self.sweep = SweepView(self._sweep_request, self._use_bandwidth, self._say, self._later)
        self.export = ExportView()
        self._make_views()
        self._load(data or example(next(iter(EXAMPLES))), None if data else next(iter(EXAMPLES)))
        self._lay_out()

    # ---------------------------------------- the page

    def _make_transport(self) -> None:
        self.run_button = pn.widgets.Button(label="Run", color="primary", width=110, margin=3)
        self.step_button = pn.widgets.Button(label="Step", width=80, margin=3)
        self.reset_button = pn.widgets.Button(label="Reset", width=80, margin=3)
        self.speed = pn.widgets.Select(
            label="speed", options=list(SPEEDS), value="4 sweeps/s", width=170, margin=3, stylesheets=[FOR_READERS]
        )
        self.view = pn.widgets.RadioButtonGroup(
            options=["Watch", "Sweep", "Export"], value="Watch", width=240, margin=3
        )
        self.message = pn.pane.HTML("", sizing_mode="stretch_width", margin=(2, 3))
        self.run_button.on_click(lambda event: self._later(self._run))
        self.step_button.on_click(lambda event: self._later(self._step))
        self.reset_button.on_click(lambda event: self._later(self._reset))
        self.speed.param.watch(lambda event: self._set_pace(), "value")
        self.view.param.watch(lambda event: self._later(self._lay_out), "value")

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
        page.add_variable("app_favicon", "data:,")  # Bokeh's own does not lie below the token
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
            side.stage.plot.title.text = f"Run {side.name}" if two else ""
        if not two:
            self.sides[1].close()
            self.table.object = ""
            self.sides[1].clear_lines(self.lines)
        self.run_view.visible = self.view.value == "Watch"
        self.sweep.layout.visible = self.view.value == "Sweep"
        self.export.layout.visible = self.view.value == "Export"
        self._ended()

    def _paint(self) -> None:
        look = ink(dark=self.switch.dark)
        figures: list[Stage | Lines | SweepFigure] = [*(side.stage for side in self.sides), *self.lines]
        for each in [*figures, self.sweep.figure]:
            each.paint(look)
        for side in self.sides:
            side.again()

    # ---------------------------------------- data

    def _choose_example(self, name: str) -> None:
        self._later(lambda: self._load(example(name), name))

    def _upload(self, name: str, content: bytes) -> None:
        if content:
            self._later(lambda: self._load(from_bytes(name, content), None))

    def _load(self, data: Data, name: str | None) -> None:
        self.data_form.show(data, name)
        self.data = data
        self._compare_with()
        self._take_columns()
        self._say("")

    def _compare_with(self) -> None:
        column = self.data_form.truth
        self._known = Known() if column is None else Known(column, self.data.truth_labels(column))
        for side in self.sides:
            side.again()
        self._ended()

    def _take_columns(self) -> None:
        subject = Subject.of(
            self.data, self.data_form.columns.value, standardise=bool(self.data_form.standardise.value)
        )
        self.subject = subject
        self.data_form.about.object = about(subject)
        self.sweep.clear()
        self._reset()

    # ---------------------------------------- runs

    def _later(self, action: Callable[[], None]) -> None:
        """Do something at the next tick: Bokeh lets figures be changed then, not wherever a widget tells of a click."""
        self._todo.append(action)

    def _guarded(self, action: Callable[[], None]) -> None:
        """Do something; what a user can put right becomes a message, and everything stays as it was."""
        try:
            action()
        except (ValueError, TypeError, OSError, MemoryError) as problem:
            self._say(str(problem) or type(problem).__name__, bad=True)

    def _say(self, text: str, *, bad: bool = False) -> None:
        self.message.object = error(text) if bad else note(text)

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
            side.clear_lines(self.lines)
            side.start(self.subject, settings, SPEEDS[self.speed.value])
        self.line_row.visible = False
        self.table.object = ""
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
        eye = self.subject.eye(self.subject.points("euclidean"))
        for side in self.sides:
            side.rest(eye.start, eye.axes)
            side.clear_lines(self.lines)
        self._stale = True
        self.line_row.visible = False
        self.table.object = ""
        self._say("")
        self._ended()
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
        if self.run_button.label != name:
            self.run_button.label = name

    # ---------------------------------------- looking

    def tick(self) -> None:
        """Do what was asked for, and show what is new."""
        while self._todo:
            self._guarded(self._todo.pop(0))
        now = time.monotonic()
        ended = [side.show(now, self._known) for side in self.active]
        if any(ended):
            self._ended()
        if now - self._lines_at > LINES_EVERY:
            self._lines_at = now
            drawn = [side.draw_lines(*self.lines) for side in self.active]
            self.line_row.visible = self.line_row.visible or any(drawn)
        self.sweep.tick()
        self._label()

    def _ended(self) -> None:
        runs = {side.name: side.finished for side in self.active if side.finished is not None}
        self.table.object = comparison(runs, self._known.labels, self._known.column)
        self.export.show(runs)

    # ---------------------------------------- sweeps

    def _sweep_request(self) -> tuple[Subject, Settings, Any]:
        assert self.subject is not None
        return self.subject, self.sides[0].form.read(), self._known.labels

    def _use_bandwidth(self, h: float, base: Range) -> None:
        settings = settings_at(self.sides[0].form.read(), h, base)
        self.sides[0].form.take(settings)
        self.view.value = "Watch"
        self._say(f"Run A now has bandwidth {h:g}: press Run.")
