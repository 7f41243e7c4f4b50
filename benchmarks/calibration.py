"""Measure the calibration of confidence: how often rows keep their cluster in new fits and new chains.

Run it as

    python benchmarks/calibration.py --data DIR [--out FILE.csv] [--report docs/confidence.md] [--picture FILE.png]
    python benchmarks/calibration.py --table FILE.csv [--report docs/confidence.md] [--picture FILE.png]

DIR is a folder of labelled data sets, as in `quality.py`; the labels are not used. `ModeSeek` is fitted to all rows,
and ten times to a random 70 % of them with other seeds. `DoublyStochasticMeanShift` is fitted with 8 and with 16
chains, and compared with 32 chains of another seed. A cluster of a new fit is matched with the cluster of the first fit
that it shares most rows with. A row keeps its cluster if that match is its own. Rows are written as they come, and
Ctrl-C keeps the rows so far.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator, Sequence
from fnmatch import fnmatch
from itertools import chain, pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.datasets import make_blobs, make_moons
from threadpoolctl import threadpool_limits

from common import ROOT, machine, parser_of, read_csv, replace_section, table, write_csv
from labelled import prepared, read_sets
from modeseek import DoublyStochasticMeanShift, ModeSeek
from modeseek.datasets import paper_mixture
from modeseek.meanshift.consensus import counterparts

REFITS, SHARE, FRESH = 10, 0.7, 32
DRAWS = 2
EDGES = np.array([0.0, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, np.inf])
COUNTS = (8, 16)
MODELS = ("ModeSeek", *(f"DSMS, {count} chains" for count in COUNTS))
# larger data sets are not fitted with chains
CHAIN_ROWS, CHAIN_NUMBERS = 450, 5000


class Data(NamedTuple):
    """A data set without labels."""

    kind: str
    name: str
    X: np.ndarray
    metric: str = "euclidean"


Votes = Sequence[tuple[np.ndarray, np.ndarray]]


def rings(n: int, noise: float, seed: int) -> np.ndarray:
    """Return points of three interlocked rings in space."""
    rng = np.random.default_rng(seed)
    which, angle = np.repeat(np.arange(3), n // 3), rng.uniform(0, 2 * np.pi, 3 * (n // 3))
    flat, upright = np.where(which == 1, 0.0, np.sin(angle)), np.where(which == 1, np.sin(angle), 0.0)
    X = np.column_stack([np.cos(angle) + 1.3 * which, flat, upright])
    return X + noise * rng.normal(size=X.shape)


def made(draws: int) -> Iterator[Data]:
    """Yield blobs of several overlaps in two and eight dimensions, moons, the paper's mixture and rings."""
    for seed in range(draws):
        for gap in (2.5, 3.0, 3.5, 4.0, 5.0):
            X, _ = make_blobs(300, centers=[(-gap / 2, 0), (gap / 2, 0)], random_state=seed)
            yield Data("synthetic", f"two blobs, {gap:g} apart", X)
        for std in (0.7, 1.0, 1.4, 1.8):
            X, _ = make_blobs(400, centers=5, cluster_std=std, center_box=(-6, 6), random_state=seed)
            yield Data("synthetic", f"five blobs, spread {std:g}", X)
        for std in (2.0, 3.0, 4.0):
            X, _ = make_blobs(400, 8, centers=5, cluster_std=std, center_box=(-6, 6), random_state=seed)
            yield Data("synthetic", f"five blobs in 8 dimensions, spread {std:g}", X)
        for noise in (0.08, 0.13, 0.18):
            yield Data("synthetic", f"moons, noise {noise:g}", make_moons(300, noise=noise, random_state=seed)[0])
        for n in (20, 50, 200):
            yield Data("synthetic", f"mixture, N = {n}", paper_mixture(n, random_state=seed)[0])
        for noise in (0.08, 0.15, 0.22):
            yield Data("synthetic", f"rings, noise {noise:g}", rings(450, noise, seed))


def read(folder: Path, rows: int, pattern: str) -> Iterator[Data]:
    """Yield the labelled data sets with at most `rows` rows, the smallest first."""
    for data in sorted(read_sets(folder), key=lambda data: data.X.size):
        if len(data.X) <= rows and fnmatch(data.name, f"*{pattern}*"):
            kind = "benchmark" if data.kind.startswith("synthetic") else "real"
            metric = "cosine" if data.prep == "l2" else "euclidean"
            yield Data(kind, data.name, prepared(data.X, data.prep), metric)


def again(data: Data, count: int) -> Votes:
    """Return the rows and the labels of fits to random shares of the rows."""
    rng, found = np.random.default_rng(12345), []
    for seed in range(1000, 1000 + count):
        rows = np.sort(rng.permutation(len(data.X))[: round(SHARE * len(data.X))])
        found.append((rows, ModeSeek(metric=data.metric, random_state=seed).fit(data.X[rows]).labels_))
    return found


