"""The view of exports: labels, pictures, Python."""

from __future__ import annotations

import io
from collections.abc import Mapping
from html import escape

import panel as pn

from modeseek.explorer.export import labels_csv, picture, python_code, stem
from modeseek.explorer.run import Run

__all__ = ["ExportView"]

EMPTY = '<p class="state">Nothing has ended yet: press Run first.</p>'


class ExportView:
    """Offers what ended runs leave."""

    def __init__(self) -> None:
        self._runs: dict[str, Run] = {}
        self.which = pn.widgets.Select(label="run", options=[], width=100, margin=3)
        self.which.param.watch(lambda event: self._show(), "value")
        self.buttons = [
            pn.widgets.FileDownload(callback=call, label=label, width=190, margin=4)
            for label, call in (
                ("Labels (CSV)", lambda: self._bytes("labels")),
                ("Picture (PNG)", lambda: self._bytes(".png")),
                ("Picture (SVG)", lambda: self._bytes(".svg")),
                ("Python code", lambda: self._bytes("code")),
            )
        ]
        self.about = pn.pane.HTML(EMPTY, sizing_mode="stretch_width", margin=(4, 3))
        self.code = pn.pane.HTML("", sizing_mode="stretch_width", margin=(4, 3))
        self._offers = pn.Column(
            self.which, pn.FlexBox(*self.buttons), self.code, sizing_mode="stretch_width", visible=False
        )
        self.layout = pn.Column(self.about, self._offers, sizing_mode="stretch_width", visible=False)

    def show(self, runs: Mapping[str, Run]) -> None:
        """Offer what these runs found."""
        if runs == self._runs:
            return
        self._runs = dict(runs)
        self.which.options = list(runs)
        if runs:
            self.which.value = next(iter(runs))
        self._show()

    def _show(self) -> None:
        run = self._runs.get(self.which.value)
        self._offers.visible = run is not None
        if run is None or run.result is None:
            self.about.object, self.code.object = EMPTY, ""
            return
        name = stem(run.subject)
        for button, ending in zip(
            self.buttons, ("-clusters.csv", "-clusters.png", "-clusters.svg", ".py"), strict=True
        ):
            button.filename = name + ending
        kept = "cluster and confidence" if run.result.confidence is not None else "cluster"
        self.about.object = (
            f'<p class="state">Rows of {escape(run.subject.data.name)} with their {kept}, the picture, '
            "and the Python lines that give the same labels.</p>"
        )
        self.code.object = (
            f'<pre tabindex="0" aria-label="Python code">{escape(python_code(run.subject, run.settings))}</pre>'
        )

    def _bytes(self, what: str) -> io.BytesIO:
        run = self._runs[self.which.value]
        assert run.result is not None
        if what == "labels":
            return io.BytesIO(labels_csv(run.subject, run.result))
        if what == "code":
            return io.BytesIO((python_code(run.subject, run.settings) + "\n").encode())
        return io.BytesIO(picture(run.subject, run.settings, run.result, what))
