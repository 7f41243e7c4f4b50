"""Measure `ModeSeek()` on synthetic data: the paper's mixture, noise, families without clusters, and run times.

Run it as

    python benchmarks/mode_seek.py [--part mixture|noise|null|time|sets] [--seeds 50] [--jobs 2] [--data DIR]
        [--out FOLDER] [--report docs/mode-seek.md]

Each part is stored in FOLDER as a CSV file; the report uses all stored parts. For labelled sets see `quality.py`;
`sets` measures only the time of a fit of each set of DIR (described in `quality.py`), in one process, with one thread
and with --jobs threads, and prints the medians over the sets.
`null` draws sets of the families without clusters (`synthetic/null.py`) with seeds that no training has used, and
counts those of 100 rows or more.
"""

from __future__ import annotations

import argparse
import multiprocessing
import time as clock
from collections.abc import Iterator
from itertools import count, islice
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import make_blobs

from common import ROOT, machine, number, read_csv, replace_section, table, write_csv
from labelled import prepared as standardised
from labelled import read_sets
from modeseek import ModeSeek
from modeseek.datasets import paper_mixture
from modeseek.metrics import k_score, rand_agreement
from synthetic import FAMILIES, NULL, make, prepared

SIZES = (10, 20, 50, 100, 200)
NOISE_SIZES, NOISE_DIMENSIONS = (50, 100, 200, 1000, 5000), (2, 10, 100)
# seeds for each kind of noise: fewer where one fit takes seconds
MANY, FEW = 20, 5
# sets of the families without clusters: the least number of rows, and the first seed
LEAST_ROWS, FIRST_SEED = 100, 20_000_000
BLOBS = ((1_000, 2), (10_000, 2), (100_000, 2), (5_000, 256))


def draw(kind: str, n: int, d: int, seed: int) -> np.ndarray:
    """Return points without clusters."""
    rng = np.random.default_rng(seed)
    if kind == "Gaussian":
        return rng.normal(size=(n, d))
    if kind == "uniform":
        return rng.random((n, d))
    return rng.standard_t(5, (n, d)) if kind == "Student t, 5" else np.exp(0.7 * rng.normal(size=(n, d)))


def mixture(seeds: int, jobs: int, data: Path | None) -> list[dict[str, Any]]:
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


def noise(seeds: int, jobs: int, data: Path | None) -> list[dict[str, Any]]:
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


def null(seeds: int, jobs: int, data: Path | None) -> list[dict[str, Any]]:
    """Count how often sets of the families without clusters are one cluster."""
    names = [name for name, family in FAMILIES.items() if family.group == NULL]
    # sets with enough rows are found first, because they need not be spread evenly over the seeds
    sets = [(name, seed) for name in names for seed in islice(large_sets(name), seeds)]
    ModeSeek().fit(draw("Gaussian", 200, 2, 0))  # compile before the processes fork
    with multiprocessing.get_context("fork").Pool(jobs) as workers:
        single = np.reshape(workers.starmap(is_single, sets, chunksize=1), (len(names), seeds))
    return [
        {"family": name, "sets": seeds, "one cluster": int(one)}
        for name, one in zip(names, single.sum(axis=1), strict=True)
    ]


def large_sets(name: str) -> Iterator[int]:
    """Yield the seeds of the sets of a family with enough rows."""
    return (seed for seed in count(FIRST_SEED) if len(make(name, seed).X) >= LEAST_ROWS)


def is_single(name: str, seed: int) -> bool:
    """Return whether a set is one cluster."""
    sample = make(name, seed)
    return ModeSeek(metric=sample.metric, random_state=0).fit(prepared(sample)).n_clusters_ == 1


def time(seeds: int, jobs: int, data: Path | None, repeats: int = 3) -> list[dict[str, Any]]:
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


def sets(seeds: int, jobs: int, data: Path | None, repeats: int = 3) -> list[dict[str, Any]]:
    """Time a fit of each labelled set: wall and CPU seconds, each the least of several, after one that compiles."""
    if data is None:
        raise SystemExit("--part sets needs --data")
    rows = []
    for each in read_sets(data):
        X, metric = standardised(each.X, each.prep), "cosine" if each.prep == "l2" else "euclidean"
        row: dict[str, Any] = {"set": each.name, "n": len(X), "d": X.shape[1]}
        ModeSeek(metric=metric, random_state=0).fit(X)
        for n_jobs in sorted({1, jobs}):
            seconds = []
            for _ in range(repeats):
                start = clock.perf_counter(), clock.process_time()
                ModeSeek(metric=metric, random_state=0, n_jobs=n_jobs).fit(X)
                seconds.append((clock.perf_counter() - start[0], clock.process_time() - start[1]))
            row[f"wall_{n_jobs}"], row[f"cpu_{n_jobs}"] = np.min(seconds, axis=0).tolist()
        rows.append(row)
        print(row, flush=True)
    print("medians:", {name: round(float(np.median([row[name] for row in rows])), 3) for name in list(rows[0])[3:]})
    return rows


PARTS = {"mixture": mixture, "noise": noise, "null": null, "time": time, "sets": sets}


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
    if (folder / "null.csv").exists():
        rows = [
            (row["family"].replace("_", " "), f"{row['one cluster']} of {row['sets']}")
            for row in read_csv(folder / "null.csv")
        ]
        texts.append("### Families without clusters: sets that gave one cluster\n\n" + table(("family", "sets"), rows))
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
    parser.add_argument("--jobs", type=int, default=2, help="processes of the part null, threads of the part sets")
    parser.add_argument("--data", type=Path, help="folder of the part sets, with manifest.json and NAME.npz files")
    parser.add_argument("--out", type=Path, default=ROOT / "benchmarks" / "results" / "mode_seek")
    parser.add_argument("--report", type=Path)
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    for part in given.part or ():
        write_csv(given.out / f"{part}.csv", PARTS[part](given.seeds, given.jobs, given.data))
    if given.report:
        report(given.out, given.report)


if __name__ == "__main__":
    main()
