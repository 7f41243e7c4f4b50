"""Compare the consensus of several chains with one chain and with other consensus rules.

Run it as

    python benchmarks/consensus.py --data DIR [--out FILE.csv] [--only PATTERN] [--report docs/consensus.md]
    python benchmarks/consensus.py --table FILE.csv [--report docs/consensus.md]

DIR is a folder of labelled sets, as in `quality.py`. Both random estimators run 16 chains at their defaults on every
set up to a size limit, and on the paper's mixture at the paper's range. Each rule makes a partition from all 16 chains,
and from the first and the second eight. No rule has settings for a particular set.
Rows are written as they are measured, and stay after Ctrl-C.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Iterator, Sequence
from fnmatch import fnmatch
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage
from sklearn.metrics import adjusted_rand_score

from common import ROOT, machine, parser_of, read_csv, replace_section, table, write_csv
from labelled import prepared, read_sets
from modeseek import DoublyStochasticMeanShift, StochasticMeanShift
from modeseek.datasets import paper_mixture
from modeseek.meanshift.consensus import consensus, find_fragments
from modeseek.metrics import rand_agreement

CHAINS, PART = 16, 8
MIXTURES, SEEDS = (20, 50, 200), 20
MODELS = {"DSMS": DoublyStochasticMeanShift, "SMS": StochasticMeanShift}
PAPER = {"DSMS": {"h_min": 0.2, "h_max": 1.6, "h_inf": 0.6}, "SMS": {"bandwidth": 0.6}}
SURE = 0.75
ONE, OURS = "one chain", "average linkage above 1/2"


def apart(chains: np.ndarray) -> np.ndarray:
    """Return one minus the co-association of all pairs of points, condensed as SciPy has it."""
    n = chains.shape[1]
    upper = np.triu_indices(n, 1)
    return 1 - np.mean([row[upper[0]] == row[upper[1]] for row in chains], axis=0)


def agreement(labels: np.ndarray, chains: np.ndarray) -> float:
    """Return the mean adjusted Rand index with the chains."""
    return float(np.mean([rand_agreement(labels, chain) for chain in chains]))


def medoid(chains: np.ndarray) -> np.ndarray:
    """Return the chain that agrees most with the others."""
    return chains[int(np.argmax([agreement(chain, chains) for chain in chains]))]


def single(chains: np.ndarray) -> np.ndarray:
    """Join points that share a cluster in more than half of the chains (single linkage)."""
    return fcluster(linkage(apart(chains), "single"), 0.5 - 1e-9, "distance") - 1


def best_cut(chains: np.ndarray) -> np.ndarray:
    """Cut average linkage where the partition agrees most with the chains."""
    tree = linkage(apart(chains), "average")
    heights = np.unique(np.round(tree[:, 2], 6))
    cuts = (fcluster(tree, height + 1e-6, "distance") - 1 for height in np.append(0.0, heights[heights < 1]))
    return max(cuts, key=lambda labels: agreement(labels, chains))


RULES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    OURS: lambda chains: consensus(chains).labels,
    "average linkage, best cut by ARI with the chains": best_cut,
    "the chain that agrees most with the others": medoid,
    "single linkage above 1/2": single,
}


def purity(y: np.ndarray, labels: np.ndarray, rows: np.ndarray) -> float:
    """Return the share of some rows whose class is the commonest of their cluster; nan if there are none."""
    counts = np.zeros((labels.max() + 1, y.max() + 1))
    np.add.at(counts, (labels, y), 1)
    return float((counts.argmax(axis=1)[labels] == y)[rows].mean()) if rows.any() else float("nan")


def judged(start: dict[str, Any], y: np.ndarray, model: Any) -> Iterator[dict[str, Any]]:
    """Yield a row for each rule and number of chains, from the labels of 16 chains."""
    known, chains = y >= 0, model.chain_labels_
    alone = [adjusted_rand_score(y[known], chain[known]) for chain in chains]
    counts = [chain.max() + 1 for chain in chains]
    yield {**start, "rule": ONE, "chains": 1, "ari": np.mean(alone), "spread": np.std(alone), "found": np.mean(counts)}
    for count in (PART, CHAINS):
        groups = [chains[low : low + count] for low in range(0, CHAINS, count)]
        for rule, make in RULES.items():
            found = [make(group) for group in groups]
            ari = [adjusted_rand_score(y[known], labels[known]) for labels in found]
            yield {
                **start,
                "rule": rule,
                "chains": count,
                "ari": np.mean(ari),
                "spread": np.std(ari),
                "found": np.mean([labels.max() + 1 for labels in found]),
                "agreement": np.mean([agreement(*pair) for pair in zip(found, groups, strict=True)]),
                **(details(y[known], known, model) if rule == OURS and count == CHAINS else {}),
            }


def details(y: np.ndarray, known: np.ndarray, model: Any) -> dict[str, float]:
    """Return details of the consensus of `modeseek`: fragments, doubtful rows, and rounds of linkage."""
    chains, labels, sure = model.chain_labels_, model.labels_[known], model.confidence_[known] >= SURE
    fragments = len(find_fragments(chains, np.ones(chains.shape[1])).weights)
    rounds = consensus(chains, max_fragments=max(1, fragments // 3)).labels
    return {
        "fragments": fragments,
        "doubtful": float(np.mean(~sure)),
        "purity_sure": purity(y, labels, sure),
        "purity_doubtful": purity(y, labels, ~sure),
        "rounds": rand_agreement(rounds, model.labels_),
    }


def fitted(name: str, X: np.ndarray, seed: int, options: dict[str, Any]) -> Any:
    """Run 16 chains."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return MODELS[name](n_chains=CHAINS, random_state=seed, **options).fit(X)


