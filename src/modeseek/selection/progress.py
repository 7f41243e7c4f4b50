"""Progress of a selection, and the partial results that are kept after Ctrl-C."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar

from modeseek._common.types import Stage, Watcher

Result = TypeVar("Result")


class SelectionProgress:
    """Reports stages of a selection to a watcher, and records which step Ctrl-C ended early.

    Attributes
    ----------
    interruption : str
        The step that Ctrl-C ended early; empty if there is none.
    """

    def __init__(self, watch: Watcher | None = None):
        self._watch, self.interruption = watch, ""

    def report(self, name: str, done: int, total: int, unit: str) -> None:
        """Pass a `Stage` to the watcher."""
        if self._watch is not None:
            self._watch(Stage(name, done, total, unit))

    def collect(self, stage: str, unit: str, total: int, results: Iterator[Result]) -> list[Result]:
        """Return the results that are computed before Ctrl-C, report each of them, and record the interruption."""
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
        """Run a short step, and repeat it if Ctrl-C interrupts it; a second Ctrl-C raises `KeyboardInterrupt`."""
        try:
            self.report(stage, 0, total, unit)
            return step()
        except KeyboardInterrupt:
            self.interruption = self.interruption or "no confidence was computed"
            return step()
