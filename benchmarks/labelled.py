"""Labelled sets of a folder, the methods that cluster them, and the scores."""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.cluster import HDBSCAN, KMeans, MeanShift
from sklearn.decomposition import PCA
from sklearn.metrics import adjusted_mutual_info_score, adjusted_rand_score
from sklearn.mixture import GaussianMixture
from threadpoolctl import threadpool_limits

import modeseek
from contestants import Fitted
from modeseek.metrics import k_score

NOISE = -1
PREPARATIONS = ("std", "l2")
# above this number of rows, scikit-learn's MeanShift from every point would take too long
BINS_FROM = 2_000
# a full covariance of more dimensions has more entries than most sets have rows
MIXTURE_DIMENSIONS = 16


class LabelledSet(NamedTuple):
    """Data with known classes.

    Attributes
    ----------
    name, kind : str
        Name and kind of data; used in tables only.
    prep : {"std", "l2"}
        Standardised columns, or unit rows and cosine geometry.
    X : (n, d) array
    y : (n,) integer array
        Classes; -1 where the reference leaves a row out.
    """

    name: str
    kind: str
    prep: str
    X: np.ndarray
    y: np.ndarray


class Task(NamedTuple):
    """Prepared and shuffled rows; the true number of classes is for methods that need it."""

    X: np.ndarray
    cosine: bool
    k: int
    seed: int


class Method(NamedTuple):
    """A clusterer: name in files, heading in tables, whether it belongs to `modeseek`, and function."""

    name: str
    head: str
    ours: bool
    fit: Callable[[Task], Fitted]

    @property
    def there(self) -> bool:
        """Whether this version of the library has the method."""
        return not self.ours or hasattr(modeseek, self.name)


def read_sets(folder: Path) -> list[LabelledSet]:
    """Read every set of the manifest; exit with a message at the first invalid one."""
    manifest = folder / "manifest.json"
    if not manifest.is_file():
        raise SystemExit(
            f"{folder} has no manifest.json: --data must be a folder with one, and a NAME.npz for each entry"
        )
    try:
        entries = json.loads(manifest.read_text())
    except ValueError as error:
        raise SystemExit(f"{manifest} is no JSON: {error}") from error
    if not isinstance(entries, list) or not entries:
        raise SystemExit(f"{manifest} must be a list of entries, each with name, kind and prep")
    return [_read_set(folder, manifest, entry) for entry in entries]


def _read_set(folder: Path, manifest: Path, entry: Any) -> LabelledSet:
    missing = [key for key in ("name", "kind", "prep") if not isinstance(entry, dict) or key not in entry]
    if missing:
        raise SystemExit(f"{manifest}: an entry has no {', '.join(missing)}: {str(entry)[:100]}")
    name, prep = entry["name"], entry["prep"]
    if prep not in PREPARATIONS:
        raise SystemExit(f"{manifest}: prep of {name} is {prep!r}; it must be one of {', '.join(PREPARATIONS)}")
    path = folder / f"{name}.npz"
    try:
        with np.load(path) as arrays:
            X, y = arrays["X"].astype(float), arrays["y"].astype(int)
    except (OSError, ValueError, KeyError) as error:
        raise SystemExit(f"{path} cannot be read: {error}") from error
    if X.ndim != 2 or y.shape != (len(X),):
        raise SystemExit(f"{path}: X must be (n, d) and y (n,); got {X.shape} and {y.shape}")
    if not (y != NOISE).any():
        raise SystemExit(f"{path}: y is -1 for every row: nothing is left to score")
    return LabelledSet(name, entry["kind"], prep, X, y)


def prepared(X: np.ndarray, prep: str) -> np.ndarray:
    """Return standardised columns, constant ones at 0, or rows of length 1; rows of zeros stay."""
    if prep == "l2":
        lengths = np.linalg.norm(X, axis=1, keepdims=True)
        return X / np.where(lengths > 0, lengths, 1.0)
    centred = X - X.mean(axis=0)
    # by the range: rounding leaves a constant column with a tiny deviation, which would be blown up
    varies = np.ptp(X, axis=0) > 0
    return np.where(varies, centred, 0.0) / np.where(varies, centred.std(axis=0), 1.0)


def _ours(name: str, head: str) -> Method:
    def fit(task: Task) -> Fitted:
        model = getattr(modeseek, name)()
        wanted = {"random_state": task.seed, "metric": "cosine" if task.cosine else "euclidean"}
        known = model.get_params()
        model.set_params(**{key: value for key, value in wanted.items() if key in known}).fit(task.X)
        return Fitted(model.labels_, model=model)

    return Method(name, head, True, fit)


