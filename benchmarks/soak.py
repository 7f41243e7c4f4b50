"""Test the library's guarantees for a given time: random data and settings, kills, Ctrl-C and damaged files.

Run it as

    python benchmarks/soak.py --minutes 30 [--seed 0] [--out FILE.csv] [--report docs/trust.md]
    python benchmarks/soak.py --round 1234 [--seed 0]
    python benchmarks/soak.py --again 12 [--seed 0] [--out FILE.csv] [--report docs/trust.md]

The seed and the number of a round determine its data, estimator and settings; the second command repeats one round. The
third command repeats the first rounds several times: memory that still grows is a leak, because all code is compiled
already. The times of kills are random. Linux and macOS only, because it forks.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numba.core.dispatcher import Dispatcher
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

import modeseek
from common import ROOT, machine, memory, parser_of, read_csv, replace_section, table, write_csv
from modeseek import io
from modeseek._common.hints import AdviceWarning, CheckpointWarning
from modeseek._storage.errors import DataError
from modeseek.meanshift import theory
from modeseek.meanshift.bandwidth import Shrinking
from modeseek.meanshift.chains import Outcome, Stopping, doubly_stochastic, make_problem, partition, run, stochastic
from modeseek.meanshift.engines import ENGINES
from modeseek.meanshift.kernels.profiles import get_profile

CHAINS = ("DoublyStochasticMeanShift", "StochasticMeanShift", "BlurringMeanShift")
ESTIMATORS = (*CHAINS, *CHAINS, "MeanShift", "ModeSeek")
KINDS = ("plain", "plain", "copies", "line", "lattice", "far", "tiny", "huge", "mixed", "equal", "single precision")
# minutes between two lines of the log
EVERY = 5.0
# rounds that are repeated to find memory leaks
FIRST = 25
# seconds after which a forked process is killed
PATIENCE = 120
# exit status of a forked process: it ended, Ctrl-C left a partial result, or a guarantee was violated
DONE, PARTIAL, BROKEN = 0, 10, 20


class Violation(AssertionError):
    """A guarantee that was violated."""


def held(condition: Any, text: str) -> None:
    """Record a violated guarantee."""
    if not condition:
        raise Violation(text)


def rows_of(rng: np.random.Generator) -> np.ndarray:
    """Make data: ordinary and degenerate."""
    n, d = int(np.exp(rng.uniform(0.0, np.log(300)))), int(rng.choice([1, 2, 2, 2, 3, 5, 16]))
    rows = rng.normal(size=(n, d)) + rng.integers(0, 3, size=(n, 1)) * 4.0
    kind = str(rng.choice(KINDS))
    if kind == "copies":
        rows = rows[rng.integers(0, max(1, n // 3), n)]
    elif kind == "line":
        rows = rng.normal(size=(n, 1)) * rng.normal(size=(1, d))
    elif kind == "lattice":
        rows = rng.integers(0, 5, size=(n, d))
    elif kind == "equal":
        rows = np.repeat(rows[:1], n, axis=0)
    elif kind == "mixed":
        rows = rows * 10.0 ** rng.integers(-3, 4, size=d)
    else:
        rows = {"far": rows + 1e9, "tiny": rows * 1e-100, "huge": rows * 1e100}.get(kind, rows)
    return rows.astype(np.float32) if kind == "single precision" else rows


def model_of(rng: np.random.Generator, X: np.ndarray) -> Any:
    """Make an estimator with bandwidths near the scale of the data."""
    name = str(rng.choice(ESTIMATORS))
    cosine = rng.random() < 0.15 and (np.linalg.norm(X.astype(np.float64), axis=1) > 0).all()
    options: dict[str, Any] = {"metric": "cosine" if cosine else "euclidean"}
    if name == "ModeSeek":
        return modeseek.ModeSeek(random_state=int(rng.integers(1000)), **options)
    spread = 1.0 if cosine else float(np.linalg.norm(X.astype(np.float64).std(axis=0))) or 1.0
    h = spread * float(rng.uniform(0.2, 1.2))
    options["profile"] = str(rng.choice(["biweight", "biweight", "triweight", "gaussian", "flat"]))
    if name != "MeanShift":
        options["max_updates"] = 60 * len(X)
    if name in CHAINS[:2]:
        options["random_state"] = int(rng.integers(1000))
        options["n_chains"] = int(rng.choice([1, 1, 1, 3]))
        options["order"] = str(rng.choice(["random", "random", "reshuffled"]))
        options["batch_size"] = int(rng.choice([1, 1, 1, 4]))
    if name == CHAINS[0]:
        options |= {"h_min": h / 2, "h_max": 2 * h, "h_inf": h} if rng.random() < 0.7 else {}
        options["policy"] = str(rng.choice(["shrinking", "shrinking", "uniform", "anchored", "walk"]))
    elif rng.random() < 0.7:
        options["bandwidth"] = h
    return getattr(modeseek, name)(**options)


class Round:
    """One round: data, an estimator, and the checks."""

    def __init__(self, seed: int, number: int, folder: Path):
        self.rng, self.folder = np.random.default_rng([seed, number]), folder
        self.X = rows_of(self.rng)
        self.weights = self.rng.integers(1, 4, len(self.X)).astype(float) if self.rng.random() < 0.2 else None
        self.model = model_of(self.rng, self.X)
        self.counts: Counter[str] = Counter()

    def __str__(self) -> str:
        weighted = "" if self.weights is None else ", weights"
        return f"{self.model!r} on {self.X.dtype} {self.X.shape}{weighted}".replace("\n", " ")

    def fit(self, **options: Any) -> Any:
        """Fit a clone with other options; warnings of other libraries are errors."""
        return self._fitted(clone(self.model).set_params(**options))

    def _fitted(self, model: Any) -> Any:
        self.counts["fits"] += 1
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for category in (ConvergenceWarning, AdviceWarning, CheckpointWarning):
                warnings.simplefilter("ignore", category)
            return model.fit(self.X, sample_weight=self.weights)

    def run(self) -> None:
        """Run all checks that apply."""
        self.fitted = self.fit()
        chain = type(self.model).__name__ in CHAINS
        checks: list[Callable[[], None]] = [self.labels, self.again, self.file]
        checks += [self.hull] if chain and self.model.metric == "euclidean" else []
        checks += [self.engines] if type(self.model).__name__ != "ModeSeek" else []
        if type(self.model).__name__ != "ModeSeek" and self.rng.random() < 0.5:
            checks += [self.killed]
        checks += [self.stopped] if self.rng.random() < 0.5 else []
        checks += [self.certificate] if len(self.X) > 1 and self.rng.random() < 0.5 else []
        checks += [self.far]
        for each in checks:
            self.counts[each.__name__] += 1
            each()

    def labels(self) -> None:
        """Check that every row has a label, every label a row, and equal rows equal labels."""
        labels, k = self.fitted.labels_, self.fitted.n_clusters_
        held(labels.shape == (len(self.X),), "a label for each row")
        held(set(np.unique(labels)) == set(range(k)), "labels are 0 .. K - 1")
        held(np.isfinite(self.fitted.cluster_centers_).all(), "centres are numbers")
        _, inverse = np.unique(self.X, axis=0, return_inverse=True)
        pairs = np.unique(np.column_stack([inverse.ravel(), labels]), axis=0)
        held(len(pairs) == inverse.max() + 1, "equal rows have one label")

    def far(self) -> None:
        """Check that rows with extreme coordinates have a label."""
        most = 30 if self.X.dtype == np.float32 else 300
        rows = self.rng.normal(size=(4, self.X.shape[1])) * 10.0 ** self.rng.uniform(-most, most, size=(4, 1))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            labels = self.fitted.predict(rows)
        held(((labels >= 0) & (labels < self.fitted.n_clusters_)).all(), "labels of rows far away")

    def again(self) -> None:
        """Check that the same fit gives the same bits, with any number of threads."""
        for n_jobs in (None, 2):
            self._same(self.fit(n_jobs=n_jobs), self.fitted, f"n_jobs={n_jobs}")

    def engines(self) -> None:
        """Check that another exact engine gives the same labels."""
        profile = get_profile(self.model.profile)
        takes = [e for e in ENGINES if e != "cuda" and ENGINES[e].refusal(profile, self.X.shape[1]) is None]
        engine = str(self.rng.choice(takes))
        other = self.fit(engine=engine)
        held((other.labels_ == self.fitted.labels_).all(), f"{engine} gives the labels of {self.fitted.engine_}")

    def hull(self) -> None:
        """Check that no point leaves the convex hull of the data, by its width in some directions."""
        X, found = self.X.astype(np.float64), self.fitted.points_.astype(np.float64)
        middle = X.mean(axis=0)
        extent = np.abs(X - middle).max(axis=0)[:, None]
        directions = self.rng.normal(size=(X.shape[1], 24)) / np.where(extent > 0, extent, np.abs(X).max() or 1.0)
        before, after = (X - middle) @ directions, (found - middle) @ directions
        rounding = np.finfo(self.fitted.points_.dtype).eps * np.abs(X).max(axis=0) @ np.abs(directions)
        held(
            (after <= before.max(axis=0) + 1e-9 * np.abs(before).max() + 64 * rounding).all(), "points stay in the hull"
        )

    def certificate(self) -> None:
        """Check that a certified state meets the theorem's conditions, and that 20 more sweeps do not change it."""
        X = np.unique(self.X.astype(np.float64), axis=0)
        X = (X - X.mean(axis=0)) / (np.abs(X - X.mean(axis=0)).max() or 1.0)
        h, seed = float(self.rng.uniform(0.1, 0.6)), int(self.rng.integers(1000))
        given = make_problem(X, engine=str(self.rng.choice(["brute", "auto"])))
        if self.rng.random() < 0.5:
            chain = stochastic(given, h, seed=seed)
        else:
            chain = doubly_stochastic(given, Shrinking(h / 2, 1.5 * h, h), seed=seed)
        stopping = Stopping(0.05 * h, max_sweeps=400)
        result = run(chain, stopping)
        if result.outcome is not Outcome.CERTIFIED:
            return
        self.counts["certified"] += 1
        found = partition(chain, result, stopping.tau)
        distances, same = cdist(result.state.points, result.state.points), found.labels[:, None] == found.labels
        diameter, gap = distances[same].max(), distances[~same].min(initial=np.inf)
        assert chain.upper is not None
        held(diameter < stopping.tau and gap > chain.upper(result.state) + 2 * diameter, "the certificate is true")
        held(theory.partition_stays(chain, result.state, stopping.tau, sweeps=20), "a certified partition stays")

    def file(self) -> None:
        """Check that a saved model loads unchanged, and that a file with one flipped bit is rejected."""
        path = self.folder / "model.modeseek"
        io.save(self.fitted, path)
        back = io.load(path)
        self._same(back, self.fitted, "after load")
        held((back.predict(self.X[:5]) == self.fitted.predict(self.X[:5])).all(), "predict after load")
        data = bytearray(path.read_bytes())
        data[self.rng.integers(len(data))] ^= 1 << self.rng.integers(8)
        path.write_bytes(data)
        try:
            other = io.load(path)
        except DataError:
            self.counts["damaged files refused"] += 1
        else:
            raise Violation(f"a damaged file was read: {other!r}")
        finally:
            path.unlink()

    def killed(self) -> None:
        """Check that a run that is killed up to three times resumes from its checkpoint with the same result."""
        path = self.folder / "run.ckpt"
        whole = self.fit(checkpoint=self.folder / "whole.ckpt", checkpoint_every=0.0)
        trial = self.folder / "trial.ckpt"
        seconds = self._length(lambda: self.fit(checkpoint=trial, checkpoint_every=0.0))
        trial.unlink()
        for _ in range(int(self.rng.integers(1, 4))):
            process = self._forked(lambda: self.fit(checkpoint=path, checkpoint_every=0.0))
            time.sleep(float(self.rng.uniform(0.0, 1.2)) * seconds)
            os.kill(process, signal.SIGKILL)
            _, status = os.waitpid(process, 0)
            self.counts["killed in mid-run"] += os.WIFSIGNALED(status)
            held(os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == DONE, "a run with a checkpoint ends well")
        self.counts["resumed from a checkpoint"] += path.exists()
        self._same(self.fit(checkpoint=path, checkpoint_every=0.0), whole, "after kills")
        left = sorted(each.name for each in self.folder.iterdir())
        held(left == ["run.ckpt", "whole.ckpt"], f"nothing but checkpoints is left; there is {left}")
        for name in left:
            (self.folder / name).unlink()

    def stopped(self) -> None:
        """Check that Ctrl-C leaves a complete or a partial result."""

        def work() -> int:
            model = clone(self.model)
            try:
                self._fitted(model)
            except KeyboardInterrupt:
                labels = getattr(model, "labels_", None)  # none, if it came before anything was there
                return PARTIAL if labels is None or len(labels) == len(self.X) else BROKEN
            return DONE

        seconds = self._length(work)
        process = self._forked(work)
        time.sleep(float(self.rng.uniform(0.0, 1.2)) * seconds)
        os.kill(process, signal.SIGINT)
        _, status = os.waitpid(process, 0)
        ended = os.WEXITSTATUS(status) if os.WIFEXITED(status) else -os.WTERMSIG(status)
        held(ended in (DONE, PARTIAL), f"Ctrl-C ends a fit well; it ended with {ended}")
        self.counts["stopped in mid-run"] += ended == PARTIAL

    def _same(self, a: Any, b: Any, where: str) -> None:
        for name in ("labels_", "points_", "cluster_centers_", "n_updates_", "confidence_"):
            if hasattr(b, name):
                x, y = np.asarray(getattr(a, name)), np.asarray(getattr(b, name))
                held(x.dtype == y.dtype and x.tobytes() == y.tobytes(), f"{name} is the same, {where}")

    def _length(self, work: Callable[[], Any]) -> float:
        """Return the seconds that a process takes for some work, from its start to its end."""
        began = time.perf_counter()
        _, status = os.waitpid(self._forked(work), 0)
        held(os.WIFEXITED(status) and os.WEXITSTATUS(status) == DONE, "a forked process ends well")
        return time.perf_counter() - began

    def _forked(self, work: Callable[[], Any]) -> int:
        """Start a process that does some work and ends with the number that it returns; return its id."""
        # signals are blocked until the child process can handle them
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        process = os.fork()
        if process:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
            return process
        signal.alarm(PATIENCE)
        try:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
            status = work()
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
            os._exit(status if isinstance(status, int) else DONE)
        except KeyboardInterrupt:  # before the work began, or after it
            os._exit(PARTIAL)
        except BaseException:
            traceback.print_exc()
            os._exit(BROKEN)


