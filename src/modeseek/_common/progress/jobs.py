"""A progress bar for a list of jobs of known size."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from modeseek._common.progress.display import show_progress
from modeseek._common.types import Stage, Watcher


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
    with show_progress(title) as line:
        report: Watcher = _Log(title) if line is None else line
        completed = done

        def advance(amount: float) -> None:
            nonlocal completed
            completed += amount
            report(Stage("", int(100 * completed / total + 1e-9) if total else 100, 100, "%"))

        advance(0.0)
        yield advance


class _Log:
    """Prints a line at each tenth of the work."""

    def __init__(self, title: str):
        self._title, self._began = title, time.perf_counter()
        self._first: int | None = None
        self._printed = 0

    def __call__(self, stage: Stage) -> None:
        if self._first is None:
            self._first, self._printed = stage.done, stage.done // 10
        if stage.done // 10 > self._printed:
            self._printed = stage.done // 10
            passed = time.perf_counter() - self._began
            left = passed * (100 - stage.done) / (stage.done - self._first)
            text = f"{self._title}: {10 * self._printed} %, {passed:.0f} s, about {left:.0f} s left"
            print(text, file=sys.stderr, flush=True)
