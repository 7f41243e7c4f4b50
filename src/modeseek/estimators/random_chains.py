"""Base class of the two random mean shifts: one chain, or several chains and their consensus."""

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from modeseek._common.points import Points
from modeseek._common.types import Array, Watcher
from modeseek._common.validation import check_integer, seed_of
from modeseek.estimators.chain_clusterer import ChainClusterer
from modeseek.estimators.result import FitData, FitResult, FitSettings, drop_small, membership_fields
from modeseek.meanshift.bandwidth import LocalFactor
from modeseek.meanshift.chains import Chain, ChainResult, Checkpoint, Outcome, Problem, Stopping, partition
from modeseek.meanshift.chains.progress import EnsembleProgress
from modeseek.meanshift.consensus import consensus
from modeseek.meanshift.engines import BruteEngine, CudaEngine
from modeseek.meanshift.ensemble import dask_client, make_chains, run_chains
from modeseek.meanshift.partition import Partition, partition_of
from modeseek.meanshift.types import Callback
from modeseek.selection.bandwidths import local_scales
from modeseek.sketches import joblib_on_dask

# from best to worst
OUTCOMES = list(Outcome)


@dataclass(eq=False, repr=False, kw_only=True)
class RandomChainClusterer(ChainClusterer):
    """Base class of the random mean shifts: a subclass implements `_choose_settings` and `_algorithm`."""

    tau: float | None = None
    max_updates: int | None = None
    max_time: float | None = None
    order: str = "random"
    batch_size: int = 1
    local_scale: bool = False
    local_factor: LocalFactor | None = None
    n_chains: int = 1
    random_state: Any = None

    def _algorithm(self, problem: Problem, settings: FitSettings) -> Callable[..., Chain]:
        """Return the algorithm as a function of the seed and the number of the chain, and of the way to draw points."""
        raise NotImplementedError

    def _chain_maker(self, data: FitData) -> Callable[..., Chain]:
        """Return a function that makes the chain number `chain`."""
        problem = self._problem(data.points, data.settings.largest_bandwidth)
        return partial(
            self._algorithm(problem, data.settings),
            seed=seed_of(self.random_state),
            order=self._order(data),
            batch_size=self.batch_size,
            local_scales=self._local_scales(data.points),
            local_factor=self._local_factor(data.points),
        )

    def _make_chain(self, data: FitData) -> tuple[Chain, Stopping]:
        chain = self._chain_maker(data)(chain=0)
        return chain, self._stopping(chain, self.tau, self.max_updates, self.max_time)

    def _solve(self, data: FitData, watch: Watcher | None) -> FitResult:
        n_chains = self._count_chains()
        if n_chains == 1:
            return super()._solve(data, watch)
        chains = make_chains(self._chain_maker(data), n_chains)
        stopping = self._stopping(chains[0], self.tau, self.max_updates, self.max_time)
        results = self._run_chains(chains, stopping, watch, distributed=data.distributed)
        counted = _counted(results)
        if not counted:
            raise KeyboardInterrupt(f"{type(self).__name__}: interrupted before the first sweep; there is no result")
        outcome = max((result.outcome for result in results), key=OUTCOMES.index)
        n_updates = sum(result.state.k for result in results)
        self._warn_unless_converged(outcome, n_updates, f"the consensus {self._of_chains(len(counted))}")
        return self._consensus(
            data,
            [partition(chains[i], results[i], stopping.tau) for i in counted],
            _mean_positions(data.points, [results[i] for i in counted]),
            settings=self._in_force(data, chains[0], stopping),
            outcome=outcome,
            n_updates=n_updates,
            trace=results[0].trace.restored(data.points),
        )

    def _run_chains(
        self, chains: Sequence[Chain], stopping: Stopping, watch: Watcher | None, *, distributed: bool
    ) -> list[ChainResult]:
        progress = None if watch is None else EnsembleProgress(watch, len(chains))
        with joblib_on_dask() if distributed else nullcontext():
            # chains in other processes, or of many sweeps at once, report only when they end
            at_once = isinstance(chains[0].problem.engine, BruteEngine) and chains[0].skip is not None
            silent = self.checkpoint is None and (dask_client() or at_once)
            own: list[Callback] = [] if progress is None or silent else [progress]
            return run_chains(
                chains,
                stopping,
                n_jobs=self.n_jobs,
                callbacks=[*own, *(self.callbacks or ())],
                watch=None if progress is None else progress.ended,
                record=self._record(),
                checkpoint=self._checkpoint(watch),
            )

    def _consensus(self, data: FitData, parts: Sequence[Partition], positions: Array, **fields: Any) -> FitResult:
        """Return the result for the consensus of the partitions by several chains."""
        points, chain_labels = data.points, np.stack([part.labels for part in parts])
        found = consensus(chain_labels, points.weights)
        part = partition_of(
            positions,
            points.weights,
            found.labels,
            points.geometry,
            diameter=np.nan,
            gap=np.nan,
            # if no chain can change any more, the consensus cannot either
            certified=all(part.certified for part in parts),
            theorem2=all(part.theorem2 for part in parts),
        )
        final = drop_small(part, self.min_cluster_size)
        return self._chain_result(
            data,
            part,
            final,
            points=points.to_data(positions)[points.inverse],
            stability=found.stability,
            chain_labels=chain_labels[:, points.inverse],
            **membership_fields(data, final[0], found.labels, found.shares, found.cluster_stability),
            **fields,
        )

    def _of_chains(self, n_counted: int) -> str:
        n = self._count_chains()
        return f"of {n_counted} of {n} chains" if n_counted < n else f"of {n} chains"

    def _interruption(self, result: FitResult) -> str:
        text = super()._interruption(result)
        if result.chain_labels is None:
            return text
        return f"{text}; labels_ are the consensus {self._of_chains(result.n_chains)}"

    def _run_chain(
        self, chain: Chain, stopping: Stopping, callbacks: list[Callback], checkpoint: Checkpoint | None
    ) -> ChainResult:
        # `run_chains` can run the whole chain on a GPU, together with chains of other threads
        record = self._record()
        return run_chains([chain], stopping, record=record, callbacks=callbacks, checkpoint=checkpoint)[0]

    def _checkpoint(self, watch: Watcher | None = None) -> Checkpoint | None:
        if self.checkpoint is not None and self.random_state is None:
            raise ValueError(
                "checkpoint needs random_state: without one, every fit makes other random draws, and none can resume "
                "another. Set random_state to an integer."
            )
        return super()._checkpoint(watch)

    def _problem(self, points: Points, h: float) -> Problem:
        problem = super()._problem(points, h)
        if self.engine == "auto" and self.local_factor is not None and isinstance(problem.engine, CudaEngine):
            problem = replace(problem, engine=BruteEngine())
        # several chains share the threads: each runs in one
        return problem if self._count_chains() == 1 else replace(problem, n_jobs=None)

    def _memory(self, n: int, d: int, itemsize: int) -> float:
        chains = self._count_chains()
        several = 0.0 if chains == 1 else chains * n * (200.0 + 4 * itemsize * d) + min(1.2e8, 30.0 * n * n)
        return super()._memory(n, d, itemsize) + several

    def _order(self, data: FitData) -> str:
        """Return the order in which points are updated: "even" instead of "random" for a sketch of many rows.

        In random order, points are drawn in proportion to their weight: a cell of a million rows would be updated a
        million times as often as a cell of one row.
        """
        many = data.sketch is not None and data.sketch.weight > self._sketch_config.max_rows
        return "even" if self.order == "random" and many else self.order

    @property
    def _needs_all_rows(self) -> bool:
        return self.local_scale

    def _moves_one_by_one(self) -> bool:
        return self.batch_size == 1

    def _single_updates(self) -> bool:
        return self.batch_size == 1 and not self.local_scale and self.local_factor is None

    def _local_scales(self, points: Points) -> Array | None:
        return local_scales(points.values, n_jobs=self.n_jobs) if self.local_scale else None

    def _local_factor(self, points: Points) -> LocalFactor | None:
        """Return the local factor as a function of canonical points."""
        given = self.local_factor
        if given is None:
            return None
        if not isinstance(given, LocalFactor):
            raise TypeError(
                f"local_factor must be None or a LocalFactor(function, low, high) of modeseek.meanshift.bandwidth; "
                f"got {given!r}."
            )
        return replace(given, function=lambda point, density: given.function(points.to_data(point[None])[0], density))

    def _count_chains(self) -> int:
        return check_integer("n_chains", self.n_chains, low=1)


def _counted(results: Sequence[ChainResult]) -> list[int]:
    """Return the chains that enter the consensus: those that ended before an interruption.

    If none had ended, those that had started. A chain that had not started would put every point in its own cluster.
    """
    ended = [number for number, result in enumerate(results) if result.outcome is not Outcome.INTERRUPTED]
    begun = [number for number, result in enumerate(results) if result.sweeps]
    return ended or begun


def _mean_positions(points: Points, results: Sequence[ChainResult]) -> Array:
    """Return the mean final position of each point over the chains, on the unit sphere under cosine."""
    total = np.zeros(points.values.shape)
    for result in results:
        total += result.state.points
    if points.geometry.spherical:
        length = np.linalg.norm(total, axis=1, keepdims=True)
        total = np.where(length > 0, total, points.values) / np.where(length > 0, length, 1.0)
    else:
        total /= len(results)
    return total.astype(points.values.dtype)
