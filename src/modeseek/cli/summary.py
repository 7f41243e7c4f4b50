"""What came out of a run, in the data's own units, for the screen and for JSON."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from modeseek._common.scaling import Scaling
from modeseek._common.types import Array, IntArray
from modeseek.cli.settings import Settings
from modeseek.estimators.table import DOUBTFUL

__all__ = ["Summary", "Tally", "summarise"]

# of the screen and of Python only
NOT_REPORTED = ("callbacks", "checkpoint", "checkpoint_every", "seeds", "verbose")
BANDWIDTHS = ("h_min", "h_inf", "h_max", "bandwidth")


@dataclass(frozen=True, eq=False)
class Summary:
    """The result of a run, as reported.

    Attributes
    ----------
    settings : Settings
        What was asked for.
    features : tuple of str
        The columns clustered by.
    n_rows : int
        Number of rows.
    sizes : (m,) integer array
        Rows of each cluster.
    centers : (m, d) array
        Centres, in the data's own units.
    confidence : (m,) array or None
        Mean confidence of each cluster's rows, where something tells.
    doubtful : int
        Rows that are not sure of their cluster.
    estimator : object
        The fitted estimator.
    seconds : float
        How long the fit took.
    """

    settings: Settings
    features: tuple[str, ...]
    n_rows: int
    sizes: IntArray
    centers: Array
    confidence: Array | None
    doubtful: int
    estimator: Any
    seconds: float

    @property
    def n_noise(self) -> int:
        """Rows that belong to no cluster."""
        return self.n_rows - int(self.sizes.sum())

    @property
    def bandwidths(self) -> dict[str, float]:
        """The bandwidths that were used, after scaling."""
        fitted = {name: getattr(self.estimator, f"{name}_", None) for name in BANDWIDTHS}
        return {name: float(h) for name, h in fitted.items() if h is not None}

    @property
    def nearly(self) -> list[Any]:
        """Other partitions that were nearly chosen, where there was a choice."""
        from modeseek.estimators.alternatives import nearly_chosen

        return nearly_chosen(self.estimator) if hasattr(self.estimator, "alternatives_") else []

    @property
    def certified(self) -> bool:
        """Whether no later update could have changed the clusters."""
        return bool(self.estimator.partition_.certified)

    @property
    def stability(self) -> float | None:
        """How well the chains agree with what was made of them; None where there was one."""
        found = getattr(self.estimator, "stability_", None)
        return None if found is None else float(found)

    @property
    def cluster_stability(self) -> list[float] | None:
        """How much of each cluster comes back; None where nothing tells."""
        found = getattr(self.estimator, "cluster_stability_", None)
        return None if found is None else [float(each) for each in found]

    def record(self) -> dict[str, Any]:
        """Return everything as plain values that JSON can hold."""
        from modeseek import __version__

        n_rows = self.n_rows
        clusters: list[dict[str, Any]] = [
            {"label": label, "size": int(size), "share": float(size / n_rows), "center": center.tolist()}
            for label, (size, center) in enumerate(zip(self.sizes, self.centers, strict=True))
        ]
        for cluster, stability in zip(clusters, self.cluster_stability or (), strict=False):
            cluster["stability"] = stability
        return {
            "version": __version__,
            "file": self.settings.file if len(self.settings.files) == 1 else self.settings.files,
            "settings": self._settings(),
            "n_rows": n_rows,
            "n_features": len(self.features),
            "features": list(self.features),
            "n_clusters": len(clusters),
            "n_noise": self.n_noise,
            "clusters": clusters,
            **(self._choice() if hasattr(self.estimator, "alternatives_") else self._run()),
            "seconds": self.seconds,
            "seed": self.settings.seed,
        }

    def _choice(self) -> dict[str, Any]:
        nearly = [{"n_clusters": e.n_clusters, "by": e.proposer, "stability": float(e.stability)} for e in self.nearly]
        fitted = self.estimator
        return {
            "message": fitted.message_,
            "outcome": "interrupted" if fitted.interrupted_ else "chosen",
            "converged": not fitted.interrupted_,
            "stability": float(fitted.stability_),
            "nearly_chosen": nearly,
        }

    def _run(self) -> dict[str, Any]:
        fitted = self.estimator
        return {
            "outcome": fitted.outcome_.name.lower(),
            "outcome_message": fitted.outcome_.value,
            "converged": bool(fitted.outcome_.converged),
            "certified": self.certified,
            "diameter": _finite(fitted.partition_.diameter),
            "gap": _finite(fitted.partition_.gap),
            "stability": self.stability,
            "n_updates": int(fitted.n_updates_),
            "engine": str(fitted.engine_),
            "bandwidths": self.bandwidths,
        }

    def _settings(self) -> dict[str, Any]:
        parameters = self.estimator.get_params(deep=False)
        plain = {k: v for k, v in parameters.items() if k not in NOT_REPORTED}
        scale = "standard" if self.settings.standardise else "none"
        return {"algorithm": self.settings.method_name, "scale": scale, **plain}


class Tally(NamedTuple):
    """Rows by cluster, counted as they come.

    Attributes
    ----------
    rows : int
        All of them.
    sizes : tuple of int
        Rows of each cluster.
    sure : tuple of float
        Their confidence, summed up; nothing where nobody tells.
    doubtful : int
        Rows that are not sure.
    """

    rows: int = 0
    sizes: tuple[int, ...] = ()
    sure: tuple[float, ...] = ()
    doubtful: int = 0

    def add(self, labels: IntArray, confidence: Array | None, n_clusters: int) -> Tally:
        """Count more rows."""
        member = labels >= 0
        sizes = np.bincount(labels[member], minlength=n_clusters)
        sizes = sizes + (np.array(self.sizes, np.int64) if self.sizes else 0)
        rows, counted = self.rows + len(labels), tuple(int(size) for size in sizes)
        if confidence is None:
            return Tally(rows, counted)
        sure = np.bincount(labels[member], confidence[member], minlength=n_clusters)
        sure = sure + (np.array(self.sure) if self.sure else 0.0)
        doubtful = self.doubtful + int((confidence < DOUBTFUL).sum())
        return Tally(rows, counted, tuple(float(each) for each in sure), doubtful)


def summarise(
    settings: Settings,
    features: tuple[str, ...],
    scaling: Scaling,
    estimator: Any,
    seconds: float,
    tally: Tally | None = None,
) -> Summary:
    """Count clusters, unless they are counted, and bring their centres back to the data's own units."""
    centers = scaling.undo(np.asarray(estimator.cluster_centers_, dtype=np.float64))
    sure = getattr(estimator, "confidence_", None)
    if tally is None:
        tally = Tally().add(np.asarray(estimator.labels_), sure, len(centers))
    sizes = np.array(tally.sizes, np.int64)
    confidence = None if sure is None else np.array(tally.sure) / np.maximum(sizes, 1)
    return Summary(settings, features, tally.rows, sizes, centers, confidence, tally.doubtful, estimator, seconds)


def _finite(value: float) -> float | None:
    # JSON has no infinity; the gap is infinite where there is one cluster
    return float(value) if np.isfinite(value) else None
