"""The job of `modeseek paper`: run, show progress, say where the report is."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path

import numpy as np

from modeseek.cli.settings import Problem

__all__ = ["run_command"]


def run_command(
    figures: list[str],
    runs: int | None,
    seed: int,
    jobs: int,
    out: str,
    *,
    quick: bool,
    quiet: bool,
    scheduler: str | None = None,
    engine: str = "auto",
) -> None:
    """Run experiments of the paper into a folder."""
    from modeseek._common.progress import job_bar
    from modeseek.meanshift.engines import choose as choose_engine
    from modeseek.meanshift.kernels.profiles import BIWEIGHT
    from modeseek.paper.paper import choose, run_paper
    from modeseek.paper.runner import JobFailed

    if jobs == 0:
        raise Problem("--jobs must be the number of processes, or -1 for all cores; got 0.")
    try:
        choose(figures)
        choose_engine(engine, BIWEIGHT, np.zeros((1, 2)))
    except ValueError as error:
        raise Problem(str(error)) from error
    bar = None if quiet else partial(job_bar, "modeseek paper")
    try:
        with nullcontext() if scheduler is None else _by_dask(scheduler, out):
            report = run_paper(
                Path(out), figures, runs=runs, seed=seed, n_jobs=jobs, quick=quick, engine=engine, bar=bar
            )
    except JobFailed as error:
        raise Problem(f"a job failed, the finished ones are kept in '{out}': {error}") from error
    except KeyboardInterrupt:
        print(f"interrupted: what was done is kept in '{out}'; the same command goes on from there.", file=sys.stderr)
        raise
    if not quiet:
        print(f"report   {report}\nclaims   {report.with_name('claims.html')}")
        print(f"rows     {report.parent / 'data'}\nfigures  {report.parent / 'figures'}")


@contextmanager
def _by_dask(address: str, out: str) -> Iterator[None]:
    from joblib import parallel_config

    from modeseek.cli.scheduler import connected

    with connected(address, f"what was done is kept in '{out}', and it goes on from there"), parallel_config("dask"):
        yield
