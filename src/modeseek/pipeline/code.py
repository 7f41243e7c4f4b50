"""Python code that repeats a call of `cluster_file`, for the report."""

from __future__ import annotations

from modeseek.pipeline.options import PipelineJob
from modeseek.pipeline.result import PipelineResult
from modeseek.report.python_code import changed_parameters, estimator_call, file_data_code, fit_code, list_literal


def job_code(job: PipelineJob, result: PipelineResult, *, chunked: bool) -> str:
    """Return a script with the same files, columns, scaling and estimator; `chunked`: the files were read in chunks."""
    if not chunked:
        code = fit_code(job.estimator, file_data_code(job.files[0], header=job.data.header), result.preparer)
        dropped = result.complete is not None and not result.complete.all()
        return code + ("  # of the rows without missing values" if dropped else "")
    options = changed_parameters(result.preparer)
    if job.data.header is not None:
        options["header"] = job.data.header
    given = ", ".join(f"{key}={value!r}" for key, value in options.items())
    source = repr(job.files[0]) if len(job.files) == 1 else list_literal(job.files)
    arguments = [source, "model", *([f"DataOptions({given})"] if given else []), "out_of_core=True"]
    return "\n".join(
        [
            f"from modeseek import {type(job.estimator).__name__}",
            f"from modeseek.pipeline import {'DataOptions, ' if given else ''}cluster_file",
            "",
            f"model = {estimator_call(job.estimator)}",
            f"result = cluster_file({', '.join(arguments)})",
            "print(result.clusters.sizes)",
        ]
    )
