"""Several chains at once: independent runs on threads, with the results of one after the other."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import suppress
from queue import Empty, SimpleQueue
from threading import Event, Lock
from typing import Any, NamedTuple, TypeVar

from joblib import effective_n_jobs, parallel_config
from joblib.parallel import get_active_backend

from modeseek._common.types import Stage, Watcher
from modeseek._common.validation import check_integer
from modeseek.meanshift.chains import (
    Chain,
    ChainResult,
    Checkpoint,
    Outcome,
    Record,
    Stopping,
    Trace,
    rebuild_trace,
    run,
)
from modeseek.meanshift.chains.checkpoint import RunCheckpoint
from modeseek.meanshift.engines import ChainBatcher, CudaEngine
from modeseek.meanshift.types import Callback, ChainJob, ChainState, SweepInfo

__all__ = ["dask_client", "make_chains", "run_chains", "run_tasks_on_gpu"]

T = TypeVar("T")
# pieces of work under way at a time: each is a thread, and a block of the device while it waits for a chain
GATHERED = 256
# points times the root of their dimension, for each thread beyond the first: the compiled part of a sweep, which runs
# beside others, is then about as long as the rest of it, which does not; and threads that never hurt
FOR_A_THREAD, ALWAYS = 1000, 2
# seconds that the main thread waits at a stretch: a signal that comes just before it falls asleep wakes nobody
PULSE = 0.2


def make_chains(make: Callable[..., Chain], n: int) -> list[Chain]:
    """Return n independent chains of one seed: `make(chain=0)`, `make(chain=1)`, ...

    Parameters
    ----------
    make : callable
        Takes `chain`, the second half of the key of the draws, and returns a `Chain`; usually `functools.partial` of
        `stochastic` or `doubly_stochastic` with everything else given.
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
    """Run independent chains, several at a time; the results are those of running one after the other.

    Ctrl-C ends all of them: each keeps its last whole sweep, with `Outcome.INTERRUPTED`. A chain that had ended keeps
    its outcome, and one that had not begun is at its start. A second Ctrl-C, while sweeps come to their end, is raised.

    Where joblib's Dask backend is in force (`joblib.parallel_config("dask")`) and there are no callbacks, chains go to
    Dask's workers, with the same results. A chain whose worker dies is run again by another. Ctrl-C keeps nothing then.

    Where the engine is "cuda" and there are no callbacks, all chains run on the device at once. Of the first the
    bandwidths and the largest shifts are recorded, as ever; `seconds` are those of all.

    Parameters
    ----------
    chains : sequence of Chain
        Each made by a call of its own: a chain holds a workspace, which two runs cannot share.
    stopping : Stopping
        When each of them ends; limits hold for each chain by itself.
    n_jobs : int, optional
        How many run at a time, on threads: compiled sums run side by side. None means 1, -1 all cores. Chains of few
        points take fewer: their sweeps are mostly Python, for which threads wait for each other. A thousand small
        chains are work for processes (`joblib.Parallel`, a process for each seed).
    callbacks : iterable of callables
        Each is called as f(state, info) after every sweep of every chain, one call at a time.
    watch : callable, optional
        Told how many chains have ended, as a `Stage`; one call at a time too.
    record : Record, optional
        What to keep in the trace of the first chain; the others keep what they keep by default.
    checkpoint : Checkpoint, optional
        Where to keep how far all of them have come; the same chains then go on from there. They run here, then, on
        threads.

    Returns
    -------
    results : list of ChainResult
        In the order of the chains.

    Examples
    --------
    >>> from functools import partial
    >>> from modeseek.meanshift.bandwidth import Uniform
    >>> from modeseek.meanshift.chains import doubly_stochastic, partition, make_problem
    >>> make = partial(doubly_stochastic, make_problem([[0.0], [0.1], [5.0]]), Uniform(0.5, 1.0), seed=0)
    >>> chains = make_chains(make, 3)
    >>> results = run_chains(chains, Stopping(tau=0.1), n_jobs=2)
    >>> [partition(chain, result, 0.1).n_clusters for chain, result in zip(chains, results)]
    [2, 2, 2]
    """
    if len({id(chain.sweep) for chain in chains}) < len(chains):
        raise ValueError("the same chain twice: make each chain by a call of its own.")
    callbacks = tuple(callbacks)
    client = dask_client()
    near = bool(callbacks) or checkpoint is not None  # these want to see every sweep
    if client is not None and not near:
        return _run_away(
            client, [_Job(chain, stopping, record if chain is chains[0] else None) for chain in chains], watch
        )
    together = None if near or record not in (None, Record()) else _run_together(chains, stopping, watch)
    if together is not None:
        return together
    shared = _Shared(callbacks, watch, len(chains))
    slots = {}
    if checkpoint is not None:
        opened = checkpoint.open(chains, stopping, record or Record())
        slots = {id(chain.sweep): slot for chain, slot in zip(chains, opened, strict=True)}

    def one(chain: Chain) -> ChainResult:
        slot = slots.get(id(chain.sweep))
        return shared.run(chain, stopping, record if chain is chains[0] else None, slot)

    try:
        return _run_threads(chains, one, shared, n_jobs)
    finally:
        if checkpoint is not None:
            checkpoint.save()


