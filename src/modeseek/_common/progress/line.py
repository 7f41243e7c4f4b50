"""A line about work that goes on: kept up to date by callbacks, shown by whatever screen there is."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from modeseek._common.progress.report import Report, clock, count
from modeseek._common.progress.screens import screen_for
from modeseek._common.types import Stage

__all__ = ["Line", "show_line"]


class Line:
    """What a line says now, as told by stages and by the sweeps of chains.

    Parameters
    ----------
    title : str
        Who works: an estimator's short name.
    """

    def __init__(self, title: str):
        self._began = time.perf_counter()
        self._title, self._report = title, Report(title, ("starting",))
        self._stage = Stage("")
        self._stage_began, self._stage_done = self._began, 0

    def now(self) -> tuple[Report, float]:
        """Return what there is to say, and the seconds since the line was made."""
        return self._report, time.perf_counter() - self._began

    def tell(self, stage: Stage) -> None:
        """Say how far a stage has come; a watcher for whatever reports stages."""
        now = time.perf_counter()
        if stage.name != self._stage.name or stage.done < self._stage.done:
            self._stage_began, self._stage_done = now, stage.done
        self._stage = stage
        if stage.total is None:
            self._report = Report(self._title, (stage.name,))
            return
        of = "of at most" if stage.at_most else "of"
        counted = f"{count(stage.done)} {of} {count(stage.total)} {stage.unit}".rstrip()
        left = _left(now - self._stage_began, stage.done - self._stage_done, stage.total - stage.done)
        self._report = Report(self._title, (stage.name, counted), stage.done / max(stage.total, 1), left)

    def say(self, facts: tuple[str, ...], share: float | None = None, left: str = "") -> None:
        """Say something else."""
        self._report = Report(self._title, facts, share, left)


@contextmanager
def show_line(title: str) -> Iterator[Line | None]:
    """Show a line on a terminal or in a notebook while the block runs, if it runs for more than half a second.

    Yields the line to tell, or None where standard error is a pipe or a file, so that nothing need be told.

    Examples
    --------
    >>> with show_line("DSMS") as line:
    ...     if line is not None:
    ...         line.tell(Stage("choosing the range", 2, 9, "scales"))
    """
    line = Line(title)
    screen = screen_for(line.now)
    if screen is None:
        yield None
        return
    try:
        yield line
    finally:
        screen.close()


def _left(passed: float, done: float, rest: float) -> str:
    """Say how long the rest takes at the speed so far; "" where nothing is done yet, or nothing is left."""
    return f"{clock(passed * rest / done + 0.5)} left" if done > 0 and rest > 0 else ""
