"""Measure fits on sketches: agreement with the exact fit, and growth of the cost with n.

Run it as

    python benchmarks/scale.py error --data DIR [--out FILE.csv] [--report docs/many-rows.md]
    python benchmarks/scale.py sizes [--sizes 1e6,1e7,1e8] [--folder DIR] [--out FILE.csv] [--report docs/many-rows.md]
    python benchmarks/scale.py peers [--out FILE.csv] [--report docs/many-rows.md]

`error` compares with the exact fit of the same range and seed, on the labelled sets of a folder with few enough
features for a grid, and for reference compares two exact fits with different seeds. `sizes` makes float32 files of ten
planar Gaussian blobs in a folder, reads them memory-mapped in blocks, and fits the cost model. `peers` times other
methods on 100,000 points. `sizes` and `peers` run each measurement in a new process; `--table` prints the tables of a
CSV file.
"""

from __future__ import annotations

import argparse
import json
import resource
import tempfile
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from statistics import mean, median
from typing import Any

import numpy as np
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from common import THREADS, in_fresh_process, machine, read_csv, replace_section, table, write_csv
from contestants import DATA
from labelled import prepared, read_sets

RESOLUTIONS = (1 / 4, 1 / 8, 1 / 16, 1 / 32)
BLOCK = 1_000_000
REPEATS = 3
# seconds
LIMIT = 1800
JOBS = str(Path(__file__))
METHODS = ("DSMS, sketch", "DSMS, exact", "hdbscan", "scikit-learn MeanShift, bin seeding")


def errors(folder: Path) -> list[dict[str, Any]]:
    """Return a row for each set: ARI to the exact fit and displacement of centres, at each resolution."""
    from modeseek import DoublyStochasticMeanShift

    warnings.simplefilter("ignore")
    rows = []
    for data in read_sets(folder):
        if data.X.shape[1] > 6 or data.prep != "std":
            continue
        X = prepared(data.X, data.prep)
        exact = DoublyStochasticMeanShift(random_state=0, sketch=None).fit(X)
        h = {"h_min": exact.h_min_, "h_inf": exact.h_inf_, "h_max": exact.h_max_}
        other = DoublyStochasticMeanShift(**h, random_state=1, sketch=None).fit(X)
        row = {
            "set": data.name,
            "n": len(X),
            "d": X.shape[1],
            "seeds": adjusted_rand_score(exact.labels_, other.labels_),
        }
        for resolution in RESOLUTIONS:
            found = DoublyStochasticMeanShift(**h, random_state=0, sketch="grid", resolution=resolution).fit(X)
            row[f"ari {resolution:g}"] = adjusted_rand_score(exact.labels_, found.labels_)
            row[f"cells {resolution:g}"] = len(found.sketch_.points)
            row[f"moved {resolution:g}"] = displacement(exact, found)
        even = DoublyStochasticMeanShift(**h, random_state=0, sketch="grid", order="even").fit(X)
        row["even"] = adjusted_rand_score(exact.labels_, even.labels_)
        rows.append(row)
        print(data.name, [round(row[f"ari {each:g}"], 3) for each in RESOLUTIONS], flush=True)
    return rows


def displacement(exact: Any, found: Any) -> float:
    """Return the median distance, over h_min, of the centre of a row in one fit and in the other."""
    apart = exact.cluster_centers_[exact.labels_] - found.cluster_centers_[found.labels_]
    return float(np.median(np.linalg.norm(apart, axis=1)) / exact.h_min_)


def make_file(path: Path, n: int) -> None:
    """Write n points of ten blobs as float32, block by block, unless the file exists."""
    if path.exists():
        return
    rows = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=(n, 2))
    centers = make_blobs(10, centers=10, random_state=2)[0] * 3
    for number, start in enumerate(range(0, n, BLOCK)):
        rng = np.random.default_rng([7, number])
        block = rows[start : start + BLOCK]
        block[:] = centers[rng.integers(10, size=len(block))] + rng.normal(size=block.shape)
    rows.flush()


def blocks(path: str, n: int) -> Iterator[np.ndarray]:
    """Yield the rows block by block; each is mapped separately, so that pages read earlier do not count as memory."""
    for at in range(0, n, BLOCK):
        yield np.array(np.load(path, mmap_mode="r")[at : at + BLOCK])


