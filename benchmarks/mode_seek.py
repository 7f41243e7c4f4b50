"""Measure `ModeSeek()` on synthetic data: the paper's mixture, noise, and run times.

Run it as

    python benchmarks/mode_seek.py [--part mixture|noise|time] [--seeds 50] [--out FOLDER] [--report docs/mode-seek.md]

Each part is stored in FOLDER as a CSV file; the report uses all stored parts. For labelled sets see `quality.py`.
"""

from __future__ import annotations

import argparse
import time as clock
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import make_blobs

from common import ROOT, machine, number, read_csv, replace_section, table, write_csv
from modeseek import ModeSeek
from modeseek.datasets import paper_mixture
from modeseek.metrics import k_score, rand_agreement

SIZES = (10, 20, 50, 100, 200)
NOISE_SIZES, NOISE_DIMENSIONS = (50, 100, 200, 1000, 5000), (2, 10, 100)
# seeds for each kind of noise: fewer where one fit takes seconds
MANY, FEW = 20, 5
BLOBS = ((1_000, 2), (10_000, 2), (100_000, 2), (5_000, 256))


def draw(kind: str, n: int, d: int, seed: int) -> np.ndarray:
    """Return points without clusters."""
    rng = np.random.default_rng(seed)
    if kind == "Gaussian":
        return rng.normal(size=(n, d))
    if kind == "uniform":
        return rng.random((n, d))
    return rng.standard_t(5, (n, d)) if kind == "Student t, 5" else np.exp(0.7 * rng.normal(size=(n, d)))


def mixture(seeds: int) -> list[dict[str, Any]]:
    """Score the paper's mixture."""
    rows = []
    for n in SIZES:
        found = []
        for seed in range(seeds):
            X, y = paper_mixture(n, random_state=seed)
            labels = ModeSeek(random_state=seed).fit_predict(X)
            found.append((rand_agreement(y, labels), k_score(y, labels), labels.max() + 1, labels.max() == 0))
        ari, k, clusters, one = np.mean(found, axis=0)
        rows.append({"N": n, "seeds": seeds, "ari": ari, "k": k, "clusters": clusters, "one cluster": one})
        print(rows[-1], flush=True)
    return rows


def noise(seeds: int) -> list[dict[str, Any]]:
    """Count how often structureless points are one cluster."""
    rows = []
    for kind in ("Gaussian", "uniform", "Student t, 5", "lognormal"):
        for d in NOISE_DIMENSIONS:
            for n in NOISE_SIZES:
                repeats = min(seeds, MANY if n * d <= 10_000 else FEW)
                counts = [ModeSeek(random_state=s).fit(draw(kind, n, d, s)).n_clusters_ for s in range(repeats)]
                one = sum(count == 1 for count in counts)
                rows.append({"noise": kind, "d": d, "n": n, "seeds": repeats, "one cluster": one})
                print(rows[-1], flush=True)
    return rows


def time(repeats: int = 3) -> list[dict[str, Any]]:
    """Time fits of ten Gaussian blobs: the median of several, after one that compiles."""
    rows = []
    for n, d in BLOBS:
        X, _ = make_blobs(n, n_features=d, centers=10, random_state=0)
        ModeSeek(random_state=0).fit(X[:500])
        seconds = []
        for _ in range(repeats):
            start = clock.perf_counter()
            ModeSeek(random_state=0).fit(X)
            seconds.append(clock.perf_counter() - start)
        rows.append({"n": n, "d": d, "seconds": float(np.median(seconds)), "repeats": repeats, "machine": machine()})
        print(rows[-1], flush=True)
    return rows


PARTS = {"mixture": mixture, "noise": noise, "time": lambda _: time()}


def report(folder: Path, page: Path) -> None:
    """Write the tables of all stored parts into a page."""
    texts = []
    if (folder / "mixture.csv").exists():
        head = ("N", "seeds", "ARI", "K", "clusters", "one cluster")
        digits = {"ari": ".3f", "k": ".3f", "clusters": ".2f", "one cluster": ".0%"}
        rows = [
            (row["N"], row["seeds"], *(format(float(row[name]), form) for name, form in digits.items()))
            for row in read_csv(folder / "mixture.csv")
        ]
        texts.append("### The paper's mixture\n\n" + table(head, rows, left=0))
    if (folder / "noise.csv").exists():
        found = read_csv(folder / "noise.csv")
        cells = {(row["noise"], row["d"], row["n"]): f"{row['one cluster']} of {row['seeds']}" for row in found}
        sizes = list(dict.fromkeys(row["n"] for row in found))
        kinds = list(dict.fromkeys((row["noise"], row["d"]) for row in found))
        rows = [(*kind, *(cells[(*kind, n)] for n in sizes)) for kind in kinds]
        head = ("noise", "d", *(f"n = {n}" for n in sizes))
        texts.append("### No structure: runs that gave one cluster\n\n" + table(head, rows))
    if (folder / "time.csv").exists():
        found = read_csv(folder / "time.csv")
        rows = [(row["n"], row["d"], number(float(row["seconds"]))) for row in found]
        texts.append(f"### Time\n\n{found[0]['machine']}\n\n" + table(("n", "d", "seconds"), rows, left=0))
    replace_section(page, "measured", "\n\n".join(texts))


def main() -> None:
    """Measure the selected parts, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", choices=PARTS, action="append")
    parser.add_argument("--seeds", type=int, default=50)
    parser.add_argument("--out", type=Path, default=ROOT / "benchmarks" / "results" / "mode_seek")
    parser.add_argument("--report", type=Path)
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    for part in given.part or ():
        write_csv(given.out / f"{part}.csv", PARTS[part](given.seeds))
    if given.report:
        report(given.out, given.report)


if __name__ == "__main__":
    main()
