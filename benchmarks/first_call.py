"""Measure the first run of `modeseek cluster` on a small table after the installation, and the second.

Run it as

    python benchmarks/first_call.py [--out FILE.csv] [FILE.csv]
    python benchmarks/first_call.py --functions

Each run is a new process. The first has an empty folder for compiled functions, the second finds those of the first.
Wall and CPU seconds of the whole process and of a helper that compiles are reported, imports included. The default
table is `examples/penguins.csv`.

With --functions, the list of the functions that such a run compiles is written to
`src/modeseek/cli/compiled_functions.txt`.
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
from typing import Any

import numpy as np

from modeseek import ModeSeek
from modeseek._common.jit import CompiledFunction
from modeseek.cli.compiling import FUNCTIONS

TABLE = Path(__file__).parents[1] / "examples" / "penguins.csv"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", nargs="?", default=str(TABLE))
    parser.add_argument("--out")
    parser.add_argument("--functions", action="store_true")
    options = parser.parse_args()
    if options.functions:
        FUNCTIONS.write_text("\n".join(called_functions()) + "\n")
        return
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


def called_functions() -> list[str]:
    """Return what ModeSeek calls for a small table, by first call: lines that `listed_function` reads."""
    lines: dict[str, None] = {}
    call = CompiledFunction.__call__

    def recorded(function: CompiledFunction, *arguments: Any) -> Any:
        name = function.py_func
        lines[f"{name.__module__}.{name.__name__}({', '.join(map(_type_of, arguments))})"] = None
        return call(function, *arguments)

    rows = np.random.default_rng(0).normal(size=(342, 5))
    rows[:150] += 4.0
    CompiledFunction.__call__ = recorded  # type: ignore[method-assign]
    try:
        ModeSeek().fit(rows)
    finally:
        CompiledFunction.__call__ = call  # type: ignore[method-assign]
    return list(lines)


def _type_of(argument: Any) -> str:
    if isinstance(argument, tuple):  # a named tuple
        return f"{type(argument).__name__}<{' '.join(map(_type_of, argument))}>"
    array = np.asarray(argument)
    return array.dtype.str[1:] + (f"[{array.ndim}]" if array.ndim else "")


def _cpu_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main()