def _run_threads(
    chains: Sequence[Chain], one: Callable[[Chain], ChainResult], shared: _Shared, n_jobs: int | None
) -> list[ChainResult]:
    workers = min(effective_n_jobs(n_jobs), len(chains), _of_use(chains))
    if workers <= 1:
        return [one(chain) for chain in chains]
    # an executor rather than joblib's loop, which drops what was done when Ctrl-C comes
    futures: list[Future[ChainResult]] = []
    with ThreadPoolExecutor(workers) as pool:
        try:
            for chain in chains:
                futures.append(pool.submit(one, chain))
            while wait(futures, PULSE).not_done:
                pass
        except KeyboardInterrupt:
            shared.stop.set()  # heard by each chain at the end of its sweep
    # those that the interruption kept from being handed over come last, at their start
    return [future.result() for future in futures] + [one(chain) for chain in chains[len(futures) :]]


def _of_use(chains: Sequence[Chain]) -> int:
    """Return how many threads have something to do at a time."""
    if not chains:
        return 1
    n, d = max((chain.problem.points.shape for chain in chains), key=lambda shape: shape[0])
    return max(ALWAYS, 1 + round(n * d**0.5 / FOR_A_THREAD))


def _run_together(chains: Sequence[Chain], stopping: Stopping, watch: Watcher | None) -> list[ChainResult] | None:
    """Have an engine run all chains at once; None where it cannot, or they are not of one kind."""
    if not chains:
        return []
    problem = chains[0].problem
    if not isinstance(problem.engine, CudaEngine) or stopping.max_time is not None:
        return None
    if any(
        each.plan is None
        or (each.problem.engine, each.problem.profile, each.problem.geometry)
        != (problem.engine, problem.profile, problem.geometry)
        for each in chains
    ):
        return None
    for each in chains:
        stopping.check_fit(each)
    jobs = [ChainJob(each.problem.points, each.problem.weights, each.plan, stopping.ending(each)) for each in chains]
    if not problem.engine.takes(jobs):
        return None
    began = time.perf_counter()

    def tell(ended: int) -> None:
        if watch is not None:
            watch(Stage("chains", ended, len(chains), "chains"))

    ends = problem.engine.run_many(jobs, problem.profile, problem.geometry, tell)
    tell(len(chains))
    seconds = time.perf_counter() - began
    return [
        ChainResult(
            end.state,
            Outcome[end.outcome],
            rebuild_trace(chain, stopping.tau, end) if chain is chains[0] else Trace(),
            end.sweeps,
            seconds,
        )
        for chain, end in zip(chains, ends, strict=True)
    ]


