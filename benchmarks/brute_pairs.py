"""Measure how many pairs of points the `brute` engine sums per second on one core.

Run it as

    python benchmarks/brute_pairs.py [--quick] [--out FILE.csv]

A pair is one evaluation of the kernel between the moving point and another, with its share of the weighted mean. The
median of several repeats is printed, for one-by-one updates, the work of SMS and DSMS.
"""

from __future__ import annotations

import platform
import statistics
import sys
import time

import numpy as np

from common import parser_of, processor, write_csv
from modeseek._common.types import Geometry
from modeseek.meanshift.engines import BruteEngine
from modeseek.meanshift.kernels.profiles import PROFILES
from modeseek.meanshift.types import Draws


def pairs_per_second(n: int, d: int, profile: str, weighted: bool, pairs: int, repeats: int) -> float:
    """Return the median over repeats."""
    rng = np.random.default_rng(0)
    updates = max(1, pairs // n)
    draws = Draws(rng.integers(0, n, updates), np.full(updates, 0.5 * np.sqrt(d)))
    points = rng.normal(size=(n, d))
    weights = rng.uniform(1.0, 2.0, n) if weighted else np.ones(n)
    workspace = BruteEngine().open(points, weights, PROFILES[profile], Geometry())
    workspace.shift_each(Draws(draws.indices[:1], draws.bandwidths[:1]))  # compiled before the clock starts
    rates = []
    for _ in range(repeats):
        workspace.load(points)
        start = time.perf_counter()
        workspace.shift_each(draws)
        rates.append(n * updates / (time.perf_counter() - start))
    return statistics.median(rates)


def main() -> None:
    """Measure and print."""
    arguments = parser_of(__doc__).parse_args()
    pairs, repeats = (10_000_000, 3) if arguments.quick else (100_000_000, 7)
    cases = [(n, 2, name, False) for n in (1_000, 10_000, 100_000) for name in PROFILES]
    cases += [(n, 2, "biweight", True) for n in (1_000, 10_000, 100_000)]
    cases += [(10_000, d, "biweight", False) for d in (1, 3, 16, 256)]
    rows = []
    print(f"{processor()}; Python {platform.python_version()}, NumPy {np.__version__}, float64, one core")
    print(f"{'n':>8} {'d':>4}  {'profile':<11} {'weights':<8} {'billion pairs/s':>15}")
    for n, d, profile, weighted in cases:
        rate = pairs_per_second(n, d, profile, weighted, pairs * 2 // (d + 1), repeats)
        weights = "unequal" if weighted else "equal"
        rows.append({"n": n, "d": d, "profile": profile, "weights": weights, "pairs_per_second": round(rate)})
        print(f"{n:>8} {d:>4}  {profile:<11} {weights:<8} {rate / 1e9:>15.3f}", flush=True)
    if arguments.out:
        write_csv(arguments.out, rows)


if __name__ == "__main__":
    sys.exit(main())
