"""Fuzz every reader of files for a bounded time, with atheris, and say what was tried and what was found.

    pip install atheris
    python fuzz/run.py --seconds 60

Each reader gets its share of the time, in a process of its own, one after the other. It begins with the inputs kept in
`fuzz/corpus`, and those that an earlier run left in the folder of findings; inputs that reach new code go there. A
finding is any end other than a result or a ValueError that names the file: an exception, a warning, a crash, an input
that takes longer than 20 seconds or more than 2 GB, a program started, a file written elsewhere. The status is 1 if
there is one. What was tried is kept as a table with `--results`.
"""

from __future__ import annotations

import argparse
import csv
import json
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

from harnesses import CORPUS, HARNESSES

HERE = Path(__file__).parent
LIMITS = ("-timeout=20", "-rss_limit_mb=4096", "-print_final_stats=1")


class Tally(NamedTuple):
    """What came of fuzzing one reader."""

    name: str
    seconds: float
    inputs: int
    taken: int
    edges: int
    corpus: int
    findings: int


def fuzz(name: str, seconds: int, found: Path, seed: int) -> Tally:
    """Fuzz one reader for a given number of seconds."""
    new = found / "corpus" / name
    new.mkdir(parents=True, exist_ok=True)
    before = len(list(new.iterdir()))
    # libFuzzer adds to the first folder and reads the second
    options = [str(new), str(CORPUS / name), f"-max_total_time={seconds}", f"-seed={seed}", *LIMITS]
    begin = time.monotonic()
    done = subprocess.run(
        [sys.executable, str(HERE / "one.py"), name, str(found), *options], stderr=subprocess.PIPE, text=True
    )
    took = time.monotonic() - begin
    log = done.stderr
    (found / f"{name}.log").write_text(log)
    corpus = len(list(new.iterdir())) - before
    tally = json.loads((found / f"{name}.json").read_text()) if (found / f"{name}.json").exists() else {}
    edges = [int(each) for each in re.findall(r"cov: (\d+)", log)]
    executed = re.findall(r"stat::number_of_executed_units: (\d+)", log)
    kinds = len(list(found.glob(f"{name}-[0-9a-f]*.txt"))) + len(list(found.glob(f"{name}-native-*")))
    # an end without a file is a finding too
    kinds = max(kinds, int(done.returncode != 0))
    inputs = int(executed[-1]) if executed else tally.get("inputs", 0)
    return Tally(name, took, inputs, tally.get("taken", 0), max(edges, default=0), corpus, kinds)


def main() -> int:
    """Fuzz all readers, or those named."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("readers", nargs="*", metavar="READER", help=f"which: {', '.join(HARNESSES)}; all if none")
    parser.add_argument("--seconds", type=int, default=60, help="in all; at least one each")
    parser.add_argument("--found", type=Path, default=Path("fuzz-found"), help="folder for findings and new inputs")
    parser.add_argument("--results", type=Path, help="table to write, as CSV")
    parser.add_argument("--seed", type=int, default=1, help="of libFuzzer's choices; 0 is another each time")
    chosen = parser.parse_args()
    names = chosen.readers or list(HARNESSES)
    if unknown := set(names) - set(HARNESSES):
        parser.error(f"no reader is called {', '.join(sorted(unknown))}; there are {', '.join(HARNESSES)}.")
    chosen.found.mkdir(parents=True, exist_ok=True)
    print("| reader | seconds | inputs | taken | edges | new in corpus | findings |\n|---|---|---|---|---|---|---|")
    tallies = []
    for name in names:
        each = fuzz(name, max(1, chosen.seconds // len(names)), chosen.found, chosen.seed)
        tallies.append(each)
        print(_row(each), flush=True)
        if chosen.results is not None:
            _write(chosen.results, tallies)
    print(_row(Tally("all", *(sum(column) for column in list(zip(*tallies, strict=True))[1:]))))
    return int(any(each.findings for each in tallies))


def _write(path: Path, tallies: list[Tally]) -> None:
    """Write the table; readers that were not tried this time stay in it as they were."""
    rows = {row[0]: row for row in csv.reader(path.read_text().splitlines()[1:])} if path.exists() else {}
    rows |= {each.name: [str(figure) for figure in each._replace(seconds=round(each.seconds))] for each in tallies}
    with path.open("w", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(Tally._fields)
        table.writerows(rows[name] for name in HARNESSES if name in rows)


def _row(each: Tally) -> str:
    figures = (f"{each.seconds:.0f}", *(f"{figure:,}" for figure in each[2:]))
    return f"| {each.name} | {' | '.join(figures)} |"


if __name__ == "__main__":
    sys.exit(main())
