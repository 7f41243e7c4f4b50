"""Several independent chains: on threads, on Dask workers, or together on a GPU, with the same results."""

import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from threading import Event, Lock
from typing import Any

from joblib import effective_n_jobs, parallel_config
from joblib.parallel import get_active_backend

from modeseek._common.types import Stage, Watcher
from modeseek._common.validation import check_integer
from modeseek.meanshift.chains.algorithms import Chain
from modeseek.meanshift.chains.checkpoint import Checkpoint, RunCheckpoint
from modeseek.meanshift.chains.run import ChainResult, run
from modeseek.meanshift.chains.stopping import Outcome, Stopping
from modeseek.meanshift.chains.trace import Record, Trace, rebuild_trace
from modeseek.meanshift.engines import CudaEngine
from modeseek.meanshift.types import Callback, ChainJob, ChainState, SweepInfo

# points times the root of their dimension for each further thread; then the compiled part of a sweep, which runs in
# parallel, takes about as long as the Python part, which does not
POINTS_PER_THREAD = 1000
# number of threads that are never slower than one
MIN_THREADS = 2
# seconds between two wake-ups of the main thread, which may miss a signal that comes just before it waits
WAKE_UP = 0.2


def make_chains(make: Callable[..., Chain], n: int) -> list[Chain]:
    """Return n independent chains with the same seed: `make(chain=0)`, `make(chain=1)`, ...

    Parameters
    ----------
    make : callable
        Function of `chain`, the second part of the key of the draws, that returns a `Chain`; usually
        `functools.partial` of `stochastic` or `doubly_stochastic`.
    n : int

    Examples
    --------
    >>> from functools import partial
    >>> from modeseek.meanshift.bandwidth import Uniform
    >>> from modeseek.meanshift.chains import doubly_stochastic, make_problem
    >>> make = partial(doubly_stochastic, make_problem([[0.0], [0.1], [5.0]]), Uniform(0.5, 1.0), seed=0)
    >>> len(make_chains(make, 3))
    3
    """
    return [make(chain=number) for number in range(check_integer("n", n, low=1))]


def run_chains(
    chains: Sequence[Chain],
    stopping: Stopping,
    *,
    n_jobs: int | None = None,
    callbacks: Iterable[Callback] = (),
    watch: Watcher | None = None,
    record: Record | None = None,
    checkpoint: Checkpoint | None = None,
) -> list[ChainResult]:
    """Run independent chains in parallel; the results are the same as those of separate runs.

    Ctrl-C ends all chains with `Outcome.INTERRUPTED`, each after its last complete sweep. Chains that have already
    ended keep their outcome, and those that have not begun return their initial state. A second Ctrl-C is raised.

    If joblib's Dask backend is active (`joblib.parallel_config("dask")`) and there are neither callbacks nor a
    checkpoint, the chains run on Dask workers. A chain whose worker dies is run again. Ctrl-C then keeps no result.

    If the engine is "cuda" and there are neither callbacks nor a checkpoint, all chains run together on the GPU. The
    trace then has the bandwidths and the largest shifts of the first chain, and `seconds` is the time of all chains.

    Parameters
    ----------
    chains : sequence of Chain
        Each made by a separate call, because a chain has a workspace that two runs cannot share.
    stopping : Stopping
        Stopping rule and limits of each chain.
    n_jobs : int, optional
        Number of threads: None is 1, -1 is all cores. Fewer are used for small data, whose sweeps are mostly Python
        code. Use processes (`joblib.Parallel`, one seed each) for a thousand small chains.
    callbacks : iterable of callables
        Each is called as f(state, info) after every sweep of every chain, one call at a time.
    watch : callable, optional
        Receives the number of chains that have ended, as a `Stage`, one call at a time.
    record : Record, optional
        Quantities to record for the first chain. The other chains record the default.
    checkpoint : Checkpoint, optional
        File in which to save the progress of all chains, and from which to resume them.

    Returns
    -------
    results : list of ChainResult
        In the order of the chains.

    Examples
    --------
    >>> from functools import partial
    >>> from modeseek.meanshift.bandwidth import Uniform
    >>> from modeseek.meanshift.chains import doubly_stochastic, make_problem, partition
    >>> make = partial(doubly_stochastic, make_problem([[0.0], [0.1], [5.0]]), Uniform(0.5, 1.0), seed=0)
    >>> chains = make_chains(make, 3)
    >>> results = run_chains(chains, Stopping(tau=0.1), n_jobs=2)
    >>> [partition(chain, result, 0.1).n_clusters for chain, result in zip(chains, results)]
    [2, 2, 2]
    """
    if len({id(chain.sweep) for chain in chains}) < len(chains):
        raise ValueError("a chain occurs twice: make each chain by a separate call.")
    callbacks = tuple(callbacks)
    if not callbacks and checkpoint is None:
        client = dask_client()
        if client is not None:
            runs = [_RemoteRun(chain, stopping, record if chain is chains[0] else None) for chain in chains]
            return _run_on_dask(client, runs, watch)
        if record in (None, Record()):
            results = _run_on_gpu(chains, stopping, watch)
            if results is not None:
                return results
    parts: Sequence[RunCheckpoint | None] = [None] * len(chains)
    if checkpoint is not None:
        parts = checkpoint.open(chains, stopping, record or Record())
    group = _ThreadGroup(callbacks, watch, len(chains))

    def run_one(number: int) -> ChainResult:
        return group.run(chains[number], stopping, record if number == 0 else None, parts[number])

    try:
        return _run_on_threads(chains, run_one, group.stop, n_jobs)
    finally:
        if checkpoint is not None:
            checkpoint.save()


