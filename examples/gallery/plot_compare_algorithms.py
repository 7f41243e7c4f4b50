"""
Comparison of clustering algorithms
===================================

The columns are seven small data sets, the rows are clustering algorithms. Six data sets are those of scikit-learn's
well-known comparison, with 500 points each. The last is the sparse mixture of the paper on doubly stochastic mean
shift, with 3 times 50 points.

The algorithms get different information:

- The five rows at the top are the estimators of modeseek **at their defaults**: only the seed is set, no bandwidth and
  no number of clusters.
- The next five are estimators of scikit-learn that need no number of clusters, but other parameters. They use
  **the parameters of scikit-learn's example**, which were chosen by eye for each data set. The sparse mixture is not in
  that example and uses its default parameters.
- The next five need **the number of clusters** and get the true one (three for the data set without structure). Their
  other parameters are those of the same example.
- Algorithms of other packages follow, if these are installed, at their defaults.

Each panel states the number of clusters, the agreement with the truth and the time of one fit. The agreement is the
adjusted Rand index (ARI): 1 for identical partitions, 0 on average for random labels. Points that an algorithm labels
as noise are grey, and each counts as a cluster of its own in the index. The data set without structure has one true
cluster, so the index is 1 for a single cluster and 0 for any other result.
"""

import time
import warnings
from importlib.util import find_spec

import matplotlib.pyplot as plt
import numpy as np
from sklearn import cluster
from sklearn.datasets import make_blobs, make_circles, make_moons
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import GaussianMixture
from sklearn.neighbors import kneighbors_graph
from sklearn.preprocessing import StandardScaler

import modeseek
from modeseek.datasets import paper_mixture
from modeseek.plots import palette

# %%
# Data sets
# ---------
# They are standardised. The colours show the true clusters.

N = 500
stretched, stretched_labels = make_blobs(N, random_state=170)
sets = {
    "circles": make_circles(N, factor=0.5, noise=0.05, random_state=30),
    "moons": make_moons(N, noise=0.05, random_state=30),
    "uneven spread": make_blobs(N, cluster_std=[1.0, 2.5, 0.5], random_state=170),
    "stretched": (stretched @ [[0.6, -0.6], [-0.4, 0.8]], stretched_labels),
    "blobs": make_blobs(N, random_state=30),
    "no structure": (np.random.RandomState(30).rand(N, 2), np.zeros(N, dtype=int)),
    "sparse mixture": paper_mixture(50, random_state=0),
}
sets = {name: (StandardScaler().fit_transform(X), y) for name, (X, y) in sets.items()}

figure, places = plt.subplots(2, 4, figsize=(10, 5), layout="constrained")
places[1, 3].set_axis_off()
for ax, (name, (X, y)) in zip(places.flat, sets.items(), strict=False):
    ax.scatter(*X.T, c=np.array(palette(3))[y], s=8, linewidths=0)
    ax.set(title=name, xticks=[], yticks=[])
plt.show()

# %%
# Parameters of scikit-learn's example
# ------------------------------------
# The parameters for all data sets, and the changes for some of them.

usual = {
    "quantile": 0.3,
    "eps": 0.3,
    "damping": 0.9,
    "preference": -200,
    "n_neighbors": 3,
    "k": 3,
    "xi": 0.05,
    "smallest": 0.1,
}
changed = {
    "circles": {"damping": 0.77, "preference": -240, "quantile": 0.2, "k": 2, "xi": 0.08},
    "moons": {"damping": 0.75, "preference": -220, "k": 2, "xi": 0.1},
    "uneven spread": {"eps": 0.18, "n_neighbors": 2, "xi": 0.01, "smallest": 0.2},
    "stretched": {"eps": 0.15, "n_neighbors": 2, "xi": 0.1, "smallest": 0.2},
    "blobs": {"xi": 0.1, "smallest": 0.2},
}

# %%
# Algorithms
# ----------