def _mean_shift(task: Task) -> Fitted:
    bins = len(task.X) > BINS_FROM
    return Fitted(MeanShift(bin_seeding=bins).fit(task.X).labels_, "bin seeding" if bins else "")


def _hdbscan(task: Task) -> Fitted:
    return Fitted(HDBSCAN(min_cluster_size=5, copy=True).fit(task.X).labels_)


def _fast_hdbscan(task: Task) -> Fitted:
    import fast_hdbscan

    return Fitted(fast_hdbscan.HDBSCAN().fit(task.X).labels_)


def _plscan(task: Task) -> Fitted:
    from fast_plscan import PLSCAN

    return Fitted(PLSCAN().fit(task.X).labels_)


def _evoc(task: Task) -> Fitted:
    import evoc

    if not task.cosine:
        raise ValueError("EVoC is for embeddings")
    return Fitted(evoc.EVoC(random_state=task.seed).fit_predict(task.X.astype(np.float32)))


def _k_means(task: Task) -> Fitted:
    return Fitted(KMeans(task.k, n_init=3, random_state=task.seed).fit(task.X).labels_)


def _mixture(task: Task) -> Fitted:
    X, notes = task.X, []
    if X.shape[1] > MIXTURE_DIMENSIONS:
        X = PCA(min(MIXTURE_DIMENSIONS, len(X)), random_state=task.seed).fit_transform(X)
        notes.append(f"PCA to {X.shape[1]}")

    def labels(covariance: str) -> np.ndarray:
        return GaussianMixture(
            task.k, covariance_type=covariance, reg_covar=1e-4, n_init=3, random_state=task.seed
        ).fit_predict(X)

    try:
        found = labels("full")
    except ValueError:  # a covariance that cannot be inverted
        found = labels("diag")
        notes.append("diagonal")
    return Fitted(found, ", ".join(notes))


METHODS = [
    _ours("ModeSeek", "ModeSeek"),
    _ours("DoublyStochasticMeanShift", "DSMS"),
    _ours("StochasticMeanShift", "SMS"),
    _ours("MeanShift", "MeanShift"),
    Method("sklearn MeanShift", "MeanShift (scikit-learn)", False, _mean_shift),
    Method("HDBSCAN", "HDBSCAN", False, _hdbscan),
    Method("fast_hdbscan", "fast_hdbscan", False, _fast_hdbscan),
    Method("PLSCAN", "PLSCAN", False, _plscan),
    Method("EVoC", "EVoC", False, _evoc),
    Method("KMeans (k)", "k-means, given k", False, _k_means),
    Method("GaussianMixture (k)", "mixture, given k", False, _mixture),
]
BY_NAME = {method.name: method for method in METHODS}


def scores(y: np.ndarray, labels: np.ndarray) -> dict[str, float]:
    """Return ARI, AMI and K in both weightings.

    Rows whose true label is -1 are left out. Each noise point counts as a cluster of one point.
    """
    known = y != NOISE
    alone = labels == NOISE
    found = np.where(alone, labels.max() + 1 + np.cumsum(alone), labels)
    return {
        "ari": float(adjusted_rand_score(y[known], found[known])),
        "ami": float(adjusted_mutual_info_score(y[known], found[known])),
        "k_paper": k_score(y, labels),
        "k_weighted": k_score(y, labels, weighted=True),
    }


def measure(data: LabelledSet, method: str, seed: int) -> dict[str, Any]:
    """Return one row: the scores of a method on a set, or its error."""
    order = np.random.default_rng(seed).permutation(len(data.X))
    X, y = prepared(data.X, data.prep)[order], data.y[order]
    k = len(np.unique(y[y != NOISE]))
    row: dict[str, Any] = {"set": data.name, "kind": data.kind, "n": len(X), "d": X.shape[1], "k": k}
    row |= {"method": method, "seed": seed}
    start = time.perf_counter()
    try:
        # several threads on short sums cost far more than they save where cores are busy
        with threadpool_limits(1), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what they say of the end is in `outcome`
            fitted = BY_NAME[method].fit(Task(X, data.prep == "l2", k, seed))
        seconds = time.perf_counter() - start
        labels = np.asarray(fitted.labels)
        if labels.shape != y.shape:
            raise ValueError(f"labels of shape {labels.shape} for {len(y)} rows")
        row |= scores(y, labels)
    except Exception as error:
        said = " ".join(f"{type(error).__name__}: {error}".split())
        return {**row, "seconds": time.perf_counter() - start, "error": said[:300]}
    clusters = len(np.unique(labels[labels != NOISE]))
    row |= {"found": clusters, "noise": int((labels == NOISE).sum()), "seconds": seconds, "note": fitted.note}
    outcome = getattr(fitted.model, "outcome_", "")
    return {**row, "outcome": getattr(outcome, "name", str(outcome)).lower()}
