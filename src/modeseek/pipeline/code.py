"""Python code that repeats a call of `cluster_file`, for the report and the explorer."""

from collections.abc import Sequence

from sklearn.base import BaseEstimator

from modeseek.pipeline.options import DataOptions
from modeseek.report.python_code import estimator_call, list_literal


def cluster_file_code(
    files: Sequence[str], estimator: BaseEstimator, data: DataOptions, *, chunked: bool = False
) -> str:
    """Return a script that clusters files with an estimator.

    Parameters
    ----------
    files : sequence of str
        The data files.
    estimator : estimator
        The estimator, fitted or not.
    data : DataOptions
        Columns, scaling and header; fields that are None are left out of the script.
    chunked : bool, default=False
        Whether the files are read in chunks.

    Examples
    --------
    >>> from modeseek import MeanShift
    >>> print(cluster_file_code(["birds.csv"], MeanShift(2.0), DataOptions(["mass"], scale=False)))
    from modeseek import MeanShift
    from modeseek.pipeline import DataOptions, cluster_file
    <BLANKLINE>
    model = MeanShift(bandwidth=2.0)
    result = cluster_file('birds.csv', model, DataOptions(columns=['mass'], scale=False))
    print(result.fit.labels)
    """
    options = {
        "columns": None if data.columns is None else list_literal(data.columns),
        "scale": data.scale,
        "header": data.header,
    }
    given = ", ".join(f"{key}={value}" for key, value in options.items() if value is not None)
    source = repr(files[0]) if len(files) == 1 else list_literal(files)
    arguments = [source, "model", *([f"DataOptions({given})"] if given else []), *(["out_of_core=True"] * chunked)]
    return "\n".join(
        [
            f"from modeseek import {type(estimator).__name__}",
            f"from modeseek.pipeline import {'DataOptions, ' if given else ''}cluster_file",
            "",
            f"model = {estimator_call(estimator)}",
            f"result = cluster_file({', '.join(arguments)})",
            "print(result.clusters.sizes)" if chunked else "print(result.fit.labels)",
        ]
    )
