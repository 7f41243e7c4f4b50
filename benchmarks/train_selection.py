"""Train the model by which `ModeSeek` chooses among candidate partitions.

    python benchmarks/train_selection.py collect OUT [--seconds 500] [--jobs 2] [--few] [--change] [--data FOLDER]
    python benchmarks/train_selection.py fit OUT
    python benchmarks/train_selection.py judge OUT

`collect` computes the features of the candidates of synthetic sets and adds a file to OUT. Repeat it to add more sets:
each run continues with the next seeds. With --few, only 20 to 200 rows of each set are kept; with --change, each set is
changed at random (`synthetic/changes.py`). With --data, a folder of labelled pools (each a folder with a
`manifest.json`), it collects these instead; they are never trained on. `fit` writes the model to
`src/modeseek/selection/choice.npz`. `judge` trains with families left out, fits the sharpness (an option of `fit`), and
reports the mean adjusted Rand index of the chosen candidates on left-out families and on the labelled pools.
"""

from __future__ import annotations

import os

# one thread for each process: the sets run side by side
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import argparse
import hashlib
import json
import multiprocessing
import time
import warnings
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
from sklearn.metrics import adjusted_rand_score

from choice_network import (
    Decisions,
    QuantileMaps,
    Sets,
    TrainingConfig,
    decide,
    fit_sharpness,
    in_processes,
    scores_of,
    train_choice,
)
from common import write_csv
from modeseek._common.points import canonical_points
from modeseek._common.types import Geometry
from modeseek.selection.choice import load_choice, read_choice, with_single
from modeseek.selection.data import base_sample, prepare_data
from modeseek.selection.features import FEATURES, candidate_features
from modeseek.selection.pool import build_pool
from synthetic import FAMILIES, make, prepared

SHARPNESS = (0.66, 0.73)
BONUS = (-8.0, 0.5, 1.0, 0.0)
SYNTHETIC = "synthetic"
MODEL = Path(__file__).resolve().parents[1] / "src" / "modeseek" / "selection" / "choice.npz"
POOLS = ("open", "open2")


class Task(NamedTuple):
    """One set to analyse: its pool ("synthetic" or a folder), name and seed; whether few rows are kept, or changed."""

    pool: str
    name: str
    seed: int
    data: Path | None = None
    few: bool = False
    change: bool = False


class Analysed(NamedTuple):
    """Features and scores of the candidates of a set, and the CPU time; the single cluster is the last candidate.

    `agreement` holds the adjusted Rand index of each pair of candidates.
    """

    task: Task
    features: np.ndarray
    scores: np.ndarray
    agreement: np.ndarray
    origins: np.ndarray
    seconds: float


def load(task: Task) -> tuple[np.ndarray, np.ndarray, str]:
    """Return rows, labels and metric of a set, with the rows in random order."""
    if task.data is None:
        sample = make(task.name, task.seed, few=task.few, change=task.change)
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
    """Return the entries of a labelled pool by name."""
    return {entry["name"]: entry for entry in json.loads((folder / "manifest.json").read_text())}


def analyse(task: Task) -> Analysed:
    """Return the features and the scores of all candidates of a set."""
    warnings.simplefilter("ignore")
    X, y, metric = load(task)
    start = time.process_time()
    points = canonical_points(X, np.ones(len(X)), Geometry(metric))
    data = prepare_data(points)
    pool = build_pool(data)
    features = candidate_features(data, base_sample(data), pool)
    seconds = time.process_time() - start
    known = y >= 0
    partitions = [each.labels[points.inverse] for each in pool.candidates] + [np.zeros(len(X), dtype=int)]
    scores = np.array([adjusted_rand_score(y[known], labels[known]) for labels in partitions])
    origins = np.array([each.proposer for each in pool.candidates] + ["one"])
    return Analysed(
        task, features.astype(np.float32), scores.astype(np.float32), with_single(pool.agreement), origins, seconds
    )


