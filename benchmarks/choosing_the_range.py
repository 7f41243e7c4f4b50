"""Score the automatic range of DoublyStochasticMeanShift() on labelled sets, the paper's mixture, and noise.

`--data DIR` is a folder of NAME.npz files, each with X and y (-1: not scored), and a manifest.json that gives for each
a name, a kind and how it is prepared: "std" (standardised columns) or "l2" (unit rows, cosine geometry). `--part sets`
fits every set at its automatic range, with three seeds. `--part sweep` fits every scale of every set once, to find the
best scale by the labels and to evaluate other exponents on half of the sets. `--part mixture` does the same for the
paper's mixture, and adds the paper's range and the best single bandwidth for each size.
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
from modeseek._common.distances import kth_distances
from modeseek._common.neighbors import nearest
from modeseek._common.points import canonical_points
from modeseek._common.types import Geometry
from modeseek.datasets import paper_mixture
from modeseek.metrics import k_score
from modeseek.selection.bandwidths import Range, automatic_range, score_ranges

SEEDS = 3
MIXTURES = (10, 20, 50, 100, 200)
NOISE = ((2, 50), (2, 150), (2, 500), (2, 5000), (10, 50), (10, 500), (100, 50), (100, 500))
EXPONENTS = (0.25, 0.5, 0.75, 1.0, 1.5, 2.0)
BANDWIDTHS = np.arange(0.9, 1.65, 0.1)


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


def labels_at(X: np.ndarray, h: Range, metric: str, seed: int, sweeps: int | None = None) -> np.ndarray:
    """Return the labels of one run."""
    limit = None if sweeps is None else sweeps * len(X)
    model = DoublyStochasticMeanShift(h.h_min, h.h_max, h.h_inf, metric=metric, max_updates=limit, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a run that only tells scales apart may end early
        return model.fit_predict(X)


def score(y: np.ndarray, labels: np.ndarray) -> float:
    """Return the adjusted Rand index over the rows that have a label."""
    return adjusted_rand_score(y[y >= 0], labels[y >= 0])


def fitted(X: np.ndarray, y: np.ndarray, h: Range, metric: str, seed: int, sweeps: int | None = None) -> tuple:
    """Return the adjusted Rand index and the number of clusters of one run."""
    labels = labels_at(X, h, metric, seed, sweeps)
    return score(y, labels), labels.max() + 1


def first_rule(points: np.ndarray) -> Range:
    """Return the fixed scale of an earlier version: m = sqrt(n)."""
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
    """Fit every scale of every set once, on a limited number of rows, and split the sets in halves."""
    rows, scores = [], {}
    for entry in json.loads((folder / "manifest.json").read_text()):
        X, y, metric = load(folder, entry)
        mine = [{"set": entry["name"]} | row for row in scales(X[:most], y[:most], metric)]
        rows += mine
        scores[entry["name"]] = [chosen(mine, power)["ari"] for power in EXPONENTS]
        print(
            entry["name"],
            *(max(row[k] for row in mine) for k in ("ari", "absorbed")),
            scores[entry["name"]],
            flush=True,
        )
    table = np.array(list(scores.values()))
    for name in ("ari", "absorbed"):
        best = np.mean([max(row[name] for row in rows if row["set"] == found) for found in scores])
        print("best scale by labels,", name, best)
    for power, mean in zip(EXPONENTS, table.mean(axis=0), strict=True):
        print(f"agreement * separation^{power:g}", round(mean, 3))
    rng, halves = np.random.default_rng(0), []
    for _ in range(1000):
        order = rng.permutation(len(table))
        left, right = order[: len(order) // 2], order[len(order) // 2 :]
        halves.append(table[right, table[left].mean(axis=0).argmax()].mean())
    print("exponent chosen on half, scored on the other half", np.mean(halves))
    return rows


def scales(X: np.ndarray, y: np.ndarray, metric: str) -> list[dict]:
    """Judge and fit every scale once."""
    points, rows = canonical_points(X, np.ones(len(X)), Geometry(metric)), []
    for scale in score_ranges(points.values, points.weights, geometry=points.geometry):
        labels = labels_at(X, scale.range, metric, 0, 20) if scale.agreement < 1 else np.zeros(len(X), dtype=int)
        row = {"ari": score(y, labels), "absorbed": score(y, absorbed(X, labels)), "clusters": labels.max() + 1}
        rows.append(row | {"score": scale.score} | scale._asdict())
        del rows[-1]["range"]
        if scale.fragments > 0.7:
            break
    return rows


def absorbed(X: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Move the rows of clusters with fewer than three rows to the cluster of the nearest other row."""
    small = np.bincount(labels)[labels] < 3
    if small.any() and not small.all():
        labels = labels.copy()
        labels[small] = labels[~small][nearest(X[~small], X[small])]
    return labels


def chosen(rows: list[dict], power: float) -> dict:
    """Return the scale that another exponent would choose."""
    return rows[int(np.argmax([r["agreement"] * r["separation"] ** power for r in rows]))]


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
                row[f"{type(model).__name__} at {name}"] = score(y, found)
        rows.append(row)
    for name in list(rows[0])[1:]:
        print(name, np.mean([row[name] for row in rows]).round(3), len(rows))
    return rows


def mixture(seeds: int) -> list[dict]:
    """Score the paper's mixture: nothing set, the paper's range, the best scale by labels, SMS at its best h."""
    rows = []
    for n in MIXTURES:
        runs, sms = [], []
        for seed in range(seeds):
            X, y = paper_mixture(n, random_state=seed)
            run = []
            for h in ((), (0.2, 1.6, 0.6)):
                labels = DoublyStochasticMeanShift(*h, random_state=seed).fit_predict(X)
                run += [score(y, labels), labels.max() + 1, k_score(y, labels)]
            found = scales(X, y, "euclidean")
            runs.append([*run, *(max(row[name] for row in found) for name in ("ari", "absorbed"))])
            single = [StochasticMeanShift(h, random_state=seed).fit_predict(X) for h in BANDWIDTHS]
            sms.append([[score(y, labels), k_score(y, labels)] for labels in single])
        names = [f"{what}{where}" for where in ("", " at the paper's range") for what in ("ari", "clusters", "k")]
        names += ["ari by labels", "ari by labels, absorbed"]
        row = {"n per cluster": n} | dict(zip(names, np.mean(runs, axis=0).round(3).tolist(), strict=True))
        best = np.mean(sms, axis=0)
        for column, name in enumerate(("ari", "k")):
            row[f"{name} of SMS"] = round(float(best[:, column].max()), 3)
            row[f"h of SMS by {name}"] = round(float(BANDWIDTHS[best[:, column].argmax()]), 1)
        rows.append(row)
        print(row, flush=True)
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
    """Run the selected part and write its rows."""
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
