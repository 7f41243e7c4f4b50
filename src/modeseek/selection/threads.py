"""Runs functions over threads. Compiled code and NumPy release the interpreter lock for most of the work."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from joblib import effective_n_jobs

Item = TypeVar("Item")
Result = TypeVar("Result")


def run_all(function: Callable[[Item], Result], items: Iterable[Item], n_jobs: int | None) -> list[Result]:
    """Return the result for each item, in order.

    Examples
    --------
    >>> run_all(abs, [-1, 2, -3], 2)
    [1, 2, 3]
    """
    todo = list(items)
    workers = min(effective_n_jobs(n_jobs), len(todo))
    if workers <= 1:
        return [function(item) for item in todo]
    pool = ThreadPoolExecutor(workers)
    try:
        return list(pool.map(function, todo))
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