def tasks(args: argparse.Namespace, seed: int, began: float) -> Iterator[Task]:
    """Yield the labelled sets, or synthetic sets until the time is up."""
    if args.data is not None:
        for pool in POOLS:
            if (args.data / pool).is_dir():
                yield from (Task(pool, name, 0, args.data) for name in manifest(args.data / pool))
        return
    count = 0
    while True:
        for name in np.random.default_rng(seed).permutation(list(args.families or FAMILIES)):
            if count == args.sets or time.perf_counter() - began > args.seconds:
                return
            yield Task(SYNTHETIC, str(name), seed, few=args.few, change=args.change)
            count += 1
        seed += 1


def collect(args: argparse.Namespace) -> None:
    """Analyse sets side by side and write one file for each pool."""
    began = time.perf_counter()
    args.out.mkdir(parents=True, exist_ok=True)
    number = len(list(args.out.glob(f"{SYNTHETIC}-*.npz")))
    seed, found = 10_000 * number if args.seed is None else args.seed, []
    if args.jobs == 1:
        found = [analyse(task) for task in tasks(args, seed, began)]
    else:
        for name in ("paper_mixture", "speakers"):  # compile before the processes fork
            analyse(Task(SYNTHETIC, name, 0))
        with multiprocessing.get_context("fork").Pool(args.jobs) as workers:
            found = list(workers.imap_unordered(analyse, tasks(args, seed, began)))
    for pool in (SYNTHETIC, *POOLS):
        mine = [each for each in found if each.task.pool == pool]
        if mine:
            write(args.out / (f"{pool}-{number}.npz" if pool == SYNTHETIC else f"{pool}.npz"), mine)
    seconds = np.array([each.seconds for each in found])
    print(f"{len(found):,} sets, CPU time {seconds.mean():.2f} s each (median {np.median(seconds):.2f})")


def write(path: Path, sets: list[Analysed]) -> None:
    """Write the features, scores and agreement of all candidates of some sets."""
    np.savez_compressed(
        path,
        features=np.concatenate([each.features for each in sets]).astype(np.float16),
        scores=np.concatenate([each.scores for each in sets]),
        origins=np.concatenate([each.origins for each in sets]),
        agreement=np.concatenate([each.agreement.ravel() for each in sets]).astype(np.float16),
        owner=np.repeat(np.arange(len(sets)), [len(each.scores) for each in sets]),
        ceiling=np.array([each.scores.max() for each in sets]),
        name=np.array([each.task.name for each in sets]),
        few=np.array([each.task.few for each in sets]),
        change=np.array([each.task.change for each in sets]),
        seconds=np.array([each.seconds for each in sets]),
    )


def read(folder: Path, pool: str) -> Sets:
    """Return the collected sets of a pool, from all its files."""
    paths = sorted(folder.glob(f"{SYNTHETIC}-*.npz")) if pool == SYNTHETIC else [folder / f"{pool}.npz"]
    parts = [np.load(path) for path in paths]
    before = np.cumsum([0, *(len(part["name"]) for part in parts)])
    joined = {
        key: np.concatenate([part[key] for part in parts])
        for key in ("features", "scores", "ceiling", "name", "few", "change", "agreement")
    }
    owner = np.concatenate([part["owner"] + start for part, start in zip(parts, before, strict=False)])
    return Sets(owner=owner, **joined)


def left_out(sets: Sets, config: TrainingConfig, args: argparse.Namespace, *, seed: int = 0) -> np.ndarray:
    """Return scores of all candidates by networks that were trained without their family."""
    names = sorted(set(sets.name))
    fold = np.array([names.index(name) % args.folds for name in sets.name])

    def scores(number: int) -> np.ndarray:
        seeds = range(seed, seed + args.left_out_networks)
        return scores_of(train_choice(sets, fold != number, seeds, config), sets, fold == number)

    return sum(in_processes(scores, range(args.folds), min(args.jobs, args.folds)))