def sets(folder: Path, rows: int, numbers: int, pattern: str) -> Iterator[dict[str, Any]]:
    """Measure on the labelled sets up to a limit of rows and numbers, small ones first."""
    named = [data for data in read_sets(folder) if fnmatch(data.name, f"*{pattern}*")]
    chosen = [data for data in named if len(data.X) <= rows and data.X.size <= numbers]
    for data in sorted(chosen, key=lambda data: data.X.size * len(data.X)):
        order = np.random.default_rng(0).permutation(len(data.X))
        X, y = prepared(data.X, data.prep)[order], data.y[order]
        metric = {"metric": "cosine" if data.prep == "l2" else "euclidean"}
        for name in MODELS:
            start = {"set": data.name, "n": len(X), "d": X.shape[1], "algorithm": name}
            yield from judged(start, y, fitted(name, X, 0, metric))


def mixtures(seeds: int) -> Iterator[dict[str, Any]]:
    """Measure on the paper's mixture at the paper's settings."""
    for n in MIXTURES:
        for seed in range(seeds):
            X, y = paper_mixture(n, random_state=seed)
            for name in MODELS:
                start = {"set": f"mixture, N = {n}", "n": len(X), "d": 2, "algorithm": name}
                yield from judged(start, y, fitted(name, X, seed, PAPER[name]))


def mean(rows: Sequence[dict[str, Any]], column: str) -> float:
    """Return the mean of a column, without missing entries."""
    values = [float(row[column]) for row in rows if row.get(column) not in (None, "", "nan")]
    values = [value for value in values if np.isfinite(value)]
    return float(np.mean(values)) if values else float("nan")


def figure(value: float) -> str:
    """Return three digits, or a dash."""
    return f"{value:.3f}".replace("0.", ".", 1) if np.isfinite(value) else "-"


def by_rule(rows: Sequence[dict[str, Any]]) -> str:
    """Return mean ARI and clusters of each rule."""
    lines = []
    for rule, count in [(ONE, 1), *((rule, count) for count in (PART, CHAINS) for rule in RULES)]:
        line = [rule, str(count)]
        for name in MODELS:
            mine = [r for r in rows if (r["rule"], int(r["chains"]), r["algorithm"]) == (rule, count, name)]
            line += [figure(mean(mine, "ari")), f"{mean(mine, 'found'):.1f}", figure(mean(mine, "agreement"))]
        lines.append(line)
    head = ["rule", "chains", *(f"{what}, {name}" for name in MODELS for what in ("ARI", "clusters", "agreement"))]
    return table(head, lines)


