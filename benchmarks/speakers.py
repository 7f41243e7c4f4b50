"""Measure the separation of speakers, by `modeseek` at its defaults and by common methods.

Run it as

    python benchmarks/speakers.py --data DIR [--out FILE.csv] [--report benchmarks/results/speakers.md]
    python benchmarks/speakers.py --table FILE.csv [--report benchmarks/results/speakers.md]

DIR is a folder as `quality.py` takes it; sets of the kind "speaker-embedding" are used, rows shuffled with the seed.
Three parts: *sets*, each as it is; *few*, the paper's case: 4 to 20 speakers drawn from a set, each with 3 to 20 rows
(log-uniform); and *one*, each of the six speakers with most rows alone. No method has settings for a particular
set. Two entries use the truth: k-means is given the number of speakers, and "linkage, best threshold" uses, for each
set, the threshold with the best ARI.

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
from sklearn.cluster import HDBSCAN, KMeans
from sklearn.metrics import adjusted_rand_score
from threadpoolctl import threadpool_limits

import modeseek
from common import ROOT, machine, read_csv, replace_section
from labelled import NOISE, LabelledSet, prepared, read_sets, scores
from modeseek.diarization import EmbeddingTransform, SpeakerSearch
from speaker_tables import tables

KIND = "speaker-embedding"
COLUMNS = (
    *("part", "set", "draw", "n", "k", "method", "seed", "ari", "ami", "k_paper", "k_weighted", "found", "noise"),
    *("seconds", "error", "machine"),
)
# a cosine of 0.5, in the middle, not tuned
THRESHOLD = 0.5
THRESHOLDS = np.arange(0.025, 1.2, 0.025)
# the paper's case
FEWEST, MOST, SPEAKERS = 3, 20, (4, 20)


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


def _ours(*preparation: Any) -> Callable[[Task], np.ndarray]:
    def fit(task: Task) -> np.ndarray:
        search = SpeakerSearch(transform=EmbeddingTransform(*preparation), random_state=task.seed)
        return search.find(task.X).labels

    return fit


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
    Method("diarize", _ours()),
    Method("diarize, centred", _ours(True)),
    Method("diarize, 32 whitened", _ours(True, 32, True)),
    Method("ModeSeek", _estimator("ModeSeek")),
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
    """Return the rows of the speaker with the (rank + 1)-th most rows; none if there are fewer speakers."""
    names, counts = np.unique(data.y[data.y != NOISE], return_counts=True)
    order = np.argsort(-counts, kind="stable")
    return np.flatnonzero(data.y == names[order[rank]]) if rank < len(order) else np.empty(0, dtype=int)


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
            told = ("k-means, told k", "linkage, best threshold")
            some = [(data, rank) for data in sets for rank in range(draws) if len(alone(data, rank))]
            yield from (Job("one", *each, name, 0) for each in some for name in methods if name not in told)
        for seed in range(1 if slow else seeds):
            for data in sets:
                yield from (Job("sets", data, 0, method, seed) for method in methods)


def run(jobs: Sequence[Job], out: Path | None) -> list[dict[str, str]]:
    """Run the jobs that are not in the file; return all its rows."""
    rows = read_csv(out) if out and out.exists() else []
    done = {tuple(row[each] for each in ("part", "set", "draw", "method", "seed")) for row in rows}
    stated = machine()
    for job in jobs:
        if job.key in done:
            continue
        measured = {**measure(job), "machine": stated}
        row = {key: f"{v:.4g}" if isinstance(v := measured.get(key, ""), float) else str(v) for key in COLUMNS}
        rows.append(row)
        print(*(row[each] for each in COLUMNS[:-1]), file=sys.stderr, flush=True)
        if out:
            with open(out, "a", newline="") as file:
                writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
                if file.tell() == 0:
                    writer.writeheader()
                writer.writerow(row)
    return rows


def main(given: Sequence[str] | None = None) -> None:
    """Measure, print, write."""
    parser = ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="folder with manifest.json and NAME.npz files")
    parser.add_argument("--table", type=Path, metavar="CSV", help="measure nothing: print the tables of this file")
    parser.add_argument("--out", type=Path, help="CSV file that rows are added to as they come")
    parser.add_argument("--report", type=Path, help="page whose section is replaced")
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
        jobs = jobs_of(sets, 1, 1) if arguments.quick else jobs_of(sets, 3, 6)
        rows = run([job for job in jobs if not (arguments.quick and BY_NAME[job.method].slow)], arguments.out)
    text = tables(rows, [method.name for method in METHODS])
    print(text)
    if arguments.report:
        replace_section(ROOT / arguments.report, "speakers", text)


if __name__ == "__main__":
    main()
