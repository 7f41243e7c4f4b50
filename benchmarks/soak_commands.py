"""Test the command line for a given time under injected faults: full disks, limits on files and memory, signals, kills.

Run it as

    python benchmarks/soak_commands.py --minutes 60 [--seed 0] [--out FILE.csv] [--report docs/trust.md]
    python benchmarks/soak_commands.py --round 123 [--seed 0]

A round generates data, chooses a command, and runs it without a fault, for reference. It then runs the command under
up to three faults in a folder that also holds other files of the user, and finally once more without a fault. `Round`
says what must hold. The seed and the number of a round determine its data, command and faults, except that the times of
signals depend on the speed of the machine. Commands run in forked children of this process, which has loaded the
package, so that a round takes less time. Linux only; the small disk needs permission to mount a tmpfs, and without it
these faults are left out.
"""

from __future__ import annotations

import bz2
import faulthandler
import gzip
import io
import json
import lzma
import os
import re
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow.feather import write_feather

from common import machine, parser_of, read_csv, replace_section, table, write_csv
from modeseek import DoublyStochasticMeanShift, MeanShift, ModeSeek
from modeseek.cli import app
from modeseek.io import read_model
from modeseek.prepare import read_table

FAULTS = ("small disk", "file size limit", "memory limit", "SIGKILL", "SIGINT", "SIGTERM")
# minutes between two lines of the log
EVERY = 5.0
NAMES = ("minutes", "rounds", "commands", "violations")
# exit statuses that any fault may give: done, refused; and those of single faults
STATUSES = (0, 2)
STATUSES_OF = {
    "SIGKILL": (-signal.SIGKILL,),
    "SIGINT": (130,),
    # by the default action of the system if the command has not installed its handler, or has removed it
    "SIGTERM": (143, -signal.SIGTERM),
    # some libraries end the process if an allocation fails
    "memory limit": (-signal.SIGABRT, -signal.SIGSEGV),
}
RESULT_SO_FAR = re.compile("interrupted: the result so far was written to (.*)\\.")
# seconds after which a command is held to hang; long, because the machine may be busy
HANGS = 1200.0
# how text is compressed, by the ending of its name
PACK: dict[str, Callable[[bytes], bytes]] = {
    ".gz": partial(gzip.compress, mtime=0),
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".zst": partial(pa.compress, codec="zstd", asbytes=True),
    ".zip": lambda text: zipped(text),
}
SUFFIXES = ("csv", "tsv", "npy", "npz", "parquet", "arrow", "jsonl", "xlsx", "db", "duckdb", *(f"csv{e}" for e in PACK))
# endings of files that are read in chunks
CHUNKED = (".csv", ".tsv", ".npy", ".parquet", *PACK)
# temporary files, which may remain after SIGKILL only
TEMPORARY = re.compile(r"\..+\.[0-9a-f]{16}\.\w+")
# numbers of a JSON summary that differ between runs
TIMES = re.compile(rb'"(seconds|time|peak_memory|resumed)[^,\n]*')


class Violation(AssertionError):
    """Something that must hold did not."""