def one_size(path: str) -> dict[str, float]:
    """Summarise, fit and label a memory-mapped file in blocks; times, cells, updates and the largest memory."""
    from modeseek import DoublyStochasticMeanShift

    model = DoublyStochasticMeanShift(random_state=0, sketch="grid")
    warm = np.random.default_rng(0).normal(size=(3000, 2)).astype(np.float32)
    DoublyStochasticMeanShift(random_state=0, sketch="grid").fit(warm).predict(warm)
    n = len(np.load(path, mmap_mode="r"))
    start = time.perf_counter()
    for block in blocks(path, n):
        model.partial_fit(block)
    sketched = time.perf_counter()
    model.finalize()
    fitted = time.perf_counter()
    counts = np.zeros(model.n_clusters_, dtype=np.int64)
    for block in blocks(path, n):
        counts += np.bincount(model.predict(block), minlength=len(counts))
    ended = time.perf_counter()
    return {
        "n": n,
        "sketch": sketched - start,
        "fit": fitted - sketched,
        "label": ended - fitted,
        "cells": len(model.sketch_.points),
        "resolution": model.sketch_.resolution,
        "updates": model.n_updates_,
        "memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10,
        "clusters": model.n_clusters_,
        "large": int((counts > n / 100).sum()),
    }


def one_method(method: str) -> dict[str, Any]:
    """Time one method on 100,000 points of ten blobs."""
    import modeseek

    warnings.simplefilter("ignore")
    data = DATA["2-D"]
    X, y = make_blobs(100_000, centers=10, center_box=(-data.box, data.box), random_state=0)
    if method.startswith("DSMS"):
        kind = "grid" if "sketch" in method else None
        modeseek.DoublyStochasticMeanShift(random_state=0, sketch=kind).fit(X[:2000])  # compiles
        model: Any = modeseek.DoublyStochasticMeanShift(random_state=0, sketch=kind)
    elif method == "hdbscan":
        import hdbscan

        model = hdbscan.HDBSCAN(core_dist_n_jobs=THREADS)
    else:
        from sklearn.cluster import MeanShift

        model = MeanShift(bandwidth=data.flat, bin_seeding=True)
    start = time.perf_counter()
    labels = model.fit(X).labels_
    seconds = time.perf_counter() - start
    return {"seconds": seconds, "ari": adjusted_rand_score(y, labels), "labels": labels.tolist()}


def peers() -> list[dict[str, Any]]:
    """Return a row for each method: median time of three, ARI to the truth and to the exact fit."""
    runs = {method: [_job("one_method", method) for _ in range(REPEATS)] for method in METHODS}
    exact = runs["DSMS, exact"][0]["labels"]
    return [
        {
            "method": method,
            "seconds": median(run["seconds"] for run in found),
            "ari": found[0]["ari"],
            "to exact": adjusted_rand_score(exact, found[0]["labels"]),
        }
        for method, found in runs.items()
    ]


def error_section(rows: list[dict[str, Any]]) -> str:
    """Return the table of errors, one row for each resolution."""
    header = ["cell side", "mean ARI to the exact fit", "least", "cells over rows", "centres moved, over h_min"]
    floor = [r["seeds"] for r in rows]
    lines = [["(two exact fits of different seeds)", f"{mean(floor):.3f}", f"{min(floor):.2f}", "", ""]]
    for each in RESOLUTIONS:
        ari = [r[f"ari {each:g}"] for r in rows]
        cells = mean(r[f"cells {each:g}"] / r["n"] for r in rows)
        moved = mean(r[f"moved {each:g}"] for r in rows)
        side = f"h_min / {1 / each:g} at most"
        lines.append([side, f"{mean(ari):.3f}", f"{min(ari):.2f}", f"{cells:.2f}", f"{moved:.3f}"])
    even = [r["even"] for r in rows]
    lines.append(["h_min / 16 at most, drawn evenly", f"{mean(even):.3f}", f"{min(even):.2f}", "", ""])
    most = max(int(r["n"]) for r in rows)
    return f"{len(rows)} sets of up to six features and {most:,} rows, one seed.\n\n{table(header, lines)}"


