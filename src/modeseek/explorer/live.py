"""A run on a thread of its own, at a pace: play, pause, step, and look at it from outside at any time."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from modeseek.explorer.run import PIECES, Frame, Run

__all__ = ["Live"]


class Live:
    """Runs on its thread until it is closed; what it shows are whole objects, put in place in one step.

    Parameters
    ----------
    make : callable
        Takes `cancelled`, () -> bool, and returns the `Run`. It is called on the thread, because it may take long.
    pace : float
        Sweeps each second; inf: as fast as it goes.

    Attributes
    ----------
    run : Run or None
        None while it is being made.
    failure : str
        Why it could not be made, or could not go on.
    before, now : Frame or None
        The last two frames; `since` is when the last one came, `count` how many there were.
    """

    def __init__(self, make: Callable[[Callable[[], bool]], Run], pace: float = 4.0):
        self.run: Run | None = None
        self.failure = ""
        self.before: Frame | None = None
        self.now: Frame | None = None
        self.since, self.count = 0.0, 0
        self.pace = pace
        self._make = make
        self._playing, self._steps, self._closed = False, 0, False
        self._wake = threading.Condition()
        self._thread = threading.Thread(target=self._work, daemon=True, name="modeseek-run")
        self._thread.start()

    @property
    def playing(self) -> bool:
        """Whether it goes on by itself."""
        return self._playing and not self.ended

    @property
    def ended(self) -> bool:
        """Whether nothing more will happen."""
        return bool(self.failure) or (self.run is not None and self.run.result is not None)

    @property
    def seconds_a_frame(self) -> float:
        """How long a frame stands before the next one is due."""
        pieces = PIECES if self.run is not None and self.run.settings.random else 1
        return 1.0 / (self.pace * pieces)

    def play(self) -> None:
        """Go on."""
        self._command(playing=True)

    def pause(self) -> None:
        """Stand still."""
        self._command(playing=False)

    def step(self) -> None:
        """Go on to the end of this sweep, and stand still."""
        self._command(playing=False, steps=1)

    def close(self) -> None:
        """End the thread; a fit that is under way is given up at the end of its sweep."""
        with self._wake:
            self._closed = True
            self._wake.notify_all()

    def wait(self, seconds: float = 60.0) -> bool:
        """Wait until it has ended; tell whether it has."""
        limit = time.monotonic() + seconds
        while not self.ended and time.monotonic() < limit:
            time.sleep(0.005)
        return self.ended

    def _command(self, *, playing: bool, steps: int = 0) -> None:
        with self._wake:
            self._playing = playing
            self._steps += steps
            self._wake.notify_all()

    def _work(self) -> None:
        try:
            self.run = self._make(lambda: self._closed)
            self._show(self.run)
            while not self.ended and self._due():
                self._go_on(self.run)
        except (ValueError, TypeError, ImportError, MemoryError) as error:
            self.failure = str(error) or type(error).__name__
        except KeyboardInterrupt:
            # a fit that was given up where nobody keeps what it had
            self.failure = "given up"

    def _due(self) -> bool:
        """Wait for the next piece to be due; tell whether there is one."""
        with self._wake:
            while not self._closed:
                if self._steps:
                    return True
                rest = self.since + self.seconds_a_frame - time.monotonic()
                if self._playing and rest <= 0:
                    return True
                self._wake.wait(rest if self._playing else None)
        return False

    def _go_on(self, run: Run) -> None:
        run.advance(whole=self._steps > 0 or self.pace == float("inf"))
        if self._steps and not run.between:
            with self._wake:
                self._steps -= 1
        self._show(run)

    def _show(self, run: Run) -> None:
        self.before, self.now, self.since = self.now or run.frame, run.frame, time.monotonic()
        self.count += 1
