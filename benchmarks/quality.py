"""Measure the agreement of clusterings with known labels, on every set of a folder.

Run it as

    python benchmarks/quality.py --data DIR [--out FILE.csv] [--seeds 3] [--only PATTERN] [--methods A,B] [--jobs 1]
                                 [--report docs/quality.md]
    python benchmarks/quality.py --table FILE.csv [--report docs/quality.md]

DIR has a `manifest.json`, a list of entries with `name`, `kind` and `prep`, and for each a file `NAME.npz` with `X`
(n, d) and `y` (n,), -1 for rows that are clustered but not scored. `prep` is `std` (standardised columns) or `l2`
(unit rows; ours get `metric="cosine"`). No method has settings for a particular set.

Rows are written to --out as they are measured. A run with the same --out resumes: combinations of set, method and seed
that the file contains, including failures, are not measured again. `docs/quality.md` describes the measures. The
README has the first table of this page: `--report docs/quality.md` writes both.
"""

from __future__ import annotations

import argparse
import csv
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from fnmatch import fnmatch
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

from common import ROOT, machine, read_csv, replace_section
from labelled import METHODS, LabelledSet, Method, measure, read_sets
from quality_tables import by_kind, methods_of, tables

PAGE = ROOT / "docs" / "quality.md"
COLUMNS = (
    *("set", "kind", "n", "d", "k", "method", "seed", "ari", "ami", "k_paper", "k_weighted", "found", "noise"),
    *("seconds", "outcome", "note", "error", "machine"),
)


class Job(NamedTuple):
    """One measurement."""

    data: LabelledSet
    method: str
    seed: int

    @property
    def key(self) -> tuple[str, str, str]:
        """Key of the job in the file."""
        return self.data.name, self.method, str(self.seed)


def chosen_methods(names: str | None) -> list[Method]:
    """Return the methods of a comma-separated list, by default all that this version has."""
    by_name = {method.name.lower(): method for method in METHODS}
    chosen = METHODS if names is None else []
    for name in names.split(",") if names else ():
        if name.strip().lower() not in by_name:
            raise SystemExit(f"no method is called {name.strip()!r}; there are {', '.join(m.name for m in METHODS)}")
        chosen.append(by_name[name.strip().lower()])
    for method in chosen:
        if not method.there:
            print(f"skipped {method.name}: this version of modeseek does not have it", file=sys.stderr)
    there = [method for method in chosen if method.there]
    if not there:
        raise SystemExit("no method is left to run")
    return there


def chosen_sets(folder: Path, pattern: str | None) -> list[LabelledSet]:
    """Return the sets of a folder, or those whose name contains the pattern; * and ? are wildcards."""
    sets = read_sets(folder)
    found = [data for data in sets if pattern is None or fnmatch(data.name, f"*{pattern}*")]
    if not found:
        raise SystemExit(f"no set of {folder} has {pattern!r} in its name; there are {', '.join(s.name for s in sets)}")
    return found


def mend(path: Path) -> None:
    """Remove an incomplete last line."""
    if path.exists() and (content := path.read_bytes()) and not content.endswith(b"\n"):
        path.write_bytes(content[: content.rfind(b"\n") + 1])


def rows_so_far(path: Path | None) -> list[dict[str, str]]:
    """Return the rows of a file; none if it does not exist."""
    if path is None or not path.exists():
        return []
    mend(path)
    rows = read_csv(path)
    if rows and tuple(rows[0]) != COLUMNS:
        raise SystemExit(f"{path} has other columns than this script writes: give --out another name")
    return rows


def as_text(row: dict[str, Any]) -> dict[str, str]:
    """Return a row as text, with floats to four digits."""
    return {key: f"{v:.4g}" if isinstance(v := row.get(key, ""), float) else str(v) for key in COLUMNS}


def append(path: Path, row: dict[str, str]) -> None:
    """Append a row to a file, with a header if the file is new."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "a", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        if file.tell() == 0:
            writer.writeheader()
        writer.writerow(row)


def results(jobs: Sequence[Job], processes: int) -> Iterator[dict[str, Any]]:
    """Run the jobs in one or several processes, and yield rows as they finish."""
    if processes == 1:
        yield from (measure(*job) for job in jobs)
        return
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        for future in as_completed([pool.submit(measure, *job) for job in jobs]):
            yield future.result()


def line_of(row: dict[str, str]) -> str:
    """Return a row as a line for the terminal."""
    start = f"{row['set']:<24} {row['method']:<26} seed {row['seed']} {float(row['seconds']):>8.2f} s  "
    if row["error"]:
        return start + row["error"]
    noise = f" + {row['noise']} noise" if row["noise"] != "0" else ""
    more = "  ".join(part for part in (row["outcome"], row["note"]) if part)
    return start + f"ARI {float(row['ari']):.3f}, {row['found']} of {row['k']} clusters{noise}  {more}"


def run(jobs: Sequence[Job], out: Path | None, processes: int) -> list[dict[str, str]]:
    """Run the jobs that are not in the file; return all its rows."""
    rows = rows_so_far(out)
    done = {(row["set"], row["method"], row["seed"]) for row in rows}
    left = [job for job in jobs if job.key not in done]
    if len(left) < len(jobs):
        print(f"{len(jobs) - len(left)} of {len(jobs)} are in {out} already", file=sys.stderr)
    stated = machine()
    for count, measured in enumerate(results(left, processes), 1):
        row = as_text({**measured, "machine": stated})
        rows.append(row)
        if out:
            append(out, row)
        print(f"[{count}/{len(left)}] {line_of(row)}", file=sys.stderr, flush=True)
    return rows


def main(given: Sequence[str] | None = None) -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="folder with manifest.json and NAME.npz files")
    parser.add_argument("--out", type=Path, help="CSV file that rows are added to as they come")
    parser.add_argument("--seeds", type=int, default=3, help="how many: 0, 1, ... (default 3)")
    parser.add_argument("--only", metavar="PATTERN", help="sets whose name has this in it")
    parser.add_argument("--methods", metavar="A,B", help="some of: " + ", ".join(method.name for method in METHODS))
    parser.add_argument("--jobs", type=int, default=1, help="processes (default 1)")
    parser.add_argument("--table", type=Path, metavar="CSV", help="measure nothing: print the tables of this file")
    parser.add_argument("--report", type=Path, help="page whose section is replaced")
    parser.add_argument("--section", default="quality", help="name of the section in --report (default quality)")
    arguments = parser.parse_args(given)
    if (arguments.data is None) == (arguments.table is None):
        parser.error("give --data to measure, or --table to show what a file has")
    if arguments.seeds < 1 or arguments.jobs < 1:
        parser.error("--seeds and --jobs must be 1 or more")
    if arguments.table:
        if not arguments.table.is_file():
            raise SystemExit(f"there is no file {arguments.table}")
        rows = read_csv(arguments.table)
    else:
        methods, sets = chosen_methods(arguments.methods), chosen_sets(arguments.data, arguments.only)
        # seeds outermost: an interrupted run has whole seeds
        jobs = [Job(data, m.name, seed) for seed in range(arguments.seeds) for data in sets for m in methods]
        rows = run(jobs, arguments.out, arguments.jobs)
    if not rows:
        raise SystemExit("no rows: nothing to show")
    text = tables(rows)
    print(text)
    if arguments.report:
        replace_section(ROOT / arguments.report, arguments.section, text)
        if (ROOT / arguments.report, arguments.section) == (PAGE, "quality"):
            replace_section(ROOT / "README.md", "quality", by_kind(rows, methods_of(rows)))


if __name__ == "__main__":
    main()
