"""Methods, data and settings that the scripts compare."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from common import THREADS


class Data(NamedTuple):
    """Ten round Gaussians (sigma 1) of `sklearn.datasets.make_blobs`, and bandwidths that suit them.

    Attributes
    ----------
    d : int
        Features.
    box : float
        Centres are drawn from [-box, box]^d.
    flat : float
        Bandwidth of flat kernels.
    smooth : float
        Bandwidth of the biweight kernel; it is wider than the flat one, since its weights fall off to 0 at the rim.
    h_min, h_inf, h_max : float
        Range of doubly stochastic mean shift.
    """

    d: int
    box: float
    flat: float
    smooth: float
    h_min: float
    h_inf: float
    h_max: float


# With box 18 and random_state 0, some blobs in the plane overlap a little: scikit-learn's MeanShift at h = 2 has an ARI
# of .998, .993 and .994 at n = 10^3, 10^4 and 10^5 (bin seeds). In 16-D blobs of the default box are far apart.
DATA = {"2-D": Data(2, 18.0, 2.0, 3.0, 1.0, 2.0, 4.0), "16-D": Data(16, 10.0, 5.0, 7.5, 4.0, 5.0, 8.0)}
# two unit vectors of one cluster are about 0.8 apart (a chord), two of different ones about 1.4
UNIT_RANGE = (0.6, 1.1, 0.9)
SEED = 0
CLUSTERS = 10


def blobs(data: Data, n: int) -> tuple[Any, Any]:
    """Return n points and their true labels."""
    from sklearn.datasets import make_blobs

    return make_blobs(n, n_features=data.d, centers=CLUSTERS, center_box=(-data.box, data.box), random_state=SEED)


def unit_vectors(n: int, d: int, clusters: int, seed: int = SEED) -> tuple[Any, Any]:
    """Return unit vectors around random directions, at chords of about 0.6 from them, and their labels."""
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(clusters, d))
    labels = rng.integers(0, clusters, n)
    rows = centres[labels] / np.linalg.norm(centres[labels], axis=1, keepdims=True)
    rows = rows + rng.normal(size=(n, d)) * 0.7 / np.sqrt(d)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True), labels


class Fitted(NamedTuple):
    """Labels (-1 for noise), a note, and the estimator if there is one."""

    labels: Any
    note: str = ""
    model: Any = None


class Contestant(NamedTuple):
    """A method: its name in tables, the module it needs, what to install, its threads, and how to run it."""

    name: str
    module: str
    install: str
    threads: int
    fit: Callable[[Any, Data], Fitted]

    @property
    def there(self) -> bool:
        """Whether the module of the method can be imported."""
        return importlib.util.find_spec(self.module) is not None

    @property
    def ours(self) -> bool:
        """Whether the method belongs to this repository."""
        return self.module == "modeseek"


def _sklearn_mean_shift(bins: bool) -> Callable[[Any, Data], Fitted]:
    def fit(X: Any, data: Data) -> Fitted:
        from sklearn.cluster import MeanShift

        model = MeanShift(bandwidth=data.flat, bin_seeding=bins).fit(X)
        return Fitted(model.labels_, model=model)

    return fit


def _mlpack(X: Any, data: Data) -> Fitted:
    import mlpack

    return Fitted(np.ravel(mlpack.mean_shift(input_=X, radius=data.flat, labels_only=True)["output"]).astype(int))


def _hdbscan(X: Any, data: Data) -> Fitted:
    import hdbscan

    return Fitted(hdbscan.HDBSCAN(core_dist_n_jobs=THREADS).fit(X).labels_)


def _fast_hdbscan(X: Any, data: Data) -> Fitted:
    import fast_hdbscan

    return Fitted(fast_hdbscan.HDBSCAN().fit(X).labels_)


def _sklearn_hdbscan(X: Any, data: Data) -> Fitted:
    from sklearn.cluster import HDBSCAN

    return Fitted(HDBSCAN(n_jobs=THREADS, copy=True).fit(X).labels_)


def _genie(X: Any, data: Data) -> Fitted:
    import genieclust

    return Fitted(genieclust.Genie(n_clusters=CLUSTERS).fit(X).labels_)


def _ours(make: Callable[[Any, Data], Any]) -> Callable[[Any, Data], Fitted]:
    def fit(X: Any, data: Data) -> Fitted:
        import modeseek

        model = make(modeseek, data).fit(X)
        return Fitted(model.labels_, f"{model.engine_}, {model.outcome_.name.lower().replace('_', ' ')}", model)

    return fit


def dsms(modeseek: Any, data: Data, engine: str = "auto", **options: Any) -> Any:
    """Return doubly stochastic mean shift of all rows, with the range of the data."""
    return modeseek.DoublyStochasticMeanShift(
        data.h_min, data.h_max, data.h_inf, engine=engine, sketch=None, random_state=SEED, n_jobs=THREADS, **options
    )


def flat_mean_shift(modeseek: Any, data: Data, bins: bool = False) -> Any:
    """Return mean shift as scikit-learn has it; with bin seeds, labels are by the nearest centre as there."""
    labels = "nearest" if bins else "basin"
    return modeseek.MeanShift(data.flat, bin_seeding=bins, profile="flat", assign_labels=labels, n_jobs=THREADS)


# scikit-learn's MeanShift gets one process: two (n_jobs=2) took longer at n = 1,000 and 4,000 on the 2 cores this was
# written on, since it sends the data along with every seed.
CONTESTANTS = [
    Contestant("scikit-learn MeanShift", "sklearn", "scikit-learn", 1, _sklearn_mean_shift(False)),
    Contestant("scikit-learn MeanShift, bins", "sklearn", "scikit-learn", 1, _sklearn_mean_shift(True)),
    Contestant("mlpack mean shift", "mlpack", "mlpack", 1, _mlpack),
    Contestant("scikit-learn HDBSCAN", "sklearn", "scikit-learn", THREADS, _sklearn_hdbscan),
    Contestant("hdbscan", "hdbscan", "hdbscan", THREADS, _hdbscan),
    Contestant("fast_hdbscan", "fast_hdbscan", "fast_hdbscan", THREADS, _fast_hdbscan),
    Contestant("genieclust, given k", "genieclust", "genieclust", THREADS, _genie),
    Contestant("MeanShift flat", "modeseek", ".", THREADS, _ours(flat_mean_shift)),
    Contestant("MeanShift flat, bins", "modeseek", ".", THREADS, _ours(lambda m, data: flat_mean_shift(m, data, True))),
    Contestant(
        "MeanShift biweight", "modeseek", ".", THREADS, _ours(lambda m, data: m.MeanShift(data.smooth, n_jobs=THREADS))
    ),
    Contestant(
        "BlurringMeanShift",
        "modeseek",
        ".",
        THREADS,
        _ours(lambda m, data: m.BlurringMeanShift(data.smooth, sketch=None, n_jobs=THREADS)),
    ),
    Contestant(
        "StochasticMeanShift",
        "modeseek",
        ".",
        1,
        _ours(lambda m, data: m.StochasticMeanShift(data.smooth, sketch=None, random_state=SEED, n_jobs=THREADS)),
    ),
    Contestant("DoublyStochasticMeanShift", "modeseek", ".", 1, _ours(dsms)),
]
BY_NAME = {contestant.name: contestant for contestant in CONTESTANTS}
