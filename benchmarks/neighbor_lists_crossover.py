"""Measure where `neighbor_lists` is faster than `brute`, by n, d and the share of pairs in reach.

Run it as

    python benchmarks/neighbor_lists_crossover.py [--quick] [--out FILE.csv]

Points are k blobs far apart, and the bandwidth covers a blob, so that one pair in k is in reach. Each engine does the
same eight sweeps of doubly stochastic mean shift from the same points. Times are processor times of the one thread that
works; evaluations are the engine's own count, as a share of all pairs.
"""

from __future__ import annotations

import argparse
import csv
import sys
import time

import numpy as np
from threadpoolctl import threadpool_limits

from modeseek._common.types import Geometry
from modeseek.meanshift.bandwidth import DrawPlan, Uniform
from modeseek.meanshift.engines import ENGINES
from modeseek.meanshift.kernels.profiles import BIWEIGHT
from modeseek.meanshift.types import Draws

SWEEPS = 8


def blobs(n: int, d: int, k: int) -> np.ndarray:
    """Return k blobs of standard deviation 1, a hundred apart."""
    rng = np.random.default_rng(0)
    return rng.normal(size=(k, d))[np.arange(n) % k] * 100 + rng.normal(size=(n, d))


def seconds(name: str, n: int, d: int, k: int) -> tuple[float, int]:
    """Return processor time and evaluations of the sweeps."""
    points = blobs(n, d, k)
    h = 1.5 * np.sqrt(d)
    plan = DrawPlan(np.ones(n), Uniform(0.5 * h, h), seed=0)
    sweeps = [plan.sweep(number, h).draws for number in range(SWEEPS)]
    workspace = ENGINES[name].open(points, np.ones(n), BIWEIGHT, Geometry(), None)
    few = Draws(sweeps[0].indices[:40], sweeps[0].bandwidths[:40])
    workspace.shift_each(few)  # compiled before the clock starts
    workspace.load(points)
    before = workspace.evaluations
    start = time.thread_time()
    for draws in sweeps:
        workspace.shift_each(draws)
    return time.thread_time() - start, workspace.evaluations - before


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="smaller n only")
    parser.add_argument("--out", help="write a CSV file")
    arguments = parser.parse_args()
    sizes = (300, 1000, 3000) if arguments.quick else (300, 1000, 3000, 10_000)
    rows = []
    print(f"{'d':>4} {'n':>6} {'share':>6} {'brute s':>9} {'candidates s':>12} {'ratio':>6} {'evaluations':>11}")
    for d in (4, 8, 16, 64, 256):
        for n in (size for size in sizes if size * size * d < 2e9):
            for k in (1, 2, 5, 20):
                slow, pairs = seconds("brute", n, d, k)
                fast, evaluations = seconds("neighbor_lists", n, d, k)
                rows.append({"d": d, "n": n, "share": 1 / k, "brute": slow, "neighbor_lists": fast})
                rows[-1]["evaluations"] = evaluations / pairs
                print(
                    f"{d:>4} {n:>6} {1 / k:>6.2f} {slow:>9.3f} {fast:>12.3f} {slow / fast:>6.2f} "
                    f"{evaluations / pairs:>11.3f}",
                    flush=True,
                )
    if arguments.out:
        with open(arguments.out, "w", newline="") as file:
            writer = csv.DictWriter(file, rows[0])
            writer.writeheader()
            writer.writerows(rows)


if __name__ == "__main__":
    with threadpool_limits(1):
        sys.exit(main())
