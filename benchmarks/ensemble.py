"""Time ensembles of chains on one thread and on two.

Run it as

    python benchmarks/ensemble.py [--quick] [--out FILE.csv]

Chains are independent, so two threads on two free cores can halve the time at best. All runs must give the same states,
which is checked. On one thread, the share of the CPU time outside compiled code is measured too. This part holds the
GIL, so its inverse is an upper bound on the speed-up by threads.
"""

from __future__ import annotations

import statistics
import sys
import time
from typing import Any

import numpy as np

from common import machine, parser_of, write_csv
from contestants import DATA, SEED, blobs
from modeseek._common.jit import CompiledFunction
from modeseek.datasets import paper_mixture
from modeseek.meanshift.bandwidth import Shrinking
from modeseek.meanshift.chains import Chain, Stopping, doubly_stochastic, make_problem
from modeseek.meanshift.ensemble import run_chains


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


def timed(n: int, count: int, n_jobs: int) -> tuple[float, float, list[Any]]:
    """Return wall seconds, CPU seconds and the final points."""
    chains, stopping = make_chains(n, count)
    start, cpu = time.perf_counter(), time.process_time()
    results = run_chains(chains, stopping, n_jobs=n_jobs)
    return time.perf_counter() - start, time.process_time() - cpu, [result.state.points for result in results]


def interpreted_share(n: int, count: int) -> float:
    """Return the share of the CPU time outside compiled functions, on one thread."""
    compiled, call = 0.0, CompiledFunction.__call__

    def timed_call(self: CompiledFunction, *arguments: Any) -> Any:
        nonlocal compiled
        start = time.thread_time()
        result = call(self, *arguments)
        compiled += time.thread_time() - start
        return result

    CompiledFunction.__call__ = timed_call  # type: ignore[method-assign]
    try:
        return 1 - compiled / timed(n, count, 1)[1]
    finally:
        CompiledFunction.__call__ = call  # type: ignore[method-assign]


def main() -> None:
    """Measure and print."""
    arguments = parser_of(__doc__).parse_args()
    cases, repeats = (((600, 8),), 1) if arguments.quick else (((600, 211), (1_000, 8), (10_000, 8)), 3)
    print(f"{machine()}; medians of {repeats}")
    rows = []
    for n, count in cases:
        expected = None
        for threads in (1, 2):
            timed(n, 2, threads)  # compiled before the clock starts
            runs = [timed(n, count, threads) for _ in range(repeats)]
            wall, cpu = (statistics.median(run[which] for run in runs) for which in (0, 1))
            expected = expected or runs[-1][2]
            if not all(map(np.array_equal, runs[-1][2], expected)):
                sys.exit(f"n = {n}: {threads} threads and one thread disagree")
            share = interpreted_share(n, count) if threads == 1 else None
            rows.append(
                {"n": n, "chains": count, "threads": threads, "wall_s": wall, "cpu_s": cpu, "interpreted": share}
            )
            print(f"{count} chains, n = {n:>6}, {threads} threads: {wall:.3f} s, CPU {cpu:.3f} s")
            if share is not None:
                print(f"outside compiled code: {share:.1%} of the CPU time")
    if arguments.out:
        write_csv(arguments.out, rows)


if __name__ == "__main__":
    main()
