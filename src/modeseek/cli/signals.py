"""SIGTERM ends the command like Ctrl-C: the result so far is written, and no temporary files remain."""

import signal
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import current_thread, main_thread
from types import FrameType


@contextmanager
def sigterm_as_ctrl_c() -> Iterator[list[int]]:
    """Raise `KeyboardInterrupt` on SIGTERM while the block runs; yield a list to which received signals are added.

    Nothing changes outside the main thread, or if another handler of SIGTERM is installed.

    Examples
    --------
    >>> with sigterm_as_ctrl_c() as signals:
    ...     try:
    ...         signal.raise_signal(signal.SIGTERM)
    ...     except KeyboardInterrupt:
    ...         print("interrupted")
    interrupted
    >>> signal.SIGTERM in signals
    True
    """
    signals: list[int] = []

    def handle(number: int, frame: FrameType | None) -> None:
        signals.append(number)
        raise KeyboardInterrupt

    if current_thread() is not main_thread() or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        yield signals
        return
    # Python tests the folder of temporary files once, by writing a file, which an interrupt at this moment would leave
    with suppress(OSError):
        tempfile.gettempdir()
    signal.signal(signal.SIGTERM, handle)
    try:
        yield signals
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