def fit(args: argparse.Namespace) -> None:
    """Train on all synthetic sets, and write the model, with the networks of the file before if `--add` is given."""
    sets, config = read(args.out, SYNTHETIC), TrainingConfig(epochs=args.epochs)
    before, n_sets, first = None, len(sets.name), 0
    if args.add:
        with np.load(args.model) as stored:
            n_sets += int(stored["n_sets"])
        before = read_choice(args.model)
        first = len(before.layers[0])
    choice = train_choice(
        sets,
        np.ones(len(sets.name), dtype=bool),
        range(first, first + args.networks),
        config,
        maps=None if before is None else QuantileMaps(before.knots, before.places),
        jobs=args.jobs,
    )
    layers = choice.layers
    if before is not None:
        layers = tuple(np.concatenate(both) for both in zip(before.layers, layers, strict=True))
    np.savez_compressed(
        args.model,
        names=np.array(choice.names),
        flags=np.array(choice.flags),
        n_knots=np.array([len(each) for each in choice.knots]),
        knots=np.concatenate(choice.knots).astype(np.float32),
        places=np.concatenate(choice.places).astype(np.float32),
        sharpness=np.array(args.sharpness),
        single_bonus=np.array(args.bonus),
        n_sets=n_sets,
        **{f"layer{i}": each.astype(np.float16) for i, each in enumerate(layers)},
    )
    digest = hashlib.sha256(args.model.read_bytes()).hexdigest()
    print(f"{n_sets:,} sets, {args.model.stat().st_size:,} bytes, sha256 {digest}")


def report(sets: Sets, runs: list[Decisions], inside: np.ndarray, title: str) -> None:
    """Print the mean scores by group of families, with the interval over families and the spread between trainings."""
    group = np.array([FAMILIES[name].group for name in sets.name])
    for name in sorted(set(group[inside])):
        mine = inside & (group == name)
        families = sorted(set(sets.name[mine]))
        scores = np.array([[run.score[mine & (sets.name == family)].mean() for family in families] for run in runs])
        half = 1.96 * scores.mean(axis=0).std(ddof=1) / np.sqrt(len(families)) if len(families) > 1 else np.nan
        expected = np.mean([run.expected[mine].mean() for run in runs])
        print(
            f"left-out families, {title}, {name}: {scores.mean():.3f} +- {half:.3f} over families, "
            f"{scores.mean(axis=1).std():.3f} between trainings, expected {expected:.3f}, "
            f"best candidate {sets.ceiling[mine].mean():.3f}, {mine.sum()} sets"
        )


def family_rows(sets: Sets, runs: list[Decisions]) -> list[dict[str, object]]:
    """Return the mean score of each left-out family, for sets with all rows and with few rows."""
    rows = []
    for name in sorted(set(sets.name)):
        for few in (False, True):
            mine = (sets.name == name) & (sets.few == few) & ~sets.change
            if mine.any():
                score, expected = (np.mean([getattr(run, key)[mine] for run in runs]) for key in Decisions._fields)
                row = {"family": name, "group": FAMILIES[name].group, "few rows": few, "sets": mine.sum()}
                rows.append(row | {"score": score, "expected": expected, "best": sets.ceiling[mine].mean()})
    return rows


def report_single(sets: Sets, runs: list[Decisions]) -> None:
    """Print the share of sets without clusters that are called one cluster, by their number of points."""
    first = np.searchsorted(sets.owner, np.arange(len(sets.name)))
    points = np.exp(sets.features[first, FEATURES.index("log_n")]).round()
    null = np.array([FAMILIES[name].group == "null" for name in sets.name]) & ~sets.change
    for low, high in pairwise((0, 60, 100, 200, np.inf)):
        mine = null & (points >= low) & (points < high)
        if mine.any():
            share = np.mean([run.score[mine].mean() for run in runs])
            print(f"no clusters, {low} to {high} points: {share:.3f} of {mine.sum()} sets are called one cluster")


