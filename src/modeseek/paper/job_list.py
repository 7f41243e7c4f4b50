"""Jobs on several processes, their rows kept as they come."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed, effective_n_jobs, parallel_config

from modeseek.meanshift.ensemble import dask_client
from modeseek.meanshift.gpu_tasks import run_tasks_on_gpu
from modeseek.paper.experiment import Experiment, Job
from modeseek.paper.journal import Journal
from modeseek.paper.lines import ignore_advice
from modeseek.paper.rows import Row, Rows

__all__ = ["JobFailed", "JobList", "run_jobs"]

# jobs that a process does together for a GPU, at most: all of them are lost when it is ended
SHARE = 64


class JobFailed(RuntimeError):
    """A job that raised an error; the message names it."""


class JobList:
    """The jobs of some experiments, and what is done of them.

    Parameters
    ----------
    experiments : sequence of Experiment
    runs, seed : int
    folder : path, optional
        Where finished jobs are kept, and found by the next plan; None keeps them in memory only.
    """

    def __init__(self, experiments: Sequence[Experiment], runs: int, seed: int, folder: Path | None = None):
        self.experiments, self.seed = tuple(experiments), seed
        self._journals = {each.name: Journal(folder, each, seed) for each in experiments} if folder else {}
        self._jobs = {each.name: each.jobs(runs) for each in experiments}
        self._done = {each.name: self._journals[each.name].read() if folder else {} for each in experiments}

    def left(self) -> list[tuple[Experiment, Job]]:
        """Return what is still to do."""
        return [
            (each, job)
            for each in self.experiments
            for job in self._jobs[each.name]
            if job.key not in self._done[each.name]
        ]

    @property
    def cost(self) -> float:
        """The cost of all jobs, done or not."""
        return sum(job.cost for jobs in self._jobs.values() for job in jobs)

    def keep(self, experiment: Experiment, job: Job, rows: list[Row]) -> None:
        """Note that a job is done."""
        if self._journals:
            self._journals[experiment.name].add(job.key, rows)
        self._done[experiment.name][job.key] = rows

    def rows(self, experiment: Experiment) -> Rows:
        """Return the rows of an experiment in the order of its jobs, however they were run."""
        done = self._done[experiment.name]
        return Rows(experiment.columns, (row for job in self._jobs[experiment.name] for row in done[job.key]))

    def forget(self) -> None:
        """Remove what was kept of the jobs, once the results are written."""
        for journal in self._journals.values():
            journal.remove()


def run_jobs(
    plan: JobList,
    *,
    n_jobs: int | None = None,
    advance: Callable[[float], None] | None = None,
    gathered: bool = False,
) -> None:
    """Do what is left of a plan.

    Ctrl-C and errors leave all finished jobs kept.

    Parameters
    ----------
    plan : JobList
    n_jobs : int, optional
        Processes; None means 1, -1 all cores. Rows do not depend on it. Where joblib's Dask backend is in force, all
        workers of Dask.
    advance : callable, optional
        Called with the cost of each job as it ends.
    gathered : bool
        Whether each process does many jobs at a time, so that their chains run on a GPU together.
    """
    todo = plan.left()
    results = (_gathered if gathered else _results)(todo, plan.seed, effective_n_jobs(n_jobs))
    for number, rows in results:
        experiment, job = todo[number]
        plan.keep(experiment, job, rows)
        if advance is not None:
            advance(job.cost)


def _results(
    todo: Sequence[tuple[Experiment, Job]], seed: int, workers: int
) -> Iterable[tuple[int, list[Row]]] | Iterator[tuple[int, list[Row]]]:
    client = dask_client()
    tasks = ((number, experiment, job, seed) for number, (experiment, job) in enumerate(todo))
    if client is not None:
        return _by_dask(client, list(tasks))
    if workers == 1 or len(todo) <= 1:
        return (_do(*task) for task in tasks)
    return Parallel(workers, return_as="generator_unordered")(delayed(_do)(*task) for task in tasks)


def _gathered(todo: Sequence[tuple[Experiment, Job]], seed: int, workers: int) -> Iterator[tuple[int, list[Row]]]:
    numbered = [(number, experiment, job, seed) for number, (experiment, job) in enumerate(todo)]
    if workers == 1:
        return _together(numbered)
    share = max(1, min(SHARE, -(-len(todo) // workers)))
    shares = (numbered[begin : begin + share] for begin in range(0, len(numbered), share))
    parallel = Parallel(workers, return_as="generator_unordered")
    return chain.from_iterable(parallel(delayed(_do_share)(each) for each in shares))


def _together(tasks: Sequence[tuple[int, Experiment, Job, int]]) -> Iterator[tuple[int, list[Row]]]:
    with warnings.catch_warnings():  # of all threads: what each sets by itself is not its own
        ignore_advice()
        for _, done in run_tasks_on_gpu([partial(_do, *task) for task in tasks]):
            yield done


def _do_share(tasks: Sequence[tuple[int, Experiment, Job, int]]) -> list[tuple[int, list[Row]]]:
    return list(_together(tasks))


def _by_dask(client: Any, tasks: Sequence[tuple[int, Experiment, Job, int]]) -> Iterator[tuple[int, list[Row]]]:
    """Have jobs done by Dask's workers; joblib's own loop does them here where there is one worker of one thread."""
    from distributed import as_completed

    futures = [client.submit(_do, *task, pure=False) for task in tasks]
    try:
        for future in as_completed(futures):
            yield future.result()
    finally:
        client.cancel(futures)


def _do(number: int, experiment: Experiment, job: Job, seed: int) -> tuple[int, list[Row]]:
    try:
        # a job has a core; on a worker of Dask it would be told of all that there are
        with parallel_config("threading", n_jobs=1):
            return number, experiment.work(job, seed)
    except Exception as error:
        raise JobFailed(f"{experiment.name}, {job.key}, seed {seed}: {type(error).__name__}: {error}") from error
