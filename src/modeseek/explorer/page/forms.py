"""The forms: which data, and the settings of a run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import panel as pn

from modeseek.explorer.data import EXAMPLES, Data
from modeseek.explorer.page.theme import beside
from modeseek.explorer.settings import ALGORITHMS, POLICY_NAMES, PROFILE_NAMES, Settings, read_settings
from modeseek.selection.bandwidths import Range

__all__ = ["DataForm", "SettingsForm", "tick"]

NONE = "(none)"
WRAPPED = ".bk-input-group { display: flex; flex-flow: row wrap; gap: 0.1rem 0.7rem; } label { margin: 0; }"
FROM_DATA = "from the data"
# fields that an algorithm has
FIELDS = {
    "dsms": ("h_min", "h_inf", "h_max", "policy", "nu", "profile", "metric", "seed", "chains"),
    "sms": ("bandwidth", "profile", "metric", "seed", "chains"),
    "bms": ("bandwidth", "profile", "metric"),
    "ms": ("bandwidth", "profile", "metric"),
    "modeseek": ("metric", "seed"),
}


class SettingsForm:
    """The settings of one run.

    Parameters
    ----------
    name : str
        "A" or "B".
    changed : callable
        Called without arguments when a field changes.
    """

    def __init__(self, name: str, changed: Callable[[], None], algorithm: str = "dsms"):
        self.name = name
        self.heading = pn.pane.HTML(f"<h3>Run {name}</h3>", sizing_mode="stretch_width", margin=(6, 0, 0, 0))
        # the widgets hold words; `read_settings` makes sense of them
        self._fields: dict[str, Any] = {
            "algorithm": _select("algorithm", {text: word for word, text in ALGORITHMS.items()}, algorithm),
            **{field: _text(field, FROM_DATA) for field in ("h_min", "h_inf", "h_max", "bandwidth")},
            "policy": _select("policy", POLICY_NAMES, "shrinking"),
            "nu": _select("nu", ["log-log", "1/k", "0.6", "0.8"], "log-log"),
            "profile": _select("profile", PROFILE_NAMES, "biweight"),
            "metric": _select("metric", ["euclidean", "cosine"], "euclidean"),
            "seed": _text("seed", "", "0"),
            "chains": _text("chains", "", "1"),
        }
        for widget in self._fields.values():
            widget.param.watch(lambda event: changed(), "value")
        self._fields["algorithm"].param.watch(lambda event: self._fit(), "value")
        grid = pn.Column(
            *(self._fields[field] for field in self._fields if field != "algorithm"),
            stylesheets=beside("8rem"),
            sizing_mode="stretch_width",
        )
        self.layout = pn.Column(self.heading, self._fields["algorithm"], grid, sizing_mode="stretch_width")
        self._fit()

    def _fit(self) -> None:
        """Show the fields that the algorithm has."""
        has = FIELDS[self._fields["algorithm"].value]
        for field, widget in self._fields.items():
            widget.visible = field in has or field == "algorithm"

    def read(self) -> Settings:
        """Return the settings; an error names the run and the field."""
        try:
            return read_settings({field: widget.value for field, widget in self._fields.items()})
        except (ValueError, TypeError) as error:
            raise ValueError(f"Run {self.name}: {error}") from None

    def found(self, h: Range | None) -> None:
        """Show the bandwidths in force where fields are empty."""
        values = {"h_min": h.h_min, "h_inf": h.h_inf, "h_max": h.h_max, "bandwidth": h.h_max} if h else {}
        for field in ("h_min", "h_inf", "h_max", "bandwidth"):
            self._fields[field].placeholder = f"found: {values[field]:.3g}" if field in values else FROM_DATA

    def take(self, settings: Settings) -> None:
        """Write bandwidths into the fields."""
        for field in ("h_min", "h_inf", "h_max", "bandwidth"):
            value = getattr(settings, field)
            self._fields[field].value = "" if value is None else f"{value:g}"


class DataForm:
    """Which data, which columns, what to compare with.

    Parameters
    ----------
    chosen : callable
        Called with the name of an example.
    uploaded : callable
        Called with name and content of a file.
    changed : callable
        Called without arguments when columns or scaling change.
    compared : callable
        Called without arguments when known groups change.
    """

    def __init__(
        self,
        chosen: Callable[[str], None],
        uploaded: Callable[[str, bytes], None],
        changed: Callable[[], None],
        compared: Callable[[], None],
    ):
        self._quiet = False
        self.example = _select("example", [NONE, *EXAMPLES], NONE)
        self.file = pn.widgets.FileInput(
            label="or a file: CSV, Parquet, NPY, NPZ",
            accept=".csv,.tsv,.txt,.dat,.tab,.parquet,.pq,.npy,.npz",
            sizing_mode="stretch_width",
            margin=(3, 4),
        )
        self.columns = pn.widgets.CheckBoxGroup(
            options=[], inline=True, margin=(0, 4), sizing_mode="stretch_width", stylesheets=[WRAPPED]
        )
        self.standardise = tick("standardise (mean 0, deviation 1)")
        self.known = _select("known groups, to compare with", [NONE], NONE)
        self.about = pn.pane.HTML("", sizing_mode="stretch_width", margin=(0, 4))
        self.example.param.watch(lambda event: self._pick(chosen, event.new), "value")
        self.file.param.watch(lambda event: uploaded(self.file.filename or "file", event.new), "value")
        self.columns.param.watch(lambda event: self._tell(changed), "value")
        self.standardise.param.watch(lambda event: self._tell(changed), "value")
        self.known.param.watch(lambda event: self._tell(compared), "value")
        self.layout = pn.Column(
            self.example,
            self.file,
            self.about,
            pn.pane.HTML("<p>columns to cluster by</p>", margin=(3, 4, 0, 4)),
            pn.Column(self.columns, sizing_mode="stretch_width", styles={"max-height": "12rem", "overflow-y": "auto"}),
            self.standardise,
            self.known,
            sizing_mode="stretch_width",
        )

    def _pick(self, chosen: Callable[[str], None], name: str) -> None:
        if not self._quiet and name != NONE:
            chosen(name)

    def _tell(self, whom: Callable[[], None]) -> None:
        if not self._quiet:
            whom()

    def show(self, data: Data, example: str | None) -> None:
        """Show the columns of new data."""
        self._quiet = True
        try:
            self.example.value = example or NONE
            self.columns.options = list(data.numeric)
            self.columns.value = list(data.features) or list(data.numeric)
            self.standardise.value = self.standardise.options if data.standardise else []
            self.known.options = [NONE, *data.known]
            self.known.value = data.truth or NONE
        finally:
            self._quiet = False

    @property
    def truth(self) -> str | None:
        """The column of known groups."""
        return None if self.known.value == NONE else str(self.known.value)


def tick(name: str) -> Any:
    """Return a box to tick, whose value is empty where it is not: a group of one, because its label belongs to it."""
    return pn.widgets.CheckBoxGroup(options=[name], margin=(4, 4))


def _text(name: str, placeholder: str, value: str = "") -> Any:
    return pn.widgets.TextInput(
        label=name, value=value, placeholder=placeholder, sizing_mode="stretch_width", margin=(3, 4), min_width=60
    )


def _select(name: str, options: Any, value: str) -> Any:
    return pn.widgets.Select(
        label=name, options=options, value=value, sizing_mode="stretch_width", margin=(3, 4), min_width=60
    )
