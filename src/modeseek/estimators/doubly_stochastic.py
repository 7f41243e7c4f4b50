"""DoublyStochasticMeanShift: a random point moves at a random bandwidth."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from functools import partial

from modeseek._common.points import Points
from modeseek._common.types import Watcher
from modeseek._common.validation import check_number, seed_of
from modeseek.estimators.random_chains import RandomChainClusterer
from modeseek.estimators.result import FitData, FitSettings
from modeseek.meanshift.bandwidth import NuSpec, make_policy
from modeseek.meanshift.chains import Chain, doubly_stochastic
from modeseek.meanshift.types import BandwidthPolicy
from modeseek.selection.bandwidths import complete_range

__all__ = ["DoublyStochasticMeanShift"]


@dataclass(eq=False, repr=False)
class DoublyStochasticMeanShift(RandomChainClusterer):
    """Doubly stochastic mean shift (DSMS): a random point moves at a random bandwidth, until nothing can change.

    At each update one point, drawn at random, is replaced by the weighted mean of the points around it,

        x_i <- S_h(x_i) = sum_j w_j G((x_i - x_j)/h) x_j / sum_j w_j G((x_i - x_j)/h),

    with a bandwidth h drawn from a policy on [h_min, h_max]. Points collapse into clumps, which are the clusters; their
    number is not given. A run ends as soon as no later draw can change the partition.

    Parameters
    ----------
    h_min, h_max, h_inf : float, optional
        Range of the bandwidth and the value that it closes on. None: chosen from the data, by chains on halves
        of it (see docs/choosing-the-range.md). Under cosine, h is the chord sqrt(2 - 2 cos) between unit vectors.
    policy : {"shrinking", "walk", "uniform", "anchored", "constant"} or BandwidthPolicy, default="shrinking"
        How h is drawn. "walk" is the paper's Algorithm 1b, which the theorems cover; "shrinking" is our reading of its
        experiments. A policy of one's own brings its own range, so h_min, h_max and h_inf stay None.
    nu : {"log-log", "1/k", "1/k^a"}, float or callable, default="log-log"
        The sequence that lets h settle; a number a means k^-a.
    profile : {"biweight", "triweight", "quadweight", "flat", "gaussian"} or Profile, default="biweight"
        Shape of the kernel; the last two are outside the theorems.
    metric : {"euclidean", "cosine"}, default="euclidean"
        Under "cosine" rows are scaled to unit length and points stay on the sphere.
    order : {"random", "reshuffled", "even"}, default="random"
        Draw every point anew (the paper), by its weight, or visit all in a new random order each sweep, or draw every
        point anew with the same chance whatever its weight, which "random" does with a summary of many rows too.
    batch_size : int, default=1
        How many distinct points move at once.
    local_scale : bool, default=False
        Multiply h by a factor of the moving point: its distance to near neighbours over the median one.
    tol : float, default=1e-6
        A shift up to tol * h_min counts as none.
    tau : float, optional
        Points closer than this at the end share a cluster; below h_min / 2. None: h_min / 4.
    max_updates : int, optional
        Limit on single-point updates, looked at after each sweep of about n. None: max(10^7, 200 n).
    max_time : float, optional
        Limit on seconds of a run, kept to within a fraction of one; a sweep that it cuts short does not count.
    n_chains : "auto" or int, default="auto"
        How many independent chains run; "auto" is one. With more, `labels_` is what they agree on: groups of points
        that go together in more than half of the chains (see docs/consensus.md). Chain 0 is the one that "auto"
        runs. Limits hold for each chain. After Ctrl-C those count that had ended, or else those that had begun.
    min_cluster_size : int, default=1
        Clusters lighter than this become noise, label -1.
    sketch : {"auto", "grid", "sample"} or None, default="auto"
        Whether to run on weighted points that stand for many rows: cells of a grid with the mean of their rows, or a
        sample. "auto" does so above 50,000 rows and says so in a warning; None takes every row. See docs/scale.md.
    resolution : float, default=1/16
        How wide cells of the grid may be, over the smallest bandwidth.
    engine : {"auto", "brute", "moment_tree", "neighbor_lists", "cuda", "reference"}, default="auto"
        All are exact; they differ in speed, and `engine_` tells which was taken. See docs/engines.md.
    n_jobs : int, optional
        Threads for chains, batches, neighbour searches and `predict`. One chain is sequential. Labels do not depend
        on it.
    random_state : int, RandomState, Generator or None
        Seed of the draws.
    verbose : int, default=0
        1 shows progress on a terminal.
    callbacks : sequence of callables, optional
        Each is called as f(state, info) after every sweep.
    record : "all", name, sequence of names or Record, optional
        What to keep of the run in `trace_` besides the bandwidth path and the largest shifts, after every sweep:
        "clumps", "diameter", "gap", "objective" (costs n^2 each time), "snapshots" (the points, as rows of X). With
        several chains the first one records.
        Pictures of a run need it, see `modeseek.plots`; `Record` also says how often.
    checkpoint : str or path-like, optional
        A file for how far the run has come, saved now and then and at the end. The same fit goes on from it, and gives
        bit for bit what it gives in one piece; other data or settings are refused. See docs/how-to-checkpoints.md.
    checkpoint_every : float, default=60
        Seconds between two saves.

    Attributes
    ----------
    labels_ : integer array of shape (n_samples,)
        Cluster of each row, 0 being the heaviest; -1 for noise.
    cluster_centers_ : array of shape (n_clusters, n_features)
        Where the clusters' points ended, on average.
    n_clusters_ : int
        Number of clusters, noise aside.
    h_min_, h_inf_, h_max_ : float
        The range in force.
    points_ : array of shape (n_samples, n_features)
        Final position of each row; with several chains their mean.
    outcome_ : Outcome
        How the run ended; its value is a sentence. With several chains that of the worst.
    partition_ : Partition
        Diameter, gap, whether certified; small clusters included. With several chains diameter and gap are nan, and it
        is certified where each chain is.
    n_updates_ : int
        Single-point updates done, by all chains.
    engine_ : str
        The engine in force.
    trace_ : Trace
        Bandwidth path, largest shifts and what `record` asks for, of the first chain. Each is a `Series` of k, the
        updates done, and values.
    memberships_ : array of shape (n_samples, n_clusters)
        Only with several chains, as are the next four: share of the chains in which a row goes with each cluster. A
        chain's cluster counts as the one that it shares most weight with. Rows add up to 1 (0 for noise).
    confidence_ : array of shape (n_samples,)
        The membership in its own cluster: about how often a fresh chain keeps the row there; see docs/confidence.md.
    cluster_stability_ : array of shape (n_clusters,)
        Mean Jaccard index of each cluster with the closest one of each chain: it falls where chains split or merge it.
    stability_ : float
        Mean adjusted Rand index of the chains with the consensus.
    chain_labels_ : integer array of shape (n_chains, n_samples)
        Labels of each chain that counts; small clusters included.
    sketch_ : SketchPoints
        If the fit ran on a sketch: its points, their weights and the width of its cells.
    n_features_in_ : int
    feature_names_in_ : array of str

    References
    ----------
    T. Trigano, Y. Sepulcre, I. Lapidot, "Doubly Stochastic Mean-Shift Clustering".

    Examples
    --------
    >>> import numpy as np
    >>> from modeseek import DoublyStochasticMeanShift
    >>> from modeseek.datasets import paper_mixture
    >>> X, y = paper_mixture(50, random_state=0)
    >>> model = DoublyStochasticMeanShift(0.2, 1.6, 0.6, random_state=0).fit(X)
    >>> model.n_clusters_, model.outcome_.name
    (5, 'CERTIFIED')

    Several chains also tell which rows are in doubt:

    >>> model.set_params(n_chains=8).fit(X).n_clusters_, round(model.stability_, 2)
    (3, 0.84)
    >>> np.flatnonzero(model.confidence_ < 0.75)
    array([ 49, 116])
    """

    h_min: float | None = None
    h_max: float | None = None
    h_inf: float | None = None
    _: KW_ONLY
    policy: str | BandwidthPolicy = "shrinking"
    nu: NuSpec = "log-log"

    def _choose_settings(self, sample: Points, watch: Watcher | None) -> FitSettings:
        if not isinstance(self.policy, str):
            return self._settings_of(self.policy)
        given = {"h_min": self.h_min, "h_inf": self.h_inf, "h_max": self.h_max}
        known = {name: check_number(name, h) for name, h in given.items() if h is not None}
        if len(known) < 3:
            h_min, h_inf, h_max = complete_range(**given, automatic=self._automatic_range(sample, watch))
        else:
            h_min, h_inf, h_max = known["h_min"], known["h_inf"], known["h_max"]
        policy = make_policy(self.policy, h_min, h_max, h_inf, self.nu)
        return FitSettings(h_min=h_min, h_inf=h_inf, h_max=h_max, policy=policy, single_updates=self._single_updates())

    def _settings_of(self, policy: BandwidthPolicy) -> FitSettings:
        """Return the settings for a policy object, which has its own range."""
        if not isinstance(policy, BandwidthPolicy):
            raise TypeError(
                "policy must be a name or an object with h_0, h_min, draw(uniforms, h, k) and upper(h, k); "
                f"got {policy!r}."
            )
        if not (self.h_min is self.h_max is self.h_inf is None):
            raise ValueError("h_min, h_max and h_inf must stay None where policy is an object: it has its own range.")
        return FitSettings(
            h_min=float(policy.h_min),
            h_inf=float(getattr(policy, "h_inf", None) or policy.h_0),
            h_max=float(getattr(policy, "h_max", policy.upper(policy.h_0, 0))),
            policy=policy,
            single_updates=self._single_updates(),
        )

    def _chain_maker(self, data: FitData) -> Callable[..., Chain]:
        settings = data.settings
        assert settings.h_max is not None
        assert settings.policy is not None
        return partial(
            doubly_stochastic,
            self._problem(data.points, settings.h_max),
            settings.policy,
            seed=seed_of(self.random_state),
            order=self._order(data),
            batch_size=self.batch_size,
            scales=self._scales(data.points),
        )