def chains(data: Data, counts: Sequence[int]) -> Iterator[tuple[Any, Votes]]:
    """Yield models with each number of chains, and the labels of new chains."""
    model = DoublyStochasticMeanShift(metric=data.metric, n_chains=FRESH, random_state=1000).fit(data.X)
    fresh = [(np.arange(len(data.X)), labels) for labels in model.chain_labels_]
    model.set_params(
        h_min=model.h_min_, h_max=model.h_max_, h_inf=model.h_inf_, random_state=0
    )  # these involve no chance
    for count in counts:
        yield clone(model).set_params(n_chains=count).fit(data.X), fresh


def reliability(labels: np.ndarray, confidence: np.ndarray, votes: Votes) -> list[dict[str, float]]:
    """Return for each bin of confidence its mean, the share of rows that kept their cluster, and their number."""
    sums = np.zeros((3, len(EDGES) - 1))
    for rows, found in votes:
        kept = counterparts(found, labels[rows]) == labels[rows]
        which = np.searchsorted(EDGES, confidence[rows], side="right") - 1
        for i, values in enumerate((np.ones(len(rows)), confidence[rows], kept)):
            sums[i] += np.bincount(which, weights=values, minlength=len(EDGES) - 1)
    return [
        {"low": float(low), "count": int(n), "confidence": float(c / n), "kept": float(k / n)}
        for low, n, c, k in zip(EDGES, *sums, strict=False)
        if n
    ]


def judged(data: Data, refits: int, *, with_chains: bool) -> Iterator[dict[str, Any]]:
    """Yield one row for each model and bin."""
    model = ModeSeek(metric=data.metric, random_state=0).fit(data.X)
    models = [(model, again(data, refits) if model.n_clusters_ > 1 else [])]
    if with_chains and len(data.X) <= CHAIN_ROWS and data.X.size <= CHAIN_NUMBERS:
        models += chains(data, COUNTS)
    for name, (model, votes) in zip(MODELS, models, strict=False):
        start = {"kind": data.kind, "set": data.name, "n": len(data.X), "model": name, "clusters": model.n_clusters_}
        if model.n_clusters_ == 1:  # no row can change its cluster
            yield {**start, "low": "", "count": 0}
            continue
        for line in reliability(model.labels_, model.confidence_, votes):
            yield {**start, **line}


def pooled(rows: Sequence[dict[str, Any]]) -> dict[float, np.ndarray]:
    """Return for each bin its share, confidence and kept share, as sums over data sets of equal weight."""
    of_set: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in rows:
        if int(row["count"]):
            of_set.setdefault((row["set"], row["draw"]), []).append(row)
    bins: dict[float, np.ndarray] = {}
    for lines in of_set.values():
        total = sum(int(line["count"]) for line in lines) * len(of_set)
        for line in lines:
            values = np.array([1.0, float(line["confidence"]), float(line["kept"])]) * int(line["count"]) / total
            bins[float(line["low"])] = bins.get(float(line["low"]), np.zeros(3)) + values
    return dict(sorted(bins.items()))


def error(bins: dict[float, np.ndarray]) -> float:
    """Return the mean absolute difference between confidence and kept share, over bins weighted by their share."""
    return float(sum(abs(confidence - kept) for _, confidence, kept in bins.values()))


def reliability_table(rows: Sequence[dict[str, Any]], kinds: Sequence[str]) -> str:
    """Return a table with one line for each bin and three columns for each kind of data."""
    by_kind = [pooled([row for row in rows if row["kind"] == kind]) for kind in kinds]
    lines = []
    for low, high in pairwise(EDGES):
        line = [f"{low:.2f} to {min(high, 1.0):.2f}"]
        for bins in by_kind:
            share, confidence, kept = bins.get(low, np.zeros(3))
            line += [f"{confidence / share:.3f}", f"{kept / share:.3f}", f"{share:.1%}"] if share else ["-"] * 3
        lines.append(line)
    lines += [["all: mean"], ["error"]]
    for bins in by_kind:
        _, confidence, kept = sum(bins.values(), np.zeros(3))
        lines[-2] += [f"{confidence:.3f}", f"{kept:.3f}", ""]
        lines[-1] += [f"**{error(bins):.3f}**", "", ""]
    head = ["confidence", *(f"{kind}: {what}" for kind in kinds for what in ("mean", "kept", "share"))]
    return table(head, lines)


