"""Score the automatic bandwidths of the four mean shifts on labelled sets, the paper's mixture, and noise.

`--data DIR` is a folder of NAME.npz files, each with X and y (-1: not scored), and a manifest.json that gives for each
a name, a kind and how it is prepared: "std" (standardised columns) or "l2" (unit rows, cosine geometry). `--part sets`
fits every set with nothing set. `--part mixture` fits the paper's mixture with nothing set, at the paper's range, and
at the best single bandwidth for each size. `--part cost` compares the time of the choice with that of the fit.
"""

from __future__ import annotations

import argparse
import itertools
import time
import warnings
from pathlib import Path

import numpy as np
from sklearn.metrics import adjusted_rand_score

from common import machine, parser_of, write_csv
from labelled import NOISE as NO_LABEL
from labelled import prepared, read_sets
from modeseek import BlurringMeanShift, DoublyStochasticMeanShift, MeanShift, StochasticMeanShift
from modeseek.datasets import paper_mixture
from modeseek.metrics import k_score
from modeseek.selection.bandwidths import automatic_range

ALGORITHMS = {
    "DSMS": DoublyStochasticMeanShift,
    "SMS": StochasticMeanShift,
    "BMS": BlurringMeanShift,
    "MS": MeanShift,
}
RANDOM = ("DSMS", "SMS")
MIXTURES = (10, 20, 50, 100, 200)
NOISE = ((2, 50), (2, 150), (2, 500), (2, 5000), (10, 50), (10, 500), (100, 50), (100, 500))
BANDWIDTHS = np.arange(0.9, 1.65, 0.1)


def score(y: np.ndarray, labels: np.ndarray) -> float:
    """Return the adjusted Rand index over the rows that have a label."""
    return adjusted_rand_score(y[y != NO_LABEL], labels[y != NO_LABEL])


def sets(folder: Path, algorithms: list[str], max_rows: int, seeds: int) -> list[dict]:
    """Fit each set of at most `max_rows` rows with nothing set."""
    rows = []
    for data in read_sets(folder):
        if len(data.X) > max_rows:
            continue
        order = np.random.default_rng(0).permutation(len(data.X))
        X, y, metric = prepared(data.X, data.prep)[order], data.y[order], "cosine" if data.prep == "l2" else "euclidean"
        row = {"set": data.name, "kind": data.kind, "n": len(X), "d": X.shape[1]}
        for name in algorithms:
            found, began = [], time.process_time()
            for seed in range(seeds if name in RANDOM else 1):
                seeded = {"random_state": seed} if name in RANDOM else {}
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    labels = ALGORITHMS[name](metric=metric, **seeded).fit_predict(X)
                found.append((score(y, labels), labels.max() + 1))
            ari, clusters = np.mean(found, axis=0)
            row |= {name: round(ari, 3), f"{name} clusters": clusters}
            row |= {f"{name} seconds": round((time.process_time() - began) / len(found), 2)}
        rows.append(row)
        print(row, flush=True)
    print(len(rows), "sets, mean ARI", {name: np.mean([row[name] for row in rows]).round(3) for name in algorithms})
    return rows


def mixture(seeds: int) -> list[dict]:
    """Score the paper's mixture: nothing set, the paper's range, SMS at its best h."""
    rows = []
    for n in MIXTURES:
        runs, sms = [], []
        for seed in range(seeds):
            X, y = paper_mixture(n, random_state=seed)
            run = []
            for h in ((), (0.2, 1.6, 0.6)):
                labels = DoublyStochasticMeanShift(*h, random_state=seed).fit_predict(X)
                run += [score(y, labels), labels.max() + 1, k_score(y, labels)]
            runs.append(run)
            single = [StochasticMeanShift(h, random_state=seed).fit_predict(X) for h in BANDWIDTHS]
            sms.append([[score(y, labels), k_score(y, labels)] for labels in single])
        names = [f"{what}{where}" for where in ("", " at the paper's range") for what in ("ari", "clusters", "k")]
        row = {"n per cluster": n} | dict(zip(names, np.mean(runs, axis=0).round(3).tolist(), strict=True))
        best = np.mean(sms, axis=0)
        for column, name in enumerate(("ari", "k")):
            row[f"{name} of SMS"] = round(float(best[:, column].max()), 3)
            row[f"h of SMS by {name}"] = round(float(BANDWIDTHS[best[:, column].argmax()]), 1)
        rows.append(row)
        print(row, flush=True)
    return rows


def cost() -> list[dict]:
    """Time the choice, and the fit at the chosen range, on four Gaussians in the plane and in 784 dimensions."""
    rows = []
    for n, d in ((100, 2), (1000, 2), (10_000, 2), (2000, 784)):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(n, d)) + 6 * rng.integers(0, 2, size=(n, 2))[:, np.arange(d) % 2]
        automatic_range(X[:100], algorithm="DSMS")  # compiles
        DoublyStochasticMeanShift(random_state=0).fit(X[:100])
        h = automatic_range(X, algorithm="DSMS")
        given = DoublyStochasticMeanShift(h.h_min, h.h_max, h.h_inf, random_state=0)
        row = {"n": n, "d": d}
        for name, job in (
            ("choice", lambda X=X: automatic_range(X, algorithm="DSMS")),
            ("fit", lambda X=X, given=given: given.fit(X)),
        ):
            began = time.process_time()
            job()
            row[f"{name}_s"] = round(time.process_time() - began, 3)
        rows.append(row | {"all / fit": round(1 + row["choice_s"] / row["fit_s"], 2)})
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
    parser.add_argument("--part", choices=("sets", "mixture", "noise", "cost"), default="sets")
    parser.add_argument("--algorithms", nargs="+", choices=list(ALGORITHMS), default=list(ALGORITHMS))
    parser.add_argument("--max-rows", type=int, default=10**9, help="leave out larger sets")
    parser.add_argument("--seeds", type=int, default=3)
    args: argparse.Namespace = parser.parse_args()
    if args.part == "sets" and args.data is None:
        parser.error("--data is needed for this part")
    print(machine())
    seeds = 1 if args.quick else args.seeds
    parts = {
        "sets": lambda: sets(args.data, args.algorithms, args.max_rows, seeds),
        "mixture": lambda: mixture(seeds),
        "noise": lambda: noise(seeds),
        "cost": cost,
    }
    rows = parts[args.part]()
    if args.out:
        write_csv(args.out, rows)


if __name__ == "__main__":
    main()
