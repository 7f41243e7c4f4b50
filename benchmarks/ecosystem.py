"""Comparisons with other packages, and labels of new rows; prints Markdown tables.

Outlier scores beside GLOSH, `predict` beside a refit, single cells beside Leiden, topics of BERTopic beside HDBSCAN.
Run `python benchmarks/ecosystem.py [outliers] [new-rows] [single-cells] [topics]`; all of them by default. A package
that is not installed is left out.
"""

from __future__ import annotations

import argparse
import importlib.util
import inspect
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris, load_wine, make_blobs, make_moons
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import adjusted_rand_score, roc_auc_score
from sklearn.preprocessing import StandardScaler, normalize

from modeseek import BlurringMeanShift, DoublyStochasticMeanShift, MeanShift, ModeSeek, StochasticMeanShift
from modeseek._common.neighbors import nearest
from modeseek.anndata import cluster

SEEDS = range(3)
SPLITS = 6
MODULES = (
    *("calendar", "datetime", "decimal", "email.message", "fractions", "http.client", "ipaddress", "logging"),
    *("random", "shutil", "sqlite3.dbapi2", "statistics", "subprocess", "tarfile", "threading", "turtle", "zipfile"),
)
OUTLIERS = 20


def planted(seed: int) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Return data sets with 20 uniform outliers, and whether each row is one."""
    rng = np.random.default_rng(seed)
    inner = {
        "blobs of two widths, 2-D": make_blobs(
            [200, 200], centers=[[0, 0], [9, 0]], cluster_std=[1.5, 0.5], random_state=seed
        )[0],
        "moons, 2-D": make_moons(400, noise=0.06, random_state=seed)[0],
        "blobs, 10-D": make_blobs(400, 10, centers=4, random_state=seed)[0],
    }
    sets = {}
    for name, rows in inner.items():
        low, high = rows.min(axis=0), rows.max(axis=0)
        far = rng.uniform(low - 0.3 * (high - low), high + 0.3 * (high - low), (OUTLIERS, rows.shape[1]))
        sets[name] = np.vstack([rows, far]), np.arange(len(rows) + OUTLIERS) >= len(rows)
    return sets


def glosh(X: np.ndarray) -> np.ndarray:
    import hdbscan

    return hdbscan.HDBSCAN().fit(X).outlier_scores_


def outliers() -> None:
    methods = {
        "ModeSeek": lambda X: ModeSeek(random_state=0).fit(X).outlier_scores_,
        "MeanShift": lambda X: MeanShift().fit(X).outlier_scores_,
    }
    if importlib.util.find_spec("hdbscan"):
        methods["GLOSH (hdbscan)"] = glosh
    print("| data |", " | ".join(methods), "|\n|---|" + "--:|" * len(methods))
    for name in planted(0):
        cells = []
        for score in methods.values():
            areas = [roc_auc_score(truth, score(X)) for X, truth in (planted(seed)[name] for seed in SEEDS)]
            cells.append(f"{np.mean(areas):.3f}")
        print(f"| {name} |", " | ".join(cells), "|", flush=True)


def single_cells() -> None:
    if not importlib.util.find_spec("scanpy"):
        return
    import scanpy

    adata = scanpy.datasets.pbmc68k_reduced()
    print(f"\n{adata.n_obs} cells, scanpy {scanpy.__version__}")
    print("| method | clusters | ARI with bulk_labels |\n|---|--:|--:|")

    def show(name: str, key: str) -> None:
        score = adjusted_rand_score(adata.obs["bulk_labels"], adata.obs[key])
        print(f"| {name} | {adata.obs[key].nunique()} | {score:.3f} |", flush=True)

    cluster(adata)
    show("`ModeSeek` of `X_pca`", "modeseek")
    for n_neighbors in (15, 30):  # 15 is the default of scanpy
        scanpy.pp.neighbors(adata, n_neighbors=n_neighbors)
        cluster(adata, obsp="distances")
        show(f"`ModeSeek` of the graph of {n_neighbors} neighbours", "modeseek")
        if importlib.util.find_spec("igraph"):
            scanpy.tl.leiden(adata, flavor="igraph", n_iterations=2, directed=False)
            show(f"Leiden, {n_neighbors} neighbours", "leiden")


def docstrings() -> tuple[list[str], list[str]]:
    """Return the docstrings of some modules of the standard library, and the module of each."""
    found: dict[str, str] = {}
    for name in MODULES:
        module = importlib.import_module(name)
        classes = [each for _, each in inspect.getmembers(module, inspect.isclass) if each.__module__ == name]
        for owner in (module, *classes):
            for _, each in inspect.getmembers(owner, inspect.isroutine):
                text = inspect.getdoc(each) or ""
                if len(text) > 60 and getattr(each, "__module__", name) == name:
                    found.setdefault(text, name)
    return list(found), list(found.values())


def topics() -> None:
    if not importlib.util.find_spec("bertopic"):
        return
    from bertopic import BERTopic
    from bertopic.dimensionality import BaseDimensionalityReduction
    from hdbscan import HDBSCAN

    texts, modules = docstrings()
    words = TfidfVectorizer(stop_words="english", min_df=2, sublinear_tf=True).fit_transform(texts)
    embeddings = normalize(TruncatedSVD(50, random_state=0).fit_transform(words))
    print(f"\n{len(texts)} docstrings of {len(MODULES)} modules")
    print("| clustering | topics | outliers | ARI with the modules |\n|---|--:|--:|--:|")
    models = {"ModeSeek": ModeSeek(metric="cosine", random_state=0), "HDBSCAN": HDBSCAN(min_cluster_size=10)}
    for name, model in models.items():
        found = BERTopic(umap_model=BaseDimensionalityReduction(), hdbscan_model=model).fit(texts, embeddings)
        labels = np.array(found.topics_)
        score = adjusted_rand_score(modules, labels)
        print(f"| {name} | {labels.max() + 1} | {np.mean(labels == -1):.0%} | {score:.3f} |", flush=True)


def new_row_sets() -> dict[str, np.ndarray]:
    """Return data sets of scikit-learn with standardised columns, and two synthetic ones."""
    real = {"iris": load_iris, "wine": load_wine, "breast cancer": load_breast_cancer}
    return {
        "blobs, 2-D": make_blobs(500, centers=5, random_state=0)[0],
        "moons, 2-D": make_moons(500, noise=0.1, random_state=0)[0],
        **{name: StandardScaler().fit_transform(load(return_X_y=True)[0]) for name, load in real.items()},
    }


def by_climbing(model: Any, rows: np.ndarray, new: np.ndarray) -> np.ndarray:
    """Return the labels of new rows that climb the density of the training rows.

    A row gets the label of the training row that is nearest to the end of its climb; for `MeanShift`, that of the
    training row whose climb ended nearest.
    """
    settings = model.result_.settings
    h = settings.h_inf if settings.bandwidth is None else settings.bandwidth
    ends = MeanShift(h, seeds=new).fit(rows).points_
    targets = model.points_ if isinstance(model, MeanShift) else rows
    return model.labels_[nearest(targets, ends)]


def agreement() -> None:
    """Print the agreement of labels of held-out rows with those of a refit on all rows, mean ARI."""
    estimators = {
        "ModeSeek": ModeSeek(random_state=0),
        "MeanShift": MeanShift(),
        "BlurringMeanShift": BlurringMeanShift(),
        "StochasticMeanShift": StochasticMeanShift(random_state=0),
        "DoublyStochasticMeanShift": DoublyStochasticMeanShift(random_state=0),
    }
    ways = ("training rows", "`predict`", "nearest row", "climbing", "climbing - nearest", "nearest centre")
    sets = new_row_sets()
    print(f"\nnew rows: {', '.join(sets)}; {SPLITS} splits each")
    print("| estimator |", " | ".join(ways), "|\n|---|" + "--:|" * len(ways))
    for name, estimator in estimators.items():
        found = []
        for X in sets.values():
            refit = clone(estimator).fit(X)
            for seed in range(SPLITS):
                held = np.random.default_rng(seed).random(len(X)) < 0.2
                rows, new = X[~held], X[held]
                model = clone(estimator).fit(rows)
                near = model.labels_[nearest(rows, new)]
                climbed = near if name == "ModeSeek" else by_climbing(model, rows, new)
                labels = (model.predict(new), near, climbed, nearest(model.cluster_centers_, new))
                scores = [adjusted_rand_score(refit.labels_[held], each) for each in labels]
                found.append([adjusted_rand_score(refit.labels_[~held], model.labels_), *scores])
        cells = [f"{mean:.3f}" for mean in np.mean(found, axis=0)]
        gain = np.array(found)[:, 3] - np.array(found)[:, 2]
        cells.insert(4, f"{gain.mean():+.3f} ± {gain.std(ddof=1) / np.sqrt(len(gain)):.3f}")
        cells[3:5] = ["", ""] if name == "ModeSeek" else cells[3:5]
        print(f"| {name} |", " | ".join(cells), "|", flush=True)


PARTS = {"outliers": outliers, "new-rows": agreement, "single-cells": single_cells, "topics": topics}

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", default=[*PARTS], help=f"some of {', '.join(PARTS)}; default: all")
    for part in parser.parse_args().parts:
        PARTS[part]()
