"""The pipeline on a Dask cluster: the workers read, label and write the rows."""

import logging
import os
import secrets
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from modeseek._common.types import Array
from modeseek._storage import (
    STANDARD_STREAM,
    DataError,
    NameTakenError,
    SourceChangedError,
    check_target,
    input_format,
)
from modeseek.estimators.table import RowCounts
from modeseek.pipeline.errors import OptionError, PipelineInterrupted, SchedulerError
from modeseek.pipeline.fit import run_fit
from modeseek.pipeline.options import PipelineJob
from modeseek.pipeline.outputs import added_columns, spread, write_extras
from modeseek.pipeline.result import PipelineResult, make_result
from modeseek.prepare import TablePreparer
from modeseek.prepare.preparation import PrepareOptions, Statistics
from modeseek.prepare.preparer import as_table
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
        A clause for the error message: what remains if the scheduler or its workers stop.
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
    # its errors are raised below
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
    """Have the workers of a Dask cluster read files, and label and write their rows."""
    _check(job)
    stamps = _stamps(job)
    with connect(address, "nothing was written", timeout=job.config.scheduler_timeout):
        frame = _read(job)
        columns = [str(name) for name in frame.columns]
        if job.outputs.rows is not None and job.outputs.label_column in columns:
            raise NameTakenError(job.title, job.outputs.label_column)
        preparer = _prepare(job, frame)
        job.note(*preparer.notes_)
        X = frame.map_partitions(partial(_matrix, preparer), meta=_matrix(preparer, None))
        fit = run_fit(job, lambda: job.estimator.fit(X))
        if fit.interrupted:
            raise PipelineInterrupted(None)
        if job.estimator.result_.sketch is not None:
            job.note(f"clustered by a sketch: {job.estimator.result_.sketch}")
        counts = _label(job, frame, preparer, stamps)
    result = make_result(job, preparer, counts, fit.seconds)
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


def _read(job: PipelineJob) -> Any:
    import dask.dataframe as dd
    import pandas

    if input_format(job.files[0]).name == "Parquet":
        read = dd.read_parquet
    else:
        options: dict[str, Any] = {} if job.data.header is not False else {"header": None}
        if tuple(int(part) for part in pandas.__version__.split(".")[:2]) < (3, 1):
            # the nearest double, as everywhere else; later versions of pandas do so by default
            options["float_precision"] = "round_trip"
        tabs = all(Path(file).suffix.lower() == ".tsv" for file in job.files)
        read = partial(dd.read_csv, sep="\t" if tabs else ",", **options)
    try:
        # one by one: Dask would sort the files
        parts = [read(os.path.abspath(file) if "://" not in file else file) for file in job.files]
        return parts[0] if len(parts) == 1 else dd.concat(parts)
    except (OSError, ValueError) as error:
        raise DataError(f"cannot read: {error}") from error


def _stamps(job: PipelineJob) -> dict[str, tuple[int, int]]:
    """Return size and modification time of the files; those of remote files are unknown."""
    return {file: (os.stat(file).st_size, os.stat(file).st_mtime_ns) for file in job.files if os.path.isfile(file)}


def _prepare(job: PipelineJob, frame: Any) -> TablePreparer:
    """Return a fitted preparer: the same statistics, in the same order, as without Dask."""
    from dask import delayed

    first = as_table(frame.partitions[0].compute(), job.title)
    preparer = job.data.preparer(first, job.metric)
    options = preparer.options()
    start = Statistics.start(first, options)
    while True:
        statistics: Any = start
        for part in frame.to_delayed():
            statistics = delayed(partial(_add_statistics, job.title, options), pure=False)(statistics, part)
        statistics = statistics.compute()
        features = statistics.plan(first, options).features
        if features == statistics.features:
            preparer.finish(statistics, first, job.metric)
            return preparer
        start = statistics.restart(features)


def _matrix(preparer: TablePreparer, part: Any) -> Any:
    """Return the prepared rows of a partition; a frame without rows if it is None."""
    import pandas as pd

    names = preparer.preparation_.names
    rows = np.empty((0, len(names))) if part is None or not len(part) else preparer.transform(part)
    return pd.DataFrame(rows, columns=list(names))


def _add_statistics(title: str, options: PrepareOptions, statistics: Statistics, part: Any) -> Statistics:
    table = as_table(part, title)
    return statistics.add(table, statistics.values(table, options), options) if table.n_rows else statistics


def _label(job: PipelineJob, frame: Any, preparer: TablePreparer, stamps: dict[str, tuple[int, int]]) -> RowCounts:
    """Label, write and count the rows; the output folder gets its name when it is complete."""
    from dask import compute, delayed

    fit = job.estimator.result_
    columns = added_columns(job, [str(name) for name in frame.columns], fit.labels, fit.confidence)
    folder = None if job.outputs.rows is None else Path(job.outputs.rows).absolute()
    # a random name: an existing folder may hold other files
    draft = None if folder is None else folder.with_name(f"{folder.name}.{secrets.token_hex(8)}.part")
    if draft is not None:
        draft.mkdir()
    try:
        parts = frame.to_delayed() if draft is not None else [None] * frame.npartitions
        added = zip(*(each.to_delayed() for each in columns.values()), strict=True)
        write = partial(_write_part, draft, preparer, tuple(columns), fit.n_clusters)
        jobs = [delayed(write, pure=False)(*each) for each in enumerate(zip(parts, added, strict=True))]
        counts: Sequence[RowCounts] = compute(*jobs)
        for file, stamp in _stamps(job).items():
            if stamp != stamps[file]:
                raise SourceChangedError(f"'{file}'")
        if draft is not None and folder is not None:
            draft.rename(folder)
    except BaseException:
        if draft is not None:
            shutil.rmtree(draft, ignore_errors=True)
        raise
    return RowCounts.joined(counts)


def _write_part(
    folder: Path | None,
    preparer: TablePreparer,
    names: tuple[str, ...],
    n_clusters: int,
    number: int,
    part: tuple[Any, tuple[Array, ...]],
) -> RowCounts:
    rows, added = part
    if folder is not None:
        target = folder / f"part.{number:06d}.parquet"
        draft = target.with_suffix(".draft")  # a worker that dies leaves no incomplete part
        columns = dict(zip(names, added, strict=True))
        if len(added[0]) < len(rows):
            import pandas as pd

            complete = preparer.complete_rows(rows)
            columns = {name: pd.array(spread(each, complete)) for name, each in columns.items()}
        rows.assign(**columns).to_parquet(draft)
        draft.replace(target)
    return RowCounts().add(added[0], added[1] if len(added) > 1 else None, n_clusters)
