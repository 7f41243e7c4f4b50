"""The tabs other than the animation: the bandwidth scan, and the exports."""

import io
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from html import escape

import panel as pn

from modeseek._common.text import counted
from modeseek._common.types import IntArray
from modeseek.estimators.result import FitResult
from modeseek.explorer.animated_run import AnimatedRun
from modeseek.explorer.bandwidth_scan import BandwidthScan, ScanRow
from modeseek.explorer.export import export_figure, export_labels, file_stem, run_code
from modeseek.explorer.page.figures import ScanFigure
from modeseek.explorer.page.messages import error, status
from modeseek.explorer.page.style import LIGHT, column, figure_pane, html_pane
from modeseek.explorer.prepared_data import PreparedData
from modeseek.explorer.run_settings import FIELDS, RunSettings
from modeseek.selection.bandwidths import Range

HINT = "Fits the algorithm of run A at several bandwidths. Click a point, or select a bandwidth, to use it in run A."
NO_RESULT = status("No run has ended yet: press Run first.")
# the exports by label: the end of the file name, and the function that makes the file
EXPORTS: dict[str, tuple[str, Callable[[AnimatedRun, FitResult], bytes]]] = {
    "Labels (CSV)": ("-clusters.csv", export_labels),
    "Figure (PNG)": ("-clusters.png", partial(export_figure, suffix=".png")),
    "Figure (SVG)": ("-clusters.svg", partial(export_figure, suffix=".svg")),
    "Python code": (".py", lambda run, _: f"{run_code(run.data, run.settings)}\n".encode()),
}


