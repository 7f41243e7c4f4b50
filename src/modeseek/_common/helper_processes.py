"""Helper processes that run Python code in the background. They end with their parent process and print nothing."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from threading import Thread

from modeseek._common.resources import available_memory

# bytes of memory that this process and each helper need while they compile
MEMORY = 1 << 29
# `sys.path` is copied from this process, so that helpers import the same modules whatever the working directory
START = "import sys; sys.path[:] = {path!a}; from {module} import end_with_parent; end_with_parent(); {code}"


@contextmanager
def helper_processes(codes: Sequence[str]) -> Iterator[list["subprocess.Popen[bytes]"]]:
    """Run each Python statement of `codes` in a new process; kill those that still run at the end of the block.

    No error is raised if a process fails or cannot start. With little memory, fewer processes are started.
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
    """Make this process end when its standard input closes, which happens when the parent ends.

    This process ignores Ctrl-C, which a terminal sends to both processes: the parent may still need compiled functions
    for a partial result.
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
