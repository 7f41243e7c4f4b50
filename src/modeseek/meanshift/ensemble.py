"""Several independent chains: on threads, on Dask workers, or together on a GPU, with equal results."""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from functools import partial
from threading import Event, Lock
from typing import Any, TypeVar

from joblib import effective_n_jobs, parallel_config
from joblib.parallel import get_active_backend

from modeseek._common.types import Stage, Watcher
from modeseek._common.validation import check_integer
from modeseek.meanshift.chains.chain import Chain
from modeseek.meanshift.chains.checkpoint import Checkpoint, RunCheckpoint
from modeseek.meanshift.chains.run import ChainResult, run
from modeseek.meanshift.chains.stopping import Outcome, Stopping
from modeseek.meanshift.chains.trace import Record, Trace, rebuild_trace
from modeseek.meanshift.engines import CudaEngine
from modeseek.meanshift.types import Callback, ChainJob, ChainState, SweepInfo

# the waiting main thread wakes up after this many seconds, to notice a signal that arrived just before it waited
WAKE_UP = 0.2
# Points times the root of their dimension for each further thread. Then the compiled part of a sweep, which runs in
# parallel, takes about as long as the Python part, which does not.
POINTS_PER_THREAD = 1000
# the same for chains whose sweeps are applied many at a time
POINTS_PER_THREAD_AT_ONCE = 40
# number of threads that are never slower than one
MIN_THREADS = 2

T = TypeVar("T")


def useful_threads(chains: Sequence[Chain], *, every_sweep: bool) -> int:
    """Return the number of threads that chains of this size can use.

    `every_sweep` tells whether Python code, such as a callback, runs after each sweep.
    """
    if not chains:
        return 1
    n, d = max((chain.problem.points.shape for chain in chains), key=lambda shape: shape[0])
    one_by_one = every_sweep or any(chain.skip is None for chain in chains)
    per_thread = POINTS_PER_THREAD if one_by_one else POINTS_PER_THREAD_AT_ONCE
    return max(MIN_THREADS, 1 + round(n * d**0.5 / per_thread))


def make_chains(make: Callable[..., Chain], n: int) -> list[Chain]:
    """Return n independent chains with the same seed: `make(chain=0)`, `make(chain=1)`, ...

    Parameters
    ----------
    make : callable
        Function that returns a `Chain`; usually `functools.partial` of `stochastic` or `doubly_stochastic`. Its keyword
        argument `chain` is the second part of the key of the random draws.
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
    ended keep their outcome, and those that have not begun return their initial state. A second Ctrl-C raises
    `KeyboardInterrupt`.

    If joblib's Dask backend is active (`joblib.parallel_config("dask")`) and there are neither callbacks nor a
    checkpoint, the chains run on Dask workers. A chain whose worker dies is run again. Ctrl-C discards all results.

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
        code, which threads cannot run in parallel.
    callbacks : iterable of callables
        Each is called as f(state, info) after every sweep of every chain, one call at a time.
    watch : callable, optional
        Receives the number of chains that have ended, as a `Stage`, one call at a time.
    record : Record, optional
        Quantities to record for the first chain. The other chains record nothing.
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
            return _run_on_workers(client, chains, stopping, record, watch)
        if record in (None, Record()):
            results = _run_on_gpu(chains, stopping, watch)
            if results is not None:
                return results
    parts: Sequence[RunCheckpoint | None] = [None] * len(chains)
    if checkpoint is not None:
        parts = checkpoint.open(chains, stopping, record or Record())
    group = _ThreadGroup(callbacks, watch, len(chains))

    def run_one(number: int) -> ChainResult:
        return group.run(chains[number], stopping, Record.nothing() if number else record, parts[number])

    useful = useful_threads(chains, every_sweep=bool(callbacks) or checkpoint is not None)
    workers = min(effective_n_jobs(n_jobs), len(chains), useful)
    try:
        return _run_on_threads(len(chains), run_one, group.stop, workers)
    finally:
        if checkpoint is not None:
            checkpoint.save()


def dask_client() -> Any:
    """Return the Dask client of joblib's active backend; None if another backend is active."""
    backend, _ = get_active_backend()
    return backend.client if type(backend).__name__ == "DaskDistributedBackend" else None


def call_on_dask(client: Any, calls: Iterable[Callable[[], T]]) -> Iterator[tuple[int, T]]:
    """Make each call on a Dask worker, and yield its number and its result when it has ended.

    joblib's loop is not used: it keeps large arguments on one worker and loses them if this worker dies, and it makes
    the calls in this process if there is one worker with one thread.
    """
    from distributed import as_completed

    numbers = {client.submit(call, pure=False): number for number, call in enumerate(calls)}
    try:
        for future, result in as_completed(numbers, with_results=True):
            yield numbers[future], result
    finally:
        client.cancel([future for future in numbers if not future.done()])


