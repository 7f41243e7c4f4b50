"""Measure how `ModeSeek()` and many chains scale over the cores of a machine.

Run it as

    python benchmarks/many_cores.py [--quick] [--repeats 3] [--out FILE.csv] [--report docs/benchmarks.md]

Each work runs with 1, 2, 4, ... threads, up to the number of cores, in one process, and all runs must give the same
result. A row has the median wall and CPU times and the ratio of the wall times of one thread and of several.
"""

from __future__ import annotations

import os
import statistics
import sys
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from common import ROOT, machine, parser_of, replace_section, table, write_csv
from ensemble import make_chains
from large_data import blobs
from modeseek import ModeSeek
from modeseek.meanshift.ensemble import run_chains

Work = Callable[[int], np.ndarray]


def mode_seek(X: np.ndarray, n_jobs: int) -> np.ndarray:
    """Return the labels of `ModeSeek()`."""
    return ModeSeek(random_state=0, n_jobs=n_jobs).fit(X).labels_


def chains(n: int, count: int, n_jobs: int) -> np.ndarray:
    """Return the final points of chains on the paper's mixture."""
    drawn, stopping = make_chains(n, count)
    return np.stack([result.state.points for result in run_chains(drawn, stopping, n_jobs=n_jobs)])


def works(quick: bool) -> dict[str, tuple[Work, Work]]:
    """Return each work, and a smaller one that compiles the same code."""
    n, count = (3_000, 20) if quick else (100_000, 2_112)
    found = {}
    for d in (2, 16):
        X, _ = blobs(n, d)
        found[f"`ModeSeek()`, {n:,} x {d}"] = partial(mode_seek, X), partial(mode_seek, X[:: n // 3_000])
    found[f"{count:,} chains of 600 points"] = partial(chains, 600, count), partial(chains, 600, 4)
    return found


def thread_counts() -> list[int]:
    """Return 1, 2, 4, ... and the number of cores."""
    cores = os.cpu_count() or 1
    return [*(2**i for i in range(cores.bit_length()) if 2**i < cores), cores]


def timed(work: Work, n_jobs: int, repeats: int) -> tuple[float, float, np.ndarray]:
    """Return the median wall and CPU times of a work, and its last result."""
    runs = []
    for _ in range(repeats):
        start, cpu = time.perf_counter(), time.process_time()
        result = work(n_jobs)
        runs.append((time.perf_counter() - start, time.process_time() - cpu))
    wall, cpu = (statistics.median(each) for each in zip(*runs, strict=True))
    return wall, cpu, result


def main() -> None:
    """Measure, print, write."""
    parser = parser_of(__doc__)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--report", type=Path, help="page whose section is replaced")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    rows: list[dict[str, Any]] = []
    for name, (work, small) in works(args.quick).items():
        runs = {}
        for n_jobs in thread_counts():
            small(n_jobs)
            wall, cpu, found = runs[n_jobs] = timed(work, n_jobs, args.repeats)
            if not np.array_equal(found, runs[1][2]):
                sys.exit(f"{name}: {n_jobs} threads and one thread disagree")
            faster = runs[1][0] / wall
            rows.append({"work": name, "threads": n_jobs, "wall_s": wall, "cpu_s": cpu, "times as fast": faster})
            print(rows[-1], flush=True)
    if args.out:
        write_csv(args.out, rows)
    lines = [[row["work"], str(row["threads"]), *(f"{row[each]:.2f}" for each in list(row)[2:])] for row in rows]
    found = f"{table(list(rows[0]), lines)}\n\n*{machine()}; medians of {args.repeats}*"
    print(found)
    if args.report is not None:
        replace_section(ROOT / args.report, "many cores", found)


if __name__ == "__main__":
    main()
