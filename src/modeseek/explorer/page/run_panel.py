"""One of the two runs on the page: its form, its scatter plot and its thread."""

from collections.abc import Callable, Sequence

import numpy as np

from modeseek._common.types import Array
from modeseek.explorer.animated_run import AnimatedRun, AnimationFrame
from modeseek.explorer.page.alternative_pictures import AlternativePictures
from modeseek.explorer.page.figures import LineFigure, ScatterFigure
from modeseek.explorer.page.forms import SettingsForm
from modeseek.explorer.page.messages import KnownGroups, run_status
from modeseek.explorer.page.style import LIGHT, column, figure_pane, html_pane
from modeseek.explorer.prepared_data import PreparedData
from modeseek.explorer.run_settings import RunSettings
from modeseek.explorer.run_thread import RunThread

# seconds after which the next frame is sent even if the browser has not reported the last one as drawn
DRAWN_TIMEOUT = 3.0
# seconds between two updates of the status while points move
STATUS_INTERVAL = 0.2


class RunPanel:
    """One of the two runs.

    Parameters
    ----------
    number : int
        0 for run A, 1 for run B.
    changed : callable
        Called without arguments when a setting changes.
    algorithm : str
        Algorithm at the start.
    """

    def __init__(self, number: int, changed: Callable[[], None], algorithm: str):
        self.name, self._number = "AB"[number], number
        self.form = SettingsForm(self.name, changed, algorithm)
        self.scatter = ScatterFigure(LIGHT)
        self.pictures = AlternativePictures(sizing_mode="stretch_width", margin=(4, 4))
        self._status = html_pane(margin=(0, 4))
        self.layout = column(figure_pane(self.scatter.plot), self.pictures, self._status)
        self.thread: RunThread | None = None
        self._forget()

    def _forget(self) -> None:
        self._opened, self._history_version, self._sent_at, self._status_at = False, -1, 0.0, 0.0
        self._shown: tuple[object, ...] = ()
        self._pictured = False
        self.pictures.clear()

    @property
    def finished(self) -> AnimatedRun | None:
        """The run, if it has ended with a result."""
        run = None if self.thread is None else self.thread.run
        return None if run is None or run.result is None else run

    def close(self) -> None:
        """End the thread."""
        if self.thread is not None:
            self.thread.close()
        self.thread = None
        self._forget()
        self.form.show_automatic({})

    def start(self, data: PreparedData, settings: RunSettings, pace: float) -> None:
        """Start a run."""
        self.close()
        self.thread = RunThread(lambda cancelled: AnimatedRun(data, settings, cancelled), pace)

    def show_start(self, start: Array, axes: Sequence[str]) -> None:
        """Show the initial positions, without a run."""
        self.close()
        self.scatter.open(start, axes)
        self.scatter.show_start()
        self._status.object = ""

    def redraw(self) -> None:
        """Draw the current frame again at the next call of `update`."""
        self._shown = ()

    def update(self, now: float, groups: KnownGroups) -> bool:
        """Send the current frame, if the browser has drawn the last one; return whether the run has just ended."""
        thread = self.thread
        if thread is None:
            return False
        if thread.run is not None and not self._opened:
            self._opened = True
            self.scatter.open(thread.run.start, thread.run.axes)
            self.form.show_automatic(thread.run.bandwidths)
        frame, previous, ended = thread.frame, thread.previous, thread.ended
        if frame is None or previous is None:
            self._update_status(groups)
            return False
        interval = thread.seconds_per_frame
        share = min(max((now - thread.shown_at) / interval, 0.0), 1.0) if interval > 0 else 1.0
        if self.finished is not None:
            frame = self._chosen_frame(self.finished, frame)
        key = (thread.frames, share, ended, thread.playing, self.pictures.chosen)
        timed_out = now - self._sent_at > DRAWN_TIMEOUT
        if key == self._shown or (self.scatter.drawn < self.scatter.sent and not timed_out):
            return False
        if timed_out:
            self.scatter.sent = self.scatter.drawn
        self._shown, self._sent_at = key, now
        positions = frame.positions
        if share < 1 and not ended:  # positions between the last two frames
            positions = previous.positions + np.float32(share) * (positions - previous.positions)
        self.scatter.show(positions, frame, ended=self.finished is not None)
        if not thread.playing or now - self._status_at > STATUS_INTERVAL:
            self._status_at = now
            self._update_status(groups)
        return ended

    def _chosen_frame(self, run: AnimatedRun, frame: AnimationFrame) -> AnimationFrame:
        """Return the last frame in the colours of the picture that was clicked."""
        if not self._pictured:
            self._pictured = True
            self.pictures.show(run)
        if self.pictures.chosen == 0:
            return frame
        colors = run.alternatives[self.pictures.chosen - 1].colors
        return frame._replace(colors=colors, clumps=int(colors.max()) + 1)

    def _update_status(self, groups: KnownGroups) -> None:
        text = run_status(self.thread, groups)
        if self._status.object != text:
            self._status.object = text

    def clear_lines(self, figures: Sequence[LineFigure]) -> None:
        """Remove the lines of this run from the line figures."""
        for each in figures:
            each.show(self._number)

    def draw_lines(self, bandwidths: LineFigure, levels: LineFigure, clumps: LineFigure) -> bool:
        """Draw the history of the run; return whether it has changed."""
        run = None if self.thread is None else self.thread.run
        if run is None or not run.bandwidths or run.history.version == self._history_version:
            return False
        history, ends = run.history, (run.bandwidths.get("h_min", 0.0), run.bandwidths.get("h_max", 0.0))
        self._history_version = history.version
        bandwidths.show(self._number, history.bandwidths, band=ends if ends[0] < ends[1] else None)
        levels.show(self._number, [(sweep, level) for sweep, level, _ in history.levels])
        clumps.show(self._number, [(sweep, count) for sweep, _, count in history.levels])
        return True
