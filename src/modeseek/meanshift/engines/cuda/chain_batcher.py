"""Chains of many threads in one run of the device.

Work that runs one chain at a time, as an experiment does, leaves a GPU idle. With a `ChainBatcher` each task has a
thread. A thread that submits chains waits until all other threads wait too, or have ended. Then one of them runs the
chains of all threads in one launch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Condition
from typing import Any, NamedTuple

from modeseek.meanshift.types import ChainEnd, ChainJob

__all__ = ["ChainBatcher", "in_force"]

Run = Callable[[Sequence[ChainJob]], list[ChainEnd]]

in_force: ContextVar[ChainBatcher | None] = ContextVar("gathering", default=None)


class _Wish(NamedTuple):
    """What a thread wants run, with what may run beside it, and where it finds the result."""

    kind: tuple[Any, ...]
    run: Run
    jobs: Sequence[ChainJob]
    found: list[list[ChainEnd] | BaseException]


class ChainBatcher:
    """Where so many threads meet."""

    def __init__(self, threads: int) -> None:
        self._met = Condition()
        self._present, self._waiting = threads, 0
        self._wishes: list[_Wish] = []

    @contextmanager
    def member(self) -> Iterator[None]:
        """Gather the chains of this thread, one of those counted, while the block runs."""
        token = in_force.set(self)
        try:
            yield
        finally:
            in_force.reset(token)
            with self._met:
                self._present -= 1
                self._met.notify_all()  # those who wait may be all that are left

    def run(self, kind: tuple[Any, ...], run: Run, jobs: Sequence[ChainJob]) -> list[ChainEnd]:
        """Have chains run together with those of other threads that are of one kind.

        Parameters
        ----------
        kind : tuple
            Chains of equal kinds may run at once.
        run : callable
            Runs chains of this kind.
        jobs : sequence of ChainJob
        """
        wish = _Wish(kind, run, jobs, [])
        with self._met:
            self._wishes.append(wish)
            self._waiting += 1
            while not wish.found:
                if self._waiting == self._present:
                    self._fulfil()
                else:
                    self._met.wait()
            self._waiting -= 1
        found = wish.found[0]
        if isinstance(found, BaseException):
            raise found
        return found

    def _fulfil(self) -> None:
        """Run what is wished for; everyone waits, so nobody minds that this holds the lock."""
        wishes, self._wishes = self._wishes, []
        for kind in dict.fromkeys(wish.kind for wish in wishes):
            alike = [wish for wish in wishes if wish.kind == kind]
            try:
                ends = iter(alike[0].run([job for wish in alike for job in wish.jobs]))
                for wish in alike:
                    wish.found.append([next(ends) for _ in wish.jobs])
            except BaseException as error:
                for wish in alike:
                    wish.found.append(error)
        self._met.notify_all()
