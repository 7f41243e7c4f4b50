"""Collect features of candidates over synthetic and labelled sets, and train and judge a choice among them.

    python benchmarks/selection_study/train.py collect OUT --seconds 300 --jobs 16 [--data FOLDER]
    python benchmarks/selection_study/train.py fit OUT

`collect` adds a file to OUT each time: raise `--seed` to go on with new sets. FOLDER holds labelled sets, a folder for
each pool with a `manifest.json`; they are never trained on.
"""

from __future__ import annotations

import os

# one thread for each process: the sets run side by side
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import argparse
import json
import multiprocessing
import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.metrics import adjusted_rand_score

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from selection_study.features import candidate_features
from selection_study.pool import build_pool, make_space, reproducibility
from synthetic import FAMILIES, NULL, make, prepared

POOLS = ("open", "open2")
# candidates of each synthetic set that are kept for training, besides the best one and the single cluster
KEPT = 20
# sets whose best candidate is worse than this teach nothing
LEAST_CEILING = 0.25


class Task(NamedTuple):
    """One set to analyse: its pool ("synthetic" or a folder), its name and its seed."""

    pool: str
    name: str
    seed: int
    data: Path | None = None


class Analysed(NamedTuple):
    """Features and scores of the candidates of a set; the single cluster is the last."""

    task: Task
    features: np.ndarray
    scores: np.ndarray
    seconds: float


def load(task: Task) -> tuple[np.ndarray, np.ndarray, str]:
    """Return rows, labels and metric of a set, with the rows in random order."""
    if task.data is None:
        sample = make(task.name, task.seed)
        return prepared(sample), sample.y, sample.metric
    entry = manifest(task.data / task.pool)[task.name]
    with np.load(task.data / task.pool / entry["file"]) as file:
        X, y = file["X"].astype(np.float64), file["y"]
    order = np.random.default_rng(task.seed).permutation(len(X))
    X, y = X[order], y[order]
    if entry.get("prep") == "l2":
        return X / np.linalg.norm(X, axis=1, keepdims=True), y, "cosine"
    spread = X.std(axis=0)
    return (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0), y, "euclidean"


def manifest(folder: Path) -> dict[str, dict]:
    return {entry["name"]: entry for entry in json.loads((folder / "manifest.json").read_text())}


def analyse(task: Task) -> Analysed:
    warnings.simplefilter("ignore")
    X, y, metric = load(task)
    start = time.perf_counter()
    rng = np.random.default_rng(task.seed)
    points, space = make_space(X, metric)
    pool = build_pool(space, rng)
    stable = reproducibility(space, pool, rng)
    features = candidate_features(space, len(X), pool, stable, rng)
    seconds = time.perf_counter() - start
    known = y >= 0
    partitions = [each.labels[points.inverse] for each in pool.candidates] + [np.zeros(len(X), dtype=int)]
    scores = np.array([adjusted_rand_score(y[known], labels[known]) for labels in partitions])
    return Analysed(task, features.astype(np.float32), scores.astype(np.float32), seconds)


def tasks(args: argparse.Namespace, began: float) -> Iterator[Task]:
    """Yield the labelled sets, largest first, then synthetic sets until the time is up."""
    if args.data is not None:
        for pool in POOLS:
            found = manifest(args.data / pool)
            for name in sorted(found, key=lambda each: -found[each]["n"]):
                yield Task(pool, name, args.seed, args.data)
    rng, seed, count = np.random.default_rng(args.seed), args.seed * 1000, 0
    while True:
        for name in rng.permutation(list(FAMILIES)):
            if count == args.sets or time.perf_counter() - began > args.seconds:
                return
            yield Task("synthetic", str(name), seed)
            count += 1
        seed += 1


def collect(args: argparse.Namespace) -> None:
    began = time.perf_counter()
    args.out.mkdir(parents=True, exist_ok=True)
    for name in ("paper_mixture", "speakers"):  # compile before the processes fork
        analyse(Task("synthetic", name, 0))
    with multiprocessing.get_context("fork").Pool(args.jobs) as workers:
        found = []
        batch: list[Task] = []
        for task in tasks(args, began):
            batch.append(task)
            if len(batch) == 4 * args.jobs:
                found += workers.map(analyse, batch, chunksize=1)
                batch = []
        found += workers.map(analyse, batch, chunksize=1)
    rng = np.random.default_rng(0)
    for pool in ("synthetic", *POOLS):
        mine = [each for each in found if each.task.pool == pool]
        if mine:
            kept = [_kept(each.scores, rng) if pool == "synthetic" else np.arange(len(each.scores)) for each in mine]
            np.savez_compressed(
                args.out / f"{pool}-{args.seed}.npz",
                features=np.concatenate([each.features[rows] for each, rows in zip(mine, kept, strict=True)]).astype(
                    np.float16
                ),
                scores=np.concatenate([each.scores[rows] for each, rows in zip(mine, kept, strict=True)]),
                owner=np.repeat(np.arange(len(mine)), [len(rows) for rows in kept]),
                ceiling=np.array([each.scores.max() for each in mine]),
                name=np.array([each.task.name for each in mine]),
            )
    seconds = np.array([each.seconds for each in found])
    print(f"{len(found):,} sets, {seconds.mean():.2f} s each (median {np.median(seconds):.2f})")


