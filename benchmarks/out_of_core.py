"""Time and memory of `modeseek cluster` on files in blocks: an NPY of many rows, and a large CSV.

    python benchmarks/out_of_core.py FOLDER --rows 10000000 --csv 1000000000

Files are created in FOLDER if they do not exist. Peak memory is that of the whole process; the row for a file of 1,000
rows shows the share of the libraries.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path

import numpy as np

ALGORITHM = ["--algorithm", "dsms"]
AT_ONCE = 100_000


def rows_of(rng: np.random.Generator, centres: np.ndarray, n: int) -> np.ndarray:
    """Return points of eight Gaussians."""
    return centres[rng.integers(0, len(centres), n)] + 0.7 * rng.normal(size=(n, centres.shape[1]))


def make_npy(path: Path, n: int) -> None:
    """Write n rows of two float32."""
    rng = np.random.default_rng(0)
    centres = rng.uniform(-10, 10, (8, 2))
    array = np.lib.format.open_memmap(path, "w+", np.float32, (n, 2))
    for low in range(0, n, AT_ONCE):
        array[low : low + AT_ONCE] = rows_of(rng, centres, min(AT_ONCE, n - low))


def make_csv(path: Path, size: int) -> None:
    """Write lines with a name and three numbers, up to a number of bytes."""
    rng = np.random.default_rng(1)
    centres, n = rng.uniform(-10, 10, (8, 3)), 0
    with path.open("w") as stream:
        stream.write("name,a,b,c\n")
        while stream.tell() < size:
            rows = rows_of(rng, centres, AT_ONCE).tolist()
            stream.writelines(f"r{n + i},{a!r},{b!r},{c!r}\n" for i, (a, b, c) in enumerate(rows))
            n += AT_ONCE


def run(*arguments: str) -> tuple[float, float]:
    """Run the command; return seconds and the peak of its memory in MB."""
    start = time.perf_counter()
    child = os.spawnv(os.P_NOWAIT, sys.executable, [sys.executable, "-m", "modeseek", *arguments])
    _, status, usage = os.wait4(child, 0)
    if status:
        raise SystemExit(f"modeseek {' '.join(arguments)} ended with {status}")
    return time.perf_counter() - start, usage.ru_maxrss / 1024


def main() -> None:
    """Make files, run the command on them, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--csv", type=int, default=1_000_000_000)
    args = parser.parse_args()
    small, npy, csv = (args.folder / name for name in ("small.npy", f"rows{args.rows}.npy", f"bytes{args.csv}.csv"))
    for path, make, size in [(small, make_npy, 1000), (npy, make_npy, args.rows), (csv, make_csv, args.csv)]:
        if not path.exists():
            make(path, size)
    print("| file | MB | seconds | peak memory, MB |\n|---|---|---|---|")
    for path, target, more in [
        (small, "out.npy", []),
        (npy, "out.npy", []),
        (npy, "out.parquet", []),
        (csv, "out.csv", ["--ignore", "name"]),
    ]:
        output = ["-o", str(args.folder / target)]
        seconds, memory = run("cluster", str(path), *ALGORITHM, "--out-of-core", "-q", *more, *output)
        print(
            f"| {path.name} -> {target} | {path.stat().st_size / 1e6:,.0f} | {seconds:.0f} | {memory:,.0f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
