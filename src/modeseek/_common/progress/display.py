"""One line of progress on a terminal (by `rich.progress`) or in a notebook."""

from __future__ import annotations

import html
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from threading import Event, Thread
from typing import TYPE_CHECKING, TypeAlias

from modeseek._common.overrides import override
from modeseek._common.progress.words import clock, describe
from modeseek._common.types import Stage

if TYPE_CHECKING:
    from rich.console import Console

BAR_WIDTH = 16
# characters of the line that are not the description: spinner, bar, elapsed time, time left
REST_WIDTH = 50


@dataclass(frozen=True)
class DisplayConfig:
    """When the line of progress is drawn.

    Attributes
    ----------
    delay : float
        Seconds before the line appears. Shorter work shows no line.
    interval : float
        Seconds between two updates of the line.
    """

    delay: float = 0.5
    interval: float = 0.2


DEFAULT = DisplayConfig()


class ProgressLine:
    """The content of a line of progress; call it with a `Stage` to change it.

    Parameters
    ----------
    title : str
        What is running, such as the short name of an estimator.
    """

    def __init__(self, title: str):
        self.title, self.stage = title, Stage("starting")
        self._began = self._stage_began = self._advanced = time.perf_counter()
        self._first = 0

    def __call__(self, stage: Stage) -> None:
        now = time.perf_counter()
        if (stage.name, stage.unit) != (self.stage.name, self.stage.unit) or stage.done < self.stage.done:
            self._stage_began = self._advanced = now
            self._first = stage.done
        elif stage.done > self.stage.done:
            self._advanced = now
        self.stage = stage

    @property
    def text(self) -> str:
        """Title and description of the stage."""
        return f"{self.title}: {describe(self.stage)}"

    @property
    def share(self) -> float | None:
        """Completed fraction of the stage; None if the total is unknown or only an upper bound."""
        return None if self.stage.total is None or self.stage.at_most else self.stage.done / max(self.stage.total, 1)

    @property
    def elapsed(self) -> float:
        """Seconds since the start."""
        return time.perf_counter() - self._began

    @property
    def left(self) -> str:
        """The estimated time left for the stage, or ""."""
        stage, since = self.stage, time.perf_counter() - self._advanced
        if stage.seconds_left is not None:
            seconds = stage.seconds_left
        elif stage.total is None or not self._first < stage.done < stage.total:
            return ""
        else:
            # seconds per unit up to the last progress; the time since then already counts for the next unit
            rate = (self._advanced - self._stage_began) / (stage.done - self._first)
            seconds = rate * (stage.total - stage.done) - since
        return f"{'at most ' if stage.at_most else ''}{clock(max(0.0, seconds) + 0.5)} left"


Draw: TypeAlias = Callable[[], None]
_current: ContextVar[ProgressLine | None] = ContextVar("progress line", default=None)
_config: ContextVar[DisplayConfig] = ContextVar("progress display", default=DEFAULT)


def configure_display(config: DisplayConfig) -> AbstractContextManager[None]:
    """Use other settings for the lines of progress that start inside a block."""
    return override(_config, config)


@contextmanager
def show_progress(title: str) -> Iterator[ProgressLine | None]:
    """Show a line of progress on standard error while the block runs, if it runs for longer than `DisplayConfig.delay`.

    Yields the line, to be called with `Stage` values, or None if standard error is neither a terminal nor a notebook.
    A nested block shows its title and stages on the line of the outer block.

    Examples
    --------
    >>> with show_progress("DSMS") as line:
    ...     if line is not None:
    ...         line(Stage("choosing the range", 2, 9, "bandwidths"))
    """
    outer = _current.get()
    if outer is not None:
        before = outer.title, outer.stage
        outer.title, outer.stage = title, Stage("starting")
        try:
            yield outer
        finally:
            outer.title, outer.stage = before
        return
    line = ProgressLine(title)
    display = _display(line)
    if display is None:
        yield None
        return
    ended = Event()
    thread = Thread(target=_redraw, args=(display, ended, _config.get()), daemon=True)
    thread.start()
    try:
        with override(_current, line):
            yield line
    finally:
        ended.set()
        thread.join()


def _redraw(display: AbstractContextManager[Draw], ended: Event, config: DisplayConfig) -> None:
    if ended.wait(config.delay):
        return
    with display as draw:
        draw()
        while not ended.wait(config.interval):
            draw()


def _display(line: ProgressLine) -> AbstractContextManager[Draw] | None:
    from rich.console import Console

    console = Console(stderr=True)
    if console.is_jupyter:
        return _notebook(line)
    # with FORCE_COLOR, rich treats any file as a terminal, but only a real terminal can redraw a line
    if console.is_terminal and not console.is_dumb_terminal and console.file.isatty():
        return _terminal(line, console)
    return None


@contextmanager
def _terminal(line: ProgressLine, console: Console) -> Iterator[Draw]:
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn
    from rich.table import Column

    progress = Progress(
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False, table_column=Column(no_wrap=True, overflow="ellipsis")),
        BarColumn(BAR_WIDTH),
        TextColumn("{task.fields[times]}", markup=False),
        console=console,
        auto_refresh=False,
        transient=True,
        # text printed to a pipe or a file must not be redirected to this terminal
        redirect_stdout=sys.stdout is not None and sys.stdout.isatty(),
    )
    task = progress.add_task("", total=None, times="")

    def draw() -> None:
        room = max(console.width - REST_WIDTH, BAR_WIDTH)
        text = line.text if len(line.text) <= room else f"{line.text[: room - 1]}…"
        times = f"{clock(line.elapsed)}  {line.left}".rstrip()
        share = line.share
        # `update` keeps the old total if it is given None
        progress.tasks[task].total = None if share is None else 1.0
        progress.update(task, description=text, completed=share or 0.0, times=times, refresh=True)

    with progress:
        yield draw


@contextmanager
def _notebook(line: ProgressLine) -> Iterator[Draw]:
    # not by rich: in notebooks it needs ipywidgets, and warns if they are missing
    from IPython.display import HTML, display  # type: ignore[import-not-found,unused-ignore]

    def content() -> HTML:
        bar = "" if line.share is None else f'<progress value="{line.share:.3f}" max="1"></progress> '
        words = "  ".join(part for part in (line.text, clock(line.elapsed), line.left) if part)
        return HTML(f'<div style="white-space: pre-wrap">{bar}{html.escape(words)}</div>')

    handle = display(content(), display_id=True)
    try:
        yield lambda: handle.update(content())
    finally:
        handle.update(HTML(""))
