"""The pipeline for a file that fits into memory."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from modeseek._storage import check_writable, read_table, write_table
from modeseek.estimators.table import RowCounts
from modeseek.pipeline.errors import PipelineInterrupted
from modeseek.pipeline.fit import check_directions, run_fit
from modeseek.pipeline.options import PipelineJob
from modeseek.pipeline.outputs import Shown, added_columns, write_extras
from modeseek.pipeline.result import PipelineResult, result_of_job
from modeseek.pipeline.result_notes import filled_notes
from modeseek.pipeline.truth import TruthComparison


def cluster_in_memory(job: PipelineJob) -> PipelineResult:
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