def _run_on_workers(
    client: Any, chains: Sequence[Chain], stopping: Stopping, record: Record | None, watch: Watcher | None
) -> list[ChainResult]:
    """Run each chain on a Dask worker; only the first chain records the quantities of `record`."""
    runs = [partial(_run_alone, chain, stopping, Record.nothing()) for chain in chains]
    runs[:1] = [partial(_run_alone, chain, stopping, record) for chain in chains[:1]]
    results: dict[int, ChainResult] = {}
    for number, result in call_on_dask(client, runs):
        results[number] = result
        _report_ended(watch, len(results), len(runs))
    return [results[number] for number in range(len(runs))]


def _run_alone(chain: Chain, stopping: Stopping, record: Record | None) -> ChainResult:
    with parallel_config("threading", n_jobs=1):  # other chains use the other cores
        return run(chain, stopping, record=record)


def _report_ended(watch: Watcher | None, ended: int, n: int) -> None:
    """Report how many of n chains have ended."""
    if watch is not None:
        watch(Stage("chains", ended, n, "chains"))


def _run_on_threads(count: int, run_one: Callable[[int], ChainResult], stop: Event, workers: int) -> list[ChainResult]:
    if workers <= 1:
        return [run_one(number) for number in range(count)]
    futures = []
    # joblib's loop would drop finished results when Ctrl-C is pressed
    with ThreadPoolExecutor(workers) as pool:
        try:
            for number in range(count):
                futures.append(pool.submit(run_one, number))
            while wait(futures, WAKE_UP).not_done:
                pass
        except KeyboardInterrupt:
            stop.set()
    # an interruption may have come before all chains were submitted: the other ones return their initial state
    return [future.result() for future in futures] + [run_one(number) for number in range(len(futures), count)]


class _ThreadGroup:
    """State shared by chains on several threads: callbacks, called one at a time, and an event that ends all chains."""

    def __init__(self, callbacks: tuple[Callback, ...], watch: Watcher | None, n_chains: int):
        self.stop = Event()
        self._callbacks, self._watch, self._lock = callbacks, watch, Lock()
        self._ended, self._n = 0, n_chains

    def run(
        self, chain: Chain, stopping: Stopping, record: Record | None, checkpoint: RunCheckpoint | None
    ) -> ChainResult:
        if self.stop.is_set():
            return _unstarted(chain)
        try:
            callbacks = [self._after_sweep] if self._callbacks else []
            result = run(chain, stopping, record=record, callbacks=callbacks, checkpoint=checkpoint, stop=self.stop)
        except KeyboardInterrupt:  # before the first sweep
            self.stop.set()
            return _unstarted(chain)
        except BaseException:
            self.stop.set()  # the other chains end too, because their results would be lost
            raise
        if result.outcome is Outcome.INTERRUPTED:
            self.stop.set()
        else:
            with self._lock:
                self._ended += 1
                _report_ended(self._watch, self._ended, self._n)
        return result

    def _after_sweep(self, state: ChainState, info: SweepInfo) -> None:
        with self._lock:
            for callback in self._callbacks:
                callback(state, info)


def _unstarted(chain: Chain) -> ChainResult:
    return ChainResult(chain.init(), Outcome.INTERRUPTED, Trace(), 0, 0.0)


def _run_on_gpu(chains: Sequence[Chain], stopping: Stopping, watch: Watcher | None) -> list[ChainResult] | None:
    """Run all chains together on the GPU; return None if that is not possible."""
    if not chains:
        return []
    first = chains[0].problem
    if not isinstance(first.engine, CudaEngine) or stopping.max_time is not None:
        return None
    shared = first.engine, first.profile, first.geometry
    jobs = []
    for chain in chains:
        problem = chain.problem
        if chain.plan is None or (problem.engine, problem.profile, problem.geometry) != shared:
            return None
        stopping.check_fit(chain)
        jobs.append(ChainJob(problem.points, problem.weights, chain.plan, stopping.ending(chain)))
    if not first.engine.can_run(jobs):
        return None
    began = time.perf_counter()
    ends = first.engine.run_to_end(
        jobs, first.profile, first.geometry, lambda ended: _report_ended(watch, ended, len(chains))
    )
    _report_ended(watch, len(chains), len(chains))
    seconds = time.perf_counter() - began
    traces = [rebuild_trace(chains[0], stopping.tau, ends[0]), *(Trace() for _ in ends[1:])]
    return [
        ChainResult(end.state, Outcome[end.outcome], trace, end.sweeps, seconds)
        for end, trace in zip(ends, traces, strict=True)
    ]
