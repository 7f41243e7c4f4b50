"""The page of one visitor: forms, figures and runs put together."""

import time
from collections.abc import Callable
from typing import Any

import panel as pn

from modeseek._common.text import counted
from modeseek._common.types import IntArray
from modeseek.explorer.dataset import EXAMPLES, Dataset, from_bytes, load_example
from modeseek.explorer.page import style
from modeseek.explorer.page.figures import LineFigure
from modeseek.explorer.page.forms import DataForm, checkbox
from modeseek.explorer.page.messages import KnownGroups, comparison, data_summary, error, note
from modeseek.explorer.page.run_panel import RunPanel
from modeseek.explorer.page.tabs import ExportTab, ScanTab
from modeseek.explorer.prepared_data import PreparedData
from modeseek.explorer.run_settings import ALGORITHMS, RunSettings
from modeseek.explorer.run_thread import RunThread
from modeseek.selection.bandwidths import Range

TICK_MILLISECONDS = 50
# seconds between two updates of the line figures
LINES_INTERVAL = 0.8
# sweeps per second
PACES = {**{f"{counted(n, 'sweep')}/s": float(n) for n in (1, 2, 4, 10, 30)}, "no limit": float("inf")}


class ExplorerPage:
    """Everything that one visitor of the page sees; visitors share nothing.

    Callbacks of widgets put actions into a queue that `tick` runs, because Bokeh allows changes of figures only there.

    Parameters
    ----------
    dataset : Dataset, optional
        Dataset at the start. Default: the first example.
    """

    def __init__(self, dataset: Dataset | None = None):
        self._settings_changed, self._lines_at = True, 0.0
        self._queue: list[Callable[[], None]] = []
        self._groups = KnownGroups()
        self.data_form = DataForm(
            lambda name: self._later(lambda: self._load(load_example(name), name)),
            self._upload,
            lambda: self._later(self._prepare_data),
            lambda: self._later(self._read_groups),
        )
        self.panels = [
            RunPanel(number, self._mark_changed, algorithm) for number, algorithm in enumerate(list(ALGORITHMS)[:2])
        ]
        self.lines = [
            LineFigure("Bandwidths drawn, with their range", "h", style.LIGHT, dots=True),
            LineFigure("Objective, relative to its maximum", "L_h / max", style.LIGHT),
            LineFigure("Clumps", "clumps", style.LIGHT, log=True),
        ]
        self.scan = ScanTab(self._scan_input, self._use_bandwidth, self._later)
        self.export = ExportTab()
        self._make_controls()
        self._make_layouts()
        first = next(iter(EXAMPLES))
        self._load(dataset or load_example(first), None if dataset else first)
        self._lay_out()

    # ---------------------------------------- layout

    def _make_controls(self) -> None:
        self.run_button = self._button("Run", self._run_or_pause, width=110, color="primary")
        self.step_button = self._button("Step", self._step)
        self.reset_button = self._button("Reset", self._reset)
        self.pace = pn.widgets.Select(
            label="speed", options=PACES, value=4.0, width=170, margin=3, stylesheets=[style.SCREEN_READER_LABEL]
        )
        self.tab = pn.widgets.RadioButtonGroup(
            options=["Animation", "Bandwidth scan", "Export"], value="Animation", width=330, margin=3
        )
        self.compare = checkbox("compare two runs")
        self.theme = style.ThemeSwitch()
        self.pace.param.watch(lambda event: self._set_pace(), "value")
        self.tab.param.watch(lambda event: self._later(self._lay_out), "value")
        self.compare.param.watch(lambda event: self._later(self._change_number_of_runs), "value")
        self.theme.param.watch(lambda event: self._later(self._set_colors), "dark")

    def _button(self, label: str, action: Callable[[], None], width: int = 80, color: str = "default") -> Any:
        button = pn.widgets.Button(label=label, color=color, width=width, margin=3)
        button.on_click(lambda event: self._later(action))
        return button

    def _make_layouts(self) -> None:
        self.message = style.html_pane()
        self.table = style.html_pane(margin=(6, 4))
        # the scatter plots of both runs are always in the document: updates of a figure that is being added get lost
        scatters = style.column(*(panel.layout for panel in self.panels), stylesheets=style.side_by_side("21rem"))
        figures = [style.figure_pane(each.plot) for each in self.lines]
        # a grid cannot be hidden, so it is put into a column that can
        row = style.column(*figures, stylesheets=style.side_by_side("15rem"))
        self.line_row = style.column(row, visible=False)
        self.animation = style.column(scatters, self.table, self.line_row)

    def template(self) -> pn.Template:
        """Return the page as a template to serve."""
        page = pn.Template(style.read_asset("page.html"))
        page.add_variable("app_favicon", "data:,")  # an empty icon: icon files are not served
        page.add_variable("page_css", style.read_asset("page.css"))
        page.add_panel("theme", self.theme)
        page.add_panel("data", self.data_form.layout)
        page.add_panel("settings", pn.Column(self.panels[0].form.layout, self.compare, self.panels[1].form.layout))
        controls = (self.run_button, self.step_button, self.reset_button, self.pace, self.tab)
        bar = pn.FlexBox(*controls, align_items="center", sizing_mode="stretch_width")
        page.add_panel("controls", style.column(bar, self.message))
        page.add_panel("main", style.column(self.animation, self.scan.layout, self.export.layout))
        return page

    def open(self) -> None:
        """Start the periodic updates; requires a Bokeh document."""
        pn.state.add_periodic_callback(self.tick, period=TICK_MILLISECONDS)
        pn.state.on_session_destroyed(lambda context: self.close())

    def close(self) -> None:
        """End all threads."""
        for panel in self.panels:
            panel.close()
        self.scan.close()

    @property
    def active(self) -> list[RunPanel]:
        """The runs in use."""
        return self.panels if self.compare.value else self.panels[:1]

    @property
    def _threads(self) -> list[RunThread]:
        return [panel.thread for panel in self.active if panel.thread is not None]

    def _change_number_of_runs(self) -> None:
        self._mark_changed()
        self._lay_out()

    def _lay_out(self) -> None:
        two = bool(self.compare.value)
        self.panels[1].form.layout.visible = self.panels[0].form.heading.visible = two
        self.panels[1].layout.visible = two
        for panel in self.panels:
            panel.scatter.plot.title.text = f"Run {panel.name}" if two else ""
        if not two:
            self.panels[1].close()
            self.panels[1].clear_lines(self.lines)
        layouts = (self.animation, self.scan.layout, self.export.layout)
        for name, layout in zip(self.tab.options, layouts, strict=True):
            layout.visible = name == self.tab.value
        self._show_results()

    def _set_colors(self) -> None:
        for panel in self.panels:
            panel.scatter.set_colors(self.theme.colors)
        for each in self.lines:
            each.set_colors(self.theme.colors)
        self.scan.figure.set_colors(self.theme.colors)
        self._redraw()

    def _redraw(self) -> None:
        for panel in self.panels:
            panel.redraw()

    # ---------------------------------------- data

    def _upload(self, name: str, content: bytes) -> None:
        if content:
            self._later(lambda: self._load(from_bytes(name, content), None))

    def _load(self, dataset: Dataset, example: str | None) -> None:
        self.data_form.fill(dataset, example)
        self.dataset = dataset
        self._prepare_data()
        self._read_groups()

    def _set_groups(self) -> None:
        column = self.data_form.group_column
        self._groups = KnownGroups() if column is None else KnownGroups(column, self.data.group_labels(column))

    def _read_groups(self) -> None:
        self._set_groups()
        self._redraw()
        self._show_results()

    def _prepare_data(self) -> None:
        form = self.data_form
        self.data = PreparedData.select(self.dataset, form.columns.value, standardize=bool(form.standardize.value))
        self._set_groups()
        form.summary.object = data_summary(self.data)
        self.scan.clear()
        self._reset()

    # ---------------------------------------- runs

    def _later(self, action: Callable[[], None]) -> None:
        """Run an action at the next tick."""
        self._queue.append(action)

    def _say(self, text: str) -> None:
        self.message.object = note(text)

    def _mark_changed(self) -> None:
        self._settings_changed = True

    def _set_pace(self) -> None:
        for thread in self._threads:
            thread.pace = self.pace.value

    def _start_if_needed(self) -> None:
        if not self._settings_changed and any(not thread.ended for thread in self._threads):
            return
        settings = [panel.form.read() for panel in self.active]  # an error leaves the current runs as they are
        for panel, each in zip(self.active, settings, strict=True):
            panel.clear_lines(self.lines)
            panel.start(self.data, each, self.pace.value)
        self._begin_display()
        self._settings_changed = False

    def _begin_display(self) -> None:
        self.line_row.visible = False
        self.table.object = ""
        self._say("")

    def _run_or_pause(self) -> None:
        if not self._settings_changed and any(thread.playing for thread in self._threads):
            for thread in self._threads:
                thread.pause()
        else:
            self._start_if_needed()
            for thread in self._threads:
                thread.play()

    def _step(self) -> None:
        self._start_if_needed()
        for thread in self._threads:
            thread.step()

    def _reset(self) -> None:
        projector = self.data.projector(self.data.canonical("euclidean"))
        for panel in self.panels:
            panel.show_start(projector.start, projector.axes)
            panel.clear_lines(self.lines)
        self._begin_display()
        self._show_results()
        self._mark_changed()

    def _label_run_button(self) -> None:
        threads = self._threads
        if not threads:
            label = "Run"
        elif self._settings_changed:
            label = "Restart"
        elif any(thread.playing for thread in threads):
            label = "Pause"
        else:
            label = "Run again" if all(thread.ended for thread in threads) else "Resume"
        if self.run_button.label != label:
            self.run_button.label = label

    # ---------------------------------------- updates

    def tick(self) -> None:
        """Run the queued actions, and show new frames and results."""
        while self._queue:
            action = self._queue.pop(0)
            try:
                action()
            except (ValueError, TypeError, OSError, MemoryError) as problem:
                self.message.object = error(str(problem) or type(problem).__name__)
        now = time.monotonic()
        ended = [panel.update(now, self._groups) for panel in self.active]
        if any(ended):
            self._show_results()
        if now - self._lines_at > LINES_INTERVAL:
            self._lines_at = now
            changed = [panel.draw_lines(*self.lines) for panel in self.active]
            self.line_row.visible = self.line_row.visible or any(changed)
        self.scan.update()
        self._label_run_button()

    def _show_results(self) -> None:
        runs = {panel.name: panel.finished for panel in self.active if panel.finished is not None}
        self.table.object = comparison(runs, self._groups)
        self.export.show(runs)

    # ---------------------------------------- bandwidth scan

    def _scan_input(self) -> tuple[PreparedData, RunSettings, IntArray | None]:
        settings = self.panels[0].form.read()
        self._say("")
        return self.data, settings, self._groups.labels

    def _use_bandwidth(self, h: float, base: Range) -> None:
        form = self.panels[0].form
        form.set_bandwidths(form.read().with_bandwidth(h, base))
        self.tab.value = "Animation"
        self._say(f"Run A now has bandwidth {h:g}: press Run.")
