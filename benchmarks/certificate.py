"""Count the sweeps that the certificate saves.

Run it as

    python benchmarks/certificate.py [--quick] [--seeds 10] [--out FILE.csv] [--report docs/benchmarks.md]

For each data set and order of visits, the same chain (the same draws) runs until the certificate, and until the paper's
rule: the last shift of every point is at most 1e-6. The longer of the two runs also gives the sweep after which the
partition did not change, which is known only in hindsight. The table has medians over seeds, with minimum and maximum.
"""

from __future__ import annotations

import statistics
from pathlib import Path
from typing import Any

import numpy as np

from common import RESULTS, ROOT, machine, parser_of, read_csv, replace_section, table, write_csv
from contestants import DATA, blobs
from modeseek.datasets import paper_mixture
from modeseek.meanshift.bandwidth import ORDERS, Shrinking
from modeseek.meanshift.chains import ChainResult, Stopping, doubly_stochastic, make_problem, run, stochastic
from modeseek.meanshift.components import components

LIMIT = 2_000
THRESHOLD = 1e-6


def chains(quick: bool) -> dict[str, Any]:
    """Return factories of the chains, (seed, order) -> chain, by name."""
    plane = DATA["2-D"]

    def paper(n: int, doubly: bool) -> Any:
        def make(seed: int, order: str) -> Any:
            given = make_problem(paper_mixture(n, random_state=seed)[0])
            if doubly:
                return doubly_stochastic(given, Shrinking(0.2, 1.6, 0.6), seed=seed, order=order)
            return stochastic(given, 1.2, seed=seed, order=order)

        return make

    def blob(n: int) -> Any:
        def make(seed: int, order: str) -> Any:
            policy = Shrinking(plane.h_min, plane.h_max, plane.h_inf)
            return doubly_stochastic(make_problem(blobs(plane, n)[0]), policy, seed=seed, order=order)

        return make

    made = {"paper's mixture, n = 150, DSMS": paper(50, True), "paper's mixture, n = 150, SMS": paper(50, False)}
    if quick:
        return made
    more = {"paper's mixture, n = 3000, DSMS": paper(1000, True), "ten blobs, n = 3000, DSMS": blob(3000)}
    return {**made, **more}


def final_from(partitions: list[bytes]) -> int:
    """Return the number of sweeps after which the partition did not change."""
    changes = [sweep for sweep, labels in enumerate(partitions) if labels != partitions[-1]]
    return changes[-1] + 1 if changes else 0


def watched(chain: Any, rule: str) -> tuple[ChainResult, list[bytes]]:
    """Run a chain; return its result and the partition after each sweep, including the start."""
    tau = chain.h_min / 4
    partitions = [components(chain.init().points, tau).tobytes()]
    stopping = Stopping(tau, threshold=THRESHOLD, rule=rule, max_sweeps=LIMIT)
    result = run(chain, stopping, callbacks=[lambda state, _: partitions.append(_labels(state.points, tau))])
    return result, partitions


def _labels(points: np.ndarray, tau: float) -> bytes:
    return components(points, tau).tobytes()


def measure(name: str, make: Any, order: str, seed: int) -> dict[str, Any]:
    """Return one row."""
    certified, short = watched(make(seed, order), "certificate")
    small, long = watched(make(seed, order), "shifts")
    longer = max(short, long, key=len)
    return {
        "data": name,
        "order": order,
        "seed": seed,
        "final_from": final_from(longer),
        "certificate": certified.sweeps,
        "certificate_outcome": certified.outcome.name,
        "small_shifts": small.sweeps,
        "small_shifts_outcome": small.outcome.name,
        "same_partition": short[-1] == long[-1],
    }


def spread(values: list[int]) -> str:
    """Return the median with the minimum and the maximum, as text."""
    return f"{statistics.median(values):g} ({min(values)} to {max(values)})"


def report(rows: list[dict[str, str]], stated: str) -> str:
    """Return the table."""
    lines = []
    for name, order in dict.fromkeys((row["data"], row["order"]) for row in rows):
        mine = [row for row in rows if (row["data"], row["order"]) == (name, order)]
        sweeps = {key: [int(row[key]) for row in mine] for key in ("final_from", "certificate", "small_shifts")}
        ratios = [b / a for a, b in zip(sweeps["certificate"], sweeps["small_shifts"], strict=True)]
        other = sum(row["same_partition"] != "True" for row in mine)
        unproven = sum(row["certificate_outcome"] != "CERTIFIED" for row in mine)
        lines.append(
            [name, order, *map(spread, sweeps.values()), f"{statistics.median(ratios):.2g}", str(other), str(unproven)]
        )
    head = ["data", "order", "final from sweep", "certificate", "shifts <= 1e-6", "ratio", "differ", "not certified"]
    seeds = len({row["seed"] for row in rows})
    return f"{stated}; {seeds} seeds, at most {LIMIT:,} sweeps.\n\n" + table(head, lines, left=2)


def main() -> None:
    """Measure, print, write."""
    parser = parser_of(__doc__)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--report", type=Path, help="page whose section is replaced")
    arguments = parser.parse_args()
    stated = machine()
    rows: list[dict[str, Any]] = []
    for name, make in chains(arguments.quick).items():
        for order in ORDERS:
            for seed in range(2 if arguments.quick else arguments.seeds):
                rows.append({**measure(name, make, order, seed), "machine": stated})
    out = arguments.out or RESULTS / ("certificate_quick.csv" if arguments.quick else "certificate.csv")
    write_csv(out, rows)
    text = report(read_csv(out), stated)
    print(text)
    if arguments.report:
        replace_section(ROOT / arguments.report, "certificate", text)


if __name__ == "__main__":
    main()
