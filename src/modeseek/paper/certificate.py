"""When runs are certified, when the paper's own rule would have stopped them, and what Theorem 2's conditions say."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, NamedTuple, Self

import numpy as np
from sklearn.metrics import adjusted_rand_score

from modeseek._common.types import Array, IntArray
from modeseek.meanshift.chains import RULES, Chain, Outcome, Stopping
from modeseek.meanshift.components import components, diameter_of, gap_of
from modeseek.paper.certificate_figures import draw_differences, draw_times
from modeseek.paper.experiment import Experiment, Job
from modeseek.paper.paper_chains import POLICIES, paper_chain, paper_policy
from modeseek.paper.rows import Row, Rows
from modeseek.paper.theory_style import NAMES
from modeseek.report import TableBlock

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["CertificateTimes"]


@dataclass(frozen=True)
class CertificateTimes(Experiment):
    """Sweeps until the certificate and until the paper's rule, on the same runs.

    Attributes
    ----------
    sizes : tuple of int
        Points in each of the mixture's three components.
    tau : float
        Distance at which clusters are read off.
    most_sweeps : int
        Limit of a run.
    """

    sizes: tuple[int, ...] = (10, 20, 50, 100, 200, 500)
    tau: float = 0.05
    most_sweeps: int = 2000

    name: ClassVar[str] = "certificate"
    title: ClassVar[str] = "How long until a run is certified?"
    text: ClassVar[str] = """\
Theorem 2 says that for the walk of Algorithm 1b, almost surely, clusters of diameter D < tau that are more than h_min
- tau apart are there from some update on for ever. The paper gives no bound on when, and stops a run in practice when
enough points have a last shift below a threshold, 10^-6 in its experiments. Here every point must. Under a random
bandwidth a last shift can be small by luck. The certificate instead proves for the state at hand that its clusters
can never change: D < tau and gap > h_upper + 2D, with h_upper the largest bandwidth that can still be drawn.

