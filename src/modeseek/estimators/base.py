"""What the estimators share: data in, chain run, result stored."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array, diags_array
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted, validate_data

from modeseek.chain import Chain, ChainResult, Outcome, Record, RecordSpec, Setting, Stopping, as_record, partition, run
from modeseek.engines import choose
from modeseek.neighbours import nearest
from modeseek.partition import Partition
from modeseek.profiles import Profile, get_profile
from modeseek.progress import progress_bar
from modeseek.ranges import Range, automatic_range
from modeseek.types import Array, Callback, Geometry, IntArray
from modeseek.validation import (
    METRICS,
    Points,
    canonical_points,
    check_choice,
    check_integer,
    check_number,
    check_tau,
    check_weights,
)

__all__ = ["Memberships", "ShiftClusterer"]


class ShiftClusterer(ClusterMixin, BaseEstimator):
    """Base of the four estimators: a subclass says which chain to run."""

    profile: str | Profile
    metric: str
    tol: float | None
    min_cluster_size: int
    engine: str
    n_jobs: int | None
    verbose: int
    callbacks: Sequence[Callback] | None
    record: RecordSpec = None

    def fit(self, X: ArrayLike, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Cluster the rows of X.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The data.
        y : ignored
            Here for scikit-learn's conventions.
        sample_weight : array-like of shape (n_samples,), optional
            A row of weight 3 is three equal rows; a row of weight 0 takes no part and gets its nearest row's label.

        Returns
        -------
        self
        """
        self._fit(self._check_data(X, sample_weight))
        return self

    def predict(self, X: ArrayLike) -> IntArray:
        """Return for each row the label of the nearest training point, which gives back `labels_` on those.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        labels : integer array of shape (n_samples,)
        """
        check_is_fitted(self)
        rows = validate_data(self, X, dtype=[np.float64, np.float32], reset=False)
        return self._labels[nearest(self._points.values, self._points.place(rows), n_jobs=self.n_jobs)]

    def _fit(self, points: Points) -> None:
        chain, stopping = self._make_chain(points)
        result = self._run(chain, stopping)
        self._store(points, result, partition(chain, result, stopping.tau))
        self.points_ = points.restore(result.state.points)[points.inverse]
        self.trace_ = result.trace.restored(points)

    def _make_chain(self, points: Points) -> tuple[Chain, Stopping]:
        raise NotImplementedError

    def _check_data(self, X: ArrayLike, sample_weight: ArrayLike | None) -> Points:
        check_integer("min_cluster_size", self.min_cluster_size, low=1)
        geometry = Geometry(check_choice("metric", self.metric, METRICS))
        try:
            rows = validate_data(self, X, dtype=[np.float64, np.float32])
        except (ValueError, TypeError) as error:
            if "'complex'" in str(error):
                raise ValueError("Complex data not supported: X must hold real numbers.") from None
            if "could not convert string" in str(error):
                raise ValueError(f"X must hold numbers only: {error}. Leave text columns out or encode them.") from None
            raise
        points = canonical_points(rows, check_weights(sample_weight, len(rows)), geometry)
        absent = np.flatnonzero(points.inverse < 0)
        if not len(absent):
            return points
        inverse = points.inverse.copy()  # rows of weight 0 follow their nearest point
        inverse[absent] = nearest(points.values, points.place(rows[absent]), n_jobs=self.n_jobs)
        return points._replace(inverse=inverse)

    def _setting(self, points: Points, h: float) -> Setting:
        profile = get_profile(self.profile)
        engine = choose(self.engine, profile, points.values, h)
        self.engine_ = engine.name
        return Setting(points.values, points.weights, profile, points.geometry, engine, self.n_jobs)

    def _bandwidth(self, bandwidth: float | None, points: Points) -> float:
        if bandwidth is None:
            return self._automatic_range(points).single
        return check_number("bandwidth", bandwidth)

    def _automatic_range(self, points: Points) -> Range:
        return automatic_range(points.values, points.weights, geometry=points.geometry)

    def _stopping(self, chain: Chain, tau: float | None, max_updates: int | None, max_time: float | None) -> Stopping:
        threshold = check_number("tol", self.tol, strict=False) * chain.h_min
        return Stopping(check_tau(tau, chain.h_min), threshold=threshold, max_updates=max_updates, max_time=max_time)

    def _run(self, chain: Chain, stopping: Stopping) -> ChainResult:
        record = self._record()
        with self._watched(chain.name, len(chain.setting.points)) as callbacks:
            result = run(chain, stopping, record=record, callbacks=callbacks)
        if not result.outcome.converged:
            self._warn(result.outcome, result.state.k)
        return result

    def _record(self) -> Record:
        return as_record(self.record)

    @contextmanager
    def _watched(self, title: str, n_points: int) -> Iterator[list[Callback]]:
        """Give the callbacks of a run: the progress bar's, which is there while the block runs, and the user's own."""
        bar: AbstractContextManager[list[Callback]] = nullcontext([])
        if self.verbose:
            bar = progress_bar(title, n_points)
        with bar as shown:
            yield [*shown, *(self.callbacks or ())]

    def _warn(self, outcome: Outcome, updates: int, labels: str = "how far it came") -> None:
        warnings.warn(
            f"{type(self).__name__} {outcome.value} ({updates:,} updates); labels_ is {labels}. {self._remedy()}",
            ConvergenceWarning,
            stacklevel=4,
        )

    def _remedy(self) -> str:
        return "Raise max_updates or max_time, or widen the bandwidths."

    def _store(self, points: Points, result: ChainResult, part: Partition) -> None:
        self._store_clusters(points, part)
        self.partition_ = replace(part, labels=part.labels[points.inverse], centers=points.restore(part.centers))
        self.outcome_ = result.outcome
        self.n_updates_ = result.state.k

    def _store_clusters(self, points: Points, part: Partition) -> None:
        """Store labels and centres; clusters that are too light become noise."""
        keep = part.sizes >= self.min_cluster_size
        self._points = points
        self._labels = np.where(keep, np.cumsum(keep) - 1, -1)[part.labels]
        self.labels_ = self._labels[points.inverse]
        self.cluster_centers_ = points.restore(part.centers[keep])
        self.n_clusters_ = int(keep.sum())


class Memberships(ShiftClusterer):
    """Base of those that know how sure a row is of its cluster."""

    _shares: csr_array

    @property
    def memberships_(self) -> Array:
        """How often a row goes with each cluster; made when it is asked for, since it may be large."""
        if "_shares" not in self.__dict__:
            raise AttributeError(f"{type(self).__name__} has no memberships_: it is not fitted, or has one chain only.")
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
