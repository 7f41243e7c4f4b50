"""Where a line of progress is shown: a terminal, a notebook, or nowhere."""

from __future__ import annotations

import html
import sys
from collections.abc import Callable
from threading import Event, Lock, Thread, Timer
from typing import Any, Protocol, TypeAlias

from modeseek._common.progress.report import Report, clock, fitted

__all__ = ["Screen", "Source", "screen_for"]

# seconds before anything is shown: what ends sooner needs no line
DELAY = 0.5
# how often a line is drawn anew, in seconds
TERMINAL_TICK, NOTEBOOK_TICK = 0.2, 0.25

# what to say now, and the seconds that have passed
Source: TypeAlias = Callable[[], tuple[Report, float]]


class Screen(Protocol):
    """Something that a line is shown on, from `DELAY` after it was opened until it is closed."""

    def close(self) -> None:
        """Take the line away."""


def screen_for(source: Source) -> Screen | None:
    """Open the screen that there is for standard error; None where it is a pipe or a file."""
    from rich.console import Console

    console = Console(stderr=True)
    if console.is_jupyter:
        return _Notebook(source)
    # rich can be told that any file is a terminal, for its colours: a line that moves needs a real one
    shows = console.is_terminal and not console.is_dumb_terminal and console.file.isatty()
    return _Terminal(console, source) if shows else None


class _Terminal:
    """One line on standard error, drawn by a thread of its own."""

    def __init__(self, console: Any, source: Source):
        from rich.live import Live
        from rich.spinner import Spinner
        from rich.text import Text

        spinner = Spinner("dots", style="cyan")

        def line() -> Spinner:
            report, seconds = source()
            # two for the spinner, and one that some terminals wrap at
            spinner.update(text=Text(fitted(report, seconds, console.width - 3), no_wrap=True, overflow="crop"))
            return spinner

        # what is printed meanwhile goes above the line, but never from standard output into standard error
        self._live = Live(
            get_renderable=line,
            console=console,
            transient=True,
            refresh_per_second=1 / TERMINAL_TICK,
            redirect_stdout=bool(getattr(sys.stdout, "isatty", lambda: False)()),
        )
        self._lock, self._closed = Lock(), False
        self._timer = Timer(DELAY, self._open)
        self._timer.daemon = True
        self._timer.start()

    def _open(self) -> None:
        with self._lock:
            if not self._closed:
                self._live.start()

    def close(self) -> None:
        self._timer.cancel()
        with self._lock:
            self._closed = True
            self._live.stop()


class _Notebook:
    """One line below the cell, by the display that every notebook has: no widgets, so nothing to install."""

    def __init__(self, source: Source):
        self._source, self._ended = source, Event()
        self._handle: Any = None
        self._thread = Thread(target=self._draw, daemon=True)
        self._thread.start()

    def _draw(self) -> None:
        from IPython.display import HTML, display  # type: ignore[import-not-found,unused-ignore]

        if self._ended.wait(DELAY):
            return
        self._handle = display(HTML(_as_html(*self._source())), display_id=True)
        while not self._ended.wait(NOTEBOOK_TICK):
            self._handle.update(HTML(_as_html(*self._source())))

    def close(self) -> None:
        self._ended.set()
        self._thread.join()
        if self._handle is not None:
            from IPython.display import HTML

            self._handle.update(HTML(""))


def _as_html(report: Report, seconds: float) -> str:
    bar = "" if report.share is None else f'<progress value="{report.share:.3f}" max="1"></progress> '
    words = "  ".join(part for part in (report.text, clock(seconds), report.left) if part)
    return f'<div style="white-space: pre-wrap">{bar}{html.escape(words)}</div>'
