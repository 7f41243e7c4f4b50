"""Time ensembles of chains with one worker and with two.

Run it as

    python benchmarks/ensemble.py [--quick] [--out FILE.csv]

Chains are independent, so two workers on two free cores can halve the time at best. All runs must give the same states,
which is checked. CPU times of processes are those of the parent.
"""

from __future__ import annotations

import statistics
import sys
import time
from typing import Any

import numpy as np

from common import machine, parser_of, write_csv
from contestants import DATA, SEED, blobs
from modeseek.datasets import paper_mixture
from modeseek.meanshift.bandwidth import Shrinking
from modeseek.meanshift.chain_processes import DEFAULT_PARALLEL, ParallelConfig
from modeseek.meanshift.chains import Chain, Stopping, doubly_stochastic, make_problem
from modeseek.meanshift.ensemble import run_chains

# name: number of workers, and how chains are divided among them
WORKERS = {
    "1 thread": (1, DEFAULT_PARALLEL),
    "2 threads": (2, DEFAULT_PARALLEL),
    "2 processes": (2, ParallelConfig(min_threads=1, points_per_thread=10**9, processes_from=1)),
}


def make_chains(n: int, count: int) -> tuple[list[Chain], Stopping]:
    """Return chains on the same points that differ in their draws: the paper's mixture if n is small, else blobs."""
    if n <= 600:
        points, policy = paper_mixture(n // 3, random_state=0)[0], Shrinking(0.2, 1.6, 0.6)
    else:
        data = DATA["2-D"]
        points, policy = blobs(data, n)[0], Shrinking(data.h_min, data.h_max, data.h_inf)
    problem = make_problem(points)
    chains = [doubly_stochastic(problem, policy, seed=SEED, chain=number) for number in range(count)]
    return chains, Stopping(policy.h_min / 4)


def timed(n: int, count: int, workers: str) -> tuple[float, float, list[Any]]:
    """Return wall seconds, CPU seconds and the final points."""
    chains, stopping = make_chains(n, count)
    n_jobs, config = WORKERS[workers]
    start, cpu = time.perf_counter(), time.process_time()
    results = run_chains(chains, stopping, n_jobs=n_jobs, config=config)
    return time.perf_counter() - start, time.process_time() - cpu, [result.state.points for result in results]


def main() -> None:
    """Measure and print."""
    arguments = parser_of(__doc__).parse_args()
    cases, repeats = (((600, 8),), 1) if arguments.quick else (((600, 211), (1_000, 8), (10_000, 8)), 3)
    print(f"{machine()}; medians of {repeats}")
    rows = []
    for n, count in cases:
        expected = None
        for workers in WORKERS:
            timed(n, 2, workers)  # compiled, and workers started, before the clock starts
            runs = [timed(n, count, workers) for _ in range(repeats)]
            wall, cpu = (statistics.median(run[which] for run in runs) for which in (0, 1))
            expected = expected or runs[-1][2]
            if not all(map(np.array_equal, runs[-1][2], expected)):
                sys.exit(f"n = {n}: {workers} and one thread disagree")
            rows.append({"n": n, "chains": count, "workers": workers, "wall_s": wall, "cpu_s": cpu})
            print(f"{count} chains, n = {n:>6}, {workers}: {wall:.3f} s, CPU {cpu:.3f} s")
    if arguments.out:
        write_csv(arguments.out, rows)


if __name__ == "__main__":
    main()
