"""Limits on memory and time: how much memory is available, and checks before and during long computations.

The available memory is the smallest of three numbers: the free memory of the machine, what is left in the control
groups of the process (containers, batch systems), and what is left of the limit on its address space. psutil gives
only the first of these numbers. A number that cannot be determined is ignored.
"""

import math
import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from time import perf_counter

from modeseek._common.overrides import override, override_limit

# control groups and rlimits express "no limit" by numbers above this one (an exabyte)
NO_LIMIT = 1 << 60
# amounts up to this one (64 MB) are never refused: other processes change the available memory by as much
NEVER_REFUSED = 64 << 20

_deadline: ContextVar[float] = ContextVar("modeseek_deadline", default=math.inf)
_limit: ContextVar[float | None] = ContextVar("modeseek_memory_limit", default=None)


class NotEnoughMemory(MemoryError):
    """A computation would need more memory than is available; the message has both numbers and an alternative.

    Examples
    --------
    >>> issubclass(NotEnoughMemory, MemoryError)
    True
    """


class TimeUp(Exception):
    """Raised when the time limit is reached during a computation. The partial result is dropped."""


@contextmanager
def limit_time(seconds: float | None) -> Iterator[None]:
    """Make `check_time` raise `TimeUp` after some seconds, within a block and in the current thread.

    The limit of an enclosing block stays in force. None adds no limit.

    Examples
    --------
    >>> with limit_time(0.0):
    ...     check_time()
    Traceback (most recent call last):
    ...
    modeseek._common.resources.TimeUp
    """
    until = math.inf if seconds is None else perf_counter() + seconds
    with override(_deadline, min(_deadline.get(), until)):
        yield


def deadline() -> float:
    """Return the deadline of the current thread, to be passed to its worker threads.

    Examples
    --------
    >>> deadline()
    inf
    """
    return _deadline.get()


def check_time(until: float | None = None) -> None:
    """Raise `TimeUp` if the deadline of this thread, or the given one, has passed.

    Call this periodically from long loops.

    Examples
    --------
    >>> check_time()  # no limit
    >>> with limit_time(60.0):
    ...     check_time()
    """
    when = _deadline.get() if until is None else until
    if when < math.inf and perf_counter() >= when:
        raise TimeUp


@contextmanager
def limit_memory(n_bytes: float) -> Iterator[None]:
    """Compare memory estimates with `n_bytes` instead of the available memory; `math.inf` disables the check.

    Examples
    --------
    >>> with limit_memory(1 << 30):
    ...     available_memory() == 1 << 30
    True
    """
    with override_limit(_limit, n_bytes):
        yield


def available_memory() -> float:
    """Return the number of bytes that this process can still allocate; inf if there is no known limit.

    Examples
    --------
    >>> available_memory() > 0
    True
    """
    given = _limit.get()
    return MemoryFiles(Path("/")).available() if given is None else given


def check_memory(needed: float, what: str, instead: str) -> None:
    """Raise `NotEnoughMemory` if a computation needs more memory than is available.

    Parameters
    ----------
    needed : float
        Estimated number of bytes.
    what : str
        What needs the memory; the subject of the error message.
    instead : str
        What the user can do instead, as a sentence.

    Examples
    --------
    >>> with limit_memory(1e9):
    ...     check_memory(4e9, "a distance matrix of 22,361 rows", "Use fewer rows.")
    Traceback (most recent call last):
    modeseek._common.resources.NotEnoughMemory: a distance matrix of 22,361 rows needs about 4.0 GB of memory, but ...
    """
    if needed <= NEVER_REFUSED and _limit.get() is None:
        return
    available = available_memory()
    if needed > available:
        raise NotEnoughMemory(
            f"{what} needs about {format_bytes(needed)} of memory, but {format_bytes(available)} is available. "
            f"{instead}"
        )


def format_bytes(n_bytes: float) -> str:
    """Return a number of bytes in MB, GB or TB.

    Examples
    --------
    >>> format_bytes(3.25e9), format_bytes(120_000)
    ('3.2 GB', '0.1 MB')
    """
    for power, unit in ((1e12, "TB"), (1e9, "GB")):
        if n_bytes >= power:
            return f"{n_bytes / power:,.1f} {unit}"
    return f"{n_bytes / 1e6:.1f} MB"


class MemoryFiles:
    """The files in which the Linux kernel reports memory and its limits.

    Parameters
    ----------
    root : Path
        The root of the file system.
    """

    def __init__(self, root: Path):
        self._root = root

    def available(self) -> float:
        """Return the number of bytes that this process can still allocate: the smallest of all limits."""
        return min([self._free(), *self._left_in_groups(), self._left_in_address_space()])

    def _free(self) -> float:
        """Return the free memory of the machine, including caches that the kernel would release."""
        for line in self._lines("proc/meminfo"):
            if line.startswith("MemAvailable:"):
                return float(line.split()[1]) * 1024
        try:
            # macOS has no count of free pages, and Windows has no sysconf
            name = "SC_AVPHYS_PAGES" if "SC_AVPHYS_PAGES" in os.sysconf_names else "SC_PHYS_PAGES"
            pages = os.sysconf(name)
            return float(pages * os.sysconf("SC_PAGE_SIZE")) if pages > 0 else math.inf
        except (AttributeError, ValueError, OSError):
            return math.inf

    def _left_in_groups(self) -> list[float]:
        """Return the bytes left in each control group of this process, from the innermost group up to the root."""
        left: list[float] = []
        for line in self._lines("proc/self/cgroup"):
            number, controllers, path = [*line.split(":", 2), "", ""][:3]
            if number == "0":
                base, names = "sys/fs/cgroup", ("memory.max", "memory.current", "inactive_file")
            elif "memory" in controllers.split(","):
                base = "sys/fs/cgroup/memory"
                names = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
            else:
                continue
            # in a container, the group of the process is often mounted as the root, although `path` is longer
            parts = [part for part in path.split("/") if part not in ("", "..")]
            for depth in range(len(parts), -1, -1):
                left += self._left_in_group("/".join([base, *parts[:depth]]), *names)
        return left

    def _left_in_group(self, folder: str, limit: str, used: str, reclaimable: str) -> list[float]:
        most, taken = self._number(f"{folder}/{limit}"), self._number(f"{folder}/{used}")
        if most is None or taken is None or most >= NO_LIMIT:
            return []
        # the kernel releases cached pages of files when memory is needed
        words = [line.split() for line in self._lines(f"{folder}/memory.stat")]
        back = sum(float(word[1]) for word in words if len(word) == 2 and word[0] == reclaimable and word[1].isdigit())
        return [max(0.0, most - max(0.0, taken - back))]

    def _left_in_address_space(self) -> float:
        try:
            import resource
        except ImportError:  # Windows
            return math.inf
        most = resource.getrlimit(resource.RLIMIT_AS)[0]
        if most == resource.RLIM_INFINITY or most >= NO_LIMIT:
            return math.inf
        taken = [float(line.split()[0]) * os.sysconf("SC_PAGE_SIZE") for line in self._lines("proc/self/statm")[:1]]
        return max(0.0, float(most) - sum(taken))

    def _lines(self, path: str) -> list[str]:
        try:
            return (self._root / path).read_text(encoding="utf-8", errors="replace").splitlines()
        except OSError:
            return []

    def _number(self, path: str) -> float | None:
        lines = self._lines(path)
        return float(lines[0]) if lines and lines[0].strip().isdigit() else None
