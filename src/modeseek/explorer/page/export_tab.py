"""The tab with exports: labels, figures, Python code."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from html import escape

import panel as pn

from modeseek.explorer.animated_run import AnimatedRun
from modeseek.explorer.export import export_figure, export_labels, file_stem, python_code
from modeseek.explorer.page.messages import status

__all__ = ["ExportTab"]

NO_RESULT = status("No run has ended yet: press Run first.")


def _labels(run: AnimatedRun) -> bytes:
    assert run.result is not None
    return export_labels(run.data, run.result)


def _figure(suffix: str) -> Callable[[AnimatedRun], bytes]:
    def export(run: AnimatedRun) -> bytes:
        assert run.result is not None
        return export_figure(run.data, run.settings, run.result, suffix)

    return export


def _code(run: AnimatedRun) -> bytes:
    return (python_code(run.data, run.settings) + "\n").encode()


# by label: the end of the file name, and the function that makes the file
EXPORTS = {
    "Labels (CSV)": ("-clusters.csv", _labels),
    "Figure (PNG)": ("-clusters.png", _figure(".png")),
    "Figure (SVG)": ("-clusters.svg", _figure(".svg")),
    "Python code": (".py", _code),
}


class ExportTab:
    """Download buttons for the runs that have ended."""

    def __init__(self) -> None:
        self._runs: dict[str, AnimatedRun] = {}
        self.run_select = pn.widgets.Select(label="run", options=[], width=100, margin=3)
        self.run_select.param.watch(lambda event: self._show(), "value")
        self._buttons = [self._button(label, export) for label, (_, export) in EXPORTS.items()]
        self._summary = pn.pane.HTML(NO_RESULT, sizing_mode="stretch_width", margin=(4, 3))
        self._code = pn.pane.HTML("", sizing_mode="stretch_width", margin=(4, 3))
        self._downloads = pn.Column(
            self.run_select, pn.FlexBox(*self._buttons), self._code, sizing_mode="stretch_width", visible=False
        )
        self.layout = pn.Column(self._summary, self._downloads, sizing_mode="stretch_width", visible=False)

    def _button(self, label: str, export: Callable[[AnimatedRun], bytes]) -> pn.widgets.FileDownload:
        def content() -> io.BytesIO:
            return io.BytesIO(export(self._runs[self.run_select.value]))

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
