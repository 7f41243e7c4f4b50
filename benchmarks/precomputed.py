"""`ModeSeek` on a graph of nearest neighbours beside `ModeSeek` on the rows; prints a Markdown table.

Run `python benchmarks/precomputed.py --data DIR --every 4`, where DIR has a manifest of labelled sets.
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path

import numpy as np
from sklearn.metrics import adjusted_rand_score
from sklearn.neighbors import KNeighborsTransformer

from common import table
from labelled import prepared, read_sets
from modeseek import ModeSeek

COUNTS = (60, 15)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder of labelled sets")
    parser.add_argument("--every", type=int, default=1, help="use every n-th set, in the order of their names")
    parser.add_argument("--limit", type=int, default=10, help="number of sets")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    rows, scores = [], []
    for each in sorted(read_sets(options.data), key=lambda one: one.name)[:: options.every][: options.limit]:
        X, metric = prepared(each.X, each.prep), "cosine" if each.prep == "l2" else "euclidean"
        kept = each.y >= 0
        found = [ModeSeek(metric=metric, random_state=0).fit(X)]
        for count in COUNTS:
            graph = KNeighborsTransformer(mode="distance", n_neighbors=min(count, len(X) - 1)).fit_transform(X)
            found.append(ModeSeek(metric="precomputed", random_state=0).fit(graph))
        scores.append([adjusted_rand_score(each.y[kept], model.labels_[kept]) for model in found])
        counts = [str(model.n_clusters_) for model in found]
        cells = [f"{score:.3f} ({count})" for score, count in zip(scores[-1], counts, strict=True)]
        rows.append([each.name, f"{len(X):,}", *cells])
        print(*rows[-1], flush=True)
    rows.append(["mean", "", *(f"{score:.3f}" for score in np.mean(scores, axis=0))])
    print(table(["data", "rows", "coordinates", *(f"graph of {count}" for count in COUNTS)], rows))


if __name__ == "__main__":
    main()
