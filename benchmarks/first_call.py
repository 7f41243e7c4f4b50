"""Measure the first run of `modeseek cluster` on a small table after the installation, and the second.

Run it as

    python benchmarks/first_call.py [--out FILE.csv] [FILE.csv]

Each run is a new process. The first has an empty folder for compiled functions, the second finds those of the first.
Wall and CPU seconds of the whole process are reported, imports included. The default table is `examples/penguins.csv`.
"""

from __future__ import annotations

import argparse
import csv
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TABLE = Path(__file__).parents[1] / "examples" / "penguins.csv"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", nargs="?", default=str(TABLE))
    parser.add_argument("--out")
    options = parser.parse_args()
    command = [sys.executable, "-m", "modeseek", "cluster", options.table]
    rows = [("run", "seconds", "cpu_seconds", "compiled_functions")]
    with tempfile.TemporaryDirectory() as folder:
        for run in ("first", "second"):
            before, start = _cpu_seconds(), time.perf_counter()
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=os.environ | {"NUMBA_CACHE_DIR": folder})
            seconds, cpu = time.perf_counter() - start, _cpu_seconds() - before
            rows.append((run, f"{seconds:.1f}", f"{cpu:.1f}", str(len(list(Path(folder).rglob("*.nbc"))))))
    for row in rows:
        print("{:<8}{:>10}{:>14}{:>20}".format(*row))
    if options.out:
        with open(options.out, "w", newline="") as file:
            csv.writer(file).writerows(rows)


def _cpu_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main()
