"""The result of the pipeline, and its record for JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum
from typing import Any, NamedTuple

import numpy as np

from modeseek._common.scaling import Scaling
from modeseek._common.types import Array, IntArray
from modeseek._common.version import __version__
from modeseek.estimators.alternatives import nearly_chosen
from modeseek.estimators.display import DOUBTFUL
from modeseek.estimators.result import FitResult
from modeseek.meanshift.partition import Partition
from modeseek.pipeline.options import Job, Note

__all__ = ["ALGORITHMS", "PipelineResult", "Tally", "make_result", "pipeline_record"]

# names of the algorithms in records and on the command line
ALGORITHMS = {
    "ModeSeek": "modeseek",
    "DoublyStochasticMeanShift": "dsms",
    "StochasticMeanShift": "sms",
    "BlurringMeanShift": "bms",
    "MeanShift": "ms",
}
# parameters that concern Python or the screen only
NOT_REPORTED = ("callbacks", "checkpoint", "checkpoint_every", "seeds", "verbose")


class Tally(NamedTuple):
    """Number of rows and summed confidence of each cluster, counted chunk by chunk.

    Attributes
    ----------
    rows : int
        Number of rows, noise included.
    sizes : tuple of int
        Number of rows in each cluster.
    confidence : tuple of float
        Sum of the confidence of the rows of each cluster; empty if the estimator computes none.
    doubtful : int
        Number of rows with a confidence below the threshold of `DOUBTFUL`.
    """

    rows: int = 0
    sizes: tuple[int, ...] = ()
    confidence: tuple[float, ...] = ()
    doubtful: int = 0

    def add(self, labels: IntArray, confidence: Array | None, n_clusters: int, weights: Array | None = None) -> Tally:
        """Return the tally with more rows, each counted `weights` times."""
        counts = np.ones(len(labels), np.int64) if weights is None else weights
        member = labels >= 0
        sizes = np.bincount(labels[member], counts[member], n_clusters)
        added = Tally(int(counts.sum()), tuple(int(size) for size in sizes))
        if confidence is not None:
            sums = np.bincount(labels[member], (counts * confidence)[member], n_clusters)
            added = added._replace(
                confidence=tuple(map(float, sums)), doubtful=int(counts[confidence < DOUBTFUL].sum())
            )
        return Tally.merge([self, added]) if self.rows else added

    @classmethod
    def merge(cls, tallies: Sequence[Tally]) -> Tally:
        """Return the counts of several tallies together."""
        sizes = tuple(sum(each) for each in zip(*(tally.sizes for tally in tallies), strict=True))
        confidence = tuple(fsum(each) for each in zip(*(tally.confidence for tally in tallies), strict=True))
        return cls(sum(tally.rows for tally in tallies), sizes, confidence, sum(tally.doubtful for tally in tallies))


@dataclass(frozen=True, eq=False)
class PipelineResult:
    """Result of `cluster_file`.

    Attributes
    ----------
    fit : FitResult
        Result of the fit. After a fit in memory, `fit.labels` has an entry for each row. After a fit in chunks it has
        an entry for each point of the sketch; the labels of the rows are in the output file.
    estimator : estimator
        The fitted estimator.
    features : tuple of str
        The columns that were clustered.
    scaling : Scaling
        How the features were scaled.
    n_rows : int
        Number of rows.
    sizes : integer array of shape (n_clusters,)
        Number of rows in each cluster.
    centers : array of shape (n_clusters, n_features)
        Cluster centres, in the units of the file.
    confidence : array of shape (n_clusters,) or None
        Mean confidence of the rows of each cluster.
    n_doubtful : int
        Number of rows with a confidence below 0.75.
    seconds : float
        Duration of the fit.
    scaled : bool
        Whether the features were scaled to mean 0 and standard deviation 1.
    notes : tuple of Note
        Remarks on the data, and warnings of the fit.
    """

    fit: FitResult
    estimator: Any
    features: tuple[str, ...]
    scaling: Scaling
    n_rows: int
    sizes: IntArray
    centers: Array
    confidence: Array | None
    n_doubtful: int
    seconds: float
    scaled: bool
    notes: tuple[Note, ...]

    @property
    def n_noise(self) -> int:
        """Number of rows that belong to no cluster."""
        return self.n_rows - int(self.sizes.sum())

    @property
    def algorithm(self) -> str:
        """Short name of the algorithm."""
        return ALGORITHMS[self.fit.algorithm]


def make_result(
    job: Job, features: tuple[str, ...], scaling: Scaling, tally: Tally, seconds: float, notes: Sequence[Note]
) -> PipelineResult:
    """Return the result of a fitted estimator, with its centres in the units of the file."""
    fit: FitResult = job.estimator.result_
    sizes = np.array(tally.sizes, np.int64)
    return PipelineResult(
        fit=fit,
        estimator=job.estimator,
        features=features,
        scaling=scaling,
        n_rows=tally.rows,
        sizes=sizes,
        centers=scaling.undo(fit.centers.astype(np.float64)),
        confidence=np.array(tally.confidence) / np.maximum(sizes, 1) if fit.confidence is not None else None,
        n_doubtful=tally.doubtful,
        seconds=seconds,
        scaled=job.standardize,
        notes=tuple(notes),
    )


def pipeline_record(job: Job, result: PipelineResult) -> dict[str, Any]:
    """Return a summary of a result as values that JSON can hold."""
    fit, parameters = result.fit, result.estimator.get_params(deep=False)
    clusters: list[dict[str, Any]] = [
        {"label": label, "size": int(size), "share": float(size / result.n_rows), "center": center.tolist()}
        for label, (size, center) in enumerate(zip(result.sizes, result.centers, strict=True))
    ]
    if fit.cluster_stability is not None:
        for cluster, stability in zip(clusters, fit.cluster_stability, strict=True):
            cluster["stability"] = float(stability)
    return {
        "version": __version__,
        "file": job.files[0] if len(job.files) == 1 else list(job.files),
        "settings": {
            "algorithm": result.algorithm,
            "scale": "standard" if job.standardize else "none",
            **{name: value for name, value in parameters.items() if name not in NOT_REPORTED},
        },
        "n_rows": result.n_rows,
        "n_features": len(result.features),
        "features": list(result.features),
        "n_clusters": len(clusters),
        "n_noise": result.n_noise,
        "clusters": clusters,
        **(_selection_record(result) if fit.partition is None else _run_record(fit, fit.partition)),
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
        "nearly_chosen": [
            {"n_clusters": each.n_clusters, "by": each.proposer, "stability": float(each.stability)}
            for each in nearly_chosen(result.estimator)
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
