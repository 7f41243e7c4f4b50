"""Run the chains of several threads in one launch.

Tasks that run one chain at a time, as the experiments of the paper do, leave a GPU mostly idle. Under a `ChainBatcher`
each task has a thread. A thread that submits chains waits until all other threads wait too or have ended. Then one of
them runs the chains of all threads in one launch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Condition
from typing import Any, NamedTuple

from modeseek.meanshift.types import ChainEnd, ChainJob

Run = Callable[[Sequence[ChainJob]], list[ChainEnd]]

active_batcher: ContextVar[ChainBatcher | None] = ContextVar("active_batcher", default=None)


class _Request(NamedTuple):
    """The chains that a thread submits, and a list for their results or the error."""

    kind: tuple[Any, ...]
    run: Run
    jobs: Sequence[ChainJob]
    result: list[list[ChainEnd] | BaseException]


class ChainBatcher:
    """Collects the chains of a given number of threads."""

    def __init__(self, threads: int) -> None:
        self._changed = Condition()
        self._active, self._waiting = threads, 0
        self._requests: list[_Request] = []

    @contextmanager
    def participate(self) -> Iterator[None]:
        """Collect the chains of this thread within a `with` block; each of the threads calls this once."""
        token = active_batcher.set(self)
        try:
            yield
        finally:
            active_batcher.reset(token)
            with self._changed:
                self._active -= 1
                self._changed.notify_all()  # all remaining threads may be waiting

    def run(self, kind: tuple[Any, ...], run: Run, jobs: Sequence[ChainJob]) -> list[ChainEnd]:
        """Run chains together with the chains of the same kind of other threads.

        Parameters
        ----------
        kind : tuple
            Chains of equal kind can run in one launch.
        run : callable
            Runs chains of this kind.
        jobs : sequence of ChainJob
        """
        request = _Request(kind, run, jobs, [])
        with self._changed:
            self._requests.append(request)
            self._waiting += 1
            while not request.result:
                if self._waiting == self._active:
                    self._run_requests()
                else:
                    self._changed.wait()
            self._waiting -= 1
        result = request.result[0]
        if isinstance(result, BaseException):
            raise result
        return result

    def _run_requests(self) -> None:
        """Run all requests, with the lock held: all threads wait."""
        requests, self._requests = self._requests, []
        for kind in dict.fromkeys(request.kind for request in requests):
            alike = [request for request in requests if request.kind == kind]
            try:
                ends = iter(alike[0].run([job for request in alike for job in request.jobs]))
                for request in alike:
                    request.result.append([next(ends) for _ in request.jobs])
            except BaseException as error:
                for request in alike:
                    request.result.append(error)
        self._changed.notify_all()
