"""Compare the peak memory of fits with the estimate made before them.

Run it as

    python benchmarks/memory.py [--rows 20000,100000] [--out FILE.csv]

Each fit runs in a new process, after a small fit that compiles. Its memory is the peak resident size minus the size
before the fit, when the rows are already in memory. Runs are limited to a few sweeps: memory does not grow with sweeps.
"""

from __future__ import annotations

import argparse
import json
import resource
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from common import in_fresh_process, machine, table, write_csv

LIMIT = 600
SHAPES = {"plane": 2, "many features": 32}
METHODS = ("DSMS", "DSMS, 4 chains", "SMS", "BMS", "MS", "ModeSeek")


def model_of(name: str, n: int) -> Any:
    from modeseek import BlurringMeanShift, DoublyStochasticMeanShift, MeanShift, ModeSeek, StochasticMeanShift

    few = {"max_updates": n, "sketch": None, "max_time": 60.0}
    return {
        "DSMS": DoublyStochasticMeanShift(0.5, 2.0, 1.0, random_state=0, **few),
        "DSMS, 4 chains": DoublyStochasticMeanShift(0.5, 2.0, 1.0, random_state=0, n_chains=4, **few),
        "SMS": StochasticMeanShift(1.0, random_state=0, **few),
        "BMS": BlurringMeanShift(1.0, **few),
        "MS": MeanShift(1.0, max_iter=2),
        "ModeSeek": ModeSeek(random_state=0, sketch=None),
    }[name]


def measure(job: dict[str, Any]) -> dict[str, Any]:
    warnings.simplefilter("ignore")
    rng = np.random.default_rng(0)
    n, d = job["rows"], job["features"]
    X = rng.normal(size=(n, d)) + 4 * rng.integers(0, 5, size=(n, 1))
    model = model_of(job["method"], n)
    model.fit(X[:3000])
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    model.fit(X)
    taken = 1024 * (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
    return {"taken": taken / 1e6, "estimated": model._memory(n, d, X.itemsize) / 1e6}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", default="20000,100000")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--job")
    arguments = parser.parse_args()
    if arguments.job:
        print(json.dumps(measure(json.loads(arguments.job))))
        return
    rows = []
    for n in (int(float(each)) for each in arguments.rows.split(",")):
        for features in SHAPES.values():
            for method in METHODS:
                job = {"method": method, "rows": n, "features": features}
                rows.append({**job, **in_fresh_process(str(Path(__file__)), job, LIMIT)})
                print(rows[-1], flush=True)
    cells = [
        (r["method"], f"{r['rows']:,}", str(r["features"]), f"{r.get('taken', np.nan):.0f}", f"{r['estimated']:.0f}")
        for r in rows
        if r["status"] == "ok"
    ]
    print(machine())
    print(table(("method", "rows", "features", "taken, MB", "estimated, MB"), cells))
    if arguments.out:
        write_csv(arguments.out, rows)


if __name__ == "__main__":
    main()