def _kept(scores: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    some = rng.permutation(len(scores) - 1)[:KEPT]
    return np.unique([*some, int(scores.argmax()), len(scores) - 1])


def read(folder: Path, pool: str) -> dict[str, np.ndarray]:
    """Return the collected sets of a pool, from all its files."""
    parts = [np.load(path) for path in sorted(folder.glob(f"{pool}-*.npz"))]
    before = np.cumsum([0, *(len(part["name"]) for part in parts)])
    found = {key: np.concatenate([part[key] for part in parts]) for key in ("features", "scores", "ceiling", "name")}
    found["owner"] = np.concatenate([part["owner"] + start for part, start in zip(parts, before, strict=False)])
    found["features"] = found["features"].astype(np.float32)
    return found


def train(sets: dict[str, np.ndarray], inside: np.ndarray, seed: int = 0) -> HistGradientBoostingRegressor:
    """Fit boosted trees that predict the regret of a candidate: the best score of its set less its own."""
    owner, ceiling = sets["owner"], sets["ceiling"]
    rows = inside[owner] & (ceiling[owner] > LEAST_CEILING)
    regret = np.clip(ceiling[owner] - sets["scores"], 0, 1)
    weight = 1.0 / np.bincount(owner)[owner]
    model = HistGradientBoostingRegressor(
        max_iter=200, max_leaf_nodes=24, learning_rate=0.08, min_samples_leaf=40, max_features=0.3, random_state=seed
    )
    return model.fit(sets["features"][rows], regret[rows], sample_weight=weight[rows])


def chosen_scores(regret: np.ndarray, sets: dict[str, np.ndarray]) -> np.ndarray:
    """Return the score of the candidate with the smallest predicted regret, for each set."""
    order = np.lexsort((regret, sets["owner"]))
    return sets["scores"][order[np.flatnonzero(np.diff(sets["owner"][order], prepend=-1))]]


def fit(args: argparse.Namespace) -> None:
    sets = read(args.out, "synthetic")
    group = np.array([FAMILIES[name].group for name in sets["name"]])
    everything = np.ones(len(group), dtype=bool)
    model = train(sets, everything)
    for pool in POOLS:
        if list(args.out.glob(f"{pool}-*.npz")):
            labelled = read(args.out, pool)
            scores = chosen_scores(model.predict(labelled["features"]), labelled)
            print(f"{pool}: chosen {scores.mean():.3f}, best candidate {labelled['ceiling'].mean():.3f}")
    fold = np.array([sorted(FAMILIES).index(name) % args.folds for name in sets["name"]])
    regret = np.empty(len(sets["scores"]))
    for number in range(args.folds):
        left_out = fold[sets["owner"]] == number
        regret[left_out] = train(sets, fold != number).predict(sets["features"][left_out])
    scores = chosen_scores(regret, sets)
    for name in sorted(set(group)):
        mine = group == name
        interval = 1.64 * scores[mine].std() / np.sqrt(mine.sum())
        what = "one cluster chosen" if name == NULL else "chosen"
        print(
            f"left-out families, {name}: {what} {scores[mine].mean():.3f} +- {interval:.3f}, "
            f"best candidate {sets['ceiling'][mine].mean():.3f}, {mine.sum():,} sets"
        )


def parser() -> argparse.ArgumentParser:
    found = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    found.add_argument("step", choices=("collect", "fit"))
    found.add_argument("out", type=Path)
    found.add_argument("--data", type=Path, help="folder with labelled pools")
    found.add_argument("--seconds", type=float, default=60.0)
    found.add_argument("--sets", type=int, help="synthetic sets at most")
    found.add_argument("--seed", type=int, default=0)
    found.add_argument("--jobs", type=int, default=2)
    found.add_argument("--folds", type=int, default=5)
    return found


def main() -> None:
    args = parser().parse_args()
    {"collect": collect, "fit": fit}[args.step](args)


if __name__ == "__main__":
    main()
