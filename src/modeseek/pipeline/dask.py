"""The pipeline on a Dask cluster: the workers read, label and write the rows."""

import logging
import os
import secrets
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial, reduce
from operator import or_
from pathlib import Path
from typing import Any

import numpy as np

from modeseek._common.types import Array
from modeseek._storage.atomic import check_target
from modeseek._storage.chunks import open_chunks
from modeseek._storage.contents import Content
from modeseek._storage.errors import DataError
from modeseek._storage.formats.base import OutputSpec
from modeseek._storage.formats.reader import Reader
from modeseek._storage.formats.registry import format_of, input_format
from modeseek._storage.input_file import STANDARD_STREAM, is_remote
from modeseek._storage.reading import read_table
from modeseek._storage.table import Table, unique_names
from modeseek._storage.unpacking import given_limit, limit_unpacked
from modeseek._storage.writing import check_writable, with_columns
from modeseek.estimators.table import RowCounts
from modeseek.pipeline.errors import OptionError, PipelineInterrupted, SchedulerError
from modeseek.pipeline.fit import run_fit
from modeseek.pipeline.options import PipelineJob
from modeseek.pipeline.outputs import added_columns, empty_elsewhere, write_extras
from modeseek.pipeline.result import PipelineResult, result_of_job
from modeseek.prepare import TablePreparer
from modeseek.prepare.config import PrepareOptions
from modeseek.prepare.preparation import Statistics
from modeseek.sketches import DaskError, dask_errors

MESSAGES = {
    "scheduler": "the Dask scheduler at '{0}' stopped or was restarted: start it and its workers again, and repeat the "
    "call",
    "workers": "workers died repeatedly on one part of the data, probably for lack of memory: start them with a larger "
    "--memory-limit, and repeat the call",
    "modeseek": "the scheduler at '{0}' or its workers cannot read the tasks: install the same version of modeseek "
    "there as here",
}


@contextmanager
def connect(address: str, kept: str, *, timeout: float = 10.0) -> Iterator[Any]:
    """Connect to a Dask scheduler while the block runs.

    Parameters
    ----------
    address : str
        Address of the scheduler, such as "tcp://127.0.0.1:8786".
    kept : str
        Clause for the error message that says which work is kept if the scheduler stops, such as "nothing was written".
    timeout : float
        Seconds to wait for an answer.

    Raises
    ------
    SchedulerError
        If the scheduler does not answer, has no workers, or stops.
    """
    try:
        from distributed import Client
    except ImportError as error:
        raise SchedulerError(address, "a Dask scheduler needs Dask: pip install 'modeseek[dask]'.") from error
    # the client does not log its errors, which are raised as `SchedulerError` below
    logging.getLogger("distributed.client").setLevel(logging.CRITICAL + 1)
    try:
        client = Client(address, timeout=timeout)
    except (OSError, ValueError) as error:
        raise SchedulerError(
            address,
            f"no Dask scheduler answers at '{address}': start one with 'dask scheduler', and use the address that it "
            "prints, such as tcp://127.0.0.1:8786.",
        ) from error
    with client:
        if not client.scheduler_info()["workers"]:
            message = f"the scheduler at '{address}' has no workers: start some with 'dask worker {address}'."
            raise SchedulerError(address, message)
        try:
            with dask_errors():
                yield client
        except DaskError as error:
            raise SchedulerError(address, f"{MESSAGES[error.what].format(address)}; {kept}.") from error


def cluster_on_dask(job: PipelineJob, address: str) -> PipelineResult:
    """Run the pipeline on the workers of a Dask cluster, which read the files, and label and write their rows."""
    _check(job)
    with connect(address, "nothing was written", timeout=job.config.scheduler_timeout):
        rows = _open_rows(job)
        first, columns = rows.first, rows.first.columns
        if job.outputs.rows is not None:
            first.check_free(job.outputs.label_column)
            check_writable(first, job.outputs.rows, unique_names(columns))
        preparer = _prepare(job, rows)
        job.note(*first.notes, *preparer.notes_)
        X = rows.frame(preparer)
        fit = run_fit(job, lambda: job.estimator.fit(X))
        if fit.interrupted:
            raise PipelineInterrupted(None)
        if job.estimator.result_.sketch is not None:
            job.note(f"clustered by a sketch: {job.estimator.result_.sketch}")
        counts = _label(job, rows, preparer)
    result = result_of_job(job, preparer, counts, fit.seconds)
    write_extras(job, result, None)
    return result


def _check(job: PipelineJob) -> None:
    outputs = job.outputs
    for name in ("model", "plot", "report"):
        if getattr(outputs, name) is not None:
            raise OptionError(name, "needs the rows, which stay on the workers of the Dask scheduler: leave it out.")
    if STANDARD_STREAM in job.files:
        raise DataError("a Dask scheduler cannot read standard input: name the files.")
    if {input_format(file).name for file in job.files} not in ({"Parquet"}, {"delimited text"}):
        raise DataError("a Dask scheduler reads Parquet or CSV, all files in one format: convert the others first.")
    if outputs.rows is not None:
        check_target(outputs.rows, [".parquet"])
        if Path(outputs.rows).exists():
            raise DataError(
                f"'{outputs.rows}' exists, but a Dask scheduler needs a new output folder: use another name."
            )