def by_set(rows: Sequence[dict[str, Any]], algorithm: str) -> str:
    """Return a line for each set: one chain and the consensus of 16."""
    lines = []
    for which in dict.fromkeys(row["set"] for row in rows):
        mine = [row for row in rows if row["set"] == which and row["algorithm"] == algorithm]
        alone = [row for row in mine if row["rule"] == ONE]
        ours = [row for row in mine if row["rule"] == OURS and int(row["chains"]) == CHAINS]
        line = [which, f"{mean(ours, 'n'):.0f}", f"{figure(mean(alone, 'ari'))} ± {figure(mean(alone, 'spread'))}"]
        line += [figure(mean(ours, "ari")), f"{mean(alone, 'found'):.1f}", f"{mean(ours, 'found'):.1f}"]
        line += [
            figure(mean(ours, "agreement")),
            f"{mean(ours, 'fragments'):.0f}",
            f"{100 * mean(ours, 'doubtful'):.1f} %",
        ]
        line += [figure(mean(ours, name)) for name in ("purity_sure", "purity_doubtful", "rounds")]
        lines.append(line)
    head = "set, n, one chain, consensus, clusters of one, clusters, stability, fragments, doubtful, right if sure"
    return table([*head.split(", "), "right if doubtful", "in rounds"], lines)


def report(rows: Sequence[dict[str, Any]]) -> str:
    """Return the tables as Markdown."""
    real = [row for row in rows if not row["set"].startswith("mixture")]
    made = [row for row in rows if row["set"].startswith("mixture")]
    text = [f"Measured on {rows[0]['machine']}."]
    if real:
        text += [f"### By rule, means over {len({row['set'] for row in real})} labelled sets", by_rule(real)]
    for which in dict.fromkeys(row["set"] for row in made):
        mine = [row for row in made if row["set"] == which]
        text += [f"### The paper's {which}", by_rule(mine)]
    for name in MODELS:
        text += [f"### {name}, set by set", by_set(rows, name)]
    return "\n\n".join(text)


def measured(arguments: argparse.Namespace) -> list[dict[str, Any]]:
    """Return all rows, and print the progress."""
    stated, rows = machine(), []
    made = mixtures(2 if arguments.quick else SEEDS)
    try:
        for row in chain(made, sets(arguments.data, arguments.rows, arguments.numbers, arguments.only)):
            rows.append({**row, "machine": stated})
            if row["rule"] == ONE and arguments.out:
                write_csv(arguments.out, rows)
            if row["rule"] in (ONE, OURS):
                print(f"{row['set']:<26} {row['algorithm']:<4} {row['chains']:>2}  {row['ari']:.3f}", flush=True)
    except KeyboardInterrupt:
        print("interrupted: what is done is shown", flush=True)
    return rows


def main() -> None:
    """Measure, print, write."""
    parser = parser_of(__doc__)
    parser.add_argument("--data", type=Path, help="folder with manifest.json and NAME.npz files")
    parser.add_argument("--rows", type=int, default=3000, help="sets of more rows are left out (default 3000)")
    parser.add_argument("--numbers", type=int, default=100_000, help="... or of more numbers (default 100000)")
    parser.add_argument("--only", metavar="PATTERN", default="", help="sets whose name has this in it")
    parser.add_argument("--table", type=Path, metavar="CSV", help="measure nothing: print the tables of this file")
    parser.add_argument("--report", type=Path, help="page whose section is replaced")
    arguments = parser.parse_args()
    if (arguments.data is None) == (arguments.table is None):
        parser.error("give --data to measure, or --table to show what a file has")
    if arguments.table:
        rows: list[dict[str, Any]] = list(read_csv(arguments.table))
    else:
        rows = measured(arguments)
        if arguments.out:
            write_csv(arguments.out, rows)
    text = report(rows)
    print(text)
    if arguments.report:
        replace_section(ROOT / arguments.report, "consensus", text)


if __name__ == "__main__":
    main()
