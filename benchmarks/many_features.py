"""Time, memory and ARI of a default fit in too many dimensions for a grid: 20 separable blobs in 16-D.

python benchmarks/many_features.py [n]
"""

from __future__ import annotations

import resource
import sys
import time
import warnings

import numpy as np
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from common import THREADS, machine
from modeseek import DoublyStochasticMeanShift


def main() -> None:
    """Fit n rows (default: a million) and print a line."""
    warnings.simplefilter("ignore")
    n = int(float(sys.argv[1])) if len(sys.argv) > 1 else 1_000_000
    X, y = make_blobs(n, n_features=16, centers=20, random_state=0)
    rows = X.astype(np.float32)
    del X
    DoublyStochasticMeanShift(random_state=0).fit(rows[:2000])  # compile
    start, busy = time.perf_counter(), time.process_time()
    model = DoublyStochasticMeanShift(random_state=0, n_jobs=THREADS).fit(rows)
    seconds, busy = time.perf_counter() - start, time.process_time() - busy
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10
    told = f"{n:,} rows: {seconds:.0f} s ({busy:.0f} s of one core), {memory:,.0f} MB, {model.n_clusters_} clusters"
    print(f"{told}, ARI {adjusted_rand_score(y, model.labels_):.3f}\n{machine()}")


if __name__ == "__main__":
    main()
