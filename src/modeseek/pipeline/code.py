"""Python code that repeats a call of `cluster_file`, for the report."""

from collections.abc import Sequence

from modeseek.pipeline.options import Job
from modeseek.report.python_code import estimator_call, list_literal


def python_code(job: Job, columns: Sequence[str] | None, *, chunked: bool) -> str:
    """Return a script with the same files, columns, scaling and estimator.

    Parameters
    ----------
    job : Job
        The call.
    columns : sequence of str or None
        The columns that were clustered; None for all.
    chunked : bool
        Whether the files were read in chunks.
    """
    name = type(job.estimator).__name__
    options = {
        "columns": None if columns is None else list_literal(columns),
        "scale": None if job.data.scale is None else repr(job.data.scale),
        "header": None if job.data.header is None else repr(job.data.header),
    }
    given = ", ".join(f"{key}={value}" for key, value in options.items() if value is not None)
    source = repr(job.files[0]) if len(job.files) == 1 else list_literal(job.files)
    arguments = [source, "model", *([f"DataOptions({given})"] if given else []), *(["out_of_core=True"] * chunked)]
    return "\n".join(
        [
            f"from modeseek import {name}",
            f"from modeseek.pipeline import {'DataOptions, ' if given else ''}cluster_file",
            "",
            f"model = {estimator_call(job.estimator)}",
            f"result = cluster_file({', '.join(arguments)})",
            "print(result.clusters.sizes)" if chunked else "print(result.fit.labels)",
        ]
    )
