"""The command `modeseek paper`."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

import numpy as np
from joblib import parallel_config

from modeseek._common.progress import job_bar
from modeseek.cli.commands import UsageError
from modeseek.cli.messages import library_errors
from modeseek.cli.options import PaperOptions
from modeseek.meanshift.engines import choose as choose_engine
from modeseek.meanshift.kernels.profiles import BIWEIGHT
from modeseek.paper.job_list import JobFailed
from modeseek.paper.paper import choose, run_paper
from modeseek.pipeline.dask import connect


def run(options: PaperOptions) -> None:
    """Run the experiments and print where their results are."""
    figures, out = options.figures or [], options.out
    with library_errors():
        choose(figures)
        choose_engine(options.engine, BIWEIGHT, np.zeros((1, 2)))
    bar = None if options.quiet else _bar
    try:
        with nullcontext() if options.scheduler is None else _dask_jobs(options.scheduler, out):
            report = run_paper(
                Path(out),
                figures,
                runs=options.runs,
                seed=options.seed,
                n_jobs=options.n_jobs,
                quick=options.quick,
                engine=options.engine,
                bar=bar,
            )
    except JobFailed as error:
        raise UsageError(f"a job failed; the finished jobs are kept in '{out}': {error}") from error
    except KeyboardInterrupt:
        print(
            f"interrupted: finished jobs are kept in '{out}'; give the same command again to continue.", file=sys.stderr
        )
        raise
    if not options.quiet:
        print(f"report   {report}\nclaims   {report.with_name('claims.html')}")
        print(f"data     {report.parent / 'data'}\nfigures  {report.parent / 'figures'}")


@contextmanager
def _bar(total: float, done: float) -> Iterator[Callable[[float], None]]:
    """Show the progress of the jobs, and say what follows: the figures take up to a minute."""
    with job_bar("modeseek paper", total, done) as advance:
        yield advance
    print("modeseek paper: drawing the figures and writing the report", file=sys.stderr)


@contextmanager
def _dask_jobs(address: str, out: str) -> Iterator[None]:
    """Send the jobs of joblib to the workers of a Dask scheduler."""
    with library_errors(), connect(address, f"the finished jobs are kept in '{out}'"), parallel_config("dask"):
        yield
