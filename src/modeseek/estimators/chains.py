"""What the two random algorithms share: one chain, or several and what they agree on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from numbers import Integral

import numpy as np

from modeseek._common.types import Array
from modeseek._common.validation import Points
from modeseek.estimators.base import Memberships
from modeseek.meanshift.chains import Chain, ChainResult, Outcome, Problem, Record, Stopping, partition
from modeseek.meanshift.chains.progress import EnsembleProgress
from modeseek.meanshift.consensus import consensus
from modeseek.meanshift.ensemble import dask_client, make_chains, run_chains
from modeseek.meanshift.partition import Partition, partition_of
from modeseek.meanshift.types import Callback
from modeseek.selection.bandwidths import local_scales
from modeseek.sketches import joblib_on_dask

__all__ = ["RandomClusterer"]

# from the best to the worst
OUTCOMES = list(Outcome)


class RandomClusterer(Memberships):
    """What the two random algorithms share; a subclass says how a chain of a number is made."""

    local_scale: bool
    order: str
    n_chains: int | str
    tau: float | None
    max_updates: int | None
    max_time: float | None

    def _chain_maker(self, points: Points) -> Callable[..., Chain]:
        """Return what makes a chain, given `chain`, its number."""
        raise NotImplementedError

    def _make_chain(self, points: Points) -> tuple[Chain, Stopping]:
        chain = self._chain_maker(points)(chain=0)
        return chain, self._stopping(chain, self.tau, self.max_updates, self.max_time)

    def _fit(self, points: Points) -> None:
        n_chains = self._count_chains()
        if n_chains == 1:
            super()._fit(points)
            return
        chains = make_chains(self._chain_maker(points), n_chains)
        record = self._record()
        stopping = self._stopping(chains[0], self.tau, self.max_updates, self.max_time)
        several = None if self._line is None else EnsembleProgress(self._line, n_chains)
        ended = None if several is None else several.ended
        with joblib_on_dask() if self._away else nullcontext():
            # of chains that run elsewhere only their ends are heard
            away = dask_client() and self.checkpoint is None
            near = [] if several is None or away else [several]
            callbacks: list[Callback] = [*near, *(self.callbacks or ())]
            results = run_chains(
                chains,
                stopping,
                n_jobs=self.n_jobs,
                callbacks=callbacks,
                watch=ended,
                record=record,
                checkpoint=self._checkpoint(),
            )
        self.trace_ = results[0].trace.restored(points)
        heard = _heard(results)
        if not heard:
            raise KeyboardInterrupt(f"{type(self).__name__}: interrupted before the first sweep; nothing is kept")
        self._store_outcome(results, len(heard))
        results = [results[number] for number in heard]
        parts = [partition(chains[number], result, stopping.tau) for number, result in zip(heard, results, strict=True)]
        self._store_consensus(points, parts, _mean_place(points, results))

    def _store_outcome(self, results: Sequence[ChainResult], n_heard: int) -> None:
        self.outcome_ = max((result.outcome for result in results), key=OUTCOMES.index)
        self.n_updates_ = sum(result.state.k for result in results)
        self._warn(self.outcome_, self.n_updates_, f"the consensus {self._whose(n_heard)}, as far as they came")

    def _whose(self, n_heard: int) -> str:
        of = self._count_chains()
        return f"of {n_heard} of {of} chains" if n_heard < of else f"of {of} chains"

    def _interruption(self) -> str:
        cut = super()._interruption()
        if not cut or not hasattr(self, "chain_labels_"):
            return cut
        return f"{cut}; labels_ is the consensus {self._whose(len(self.chain_labels_))}"

    def _store_consensus(self, points: Points, parts: Sequence[Partition], places: Array) -> None:
        labels = np.stack([part.labels for part in parts])
        found = consensus(labels, points.weights)
        # where no chain can change any more, neither can what they agree on
        certified, theorem2 = all(part.certified for part in parts), all(part.theorem2 for part in parts)
        part = partition_of(
            places,
            points.weights,
            found.labels,
            points.geometry,
            diameter=np.nan,
            gap=np.nan,
            certified=certified,
            theorem2=theorem2,
        )
        self._store_clusters(points, part)
        self._store_memberships(part, found.labels, found.shares, found.cluster_stability)
        self.partition_ = replace(part, labels=part.labels[points.inverse], centers=points.to_data(part.centers))
        self.points_ = points.to_data(places)[points.inverse]
        self.stability_, self.chain_labels_ = found.stability, labels[:, points.inverse]

    def _run_one(self, chain: Chain, stopping: Stopping, record: Record, callbacks: list[Callback]) -> ChainResult:
        # one chain of a GPU's is run there to its end, and together with those of other threads, if they gather
        return run_chains([chain], stopping, record=record, callbacks=callbacks, checkpoint=self._checkpoint())[0]

    def _problem(self, points: Points, h: float) -> Problem:
        problem = super()._problem(points, h)
        # several chains share the threads out among them, and none has more than one
        return problem if self._count_chains() == 1 else replace(problem, n_jobs=None)

    def _order(self) -> str:
        # by weight, a chain follows that of all rows, and takes as many updates: of many rows too many, since a cell of
        # a million rows would be visited a million times before one of a single row
        found = getattr(self, "summary_", None)
        return "even" if self.order == "random" and found is not None and found.weight > self._many else self.order

    def _scales(self, points: Points) -> Array | None:
        return local_scales(points.values, n_jobs=self.n_jobs) if self.local_scale else None

    def _count_chains(self) -> int:
        n_chains = self.n_chains
        if isinstance(n_chains, str) and n_chains == "auto":
            return 1
        if isinstance(n_chains, bool) or not isinstance(n_chains, Integral) or n_chains < 1:
            raise ValueError(f"n_chains must be 'auto' or a whole number >= 1; got {n_chains!r}.")
        return int(n_chains)


def _heard(results: Sequence[ChainResult]) -> list[int]:
    """Return the chains that have a say: all but those that an interruption cut short, if some had ended before it.

    If none had, those that had begun, if any: one that had not would say that all points lie apart.
    """
    ended = [number for number, result in enumerate(results) if result.outcome is not Outcome.INTERRUPTED]
    begun = [number for number, result in enumerate(results) if result.sweeps]
    return ended or begun


def _mean_place(points: Points, results: Sequence[ChainResult]) -> Array:
    """Return where each point ended, as the mean over the chains, on the unit sphere under cosine."""
    total = np.zeros(points.values.shape)
    for result in results:
        total += result.state.points
    if points.geometry.spherical:
        length = np.linalg.norm(total, axis=1, keepdims=True)
        total = np.where(length > 0, total, points.values) / np.where(length > 0, length, 1.0)
    else:
        total /= len(results)
    return total.astype(points.values.dtype)
