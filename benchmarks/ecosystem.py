"""Outlier scores beside GLOSH, single cells beside Leiden, topics of BERTopic beside HDBSCAN; prints Markdown tables.

Run `python benchmarks/ecosystem.py`. A package that is not installed is left out.
"""

from __future__ import annotations

import importlib.util
import inspect

import numpy as np
from sklearn.datasets import make_blobs, make_moons
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import adjusted_rand_score, roc_auc_score
from sklearn.preprocessing import normalize

from modeseek import MeanShift, ModeSeek
from modeseek.anndata import cluster

SEEDS = range(3)
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
    truth = adata.obs["bulk_labels"]
    model = cluster(adata)
    print("\n| method | clusters | ARI with bulk_labels |\n|---|--:|--:|")
    rows = {"ModeSeek": adata.obs["modeseek"]}
    if importlib.util.find_spec("igraph"):
        scanpy.tl.leiden(adata, flavor="igraph", n_iterations=2, directed=False)
        rows["Leiden"] = adata.obs["leiden"]
    for name, labels in rows.items():
        print(f"| {name} | {labels.nunique()} | {adjusted_rand_score(truth, labels):.3f} |")
    print(model.message_)


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


if __name__ == "__main__":
    outliers()
    single_cells()
    topics()
