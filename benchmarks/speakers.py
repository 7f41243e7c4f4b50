"""Measure the separation of speakers, by `modeseek` at its defaults and by common methods.

Run it as

    python benchmarks/speakers.py --data DIR [--out FILE.csv] [--report benchmarks/results/speakers.md]
    python benchmarks/speakers.py --table FILE.csv [--report benchmarks/results/speakers.md]

DIR is a folder as `quality.py` takes it; sets of the kind "speaker-embedding" are used, rows shuffled with the seed.
Four parts: *sets*, each as it is; *few*, the paper's case: 4 to 20 speakers drawn from a set, each with 3 to 20 rows
(log-uniform); *one*, each speaker with ten rows or more alone; and *der*, diarization error rates on the meeting
(column `ari`: overlap counted, `ami`: overlap left out). No method has settings for a particular set. Three entries
use the truth: k-means and "diarize, told k" are given the number of speakers, and "linkage, best threshold" uses, for
each set, the threshold with the best ARI.

Rows are written to --out as they are measured, and a run with the same --out resumes.
"""

from __future__ import annotations

import copy
import csv
import sys
import time
import warnings
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.optimize import linear_sum_assignment
from sklearn.cluster import HDBSCAN, KMeans
from sklearn.metrics import adjusted_rand_score
from threadpoolctl import threadpool_limits

import modeseek
from common import ROOT, machine, read_csv, replace_section
from labelled import NOISE, LabelledSet, prepared, read_sets, scores
from modeseek.diarization import SpeakerClusterer, find_turns
from speaker_tables import tables

KIND = "speaker-embedding"
MEETING = "spk_ami_es2005a_xvec"
COLUMNS = (
    *("part", "set", "draw", "n", "k", "method", "seed", "ari", "ami", "k_paper", "k_weighted", "found", "noise"),
    *("seconds", "error", "machine"),
)
# a cosine of 0.5, in the middle, not tuned
THRESHOLD = 0.5
# pyannote/speaker-diarization-3.1
PYANNOTE_THRESHOLD, PYANNOTE_LEAST = 0.7045654963945799, 12
THRESHOLDS = np.arange(0.025, 1.2, 0.025)
# the paper's case
FEWEST, MOST, SPEAKERS = 3, 20, (4, 20)
# rows of a speaker that is clustered alone
LEAST_ALONE = 10


class Task(NamedTuple):
    """Unit rows, their true speakers (for methods that use the truth) and a seed."""

    X: np.ndarray
    y: np.ndarray
    seed: int

    @property
    def k(self) -> int:
        """True number of speakers."""
        return len(np.unique(self.y[self.y != NOISE]))


class Method(NamedTuple):
    """A name, a function that returns labels, and whether it is slow: slow methods run with one seed on whole sets."""

    name: str
    fit: Callable[[Task], np.ndarray]
    slow: bool = False


def _ours(task: Task) -> np.ndarray:
    return SpeakerClusterer(random_state=task.seed).predict(task.X)


def _ours_told(task: Task) -> np.ndarray:
    return SpeakerClusterer(task.k, task.k, random_state=task.seed).predict(task.X)


def _estimator(name: str) -> Callable[[Task], np.ndarray]:
    def fit(task: Task) -> np.ndarray:
        model = getattr(modeseek, name)(metric="cosine")
        if "random_state" in model.get_params():
            model.set_params(random_state=task.seed)
        return model.fit(task.X).labels_

    return fit


def _linkage(task: Task) -> np.ndarray:
    return fcluster(linkage(task.X, "average", metric="cosine"), THRESHOLD, "distance") - 1


def _best_linkage(task: Task) -> np.ndarray:
    tree, known = linkage(task.X, "average", metric="cosine"), task.y != NOISE
    cuts = [fcluster(tree, each, "distance") - 1 for each in THRESHOLDS]
    return max(cuts, key=lambda labels: adjusted_rand_score(task.y[known], labels[known]))


def _pyannote(task: Task) -> np.ndarray:
    """Agglomerative clustering as pyannote.audio 3.1 documents it, by SciPy: it needs neither torch nor its weights.

    Centroid linkage of unit vectors, cut at a distance; rows of small clusters join the large one of the closest
    direction.
    """
    labels = fcluster(linkage(task.X, "centroid"), PYANNOTE_THRESHOLD, "distance") - 1
    least = min(PYANNOTE_LEAST, max(1, round(0.1 * len(labels))))
    large = np.flatnonzero(np.bincount(labels) >= least)
    if not len(large):
        return np.zeros(len(labels), dtype=int)
    means = np.array([task.X[labels == each].mean(axis=0) for each in range(labels.max() + 1)])
    means /= np.linalg.norm(means, axis=1, keepdims=True)
    return (means @ means[large].T).argmax(axis=1)[labels]


def _spectral(task: Task) -> np.ndarray:
    from spectralcluster import SpectralClusterer

    return np.asarray(SpectralClusterer().predict(task.X))


def _icassp(task: Task) -> np.ndarray:
    from spectralcluster import configs

    return np.asarray(configs.icassp2018_clusterer.predict(task.X))


