"""Tasks in many threads, so that the chains they run on a GPU are run there together."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from queue import Empty, SimpleQueue
from threading import Event
from typing import TypeVar

from modeseek.meanshift.engines import ChainBatcher

T = TypeVar("T")
# default number of threads; each occupies one block of the GPU while it waits for a chain
TASK_THREADS = 256
# seconds between two wake-ups of the main thread, which may miss a signal that comes just before it waits
WAKE_UP = 0.2


def run_tasks_on_gpu(tasks: Sequence[Callable[[], T]], *, threads: int = TASK_THREADS) -> Iterator[tuple[int, T]]:
    """Run independent tasks in threads; the chains that they run on a GPU are batched.

    There is no advantage for other engines, for which processes are as good.

    Parameters
    ----------
    tasks : sequence of callables
        Functions without arguments.
    threads : int
        Number of tasks that run at a time.

    Yields
    ------
    number : int
        Index of a task that has ended.
    result : object
        Its return value.
    """
    workers = min(threads, len(tasks))
    batcher = ChainBatcher(workers)
    waiting: SimpleQueue[int] = SimpleQueue()
    ended: SimpleQueue[tuple[int, Future[T]]] = SimpleQueue()
    stop = Event()

    def work() -> None:
        with batcher.participate(), suppress(Empty):
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
            stop.set()  # tasks that have begun are finished


def _next(queue: SimpleQueue[T]) -> T:
    while True:
        with suppress(Empty):
            return queue.get(timeout=WAKE_UP)
