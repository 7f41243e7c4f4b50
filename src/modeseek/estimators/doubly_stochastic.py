"""Doubly stochastic mean shift: one random point moves at a time, at a random bandwidth."""

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import ClassVar

from modeseek._common.points import Points
from modeseek._common.types import Watcher
from modeseek._common.validation import check_number
from modeseek.estimators.random_chains import RandomChainClusterer
from modeseek.estimators.result import FitSettings
from modeseek.meanshift.bandwidth import NuSpec, make_policy
from modeseek.meanshift.bandwidth.walks import RangePolicy
from modeseek.meanshift.chains import Chain, Problem, doubly_stochastic
from modeseek.meanshift.types import BandwidthPolicy
from modeseek.selection.bandwidths import complete_range
from modeseek.selection.bandwidths.automatic import Algorithm


@dataclass(eq=False, repr=False)
class DoublyStochasticMeanShift(RandomChainClusterer):
    """Doubly stochastic mean shift (DSMS).

    Each update replaces one point, drawn at random, by the weighted mean of the points around it,

        x_i <- S_h(x_i) = sum_j w_j G((x_i - x_j)/h) x_j / sum_j w_j G((x_i - x_j)/h),

    with a bandwidth h drawn from [h_min, h_max] by a policy. Points collapse into groups, which are the clusters. The
    number of clusters need not be known. The run ends as soon as it is certain that no later draw can change the
    partition.

    Parameters
    ----------
    h_min, h_max, h_inf : float, optional
        Smallest and largest bandwidth, and the limit to which the range shrinks, in the units of X. A bandwidth that
        is None is chosen from the data, see docs/choosing-the-range.md. With ``metric="cosine"``, a bandwidth
        is a distance between unit vectors, sqrt(2 - 2 cos).
    policy : {"shrinking", "walk", "uniform", "anchored", "constant"} or BandwidthPolicy, default="shrinking"
        Distribution of the random bandwidth, see docs/bandwidth-and-policies.md. "walk" is Algorithm 1b of the paper,
        to which its theorems apply. "shrinking" is our reading of the experiments of the paper. A policy object has its
        own range: leave `h_min`, `h_max` and `h_inf` at None.
    nu : {"log-log", "1/k", "1/k^a"}, float or callable, default="log-log"
        Sequence by which the policy narrows the bandwidth. In "1/k^a", write a number for a, such as "1/k^0.5"; the
        number 0.5 alone means the same.
    profile : {"biweight", "triweight", "quadweight", "flat", "gaussian"} or Profile, default="biweight"
        Shape of the kernel. The theorems of the paper do not cover "flat" and "gaussian".
    metric : {"euclidean", "cosine", "haversine"}, default="euclidean"
        With "cosine", rows are scaled to unit length and points stay on the unit sphere. With "haversine", X has two
        columns, latitude and longitude in degrees, and bandwidths are in metres; see docs/how-to-maps.md.
    order : {"random", "reshuffled", "even"}, default="random"
        Order in which points are updated. "random" draws each point with a probability proportional to its
        weight, as in the paper; on a sketch of more than 50,000 rows of data it is the same as "even". "reshuffled"
        visits all points in a new random order in each sweep. "even" draws each point with the same
        probability.
    batch_size : int, default=1
        Number of distinct points that are updated at once.
    local_scale : bool, default=False
        If True, the bandwidth at a point is multiplied by the initial distance of the point to its neighbour number
        sqrt(n), divided by the median of this distance over all points.
    local_factor : LocalFactor, optional
        A function with bounds on its values. Its arguments are the point that moves and the density at this point, and
        its value is a factor of the bandwidth of the update. It is called at every update, so fits take much longer.
        It does not run on a GPU, and a model with it cannot be saved. See docs/adding-a-bandwidth-policy.md.
    tol : float, default=1e-6
        Shifts up to `tol` times the smallest bandwidth count as zero.
    tau : float, optional
        Points closer than `tau` at the end of the run belong to the same cluster. Must be below half of the
        smallest bandwidth. If None, a quarter of the smallest bandwidth.
    max_updates : int, optional
        Maximum number of updates of single points, checked after each sweep of about n updates. If None,
        max(10^7, 200 n).
    max_time : float, optional
        Maximum time of a run in seconds. An incomplete sweep is dropped.
    n_chains : int, default=1
        Number of independent chains. With several chains, `labels_` is their consensus: points are in the same
        cluster if they are together in more than half of the chains, see docs/consensus.md.
        `max_updates` and `max_time` apply to each chain. The first chain is the one that ``n_chains=1`` runs.
        After an interruption, the consensus uses the chains that had ended, or all that had started if none had ended.
    min_cluster_size : int, default=1
        Clusters with a smaller total weight become noise, label -1. The weight of a row is 1 unless `sample_weight`
        is given. 1 means no limit, also for weights below 1.
    outlier_fraction : float, default=0.0
        Upper bound on the share of rows that become noise because their `outlier_scores_` are the highest.
    sketch : {"auto", "grid", "sample"} or None, default="auto"
        Whether to cluster a sketch: weighted points that stand for many rows. "grid" uses the means of the rows
        in the cells of a grid, "sample" a random sample of 20,000 rows. "auto" uses one of the two, with a warning,
        if there are more than 50,000 rows. None uses every row. See docs/many-rows.md.
    resolution : float, default=1/16
        Maximum width of the grid cells of a sketch, relative to the smallest bandwidth.
    engine : {"auto", "brute", "moment_tree", "neighbor_lists", "reference", "cuda"}, default="auto"
        How sums over neighbours are computed. All engines are exact and differ in speed only, see
        docs/engines.md. `engine_` is the engine in force.
    n_jobs : int, optional
        Number of threads, as in joblib. Labels do not depend on it.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the random draws. Pass an int for reproducible results.
    verbose : int, default=0
        If 1, show progress in a terminal or a notebook.
    callbacks : sequence of callables, optional
        Functions that are called as ``f(state, info)`` after each sweep.
    record : bool, str, sequence of str or Record, optional
        Quantities to record in `trace_` after each sweep, in addition to the bandwidths and the largest shift:
        "clumps" (number of groups of points that are connected by distances below `tau`), "diameter" (largest distance
        within a group), "gap" (smallest distance between groups), "objective" (takes time proportional to n^2) and
        "snapshots" (the positions of all rows). True records all of them. Plots of a run need them, see
        `modeseek.plots`. A `Record` also sets how often each quantity is recorded.
    checkpoint : str or path-like, optional
        File in which the state of the run is saved at intervals and at the end. If the file exists, the fit
        resumes from it and gives the same result as an uninterrupted fit. A file that was saved with other data or
        parameters raises an error. See docs/how-to-checkpoints.md.
    checkpoint_every : float, default=60
        Number of seconds between two saves.

    Attributes
    ----------
    labels_ : integer array of shape (n_samples,)
        Cluster of each row; -1 for noise. Clusters are numbered by decreasing weight.
    n_clusters_ : int
        Number of clusters, not counting noise.
    cluster_centers_ : array of shape (n_clusters, n_features)
        Mean of the final positions of the rows of each cluster.
    h_min_, h_inf_, h_max_ : float
        The bandwidth range in force.
    points_ : array of shape (n_samples, n_features)
        Final position of each row. With several chains, the mean over the chains.
    outcome_ : Outcome
        How the run ended. `outcome_.value` is a sentence, `outcome_.converged` a bool. With several chains, the
        worst outcome.
    partition_ : Partition
        The partition before small clusters became noise, with its diameter, gap and certificate. With several
        chains, diameter and gap are NaN, and the partition is certified if every chain is certified.
    n_updates_ : int
        Number of updates of single points, summed over the chains.
    engine_ : str
        The engine in force.
    trace_ : Trace
        The recorded quantities, each as a `Series` of values against the number of updates k. With several
        chains, the quantities of the first chain.
    memberships_ : array of shape (n_samples, n_clusters)
        Share of the chains in which a row belongs to each cluster. A cluster of a chain is matched with the
        consensus cluster with which it shares the largest weight. Rows sum to 1; rows of noise are 0. Only
        with several chains.
    confidence_ : array of shape (n_samples,)
        Membership of each row in its cluster: an estimate of the probability that another chain puts the row in the
        same cluster, see docs/confidence.md. Only with several chains.
    cluster_stability_ : array of shape (n_clusters,)
        Mean Jaccard index of each cluster with the most similar cluster of each chain. It is low if chains
        split the cluster or merge it with others. Only with several chains.
    stability_ : float
        Mean adjusted Rand index of each chain with the consensus. Only with several chains.
    chain_labels_ : integer array of shape (n_chains, n_samples)
        Labels of the rows in each chain; small clusters are not noise here. Only with several chains.
    sketch_ : SketchPoints
        Points of the sketch, their weights and the width of the grid cells. Only if the fit ran on a sketch.
    probabilities_ : array of shape (n_samples,)
        Membership of each row in its cluster; 0 for noise. See docs/ecosystem.md.
    outlier_scores_ : array of shape (n_samples,)
        How far the density at each row is below that of its cluster, from 0 to 1. See docs/ecosystem.md.
    layers_ : list of Layer
        Nested partitions from coarse to fine, computed on access. See docs/layers.md.
    result_ : FitResult
        All results of the fit in one frozen object.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : array of str of shape (n_features,)
        Names of the features. Only if X has names that are all strings.

    See Also
    --------
    StochasticMeanShift : Mean shift with random points and a fixed bandwidth.
    ModeSeek : Chooses a partition without a bandwidth.

    References
    ----------
    T. Trigano, Y. Sepulcre, I. Lapidot, "Doubly Stochastic Mean-Shift Clustering".

    Examples
    --------
    >>> import numpy as np
    >>> from modeseek import DoublyStochasticMeanShift
    >>> from modeseek.datasets import paper_mixture
    >>> X, y = paper_mixture(50, random_state=0)
    >>> model = DoublyStochasticMeanShift(0.2, 1.6, 0.6, random_state=2).fit(X)
    >>> model.n_clusters_, model.outcome_.name
    (3, 'CERTIFIED')

    Several chains give a consensus, and the confidence of each row:

    >>> model.set_params(n_chains=8).fit(X).n_clusters_, round(model.stability_, 2)
    (3, 0.81)
    >>> np.flatnonzero(model.confidence_ < 0.75)
    array([79])
    """

    h_min: float | None = None
    h_max: float | None = None
    h_inf: float | None = None
    _: KW_ONLY
    policy: str | BandwidthPolicy = "shrinking"
    nu: NuSpec = "log-log"

    _bandwidth_parameter: ClassVar[str] = "h_max"
    _abbreviation: ClassVar[Algorithm] = "DSMS"

    def _choose_settings(self, sample: Points, watch: Watcher | None, rounding: float = 0.0) -> FitSettings:
        if isinstance(self.policy, str):
            given = {"h_min": self.h_min, "h_inf": self.h_inf, "h_max": self.h_max}
            known = {name: self._in_points(check_number(name, h)) for name, h in given.items() if h is not None}
            if len(known) < 3:
                given = dict.fromkeys(given) | known
                automatic = self._automatic_range(sample, watch, rounding)
                h_min, h_inf, h_max = complete_range(**given, automatic=automatic)
            else:
                h_min, h_inf, h_max = known["h_min"], known["h_inf"], known["h_max"]
            policy = make_policy(self.policy, h_min, h_max, h_inf, self.nu)
        elif self.metric == "haversine":
            raise ValueError('metric="haversine" needs the name of a policy: the bandwidths of an object have no unit.')
        else:
            policy = self._check_policy(self.policy)
            h_min, h_inf, h_max = _range_of(policy)
        return FitSettings(h_min=h_min, h_inf=h_inf, h_max=h_max, policy=policy, single_updates=self._single_updates())

    @property
    def _has_automatic_bandwidth(self) -> bool:
        return isinstance(self.policy, str) and None in (self.h_min, self.h_inf, self.h_max)

    def _check_policy(self, policy: BandwidthPolicy) -> BandwidthPolicy:
        if not isinstance(policy, BandwidthPolicy):
            raise TypeError(
                "policy must be a name or an object with h_0, h_min, draw(uniforms, h, k) and upper(h, k); "
                f"got {policy!r}."
            )
        if not (self.h_min is self.h_max is self.h_inf is None):
            raise ValueError("h_min, h_max and h_inf must be None if policy is an object, which has its own range.")
        return policy

    def _algorithm(self, problem: Problem, settings: FitSettings) -> Callable[..., Chain]:
        assert settings.policy is not None
        return partial(doubly_stochastic, problem, settings.policy)


def _range_of(policy: BandwidthPolicy) -> tuple[float, float, float]:
    """Return h_min, h_inf and h_max of a policy object; without a range, an upper bound takes the place of h_max."""
    h_max = policy.h_max if isinstance(policy, RangePolicy) else policy.upper(policy.h_0, 0)
    return float(policy.h_min), float(policy.h_0), float(h_max)
