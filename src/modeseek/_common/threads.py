"""Run a function on many items in threads. Compiled code and NumPy release the GIL for most of the work."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from typing import Any, Generic, TypeVar

from joblib import effective_n_jobs

Item = TypeVar("Item")
Result = TypeVar("Result")


class Later(Generic[Result]):
    """A value that is computed once, when it is first needed or earlier by an idle thread.

    Examples
    --------
    >>> value = Later(lambda: print("computed") or 2)
    >>> value() + value()
    computed
    4
    """

    def __init__(self, function: Callable[[], Result]) -> None:
        self._function, self._lock, self._found = function, Lock(), list[Result]()

    def __call__(self) -> Result:
        with self._lock:
            if not self._found:
                self._found.append(self._function())
            return self._found[0]


def run_each(
    function: Callable[[Item], Result],
    items: Iterable[Item],
    n_jobs: int | None,
    *,
    cost: Callable[[Item], float] | None = None,
    beside: Sequence[Later[Any]] = (),
) -> Iterator[Result]:
    """Yield the result for each item, in order.

    Parameters
    ----------
    function : callable
    items : iterable
    n_jobs : int, optional
        Number of threads, as in joblib.
    cost : callable, optional
        With several threads, items of higher cost start first.
    beside : sequence of Later
        Values that idle threads compute after all items have started.

    Examples
    --------
    >>> list(run_each(abs, [-1, 2, -3], 2))
    [1, 2, 3]
    """
    todo = list(items)
    workers = min(effective_n_jobs(n_jobs), len(todo) + len(beside))
    if workers <= 1:
        yield from map(function, todo)
        return
    order = range(len(todo)) if cost is None else sorted(range(len(todo)), key=lambda i: -cost(todo[i]))
    pool = ThreadPoolExecutor(workers)
    try:
        futures = {i: pool.submit(function, todo[i]) for i in order}
        for each in beside:
            pool.submit(each)
        for i in range(len(todo)):
            yield futures.pop(i).result()
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
