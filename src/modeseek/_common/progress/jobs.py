"""A bar for jobs of a known amount of work."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

__all__ = ["job_bar"]


@contextmanager
def job_bar(title: str, total: float, done: float = 0.0) -> Iterator[Callable[[float], None]]:
    """Show how much of a known amount of work is done, and the time left, on standard error while the block runs.

    Yields a function that takes the amount just done. Where standard error is no terminal, it prints a line at each
    tenth.
    """
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        TaskProgressColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    console = Console(stderr=True)
    if not (console.is_terminal or console.is_jupyter):
        yield _Tenths(title, total, done).advance
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TextColumn("elapsed"),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    # jobs differ in length, so the speed is taken over minutes
    with Progress(*columns, console=console, speed_estimate_period=300.0) as progress:
        task = progress.add_task(title, total=total)
        progress.advance(task, done)
        yield lambda amount: progress.advance(task, amount)


class _Tenths:
    """Lines for a log: one at each tenth of the work, with the time left."""

    def __init__(self, title: str, total: float, done: float):
        self._title, self._total, self._start, self._done = title, total, done, done
        self._began, self._told = time.perf_counter(), int(10 * done / total) if total else 10

    def advance(self, amount: float) -> None:
        self._done += amount
        tenths = int(10 * self._done / self._total + 1e-9)
        if tenths > self._told:
            self._told = tenths
            passed = time.perf_counter() - self._began
            left = passed * (self._total - self._done) / max(self._done - self._start, 1e-9)
            print(
                f"{self._title}: {10 * tenths} %, {passed:.0f} s, about {left:.0f} s left", file=sys.stderr, flush=True
            )
