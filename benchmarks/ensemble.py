"""Time an ensemble of chains with one worker and with two.

Run it as

    python benchmarks/ensemble.py [--quick] [--out FILE.csv]

Chains are independent, so two workers on two free cores can halve the time at best. Both runs must give the same
states, which is checked.
"""

from __future__ import annotations

import statistics
import sys
import time
from typing import Any

import numpy as np

from common import machine, parser_of, write_csv
from contestants import DATA, SEED, blobs
from modeseek.meanshift.bandwidth import Shrinking
from modeseek.meanshift.chains import Chain, Stopping, doubly_stochastic, make_problem

CHAINS = 8


def make_chains(n: int) -> list[Chain]:
    """Return chains on the same points that differ in their draws."""
    data = DATA["2-D"]
    given = make_problem(blobs(data, n)[0])
    policy = Shrinking(data.h_min, data.h_max, data.h_inf)
    return [doubly_stochastic(given, policy, seed=SEED, chain=number) for number in range(CHAINS)]


def timed(run_chains: Any, n: int, n_jobs: int) -> tuple[float, list[Any]]:
    """Return seconds and the final points."""
    chains = make_chains(n)
    start = time.perf_counter()
    results = run_chains(chains, Stopping(DATA["2-D"].h_min / 4), n_jobs=n_jobs)
    return time.perf_counter() - start, [result.state.points for result in results]


def main() -> None:
    """Measure and print."""
    arguments = parser_of(__doc__).parse_args()
    try:
        from modeseek.meanshift.ensemble import run_chains
    except ImportError:
        sys.exit("skipped: modeseek.meanshift.ensemble.run_chains is not there")
    sizes, repeats = ((1_000,), 1) if arguments.quick else ((1_000, 10_000), 3)
    print(f"{machine()}; {CHAINS} chains, medians of {repeats}")
    rows = []
    for n in sizes:
        seconds = {}
        states = {}
        for n_jobs in (1, 2):
            timed(run_chains, 200, n_jobs)  # compiled, and workers started, before the clock starts
            runs = [timed(run_chains, n, n_jobs) for _ in range(repeats)]
            seconds[n_jobs], states[n_jobs] = statistics.median(run[0] for run in runs), runs[-1][1]
        if not all(np.array_equal(a, b) for a, b in zip(states[1], states[2], strict=True)):
            sys.exit(f"n = {n}: one and two workers disagree")
        rows.append({"n": n, "chains": CHAINS, "one_s": seconds[1], "two_s": seconds[2]})
        print(f"n = {n:>6}: {seconds[1]:.3f} s with one, {seconds[2]:.3f} s with two: {seconds[1] / seconds[2]:.2f}")
    if arguments.out:
        write_csv(arguments.out, rows)


if __name__ == "__main__":
    main()
