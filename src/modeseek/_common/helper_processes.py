"""Processes that run Python code beside the command; they end with it, however it ends, and print nothing."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from threading import Thread

# the same modules as in this process, whichever folder it runs in
START = "import sys; sys.path[:] = {path!r}; from {module} import end_with_parent; end_with_parent(); {code}"


@contextmanager
def helper_processes(codes: Sequence[str]) -> Iterator[None]:
    """Run some Python statements in processes of their own while the block runs; those left at its end are killed.

    Nothing is reported if a process cannot start, or fails.
    """
    processes: list[subprocess.Popen[bytes]] = []
    try:
        for code in codes if _can_start() else ():
            whole = START.format(path=sys.path, module=__name__, code=code)
            with suppress(OSError, ValueError):
                processes.append(
                    subprocess.Popen(
                        [sys.executable, "-c", whole],
                        stdin=subprocess.PIPE,
                        stdout=subprocess.DEVNULL,
                        stderr=subprocess.DEVNULL,
                    )
                )
        yield
    finally:
        for process in processes:
            process.kill()
        for process in processes:
            process.communicate()


def end_with_parent() -> None:
    """End this process at Ctrl-C, or when its standard input closes, as it does when the parent ends."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    Thread(target=_wait_for_end_of_input, daemon=True).start()


def _wait_for_end_of_input() -> None:
    with suppress(OSError):
        os.read(0, 1)
    os._exit(1)


def _can_start() -> bool:
    # in a frozen application, this is not Python but the application
    return bool(sys.executable) and not getattr(sys, "frozen", False)
