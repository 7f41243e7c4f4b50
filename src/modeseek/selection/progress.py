"""Progress of a selection, and what is kept of it after Ctrl-C."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar

from modeseek._common.types import Stage, Watcher

Result = TypeVar("Result")


class SelectionProgress:
    """Reports stages of a selection to a watcher, and records what Ctrl-C cut short.

    Attributes
    ----------
    interruption : str
        What was cut short; empty if nothing.
    """

    def __init__(self, watch: Watcher | None = None):
        self._watch, self.interruption = watch, ""

    def report(self, name: str, done: int, total: int, unit: str) -> None:
        """Pass a `Stage` to the watcher."""
        if self._watch is not None:
            self._watch(Stage(name, done, total, unit))

    def collect(self, stage: str, unit: str, total: int, results: Iterator[Result]) -> list[Result]:
        """Return results as far as they are computed before Ctrl-C, which is recorded; report each of them."""
        found: list[Result] = []
        try:
            self.report(stage, 0, total, unit)
            for result in results:
                found.append(result)
                self.report(stage, len(found), total, unit)
        except KeyboardInterrupt:
            self.interruption = self.interruption or f"{stage}: {len(found)} of {total} {unit}"
        return found

    def finish(self, stage: str, unit: str, total: int, step: Callable[[], Result]) -> Result:
        """Run a short step, again if Ctrl-C interrupts it; a second Ctrl-C is raised."""
        try:
            self.report(stage, 0, total, unit)
            return step()
        except KeyboardInterrupt:
            self.interruption = self.interruption or "no confidence was computed"
            return step()