def once(seed: int, number: int) -> tuple[Counter[str], str]:
    """Run a round; return the checks and the violations."""
    with tempfile.TemporaryDirectory() as folder:
        each = Round(seed, number, Path(folder))
        try:
            each.run()
        except Exception as error:
            where = traceback.extract_tb(error.__traceback__)[-1]
            return each.counts, f"round {number}: {type(error).__name__}: {error} ({where.name}) {each}"
    return each.counts, ""


def held_by_process() -> dict[str, str]:
    """Return the resources of this process: memory, code compiled for kinds of arguments, objects, open files."""
    gc.collect()
    things = gc.get_objects()
    kernels = sum(len(each.signatures) for each in things if issubclass(type(each), Dispatcher))
    files = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0
    numbers = {"memory_mb": round(memory()[0]), "kernels": kernels, "objects": len(things), "open_files": files}
    return {name: str(value) for name, value in numbers.items()}


def log_of(rows: list[dict[str, str]], names: tuple[str, ...]) -> str:
    """Return some columns of a log as a table."""
    heads = [name.replace("_mb", ", MB").replace("_", " ") for name in names]
    return table(heads, [[grouped(row[name]) for name in names] for row in rows])


def grouped(number: str) -> str:
    """Return a number in digits with a comma between thousands."""
    return f"{int(number):,}" if number.isdigit() else number


