"""Run all experiments of the paper, and write rows, figures and reports to a folder."""

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

from modeseek._common.validation import check_choice, check_integer
from modeseek._storage.errors import DataError
from modeseek.paper.absorption import AbsorptionWalks
from modeseek.paper.against_sms import Clusters, Imbalance, Outliers
from modeseek.paper.bandwidth_range import BandwidthRange
from modeseek.paper.certificate import CertificateTimes
from modeseek.paper.certificate_times import TimesToCertificate
from modeseek.paper.experiment import Experiment
from modeseek.paper.gradient import GradientNorm
from modeseek.paper.job_list import JobList, run_jobs
from modeseek.paper.one_run import OneRun
from modeseek.paper.range_map import RangeMap
from modeseek.paper.report_page import RunInfo, claims_page, report_page, write_results
from modeseek.paper.sparse import Sparse
from modeseek.paper.steps import Steps
from modeseek.paper.submartingale import SubmartingaleMeans
from modeseek.paper.sweep import Sweep
from modeseek.paper.updates import Updates
from modeseek.report import write_page

# in the order of the report: comparisons, then theory
KINDS: tuple[type[Experiment], ...] = (
    *(Sparse, Imbalance, Clusters, BandwidthRange, Sweep, Outliers, RangeMap),
    *(AbsorptionWalks, OneRun, Updates, SubmartingaleMeans, GradientNorm),
    *(CertificateTimes, TimesToCertificate, Steps),
)
EXPERIMENTS: Mapping[str, Experiment] = {kind.name: kind() for kind in KINDS}
# default number of repetitions
RUNS = 100
QUICK_RUNS = 5

Bar = Callable[[float, float], AbstractContextManager[Callable[[float], None]]]


def choose(figures: Sequence[str] = (), *, quick: bool = False) -> list[Experiment]:
    """Return the named experiments, or all, in the order of the report.

    Examples
    --------
    >>> [each.name for each in choose(["range", "sparse"])]
    ['sparse', 'range']
    """
    for figure in figures:
        check_choice("FIGURE", figure, EXPERIMENTS)
    chosen = [each for name, each in EXPERIMENTS.items() if name in figures or not figures]
    return [each.quick() for each in chosen] if quick else chosen


def run_paper(
    folder: Path,
    figures: Sequence[str] = (),
    *,
    runs: int | None = None,
    seed: int = 0,
    n_jobs: int | None = None,
    quick: bool = False,
    engine: str = "auto",
    bar: Bar | None = None,
) -> Path:
    """Run experiments of the paper and write rows, figures and the report; return the path of the report.

    Finished jobs are stored in the folder: after an interruption, the same call resumes.

    Parameters
    ----------
    folder : path
        Output folder; created if it does not exist.
    figures : sequence of str
        Names of the experiments; empty means all.
    runs : int, optional
        Number of repetitions; None means 100, or 5 in quick mode.
    seed : int
    n_jobs : int, optional
        Number of processes; None means 1, -1 all cores. Results do not depend on it.
    quick : bool
        Use a small grid that takes a minute or two.
    engine : str
        Engine of SMS and DSMS. Results do not depend on it.
    bar : callable, optional
        Progress bar: (total cost, finished cost) -> context manager that yields a function, which is called with
        the cost of each finished job.

    Examples
    --------
    >>> import tempfile
    >>> report = run_paper(Path(tempfile.mkdtemp()), ["outliers"], quick=True, runs=1)
    >>> report.name, [path.name for path in sorted(report.parent.glob("figures/*.png"))]
    ('report.html', ['outliers.png'])
    """
    chosen = [each.on_engine(engine) for each in choose(figures, quick=quick)]
    runs = (QUICK_RUNS if quick else RUNS) if runs is None else check_integer("runs", runs, low=1)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(f"cannot make the folder '{folder}': {error.strerror or error}.") from error
    plan = JobList(chosen, runs, check_integer("seed", seed, low=0), folder)
    began, done = time.perf_counter(), plan.cost - sum(job.cost for _, job in plan.left())
    with nullcontext() if bar is None else bar(plan.cost, done) as advance:
        run_jobs(plan, n_jobs=n_jobs, advance=advance)
    made = RunInfo(tuple(figures), runs, seed, quick, None if done else (time.perf_counter() - began) / 60)
    results = {experiment: plan.rows(experiment) for experiment in chosen}
    write_results(folder, results, n_jobs=n_jobs)
    write_page(folder, "report", report_page(results, made))
    write_page(folder, "claims", claims_page(results, made))
    plan.forget()
    return folder / "report.html"
