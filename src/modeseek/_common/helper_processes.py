"""Processes that run Python code beside the command; they end with it, however it ends, and print nothing."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from threading import Thread

from modeseek._common.resources import available_memory

# of this process and of each helper, while they compile
MEMORY = 1 << 29
# the same modules as in this process, whichever folder it runs in
START = "import sys; sys.path[:] = {path!a}; from {module} import end_with_parent; end_with_parent(); {code}"


@contextmanager
def helper_processes(codes: Sequence[str]) -> Iterator[list["subprocess.Popen[bytes]"]]:
    """Run Python statements in other processes, one each, while the block runs; those left at its end are killed.

    Nothing is reported if a process cannot start, or fails; with little memory, fewer of them are started.
    """
    processes: list[subprocess.Popen[bytes]] = []
    try:
        for code in codes[: _most_processes()]:
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
        yield processes
    finally:
        for process in processes:
            process.kill()
        for process in processes:
            process.communicate()


def end_with_parent() -> None:
    """End this process when its standard input closes, as it does when the parent ends.

    Ctrl-C, which a terminal sends to both processes, is left to the parent: it may still need functions for a partial
    result.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_wait_for_end_of_input, daemon=True).start()


def _wait_for_end_of_input() -> None:
    with suppress(OSError):
        os.read(0, 1)
    os._exit(1)


def _most_processes() -> int:
    # in a frozen application, the executable is not Python but the application
    if not sys.executable or getattr(sys, "frozen", False):
        return 0
    return max(int(min(available_memory() / MEMORY, 1e6)) - 1, 0)