def ours(X, s):
    """Estimators of modeseek at their defaults, with a fixed seed."""
    return {
        "ModeSeek": modeseek.ModeSeek(random_state=0),
        "DSMS": modeseek.DoublyStochasticMeanShift(random_state=0),
        "SMS": modeseek.StochasticMeanShift(random_state=0),
        "BMS": modeseek.BlurringMeanShift(),
        "MS": modeseek.MeanShift(),
    }


def tuned(X, s):
    """Estimators that need no number of clusters, with the parameters of scikit-learn's example."""
    h = cluster.estimate_bandwidth(X, quantile=s["quantile"])
    return {
        "MeanShift": cluster.MeanShift(bandwidth=h, bin_seeding=True),
        "HDBSCAN": cluster.HDBSCAN(min_samples=3, min_cluster_size=15, allow_single_cluster=True, copy=True),
        "DBSCAN": cluster.DBSCAN(eps=s["eps"]),
        "OPTICS": cluster.OPTICS(min_samples=7, xi=s["xi"], min_cluster_size=s["smallest"]),
        "Affinity\nPropagation": cluster.AffinityPropagation(
            damping=s["damping"], preference=s["preference"], random_state=42
        ),
    }


def given_k(X, s):
    """Estimators with the true number of clusters, and the other parameters of scikit-learn's example."""
    k, near = s["k"], kneighbors_graph(X, n_neighbors=s["n_neighbors"], include_self=False)
    return {
        "k-means": cluster.KMeans(k, random_state=42),
        "Gaussian\nmixture": GaussianMixture(k, covariance_type="full", random_state=42),
        "Spectral": cluster.SpectralClustering(k, eigen_solver="arpack", affinity="nearest_neighbors", random_state=42),
        "Ward": cluster.AgglomerativeClustering(k, linkage="ward", connectivity=0.5 * (near + near.T)),
        "Birch": cluster.Birch(n_clusters=k),
    }


def other_packages(X, s):
    """Installed algorithms of other packages, at their defaults; genieclust gets the number of clusters."""
    found = {}
    if find_spec("hdbscan"):
        import hdbscan

        found["hdbscan"] = hdbscan.HDBSCAN()
    if find_spec("fast_hdbscan"):
        import fast_hdbscan

        found["fast_hdbscan"] = fast_hdbscan.HDBSCAN()
    if find_spec("genieclust"):
        import genieclust

        found["genieclust\n(true k)"] = genieclust.Genie(n_clusters=s["k"])
    return found


groups = {
    "modeseek: defaults": ours,
    "scikit-learn: parameters tuned for each data set": tuned,
    "scikit-learn: true number of clusters given": given_k,
    "other packages: defaults": other_packages,
}

# %%
# Fits
# ----
# An extra fit on the first data set keeps compilation and imports out of the measured times.


def fit(model, X):
    """Return the labels and the time in milliseconds."""
    start = time.perf_counter()
    labels = model.fit_predict(X)
    return labels, 1000 * (time.perf_counter() - start)


def agreement(y, labels):
    """Return the adjusted Rand index, with each noise point as a cluster of its own."""
    labels = np.where(labels < 0, labels.max() + 1 + np.arange(len(labels)), labels)
    return adjusted_rand_score(y, labels)


warnings.filterwarnings("ignore", module="sklearn")  # such as disconnected neighbour graphs
warnings.filterwarnings("ignore", module="threadpoolctl")
results = {}
for number, (name, (X, y)) in enumerate(sets.items()):
    settings = usual | changed.get(name, {})
    for group, make in groups.items():
        for method, model in make(X, settings).items():
            if number == 0:
                fit(model, X)
            labels, milliseconds = fit(model, X)
            results.setdefault(group, {}).setdefault(method, []).append((labels, milliseconds, agreement(y, labels)))

installed = [method.split("\n")[0] for method in results.get("other packages: defaults", {})]
print("algorithms of other packages:", ", ".join(installed) or "none installed")

