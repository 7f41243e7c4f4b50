"""Count how often rounding keeps the clusters of `ModeSeek`; prints a Markdown table.

    python benchmarks/rounding.py [--out FILE.csv]

Thirty sets with clusters, and twelve without, are rounded so that each column has 20, 40 or 80 distinct values. The
labels of the rounded rows are compared with those of the exact rows by the adjusted Rand index. Two columns tell what
can be expected. "Possible" is the index of the best labels that are the same for equal rows: rounding makes rows of
different clusters equal. "Jittered" are the exact rows with uniform noise as wide as a rounding step: errors of the
same size that leave no ties.
"""

from __future__ import annotations

import argparse
import csv
import time

import numpy as np
from sklearn.datasets import make_blobs, make_moons
from sklearn.metrics import adjusted_rand_score

from modeseek import ModeSeek

SEEDS = range(6)
LEVELS = (80, 40, 20)
N = 800
TARGET = 0.95


def sets(seed: int) -> dict[str, np.ndarray]:
    """Return data sets with clusters."""
    rng = np.random.default_rng(seed)
    blobs = make_blobs(N, centers=3, cluster_std=0.8, random_state=seed)[0]
    return {
        "five blobs": make_blobs(N, centers=5, cluster_std=0.9, random_state=seed)[0],
        "blobs of three widths": make_blobs(N, centers=3, cluster_std=[0.5, 1.0, 1.8], random_state=seed)[0],
        "stretched blobs": blobs @ np.array([[0.6, -0.6], [-0.4, 0.8]]),
        "moons": make_moons(N, noise=0.06, random_state=seed)[0],
        "skewed blobs, 3-D": np.exp(0.2 * make_blobs(N, 3, centers=4, random_state=seed)[0])
        + rng.normal(scale=1e-3, size=(N, 3)),
    }


def unclustered(seed: int) -> dict[str, np.ndarray]:
    """Return data sets without clusters."""
    rng = np.random.default_rng(seed)
    return {"normal": rng.normal(size=(N, 2)), "uniform": rng.random((N, 2))}


def in_levels(X: np.ndarray, levels: int) -> np.ndarray:
    """Return the rows with at most `levels` distinct values in each column."""
    step = np.ptp(X, axis=0) / (levels - 1)
    return np.round(X / step) * step


def possible(labels: np.ndarray, rounded: np.ndarray) -> float:
    """Return the agreement of labels with the best labels that are the same for equal rows."""
    number = np.unique(rounded, axis=0, return_inverse=True)[1].ravel()
    counts = np.zeros((number.max() + 1, labels.max() + 1))
    np.add.at(counts, (number, labels), 1)
    return adjusted_rand_score(labels, counts.argmax(axis=1)[number])


def measure(name: str, X: np.ndarray, seed: int) -> list[dict[str, object]]:
    exact, rows = ModeSeek(random_state=0).fit(X), []
    for levels in LEVELS:
        rounded = in_levels(X, levels)
        found = ModeSeek(random_state=0).fit(rounded)
        noise = np.random.default_rng((seed, levels)).uniform(-0.5, 0.5, X.shape) * np.ptp(X, axis=0) / (levels - 1)
        jittered = ModeSeek(random_state=0).fit(X + noise)
        rows.append(
            {
                "set": name,
                "seed": seed,
                "levels": levels,
                "clusters": exact.n_clusters_,
                "rounded_clusters": found.n_clusters_,
                "ari": adjusted_rand_score(exact.labels_, found.labels_),
                "possible": possible(exact.labels_, rounded),
                "jittered_clusters": jittered.n_clusters_,
                "jittered": adjusted_rand_score(exact.labels_, jittered.labels_),
            }
        )
    return rows


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", help="write a CSV file with a row for each set and number of values")
    arguments, began = parser.parse_args(), time.perf_counter()
    rows = [row for seed in SEEDS for name, X in sets(seed).items() for row in measure(name, X, seed)]
    null = [row for seed in SEEDS for name, X in unclustered(seed).items() for row in measure(name, X, seed)]
    columns = (
        "sets",
        f"ARI >= {TARGET}",
        f"ARI >= {TARGET} possible",
        f"ARI >= {TARGET} jittered",
        "same number of clusters",
        "mean ARI",
        "possible",
        "jittered",
    )
    print("| values in a column |", " | ".join(columns), "| one cluster, without clusters |")
    print("|--:|" + "--:|" * (len(columns) + 1))
    for levels in LEVELS:
        own = [row for row in rows if row["levels"] == levels]
        ari, best, jittered = (np.array([row[key] for row in own]) for key in ("ari", "possible", "jittered"))
        same = sum(row["clusters"] == row["rounded_clusters"] for row in own)
        one = [row["rounded_clusters"] == 1 for row in null if row["levels"] == levels]
        counts = len(own), *((each >= TARGET).sum() for each in (ari, best, jittered)), same
        means = (f"{each.mean():.3f}" for each in (ari, best, jittered))
        print(f"| {levels} |", " | ".join(map(str, (*counts, *means))), f"| {sum(one)} of {len(one)} |")
    exact = [row["clusters"] == 1 for row in null if row["levels"] == LEVELS[0]]
    print(f"\nexact rows without clusters: one cluster in {sum(exact)} of {len(exact)}")
    for row in rows:
        if row["ari"] < TARGET and row["levels"] == min(LEVELS):
            print(f"below at {row['levels']} values:", {key: value for key, value in row.items() if key != "levels"})
    print(f"{time.perf_counter() - began:.0f} s")
    if arguments.out:
        with open(arguments.out, "w", newline="") as file:
            writer = csv.DictWriter(file, rows[0])
            writer.writeheader()
            writer.writerows(rows + null)


if __name__ == "__main__":
    main()