def report_expected(sets: Sets, runs: list[Decisions]) -> None:
    """Print expected against actual agreement, for sets with all rows."""
    mine = ~sets.few & ~sets.change
    expected, score = (np.concatenate([getattr(run, key)[mine] for run in runs]) for key in ("expected", "score"))
    for low, high in pairwise((0.0, 0.5, 0.7, 0.85, 0.95, 1.01)):
        inside = (expected >= low) & (expected < high)
        if inside.any():
            print(f"expected {low} to {high}: {expected[inside].mean():.3f}, actual {score[inside].mean():.3f}")


def judge(args: argparse.Namespace) -> None:
    """Report the scores on left-out families, over several trainings, and on labelled pools."""
    sets, config = read(args.out, SYNTHETIC), TrainingConfig(epochs=args.epochs)
    bonus = np.array(args.bonus)
    null = np.array([FAMILIES[name].group == "null" for name in sets.name])
    runs = []
    for number in range(args.fits):
        scores = left_out(sets, config, args, seed=100 * number)
        sharpness = fit_sharpness(scores, sets, null, bonus)
        print(f"sharpness, fitted on left-out families: {sharpness[0]:.2f} {sharpness[1]:.2f}")
        runs.append(decide(scores, sets, sharpness, bonus))
    for title, inside in (("all rows", ~sets.few), ("20 to 200 rows", sets.few)):
        report(sets, runs, inside & ~sets.change, title)
    report_single(sets, runs)
    report_expected(sets, runs)
    if args.table is not None:
        write_csv(args.table, family_rows(sets, runs))
    choice = load_choice()
    for pool in POOLS:
        if (args.out / f"{pool}.npz").exists():
            labelled = read(args.out, pool)
            found = decide(scores_of(choice, labelled), labelled, choice.sharpness, choice.single_bonus)
            print(
                f"{pool}: the model of the package {found.score.mean():.3f}, expected {found.expected.mean():.3f}, "
                f"best candidate {labelled.ceiling.mean():.3f}"
            )


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    found = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    found.add_argument("step", choices=("collect", "fit", "judge"))
    found.add_argument("out", type=Path)
    found.add_argument("--data", type=Path, help="folder with labelled pools")
    found.add_argument("--seconds", type=float, default=500.0, help="start no set after this time")
    found.add_argument("--sets", type=int, help="synthetic sets at most")
    found.add_argument("--table", type=Path, help="CSV file for the results of `judge` by family")
    found.add_argument("--seed", type=int, help="first seed of `collect`; default: after those of the files in OUT")
    found.add_argument("--few", action="store_true", help="keep only 20 to 200 rows of each synthetic set")
    found.add_argument("--change", action="store_true", help="change each synthetic set at random")
    found.add_argument("--families", nargs="*", help="only these families")
    found.add_argument("--jobs", type=int, default=2)
    found.add_argument("--sharpness", type=float, nargs=2, default=SHARPNESS, help="from `judge`")
    found.add_argument("--bonus", type=float, nargs=4, default=BONUS, help="of the score of a single cluster")
    found.add_argument("--epochs", type=int, default=TrainingConfig.epochs)
    found.add_argument("--networks", type=int, default=8, help="networks to train")
    found.add_argument("--add", action="store_true", help="add the networks to those of the model, instead of new ones")
    found.add_argument("--folds", type=int, default=3)
    found.add_argument("--left-out-networks", type=int, default=1, help="networks in each fold of `judge`")
    found.add_argument("--fits", type=int, default=3, help="trainings for each fold of `judge`")
    found.add_argument("--model", type=Path, default=MODEL, help="where `fit` writes the model")
    return found


def main() -> None:
    args = parser().parse_args()
    {"collect": collect, "fit": fit, "judge": judge}[args.step](args)


if __name__ == "__main__":
    main()
