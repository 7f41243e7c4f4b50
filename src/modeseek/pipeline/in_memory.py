"""The pipeline for a file that fits into memory."""

from modeseek._common.scaling import Scaling
from modeseek._storage import check_writable, read_table, write_table
from modeseek.estimators.table import RowCounts
from modeseek.pipeline.errors import PipelineInterrupted
from modeseek.pipeline.fit import run_fit
from modeseek.pipeline.options import Job
from modeseek.pipeline.outputs import Shown, added_columns, write_extras
from modeseek.pipeline.prepare import check_directions, note_data, selected_columns
from modeseek.pipeline.result import PipelineResult, make_result


def cluster_in_memory(job: Job) -> PipelineResult:
    """Read a file, cluster its rows and write the outputs.

    Raises
    ------
    PipelineInterrupted
        If the fit was interrupted; the result so far is written first.
    """
    outputs, estimator = job.outputs, job.estimator
    table = read_table(job.files[0], header=job.data.header)
    features = table.features(*selected_columns(job.data, table))
    if outputs.rows is not None:
        table.check_free(outputs.label_column)
        check_writable(table, outputs.rows)
    note_data(job, table, features)
    scaling = Scaling.fit(features.values, standardize=job.standardize)
    scaled = scaling.apply(features.values)
    check_directions(job, table, scaled)
    fit = run_fit(job, lambda: estimator.fit(scaled))
    if fit.interrupted and not estimator.__sklearn_is_fitted__():
        raise PipelineInterrupted(None)
    found = estimator.result_
    counts = RowCounts().add(found.labels, found.confidence, found.n_clusters)
    result = make_result(job, features.names, scaling, counts, fit.seconds)
    if outputs.rows is not None:
        added = added_columns(job, table.columns, found.labels, found.confidence)
        write_table(table, outputs.rows, added, guard=outputs.guard_formulas)
    write_extras(job, result, Shown(table, features, scaled, estimator))
    if fit.interrupted:
        raise PipelineInterrupted(result)
    return result
