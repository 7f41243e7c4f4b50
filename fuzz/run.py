"""Fuzz every reader of files for a bounded time, with atheris, and say what was tried and what was found.

    pip install atheris
    python fuzz/run.py --seconds 60

Each reader gets its share of the time, in a process of its own, one after the other. It begins with the inputs kept in
`fuzz/corpus`. A finding is any end other than a result or a ValueError that names the file: an exception, a warning, a
crash, an input that takes longer than 20 seconds or more than 4 GB. The status is 1 if there is one.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from harnesses import CORPUS, HARNESSES

HERE = Path(__file__).parent
LIMITS = ("-timeout=20", "-rss_limit_mb=4096", "-print_final_stats=1")
# bytes of inputs that `--keep` adds for a reader
KEPT = 6_000


class Tally(NamedTuple):
    """What came of fuzzing one reader."""

    name: str
    seconds: float
    inputs: int
    taken: int
    edges: int
    corpus: int
    findings: int


def fuzz(name: str, seconds: int, found: Path, keep: bool, seed: int) -> Tally:
    """Fuzz one reader for so many seconds."""
    with tempfile.TemporaryDirectory() as work:
        # libFuzzer adds to the first folder and reads the second
        options = [work, str(CORPUS / name), f"-max_total_time={seconds}", f"-seed={seed}", *LIMITS]
        begin = time.monotonic()
        done = subprocess.run(
            [sys.executable, str(HERE / "one.py"), name, str(found), *options], stderr=subprocess.PIPE, text=True
        )
        took = time.monotonic() - begin
        log = done.stderr
        (found / f"{name}.log").write_text(log)
        new = sorted(Path(work).iterdir(), key=lambda path: path.stat().st_size)
        if keep:
            room = KEPT
            for path in new:
                room -= path.stat().st_size
                if room >= 0:
                    shutil.copy(path, CORPUS / name / path.name[:16])
        corpus = len(new)
    tally = json.loads((found / f"{name}.json").read_text()) if (found / f"{name}.json").exists() else {}
    edges = [int(each) for each in re.findall(r"cov: (\d+)", log)]
    executed = re.findall(r"stat::number_of_executed_units: (\d+)", log)
    kinds = len(list(found.glob(f"{name}-*.txt"))) + len(list(found.glob(f"{name}-native-*")))
    # an end without a file is a finding too
    kinds = max(kinds, int(done.returncode != 0))
    inputs = int(executed[-1]) if executed else tally.get("inputs", 0)
    return Tally(name, took, inputs, tally.get("taken", 0), max(edges, default=0), corpus, kinds)


def main() -> int:
    """Fuzz all readers, or those named."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("readers", nargs="*", metavar="READER", help=f"which: {', '.join(HARNESSES)}; all if none")
    parser.add_argument("--seconds", type=int, default=60, help="in all; at least one each")
    parser.add_argument("--found", type=Path, default=Path("fuzz-found"), help="folder for findings")
    parser.add_argument(
        "--keep", action="store_true", help="add the smallest inputs that reached new code to the corpus"
    )
    parser.add_argument("--seed", type=int, default=1, help="of libFuzzer's choices; 0 is another each time")
    chosen = parser.parse_args()
    names = chosen.readers or list(HARNESSES)
    if unknown := set(names) - set(HARNESSES):
        parser.error(f"no reader is called {', '.join(sorted(unknown))}; there are {', '.join(HARNESSES)}.")
    chosen.found.mkdir(parents=True, exist_ok=True)
    print("| reader | seconds | inputs | taken | edges | new in corpus | findings |\n|---|---|---|---|---|---|---|")
    tallies = []
    for name in names:
        each = fuzz(name, max(1, chosen.seconds // len(names)), chosen.found, chosen.keep, chosen.seed)
        tallies.append(each)
        print(_row(each), flush=True)
    print(_row(Tally("all", *(sum(column) for column in list(zip(*tallies, strict=True))[1:]))))
    return int(any(each.findings for each in tallies))


def _row(each: Tally) -> str:
    figures = (f"{each.seconds:.0f}", *(f"{figure:,}" for figure in each[2:]))
    return f"| {each.name} | {' | '.join(figures)} |"


if __name__ == "__main__":
    sys.exit(main())
