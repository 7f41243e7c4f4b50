"""Run the jobs of experiments on several processes; a journal of finished jobs lets an interrupted run resume."""

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import is_dataclass
from pathlib import Path
from typing import Any, TypeAlias

from joblib import Parallel, delayed, effective_n_jobs, parallel_config

import modeseek
from modeseek._storage.errors import DataError
from modeseek.meanshift.chains_on_dask import dask_client
from modeseek.paper.experiment import Experiment, Job
from modeseek.paper.rows import Row, Rows

# number of a job in the list, its experiment, the job and the seed
Task: TypeAlias = tuple[int, Experiment, Job, int]
# number of a job in the list, and its rows
Done: TypeAlias = tuple[int, list[Row]]
FOLDER = "unfinished"


class JobFailed(RuntimeError):
    """A job raised an error; the message names the job."""


def config_json(config: Any, indent: int | None = None) -> str:
    """Return a frozen config, or a list with configs, as JSON; a value that JSON cannot hold becomes its repr.

    Examples
    --------
    >>> from modeseek.paper.experiment import Hyperparameters
    >>> json.loads(config_json(Hyperparameters()))["h_max"]
    1.6
    """
    return json.dumps(config, indent=indent, default=lambda value: vars(value) if is_dataclass(value) else repr(value))


class Journal:
    """File of an experiment's finished jobs: one line of JSON for each job, with its rows.

    The file name contains hashes of the config, the seed and the source code: rows of different set-ups never mix. The
    name does not depend on the number of runs, because more runs only add jobs.

    Parameters
    ----------
    folder : path
        Output folder of the command.
    experiment : Experiment
    seed : int
    """

    def __init__(self, folder: Path, experiment: Experiment, seed: int):
        setup = config_json([experiment.name, experiment, seed])
        self._stem = f"{experiment.name}-{hashlib.sha256(setup.encode()).hexdigest()[:12]}"
        self.path = folder / FOLDER / f"{self._stem}-{_state_of_code()[:12]}.jsonl"

    def read(self) -> dict[str, list[Row]]:
        """Return the rows of each finished job, by its key."""
        done = {}
        with suppress(FileNotFoundError):
            for line in self.path.read_text(encoding="utf-8").splitlines():
                # a crash may have truncated a line: that job is run again
                with suppress(json.JSONDecodeError):
                    entry = json.loads(line)
                    done[entry["job"]] = entry["rows"]
        return done

    def add(self, key: str, rows: list[Row]) -> None:
        """Append the rows of a finished job."""
        # a single write: a crash can truncate this line only
        line = json.dumps({"job": key, "rows": rows}, allow_nan=False) + "\n"
        try:
            self.path.parent.mkdir(exist_ok=True)
            with open(self.path, "a", encoding="utf-8") as file:
                file.write(line)
        except OSError as error:
            raise DataError(f"cannot write '{self.path}': {error.strerror or error}.") from error

    def remove(self) -> None:
        """Delete the journal, and the journals that older source code wrote for the same set-up."""
        for path in self.path.parent.glob(f"{self._stem}-*.jsonl"):
            path.unlink(missing_ok=True)
        with suppress(OSError):  # other journals are still in the folder
            self.path.parent.rmdir()


def _state_of_code() -> str:
    digest = hashlib.sha256(modeseek.__version__.encode())
    for path in sorted(Path(modeseek.__file__).parent.rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


class JobList:
    """The jobs of some experiments, and the rows of those that are finished.

    Parameters
    ----------
    experiments : sequence of Experiment
    runs, seed : int
    folder : path, optional
        Folder of the journals of finished jobs, with which a later run resumes; None keeps rows in memory only.
    """

    def __init__(self, experiments: Sequence[Experiment], runs: int, seed: int, folder: Path | None = None):
        self.experiments, self.seed = tuple(experiments), seed
        self._journals = {each.name: Journal(folder, each, seed) for each in experiments} if folder else {}
        self._jobs = {each.name: each.jobs(runs) for each in experiments}
        self._done = {each.name: self._journals[each.name].read() if folder else {} for each in experiments}

    def left(self) -> list[tuple[Experiment, Job]]:
        """Return the jobs that are not finished."""
        return [
            (each, job)
            for each in self.experiments
            for job in self._jobs[each.name]
            if job.key not in self._done[each.name]
        ]

    @property
    def cost(self) -> float:
        """Total cost of all jobs, finished or not."""
        return sum(job.cost for jobs in self._jobs.values() for job in jobs)

    def keep(self, experiment: Experiment, job: Job, rows: list[Row]) -> None:
        """Store the rows of a finished job."""
        if self._journals:
            self._journals[experiment.name].add(job.key, rows)
        self._done[experiment.name][job.key] = rows

    def rows(self, experiment: Experiment) -> Rows:
        """Return the rows of an experiment, in the order of its jobs."""
        done = self._done[experiment.name]
        return Rows(experiment.columns, (row for job in self._jobs[experiment.name] for row in done[job.key]))

    def forget(self) -> None:
        """Delete the journals; call this after the results are written."""
        for journal in self._journals.values():
            journal.remove()


def run_jobs(plan: JobList, *, n_jobs: int | None = None, advance: Callable[[float], None] | None = None) -> None:
    """Run the unfinished jobs.

    Finished jobs stay stored after Ctrl-C and errors.

    Parameters
    ----------
    plan : JobList
    n_jobs : int, optional
        Number of processes; None means 1, -1 all cores. Rows do not depend on it. With joblib's Dask backend, all
        workers of the Dask cluster are used.
    advance : callable, optional
        Called with the cost of each finished job.
    """
    todo = plan.left()
    for number, rows in _results(todo, plan.seed, effective_n_jobs(n_jobs)):
        experiment, job = todo[number]
        plan.keep(experiment, job, rows)
        if advance is not None:
            advance(job.cost)


def _results(todo: Sequence[tuple[Experiment, Job]], seed: int, workers: int) -> Iterable[Done]:
    client = dask_client()
    tasks = ((number, experiment, job, seed) for number, (experiment, job) in enumerate(todo))
    if client is not None:
        return _by_dask(client, list(tasks))
    if workers == 1 or len(todo) <= 1:
        return (_do(*task) for task in tasks)
    return Parallel(workers, return_as="generator_unordered")(delayed(_do)(*task) for task in tasks)


def _by_dask(client: Any, tasks: Sequence[Task]) -> Iterator[Done]:
    """Run jobs on the Dask workers; joblib would run them in this process if there is one worker with one thread."""
    from distributed import as_completed

    futures = [client.submit(_do, *task, pure=False) for task in tasks]
    try:
        for future in as_completed(futures):
            yield future.result()
    finally:
        client.cancel(futures)


def _do(number: int, experiment: Experiment, job: Job, seed: int) -> Done:
    try:
        # one core for each job; a Dask worker would otherwise report all cores
        with parallel_config("threading", n_jobs=1):
            return number, experiment.rows_of(job, seed)
    except Exception as error:
        raise JobFailed(f"{experiment.name}, {job.key}, seed {seed}: {type(error).__name__}: {error}") from error
