"""Count the clusters that the four algorithms find on the paper's mixture, and the sweeps until they are certain.

Run it as

    python benchmarks/paper_mixture.py [--seeds 20] [--spread std|variance] [--sweep]

The paper's settings: h = 0.6 for MS, BMS and SMS; [0.2, 1.6] with h_inf = 0.6 for DSMS. Beside them SMS at h = 1.2,
which suits this data better: the fair comparison.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.metrics import adjusted_rand_score

from modeseek import BlurringMeanShift, DoublyStochasticMeanShift, MeanShift, StochasticMeanShift
from modeseek.datasets import paper_mixture
from modeseek.metrics import k_score


def at_the_papers_settings(seed: int) -> dict[str, Any]:
    """Return the lines of the first table."""
    return {
        "MS, h = 0.6": MeanShift(0.6, max_iter=10_000),
        "BMS, h = 0.6": BlurringMeanShift(0.6),
        "SMS, h = 0.6": StochasticMeanShift(0.6, random_state=seed),
        "SMS, h = 1.2": StochasticMeanShift(1.2, random_state=seed),
        "DSMS, shrinking": DoublyStochasticMeanShift(0.2, 1.6, 0.6, random_state=seed),
        "DSMS, walk": DoublyStochasticMeanShift(0.2, 1.6, 0.6, policy="walk", random_state=seed),
    }


def over_a_sweep(seed: int) -> dict[str, Any]:
    """Return the lines of a table over the bandwidth of SMS, and over h_inf and h_max of DSMS."""
    lines: dict[str, Any] = {f"SMS, h = {h}": StochasticMeanShift(h, random_state=seed) for h in (0.3, 0.6, 1.2, 2.4)}
    for h_inf in (0.3, 0.6, 1.2):
        lines[f"DSMS, h_inf = {h_inf}"] = DoublyStochasticMeanShift(0.2, 1.6, h_inf, random_state=seed)
    for h_max in (0.8, 1.6, 3.2):
        lines[f"DSMS, h_max = {h_max}"] = DoublyStochasticMeanShift(0.2, h_max, 0.6, random_state=seed)
    return lines


def measure(
    lines: Callable[[int], dict[str, Any]], n_per_cluster: int, seed: int, spread: str
) -> dict[str, tuple[float, ...]]:
    """Return clusters, ARI, K in both weightings, sweeps and milliseconds of every algorithm on one data set."""
    X, y = paper_mixture(n_per_cluster, spread=spread, random_state=seed)
    rows = {}
    for name, model in lines(seed).items():
        start = time.perf_counter()
        labels = model.fit(X).labels_
        milliseconds = 1000 * (time.perf_counter() - start)
        scores = adjusted_rand_score(y, labels), k_score(y, labels), k_score(y, labels, weighted=True)
        rows[name] = (model.n_clusters_, *scores, model.n_updates_ / len(X), milliseconds)
    return rows


def main() -> None:
    """Measure and print two Markdown tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--spread", choices=["std", "variance"], default="std")
    parser.add_argument("--sweep", action="store_true", help="over a range of bandwidths")
    arguments = parser.parse_args()
    lines = over_a_sweep if arguments.sweep else at_the_papers_settings
    measure(lines, 10, 0, arguments.spread)  # compiled before the clock starts
    values = {n: [measure(lines, n, seed, arguments.spread) for seed in range(arguments.seeds)] for n in (10, 50, 200)}
    print(f"{arguments.seeds} seeds, 0.65 as {arguments.spread}: mean number of clusters (mean ARI)\n")
    print("| algorithm | " + " | ".join(f"N = {n}" for n in values) + " |\n|---" + "|--:" * len(values) + "|")
    for name in lines(0):
        means = {n: np.mean([run[name] for run in runs], axis=0) for n, runs in values.items()}
        print(f"| {name} | " + " | ".join(f"{mean[0]:.1f} ({mean[1]:.2f})" for mean in means.values()) + " |")
    print("\nmean K / K weighted by size / sweeps, and median milliseconds\n")
    print("| algorithm | " + " | ".join(f"N = {n}" for n in values) + " |\n|---" + "|--:" * len(values) + "|")
    for name in lines(0):
        cells = []
        for runs in values.values():
            _, _, k, weighted, sweeps, _ = np.mean([run[name] for run in runs], axis=0)
            cells.append(f"{k:.2f} / {weighted:.2f} / {sweeps:.0f} / {np.median([run[name][-1] for run in runs]):.1f}")
        print(f"| {name} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
