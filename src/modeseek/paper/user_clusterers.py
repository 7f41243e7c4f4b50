"""Compare a user's clusterers or bandwidth policies with those of the paper, in a figure of the paper."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from modeseek._common.validation import check_choice, check_integer
from modeseek.paper.against_sms import Clusters, Imbalance
from modeseek.paper.comparison import Comparison
from modeseek.paper.contenders import MEASURES, user_contenders
from modeseek.paper.job_list import JobList, run_jobs
from modeseek.paper.report_page import section_of, write_results
from modeseek.paper.rows import Rows
from modeseek.paper.sparse import Sparse
from modeseek.report import Page, write_page

FIGURES: Mapping[str, Comparison] = {each.name: each for each in (Sparse(), Imbalance(), Clusters())}


@dataclass(frozen=True)
class Compared:
    """Result of `compare`.

    Attributes
    ----------
    experiment : Comparison
        The experiment, with the user's clusterers.
    rows : Rows
        The scores of each run of each clusterer, one row for each.
    """

    experiment: Comparison
    rows: Rows

    def figures(self) -> dict[str, Figure]:
        """Return the figures, by name."""
        return self.experiment.draw(self.rows)

    def means(self, measure: str = "ari") -> dict[str, float]:
        """Return the mean of a measure over all runs, for each clusterer.

        The keys are the names of the clusterers, with the bandwidth for those that run at several bandwidths. The
        measures are n_clusters, n_singletons, acp, alp, k, k_weighted and ari.
        """
        check_choice("measure", measure, MEASURES)
        found = {}
        for line in self.rows.distinct("line"):
            own = self.rows.where(line=line)
            bandwidths = own.distinct("h")
            for h in bandwidths:
                name = str(line) if len(bandwidths) == 1 else f"{line}, h = {h:g}"
                found[name] = float(own.where(h=h)[measure].mean())
        return found

    def write(self, folder: str | os.PathLike[str]) -> Path:
        """Write rows, figures and a report to a folder; return the path of the report."""
        target = Path(folder)
        target.mkdir(parents=True, exist_ok=True)
        write_results(target, {self.experiment: self.rows})
        names = ", ".join(each.name for each in self.experiment.user_contenders)
        page = Page(f"{self.experiment.title}, with {names}", "", tuple(section_of(self.experiment, self.rows)))
        write_page(target, "report", page)
        return target / "report.html"


def compare(
    lines: Mapping[str, Any],
    figure: str = "sparse",
    *,
    runs: int = 20,
    seed: int = 0,
    n_jobs: int | None = None,
    quick: bool = False,
) -> Compared:
    """Run an experiment of the paper with additional clusterers, on the same data and seeds.

    Parameters
    ----------
    lines : mapping
        Scikit-learn clusterers or bandwidth policies, by name. DSMS runs with each of these policies. A clusterer is
        cloned for each run, and its `random_state` is set to the run's seed if it has this parameter. Label -1 means
        noise: each such point counts as a cluster of one point.
    figure : {"sparse", "imbalance", "clusters"}, default="sparse"
        The experiment.
    runs : int, default=20
        Number of data sets for each set-up.
    seed : int, default=0
        The same seed gives the same data as `modeseek paper --seed`.
    n_jobs : int, optional
        Number of processes; None means 1, -1 all cores. Results do not depend on it.
    quick : bool, default=False
        Use a smaller grid.

    Returns
    -------
    Compared

    Examples
    --------
    >>> from sklearn.cluster import KMeans
    >>> from modeseek.meanshift.bandwidth import Uniform
    >>> from modeseek.paper import Compared, compare
    >>> mine = {"k-means, k = 3": KMeans(3, n_init=3), "DSMS, uniform": Uniform(0.2, 1.6)}
    >>> compared = compare(mine, "sparse", runs=1, quick=True)
    >>> sorted(compared.means("n_clusters"))[-1], compared.means("n_clusters")["k-means, k = 3"]
    ('k-means, k = 3', 3.0)
    >>> isinstance(compared, Compared), "sparse" in compared.figures()
    (True, True)
    """
    experiment = FIGURES[check_choice("figure", figure, FIGURES)]
    added = user_contenders(lines)
    for name in {each.name for each in experiment.contenders()} & set(lines):
        raise ValueError(f"a line named {name!r} is in the figure already: give yours another name.")
    experiment = replace(experiment.quick() if quick else experiment, user_contenders=added)
    plan = JobList([experiment], check_integer("runs", runs, low=1), check_integer("seed", seed, low=0))
    run_jobs(plan, n_jobs=n_jobs)
    return Compared(experiment, plan.rows(experiment))
