"""How much memory and time there is, and a word before too much of it is asked for.

What a process may take is the least of what the machine has free, of the limits of its control groups (containers,
batch systems) and of its own limit on address space. Nobody is asked where nothing tells: then there is no limit.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from time import perf_counter

__all__ = [
    "NotEnoughMemory",
    "TimeUp",
    "available_memory",
    "check_memory",
    "check_time",
    "deadline",
    "format_bytes",
    "limit_memory",
    "limit_time",
]

# what a group or the machine says "no limit" with is larger than this: an exabyte
NO_LIMIT = 1 << 60
# less than this is never refused: nobody could tell it from what other processes do
SMALL = 64 << 20
# where the kernel tells; tests have a folder of their own
ROOT = Path("/")

_deadline: ContextVar[float] = ContextVar("modeseek_deadline", default=math.inf)
_limit: ContextVar[float | None] = ContextVar("modeseek_memory_limit", default=None)


class NotEnoughMemory(MemoryError):
    """More memory would be needed than there is; the message has both figures and what to do instead.

    Examples
    --------
    >>> issubclass(NotEnoughMemory, MemoryError)
    True
    """


class TimeUp(Exception):
    """A limit on time was reached in the middle of something, which is dropped."""


@contextmanager
def limit_time(seconds: float | None) -> Iterator[None]:
    """Within the block, in its thread, `check_time` raises once so many seconds are over, or those of a block around.

    None adds no limit.
    """
    token = _deadline.set(min(_deadline.get(), math.inf if seconds is None else perf_counter() + seconds))
    try:
        yield
    finally:
        _deadline.reset(token)


def deadline() -> float:
    """Return when time is up in this thread; for other threads that work for it."""
    return _deadline.get()


def check_time(until: float | None = None) -> None:
    """Raise `TimeUp` if time is up: in this thread, or by the deadline of another.

    Whoever works long calls it between blocks; what it was doing is then dropped, as by Ctrl-C.
    """
    when = _deadline.get() if until is None else until
    if when < math.inf and perf_counter() >= when:
        raise TimeUp


@contextmanager
def limit_memory(n_bytes: float) -> Iterator[None]:
    """Within the block, hold estimates against so many bytes instead of what there is; `math.inf` refuses nothing.

    Examples
    --------
    >>> with limit_memory(1 << 30):
    ...     available_memory() == 1 << 30
    True
    """
    if not n_bytes > 0:
        raise ValueError(f"n_bytes must be a number > 0; got {n_bytes!r}.")
    token = _limit.set(n_bytes)
    try:
        yield
    finally:
        _limit.reset(token)


def available_memory() -> float:
    """Return the bytes that this process may still take; inf where nothing tells.

    Examples
    --------
    >>> available_memory() > 0
    True
    """
    given = _limit.get()
    if given is not None:
        return given
    return min([_free(), *_group_room(), _address_room()])


def check_memory(needed: float, what: str, instead: str) -> None:
    """Refuse what needs more memory than there is.

    Parameters
    ----------
    needed : float
        Bytes, as estimated.
    what : str
        Who needs them.
    instead : str
        What to do, as a sentence.

    Raises
    ------
    NotEnoughMemory

    Examples
    --------
    >>> with limit_memory(1e9):
    ...     check_memory(4e9, "a square of 22,361 rows", "Take fewer rows.")
    Traceback (most recent call last):
    modeseek._common.resources.NotEnoughMemory: a square of 22,361 rows needs about 4.0 GB of memory, and 1.0 GB ...
    """
    if needed <= SMALL and _limit.get() is None:
        return
    there = available_memory()
    if needed > there:
        raise NotEnoughMemory(
            f"{what} needs about {format_bytes(needed)} of memory, and {format_bytes(there)} is there. {instead}"
        )


def format_bytes(n_bytes: float) -> str:
    """Return a number of bytes for people.

    Examples
    --------
    >>> format_bytes(3.25e9), format_bytes(120_000)
    ('3.2 GB', '0.1 MB')
    """
    for power, unit in ((1e12, "TB"), (1e9, "GB")):
        if n_bytes >= power:
            return f"{n_bytes / power:,.1f} {unit}"
    return f"{n_bytes / 1e6:.1f} MB"


def _free() -> float:
    """Return what the machine has left: on Linux with what the kernel would give back."""
    for line in _lines("proc/meminfo"):
        if line.startswith("MemAvailable:"):
            return float(line.split()[1]) * 1024
    try:
        # macOS knows its pages but not which are free, Windows has no sysconf
        name = "SC_AVPHYS_PAGES" if "SC_AVPHYS_PAGES" in os.sysconf_names else "SC_PHYS_PAGES"
        pages = os.sysconf(name)
        return float(pages * os.sysconf("SC_PAGE_SIZE")) if pages > 0 else math.inf
    except (AttributeError, ValueError, OSError):
        return math.inf


def _group_room() -> list[float]:
    """Return what is left in each control group that this process is in: its own and those above it."""
    room: list[float] = []
    for line in _lines("proc/self/cgroup"):
        number, controllers, path = [*line.split(":", 2), "", ""][:3]
        if number == "0":
            base, names = "sys/fs/cgroup", ("memory.max", "memory.current", "inactive_file")
        elif "memory" in controllers.split(","):
            base = "sys/fs/cgroup/memory"
            names = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
        else:
            continue
        # a container often sees its own group as the root, though its path says otherwise
        parts = [part for part in path.split("/") if part not in ("", "..")]
        for depth in range(len(parts), -1, -1):
            room += _room_of("/".join([base, *parts[:depth]]), *names)
    return room


def _room_of(folder: str, limit: str, used: str, reclaimable: str) -> list[float]:
    most, taken = _number(f"{folder}/{limit}"), _number(f"{folder}/{used}")
    if most is None or taken is None or most >= NO_LIMIT:
        return []
    # pages of files that were read are given back when they are needed
    words = [line.split() for line in _lines(f"{folder}/memory.stat")]
    back = sum(float(word[1]) for word in words if len(word) == 2 and word[0] == reclaimable and word[1].isdigit())
    return [max(0.0, most - max(0.0, taken - back))]


def _address_room() -> float:
    try:
        import resource
    except ImportError:  # Windows
        return math.inf
    most = resource.getrlimit(resource.RLIMIT_AS)[0]
    if most == resource.RLIM_INFINITY or most >= NO_LIMIT:
        return math.inf
    taken = [float(line.split()[0]) * os.sysconf("SC_PAGE_SIZE") for line in _lines("proc/self/statm")[:1]]
    return max(0.0, float(most) - sum(taken))


def _lines(path: str) -> list[str]:
    try:
        return (ROOT / path).read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []


def _number(path: str) -> float | None:
    lines = _lines(path)
    return float(lines[0]) if lines and lines[0].strip().isdigit() else None
