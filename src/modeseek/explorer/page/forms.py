"""The forms of the page: the data, and the settings of a run."""

from collections.abc import Callable, Mapping
from typing import Any

import panel as pn

from modeseek._storage.formats.registry import FORMATS
from modeseek.explorer.dataset import EXAMPLES, Dataset
from modeseek.explorer.page.style import column, html_pane, side_by_side
from modeseek.explorer.run_settings import ALGORITHMS, BANDWIDTHS, FIELDS, RunSettings, read_settings

NONE = "(none)"
# Bokeh gives all labels but the first a margin, which would misalign wrapped lines; the last rule removes it
WRAPPED = (
    ".bk-input-group { display: flex; flex-flow: row wrap; gap: 0.1rem 0.7rem; }"
    ".bk-input-group > label:nth-child(n) { margin: 0; }"
)
AUTOMATIC = "automatic"
WIDGET_OPTIONS: dict[str, Any] = {"sizing_mode": "stretch_width", "margin": (3, 4), "min_width": 60}


class SettingsForm:
    """The settings of one run.

    Parameters
    ----------
    name : str
        "A" or "B".
    changed : callable
        Called without arguments when a field changes.
    algorithm : str
        Algorithm at the start.
    """

    def __init__(self, name: str, changed: Callable[[], None], algorithm: str):
        self.name = name
        self.heading = html_pane(f"<h3>Run {name}</h3>", margin=(6, 0, 0, 4))
        self.algorithm = pn.widgets.Select(
            label="algorithm",
            options=list(ALGORITHMS),
            value=algorithm,
            description="ModeSeek needs no setting. The mean shifts move points, which the plot shows.",
            **WIDGET_OPTIONS,
        )
        self._widgets: dict[str, Any] = {}
        for parameter, field in FIELDS.items():
            options = {"label": field.label, "value": field.default, "description": field.help, **WIDGET_OPTIONS}
            if field.choices:
                widget = pn.widgets.Select(options=list(field.choices), **options)
            else:
                widget = pn.widgets.TextInput(placeholder="" if field.default else AUTOMATIC, **options)
            self._widgets[parameter] = widget
        for widget in (self.algorithm, *self._widgets.values()):
            widget.param.watch(lambda event: changed(), "value")
        self.algorithm.param.watch(lambda event: self._show_fields(), "value")
        grid = column(*self._widgets.values(), stylesheets=side_by_side("8rem"))
        self.layout = column(self.heading, self.algorithm, grid)
        self._show_fields()

    def _show_fields(self) -> None:
        fields = RunSettings(self.algorithm.value).fields
        for parameter, widget in self._widgets.items():
            widget.visible = parameter in fields

    def read(self) -> RunSettings:
        """Return the settings; an error names the run and the field."""
        texts = {parameter: widget.value for parameter, widget in self._widgets.items()}
        try:
            return read_settings(self.algorithm.value, texts)
        except (ValueError, TypeError) as error:
            raise ValueError(f"Run {self.name}: {error}") from None

    def show_automatic(self, bandwidths: Mapping[str, float]) -> None:
        """Show the bandwidths that the run has chosen in the fields that were left empty."""
        for parameter in BANDWIDTHS:
            found = f"auto: {bandwidths[parameter]:.3g}" if parameter in bandwidths else AUTOMATIC
            self._widgets[parameter].placeholder = found

    def set_bandwidths(self, settings: RunSettings) -> None:
        """Fill in the bandwidths of the settings."""
        for parameter in BANDWIDTHS:
            value = settings.parameters.get(parameter)
            self._widgets[parameter].value = "" if value is None else f"{value:g}"


class DataForm:
    """The dataset, the columns to cluster, and known groups.

    Parameters
    ----------
    example_chosen : callable
        Called with the name of an example.
    uploaded : callable
        Called with the name and the content of a file.
    columns_changed, groups_changed : callable
        Called without arguments.
    """

    def __init__(
        self,
        example_chosen: Callable[[str], None],
        uploaded: Callable[[str, bytes], None],
        columns_changed: Callable[[], None],
        groups_changed: Callable[[], None],
    ):
        self._filling = False
        self.example = pn.widgets.Select(label="example", options=[NONE, *EXAMPLES], value=NONE, **WIDGET_OPTIONS)
        self.file = pn.widgets.FileInput(
            label="or a file",
            description=f"{', '.join(dict.fromkeys(each.name for each in FORMATS.values()))}.",
            accept=",".join(FORMATS),
            sizing_mode="stretch_width",
            margin=(3, 4),
        )
        self.columns = pn.widgets.CheckBoxGroup(
            options=[], inline=True, margin=(0, 4), sizing_mode="stretch_width", stylesheets=[WRAPPED]
        )
        self.standardize = checkbox("standardise columns")
        self.groups = pn.widgets.Select(
            label="known groups",
            options=[NONE],
            value=NONE,
            description="A column to compare the clusters with. It is not used for clustering.",
            **WIDGET_OPTIONS,
        )
        self.summary = html_pane(margin=(0, 4))
        self.file.param.watch(lambda event: uploaded(self.file.filename or "file", event.new), "value")
        self._watch(self.example, lambda: None if self.example.value == NONE else example_chosen(self.example.value))
        self._watch(self.columns, columns_changed)
        self._watch(self.standardize, columns_changed)
        self._watch(self.groups, groups_changed)
        self.layout = column(
            self.example,
            self.file,
            self.summary,
            pn.pane.HTML("<p>columns to cluster</p>", margin=(3, 4, 0, 4)),
            pn.Column(self.columns, sizing_mode="stretch_width", styles={"max-height": "12rem", "overflow-y": "auto"}),
            self.standardize,
            self.groups,
        )

    def _watch(self, widget: Any, changed: Callable[[], None]) -> None:
        widget.param.watch(lambda event: None if self._filling else changed(), "value")

    def fill(self, dataset: Dataset, example: str | None) -> None:
        """Show the columns of a dataset; the callbacks are not called."""
        self._filling = True
        try:
            self.example.value = example or NONE
            self.columns.options = list(dataset.numeric)
            self.columns.value = list(dataset.default_columns) or list(dataset.numeric)
            self.standardize.value = self.standardize.options if dataset.standardize else []
            self.groups.options = [NONE, *dataset.group_columns]
            self.groups.value = dataset.default_groups or NONE
        finally:
            self._filling = False

    @property
    def group_column(self) -> str | None:
        """The column of known groups."""
        return None if self.groups.value == NONE else str(self.groups.value)


def checkbox(label: str) -> Any:
    """Return a checkbox whose value is falsy if it is not checked; in a group of one, the label can be clicked."""
    return pn.widgets.CheckBoxGroup(options=[label], margin=(4, 4))