class ScanTab:
    """Starts and shows bandwidth scans.

    Parameters
    ----------
    get_input : callable
        Function without arguments that returns data, settings, and known groups or None; may raise ValueError.
    use_bandwidth : callable
        Called with the bandwidth that the visitor selected, and the automatic range.
    later : callable
        Called with an action, which it runs once figures may be changed; errors are shown on the page.
    """

    def __init__(
        self,
        get_input: Callable[[], tuple[PreparedData, RunSettings, IntArray | None]],
        use_bandwidth: Callable[[float, Range], None],
        later: Callable[[Callable[[], None]], None],
    ):
        self._get_input, self._use_bandwidth, self._later = get_input, use_bandwidth, later
        self._scan: BandwidthScan | None = None
        self._shown: tuple[int, bool] = (0, True)
        self.figure = ScanFigure(LIGHT)
        self.figure.source.selected.on_change("indices", self._clicked)
        self.low, self.high = (
            pn.widgets.TextInput(label=name, placeholder="automatic", width=150, margin=3) for name in ("from", "to")
        )
        self.count = pn.widgets.Select(
            label="number of bandwidths", options=[8, 16, 24, 48], value=16, width=170, margin=3
        )
        self.button = pn.widgets.Button(label="Start scan", color="primary", width=130, margin=3, align="end")
        self.button.on_click(lambda event: later(self._press))
        self.progress = html_pane()
        self.choice = pn.widgets.Select(label="bandwidth", options={}, width=300, margin=3)
        self.use_button = pn.widgets.Button(label="Use in run A", width=130, margin=3, align="end", disabled=True)
        self.use_button.on_click(lambda event: later(lambda: self._use(self.choice.value)))
        self.layout = column(
            pn.pane.HTML(f'<p class="faint">{HINT}</p>', margin=(0, 3)),
            pn.FlexBox(self.low, self.high, self.count, self.button, align_items="end"),
            self.progress,
            figure_pane(self.figure.plot),
            pn.FlexBox(self.choice, self.use_button, align_items="end"),
            visible=False,
        )

    def close(self) -> None:
        """Cancel the scan."""
        if self._scan is not None:
            self._scan.cancel()

    def clear(self) -> None:
        """Cancel the scan and remove its results."""
        self.close()
        self._scan = None
        self._show([])
        self.progress.object, self.button.label = "", "Start scan"

    def _press(self) -> None:
        if self._scan is not None and not self._scan.ended:
            self._scan.cancel()
            return
        data, settings, groups = self._get_input()
        low, high = (FIELDS["bandwidth"].read(field.label, field.value.strip()) for field in (self.low, self.high))
        self._scan = BandwidthScan(data, settings, low, high, self.count.value, groups)
        self._shown = (-1, False)
        single = "bandwidth" in settings.fields
        self.figure.plot.xaxis[0].axis_label = "bandwidth" if single else "h_max (h_min and h_inf in proportion)"
        self.button.label = "Cancel"

    def update(self) -> None:
        """Show new results."""
        scan = self._scan
        if scan is None or (len(scan.rows), scan.ended) == self._shown:
            return
        self._shown = (len(scan.rows), scan.ended)
        self._show(scan.rows)
        self.progress.object = error(scan.failure) if scan.failure else status(_progress_text(scan))
        if scan.ended:
            self.button.label = "Start scan"

    def _show(self, rows: Sequence[ScanRow]) -> None:
        self.figure.show(rows)
        self.choice.options = {f"{row.h:g}: {counted(row.clusters, 'cluster')}": row.h for row in reversed(rows)}
        if rows:
            self.choice.value = rows[len(rows) // 2].h
        self.use_button.disabled = not rows

    def _clicked(self, name: str, old: list[int], new: list[int]) -> None:
        if new and self._scan is not None and new[0] < len(self._scan.rows):
            h = self._scan.rows[new[0]].h
            self._later(lambda: self._use(h))

    def _use(self, h: float | None) -> None:
        if h is not None and self._scan is not None and self._scan.base is not None:
            self._use_bandwidth(float(h), self._scan.base)


def _progress_text(scan: BandwidthScan) -> str:
    total = len(scan.grid)
    if not total:
        return "Choosing the bandwidths ..."
    text = f"{len(scan.rows)} of {total} bandwidths"
    if scan.ended:
        text += ", cancelled." if len(scan.rows) < total else ": finished."
    return text + (f" A random sample of {scan.data.config.max_scan_rows:,} rows is used." if scan.sampled else "")


class ExportTab:
    """Download buttons for the runs that have ended."""

    def __init__(self) -> None:
        self._runs: dict[str, AnimatedRun] = {}
        self.run_select = pn.widgets.Select(label="run", options=[], width=100, margin=3)
        self.run_select.param.watch(lambda event: self._show(), "value")
        self._buttons = [self._button(label) for label in EXPORTS]
        self._summary = html_pane(NO_RESULT, margin=(4, 3))
        self._code = html_pane(margin=(4, 3))
        self._downloads = column(self.run_select, pn.FlexBox(*self._buttons), self._code, visible=False)
        self.layout = column(self._summary, self._downloads, visible=False)

    def _button(self, label: str) -> pn.widgets.FileDownload:
        def content() -> io.BytesIO:
            run = self._runs[self.run_select.value]
            assert run.result is not None
            return io.BytesIO(EXPORTS[label][1](run, run.result))

        return pn.widgets.FileDownload(callback=content, label=label, width=190, margin=4)

    def show(self, runs: Mapping[str, AnimatedRun]) -> None:
        """Offer the results of these runs."""
        if runs == self._runs:
            return
        self._runs = dict(runs)
        self.run_select.options = list(runs)
        if runs:
            self.run_select.value = next(iter(runs))
        self._show()

    def _show(self) -> None:
        run = self._runs.get(self.run_select.value)
        self._downloads.visible = run is not None
        if run is None or run.result is None:
            self._summary.object, self._code.object = NO_RESULT, ""
            return
        for button, (ending, _) in zip(self._buttons, EXPORTS.values(), strict=True):
            button.filename = file_stem(run.data) + ending
        columns = "cluster" if run.result.confidence is None else "cluster and confidence"
        self._summary.object = status(
            f"The rows of {run.data.dataset.name} with {columns}, a figure, and Python code that gives the same labels."
        )
        code = escape(run_code(run.data, run.settings))
        self._code.object = f'<pre tabindex="0" aria-label="Python code">{code}</pre>'