def zipped(text: bytes) -> bytes:
    """Return an archive with one file."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("rows.csv", text)
    return stream.getvalue()


def write_rows(rng: np.random.Generator, folder: Path) -> Path:
    """Write a table with an identifier of 19 digits in each row, in a random format."""
    n = int(rng.choice([60, 400, 3000]))
    centers = rng.normal(0, 5, (int(rng.integers(1, 5)), 2))
    X = centers[rng.integers(0, len(centers), n)] + rng.normal(0, 0.3, (n, 2))
    suffix = str(rng.choice(SUFFIXES))
    path = folder / f"rows.{suffix}"
    ids = 9_007_199_254_740_993_000 + np.arange(n)
    columns = pa.table({"id": ids, "x": X[:, 0], "y": X[:, 1]})
    if suffix.startswith(("csv", "tsv")):
        mark = "\t" if suffix == "tsv" else ","
        cells = [("id", "x", "y"), *((str(i), repr(x), repr(y)) for i, (x, y) in zip(ids, X.tolist(), strict=True))]
        lines = [mark.join(row) for row in cells]
        text = ("\n".join(lines) + "\n").encode()
        path.write_bytes(PACK[path.suffix](text) if path.suffix in PACK else text)
    elif suffix == "parquet":
        pq.write_table(columns, path)
    elif suffix == "arrow":
        write_feather(columns, str(path))
    elif suffix == "jsonl":
        path.write_text("".join(f"{json.dumps(row)}\n" for row in columns.to_pylist()))
    elif suffix == "xlsx":
        book = openpyxl.Workbook()
        for row in (columns.column_names, *(list(each.values()) for each in columns.to_pylist())):
            # numbers of a spreadsheet have 15 digits
            book.active.append([str(row[0]), *row[1:]])
        book.save(path)
    elif suffix in ("db", "duckdb"):
        with closing(sqlite3.connect(path) if suffix == "db" else duckdb.connect(str(path))) as connection:
            connection.execute("CREATE TABLE rows (id BIGINT, x DOUBLE, y DOUBLE)")
            connection.executemany(
                "INSERT INTO rows VALUES (?, ?, ?)", [list(each.values()) for each in columns.to_pylist()]
            )
            connection.commit()
    elif suffix == "npy":
        np.save(path, X)
    else:
        np.savez_compressed(path, X=X)
    return path


def command_of(rng: np.random.Generator, folder: Path) -> tuple[list[str], list[str]]:
    """Return a command and the names of its output files; write its input."""
    kind = rng.choice(["cluster", "cluster", "chunks", "chunks", "chunks", "label", "segment", "diarize"])
    if kind == "segment":
        from PIL import Image

        pixels = np.repeat(np.repeat(rng.integers(0, 255, (3, 4, 3), np.uint8), 8, 0), 8, 1)
        Image.fromarray(pixels).save(folder / "image.png")
        outputs = [f"out.{rng.choice(['png', 'tif', 'npy'])}", "over.png", "out.json"]
        return ["segment", "image.png", "-o", outputs[0], "--overlay", "over.png", "--json", "out.json"], outputs
    if kind == "diarize":
        voices = rng.normal(size=(3, 16))
        X = voices[np.repeat([0, 1, 2, 0], 20)] + 0.1 * rng.normal(size=(80, 16))
        np.savez_compressed(folder / "speech.npz", X=X, times=np.arange(80)[:, None] * 0.5 + [0, 1])
        return ["diarize", "speech.npz", "-o", "out.rttm", "--json", "out.json"], ["out.rttm", "out.json"]
    source = write_rows(rng, folder)
    ignore = ["--ignore", "id"] if source.suffix not in (".npy", ".npz") else []
    algorithm = ["--algorithm", str(rng.choice(["modeseek", "ms", "dsms"]))]
    chunked = kind == "chunks" and source.suffix in CHUNKED
    numeric = [] if ignore else [".npy"] if chunked else [".npy", ".npz"]
    whole = [] if chunked else [".jsonl", ".arrow"]
    target = "out" + str(rng.choice([".csv", ".tsv", ".parquet", *numeric, *whole]))
    if kind == "label":
        run(["cluster", source.name, *ignore, "--algorithm", "ms", "--save", "model.modeseek", "--quiet"], folder)
        return ["label", "model.modeseek", source.name, "-o", target], [target]
    given = ["cluster", source.name, *ignore, *algorithm, "-o", target, "--json", "out.json"]
    outputs = [target, "out.json"]
    # in the order in which the command names them
    for option, name, share in (
        ("--plot", "out.png", 0.1),
        ("--report", "out.html", 0.1),
        ("--save", "out.modeseek", 0.5),
    ):
        if rng.random() < share:
            given, outputs = [*given, option, name], [*outputs, name]
    if chunked:
        given.append("--out-of-core")
    return given, outputs


class Ending:
    """How a command ended: its status, seconds, and what it printed."""

    def __init__(self, status: int, seconds: float, error: str):
        self.status, self.seconds, self.error = status, seconds, error


def run(arguments: list[str], folder: Path, fault: str = "", amount: float = 0.0) -> Ending:
    """Run a command in a forked child, with a fault; `amount` is a size in bytes or a time in seconds."""
    log = folder.parent / "log"
    log.write_bytes(b"")
    sys.stdout.flush()
    start = time.monotonic()
    child = os.fork()
    if child == 0:
        status = 130  # Ctrl-C before or after the command
        try:
            status = _become(arguments, folder, log, fault, amount)
        finally:
            os._exit(status)
    if fault.startswith("SIG"):
        _wait(child, amount)
        os.kill(child, getattr(signal, fault))
    hangs = not _wait(child, HANGS)
    if hangs:
        os.kill(child, signal.SIGKILL)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if hangs:
        raise Violation(f"modeseek {' '.join(arguments)} did not end within {HANGS:.0f} s ({fault})")
    return Ending(status, time.monotonic() - start, log.read_text(errors="replace"))


def _wait(child: int, seconds: float) -> bool:
    """Wait until a process has ended, but not longer; return whether it has."""
    until, options = time.monotonic() + seconds, os.WEXITED | os.WNOWAIT | os.WNOHANG
    while os.waitid(os.P_PID, child, options) is None:
        if time.monotonic() >= until:
            return False
        time.sleep(0.005)
    return True


def _become(arguments: list[str], folder: Path, log: Path, fault: str, amount: float) -> int:
    """Turn this process into the command; return its exit status."""
    status = 99
    try:
        descriptor = os.open(log, os.O_CREAT | os.O_TRUNC | os.O_WRONLY)
        os.dup2(descriptor, 1)
        os.dup2(descriptor, 2)
        sys.stdout = io.TextIOWrapper(os.fdopen(1, "wb"), encoding="utf-8")
        sys.stderr = io.TextIOWrapper(os.fdopen(2, "wb", 0), encoding="utf-8", write_through=True)
        faulthandler.enable(sys.stderr)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        os.chdir(folder)
        if fault == "file size limit":
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # as Python does at its start
            resource.setrlimit(resource.RLIMIT_FSIZE, (int(amount), int(amount)))
        if fault == "memory limit":
            used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
            resource.setrlimit(resource.RLIMIT_AS, (used + int(amount), used + int(amount)))
        sys.argv = ["modeseek", *arguments]
        app()
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else 0
    except KeyboardInterrupt:
        status = 130  # before the command has installed its handlers
    except BaseException:
        traceback.print_exc()
    sys.stdout.flush()
    return status


class Round:
    """One round. The following must hold.

    - status: 0 or 2; 130 after SIGINT, 143 after SIGTERM; no traceback. Under a memory limit, a library may end the
      process.
    - outputs: after status 0 each output file is the one of the reference. Otherwise it is that one or the one from
      before the command, never a part of one. One exception: see `_check_early`.
    - others: all other files of the folder are unchanged, and no new ones remain except the work folder of an
      unfinished run in chunks and, if the process was killed, hidden temporary files.
    - again: the same command without a fault then gives the reference, and leaves nothing else.
    """

    def __init__(self, seed: int, number: int, small_disk: Path | None):
        self.rng = np.random.default_rng([seed, number])
        self.small_disk, self.counts = small_disk, Counter[str]()
        self.killed = False

    def play(self, folder: Path) -> Counter[str]:
        """Do it; raise `Violation` if something did not hold."""
        rng, clean = self.rng, folder / "clean"
        clean.mkdir()
        self.arguments, self.outputs = command_of(rng, clean)
        inputs = {path.name: path.read_bytes() for path in clean.iterdir()}
        ending = self._run(clean, "")
        self._require(ending.status == 0, f"without a fault the status is {ending.status}", ending)
        self.reference = {name: self._content(clean / name) for name in self.outputs}
        self.seconds, size = ending.seconds, sum(map(len, self.reference.values()))
        faults = [str(rng.choice(FAULTS)) for _ in range(int(rng.integers(1, 4)))]
        use_disk = self.small_disk is not None and "small disk" in faults
        self.folder = self.small_disk if use_disk and self.small_disk else folder / "work"
        self.folder.mkdir(exist_ok=True)
        try:
            self._prepare(inputs)
            for fault in faults:
                if fault != "small disk" or use_disk:
                    self._fault(fault, size)
            ending = self._run(self.folder, "")
            self._require(ending.status == 0, f"after {faults} the status without a fault is {ending.status}", ending)
            self._check(ending, "again")
        finally:
            shutil.rmtree(self.folder / "own", ignore_errors=True)
            for path in self.folder.iterdir():
                shutil.rmtree(path) if path.is_dir() else path.unlink()
        return self.counts

    def _prepare(self, inputs: dict[str, bytes]) -> None:
        """Put the inputs, files of the user and, often, older outputs into the folder."""
        own = {
            ".out.20260101.csv": b"own",
            "out.csv.modeseek.txt": b"own",
            "out.csv.part": b"own",
            "own/thesis": b"own",
        }
        (self.folder / "own").mkdir()
        for name, content in (inputs | own).items():
            (self.folder / name).write_bytes(content)
        self.others = {name: content for name, content in (inputs | own).items() if name not in self.outputs}
        self.old = dict.fromkeys(self.outputs, b"old") if self.rng.random() < 0.5 else {}
        for name, content in self.old.items():
            (self.folder / name).write_bytes(content)

    def _fault(self, fault: str, size: int) -> None:
        amount = float(self.rng.random()) * self.seconds if fault.startswith("SIG") else 0.0
        ballast = self.folder / "ballast"
        if fault == "file size limit":
            amount = float(self.rng.random()) * size * 1.2
        elif fault == "memory limit":
            amount = float(self.rng.random()) * 2e8
        elif fault == "small disk":
            space = shutil.disk_usage(self.folder).free - int(self.rng.random() * 3 * size)
            ballast.write_bytes(bytes(max(0, space)))
        ending = self._run(self.folder, "" if fault == "small disk" else fault, amount)
        ballast.unlink(missing_ok=True)
        self.counts[fault] += 1
        if ending.status != 0:
            self.counts[f"{fault}: ended with another status than 0"] += 1
        self._check(ending, fault)

    def _run(self, folder: Path, fault: str, amount: float = 0.0) -> Ending:
        self.counts["commands"] += 1
        return run(self.arguments, folder, fault, amount)

    def _check(self, ending: Ending, fault: str) -> None:
        native = ending.status in (-signal.SIGABRT, -signal.SIGSEGV)
        if native:
            self.counts["memory limit: ended by a library"] += 1
        allowed = (*STATUSES, *STATUSES_OF.get(fault, ()))
        self._require(ending.status in allowed, f"{fault}: status {ending.status}", ending)
        self._require(native or "Traceback" not in ending.error, f"{fault}: traceback", ending)
        # a process that was killed, also by a library, cannot remove its temporary files
        self.killed |= native or ending.status == -signal.SIGKILL
        written = RESULT_SO_FAR.search(ending.error)
        if written is not None:
            self._check_early(ending, written[1])
        found = {str(path.relative_to(self.folder)): path for path in self.folder.rglob("*") if path.is_file()}
        for name in self.outputs:
            content = self._content(found.pop(name)) if name in found else None
            right = content == self.reference[name]
            kept = ending.status != 0 and (content is None or content == self.old.get(name))
            if written is None:
                self._require(right or kept, f"{fault}: {name} is neither the old nor the new one", ending)
            if content is not None:
                self.old[name] = content
        for name, content in self.others.items():
            self._require(name in found, f"{fault}: {name} is gone", ending)
            self._require(found.pop(name).read_bytes() == content, f"{fault}: {name} has changed", ending)
        for name in found:
            unfinished = "--out-of-core" in self.arguments and ending.status != 0
            work = unfinished and name.partition("/")[0] == f"{self.outputs[0]}.modeseek"
            left = self.killed and TEMPORARY.fullmatch(name.partition("/")[0]) is not None
            self.counts["temporary files left by a kill"] += left
            self._require(work or left, f"{fault}: {name} is left", ending)

    def _check_early(self, ending: Ending, names: str) -> None:
        """Check the result so far, which SIGINT and SIGTERM during a fit in memory leave.

        The command names all of its outputs, and all are of the same interrupted fit: the file of rows has the columns
        of the input with unchanged cells and one label for each row; the JSON says "interrupted" and counts these
        labels; the model file loads and gives them.
        """

        def require(condition: Any, text: str) -> None:
            self._require(condition, f"result so far: {text}", ending)

        def number(cell: Any) -> float:
            return int(str(cell)) if str(cell).isdigit() else float(cell)

        self.counts["result so far"] += 1
        require(ending.status in (130, 143), f"status {ending.status}")
        require(self.arguments[0] == "cluster" and "--out-of-core" not in self.arguments, "not a fit in memory")
        require(names == ", ".join(f"'{name}'" for name in self.outputs), f"written to {names}")
        paths = [self.folder / name for name in self.outputs]
        require(all(path.is_file() for path in paths), "an output is missing")
        source, rows = read_table(str(self.folder / self.arguments[1])), read_table(str(paths[0]))
        for cells, written in zip(source.cells, rows.cells, strict=False):
            require(list(map(number, cells)) == list(map(number, written)), "a cell differs from the input")
        added = rows.columns[len(source.columns) :]
        require(len(added) in (1, 2), f"the columns {added} were added")
        labels = np.array(rows.cells[len(source.columns)], float)
        record = json.loads(paths[1].read_text())
        require(record["outcome"] == "interrupted" and not record["converged"], f"outcome {record['outcome']}")
        sizes = [each["size"] for each in record["clusters"]]
        require(sizes == [int((labels == each).sum()) for each in range(len(sizes))], "JSON counts other labels")
        require(record["n_noise"] == (labels == -1).sum() and record["n_rows"] == len(labels), "JSON counts other rows")
        if "out.modeseek" in self.outputs:
            model = read_model(self.folder / "out.modeseek").model
            require((model.labels_ == labels).all(), "the model has other labels")

    def _content(self, path: Path) -> bytes:
        content = path.read_bytes()
        return TIMES.sub(b"", content) if path.suffix == ".json" else content

    def _require(self, condition: Any, text: str, ending: Ending) -> None:
        if not condition:
            raise Violation(f"{text}: modeseek {' '.join(self.arguments)}\n{ending.error[-3000:]}")


@contextmanager
def workplace() -> Iterator[tuple[Path, Path | None]]:
    """Yield a new folder and a small file system in it, or None if mounting is not allowed."""
    with tempfile.TemporaryDirectory(prefix="soak-") as name:
        disk = Path(name, "disk")
        disk.mkdir()
        mount = ["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", str(disk)]
        done = subprocess.run(mount, capture_output=True, check=False)
        try:
            yield Path(name), disk if done.returncode == 0 else None
        finally:
            if done.returncode == 0:
                subprocess.run(["umount", str(disk)], check=False)


def warm_up() -> None:
    """Load compiled code once, for all children."""
    X = np.random.default_rng(0).normal(size=(60, 2))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for model in (ModeSeek(random_state=0), MeanShift(), DoublyStochasticMeanShift(random_state=0)):
            model.fit(X).predict(X)
            model.partial_fit(X).finalize()


def soak(minutes: float, seed: int, out: Path | None) -> list[dict[str, str]]:
    """Run rounds for a given time; return lines of a log."""
    counts, rows = Counter[str](), list[dict[str, str]]()
    about, number, violations, began, shown_at = machine(), 0, 0, time.monotonic(), 0.0
    warm_up()
    with workplace() as (base, disk):
        while shown_at < minutes:
            with tempfile.TemporaryDirectory(dir=base) as folder:
                played = Round(seed, number, disk)
                try:
                    played.play(Path(folder))
                except Violation as violation:
                    violations += 1
                    print(f"round {number}: {violation}", flush=True)
                counts += played.counts
            number, passed = number + 1, (time.monotonic() - began) / 60
            if passed >= min(shown_at + EVERY, minutes):
                shown_at = passed
                line = {"minutes": f"{passed:.1f}", "rounds": number, "violations": violations, **counts}
                rows.append({name: str(value) for name, value in {**line, "seed": seed, "about": about}.items()})
                print({name: value for name, value in rows[-1].items() if name != "about"}, flush=True)
                if out:
                    write_csv(out, rows)
    return rows


def report(rows: list[dict[str, str]]) -> str:
    """Return the log and the counts as tables."""
    log = table(NAMES, [[row[name] for name in NAMES] for row in rows])
    last = rows[-1]
    names = [name for name in last if name not in (*NAMES, "seed", "about") and last[name]]
    events = table(("event", "times"), [[name, last[name]] for name in names])
    return f"{log}\n\n{events}\n\nSeed {last['seed']}. {last['about']}."


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--round", type=int, help="repeat this round and say what did not hold")
    parser.add_argument("--table", action="store_true", help="show the content of the CSV file of --out")
    parser.add_argument("--report", type=Path, help="replace the section of this page")
    given = parser.parse_args()
    if given.round is not None:
        with workplace() as (base, disk):
            print(dict(Round(given.seed, given.round, disk).play(base)))
        return
    rows = read_csv(given.out) if given.table else soak(0.2 if given.quick else given.minutes, given.seed, given.out)
    print(report(rows))
    if given.report:
        replace_section(given.report, "soak of commands", report(rows))
    sys.exit(int(rows[-1]["violations"]) > 0)


if __name__ == "__main__":
    main()
