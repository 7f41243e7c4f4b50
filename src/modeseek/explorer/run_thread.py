"""A run on its own thread: play, pause, step, and read the current frame at any time."""

import threading
import time
from collections.abc import Callable

from modeseek.explorer.animated_run import AnimatedRun, AnimationFrame


class RunThread:
    """Advances an `AnimatedRun` on a thread, at a given pace, until it ends or is closed.

    Other threads read the attributes. Frames are immutable, and each attribute is replaced in one step.

    Parameters
    ----------
    make_run : callable
        Function that returns the `AnimatedRun`, given `cancelled`, a function without arguments that returns whether to
        stop. It is called on the thread, because it may take long.
    pace : float
        Sweeps per second; inf for no limit.

    Attributes
    ----------
    run : AnimatedRun or None
        None until it has been made.
    failure : str
        Error message, if the run could not be made or failed.
    previous, frame : AnimationFrame or None
        The last two frames.
    shown_at : float
        Time of `frame`, by the monotonic clock.
    frames : int
        Number of frames so far.
    """

    def __init__(self, make_run: Callable[[Callable[[], bool]], AnimatedRun], pace: float = 4.0):
        self.run: AnimatedRun | None = None
        self.failure = ""
        self.previous: AnimationFrame | None = None
        self.frame: AnimationFrame | None = None
        self.shown_at, self.frames = 0.0, 0
        self.pace = pace
        self._make_run = make_run
        self._playing, self._steps, self._closed = False, 0, False
        self._changed = threading.Condition()
        self._thread = threading.Thread(target=self._work, daemon=True, name="modeseek-run")
        self._thread.start()

    @property
    def playing(self) -> bool:
        """Whether the run advances without further commands."""
        return self._playing and not self.ended

    @property
    def ended(self) -> bool:
        """Whether the run has ended or failed."""
        return bool(self.failure) or (self.run is not None and self.run.result is not None)

    @property
    def seconds_per_frame(self) -> float:
        """Time between two frames at the current pace."""
        run = self.run
        parts = run.data.config.parts_per_sweep if run is not None and run.settings.random else 1
        return 1.0 / (self.pace * parts)

    def play(self) -> None:
        """Advance until `pause` is called or the run ends."""
        self._command(playing=True)

    def pause(self) -> None:
        """Stop advancing."""
        self._command(playing=False)

    def step(self) -> None:
        """Advance to the end of the sweep, then pause."""
        self._command(playing=False, steps=1)

    def close(self) -> None:
        """End the thread; a fit in progress is cancelled after its sweep."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def _command(self, *, playing: bool, steps: int = 0) -> None:
        with self._changed:
            self._playing = playing
            self._steps += steps
            self._changed.notify_all()

    def _work(self) -> None:
        try:
            self.run = run = self._make_run(lambda: self._closed)
            self._publish(run.frame)
            while not self.ended and self._wait_until_due():
                run.advance(whole=self._steps > 0 or self.pace == float("inf"))
                if self._steps and run.between_sweeps:
                    with self._changed:
                        self._steps -= 1
                self._publish(run.frame)
        except (ValueError, TypeError, ImportError, MemoryError) as error:
            self.failure = str(error) or type(error).__name__
        except KeyboardInterrupt:
            self.failure = "cancelled"

    def _wait_until_due(self) -> bool:
        """Wait for the time of the next frame; return False if the thread is closed."""
        with self._changed:
            while not self._closed:
                if self._steps:
                    return True
                remaining = self.shown_at + self.seconds_per_frame - time.monotonic()
                if self._playing and remaining <= 0:
                    return True
                self._changed.wait(remaining if self._playing else None)
        return False

    def _publish(self, frame: AnimationFrame) -> None:
        self.previous, self.frame, self.shown_at = self.frame or frame, frame, time.monotonic()
        self.frames += 1