# %%
# Figure
# ------

TEXT_COLOR = "#333333"
MUTED_COLOR = "#666666"
# sizes in inches: of a panel, of the heading of a group, of the names at the left
WIDTH, HEIGHT = 1.62, 1.5
HEAD, SIDE = 0.42, 1.15
lines = sum(len(methods) for methods in results.values())
size = (SIDE + WIDTH * len(sets), HEIGHT * lines + HEAD * len(results) + 0.3)
figure = plt.figure(figsize=size)


def place(left, top, width, height):
    """Return axes at a position in inches from the upper left corner."""
    return figure.add_axes((left / size[0], 1 - (top + height) / size[1], width / size[0], height / size[1]))


def panel(ax, X, labels):
    """Draw points in the colours of their clusters, the largest cluster first, and noise in grey."""
    clusters, counts = np.unique(labels[labels >= 0], return_counts=True)
    for color, which in zip(palette(len(clusters)), clusters[np.argsort(-counts)], strict=True):
        ax.plot(*X[labels == which].T, ".", color=color, markersize=3.4, markeredgewidth=0)
    ax.plot(*X[labels < 0].T, ".", color="#A8A8A8", markersize=3.4, markeredgewidth=0)
    ax.set(xlim=(-2.7, 2.7), ylim=(-3.5, 3.2), xticks=[], yticks=[])
    ax.spines[:].set_color("#CCCCCC")


def write(ax, labels, milliseconds, ari):
    """Write the number of clusters, the agreement with the truth and the time into a panel."""
    n_clusters = len(set(labels[labels >= 0]))
    taken = f"{milliseconds:.0f} ms" if milliseconds < 999.5 else f"{milliseconds / 1000:.1f} s"
    small = {"fontsize": 9, "transform": ax.transAxes}
    ax.text(0.03, 0.03, f"{n_clusters} cluster{'s' * (n_clusters != 1)}", color=TEXT_COLOR, **small)
    ax.text(0.97, 0.03, f"ARI {round(ari, 2) + 0.0:.2f}", color=TEXT_COLOR, ha="right", fontweight="bold", **small)
    ax.text(0.97, 0.97, taken, color=MUTED_COLOR, ha="right", va="top", **small)


top = 0.05
for group, methods in results.items():
    heading = {"fontsize": 13, "fontweight": "bold", "color": TEXT_COLOR, "va": "center"}
    figure.text(0.1 / size[0], 1 - (top + 0.2) / size[1], group, **heading)
    top += HEAD + (0.25 if top < HEAD else 0)
    for number, (method, found) in enumerate(methods.items()):
        middle = 1 - (top + HEIGHT / 2) / size[1]
        figure.text(0.1 / size[0], middle, method, fontsize=11.5, color=TEXT_COLOR, va="center")
        for column, ((name, (X, _)), result) in enumerate(zip(sets.items(), found, strict=True)):
            ax = place(SIDE + WIDTH * column, top, WIDTH - 0.06, HEIGHT - 0.06)
            panel(ax, X, result[0])
            write(ax, *result)
            if number == 0 and group == next(iter(results)):
                ax.set_title(name, fontsize=11.5, color=TEXT_COLOR, pad=5)
        top += HEIGHT
plt.show()

# %%
# Interpretation
# --------------
# The times of modeseek's estimators include the choice of the bandwidth or scale, which takes most of the fit; the
# other algorithms got their parameters. A few hundred points are too few to judge speed: the page on benchmarks has
# larger data.
#
# These toy data show which shapes an algorithm can recognise, not how well it works on real data. The page on quality
# has 46 labelled data sets.

for group, methods in results.items():
    print(f"\n{group}")
    for method, found in methods.items():
        scores = " ".join(f"{ari:5.2f}" for _, _, ari in found)
        print(f"  {method.replace(chr(10), ' '):22} {scores}   mean {np.mean([ari for _, _, ari in found]):.2f}")
