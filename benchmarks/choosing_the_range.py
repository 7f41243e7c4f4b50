"""How good the automatic range of DoublyStochasticMeanShift() is: on labelled sets, the paper's mixture, and noise.

`--data DIR` is a folder of NAME.npz files, each with X and y (-1: not scored), and a manifest.json that gives for each
a name, a kind and how it is prepared: "std" (standardised columns) or "l2" (unit rows, cosine geometry). `--part sets`
fits every set at the range that is chosen for it, with three seeds. `--part sweep` fits every scale of every set once,
which tells what the labels would have chosen, and lets other exponents be tried on half of the sets.
"""

from __future__ import annotations

import argparse
import itertools
import json
import time
import warnings
from pathlib import Path

import numpy as np
from sklearn.metrics import adjusted_rand_score

from common import machine, parser_of, write_csv
from modeseek import BlurringMeanShift, DoublyStochasticMeanShift, MeanShift, StochasticMeanShift
from modeseek.datasets import paper_mixture
from modeseek.neighbours import kth_distances
from modeseek.ranges import Range, automatic_range, judge_scales
from modeseek.types import Geometry
from modeseek.validation import canonical_points

SEEDS = 3
MIXTURES = (10, 20, 50, 100, 200)
NOISE = ((2, 50), (2, 500), (2, 5000), (10, 50), (10, 500), (100, 50), (100, 500))
EXPONENTS = tuple(itertools.product((0.0, 0.25, 0.5, 0.75, 1.0), (0.0, 0.5, 1.0, 2.0)))


def load(folder: Path, entry: dict[str, str]) -> tuple[np.ndarray, np.ndarray, str]:
    """Return the rows, prepared and shuffled, their labels and the metric."""
    with np.load(folder / f"{entry['name']}.npz") as arrays:
        X, y = arrays["X"].astype(np.float64), arrays["y"]
    order = np.random.default_rng(0).permutation(len(X))
    X, y = X[order], y[order]
    if entry["prep"] == "l2":
        return X / np.linalg.norm(X, axis=1, keepdims=True), y, "cosine"
    spread = X.std(axis=0)
    return (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0), y, "euclidean"