def _turn_to_diarize(*, limit: bool) -> Callable[[Task], np.ndarray]:
    def fit(task: Task) -> np.ndarray:
        from spectralcluster import configs

        clusterer = copy.copy(configs.turntodiarize_clusterer)
        if not limit:
            clusterer.max_clusters = None
        return np.asarray(clusterer.predict(task.X))

    return fit


METHODS = [
    Method("diarize", _ours),
    Method("diarize, told k", _ours_told),
    Method("ModeSeek", _estimator("ModeSeek")),
    Method("pyannote's linkage", _pyannote),
    Method("HDBSCAN", lambda task: HDBSCAN(min_cluster_size=5, copy=True).fit(task.X).labels_),
    Method("spectral", _spectral),
    Method("spectral, ICASSP 2018", _icassp),
    Method("spectral, Turn-to-Diarize", _turn_to_diarize(limit=True), True),
    Method("the same, no limit", _turn_to_diarize(limit=False), True),
    Method(f"linkage at {THRESHOLD:g}", _linkage),
    Method("linkage, best threshold", _best_linkage),
    Method("k-means, told k", lambda task: KMeans(task.k, n_init=3, random_state=task.seed).fit(task.X).labels_),
    Method("DSMS", _estimator("DoublyStochasticMeanShift"), True),
    Method("SMS", _estimator("StochasticMeanShift"), True),
    Method("MeanShift", _estimator("MeanShift"), True),
]
BY_NAME = {method.name: method for method in METHODS}


class Job(NamedTuple):
    """One measurement."""

    part: str
    data: LabelledSet
    draw: int
    method: str
    seed: int

    @property
    def key(self) -> tuple[str, ...]:
        """Key of the job in the file."""
        return self.part, self.data.name, str(self.draw), self.method, str(self.seed)


def few(data: LabelledSet, draw: int) -> np.ndarray:
    """Return the rows of 4 to 20 speakers with 3 to 20 rows each; speakers with fewer than 3 are left out."""
    rng = np.random.default_rng(draw)
    names, counts = np.unique(data.y[data.y != NOISE], return_counts=True)
    able = names[counts >= FEWEST]
    speakers = rng.choice(able, min(len(able), int(rng.integers(SPEAKERS[0], SPEAKERS[1] + 1))), replace=False)
    rows = []
    for speaker in speakers:
        own = np.flatnonzero(data.y == speaker)
        many = int(np.exp(rng.uniform(np.log(FEWEST), np.log(MOST + 1))))
        rows.append(rng.choice(own, min(len(own), many), replace=False))
    return np.concatenate(rows)


def alone(data: LabelledSet, rank: int) -> np.ndarray:
    """Return the rows of the speaker with the (rank + 1)-th most rows; none if these are fewer than ten."""
    names, counts = np.unique(data.y[data.y != NOISE], return_counts=True)
    order = np.argsort(-counts, kind="stable")
    able = rank < len(order) and counts[order[rank]] >= LEAST_ALONE
    return np.flatnonzero(data.y == names[order[rank]]) if able else np.empty(0, dtype=int)


def rows_of(job: Job) -> np.ndarray:
    """Return the rows of a job."""
    if job.part == "sets":
        return np.arange(len(job.data.X))
    return few(job.data, job.draw) if job.part == "few" else alone(job.data, job.draw)


def measure(job: Job) -> dict[str, Any]:
    """Return one row: the scores of a method on a set."""
    rows = rows_of(job)
    rows = rows[np.random.default_rng(job.seed).permutation(len(rows))]
    task = Task(prepared(job.data.X[rows], "l2"), job.data.y[rows], job.seed)
    row: dict[str, Any] = {"part": job.part, "set": job.data.name, "draw": job.draw, "n": len(rows), "k": task.k}
    row |= {"method": job.method, "seed": job.seed}
    start = time.perf_counter()
    try:
        with threadpool_limits(1), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            labels = np.asarray(BY_NAME[job.method].fit(task)).astype(int)
        row |= {"seconds": time.perf_counter() - start, **scores(task.y, labels)}
    except Exception as error:
        said = " ".join(f"{type(error).__name__}: {error}".split())
        return {**row, "seconds": time.perf_counter() - start, "error": said[:300]}
    row["found"] = len(np.unique(labels[labels != NOISE]))
    return {**row, "noise": int((labels == NOISE).sum())}


def jobs_of(sets: Sequence[LabelledSet], seeds: int, draws: int) -> Iterator[Job]:
    """Yield all jobs, the quick ones first."""
    for slow in (False, True):
        methods = [method.name for method in METHODS if method.slow is slow]
        for data in sets:
            for draw in range(draws):
                yield from (Job("few", data, draw, method, draw) for method in methods)
        if not slow:
            told = ("diarize, told k", "k-means, told k", "linkage, best threshold")
            ranks = range(1 if draws == 1 else max(len(np.unique(data.y)) for data in sets))
            some = [(data, rank) for data in sets for rank in ranks if len(alone(data, rank))]
            yield from (Job("one", *each, name, 0) for each in some for name in methods if name not in told)
        for seed in range(1 if slow else seeds):
            for data in sets:
                yield from (Job("sets", data, 0, method, seed) for method in methods)


