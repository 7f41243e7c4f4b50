"""The tab with exports: labels, figures, Python code."""

import io
from collections.abc import Callable, Mapping
from functools import partial
from html import escape

import panel as pn

from modeseek.estimators.result import FitResult
from modeseek.explorer.animated_run import AnimatedRun
from modeseek.explorer.export import export_figure, export_labels, file_stem, python_code
from modeseek.explorer.page.messages import status
from modeseek.explorer.page.style import column, html_pane

NO_RESULT = status("No run has ended yet: press Run first.")


# by label: the end of the file name, and the function that makes the file
EXPORTS: dict[str, tuple[str, Callable[[AnimatedRun, FitResult], bytes]]] = {
    "Labels (CSV)": ("-clusters.csv", export_labels),
    "Figure (PNG)": ("-clusters.png", partial(export_figure, suffix=".png")),
    "Figure (SVG)": ("-clusters.svg", partial(export_figure, suffix=".svg")),
    "Python code": (".py", lambda run, _: f"{python_code(run.data, run.settings)}\n".encode()),
}


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
        code = escape(python_code(run.data, run.settings))
        self._code.object = f'<pre tabindex="0" aria-label="Python code">{code}</pre>'
