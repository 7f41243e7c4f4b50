"""A user's own algorithms or policies, as further lines of a figure of the paper."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from modeseek._common.validation import check_choice, check_integer
from modeseek.paper.clusters import Clusters
from modeseek.paper.comparison import Comparison
from modeseek.paper.imbalance import Imbalance
from modeseek.paper.job_list import JobList, run_jobs
from modeseek.paper.lines import user_lines
from modeseek.paper.report_page import section_of
from modeseek.paper.result_files import write_results
from modeseek.paper.rows import Rows
from modeseek.paper.scores import MEASURES
from modeseek.paper.sparse import Sparse
from modeseek.report import Page, write_page

__all__ = ["FIGURES", "Compared", "compare"]

FIGURES: Mapping[str, Comparison] = {each.name: each for each in (Sparse(), Imbalance(), Clusters())}


@dataclass(frozen=True)
class Compared:
    """What `compare` measured.

    Attributes
    ----------
    experiment : Comparison
        The figure, with the lines added.
    rows : Rows
        A row for each run of each line.
    """

    experiment: Comparison
    rows: Rows

    def figures(self) -> dict[str, Figure]:
        """Return the pictures, by name."""
        return self.experiment.draw(self.rows)

    def means(self, measure: str = "ari") -> dict[str, float]:
        """Return the mean of a measure over all runs, for each line: its name, and its bandwidth where it has several.

        The measures are those of the rows: n_clusters, n_singletons, acp, alp, k, k_weighted, ari.
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
        """Write rows, pictures and a page to a folder; return the page's path."""
        target = Path(folder)
        target.mkdir(parents=True, exist_ok=True)
        write_results(target, {self.experiment: self.rows})
        names = ", ".join(line.name for line in self.experiment.own)
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
    """Run a figure of the paper with lines of one's own beside the paper's, on the same data and seeds.

    Parameters
    ----------
    lines : mapping
        Name -> scikit-learn clusterer, or bandwidth policy, which then drives DSMS. A clusterer is cloned for each
        run, and given the run's seed where it has `random_state`. Label -1 is noise: each such point counts as a
        cluster of its own.
    figure : {"sparse", "imbalance", "clusters"}, default="sparse"
        The figure they join.
    runs : int, default=20
        Data sets for each set-up.
    seed : int, default=0
        The same seed gives the same data as `modeseek paper --seed`.
    n_jobs : int, optional
        Processes; None means 1, -1 all cores. Results do not depend on it.
    quick : bool, default=False
        A smaller grid.

    Returns
    -------
    Compared

    Examples
    --------
    >>> from sklearn.cluster import KMeans
    >>> from modeseek.meanshift.bandwidth import Uniform
    >>> from modeseek.paper import compare
    >>> mine = {"k-means, told 3": KMeans(3, n_init=3), "DSMS, uniform": Uniform(0.2, 1.6)}
    >>> compared = compare(mine, "sparse", runs=1, quick=True)
    >>> sorted(compared.means("n_clusters"))[-1], compared.means("n_clusters")["k-means, told 3"]
    ('k-means, told 3', 3.0)
    """
    experiment = FIGURES[check_choice("figure", figure, FIGURES)]
    own = user_lines(lines)
    taken = {line.name for line in experiment.lines()}
    for line in own:
        if line.name in taken:
            raise ValueError(f"a line named {line.name!r} is in the figure already: give yours another name.")
    experiment = replace(experiment.quick() if quick else experiment, own=own)
    plan = JobList([experiment], check_integer("runs", runs, low=1), check_integer("seed", seed, low=0))
    run_jobs(plan, n_jobs=n_jobs)
    return Compared(experiment, plan.rows(experiment))