def meeting_errors(folder: Path, data: LabelledSet) -> list[dict[str, Any]]:
    """Return the diarization error rates of the methods on a set with times and `overlap_seconds`, in window centres.

    A speaker is active in the centre of a window if more than half of the window is theirs. "diarize" uses the times.
    """
    with np.load(next(folder.rglob(f"{data.name}.npz"))) as stored:
        times, seconds = stored["times"], stored["overlap_seconds"]
    active = seconds > 0.5 * (times[:, 1] - times[:, 0])[:, None]
    X = prepared(data.X, "l2")
    task = Task(X, data.y, 0)
    labels = {name: BY_NAME[name].fit(task) for name in ("ModeSeek", "pyannote's linkage", "k-means, told k")}
    labels = {
        "diarize": find_turns(X, times).speakers.labels,
        "diarize, smoothed": find_turns(X, times, smooth=True).speakers.labels,
        "diarize, without times": BY_NAME["diarize"].fit(task),
        **labels,
    }
    rows = []
    for name, found in labels.items():
        row: dict[str, Any] = {"part": "der", "set": data.name, "draw": 0, "n": len(X), "k": task.k, "method": name}
        one = active.sum(axis=1) == 1
        errors = error_rate(active, found), error_rate(active[one], found[one])
        rows.append({**row, "seed": 0, "ari": errors[0], "ami": errors[1], "found": len(np.unique(found))})
    return rows


def error_rate(active: np.ndarray, labels: np.ndarray) -> float:
    """Return the diarization error rate of one found speaker for each window; `active` has the true speakers."""
    labels = np.unique(labels, return_inverse=True)[1]
    spoken = active.sum(axis=1)
    both = active[spoken > 0].astype(float).T @ np.eye(labels.max() + 1)[labels[spoken > 0]]
    right = both[linear_sum_assignment(both, maximize=True)].sum()
    return float((np.maximum(spoken, 1)[spoken > 0].sum() - right) / spoken.sum())


def run(jobs: Sequence[Job], out: Path | None) -> list[dict[str, str]]:
    """Run the jobs that are not in the file; return all its rows."""
    rows = read_csv(out) if out and out.exists() else []
    done = {tuple(row[each] for each in ("part", "set", "draw", "method", "seed")) for row in rows}
    stated = machine()
    for job in jobs:
        if job.key in done:
            continue
        rows += write([{**measure(job), "machine": stated}], out)
    return rows


def write(measured: Sequence[dict[str, Any]], out: Path | None) -> list[dict[str, str]]:
    """Print rows, add them to the file, and return them as text."""
    rows = [
        {key: f"{v:.4g}" if isinstance(v := each.get(key, ""), float) else str(v) for key in COLUMNS}
        for each in measured
    ]
    for row in rows:
        print(*(row[each] for each in COLUMNS[:-1]), file=sys.stderr, flush=True)
    if out:
        with open(out, "a", newline="") as file:
            writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
            if file.tell() == 0:
                writer.writeheader()
            writer.writerows(rows)
    return rows


def main(given: Sequence[str] | None = None) -> None:
    """Measure, print, write."""
    parser = ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="folder with manifest.json and NAME.npz files")
    parser.add_argument("--table", type=Path, metavar="CSV", help="measure nothing: print the tables of this file")
    parser.add_argument("--out", type=Path, help="CSV file that rows are added to as they come")
    parser.add_argument("--report", type=Path, help="page whose section is replaced")
    parser.add_argument("--seeds", type=int, default=3, help="orders of the rows of whole sets")
    parser.add_argument("--methods", nargs="+", choices=list(BY_NAME), help="measure these only")
    parser.add_argument("--quick", action="store_true", help="one seed, one draw, no chains: not to be quoted")
    arguments = parser.parse_args(given)
    if (arguments.data is None) == (arguments.table is None):
        parser.error("give --data to measure, or --table to show what a file has")
    if arguments.table:
        rows = read_csv(arguments.table)
    else:
        sets = [data for data in read_sets(arguments.data) if data.kind == KIND]
        if not sets:
            raise SystemExit(f"{arguments.data} has no sets of the kind {KIND!r}")
        jobs = jobs_of(sets, 1, 1) if arguments.quick else jobs_of(sets, arguments.seeds, 6)
        jobs = [job for job in jobs if not (arguments.quick and BY_NAME[job.method].slow)]
        rows = run([job for job in jobs if job.method in (arguments.methods or BY_NAME)], arguments.out)
        for data in sets:
            if data.name == MEETING and not any(row["part"] == "der" for row in rows):
                rows += write(
                    [{**row, "machine": machine()} for row in meeting_errors(arguments.data, data)], arguments.out
                )
    text = tables(rows, [method.name for method in METHODS])
    print(text)
    if arguments.report:
        replace_section(ROOT / arguments.report, "speakers", text)


if __name__ == "__main__":
    main()
