"""SIGTERM ends the command as Ctrl-C does: what there is by then is written, and nothing is left lying about."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import current_thread, main_thread
from types import FrameType

__all__ = ["Heard", "sigterm_as_ctrl_c"]

# what shells report of a process that a signal ended
OF_CTRL_C, OF_SIGTERM = 128 + signal.SIGINT, 128 + signal.SIGTERM


@dataclass
class Heard:
    """What came while the command ran.

    Attributes
    ----------
    sigterm : bool
        Whether somebody asked it to end, by `kill`, a batch system or a service manager.
    """

    sigterm: bool = False

    def status(self, status: int) -> int:
        """Return the status of the command, given what it would be if all interruptions were Ctrl-C."""
        return OF_SIGTERM if self.sigterm and status == OF_CTRL_C else status


@contextmanager
def sigterm_as_ctrl_c() -> Iterator[Heard]:
    """Raise `KeyboardInterrupt` on SIGTERM while the block runs, and tell afterwards which of the two it was.

    Elsewhere than in the main thread, and where somebody else listens to SIGTERM, nothing is changed.

    Examples
    --------
    >>> with sigterm_as_ctrl_c() as heard:
    ...     try:
    ...         signal.raise_signal(signal.SIGTERM)
    ...     except KeyboardInterrupt:
    ...         print("heard")
    heard
    >>> heard.status(130), heard.status(0)
    (143, 0)
    """
    heard = Heard()

    def hear(number: int, frame: FrameType | None) -> None:
        heard.sigterm = True
        raise KeyboardInterrupt

    if current_thread() is not main_thread() or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        yield heard
        return
    signal.signal(signal.SIGTERM, hear)
    try:
        yield heard
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
