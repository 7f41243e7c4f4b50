"""Compilation: kept on disk where that is possible, and announced to whoever waits for it."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

__all__ = ["Kernel", "announce", "compiled"]

# compilations that follow each other sooner than this (seconds) are announced by one line
PAUSE = 10.0

_announcer: Any = None


def announce() -> None:
    """From now on, print a line on standard error when code of this package starts to compile.

    Numba reports real compilation only: what it loads from its disk cache stays silent. So does everything where
    standard error is neither a terminal nor a notebook. Calling it again changes nothing, and where Numba has not been
    imported there is nothing to announce.
    """
    global _announcer
    if _announcer is not None or "numba" not in sys.modules:
        return
    from numba.core import event

    class Announcer(event.Listener):
        """Prints the line when the outermost of nested compilations begins."""

        def __init__(self) -> None:
            self.depth, self.ended = 0, -PAUSE

        def on_start(self, happening: Any) -> None:
            if not _ours(happening):
                return
            if self.depth == 0 and time.monotonic() - self.ended >= PAUSE:
                _say(_line(happening.data["dispatcher"]))
            self.depth += 1

        def on_end(self, happening: Any) -> None:
            if _ours(happening):
                self.depth, self.ended = self.depth - 1, time.monotonic()

    _announcer = Announcer()
    event.register("numba:compile", _announcer)


def compiled(function: Callable[..., Any], options: dict[str, Any]) -> Callable[..., Any]:
    """Compile at the first call, with Numba's disk cache if there is a place for it.

    Numba tries `NUMBA_CACHE_DIR`, then the folder of the source, then the user's cache folder, and gives up with an
    error where it may write to none of them. Here such a function is compiled anew in each process instead.

    Parameters
    ----------
    function : callable
        A function of a module, or a closure over plain numbers: others cannot be kept on disk.
    options : dict
        Those of `numba.njit`.
    """
    from numba import njit

    announce()
    try:
        return njit(cache=True, **options)(function)
    except RuntimeError as error:
        if "cannot cache" not in str(error):
            raise
        return njit(**options)(function)


class Kernel:
    """A compiled function, for calls from Python, out of which Ctrl-C comes as itself.

    Numba makes arrays that a function returns with a little Python. What a signal raises there (`KeyboardInterrupt`,
    mostly) it does not see, and Python then complains of a result with an exception set.

    Parameters
    ----------
    function : callable
        What `compiled` returns.
    """

    __slots__ = ("function",)

    def __init__(self, function: Any) -> None:
        self.function = function

    def __call__(self, *arguments: Any) -> Any:
        try:
            return self.function(*arguments)
        except SystemError as error:
            first: BaseException = error
            while isinstance(first, SystemError) and first.__cause__ is not None:  # one for each array
                first = first.__cause__
            raise first from None

    @property
    def py_func(self) -> Callable[..., Any]:
        """The function that was compiled."""
        return self.function.py_func


def _ours(happening: Any) -> bool:
    function = getattr(happening.data.get("dispatcher"), "py_func", None)
    return str(getattr(function, "__module__", "")).partition(".")[0] == "modeseek"


def _line(dispatcher: Any) -> str:
    from numba.core.caching import NullCache

    kept = not isinstance(getattr(dispatcher, "_cache", None), (NullCache, type(None)))
    until = "kept on disk for next time" if kept else "for this process"
    return f"modeseek: compiling for first use, some seconds ({until})"


def _say(line: str) -> None:
    stream = sys.stderr
    # a stream may be missing, closed or gone: no reason to fail
    with suppress(AttributeError, OSError, ValueError):
        if stream.isatty() or type(stream).__module__.startswith("ipykernel"):
            print(line, file=stream, flush=True)
