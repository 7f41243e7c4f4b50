"""Find from how many points `moment_tree` is faster than `brute`, for profiles and dimensions.

Run it as

    python benchmarks/moment_tree_crossover.py [--quick] [--out FILE.csv]

The first sweeps of DSMS on ten blobs are timed at half, once and twice the number of points at which `engine="auto"`
switches to `moment_tree`. Above 1, `moment_tree` is faster: the middle column should be about 1 or more.
"""

from __future__ import annotations

import time

import numpy as np
from sklearn.datasets import make_blobs

from common import machine, parser_of, write_csv
from contestants import SEED
from modeseek._common.types import Geometry
from modeseek.meanshift.bandwidth import DrawPlan, Uniform
from modeseek.meanshift.engines import ENGINES, MomentTreeEngine
from modeseek.meanshift.kernels.profiles import PROFILES, Profile

SWEEPS = 6
REPEATS = 3


def seconds(engine: str, profile: Profile, n: int, d: int) -> float:
    """Return the shortest time of the first sweeps over a few repeats."""
    points = make_blobs(n, d, centers=10, center_box=(-18, 18), random_state=SEED)[0]
    plan = DrawPlan(np.ones(n), Uniform(1.0, 4.0), seed=SEED)
    draws = [plan.sweep(number, 2.0).draws for number in range(SWEEPS)]
    workspace = ENGINES[engine].open(points, np.ones(n), profile, Geometry(), None)
    workspace.shift_each(plan.sweep(0, 2.0).draws)  # compiled before the clock starts
    tries = []
    for _ in range(REPEATS if n < 20_000 else 1):
        workspace.load(points)
        start = time.perf_counter()
        for block in draws:
            workspace.shift_each(block)
        tries.append(time.perf_counter() - start)
    return min(tries)


def main() -> None:
    """Measure and print."""
    arguments = parser_of(__doc__).parse_args()
    names = ("biweight",) if arguments.quick else ("flat", "biweight", "triweight", "quadweight")
    rows = []
    print(machine())
    for name in names:
        for d in (1, 2, 3):
            least = MomentTreeEngine().pays_from(PROFILES[name], d)
            for n in (least // 2, least, 2 * least):
                brute, moments = (seconds(engine, PROFILES[name], n, d) for engine in ("brute", "moment_tree"))
                rows.append({"profile": name, "d": d, "n": n, "from": least, "ratio": round(brute / moments, 2)})
                print(f"{name:<11} {d}-D, n = {n:>6} (auto from {least:>6}): {brute / moments:.2f}", flush=True)
    if arguments.out:
        write_csv(arguments.out, rows)


if __name__ == "__main__":
    main()
