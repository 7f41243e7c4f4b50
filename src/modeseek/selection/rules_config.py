"""Settings of the method behind `ModeSeek` and of the automatic bandwidth, with the values in use as defaults.

Every number that shapes a result is a field here. `select_partition`, `automatic_range` and the functions below them
take a config as an argument; tests and ablations pass a different one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

__all__ = [
    "DEFAULT",
    "CommunitiesConfig",
    "KdeConfig",
    "MixtureConfig",
    "ModesConfig",
    "SelectionConfig",
]


@dataclass(frozen=True)
class ModesConfig:
    """Settings of the proposer "modes".

    Attributes
    ----------
    neighbor_counts : tuple of int
        Numbers of neighbours k from which densities are estimated.
    large_neighbor_counts : tuple of int
        Further values of k, for larger data.
    points_per_large_neighbor : int
        A large k is used from this many points per neighbour.
    standard_errors : tuple of float
        Prominence thresholds, in standard errors 2 / sqrt(k) of the log density.
    n_edges : int
        Nearest neighbours of each point that become edges of the graph on which modes merge.
    prominence_step : float
        Resolution of the excess prominence.
    """

    neighbor_counts: tuple[int, ...] = (3, 4, 6, 8, 12, 16, 24)
    large_neighbor_counts: tuple[int, ...] = (36, 48)
    points_per_large_neighbor: int = 40
    standard_errors: tuple[float, ...] = (1.0, 1.5, 2.0, 2.5, 3.0)
    n_edges: int = 8
    prominence_step: float = 0.1


@dataclass(frozen=True)
class CommunitiesConfig:
    """Settings of the proposer "communities".

    Attributes
    ----------
    neighbor_counts : tuple of int
        Numbers of neighbours from which graphs of shared neighbours are built.
    resolutions : tuple of float
        Resolutions of the modularity; a higher one gives smaller communities.
    max_sweeps : int
        Upper bound on passes over the nodes at each level of the Louvain method.
    max_levels : int
        Upper bound on its levels.
    """

    neighbor_counts: tuple[int, ...] = (5, 7, 10, 14, 20, 28)
    resolutions: tuple[float, ...] = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0)
    max_sweeps: int = 20
    max_levels: int = 20


@dataclass(frozen=True)
class KdeConfig:
    """Settings of the kernel densities that a mixture is compared with.

    Attributes
    ----------
    fixed_factors : tuple of float
        Bandwidths that are the same for all points, as multiples of the median distance to a neighbour.
    fixed_neighbor : int
        Which neighbour that is.
    adaptive_factors : tuple of float
        Bandwidths of each point, as multiples of its own distance to a neighbour.
    adaptive_neighbors : tuple of int
        Which neighbours these are.
    min_bandwidth : float
        Lower bound on adaptive bandwidths, as a multiple of the median distance above.
    """

    fixed_factors: tuple[float, ...] = (0.35, 0.5, 0.7, 1.0, 1.4, 2.0)
    fixed_neighbor: int = 6
    adaptive_factors: tuple[float, ...] = (0.5, 0.7, 1.0)
    adaptive_neighbors: tuple[int, ...] = (6, 16)
    min_bandwidth: float = 0.01


@dataclass(frozen=True)
class MixtureConfig:
    """Settings of the proposer "mixture": how it is fitted, and the tests that it must pass.

    Attributes
    ----------
    max_components : int
        Mixtures are fitted with up to this number of components; one that has as many is rejected, because Gaussians
        then probably tile a shape that is not Gaussian.
    patience : int
        The search ends after this many component numbers in a row without a better criterion.
    max_points : int
        Larger data are fitted on a random sample of this size.
    min_variance : float
        Added to the variance of components, as a share of the mean variance of the data.
    max_iterations : int
        Upper bound on the steps of expectation maximization.
    tol : float
        A fit ends when the mean log likelihood improves by less.
    min_gain : float
        Least difference between the Bayesian information criterion of the best single Gaussian and of the mixture.
        The default allows a mixture that is ten times less likely, a prior for clusters.
    min_saddle_depth : float
        Least depth of the log density between any two components.
    saddle_steps : int
        Points at which the density between two components is evaluated.
    n_holdouts : int
        Random splits into training and held-out points.
    n_holdouts_subsample : int
        The same, for mixtures of subsamples; 0 skips the tests there.
    train_share : float
        Share of the points that each split trains on.
    min_stability : float
        Least mean adjusted Rand index between the mixture and those of the training points.
    margin : float
        Least lead of the held-out log likelihood over the best kernel density, in standard errors.
    strict_margin : float
        The same, if the density has clear modes or the mixture more than `few_components` components.
    few_components : int
        See `strict_margin`.
    few_points : int
        Below this number of points the comparisons with kernel densities and with uniform data have no power. They are
        skipped, and at most `few_components` components are allowed.
    uniform_dimensions : int
        Up to this dimension the gain is compared with the gain on uniform data.
    n_uniform : int
        Number of uniform data sets.
    uniform_margin : float
        The gain must exceed the mean gain on uniform data by this many standard deviations.
    kde : KdeConfig
    """

    max_components: int = 10
    patience: int = 3
    max_points: int = 500
    min_variance: float = 1e-3
    max_iterations: int = 100
    tol: float = 1e-4
    min_gain: float = -2.0 * float(np.log(10.0))
    min_saddle_depth: float = 0.05
    saddle_steps: int = 41
    n_holdouts: int = 8
    n_holdouts_subsample: int = 2
    train_share: float = 0.7
    min_stability: float = 0.75
    margin: float = -1.0
    strict_margin: float = 2.0
    few_components: int = 3
    few_points: int = 64
    uniform_dimensions: int = 3
    n_uniform: int = 16
    uniform_margin: float = 1.5
    kde: KdeConfig = KdeConfig()


@dataclass(frozen=True)
class SelectionConfig:
    """Settings of `ModeSeek`'s selection.

    Attributes
    ----------
    proposers : tuple of str
        Names of the proposers in `PROPOSERS`, in the order in which they are tried.
    communities_dimension : float
        From this intrinsic dimension on, "communities" propose; below it, "modes" and "mixture" do.
    max_dimensions : int
        Data of more features are reduced to this number by principal component analysis.
    max_coordinates : int
        Number of principal components that "mixture" fits.
    n_subsamples : int
        Random subsamples that stability and confidence are measured on.
    subsample_share : float
        Share of the points in a subsample.
    smoothing : float
        Weight of neighbouring grid settings in the score of a setting.
    entropy_weight : float
        Bonus in the score for each unit of -ln sum(share^2) of the cluster sizes: coarse partitions are more stable.
    min_stability : float
        Least stability; if the best partition has less, the result is one cluster.
    min_excess_prominence : float
        Least excess prominence for partitions by modes; see `Modes.excess_prominence`.
    clear_excess_prominence : float
        From this excess prominence on, the density has clear modes.
    min_stability_clear : float
        Least stability for partitions by modes if the density has clear modes.
    same_agreement : float
        Partitions with at least this adjusted Rand index are considered the same.
    max_alternatives : int
        Number of different partitions that are kept.
    min_votes : int
        After an interruption, memberships need at least this many subsamples.
    refinement_steps : int
        Upper bound on the steps of spherical k-means that end a fit under `metric="cosine"`.
    modes : ModesConfig
    communities : CommunitiesConfig
    mixture : MixtureConfig
    """

    proposers: tuple[str, ...] = ("communities", "modes", "mixture")
    communities_dimension: float = 3.6
    max_dimensions: int = 32
    max_coordinates: int = 8
    n_subsamples: int = 16
    subsample_share: float = 0.7
    smoothing: float = 0.25
    entropy_weight: float = 0.01
    min_stability: float = 0.7
    min_excess_prominence: float = 0.6
    clear_excess_prominence: float = 1.5
    min_stability_clear: float = 0.5
    same_agreement: float = 0.9
    max_alternatives: int = 5
    min_votes: int = 4
    refinement_steps: int = 20
    modes: ModesConfig = ModesConfig()
    communities: CommunitiesConfig = CommunitiesConfig()
    mixture: MixtureConfig = MixtureConfig()


DEFAULT = SelectionConfig()