def _run_on_threads(
    chains: Sequence[Chain], run_one: Callable[[int], ChainResult], stop: Event, n_jobs: int | None
) -> list[ChainResult]:
    workers = min(effective_n_jobs(n_jobs), len(chains), _useful_threads(chains))
    numbers = range(len(chains))
    if workers <= 1:
        return [run_one(number) for number in numbers]
    # joblib's loop would drop finished results when Ctrl-C is pressed
    futures: list[Future[ChainResult]] = []
    with ThreadPoolExecutor(workers) as pool:
        try:
            for number in numbers:
                futures.append(pool.submit(run_one, number))
            while wait(futures, WAKE_UP).not_done:
                pass
        except KeyboardInterrupt:
            stop.set()
    # an interruption may have come before all chains were submitted; the others return their initial state
    return [future.result() for future in futures] + [run_one(number) for number in numbers[len(futures) :]]


def _useful_threads(chains: Sequence[Chain]) -> int:
    if not chains:
        return 1
    n, d = max((chain.problem.points.shape for chain in chains), key=lambda shape: shape[0])
    return max(MIN_THREADS, 1 + round(n * d**0.5 / POINTS_PER_THREAD))


class _ThreadGroup:
    """State shared by chains on several threads: the callbacks, called one at a time, and an event that ends all."""

    def __init__(self, callbacks: tuple[Callback, ...], watch: Watcher | None, n_chains: int):
        self.stop = Event()
        self._callbacks, self._watch, self._lock = callbacks, watch, Lock()
        self._ended, self._n = 0, n_chains

    def run(
        self, chain: Chain, stopping: Stopping, record: Record | None, checkpoint: RunCheckpoint | None
    ) -> ChainResult:
        unstarted = ChainResult(chain.init(), Outcome.INTERRUPTED, Trace(), 0, 0.0)
        if self.stop.is_set():
            return unstarted
        try:
            result = run(chain, stopping, record=record, callbacks=[self._after_sweep], checkpoint=checkpoint)
        except KeyboardInterrupt:  # before the first sweep
            self.stop.set()
            return unstarted
        except BaseException:
            self.stop.set()  # results of the other chains would be lost
            raise
        if result.outcome is Outcome.INTERRUPTED:
            self.stop.set()
        else:
            with self._lock:
                self._ended += 1
                _report(self._watch, self._ended, self._n)
        return result

    def _after_sweep(self, state: ChainState, info: SweepInfo) -> None:
        with self._lock:
            for callback in self._callbacks:
                callback(state, info)
        if self.stop.is_set():
            raise KeyboardInterrupt


def _report(watch: Watcher | None, ended: int, n: int) -> None:
    if watch is not None:
        watch(Stage("chains", ended, n, "chains"))


def _run_on_gpu(chains: Sequence[Chain], stopping: Stopping, watch: Watcher | None) -> list[ChainResult] | None:
    """Run all chains together on the GPU; return None if that is not possible."""
    if not chains:
        return []
    first = chains[0].problem
    if not isinstance(first.engine, CudaEngine) or stopping.max_time is not None:
        return None
    shared = first.engine, first.profile, first.geometry
    problems = [chain.problem for chain in chains]
    if any((each.engine, each.profile, each.geometry) != shared for each in problems):
        return None
    if any(chain.plan is None for chain in chains):
        return None
    for chain in chains:
        stopping.check_fit(chain)
    jobs = [
        ChainJob(chain.problem.points, chain.problem.weights, chain.plan, stopping.ending(chain)) for chain in chains
    ]
    if not first.engine.can_run(jobs):
        return None
    began = time.perf_counter()
    ends = first.engine.run_to_end(
        jobs, first.profile, first.geometry, lambda ended: _report(watch, ended, len(chains))
    )
    _report(watch, len(chains), len(chains))
    seconds = time.perf_counter() - began
    traces = [rebuild_trace(chains[0], stopping.tau, ends[0]), *(Trace() for _ in ends[1:])]
    return [
        ChainResult(end.state, Outcome[end.outcome], trace, end.sweeps, seconds)
        for end, trace in zip(ends, traces, strict=True)
    ]


def dask_client() -> Any:
    """Return the Dask client of joblib's active backend; None if another backend is active."""
    backend, _ = get_active_backend()
    return backend.client if type(backend).__name__ == "DaskDistributedBackend" else None


@dataclass(frozen=True)
class _RemoteRun:
    """A run of one chain on a Dask worker; an object without arguments, which Dask does not search for futures."""

    chain: Chain
    stopping: Stopping
    record: Record | None

    def __call__(self) -> ChainResult:
        with parallel_config("threading", n_jobs=1):  # other chains use the other cores
            return run(self.chain, self.stopping, record=self.record)


def _run_on_dask(client: Any, runs: Sequence[_RemoteRun], watch: Watcher | None) -> list[ChainResult]:
    from distributed import as_completed

    # joblib's loop would leave large arguments with one worker, and lose them if it dies
    futures = [client.submit(each, pure=False) for each in runs]
    try:
        for ended, _ in enumerate(as_completed(futures), 1):
            _report(watch, ended, len(runs))
        return client.gather(futures)
    finally:
        client.cancel([future for future in futures if not future.done()])
