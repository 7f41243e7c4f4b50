"""Shared helpers: machine description, measurements in a new process, CSV files, sections of a docs page."""

from __future__ import annotations

import argparse
import contextlib
import csv
import datetime
import gc
import importlib.metadata
import json
import os
import platform
import resource
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results"
THREADS = 2
PACKAGES = (
    "numpy",
    "scipy",
    "scikit-learn",
    "numba",
    "numba-cuda",
    "hdbscan",
    "fast-hdbscan",
    "mlpack",
    "genieclust",
    "scikit-image",
)


def processor() -> str:
    """Return the processor's name, with its widest vector instructions if they are known."""
    info = Path("/proc/cpuinfo")
    if not info.exists():
        return platform.processor()
    lines = dict(line.split(":", 1) for line in info.read_text().splitlines() if ":" in line)
    fields = {name.strip(): value.strip() for name, value in lines.items()}
    flags = fields.get("flags", "").split()
    widest = next((name for name in ("avx512f", "avx2", "avx") if name in flags), "no AVX")
    return f"{fields.get('model name', platform.processor())} ({widest})"


def machine() -> str:
    """Return processor, cores, date and versions in one line."""
    versions = []
    for name in PACKAGES:
        try:
            versions.append(f"{name} {importlib.metadata.version(name)}")
        except importlib.metadata.PackageNotFoundError:
            continue
    return (
        f"{processor()}, {os.cpu_count()} cores, {datetime.date.today():%d %B %Y}; "
        f"Python {platform.python_version()}, {', '.join(versions)}"
    )


def parser_of(description: str | None) -> argparse.ArgumentParser:
    """Return a parser with the options that every script has."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="small sizes: to see that it works, not to be quoted")
    parser.add_argument("--out", type=Path, help="write a CSV file")
    return parser


def memory() -> tuple[float, float]:
    """Return memory in use and its peak so far, in MB; off Linux both are the peak."""
    status = Path("/proc/self/status")
    if status.exists():
        fields = dict(line.split(":", 1) for line in status.read_text().splitlines())
        return tuple(int(fields[name].split()[0]) / 1024 for name in ("VmRSS", "VmHWM"))  # type: ignore[return-value]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)
    return peak, peak


def _forget_peak() -> None:
    """Reset the recorded peak to the memory in use; without system support, small peaks read 0."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return


