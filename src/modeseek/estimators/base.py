"""What the estimators share: data in, chain run, result stored."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array, diags_array
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from modeseek._common.hints import AdviceWarning
from modeseek._common.progress import show_progress
from modeseek._common.resources import check_memory
from modeseek._common.types import Array, Geometry, IntArray, Watcher
from modeseek._common.validation import (
    METRICS,
    Points,
    check_callbacks,
    check_choice,
    check_integer,
    check_jobs,
    check_number,
    check_tau,
    check_weights,
)
from modeseek.estimators.advice import advice, advice_on_size
from modeseek.estimators.data import advise_on_scale, check_rows
from modeseek.estimators.lazy import fit_lazily, predict_lazily
from modeseek.estimators.shown import Shown
from modeseek.estimators.summaries import Summarised
from modeseek.meanshift.chains import (
    Chain,
    ChainResult,
    Checkpoint,
    Outcome,
    Problem,
    Record,
    RecordSpec,
    Stopping,
    as_record,
    partition,
    run,
)
from modeseek.meanshift.chains.progress import ChainProgress
from modeseek.meanshift.engines import choose
from modeseek.meanshift.kernels.profiles import FLAT, Profile, get_profile
from modeseek.meanshift.partition import Partition
from modeseek.meanshift.types import Callback
from modeseek.selection.bandwidths import Range, automatic_range
from modeseek.sketches import is_dask

__all__ = ["Memberships", "ShiftClusterer"]

# a bandwidth from the data is a distance of the data: flat weights end there, and engines would round it as they do
OFF_THE_RIM = 1 + 1e-9
# what a fit leaves behind besides attributes that end in "_"
PRIVATE = ("_labels", "_points", "_shares", "_sample", "_range", "_stands_for")
STREAM = ("_pending", "_survey")
OF_THE_DATA = ("n_features_in_", "feature_names_in_")


class ShiftClusterer(Summarised, Shown, ClusterMixin, BaseEstimator):
    """Base of the four estimators: a subclass says which chain to run."""

    profile: str | Profile
    metric: str
    tol: float | None
    min_cluster_size: int
    engine: str
    n_jobs: int | None
    verbose: int
    callbacks: Sequence[Callable[..., None]] | None
    # there while a fit or a prediction shows progress
    _line: Watcher | None = None
    # there while the data lie with Dask's workers: several chains run there too
    _away: bool = False
    record: RecordSpec = None
    checkpoint: str | os.PathLike[str] | None = None
    checkpoint_every: float = 60.0

    def fit(self, X: ArrayLike, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Cluster the rows of X.

        Ctrl-C raises `KeyboardInterrupt`, as everywhere. What was done by then is kept: `labels_` and the other
        attributes are there afterwards, as far as it came, unless nothing had been found yet.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The data; may be a `dask.array` or `dask.dataframe`, see docs/how-to-dask.md.
        y : ignored
            Here for scikit-learn's conventions.
        sample_weight : array-like of shape (n_samples,), optional
            A row of weight 3 is three equal rows; a row of weight 0 takes no part and gets its nearest row's label.

        Returns
        -------
        self
        """
        if is_dask(X):
            fit_lazily(self, X, sample_weight, self._check_settings())
            return self
        rows, weights, geometry = self._check_data(X, sample_weight)
        self._end_batches()
        return self._fit_points(lambda: self._points_of(rows, weights, geometry))

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters, by name.

        Parameters
        ----------
        deep : bool, default=True
            Whether those of parameters that are estimators are there too.

        Returns
        -------
        params : dict
        """
        params: dict[str, Any] = super().get_params(deep)
        if "summary" in params:  # the attribute is the table of clusters too
            params["summary"] = vars(self)["summary"]
        return params

    def _fit_points(self, make: Callable[[], Points]) -> Self:
        """Make the points, fit them and store what comes out; Ctrl-C is raised once all is stored."""
        self._forget()
        self._checkpoint()  # before the work, what cannot be written is refused
        try:
            with self._showing():
                points = make()
                self._advise(advice_on_size(self, points))
                self._fit(points)
        except KeyboardInterrupt:
            self._forget()  # it came before all was stored
            raise
        cut = self._interruption()
        if cut:
            raise KeyboardInterrupt(f"{type(self).__name__}: {cut}")
        self._advise(advice(self, points))
        return self

    def predict(self, X: ArrayLike) -> IntArray:
        """Return for each row the label of the nearest training point, which gives back `labels_` on those.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        labels : integer array of shape (n_samples,)
            For what comes from Dask, a lazy array of Dask.
        """
        check_is_fitted(self)
        if is_dask(X):
            return predict_lazily(self, X)
        rows = check_rows(self, X, reset=False)
        with self._showing():
            return self._labels[self._number(self._points, rows)]

    def __sklearn_is_fitted__(self) -> bool:
        # data that were only looked at have left their number of features
        return "labels_" in vars(self)

    def _end_batches(self) -> None:
        """Drop what batches began, as a whole fit does."""
        for name in STREAM:
            self.__dict__.pop(name, None)

    def _forget(self) -> None:
        """Drop what an earlier fit left, so that one that is cut short leaves its own or nothing."""
        for name in [each for each in vars(self) if each.endswith("_") or each in PRIVATE]:
            if name not in OF_THE_DATA:
                delattr(self, name)

    def _fit(self, points: Points) -> None:
        chain, stopping = self._make_chain(points)
        result = self._run(chain, stopping)
        self._store(points, result, partition(chain, result, stopping.tau))
        self.points_ = points.to_data(result.state.points)[points.inverse]
        self.trace_ = result.trace.restored(points)

    def _make_chain(self, points: Points) -> tuple[Chain, Stopping]:
        raise NotImplementedError

    def _check_settings(self) -> Geometry:
        check_integer("min_cluster_size", self.min_cluster_size, low=1)
        check_jobs(self.n_jobs)
        check_callbacks(getattr(self, "callbacks", None))
        return Geometry(check_choice("metric", self.metric, METRICS))

    def _check_data(self, X: ArrayLike, sample_weight: ArrayLike | None) -> tuple[Array, Array, Geometry]:
        geometry = self._check_settings()
        rows = check_rows(self, X)
        if not geometry.spherical:
            advise_on_scale(self, rows)
        return rows, check_weights(sample_weight, len(rows)), geometry

    def _problem(self, points: Points, h: float) -> Problem:
        profile = get_profile(self.profile)
        engine = choose(self.engine, profile, points.values, h, chains=self._count_chains())
        self.engine_ = engine.name
        return Problem(points.values, points.weights, profile, points.geometry, engine, self.n_jobs)

    def _count_chains(self) -> int:
        return 1

    def _bandwidth(self, bandwidth: float | None, points: Points) -> float:
        if bandwidth is None:
            return self._automatic_range(points).single
        return check_number("bandwidth", bandwidth)

    def _automatic_range(self, points: Points) -> Range:
        if "_range" not in vars(self):
            # cells lie evenly where rows are many: how far neighbours are is told by a sample of the rows
            points = getattr(self, "_sample", points)
            found = automatic_range(points.values, points.weights, geometry=points.geometry, watch=self._watch())
            self._range = Range(*(OFF_THE_RIM * h for h in found)) if get_profile(self.profile) is FLAT else found
        return self._range

    def _stopping(self, chain: Chain, tau: float | None, max_updates: int | None, max_time: float | None) -> Stopping:
        threshold = check_number("tol", self.tol, strict=False) * chain.h_min
        return Stopping(check_tau(tau, chain.h_min), threshold=threshold, max_updates=max_updates, max_time=max_time)

    def _run(self, chain: Chain, stopping: Stopping) -> ChainResult:
        record = self._record()
        line = [] if self._line is None else [ChainProgress(self._line, chain, stopping)]
        result = self._run_one(chain, stopping, record, [*line, *(self.callbacks or ())])
        if result.outcome is Outcome.INTERRUPTED and not result.sweeps:
            raise KeyboardInterrupt(f"{type(self).__name__}: interrupted before the first sweep; nothing is kept")
        self._warn(result.outcome, result.state.k)
        return result

    def _run_one(self, chain: Chain, stopping: Stopping, record: Record, callbacks: list[Callback]) -> ChainResult:
        return run(chain, stopping, record=record, callbacks=callbacks, checkpoint=self._checkpoint())

    def _checkpoint(self) -> Checkpoint | None:
        """Return where to keep how far a run has come."""
        if self.checkpoint is None:
            return None
        if getattr(self, "random_state", 0) is None:
            raise ValueError(
                "checkpoint needs random_state: without one each fit has draws of its own, and none can go on from "
                "another. Give a whole number."
            )
        return Checkpoint(self.checkpoint, self.checkpoint_every, self._watch())

    def _record(self) -> Record:
        return as_record(self.record)

    @contextmanager
    def _showing(self) -> Iterator[None]:
        """Show progress while the block runs, where somebody wants to and can see it."""
        with show_progress(self._title) if self.verbose else nullcontext() as line:
            self._line = line
            try:
                yield
            finally:
                del self._line

    @property
    def _title(self) -> str:
        """The short name that the paper has for it: DSMS, SMS, BMS, MS."""
        return "".join(letter for letter in type(self).__name__ if letter.isupper())

    def _watch(self) -> Watcher | None:
        """Return who is told of stages."""
        return self._line

    def _warn(self, outcome: Outcome, updates: int, labels: str = "how far it came") -> None:
        # an interruption is raised once all is stored
        if not outcome.converged and outcome is not Outcome.INTERRUPTED:
            warnings.warn(
                f"{type(self).__name__} {outcome.value} ({updates:,} updates); labels_ is {labels}. {self._remedy()}",
                ConvergenceWarning,
                stacklevel=6,
            )

    def _interruption(self) -> str:
        """Return what to say of Ctrl-C; "" where there was none."""
        if self.outcome_ is not Outcome.INTERRUPTED:
            return ""
        return f"{self.outcome_.value} ({self.n_updates_:,} updates)"

    def _advise(self, text: str | None) -> None:
        if text is not None:
            warnings.warn(f"{type(self).__name__}: {text}", AdviceWarning, stacklevel=4)

    def _remedy(self) -> str:
        return "Raise max_updates or max_time, or widen the bandwidths."

    def _store(self, points: Points, result: ChainResult, part: Partition) -> None:
        self._store_clusters(points, part)
        self.partition_ = replace(part, labels=part.labels[points.inverse], centers=points.to_data(part.centers))
        self.outcome_ = result.outcome
        self.n_updates_ = result.state.k

    def _store_clusters(self, points: Points, part: Partition) -> None:
        """Store labels and centres; clusters that are too light become noise."""
        keep = part.sizes >= self.min_cluster_size
        self._points = points
        self._labels = np.where(keep, np.cumsum(keep) - 1, -1)[part.labels]
        self.labels_ = self._labels[points.inverse]
        self.cluster_centers_ = points.to_data(part.centers[keep])
        self.n_clusters_ = int(keep.sum())


class Memberships(ShiftClusterer):
    """Base of those that know how sure a row is of its cluster."""

    _shares: csr_array

    @property
    def memberships_(self) -> Array:
        """How often a row goes with each cluster; made when it is asked for, since it may be large."""
        if "_shares" not in self.__dict__:
            raise AttributeError(f"{type(self).__name__} has no memberships_: it is not fitted, or has one chain only.")
        n, k = len(self._points.inverse), self._shares.shape[1]
        check_memory(
            8.0 * k * (n + self._shares.shape[0]),
            f"memberships_ of {n:,} rows in {k:,} clusters",
            "confidence_ has the largest of each row.",
        )
        return self._shares.toarray()[self._points.inverse]

    def _store_memberships(
        self, part: Partition, labels: IntArray, memberships: Array | csr_array, stability: Array
    ) -> None:
        """Keep memberships and stability, numbered by `labels`, in the order of the partition; 0 for noise."""
        columns = np.empty(part.n_clusters, dtype=np.intp)
        columns[part.labels] = labels
        columns = columns[part.sizes >= self.min_cluster_size]
        self.cluster_stability_ = stability[columns]
        shares = csr_array(memberships)[:, columns]
        total = np.where(self._labels >= 0, shares.sum(axis=1), 0.0)
        self._shares = diags_array(np.divide(1.0, total, out=np.zeros_like(total), where=total > 0)) @ shares
        confidence = np.ravel(self._shares.max(axis=1).toarray()) if shares.shape[1] else np.zeros(len(total))
        self.confidence_ = confidence[self._points.inverse]
