"""Runs functions over threads. Compiled code and NumPy release the interpreter lock for most of the work."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from joblib import effective_n_jobs

Item = TypeVar("Item")
Result = TypeVar("Result")


def run_each(function: Callable[[Item], Result], items: Iterable[Item], n_jobs: int | None) -> Iterator[Result]:
    """Yield the result for each item, in order.

    Examples
    --------
    >>> list(run_each(abs, [-1, 2, -3], 2))
    [1, 2, 3]
    """
    todo = list(items)
    workers = min(effective_n_jobs(n_jobs), len(todo))
    if workers <= 1:
        yield from map(function, todo)
        return
    pool = ThreadPoolExecutor(workers)
    try:
        yield from pool.map(function, todo)
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
