"""Measure the performance goals of the engines: a table of targets, each with the measured value.

Run it as

    python benchmarks/targets.py [--quick] [--out FILE.csv] [--report docs/benchmarks.md]

All rows come from one run on one machine. Ratios are of medians of wall times, each over three or more runs in a new,
warmed-up process; counts, memory and the million points are from a single run. `--quick` uses a tenth of the points and
gives no verdicts.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from common import RESULTS, ROOT, in_fresh_process, machine, parser_of, read_csv, replace_section, table, write_csv
from contestants import DATA
from target_jobs import LIMIT

REPEATS = 3
# seconds for imports, compilation and data, which are not counted
SET_UP = 180
JOBS = str(Path(__file__).with_name("target_jobs.py"))
SKLEARN, FLAT, DSMS = "scikit-learn MeanShift", "MeanShift flat", "DoublyStochasticMeanShift"
SIZES = (10_000, 100_000, 1_000_000)


class Missing(Exception):
    """A value that could not be measured; the message gives the reason."""


class Found(NamedTuple):
    """The measured value, whether it meets the target, and details."""

    measured: str
    met: bool
    detail: str


class Bench:
    """Run each job once in a new process, and cache its result."""

    def __init__(self, quick: bool):
        self._shrink = 10 if quick else 1
        self._repeats = 1 if quick else REPEATS
        self._answers: dict[str, dict[str, Any]] = {}

    def ask(self, job: str, n: int, **arguments: Any) -> dict[str, Any]:
        """Return the result of a job; raise `Missing` if it failed."""
        n //= self._shrink
        key = json.dumps([job, n, arguments])
        if key not in self._answers:
            self._answers[key] = in_fresh_process(JOBS, {"job": job, "n": n, **arguments}, LIMIT + SET_UP)
        answer = self._answers[key]
        if answer["status"] == "time-out":
            raise Missing(f"not finished in {LIMIT:.0f} s: {arguments.get('method', job)}, n = {n:,}")
        if answer["status"] != "ok":
            raise Missing(f"no figure: {answer['message']}")
        return answer

    def time(self, job: str, n: int, **arguments: Any) -> dict[str, Any]:
        """Return the figures of a job that is repeated."""
        return self.ask(job, n, repeats=self._repeats, **arguments)

    def fit(self, method: str, n: int, data: str = "2-D") -> dict[str, Any]:
        """Return the figures of a method on blobs."""
        return self.time("fit", n, method=method, data=data)


def times(ours: dict[str, Any], theirs: dict[str, Any]) -> str:
    """Return both wall times, both CPU times and our engine."""
    wall, cpu = (f"{ours[key]:.3g} s against {theirs[key]:.3g} s" for key in ("wall_s", "cpu_s"))
    return f"{wall} (CPU: {cpu}); {ours['note']}"


def flat_every_point(bench: Bench) -> Found:
    ours, theirs = bench.fit(FLAT, SIZES[0]), bench.fit(SKLEARN, SIZES[0])
    factor = theirs["wall_s"] / ours["wall_s"]
    a, b = np.array(ours["centres"]), np.array(theirs["centres"])
    apart = max(np.linalg.norm(x[:, None] - y, axis=2).min(axis=1).max() for x, y in ((a, b), (b, a)))
    # scikit-learn itself stops a thousandth of the bandwidth from where a climber would end
    same = len(a) == len(b) and apart <= 1e-3 * DATA["2-D"].flat
    centres = f"{len(a)} and {len(b)} centres, at most {apart:.1g} apart"
    return Found(f"{factor:.0f} times", bool(factor >= 200 and same), f"{centres}; {times(ours, theirs)}")


def flat_bins(bench: Bench) -> Found:
    ours, theirs = bench.fit("MeanShift flat, bins", SIZES[1]), bench.fit("mlpack mean shift", SIZES[1])
    factor = ours["wall_s"] / theirs["wall_s"]
    return Found(f"{factor:.2f} of mlpack's time", factor <= 1, times(ours, theirs))


def doubly_stochastic(bench: Bench) -> Found:
    ours, theirs = bench.fit(DSMS, SIZES[0]), bench.fit(SKLEARN, SIZES[0])
    factor = theirs["wall_s"] / ours["wall_s"]
    return Found(f"{factor:.0f} times", factor >= 120, times(ours, theirs))


def time_per_update(fit: Callable[[Bench], dict[str, Any]]) -> Callable[[Bench], Found]:
    def row(bench: Bench) -> Found:
        ours = fit(bench)
        micro = 1e6 * ours["wall_s"] / ours["updates"]
        seconds = f"{ours['wall_s']:.3g} s (CPU {ours['cpu_s']:.3g} s)"
        return Found(
            f"{micro:.2f} us", micro <= 1.5, f"whole fit {seconds}, {ours['updates']:,} updates; {ours['note']}"
        )

    return row


def chosen_range(bench: Bench) -> Found:
    ours, given = (bench.time("chosen range", SIZES[0], given=given) for given in (False, True))
    factor = ours["wall_s"] / given["wall_s"]
    return Found(f"{factor:.1f} times", factor <= 3, times(ours, given))


def evaluations(bench: Bench) -> Found:
    answers = [bench.ask("evaluations", n) for n in SIZES]
    counts = [answer["per_update"] for answer in answers]
    exponent = float(np.polyfit(np.log(SIZES), np.log(counts), 1)[0])
    steps = [np.log10(b / a) for a, b in pairwise(counts)]
    detail = (
        f"{', '.join(f'{c:.0f}' for c in counts)} evaluations per update at n = 10^4, 10^5, 10^6 ({answers[0]['note']})"
    )
    by_step = f"exponents of the two steps {steps[0]:.2f} and {steps[1]:.2f}"
    return Found(f"n^{exponent:.2f}", max(exponent, *steps) < 0.5, f"{detail}; {by_step}")


def million_points(bench: Bench) -> dict[str, Any]:
    return bench.ask("fit", SIZES[2], method=DSMS, data="2-D", repeats=1)


def million(bench: Bench) -> Found:
    bench.fit(DSMS, SIZES[1])  # what takes too long here need not be tried on more
    ours = million_points(bench)
    detail = (
        f"{ours['wall_s']:.3g} s, ARI {ours['ari']:.3f}, {ours['added_mb']:.0f} MB added by the fit; {ours['note']}"
    )
    return Found(f"{ours['process_mb']:.0f} MB", ours["process_mb"] < 1500, detail)


def sixteen(bench: Bench) -> Found:
    ours, theirs = bench.fit(DSMS, SIZES[0], "16-D"), bench.fit("fast_hdbscan", SIZES[0], "16-D")
    factor = ours["wall_s"] / theirs["wall_s"]
    met = ours["ari"] >= 0.99 and factor <= 5
    return Found(f"ARI {ours['ari']:.3f}, {factor:.1f} times", met, times(ours, theirs))


def unit_vectors(bench: Bench) -> Found:
    ours, brute = (bench.time("unit vectors", 5_000, engine=engine, d=256) for engine in ("neighbor_lists", "brute"))
    factor = brute["wall_s"] / ours["wall_s"]
    return Found(f"{factor:.1f} times", factor >= 5, f"ARI {ours['ari']:.3f}; {times(ours, brute)}")


def equal_rows(estimator: str, distinct: int) -> Callable[[Bench], Found]:
    def row(bench: Bench) -> Found:
        ours = bench.time("equal rows", SIZES[1], estimator=estimator, distinct=distinct)
        return Found(f"{ours['wall_s']:.3g} s", ours["wall_s"] < 1, ours["note"])

    return row


ROWS: list[tuple[str, str, Callable[[Bench], Found]]] = [
    ("`MeanShift` flat, every point climbs, 2-D, 10^4", ">= 200 times scikit-learn, same centres", flat_every_point),
    ("`MeanShift` flat, bin seeds, 2-D, 10^5", "no slower than mlpack", flat_bins),
    ("DSMS, 2-D, 10^4", ">= 120 times scikit-learn's MeanShift", doubly_stochastic),
    ("DSMS, 2-D, 10^4, range not given", "<= 3 times the fit at the chosen range", chosen_range),
    ("DSMS, 2-D, 10^5", "<= 1.5 us per update", time_per_update(lambda bench: bench.fit(DSMS, SIZES[1]))),
    ("DSMS, 2-D, 10^4 to 10^6", "evaluations per update grow slower than n^0.5", evaluations),
    ("DSMS, 2-D, 10^6", "finishes, whole process under 1500 MB", million),
    ("DSMS, 2-D, 10^6", "<= 1.5 us per update", time_per_update(million_points)),
    ("DSMS, 16-D, 10^4", "ARI >= 0.99, at most 5 times fast_hdbscan", sixteen),
    ("DSMS, 256-D unit vectors, 5000", "`neighbor_lists` >= 5 times faster than `brute`", unit_vectors),
    ("DSMS, constant data, 10^5", "< 1 s", equal_rows(DSMS, 1)),
    ("DSMS, 100 rows 1000 times each", "< 1 s", equal_rows(DSMS, 100)),
    ("`MeanShift` flat, constant data, 10^5", "< 1 s", equal_rows(FLAT, 1)),
    ("`MeanShift` flat, 100 rows 1000 times each", "< 1 s", equal_rows(FLAT, 100)),
]


def measure_all(quick: bool) -> list[dict[str, Any]]:
    """Measure all rows and print each."""
    bench = Bench(quick)
    rows = []
    for work, target, measure in ROWS:
        try:
            found, met, detail = measure(bench)
        except Missing as missing:
            found, met, detail = "", False, str(missing)
        verdict = "not judged" if quick else "yes" if met else "no"
        rows.append({"work": work, "target": target, "measured": found, "met": verdict, "detail": detail})
        print(" | ".join(rows[-1].values()), flush=True)
    return rows


def main() -> None:
    """Measure, print, write."""
    parser = parser_of(__doc__)
    parser.add_argument("--report", type=Path, help="page whose section is replaced")
    arguments = parser.parse_args()
    stated = machine()
    print(stated)
    if arguments.quick:
        print("quick: every row with a tenth of the points it names")
    rows = measure_all(arguments.quick)
    out = arguments.out or (None if arguments.quick else RESULTS / "targets.csv")
    if out:
        write_csv(out, [{**row, "machine": stated} for row in rows])
    if arguments.report and out:
        lines = [[row[key] for key in ("work", "target", "measured", "met", "detail")] for row in read_csv(out)]
        text = f"{stated}.\n\n" + table(["work", "target", "measured", "met", "behind it"], lines, left=5)
        replace_section(ROOT / arguments.report, "targets", text)


if __name__ == "__main__":
    main()