def shown(rows: list[dict[str, str]]) -> str:
    """Return the log as a table, and the number of times of each check."""
    log = ("minutes", "rounds", "fits", "memory_mb", "kernels", "objects", "open_files", "violations")
    others = (*log, "about", "seed")
    checks = [[name, grouped(value)] for name, value in rows[-1].items() if name not in others]
    return f"{log_of(rows, log)}\n\n{table(['check', 'times'], checks)}\n\nSeed {rows[0]['seed']}. {rows[0]['about']}."


def fuzzed(rows: list[dict[str, str]]) -> str:
    """Return the table of the fuzzer's cases, for the same page."""
    names = ("seconds", "inputs", "taken", "edges", "findings")
    body = [[row["name"], *(f"{int(row[name]):,}" for name in names)] for row in rows]
    sums = [f"{sum(int(row[name]) for row in rows):,}" if name != "edges" else "" for name in names]
    return table(["reader", "seconds", "inputs", "accepted", "edges", "findings"], [*body, ["all", *sums]])


def main() -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)  # background jobs of a shell ignore SIGINT
    parser = parser_of(__doc__)
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--round", type=int, help="do this one again, and say what did not hold")
    parser.add_argument("--again", type=int, help="repeat the first rounds this many times, to find memory leaks")
    parser.add_argument("--table", action="store_true", help="show what the CSV file of --out has")
    parser.add_argument("--report", type=Path, help="replace the section of this page")
    given = parser.parse_args()
    if given.round is not None:
        counts, wrong = once(given.seed, given.round)
        print(dict(counts), wrong or "all held")
        sys.exit(bool(wrong))
    if given.again is not None:
        rows = read_csv(given.out) if given.table else again(given.again, given.seed, given.out)
        text = log_of(rows, ("rounds", "memory_mb", "kernels", "objects", "open_files"))
    else:
        rows = (
            read_csv(given.out) if given.table else soak(0.2 if given.quick else given.minutes, given.seed, given.out)
        )
        text = shown(rows)
    print(text)
    if given.report:
        replace_section(given.report, "soak" if given.again is None else "again", text)
        replace_section(given.report, "fuzz", fuzzed(read_csv(ROOT / "fuzz" / "results.csv")))
    sys.exit(int(rows[-1]["violations"]) > 0)


