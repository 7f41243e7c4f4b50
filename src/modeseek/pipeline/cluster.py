"""`cluster_file`, which clusters the rows of data files, and the pipeline for a file that fits into memory."""

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from modeseek._common.types import Watcher
from modeseek._storage.formats.registry import input_format
from modeseek._storage.input_file import STANDARD_STREAM
from modeseek._storage.reading import read_table
from modeseek._storage.writing import check_writable, write_table
from modeseek.estimators.table import RowCounts
from modeseek.pipeline.errors import OptionError, PipelineInterrupted
from modeseek.pipeline.fit import check_directions, run_fit
from modeseek.pipeline.options import DataOptions, Note, Outputs, PipelineConfig, PipelineJob, as_files
from modeseek.pipeline.outputs import Shown, added_columns, check_outputs, write_extras
from modeseek.pipeline.result import PipelineResult, result_of_job
from modeseek.pipeline.result_notes import filled_notes
from modeseek.pipeline.truth import TruthComparison

DEFAULT_DATA = DataOptions()
DEFAULT_OUTPUTS = Outputs()
DEFAULT_CONFIG = PipelineConfig()


def cluster_file(
    source: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    estimator: Any,
    data: DataOptions = DEFAULT_DATA,
    outputs: Outputs = DEFAULT_OUTPUTS,
    *,
    out_of_core: bool | None = None,
    scheduler: str | None = None,
    resume: bool = True,
    progress: Watcher | None = None,
    notify: Callable[[Note], None] | None = None,
    config: PipelineConfig = DEFAULT_CONFIG,
) -> PipelineResult:
    """Cluster the rows of a file, or of several files with the same columns, and write the outputs.

    Outputs that cannot be written raise an error before the work begins. An output file appears only when it is
    complete.

    Parameters
    ----------
    source : str, path-like or sequence of these
        A data file, as `modeseek.prepare.read_table` reads it; "-" reads text from standard input. Several files are
        read in chunks.
    estimator : estimator of this library
        The estimator to fit, such as `ModeSeek(random_state=0)`. It is fitted in place.
    data : DataOptions
        Which columns are clustered, and how they are prepared.
    outputs : Outputs
        The files to write.
    out_of_core : bool, optional
        Whether to read in chunks. The files may then be larger than memory, and are read up to three times: to scale
        the features, to make a sketch (weighted points that stand for many rows), and to label the rows after a fit
        of the sketch. By default, several files and files above 200 MB are read in chunks.
    scheduler : str, optional
        Address of a Dask scheduler, such as "tcp://127.0.0.1:8786". Its workers read the files (Parquet or CSV) and
        write `outputs.rows`, a folder of Parquet files.
    resume : bool, default=True
        A call that reads in chunks and is interrupted or killed leaves its state in a folder next to `outputs.rows`.
        If True, the same call resumes from this state; if False, it starts over.
    progress : callable, optional
        Called with a `Stage` after each chunk.
    notify : callable, optional
        Called with each `Note` as soon as it is known. The result also has these notes, except those about resuming.
    config : PipelineConfig
        Sizes and time intervals, such as the size of a chunk.

    Returns
    -------
    PipelineResult

    Raises
    ------
    DataError
        If a file cannot be read or written, or if columns that must be numeric hold other values.
    SourceChangedError
        If a file changed while it was read. The state from which a call can resume is kept.
    OutputConflict
        If two outputs, or an output and an input, are the same file.
    ResumeMismatch
        If the folder next to the output holds the state of a different call.
    PipelineInterrupted
        After Ctrl-C. This `KeyboardInterrupt` says what was written or saved.

    Examples
    --------
    >>> from modeseek import ModeSeek
    >>> result = cluster_file("examples/penguins.csv", ModeSeek(random_state=0), DataOptions(ignore=["species"]))
    >>> result.fit.message
    '3 clusters by ...'
    >>> result.clusters.sizes, result.clusters.centers[:, 3].round()
    (array([156, 123,  63]), array([3682., 5076., 3781.]))
    """
    files = as_files(source)
    job = PipelineJob(files, estimator, data, outputs, config, resume, progress, notify)
    check_outputs(job)
    in_chunks = scheduler is not None or _read_in_chunks(job, out_of_core)
    if in_chunks and data.truth is not None:
        raise OptionError("truth", "needs all rows in memory: leave it out, or cluster one smaller file.")
    if scheduler is not None:
        from modeseek.pipeline.dask import cluster_on_dask

        return cluster_on_dask(job, scheduler)
    if in_chunks:
        from modeseek.pipeline.chunked import cluster_in_chunks

        return cluster_in_chunks(job)
    return _cluster_in_memory(job)


def _read_in_chunks(job: PipelineJob, out_of_core: bool | None) -> bool:
    if len(job.files) > 1:
        if out_of_core is False:
            raise OptionError("out_of_core", "must not be False for several files: they are read in chunks.")
        return True
    path = Path(job.files[0])
    if out_of_core is not None or job.files[0] == STANDARD_STREAM or not path.is_file():
        return bool(out_of_core)
    return path.stat().st_size > job.config.large_file_bytes and input_format(path).chunked


def _cluster_in_memory(job: PipelineJob) -> PipelineResult:
    """Read a file, cluster its rows and write the outputs.

    Raises
    ------
    PipelineInterrupted
        If the fit was interrupted; the result so far is written first.
    """
    outputs, estimator = job.outputs, job.estimator
    table = read_table(job.files[0], header=job.data.header)
    if outputs.rows is not None:
        table.check_free(outputs.label_column)
    preparer = job.data.preparer(table, job.metric)
    prepared = preparer.fit_table(table, job.metric)
    job.note(*table.notes, *preparer.notes_)
    if outputs.rows is not None:
        check_writable(table, outputs.rows, preparer.kept_columns_)
    check_directions(job, table, prepared.complete, prepared.X)
    fit = run_fit(job, lambda: estimator.fit(prepared.X))
    if fit.interrupted and not estimator.__sklearn_is_fitted__():
        raise PipelineInterrupted(None)
    found = estimator.result_
    if preparer.missing == "median":
        gaps = np.isnan(preparer.preparation_.values(table)[prepared.complete])
        job.note(*filled_notes(found.labels, np.asarray(gaps.any(axis=1))))
    counts = RowCounts().add(found.labels, found.confidence, found.n_clusters)
    result = result_of_job(job, preparer, counts, fit.seconds, prepared.complete)
    if job.data.truth is not None:
        cells = table.cells[table.position(job.data.truth)][prepared.complete].tolist()
        result = replace(result, truth=TruthComparison.of(job.data.truth, cells, found.labels))
    if outputs.rows is not None:
        added = added_columns(job, table.columns, found.labels, found.confidence, prepared.complete)
        write_table(table, outputs.rows, added, features=preparer.kept_columns_, guard=outputs.guard_formulas)
    write_extras(job, result, Shown(table, prepared, estimator))
    if fit.interrupted:
        raise PipelineInterrupted(result)
    return result