Each run on the paper's mixture is watched by both rules, after each sweep (n updates of single points). The
certificate is looked for after each of the first 32 sweeps and then ever more rarely, a few per cent late. In
hindsight, we also note from which sweep on the partition was the last one. Where the paper's rule stops before the
certificate, its clusters may differ from the final ones: they are compared by the adjusted Rand index. Last, we count
runs in which Theorem 2's two conditions held after some sweep before the certificate and the partition changed later
all the same. The theorem says that they hold for all large k, not that they are final once they hold."""
    columns: ClassVar[tuple[str, ...]] = (
        "policy", "n", "run", "certificate", "certificate_outcome", "shifts", "shifts_outcome", "final", "clusters",
        "shifts_clusters", "ari", "theorem2", "theorem2_changed",
    )  # fmt: skip
    captions: ClassVar[dict[str, str]] = {
        "certificate-times": (
            "Updates per point (sweeps) until the certificate, until the paper's rule, and until the partition was "
            "final in hindsight, against the number of points n. Lines are medians over runs; dark bands hold the "
            "middle half of the runs and light bands nine in ten. Both axes are logarithmic."
        ),
        "certificate-differences": (
            "Left: share of runs that the paper's rule stopped at other clusters than the final ones (adjusted Rand "
            "index below 1). Right: share of runs in which Theorem 2's conditions held before the certificate, and "
            "yet the partition changed afterwards. 90 % Wilson intervals."
        ),
    }

    def quick(self) -> Self:
        """Return a config with two small sizes."""
        return replace(self, sizes=(10, 30, 60))

    def jobs(self, runs: int) -> list[Job]:
        """Return a run for each policy and size."""
        return [
            Job({"policy": policy, "n": 3 * size}, run, (20 if policy == "walk" else 35) + 0.27 * size)
            for policy in POLICIES
            for size in self.sizes
            for run in range(runs)
        ]

    def work(self, job: Job, seed: int) -> list[Row]:
        """Run once, past both rules, and return what each would have said."""
        policy = paper_policy(str(job.cell["policy"]), self.settings)
        n = int(job.cell["n"] or 0)
        seen = self._watch(paper_chain(n // 3, policy, seed, job.run))
        (certificate, certificate_outcome), (shifts, shifts_outcome) = seen.ends["certificate"], seen.ends["shifts"]
        # after a certificate nothing changes, so the partition then is the final one
        last = seen.partitions[min(certificate, len(seen.partitions) - 1)]
        at_shifts = seen.partitions[min(shifts, len(seen.partitions) - 1)]
        differs = [(labels != last).any() for labels in seen.partitions]
        held = [sweep for sweep in seen.theorem2 if sweep < certificate]
        row: Row = {
            "run": job.run,
            "certificate": certificate,
            "certificate_outcome": certificate_outcome.name,
            "shifts": shifts,
            "shifts_outcome": shifts_outcome.name,
            "final": max((sweep + 1 for sweep, other in enumerate(differs) if other), default=0),
            "clusters": int(last.max() + 1),
            "shifts_clusters": int(at_shifts.max() + 1),
            "ari": float(adjusted_rand_score(last, at_shifts)),
            "theorem2": held[0] if held else None,
            "theorem2_changed": int(any(differs[sweep] for sweep in held)),
        }
        return [{**job.cell, **row}]

    def _watch(self, chain: Chain) -> _Seen:
        limits = Stopping(self.tau, self.settings.threshold, max_sweeps=self.most_sweeps)
        rules = {rule: replace(limits, rule=rule) for rule in RULES}
        seen, state, sweep = _Seen({}, [], []), chain.init(), 0
        while True:
            if "certificate" not in seen.ends:
                labels = components(state.points, self.tau)
                seen.partitions.append(_numbered(labels))
                diameter = diameter_of(state.points, labels)
                if diameter < self.tau and gap_of(state.points, labels) > self.settings.h_min - self.tau:
                    seen.theorem2.append(sweep)
            for rule, stopping in rules.items():
                if rule not in seen.ends and (outcome := stopping.check(chain, state, sweep, 0.0)) is not None:
                    seen.ends[rule] = (sweep, outcome)
            if len(seen.ends) == len(rules):
                return seen
            (state, _), sweep = chain.sweep(state), sweep + 1

    def draw(self, rows: Rows) -> dict[str, Figure]:
        """Return the times, and how often rules and conditions misled."""
        return {"certificate-times": draw_times(rows), "certificate-differences": draw_differences(rows)}

    def tables(self, rows: Rows) -> list[TableBlock]:
        """Return the times, and how often rules and conditions misled, by policy and size."""
        times, counts = [], []
        for policy in POLICIES:
            for n in rows.where(policy=policy).distinct("n"):
                mine = rows.where(policy=policy, n=n)
                certified, small = (
                    len(mine.where(**{f"{rule}_outcome": outcome.name}))
                    for rule, outcome in (("certificate", Outcome.CERTIFIED), ("shifts", Outcome.SMALL_SHIFTS))
                )
                ends = [_spread(mine[name]) for name in ("final", "certificate", "shifts")]
                times.append([NAMES[policy], f"{n:,}", str(len(mine)), *ends, str(certified), str(small)])
                early, other = mine["shifts"] < mine["certificate"], mine["ari"] < 1
                held, changed = np.isfinite(mine["theorem2"]), mine["theorem2_changed"] > 0
                smallest = f"{mine['ari'].min():.7g}"
                numbers = [str(int(which.sum())) for which in (early, other, held, changed)]
                counts.append([NAMES[policy], f"{n:,}", str(len(mine)), *numbers[:2], smallest, *numbers[2:]])
        spread = "(5 / 50 / 95 %)"
        header = [
            "policy",
            "n",
            "runs",
            f"final from sweep {spread}",
            f"certificate {spread}",
            f"paper's rule {spread}",
        ]
        header += ["ended by certificate", "ended by small shifts"]
        first = TableBlock(header, times, f"Sweeps, at most {self.most_sweeps:,}; one sweep is n updates.")
        header = ["policy", "n", "runs", "paper's rule came first", "it stopped at other clusters", "smallest ARI"]
        header += ["Theorem 2's conditions held before the certificate", "and the partition changed afterwards"]
        return [
            first,
            TableBlock(header, counts, "How often the paper's rule and Theorem 2's conditions came too early."),
        ]


class _Seen(NamedTuple):
    """What a run showed: how each rule ended it, the partition after each sweep, when Theorem 2's conditions held.

    Partitions and conditions are those up to the certificate: later ones are the same.
    """

    ends: dict[str, tuple[int, Outcome]]
    partitions: list[IntArray]
    theorem2: list[int]


def _numbered(labels: IntArray) -> IntArray:
    """Return the labels in the order in which clusters first occur: the same for the same partition.

    Examples
    --------
    >>> _numbered(np.array([2, 2, 0, 1, 0]))
    array([0, 0, 1, 2, 1])
    """
    _, first, labels = np.unique(labels, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[labels]


def _spread(values: Array) -> str:
    return " / ".join(f"{value:.0f}" for value in np.percentile(values, (5, 50, 95), method="inverted_cdf"))