def again(times: int, seed: int, out: Path | None) -> list[dict[str, str]]:
    """Repeat the first rounds several times; return lines of a log."""
    rows: list[dict[str, str]] = []
    violations = 0
    for number in range(times * FIRST):
        _, wrong = once(seed, number % FIRST)
        violations += bool(wrong)
        if wrong:
            print(wrong, flush=True)
        if (number + 1) % FIRST == 0:
            rows.append({"rounds": str(number + 1), **held_by_process(), "violations": str(violations)})
            print(rows[-1], flush=True)
            if out:
                write_csv(out, rows)
    return rows


def soak(minutes: float, seed: int, out: Path | None) -> list[dict[str, str]]:
    """Run rounds for a given time; return lines of a log."""
    counts: Counter[str] = Counter()
    rows: list[dict[str, str]] = []
    about, number, violations, began, told = machine(), 0, 0, time.perf_counter(), 0.0
    while told < minutes:
        some, wrong = once(seed, number)
        counts += some
        number += 1
        if wrong:
            violations += 1
            print(wrong, flush=True)
        passed = (time.perf_counter() - began) / 60
        if passed >= min(told + EVERY, minutes):
            told = passed
            line = {"minutes": f"{passed:.1f}", "rounds": number, **held_by_process(), "violations": violations}
            rows.append({name: str(value) for name, value in {**line, **counts, "seed": seed, "about": about}.items()})
            print({name: value for name, value in rows[-1].items() if name != "about"}, flush=True)
            if out:
                write_csv(out, rows)
    return rows


if __name__ == "__main__":
    main()
