"""Count the sums that mean shift saves by merging climbers that meet and stopping climbers on earlier paths.

Run it as

    python benchmarks/climbing.py [--quick] [--out FILE.csv] [FILE.npz=BANDWIDTH ...]

Three variants are compared: independent climbers, climbers that continue as one after they meet, and the full method
for many climbers, in which a few scouts climb first and later climbers stop on their paths (even if they are few).
The data are ten blobs, uniform noise, whose many basins are the hardest case, and the given files (`X`, standardised
columns). A sum is one evaluation of S_h, including those of the scouts. The table counts the labels that differ from
those of independent climbers, after matching the clusters. All climbers run to convergence, so that the labels are
comparable.
"""

from __future__ import annotations

import argparse
import csv
import sys
import time
from pathlib import Path

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.datasets import make_blobs

from modeseek._common.points import canonical_points
from modeseek._common.types import Array, Geometry, IntArray
from modeseek.meanshift.chains import Problem, Stopping, algorithms, mean_shift, run
from modeseek.meanshift.components import components
from modeseek.meanshift.engines import choose
from modeseek.meanshift.kernels.profiles import PROFILES

MOST = 20_000
TOL = {"flat": 1e-3, "biweight": 1e-4, "quadweight": 1e-4}


class Counted:
    """An engine that counts its queries."""

    def __init__(self, profile, points: Array):
        self._engine, self.sums = choose("auto", profile, points), 0
        self.name = self._engine.name

    def open(self, *arguments):
        """Open the engine's workspace and count its shifts."""
        workspace = self._engine.open(*arguments)
        shift_all = workspace.shift_all

        def counting(queries: Array, h: Array | float) -> Array:
            self.sums += len(queries)
            return shift_all(queries, h)

        workspace.shift_all = counting
        return workspace


def alone(space: Problem, h: float, tol: float, most: int) -> Array:
    workspace, points = space.open(), space.points.copy()
    climbing = np.arange(len(points))
    for _ in range(most):
        new = workspace.shift_all(points[climbing], h)
        far = np.linalg.norm(new - points[climbing], axis=1) > tol * h
        points[climbing], climbing = new, climbing[far]
        if not len(climbing):
            break
    return points


def differing(a: IntArray, b: IntArray) -> int:
    table = np.zeros((a.max() + 1, b.max() + 1))
    np.add.at(table, (a, b), 1)
    return int(len(a) - table[linear_sum_assignment(-table)].sum())


def measure(name: str, X: Array, h: float, profile: str) -> dict[str, object]:
    kernel, tol = PROFILES[profile], TOL[profile]
    points = canonical_points(X, np.ones(len(X)), Geometry())
    row: dict[str, object] = {"data": name, "n": len(X), "d": X.shape[1], "h": h, "profile": profile}
    ends = []
    for kind in ("alone", "together", "paths"):
        engine = Counted(kernel, points.values)
        space = Problem(points.values, points.weights, engine, kernel, points.geometry)
        space.open().shift_all(points.values[:1], h)  # compiled before the clock starts
        engine.sums = 0
        start = time.process_time()
        if kind == "alone":
            ends.append(alone(space, h, tol, MOST))
        else:
            chain = mean_shift(space, h, tol=tol, most_steps=MOST if kind == "paths" else 0)
            ends.append(run(chain, Stopping(h / 4, max_sweeps=MOST, max_updates=10**12)).state.points)
        row[f"{kind}_sums_per_point"] = round(engine.sums / len(points.values), 2)
        row[f"{kind}_cpu_seconds"] = round(time.process_time() - start, 3)
    labels = [components(end, h / 4) for end in ends]
    row["clusters"] = int(labels[0].max()) + 1
    for kind, other, end in zip(("together", "paths"), labels[1:], ends[1:], strict=True):
        row[f"{kind}_labels_that_differ"] = differing(labels[0], other)
        row[f"{kind}_farthest_end_over_h"] = float(f"{np.linalg.norm(ends[0] - end, axis=1).max() / h:.2g}")
    return row


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", help="FILE.npz=BANDWIDTH")
    parser.add_argument("--quick", action="store_true", help="2,000 made points in place of 10,000")
    parser.add_argument("--out", help="write a CSV file")
    arguments = parser.parse_args()
    algorithms.PATHS_FROM = 0
    n = 2_000 if arguments.quick else 10_000
    blobs = make_blobs(n, n_features=2, centers=10, cluster_std=1.0, center_box=(-20, 20), random_state=0)[0]
    data = [("10 blobs", blobs, 2.0), ("noise", np.random.default_rng(0).random((n, 2)), 0.04)]
    for item in arguments.files:
        path, _, h = item.rpartition("=")
        X = np.load(path)["X"].astype(np.float64)
        data.append((Path(path).stem, (X - X.mean(axis=0)) / np.where(X.std(axis=0) > 0, X.std(axis=0), 1.0), float(h)))
    rows = []
    for name, X, h in data:
        for profile in TOL:
            rows.append(measure(name, X, h, profile))
            print(", ".join(f"{key} {value}" for key, value in rows[-1].items()), flush=True)
    if arguments.out:
        with open(arguments.out, "w", newline="") as file:
            writer = csv.DictWriter(file, rows[0])
            writer.writeheader()
            writer.writerows(rows)


if __name__ == "__main__":
    sys.exit(main())