def _worker_seconds() -> float:
    """Return the CPU time of the child processes, if the system reports it."""
    own = os.getpid()
    parents, spent = {}, {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rsplit(")", 1)[1].split()
        except OSError:  # it has just ended
            continue
        pid = int(path.parent.name)
        parents[pid], spent[pid] = int(fields[1]), (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    family = {own}
    while more := {pid for pid, parent in parents.items() if parent in family} - family:
        family |= more
    return sum(spent[pid] for pid in family - {own})


def measured(fit: Callable[[], Any], repeats: int, patience: float, limit: float) -> tuple[dict[str, Any], Any]:
    """Time a call several times in this process.

    Parameters
    ----------
    fit : callable
        The work, already warmed up.
    repeats : int
        Number of timed calls; fewer if they would take longer than `patience`.
    patience : float
        Seconds for all of them. If a first run takes less than a tenth of it, that run is not counted: it may still
        compile, or touch memory for the first time.
    limit : float
        Seconds for one run; beyond them the process ends, compiled code or not, and `in_fresh_process` says "time-out".

    Returns
    -------
    figures : dict
        Median wall and CPU seconds (all threads and worker processes), the number of runs behind them, the memory that
        the work added to this process at its peak and the peak of the whole process, in MB.
    result
        What the last call returned.
    """
    gc.collect()
    _forget_peak()
    before, _ = memory()
    walls: list[float] = []
    cpus: list[float] = []
    first = time.perf_counter()
    dropped = False
    while len(walls) < repeats:
        result = None  # freed before the next run, so that peaks do not add up
        signal.setitimer(signal.ITIMER_REAL, limit)
        workers = _worker_seconds()
        cpu, wall = time.process_time(), time.perf_counter()
        result = fit()
        walls.append(time.perf_counter() - wall)
        cpus.append(time.process_time() - cpu + _worker_seconds() - workers)
        signal.setitimer(signal.ITIMER_REAL, 0)
        if not dropped and repeats > 1 and walls[0] < patience / 10:
            walls.clear(), cpus.clear()
            dropped = True
        elif time.perf_counter() - first + walls[-1] > patience:
            break
    _, peak = memory()
    figures = {
        "wall_s": statistics.median(walls),
        "cpu_s": statistics.median(cpus),
        "repeats": len(walls),
        "added_mb": peak - before,
        "process_mb": peak,
    }
    return figures, result


def in_fresh_process(script: str, job: dict[str, Any], limit: float) -> dict[str, Any]:
    """Run `script --job JSON` in a new process and return the JSON object that it prints last.

    Its "status" is "ok", "time-out" or "failed". Libraries get `THREADS` threads at most. The limit includes
    imports and compilation; `measured` has a separate limit.
    """
    threads = dict.fromkeys(("OMP_NUM_THREADS", "NUMBA_NUM_THREADS", "OPENBLAS_NUM_THREADS"), str(THREADS))
    command = [sys.executable, "-W", "ignore", script, "--job", json.dumps(job)]
    # files, not pipes, and a group of its own: workers of a library may outlive the process and hold a pipe open
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as errors:
        child = subprocess.Popen(
            command, env={**os.environ, **threads}, stdout=out, stderr=errors, start_new_session=True
        )
        try:
            code = child.wait(limit)
        except subprocess.TimeoutExpired:
            code = -signal.SIGALRM
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)
            child.wait()
        out.seek(0), errors.seek(0)
        printed, complaints = out.read().strip().splitlines(), errors.read().strip().splitlines()
    if code == -signal.SIGALRM:
        return {"status": "time-out"}
    if code:
        return {"status": "failed", "message": complaints[-1] if complaints else f"exit status {code}"}
    return {"status": "ok", **json.loads(printed[-1])}


def write_csv(path: Path, rows: Sequence[dict[str, Any]]) -> None:
    """Write rows, with floats to four digits; the columns are in order of first occurrence."""
    columns = list(dict.fromkeys(name for row in rows for name in row))
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w", newline="") as file:
        writer = csv.DictWriter(file, columns, lineterminator="\n")
        writer.writeheader()
        for row in rows:
            writer.writerow({k: f"{v:.4g}" if isinstance(v, float) else v for k, v in row.items()})


def read_csv(path: Path) -> list[dict[str, str]]:
    """Return the rows of a CSV file as text."""
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def number(value: float) -> str:
    """Return two digits, without an exponent."""
    return f"{value:.0f}" if value >= 9.95 else f"{value:.1f}" if value >= 0.995 else f"{value:#.2g}"


def table(head: Sequence[str], rows: Iterable[Sequence[str]], left: int = 1) -> str:
    """Return a Markdown table, its first `left` columns aligned left and the others right."""
    rule = "|" + "|".join("---" if i < left else "--:" for i in range(len(head))) + "|"
    return "\n".join(["| " + " | ".join(head) + " |", rule, *("| " + " | ".join(row) + " |" for row in rows)])


def replace_section(page: Path, name: str, text: str) -> None:
    """Put text between the marks `<!-- name -->` and `<!-- end of name -->` of a page; the rest stays."""
    content = page.read_text()
    start, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
    if content.count(start) != 1 or content.count(end) != 1:
        raise SystemExit(f"{page} must have the lines {start} and {end} once each")
    before, rest = content.split(start)
    page.write_text(f"{before}{start}\n\n{text.strip()}\n\n{end}{rest.split(end)[1]}")