@dataclass(frozen=True, eq=False)
class _DaskRows:
    """Rows of files, in parts that workers read.

    Attributes
    ----------
    parts : list of delayed Table
    first : Table
        The rows of the first part.
    readers : list of Reader
        Readers of the local files.
    """

    parts: list[Any]
    first: Table
    readers: list[Reader]

    def contents(self) -> tuple[Content, ...]:
        """Return the kinds of values in each column, over all parts."""
        from dask import compute, delayed

        found = compute(*[delayed(Table.contents, pure=False)(part) for part in self.parts])
        return tuple(reduce(or_, each) for each in zip(*found, strict=True))

    def frame(self, preparer: TablePreparer) -> Any:
        """Return the prepared rows as a Dask collection."""
        import dask.dataframe as dd
        from dask import delayed

        prepare = delayed(partial(_matrix, preparer), pure=False)
        return dd.from_delayed([prepare(part) for part in self.parts], _matrix(preparer, None))


def _open_rows(job: PipelineJob) -> _DaskRows:
    from dask import delayed

    # not Dask's own readers: they convert integers with missing values to floats, and treat [ and * in a name as a
    # pattern
    sources: list[tuple[Reader | str, tuple[int, int]]] = []
    readers: list[Reader] = []
    for file in job.files:
        if is_remote(file):
            sources.append((file, (0, -1)))
            continue
        readers += open_chunks([os.path.abspath(file)], header=job.data.header).readers
        sources += [(readers[-1], part) for part in readers[-1].parts(job.config.dask_part_bytes)]
    load = delayed(partial(_load, job.data.header, given_limit()), pure=False)
    first = load(*sources[0]).compute()
    check = delayed(partial(_check_alike, first.data.schema), pure=False)
    return _DaskRows([check(load(*each)) for each in sources], first, readers)


def _load(header: bool | None, bound: float | None, source: Reader | str, part: tuple[int, int]) -> Table:
    with limit_unpacked(bound):
        table = read_table(source, header=header) if isinstance(source, str) else source.read_part(part)
    return replace(table, find_lines=None)


def _check_alike(schema: Any, table: Table) -> Table:
    if not table.data.schema.equals(schema):
        raise DataError(f"{table.source} has other columns than the first file: give files with the same columns.")
    return table


def _prepare(job: PipelineJob, rows: _DaskRows) -> TablePreparer:
    """Return a fitted preparer. Its statistics add up the parts in the order of the rows, as without Dask."""
    from dask import delayed

    first = rows.first
    preparer = job.data.preparer(first, job.metric)
    options = preparer.options()
    add = delayed(partial(_add_statistics, options), pure=False)
    start: Statistics | None = Statistics.start(first, options)
    while start is not None:
        lazy: Any = reduce(add, rows.parts, start)
        statistics: Statistics = lazy.compute()
        start = statistics.next_pass(first, options)
    preparer.finish(statistics, first, job.metric)
    return preparer


def _matrix(preparer: TablePreparer, table: Table | None) -> Any:
    """Return the prepared rows of a part as a DataFrame, which is empty if the part is None."""
    import pandas as pd

    names = preparer.preparation_.names
    rows = np.empty((0, len(names))) if table is None or not table.n_rows else preparer.transform(table)
    return pd.DataFrame(rows, columns=list(names))


def _add_statistics(options: PrepareOptions, statistics: Statistics, table: Table) -> Statistics:
    return statistics.add(table, options)[0] if table.n_rows else statistics


def _label(job: PipelineJob, rows: _DaskRows, preparer: TablePreparer) -> RowCounts:
    """Label and write the rows, and return their counts; the output folder gets its name when it is complete."""
    from dask import compute, delayed

    fit = job.estimator.result_
    columns = added_columns(job, rows.first.columns, fit.labels, fit.confidence)
    contents = rows.contents() if job.outputs.rows is not None and rows.first.delimiter is not None else ()
    spec = OutputSpec(0, rows.first.columns, tuple(columns), contents, preparer.kept_columns_)
    folder = None if job.outputs.rows is None else Path(job.outputs.rows).absolute()
    # a random name: a folder with a fixed name could exist and hold other files
    draft = None if folder is None else folder.with_name(f"{folder.name}.{secrets.token_hex(8)}.part")
    if draft is not None:
        draft.mkdir()
    try:
        parts = rows.parts if draft is not None else [None] * len(rows.parts)
        added = zip(*(each.to_delayed() for each in columns.values()), strict=True)
        write = partial(_write_part, draft, preparer, spec, fit.n_clusters)
        jobs = [delayed(write, pure=False)(*each) for each in enumerate(zip(parts, added, strict=True))]
        counts: Sequence[RowCounts] = compute(*jobs)
        for reader in rows.readers:
            reader.file.check_unchanged(reader.stamp)
        if draft is not None and folder is not None:
            # incomplete files of workers that died, or files of workers that were too late
            for left in draft.glob("*.draft"):
                left.unlink(missing_ok=True)
            draft.rename(folder)
    except BaseException:
        if draft is not None:
            shutil.rmtree(draft, ignore_errors=True)
        raise
    return RowCounts.joined(counts)


def _write_part(
    folder: Path | None,
    preparer: TablePreparer,
    spec: OutputSpec,
    n_clusters: int,
    number: int,
    part: tuple[Table, tuple[Array, ...]],
) -> RowCounts:
    table, added = part
    if folder is not None:
        target = folder / f"part.{number:06d}.parquet"
        draft = target.with_name(f"{target.stem}.{secrets.token_hex(8)}.draft")
        complete = preparer.complete_rows(table) if table.n_rows else np.zeros(0, bool)
        columns = dict(zip(spec.added, (empty_elsewhere(each, complete) for each in added), strict=True))
        format_of(target).write(draft, spec, [with_columns(table, columns)])
        # if a worker dies, no incomplete part has this name; if two workers write a part, they write the same rows
        draft.replace(target)
    return RowCounts().add(added[0], added[1] if len(added) > 1 else None, n_clusters)
