"""Measure `ModeSeek()` on many rows: time beside other methods, rare clusters, approximate neighbours.

Run it as

    python benchmarks/large_data.py times [--sizes 1e3x2,1e4x2,...] [--repeats 3] [--report docs/benchmarks.md]
    python benchmarks/large_data.py rare [--sizes 1e6x2] [--report docs/benchmarks.md]
    python benchmarks/large_data.py embeddings [--sizes 1e4x384,1e5x384,1e6x384] [--methods ModeSeek,EVoC,...]
    python benchmarks/large_data.py recall [--sizes 1e5x16] [--report docs/benchmarks.md]

`times` fits ten Gaussian blobs with default parameters and two threads, each method and size in a new process, and
gives ratios to the wall times of ModeSeek. `rare` has ten large blobs and ten small ones, each with 0.1 % of the rows,
and counts the small ones that are found as a cluster (Jaccard index above 0.9). `embeddings` has unit vectors of 50
classes in 32-bit numbers, with a mean cosine of 0.5 within a class and 0 between classes. `recall` gives the share of
the exact nearest neighbours of 200 rows that the approximate search finds.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import make_blobs

from common import ROOT, THREADS, in_fresh_process, machine, measured, replace_section, table, write_csv

SIZES = {"times": "1e3x2,1e4x2,1e5x2,1e4x16,1e5x16,5e3x256", "rare": "1e6x2", "recall": "1e5x16"}
SIZES["embeddings"] = "1e4x384,1e5x384,1e6x384"
METHODS = ("ModeSeek", "hdbscan", "fast_hdbscan", "PLSCAN")
EMBEDDING_METHODS = ("ModeSeek", "EVoC", "MiniBatchKMeans")
N_CLASSES = 50
RARE_SHARE, N_RARE = 0.001, 10
# columns that the tables do not show
HIDDEN = ("status", "repeats", "machine")
# seconds of one job
LIMIT = 3600.0


def blobs(n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    """Return ten Gaussian blobs."""
    box = 20.0 if d == 2 else 10.0
    return make_blobs(n, d, centers=10, center_box=(-box, box), random_state=0)


def rare_blobs(n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    """Return ten large blobs and `N_RARE` small ones with a share of `RARE_SHARE` each; large ones are 0 to 9."""
    rng = np.random.default_rng(0)
    centers = np.zeros((10 + N_RARE, d))
    # rows of ten, as far from each other as the centers within a row: the first has the large blobs
    centers[:, 0], centers[:, 1] = 12.0 * (np.arange(len(centers)) % 10), 12.0 * (np.arange(len(centers)) // 10)
    small = int(RARE_SHARE * n)
    sizes = np.full(10 + N_RARE, small)
    sizes[:10] = (n - N_RARE * small) // 10
    y = np.repeat(np.arange(10 + N_RARE), sizes)
    spread = np.where(y < 10, 1.0, 0.3)[:, None]
    return centers[y] + spread * rng.normal(size=(len(y), d)), y


def model_of(method: str) -> Any:
    """Return an estimator with default parameters and two threads."""
    if method == "ModeSeek":
        from modeseek import ModeSeek

        return ModeSeek(random_state=0, n_jobs=THREADS)
    if method == "hdbscan":
        from hdbscan import HDBSCAN

        return HDBSCAN(core_dist_n_jobs=THREADS)
    if method == "fast_hdbscan":
        from fast_hdbscan import HDBSCAN

        return HDBSCAN()
    from fast_plscan import PLSCAN

    return PLSCAN()


def times(n: int, d: int, method: str = "ModeSeek", repeats: int = 3) -> dict[str, Any]:
    """Time one method."""
    from sklearn.metrics import adjusted_rand_score

    X, y = blobs(n, d)
    model_of(method).fit(X[:3000])  # compiles
    figures, model = measured(lambda: model_of(method).fit(X), repeats, LIMIT / 2, LIMIT / 2)
    return {**figures, "ari": adjusted_rand_score(y, model.labels_)}


def rare(n: int, d: int) -> dict[str, Any]:
    """Count the rare clusters that ModeSeek finds."""
    from modeseek import ModeSeek

    X, y = rare_blobs(n, d)
    ModeSeek().fit(X[::300])  # compiles
    figures, model = measured(lambda: ModeSeek(random_state=0, n_jobs=THREADS).fit(X), 1, LIMIT, LIMIT)
    labels, found = model.labels_, 0
    for c in range(10, 10 + N_RARE):
        own = y == c
        best = np.bincount(labels[own] + 1).argmax() - 1
        found += int((own & (labels == best)).sum() > 0.9 * (own | (labels == best)).sum())
    return {**figures, "clusters": model.n_clusters_, "found": found, "of": N_RARE, "message": model.message_}


def unit_vectors(n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    """Return unit vectors of `N_CLASSES` classes: a direction of the class and noise of the same length."""
    rng = np.random.default_rng(0)
    centers = rng.normal(size=(N_CLASSES, d)).astype(np.float32)
    y, X = rng.integers(N_CLASSES, size=n), np.empty((n, d), dtype=np.float32)
    for start in range(0, n, 10_000):  # blocks save memory
        rows = slice(start, start + 10_000)
        X[rows] = centers[y[rows]] + rng.standard_normal(size=(len(y[rows]), d), dtype=np.float32)
        X[rows] /= np.linalg.norm(X[rows], axis=1, keepdims=True)
    return X, y


def embeddings(n: int, d: int, method: str = "ModeSeek") -> dict[str, Any]:
    """Cluster embeddings once."""
    from sklearn.metrics import adjusted_rand_score

    X, y = unit_vectors(n, d)
    model = embedding_model_of(method)
    if n > 5000:
        model.fit(X[:5000])  # compiles
    figures, labels = measured(lambda: model.fit_predict(X), 1, LIMIT, LIMIT)
    return {**figures, "clusters": len(np.unique(labels[labels >= 0])), "ari": adjusted_rand_score(y, labels)}


def embedding_model_of(method: str) -> Any:
    """Return an estimator; k-means receives the number of classes."""
    if method == "ModeSeek":
        from modeseek import ModeSeek

        return ModeSeek(metric="cosine", random_state=0, n_jobs=THREADS)
    if method == "EVoC":
        from evoc import EVoC

        return EVoC()
    from sklearn.cluster import MiniBatchKMeans

    return MiniBatchKMeans(N_CLASSES, n_init=3, random_state=0)


def recall(n: int, d: int) -> dict[str, Any]:
    """Return shares of exact neighbours that the approximate search finds, in blobs and in one Gaussian."""
    from modeseek.selection.approximate import approximate_neighbors
    from modeseek.selection.config import DEFAULT

    k = DEFAULT.data.n_neighbors if n < DEFAULT.data.many_points else DEFAULT.data.n_neighbors_many
    shares: dict[str, Any] = {}
    rng = np.random.default_rng(0)
    approximate_neighbors(blobs(1000, d)[0], 8, DEFAULT.approximate)  # compiles
    for name, X in (("blobs", blobs(n, d)[0]), ("one Gaussian", rng.normal(size=(n, d)))):
        start = time.process_time()
        indices = approximate_neighbors(X, k, DEFAULT.approximate, n_jobs=THREADS).indices
        shares[f"{name}, cpu_s"] = time.process_time() - start
        rows = rng.permutation(n)[:200]
        for count in (8, k):
            hits = 0
            for i in rows:
                squares = np.square(X - X[i]).sum(axis=1)
                squares[i] = np.inf
                hits += len(np.intersect1d(indices[i, :count], np.argpartition(squares, count)[:count]))
            shares[f"{name}, first {count}"] = hits / (count * len(rows))
    return shares


def section(what: str, rows: list[dict[str, Any]]) -> str:
    """Return the rows as a table in Markdown."""
    if what != "times":
        names = [name for name in dict.fromkeys(name for row in rows for name in row) if name not in HIDDEN]
        return table(names, [[_text(row.get(name, "")) for name in names] for row in rows])
    header = ["rows x features", *(f"{method}: wall, CPU, ARI" for method in METHODS), "wall over ModeSeek's"]
    lines = []
    for size in dict.fromkeys(row["size"] for row in rows):
        of = {row["method"]: row for row in rows if row["size"] == size}
        own = of["ModeSeek"].get("wall_s")
        cells = [_cell(of[method]) for method in METHODS if method in of]
        ratios = [f"{of[m]['wall_s'] / own:.2f}" if own and "wall_s" in of[m] else "-" for m in METHODS[1:] if m in of]
        lines.append([size, *cells, " / ".join(ratios)])
    return table(header, lines)


def _cell(row: dict[str, Any]) -> str:
    if row["status"] != "ok":
        return str(row["status"])
    return f"{row['wall_s']:.2f} s, {row['cpu_s']:.2f} s, {row['ari']:.2f}"


def _text(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="?", choices=tuple(SIZES), default="times")
    parser.add_argument("--sizes", help="rows x features, with commas")
    parser.add_argument("--methods", help="for `times` and `embeddings`, with commas")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--out", type=Path, help="write a CSV file")
    parser.add_argument("--report", type=Path, help="page whose section is replaced")
    parser.add_argument("--job", type=json.loads, help=argparse.SUPPRESS)
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    if args.job is not None:
        jobs = {"times": times, "rare": rare, "embeddings": embeddings, "recall": recall}
        print(json.dumps(jobs[args.job.pop("what")](**args.job)))
        return
    methods = args.methods.split(",") if args.methods else METHODS if args.what == "times" else EMBEDDING_METHODS
    several = {
        "times": [{"method": method, "repeats": args.repeats} for method in methods],
        "embeddings": [{"method": method} for method in methods],
    }
    rows = []
    for size in (args.sizes or SIZES[args.what]).split(","):
        n, d = (int(float(each)) for each in size.split("x"))
        for options in several.get(args.what, [{}]):
            job = {"what": args.what, "n": n, "d": d, **options}
            answer = in_fresh_process(str(Path(__file__)), job, LIMIT)
            rows.append({"size": f"{n:,} x {d}", **options, **answer, "machine": machine()})
            print({name: value for name, value in rows[-1].items() if name != "machine"}, flush=True)
    if args.out is not None:
        write_csv(args.out, rows)
    found = f"{section(args.what, rows)}\n\n*{rows[0]['machine']}*"
    print(found)
    if args.report is not None:
        replace_section(ROOT / args.report, f"large {args.what}", found)


if __name__ == "__main__":
    main()
