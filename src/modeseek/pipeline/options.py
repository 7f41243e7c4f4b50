"""The options of `cluster_file`: the columns to read, the files to write, and sizes and intervals."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from modeseek._common.text import NameSetting, printable, python_setting
from modeseek._common.types import Watcher
from modeseek._storage.formats.registry import format_of
from modeseek._storage.input_file import STANDARD_STREAM
from modeseek._storage.table import Table, unique_names
from modeseek.prepare import Note, TablePreparer
from modeseek.prepare.config import PrepareOptions


@dataclass(frozen=True)
class DataOptions(PrepareOptions):
    r"""How the columns of a file become features; see `modeseek.prepare.TablePreparer`.

    Attributes
    ----------
    columns : sequence of str, optional
        The columns to cluster, in this order. The default is all columns that can be clustered.
    ignore : sequence of str, default=()
        Columns that are not clustered. They are still written to the output.
    scale : {"standard", "robust", "log", "none"}, optional
        How features are scaled. The default is "standard". It is "none" if the metric of the estimator is "cosine" or
        "haversine", because subtracting the mean would change directions and places.
    encode : {"drop", "onehot"}, default="drop"
        What to do with text columns that have few different values.
    missing : {"drop", "median", "error"}, default="drop"
        What to do with rows that have missing values. Dropped rows are written without a cluster.
    missing_values : sequence of str, default=()
        Cells that stand for missing values, such as "-999".
    strict : bool, default=False
        Whether text and missing values raise an error.
    header : bool, optional
        Whether the first line of a text file holds column names. The default is to detect it.
    truth : str, optional
        A column with known groups. This column is not clustered; `PipelineResult.truth` compares the clusters with it.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from modeseek import MeanShift
    >>> from modeseek.pipeline import DataOptions, cluster_file
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "data.csv").write_text("name,x\na,0.0\nb,0.1\nc,5.0\n")
    >>> options = DataOptions(columns=["x"], scale="none")
    >>> cluster_file(folder / "data.csv", MeanShift(1.0), options).clusters.sizes
    array([2, 1])
    """

    scale: str | None = None
    header: bool | None = None
    truth: str | None = None

    def preparer(self, table: Table, metric: str) -> TablePreparer:
        """Return the unfitted preparer for a table with all columns, or for the first chunk of this table."""
        names = unique_names(table.columns)
        given = {each.name: getattr(self, each.name) for each in fields(PrepareOptions)}
        if self.columns is not None:
            given["columns"] = split_names(self.columns, names)
        given["ignore"] = (*split_names(self.ignore, names), *(() if self.truth is None else (self.truth,)))
        if self.scale is None:
            given["scale"] = "standard" if metric == "euclidean" else "none"
        given["missing_values"] = tuple(code.strip() for each in self.missing_values for code in str(each).split(","))
        return TablePreparer(**given)


def split_names(names: Sequence[str], columns: Sequence[str]) -> list[str]:
    """Split lists of column names at commas; a name in `columns` that contains a comma stays whole.

    Examples
    --------
    >>> split_names(["a,b, c"], ["a", "b, c"])
    ['a', 'b, c']
    """
    found = []
    for name in names:
        parts = name.split(",")
        while parts:
            joined = [",".join(parts[:count]).strip() for count in range(len(parts), 1, -1)]
            # the longest run of parts that is the name of a column
            taken = next((each for each in joined if each in columns), parts[0].strip())
            found.append(taken)
            parts = parts[taken.count(",") + 1 :]
    return [name for name in found if name]


@dataclass(frozen=True)
class Outputs:
    r"""The files that `cluster_file` writes; None means that a file is not written.

    Attributes
    ----------
    rows : str, optional
        The input rows, in their order, with a column of labels and, if the estimator computes it, a column of
        confidence. The suffix selects the format; "-" writes CSV to standard output.
    json : str, optional
        A summary as JSON; "-" writes it to standard output.
    plot : str, optional
        A picture of the clusters (PNG, SVG or PDF).
    report : str, optional
        A report in HTML.
    model : str, optional
        The fitted model, for `modeseek.io.load` and `label_file`.
    label_column : str, default="cluster"
        Name of the column of labels.
    guard_formulas : bool, default=False
        Whether an apostrophe is put in front of cells of a text file that a spreadsheet would run as formulas.
    name_setting : callable, optional
        Function that returns the text for a setting in the report; see `modeseek.report.write_report`.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from modeseek import MeanShift
    >>> from modeseek.pipeline import DataOptions, Outputs, cluster_file
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "data.csv").write_text("name,x\na,0.0\nb,0.1\nc,5.0\n")
    >>> outputs = Outputs(rows=str(folder / "found.csv"), label_column="group")
    >>> _ = cluster_file(folder / "data.csv", MeanShift(1.0), DataOptions(columns=["x"], scale="none"), outputs)
    >>> (folder / "found.csv").read_text().split()
    ['name,x,group', 'a,0.0,0', 'b,0.1,0', 'c,5.0,1']
    """

    rows: str | None = None
    json: str | None = None
    plot: str | None = None
    report: str | None = None
    model: str | None = None
    label_column: str = "cluster"
    guard_formulas: bool = False
    name_setting: NameSetting = python_setting

    def paths(self) -> dict[str, str]:
        """Return the paths of the files to write, by field name; standard output is left out."""
        named = {name: getattr(self, name) for name in ("rows", "json", "plot", "report", "model")}
        return {name: path for name, path in named.items() if path not in (None, STANDARD_STREAM)}

    @property
    def is_text(self) -> bool:
        """Whether the rows are written as text."""
        return self.rows is not None and format_of(self.rows) is format_of(STANDARD_STREAM)


@dataclass(frozen=True)
class PipelineConfig:
    """Sizes and intervals of the pipeline. None of them changes a label.

    Attributes
    ----------
    chunk_bytes : int
        Size of a chunk when a file is read in chunks.
    large_file_bytes : int
        Files with more bytes are read in chunks by default. A text file takes about ten times its size in memory.
    save_interval : float
        Minimum number of seconds between two saves of the resume state.
    save_cost_ratio : float
        Minimum ratio of the time between two saves to the duration of a save.
    dask_part_bytes : int
        Size of the parts into which a file is divided for the workers of a Dask scheduler.
    scheduler_timeout : float
        Seconds to wait for an answer of a Dask scheduler.
    followed_values : int
        A note names the columns that the clusters follow, if they have at most this many distinct values.
    followed_share : float
        Clusters follow a column if the cluster determines the value of the column for at least this share of the rows.
        Rows with the most frequent value are not counted.

    Examples
    --------
    >>> from modeseek.pipeline import PipelineConfig
    >>> PipelineConfig(chunk_bytes=1 << 20).chunk_bytes  # cluster_file(..., config=PipelineConfig(...))
    1048576
    """

    chunk_bytes: int = 1 << 23
    large_file_bytes: int = 200_000_000
    save_interval: float = 2.0
    save_cost_ratio: float = 20.0
    dask_part_bytes: int = 1 << 26
    scheduler_timeout: float = 10.0
    followed_values: int = 10
    followed_share: float = 0.9


@dataclass(frozen=True, eq=False)
class PipelineJob:
    """One call of `cluster_file`.

    Attributes
    ----------
    files : tuple of str
        The files to read.
    estimator : estimator of this library
        The estimator, which is fitted in place.
    data, outputs, config
        The options of the call.
    resume : bool
        Whether to resume from the state that an interrupted call left.
    progress : callable or None
        Called with a `Stage`.
    notify : callable or None
        Called with a `Note`.
    notes : list of Note
        The notes so far.
    """

    files: tuple[str, ...]
    estimator: Any
    data: DataOptions
    outputs: Outputs
    config: PipelineConfig
    resume: bool = True
    progress: Watcher | None = None
    notify: Callable[[Note], None] | None = None
    notes: list[Note] = field(default_factory=list)

    @property
    def title(self) -> str:
        """A short name of the input for titles: a file name, a number of files, or "standard input"."""
        if len(self.files) > 1:
            return f"{len(self.files):,} files"
        return "standard input" if self.files[0] == STANDARD_STREAM else printable(Path(self.files[0]).name)

    @property
    def metric(self) -> str:
        """The metric of the estimator."""
        return str(self.estimator.get_params(deep=False)["metric"])

    def note(self, *notes: Note | str) -> None:
        """Add notes, and pass them to `notify`."""
        for each in notes:
            self.notes.append(Note(each) if isinstance(each, str) else each)
            self.tell(self.notes[-1])

    def tell(self, note: Note | str) -> None:
        """Pass a note to `notify`, but leave it out of the result, because it concerns this call only."""
        if self.notify is not None:
            self.notify(Note(note) if isinstance(note, str) else note)


def as_files(source: str | os.PathLike[str] | Sequence[str | os.PathLike[str]]) -> tuple[str, ...]:
    """Return a path, or a sequence of paths, as a tuple of strings."""
    several = [source] if isinstance(source, str | os.PathLike) else source
    return tuple(os.fspath(each) for each in several)
