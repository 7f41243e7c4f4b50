"""A progress bar for a list of jobs of known size."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

__all__ = ["job_bar"]


@contextmanager
def job_bar(title: str, total: float, done: float = 0.0) -> Iterator[Callable[[float], None]]:
    """Show the completed part of a known amount of work, and the time left, on standard error.

    Yields a function that adds to the completed amount. If standard error is not a terminal, a line is printed each
    time that another tenth of the work is completed.

    Parameters
    ----------
    title : str
        Text in front of the bar.
    total, done : float
        The whole amount of work, and the part that was completed before.
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
        yield _Log(title, total, done).advance
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
    # jobs differ in length, so the speed is averaged over five minutes
    with Progress(*columns, console=console, speed_estimate_period=300.0) as progress:
        task = progress.add_task(title, total=total)
        progress.advance(task, done)
        yield lambda amount: progress.advance(task, amount)


class _Log:
    """Prints a line at each tenth of the work."""

    def __init__(self, title: str, total: float, done: float):
        self._title, self._total, self._start, self._done = title, total, done, done
        self._began, self._printed = time.perf_counter(), int(10 * done / total) if total else 10

    def advance(self, amount: float) -> None:
        self._done += amount
        tenths = int(10 * self._done / self._total + 1e-9)
        if tenths > self._printed:
            self._printed = tenths
            passed = time.perf_counter() - self._began
            left = passed * (self._total - self._done) / max(self._done - self._start, 1e-9)
            text = f"{self._title}: {10 * tenths} %, {passed:.0f} s, about {left:.0f} s left"
            print(text, file=sys.stderr, flush=True)
