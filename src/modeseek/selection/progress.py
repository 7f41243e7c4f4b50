"""Progress of a selection, and what is kept of it after Ctrl-C."""

from __future__ import annotations

from collections.abc import Callable

from modeseek._common.types import Stage, Watcher

__all__ = ["SelectionProgress"]


class SelectionProgress:
    """Reports stages of a selection to a watcher, and records what Ctrl-C cut short.

    Attributes
    ----------
    interruption : str
        What was cut short; empty if nothing.
    """

    def __init__(self, watch: Watcher | None = None):
        self._watch, self.interruption = watch, ""

    def report(self, name: str, done: int = 0, total: int | None = None) -> None:
        """Pass a `Stage` to the watcher; `total` counts subsamples."""
        if self._watch is not None:
            self._watch(Stage(name, done, total, "" if total is None else "subsamples"))

    def finish(self, step: Callable[[], bool]) -> bool:
        """Run a short step, again if Ctrl-C interrupts it; a second Ctrl-C is raised."""
        try:
            return step()
        except KeyboardInterrupt:
            self.interruption = self.interruption or "no confidence was computed"
            return step()
