"""Chains on Dask workers."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from joblib import parallel_config
from joblib.parallel import get_active_backend

from modeseek._common.types import Stage, Watcher
from modeseek.meanshift.chains.chain import Chain
from modeseek.meanshift.chains.run import ChainResult, run
from modeseek.meanshift.chains.stopping import Stopping
from modeseek.meanshift.chains.trace import Record


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
    """A run of one chain in another process. The chain is no argument of the call, because Dask searches arguments."""

    chain: Chain
    stopping: Stopping
    record: Record | None

    def __call__(self) -> ChainResult:
        with parallel_config("threading", n_jobs=1):  # other chains use the other cores
            return run(self.chain, self.stopping, record=self.record)


def run_on_dask(
    client: Any, chains: Sequence[Chain], stopping: Stopping, record: Record | None, watch: Watcher | None
) -> list[ChainResult]:
    """Run each chain on a worker; only the first chain records the quantities of `record`."""
    from distributed import as_completed

    runs = [RemoteRun(chain, stopping, record if chain is chains[0] else Record.nothing()) for chain in chains]
    # joblib's loop is not used: it keeps large arguments on one worker, and loses them if this worker dies
    futures = [client.submit(each, pure=False) for each in runs]
    try:
        for ended, _ in enumerate(as_completed(futures), 1):
            report_ended(watch, ended, len(runs))
        return client.gather(futures)
    finally:
        client.cancel([future for future in futures if not future.done()])