def run_tasks_on_gpu(tasks: Sequence[Callable[[], T]], *, threads: int = GATHERED) -> Iterator[tuple[int, T]]:
    """Do pieces of work in threads, so that the chains they run on a GPU run there together.

    Only the device gains by this: other engines do as well in processes.

    Parameters
    ----------
    tasks : sequence of callables
        Without arguments. They must not depend on each other.
    threads : int
        How many are under way at a time.

    Yields
    ------
    number : int
        Which of them has ended.
    result : object
        What it returned.
    """
    workers = min(threads, len(tasks))
    gathering = ChainBatcher(workers)
    waiting: SimpleQueue[int] = SimpleQueue()
    ended: SimpleQueue[tuple[int, Future[T]]] = SimpleQueue()
    stop = Event()

    def work() -> None:
        with gathering.member(), suppress(Empty):
            while not stop.is_set():
                number, future = waiting.get_nowait(), Future[T]()
                try:
                    future.set_result(tasks[number]())
                except BaseException as error:
                    future.set_exception(error)
                ended.put((number, future))

    for number in range(len(tasks)):
        waiting.put(number)
    with ThreadPoolExecutor(max(1, workers)) as pool:
        try:
            for _ in range(workers):
                pool.submit(work)
            for _ in tasks:
                number, future = _next(ended)
                yield number, future.result()
        finally:
            stop.set()  # who is at work comes to the end of it


def _next(queue: SimpleQueue[T]) -> T:
    while True:
        with suppress(Empty):
            return queue.get(timeout=PULSE)


def dask_client() -> Any:
    """Return the client of Dask that jobs go to, which is that of joblib's Dask backend; None where another is set."""
    backend, _ = get_active_backend()
    return backend.client if type(backend).__name__ == "DaskDistributedBackend" else None


class _Shared:
    """What the runs share: the callbacks, one at a time, and the word to stop."""

    def __init__(self, callbacks: tuple[Callback, ...], watch: Watcher | None, n_chains: int):
        self.stop = Event()
        self._callbacks, self._watch, self._lock = callbacks, watch, Lock()
        self._ended, self._n = 0, n_chains

    def run(self, chain: Chain, stopping: Stopping, record: Record | None, slot: RunCheckpoint | None) -> ChainResult:
        if self.stop.is_set():
            return _at_start(chain)
        try:
            result = run(chain, stopping, record=record, callbacks=[self._after_sweep], checkpoint=slot)
        except KeyboardInterrupt:  # before its first sweep: the chains before it are kept all the same
            self.stop.set()
            return _at_start(chain)
        except BaseException:
            self.stop.set()  # nobody will see what the others would still find
            raise
        if result.outcome is Outcome.INTERRUPTED:
            self.stop.set()
        else:
            self._tell()
        return result

    def _tell(self) -> None:
        with self._lock:
            self._ended += 1
            if self._watch is not None:
                self._watch(Stage("chains", self._ended, self._n, "chains"))

    def _after_sweep(self, state: ChainState, info: SweepInfo) -> None:
        with self._lock:
            for callback in self._callbacks:
                callback(state, info)
        if self.stop.is_set():
            raise KeyboardInterrupt


class _Job(NamedTuple):
    """A chain to run elsewhere."""

    chain: Chain
    stopping: Stopping
    record: Record | None


def _run_away(client: Any, jobs: Sequence[_Job], watch: Watcher | None) -> list[ChainResult]:
    from distributed import as_completed

    # not by joblib's loop, which leaves large arguments with one worker: its death would lose them
    futures = [client.submit(_Runner(job), pure=False) for job in jobs]
    try:
        for ended, _ in enumerate(as_completed(futures), 1):
            if watch is not None:
                watch(Stage("chains", ended, len(jobs), "chains"))
        return client.gather(futures)
    finally:
        client.cancel([future for future in futures if not future.done()])


class _Runner:
    """Runs a chain, somewhere; an object, in which nobody looks for futures."""

    def __init__(self, job: _Job):
        self._job = job

    def __call__(self) -> ChainResult:
        # one thread each, as beside other chains on one machine
        with parallel_config("threading", n_jobs=1):
            return run(self._job.chain, self._job.stopping, record=self._job.record)


def _at_start(chain: Chain) -> ChainResult:
    return ChainResult(chain.init(), Outcome.INTERRUPTED, Trace(), 0, 0.0)
