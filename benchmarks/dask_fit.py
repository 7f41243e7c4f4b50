"""Measure time and client memory of a fit of n planar rows by two Dask workers, and of the same fit in memory.

python benchmarks/dask_fit.py [n]
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np

from modeseek import DoublyStochasticMeanShift

CHUNK = 500_000


def make(path: Path, n: int) -> None:
    rng = np.random.default_rng(0)
    rows = np.lib.format.open_memmap(path, "w+", np.float32, (n, 2))
    for at in range(0, n, CHUNK):
        part = rows[at : at + CHUNK]
        part[:] = rng.normal(size=part.shape) + 8 * rng.integers(0, 4, part.shape)


def model() -> DoublyStochasticMeanShift:
    return DoublyStochasticMeanShift(0.5, 3.0, 1.5, sketch="grid", random_state=0)


def read(path: str, start: int) -> np.ndarray:
    return np.load(path, mmap_mode="r")[start : start + CHUNK]


def in_memory(path: str) -> int:
    rows = np.load(path)
    model().fit(rows[:60_000])  # compile
    began = time.perf_counter()
    fitted = model().fit(rows)
    say("in memory", began, fitted.n_clusters_)
    return int(fitted.labels_.sum())


def by_dask(path: str) -> int:
    import dask.array as da
    from dask import delayed
    from distributed import Client, LocalCluster, wait

    n = len(np.load(path, mmap_mode="r"))
    starts = range(0, n, CHUNK)
    blocks = [da.from_delayed(delayed(read)(path, at), (min(CHUNK, n - at), 2), np.float32) for at in starts]
    X = da.concatenate(blocks)
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster):
        model().fit(X[:60_000]).labels_.sum().compute()  # compile
        print(f"{'client before':14} {'':10} peak {peak():6.0f} MB")
        began = time.perf_counter()
        fitted = model().fit(X)
        say("Dask, fit", began, fitted.n_clusters_)
        labels = fitted.labels_.persist()
        wait(labels)
        say("Dask, labels", began, fitted.n_clusters_)
        return int(labels.sum().compute())


def peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def say(what: str, began: float, clusters: int) -> None:
    print(f"{what:14} {time.perf_counter() - began:6.2f} s   peak {peak():6.0f} MB   {clusters} clusters", flush=True)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    if len(sys.argv) == 3:
        # its own process: the largest memory a process ever had is never forgotten
        print("sum of labels", {"memory": in_memory, "dask": by_dask}[sys.argv[1]](sys.argv[2]))
    else:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "rows.npy"
            make(file, int(float(sys.argv[1])) if len(sys.argv) > 1 else 10_000_000)
            for way in ("memory", "dask"):
                subprocess.run([sys.executable, __file__, way, str(file)], check=True)
