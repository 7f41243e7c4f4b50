"""The result of the pipeline, and its record for JSON."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from modeseek._common.version import __version__
from modeseek.estimators import ESTIMATORS
from modeseek.estimators.alternatives import listed_alternatives
from modeseek.estimators.result import FitResult
from modeseek.estimators.table import ClusterTable, RowCounts
from modeseek.meanshift.partition import Partition
from modeseek.pipeline.options import Note, PipelineJob
from modeseek.pipeline.result_notes import result_notes
from modeseek.pipeline.truth import TruthComparison
from modeseek.prepare import TablePreparer

# parameters that concern Python or the screen only
NOT_REPORTED = ("callbacks", "checkpoint", "checkpoint_every", "seeds", "verbose")


@dataclass(frozen=True, eq=False)
class PipelineResult:
    r"""Result of `cluster_file`.

    Attributes
    ----------
    fit : FitResult
        Result of the fit. After a fit in memory, `fit.labels` has an entry for each row that was clustered. After a
        fit in chunks it has an entry for each point of the sketch; the labels of the rows are in the output file.
    clusters : ClusterTable
        Sizes, centres (in the units of the file), confidence and stability of the clusters, over all rows.
    estimator : estimator
        The fitted estimator.
    preparer : TablePreparer
        How the columns of the file became features.
    seconds : float
        Duration of the fit.
    complete : boolean array or None
        Which rows were clustered, after a fit in memory: those without missing values.
    truth : TruthComparison or None
        Comparison with the column `DataOptions.truth`.
    notes : tuple of Note
        Remarks on the data, and warnings of the fit.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from modeseek import MeanShift
    >>> from modeseek.pipeline import cluster_file
    >>> path = Path(tempfile.mkdtemp()) / "data.csv"
    >>> _ = path.write_text("x,y\n0.0,1.0\n0.1,1.1\n5.0,4.0\n")
    >>> result = cluster_file(path, MeanShift(1.0))
    >>> result.features, result.clusters.sizes, result.fit.labels
    (('x', 'y'), array([2, 1]), array([0, 0, 1]))
    """

    fit: FitResult
    clusters: ClusterTable
    estimator: Any
    preparer: TablePreparer
    seconds: float
    complete: NDArray[np.bool_] | None
    notes: tuple[Note, ...]
    truth: TruthComparison | None = None

    @property
    def features(self) -> tuple[str, ...]:
        """Names of the features that were clustered."""
        return self.preparer.preparation_.names

    @property
    def left_out(self) -> tuple[str, ...]:
        """Names of the columns that were not clustered."""
        return tuple(name for name in self.preparer.feature_names_in_ if name not in self.preparer.kept_columns_)

    @property
    def algorithm(self) -> str:
        """Short name of the algorithm."""
        names = {kind.__name__: name for name, kind in ESTIMATORS.items()}
        return names.get(self.fit.algorithm, self.fit.algorithm)


def result_of_job(
    job: PipelineJob,
    preparer: TablePreparer,
    counts: RowCounts,
    seconds: float,
    complete: NDArray[np.bool_] | None = None,
) -> PipelineResult:
    """Return the result of a fitted estimator, and add notes on it."""
    fit: FitResult = job.estimator.result_
    job.note(*result_notes(fit, preparer, job.config))
    clusters = ClusterTable.of(fit, counts).with_centers(preparer.inverse_transform(fit.centers))
    return PipelineResult(fit, clusters, job.estimator, preparer, seconds, complete, tuple(job.notes))


def pipeline_record(job: PipelineJob, result: PipelineResult) -> dict[str, Any]:
    """Return a summary of a result as values that JSON can hold."""
    fit, table, parameters = result.fit, result.clusters, result.estimator.get_params(deep=False)
    clusters: list[dict[str, Any]] = [
        {"label": label, "size": int(size), "share": float(share), "center": center.tolist()}
        for label, (size, share, center) in enumerate(zip(table.sizes, table.shares, table.centers, strict=True))
    ]
    for name, values in (("confidence", table.confidence), ("stability", table.stability)):
        if values is not None:
            for cluster, value in zip(clusters, values.tolist(), strict=True):
                cluster[name] = value
    return {
        "version": __version__,
        "file": job.files[0] if len(job.files) == 1 else list(job.files),
        "settings": {
            "algorithm": result.algorithm,
            **{name: getattr(result.preparer, name) for name in ("scale", "encode", "missing")},
            **{name: value for name, value in parameters.items() if name not in NOT_REPORTED},
        },
        "n_rows_total": result.preparer.n_samples_seen_,
        "n_rows": table.n_rows,
        "n_features": len(result.features),
        "features": list(result.features),
        "left_out": list(result.left_out),
        "n_clusters": len(clusters),
        "n_noise": table.n_noise,
        "clusters": clusters,
        **(_selection_record(result) if fit.partition is None else _run_record(fit, fit.partition)),
        **({} if result.truth is None else {"truth": result.truth.record()}),
        "notes": [note.text for note in result.notes],
        "seconds": result.seconds,
        "seed": parameters.get("random_state", 0),
    }


def _selection_record(result: PipelineResult) -> dict[str, Any]:
    fit = result.fit
    return {
        "message": fit.message,
        "outcome": "interrupted" if fit.interrupted else "chosen",
        "converged": not fit.interrupted,
        "stability": fit.stability,
        "alternatives": [
            {
                "n_clusters": each.n_clusters,
                "by": each.proposer,
                "expected_agreement": each.expected_agreement,
                "stability": _finite(each.stability),
            }
            for each in listed_alternatives(result.estimator)
        ],
    }


def _run_record(fit: FitResult, partition: Partition) -> dict[str, Any]:
    return {
        "outcome": fit.outcome.name.lower(),
        "outcome_message": fit.outcome.value,
        "converged": bool(fit.outcome.converged),
        "certified": bool(partition.certified),
        "diameter": _finite(partition.diameter),
        "gap": _finite(partition.gap),
        "stability": fit.stability,
        "n_updates": fit.n_updates,
        "engine": fit.settings.engine,
        "bandwidths": fit.settings.bandwidths,
    }


def _finite(value: float) -> float | None:
    # JSON has no infinity; the gap of a single cluster is infinite
    return float(value) if np.isfinite(value) else None