def fitted(X: np.ndarray, y: np.ndarray, h: Range, metric: str, seed: int, sweeps: int | None = None) -> tuple:
    """Return the adjusted Rand index and the number of clusters of one run."""
    limit = None if sweeps is None else sweeps * len(X)
    model = DoublyStochasticMeanShift(h.h_min, h.h_max, h.h_inf, metric=metric, max_updates=limit, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a run that only tells scales apart may end early
        labels = model.fit_predict(X)
    return adjusted_rand_score(y[y >= 0], labels[y >= 0]), model.n_clusters_


def first_rule(points: np.ndarray) -> Range:
    """Return the fixed scale that the library had before: m = sqrt(n)."""
    m, n = np.sqrt(len(points)), len(points)
    ks = [min(max(1, round(c)), n - 1) + 1 for c in (m / 2, m, 2 * m)]
    return Range(*np.median(kth_distances(points, ks, points[:: max(1, n // 500)]), axis=0).tolist())


def sets(folder: Path) -> list[dict]:
    """Score the chosen range and the fixed one on every set."""
    rows = []
    for entry in json.loads((folder / "manifest.json").read_text()):
        X, y, metric = load(folder, entry)
        points = canonical_points(X, np.ones(len(X)), Geometry(metric))
        began = time.process_time()
        h = automatic_range(points.values, points.weights, geometry=points.geometry)
        seconds = time.process_time() - began
        runs = [fitted(X, y, h, metric, seed) for seed in range(SEEDS)]
        ari, clusters = np.mean(runs, axis=0)
        fixed, _ = fitted(X, y, first_rule(points.values), metric, 0, 30)
        rows.append(
            {"set": entry["name"], "kind": entry["kind"], "n": len(X), "d": X.shape[1], "fixed": round(fixed, 3)}
            | {"ari": round(ari, 3), "clusters": round(clusters, 1), "h_max": h.h_max, "choice_s": round(seconds, 2)}
        )
        print(rows[-1], flush=True)
    print("mean ARI", np.mean([row["ari"] for row in rows]), "fixed", np.mean([row["fixed"] for row in rows]))
    return rows


def sweep(folder: Path, most: int) -> list[dict]:
    """Fit every scale of every set once, on at most so many rows, and split the sets in halves."""
    rows, scores = [], {}
    for entry in json.loads((folder / "manifest.json").read_text()):
        X, y, metric = load(folder, entry)
        X, y = X[:most], y[:most]
        points = canonical_points(X, np.ones(len(X)), Geometry(metric))
        for scale in judge_scales(points.values, points.weights, geometry=points.geometry):
            ari = fitted(X, y, scale.range, metric, 0, 20)[0] if scale.evenness > 0 else 0.0
            rows.append({"set": entry["name"], "ari": ari} | scale._asdict())
            del rows[-1]["range"]
            if scale.crumbs > 0.6:
                break
        mine = [row for row in rows if row["set"] == entry["name"]]
        print(
            entry["name"], max(row["ari"] for row in mine), max(mine, key=lambda row: row["score"])["ari"], flush=True
        )
        scores[entry["name"]] = [chosen(mine, *powers) for powers in EXPONENTS]
    table = np.array(list(scores.values()))
    best = np.mean([max(row["ari"] for row in rows if row["set"] == name) for name in scores])
    print("best scale by labels", best)
    for powers, mean in zip(EXPONENTS, table.mean(axis=0), strict=True):
        print("evenness^{:g} (1 - crumbs)^{:g}".format(*powers), round(mean, 3))
    rng, halves = np.random.default_rng(0), []
    for _ in range(1000):
        order = rng.permutation(len(table))
        left, right = order[: len(order) // 2], order[len(order) // 2 :]
        halves.append(table[right, table[left].mean(axis=0).argmax()].mean())
    print("exponents chosen on half, scored on the other half", np.mean(halves))
    return rows


def chosen(rows: list[dict], evenness: float, crumbs: float) -> float:
    """Return the score by labels of the scale that other exponents would choose."""
    value = [(r["score"] > 0) * r["agreement"] * r["evenness"] ** evenness * (1 - r["crumbs"]) ** crumbs for r in rows]
    return rows[int(np.argmax(value))]["ari"]


def single(folder: Path) -> list[dict]:
    """Score the algorithms with one bandwidth at several places of the range, on sets of fewer than 8000 numbers."""
    rows = []
    for entry in json.loads((folder / "manifest.json").read_text()):
        X, y, metric = load(folder, entry)
        if X.size >= 8000:
            continue
        points = canonical_points(X, np.ones(len(X)), Geometry(metric))
        h = automatic_range(points.values, points.weights, geometry=points.geometry)
        row = {"set": entry["name"], "range": fitted(X, y, h, metric, 0)[0]}
        for name, value in (("h_inf", h.h_inf), ("middle", h.single), ("h_max", h.h_max)):
            for model in (StochasticMeanShift(value, random_state=0), BlurringMeanShift(value), MeanShift(value)):
                found = model.set_params(metric=metric).fit_predict(X)
                row[f"{type(model).__name__} at {name}"] = adjusted_rand_score(y[y >= 0], found[y >= 0])
        rows.append(row)
    for name in list(rows[0])[1:]:
        print(name, np.mean([row[name] for row in rows]).round(3), len(rows))
    return rows


def mixture(seeds: int) -> list[dict]:
    """Score the paper's mixture."""
    rows = []
    for n in MIXTURES:
        runs = []
        for seed in range(seeds):
            X, y = paper_mixture(n, random_state=seed)
            run = []
            for h in ((), (0.2, 1.6, 0.6)):
                model = DoublyStochasticMeanShift(*h, random_state=seed).fit(X)
                run += [adjusted_rand_score(y, model.labels_), model.n_clusters_]
            runs.append(run)
        names = ("ari", "clusters", "ari at the paper's range", "clusters at the paper's range")
        rows.append({"n per cluster": n} | dict(zip(names, np.mean(runs, axis=0).round(3).tolist(), strict=True)))
        print(rows[-1], flush=True)
    return rows


def cost() -> list[dict]:
    """Time the choice and a whole fit on four Gaussians in the plane."""
    rows = []
    for n in (100, 1000, 10_000, 100_000):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(n, 2)) + 6 * rng.integers(0, 2, size=(n, 2))
        jobs = (lambda X=X: automatic_range(X), lambda X=X: DoublyStochasticMeanShift(random_state=0).fit(X))
        seconds = []
        for job in (*jobs, *jobs):  # the first time something may compile
            began = time.perf_counter()
            job()
            seconds.append(round(time.perf_counter() - began, 2))
        rows.append({"n": n, "choice_s": seconds[2], "choice and fit_s": seconds[3]})
        print(rows[-1], flush=True)
    return rows


def noise(seeds: int) -> list[dict]:
    """Count how often data without structure give one cluster."""
    rows = []
    for (d, n), kind in itertools.product(NOISE, ("normal", "uniform")):
        found = []
        for seed in range(seeds):
            X = getattr(np.random.default_rng(seed), kind)(size=(n, d))
            found.append(DoublyStochasticMeanShift(random_state=seed).fit(X).n_clusters_)
        rows.append(
            {"kind": kind, "d": d, "n": n, "one cluster": np.mean(np.equal(found, 1)), "median": np.median(found)}
        )
        print(rows[-1], flush=True)
    return rows


def main() -> None:
    """Measure what was asked for and write it down."""
    parser = parser_of(__doc__)
    parser.add_argument("--data", type=Path, help="the labelled sets")
    parser.add_argument("--part", choices=("sets", "sweep", "single", "mixture", "noise", "cost"), default="sets")
    parser.add_argument("--rows", type=int, default=1000, help="rows of a set that --part sweep looks at")
    parser.add_argument("--seeds", type=int, default=50, help="of the mixture and of noise")
    args: argparse.Namespace = parser.parse_args()
    if args.part in ("sets", "sweep", "single") and args.data is None:
        parser.error("--data is needed for this part")
    print(machine())
    seeds = 2 if args.quick else args.seeds
    parts = {
        "sets": lambda: sets(args.data),
        "sweep": lambda: sweep(args.data, args.rows),
        "single": lambda: single(args.data),
        "mixture": lambda: mixture(seeds),
        "noise": lambda: noise(seeds),
        "cost": cost,
    }
    rows = parts[args.part]()
    if args.out:
        write_csv(args.out, rows)


if __name__ == "__main__":
    main()