def set_table(rows: Sequence[dict[str, Any]]) -> str:
    """Return a table with one line for each data set: clusters, mean confidence, kept share and error by model."""
    lines = []
    for name, draw in dict.fromkeys((row["set"], row["draw"]) for row in rows):
        mine = [row for row in rows if (row["set"], row["draw"]) == (name, draw)]
        line = [name, mine[0]["n"]]
        for model in MODELS:
            own = [row for row in mine if row["model"] == model]
            bins = pooled(own)
            if not bins:
                line += [str(own[0]["clusters"]) if own else "", "", "", ""]
                continue
            _, confidence, kept = sum(bins.values(), np.zeros(3))
            line += [str(own[0]["clusters"]), f"{confidence:.2f}", f"{kept:.2f}", f"{error(bins):.3f}"]
        lines.append([str(each) for each in line])
    head = [f"{model}: {what}" for model in MODELS for what in ("clusters", "confidence", "kept", "error")]
    return table(["set", "n", *head], lines)


def report(rows: Sequence[dict[str, Any]]) -> str:
    """Return the tables as Markdown."""
    text = [f"Measured on {rows[0]['machine']}."]
    for model in MODELS:
        own = [row for row in rows if row["model"] == model]
        of_set: dict[str, dict[str, list[dict[str, Any]]]] = {}
        for row in own:
            of_set.setdefault(row["kind"], {}).setdefault(row["set"] + row["draw"], []).append(row)
        errors = {
            kind: [error(pooled(each)) for each in sets.values() if pooled(each)] for kind, sets in of_set.items()
        }
        said = ", ".join(f"{len(each)} {kind} (mean error {np.mean(each):.3f})" for kind, each in errors.items())
        text += [f"### {model}", f"Data sets with two or more clusters: {said}.", reliability_table(own, list(errors))]
    return "\n\n".join([*text, "### Each data set", set_table(rows)])


def draw_picture(rows: Sequence[dict[str, Any]], path: Path) -> None:
    """Draw the kept share over the confidence, with one panel for each model."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, len(MODELS), figsize=(9, 3.2), sharey=True)
    for axis, model in zip(axes, MODELS, strict=True):
        axis.plot([0.4, 1], [0.4, 1], color="#bbbbbb", lw=1)
        own = [row for row in rows if row["model"] == model]
        for kind, mark, color in (
            ("synthetic", "o", "#0072B2"),
            ("benchmark", "s", "#D55E00"),
            ("real", "^", "#009E73"),
        ):
            bins = np.array(list(pooled([row for row in own if row["kind"] == kind]).values()))
            if len(bins):
                bins = bins[bins[:, 0] >= 0.002]
                axis.plot(bins[:, 1] / bins[:, 0], bins[:, 2] / bins[:, 0], marker=mark, color=color, label=kind)
        axis.set_title(model, loc="left")
        axis.set_xlabel("confidence")
    axes[0].set_ylabel("kept their cluster")
    axes[-1].legend(frameon=False, loc="lower right")
    figure.tight_layout()
    figure.savefig(path, dpi=110, metadata={"Software": None})
    plt.close(figure)


def measured(arguments: argparse.Namespace) -> list[dict[str, Any]]:
    """Measure all data sets and print the progress."""
    stated, rows = machine(), []
    draws, refits = (1, 2) if arguments.quick else (DRAWS, REFITS)
    sets = read(arguments.data, arguments.rows, arguments.only) if arguments.data else ()
    seen: dict[str, int] = {}
    try:
        for data in chain(made(draws), sets):
            draw = seen[data.name] = seen.get(data.name, -1) + 1
            with threadpool_limits(1), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found = [
                    {**row, "draw": str(draw), "machine": stated} for row in judged(data, refits, with_chains=draw == 0)
                ]
            rows += found
            if arguments.out:
                write_csv(arguments.out, rows)
            said = [f"{m} {error(pooled([r for r in found if r['model'] == m])):.3f}" for m in MODELS]
            print(f"{data.name:<44} {', '.join(said)}", flush=True)
    except KeyboardInterrupt:
        print("interrupted: the results so far follow", flush=True)
    return rows


def main() -> None:
    """Measure, print, write."""
    parser = parser_of(__doc__)
    parser.add_argument("--data", type=Path, help="folder with manifest.json and NAME.npz files")
    parser.add_argument("--rows", type=int, default=1100, help="largest number of rows of a data set (default 1100)")
    parser.add_argument("--only", metavar="PATTERN", default="", help="only data sets whose name contains PATTERN")
    parser.add_argument("--table", type=Path, metavar="CSV", help="print the tables of this file without measuring")
    parser.add_argument("--report", type=Path, help="page in which to replace the section")
    parser.add_argument("--picture", type=Path, help="file for a reliability diagram")
    arguments = parser.parse_args()
    if arguments.table:
        rows: list[dict[str, Any]] = list(read_csv(arguments.table))
    else:
        rows = measured(arguments)
    text = report(rows)
    print(text)
    if arguments.report:
        replace_section(ROOT / arguments.report, "calibration", text)
    if arguments.picture:
        draw_picture(rows, ROOT / arguments.picture)


if __name__ == "__main__":
    main()