def size_section(rows: list[dict[str, Any]]) -> str:
    """Return the table of sizes, and the cost model fitted to it."""
    header = [
        "rows",
        "sketch",
        "fit",
        "label",
        "memory",
        "cells",
        "side over h_min",
        "updates",
        "clusters above 1 %",
    ]
    lines = [
        [
            f"{r['n']:,.0f}",
            *(f"{r[name]:.1f} s" for name in ("sketch", "fit", "label")),
            f"{r['memory']:,.0f} MB",
            f"{r['cells']:,.0f}",
            f"1 / {1 / r['resolution']:.0f}",
            f"{r['updates']:,.0f}",
            f"{r['large']:.0f}",
        ]
        for r in rows
    ]
    per_row = sum(r["sketch"] + r["label"] for r in rows) / sum(r["n"] for r in rows)
    per_update = sum(r["fit"] for r in rows) / sum(r["updates"] for r in rows)
    growth = np.polyfit(np.log([r["n"] for r in rows]), np.log([r["sketch"] + r["label"] for r in rows]), 1)[0]
    minutes = per_row * 1e12 / 1000 / 60
    return (
        f"{table(header, lines)}\n\n"
        f"The two passes take {per_row * 1e6:.2f} microseconds per row (the total grows as n^{growth:.2f}), and the "
        f"chain {per_update * 1e6:.2f} microseconds per update, independent of n. For 10^12 rows on 1,000 workers with "
        f"one such core each, this gives {minutes:.0f} minutes for the passes, and seconds for the chain."
    )


def peer_section(rows: list[dict[str, Any]]) -> str:
    """Return the table of methods."""
    lines = [[r["method"], f"{r['seconds']:.2f} s", f"{r['ari']:.3f}", f"{r['to exact']:.3f}"] for r in rows]
    return (
        "100,000 points of ten Gaussians in the plane. DSMS and hdbscan have their default parameters; "
        "scikit-learn's MeanShift is given a suitable bandwidth.\n\n"
        + table(["method", "time, median of three", "ARI to the truth", "ARI to the exact DSMS"], lines)
    )


def main() -> None:
    """Measure one of the three, print it, and write it to a page with --report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="?", choices=("error", "sizes", "peers"), default="peers")
    parser.add_argument("--data", type=Path, help="folder of labelled sets, for `error`")
    parser.add_argument("--sizes", default="1e6,1e7", help="numbers of rows, with commas")
    parser.add_argument("--folder", type=Path, help="where the files of `sizes` are made; kept there")
    parser.add_argument("--out", type=Path, help="write a CSV file")
    parser.add_argument("--table", type=Path, help="read a CSV file instead of measuring")
    parser.add_argument("--report", type=Path, help="replace the section of this page")
    parser.add_argument("--job", type=json.loads, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.job is not None:
        print(json.dumps({"one_size": one_size, "one_method": one_method}[args.job["name"]](args.job["argument"])))
        return
    if args.table is not None:
        rows = [{k: _number(v) for k, v in row.items()} for row in read_csv(args.table)]
    elif args.what == "error":
        if args.data is None:
            parser.error("error needs --data DIR, a folder of labelled sets")
        rows = errors(args.data)
    elif args.what == "sizes":
        with tempfile.TemporaryDirectory() as made:
            rows = sizes(args.folder or Path(made), [int(float(n)) for n in args.sizes.split(",")])
    else:
        rows = peers()
    for row in rows:
        row.setdefault("machine", machine())
    if args.out is not None:
        write_csv(args.out, rows)
    section = {"error": error_section, "sizes": size_section, "peers": peer_section}[args.what](rows)
    section = f"{section}\n\n*{rows[0]['machine']}*"
    print(section)
    if args.report is not None:
        replace_section(args.report, f"scale {args.what}", section)


def sizes(folder: Path, numbers: list[int]) -> list[dict[str, Any]]:
    """Make files and measure each in a process of its own."""
    rows = []
    for n in numbers:
        path = folder / f"blobs-{n}.npy"
        make_file(path, n)
        rows.append(_job("one_size", str(path)))
        print(rows[-1], flush=True)
    return rows


def _job(name: str, argument: str) -> dict[str, Any]:
    answer = in_fresh_process(JOBS, {"name": name, "argument": argument}, LIMIT)
    if answer.pop("status") != "ok":
        raise SystemExit(f"{name} {argument}: {answer.get('message', 'took too long')}")
    return answer


def _number(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


if __name__ == "__main__":
    main()
