"""Chains in other processes, on this machine or on Dask workers; and the number of threads that chains can use."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from joblib import Parallel, delayed, effective_n_jobs, parallel_config
from joblib.parallel import get_active_backend

from modeseek._common.types import Stage, Watcher
from modeseek.meanshift.chains.algorithms import Chain
from modeseek.meanshift.chains.run import ChainResult, run
from modeseek.meanshift.chains.stopping import Stopping
from modeseek.meanshift.chains.trace import Record


@dataclass(frozen=True)
class ParallelConfig:
    """How chains are divided among cores. The values affect speed, not results.

    Attributes
    ----------
    points_per_thread : int
        Points times the square root of their dimension for each further thread. With as many, the compiled part of a
        sweep, which runs in parallel, takes about as long as the Python part, which does not.
    min_threads : int
        Number of threads that are never slower than one.
    processes_from : int
        At least this many chains run in processes, which start within seconds, if threads cannot use all cores.
    tasks_per_process : int
        Number of groups of chains for each process: large enough that all processes end at about the same time.
    """

    points_per_thread: int = 1000
    min_threads: int = 2
    processes_from: int = 500
    tasks_per_process: int = 8


DEFAULT_PARALLEL = ParallelConfig()


def useful_threads(chains: Sequence[Chain], config: ParallelConfig) -> int:
    """Return the number of threads that chains of this size can use."""
    if not chains:
        return 1
    n, d = max((chain.problem.points.shape for chain in chains), key=lambda shape: shape[0])
    return max(config.min_threads, 1 + round(n * d**0.5 / config.points_per_thread))


def needs_processes(chains: Sequence[Chain], n_jobs: int | None, config: ParallelConfig = DEFAULT_PARALLEL) -> bool:
    """Return whether `run_chains` uses processes, unless there are callbacks, a checkpoint or a GPU."""
    many = len(chains) >= config.processes_from
    return many and effective_n_jobs(n_jobs) > useful_threads(chains, config)


def report_ended(watch: Watcher | None, ended: int, n: int) -> None:
    """Report how many of n chains have ended."""
    if watch is not None:
        watch(Stage("chains", ended, n, "chains"))


def dask_client() -> Any:
    """Return the Dask client of joblib's active backend; None if another backend is active."""
    backend, _ = get_active_backend()
    return backend.client if type(backend).__name__ == "DaskDistributedBackend" else None


@dataclass(frozen=True)
class RemoteRun:
    """A run of one chain in another process; an object without arguments, which Dask does not search for futures."""

    chain: Chain
    stopping: Stopping
    record: Record | None

    def __call__(self) -> ChainResult:
        with parallel_config("threading", n_jobs=1):  # other chains use the other cores
            return run(self.chain, self.stopping, record=self.record)


def remote_runs(chains: Sequence[Chain], stopping: Stopping, record: Record | None) -> list[RemoteRun]:
    """Return the runs of chains; the first one records `record`."""
    return [RemoteRun(chain, stopping, record if chain is chains[0] else None) for chain in chains]


def _run_each(runs: Sequence[RemoteRun]) -> list[ChainResult]:
    return [each() for each in runs]


def run_in_processes(
    runs: Sequence[RemoteRun], watch: Watcher | None, workers: int, config: ParallelConfig
) -> list[ChainResult]:
    """Run chains in processes, a group at a time."""
    size = -(-len(runs) // (workers * config.tasks_per_process))
    groups = (runs[start : start + size] for start in range(0, len(runs), size))
    results: list[ChainResult] = []
    for some in Parallel(workers, batch_size=1, return_as="generator")(map(delayed(_run_each), groups)):
        results += some
        report_ended(watch, len(results), len(runs))
    return results


def run_on_dask(client: Any, runs: Sequence[RemoteRun], watch: Watcher | None) -> list[ChainResult]:
    """Run each chain on a worker."""
    from distributed import as_completed

    # joblib's loop would leave large arguments with one worker, and lose them if it dies
    futures = [client.submit(each, pure=False) for each in runs]
    try:
        for ended, _ in enumerate(as_completed(futures), 1):
            report_ended(watch, ended, len(runs))
        return client.gather(futures)
    finally:
        client.cancel([future for future in futures if not future.done()])
