"""Settings of the method behind `ModeSeek`, with the values in use as defaults.

Every number that shapes a result is a field here. The functions of the package take a config as an argument; tests and
ablations pass a different one. The model that chooses among candidates was trained with the default values: after a
change it has to be trained again (benchmarks/train_selection.py).
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class DataConfig:
    """Settings of the prepared data.

    Attributes
    ----------
    max_components : int
        Data with more features are reduced to this number of principal components.
    max_coordinates : int
        Number of principal components in which Gaussians are fitted.
    least_spread : float
        Principal components whose singular value is below this share of the largest one are due to rounding and are
        dropped.
    max_exact : int
        If both the number of points and the number of features are larger, principal components are found by a random
        projection.
    block_rows : int
        Number of rows whose products are computed at a time.
    n_neighbors : int
        Number of nearest neighbours of each point.
    many_points : int
        With at least this many points, `n_neighbors_many` is used instead of `n_neighbors`.
    n_neighbors_many : int
    """

    max_components: int = 32
    max_coordinates: int = 8
    least_spread: float = 1e-9
    max_exact: int = 1000
    block_rows: int = 1 << 15
    n_neighbors: int = 60
    many_points: int = 200_000
    n_neighbors_many: int = 28


@dataclass(frozen=True)
class ApproximateConfig:
    """Settings of the approximate search of neighbours.

    Attributes
    ----------
    min_points : int
        With `engine="auto"`, the search is approximate if there are at least this many points and more than
        `max_tree_dimensions` dimensions.
    max_tree_dimensions : int
        Largest number of dimensions in which a k-d tree is used.
    n_trees : int
        Number of trees of random projections.
    leaf_size : int
        Upper bound on the number of points in a leaf.
    n_rounds : int
        Number of rounds in which neighbours of neighbours are compared.
    n_expanded : int
        A round uses this many neighbours of each point, and up to as many points that have it as a neighbour.
    seed : int
        Seed of the random directions.
    task_rows : int
        Number of points whose neighbours one task searches.
    """

    min_points: int = 40_000
    max_tree_dimensions: int = 8
    n_trees: int = 4
    leaf_size: int = 256
    n_rounds: int = 2
    n_expanded: int = 24
    seed: int = 0
    task_rows: int = 1 << 11


@dataclass(frozen=True)
class ModesConfig:
    """Settings of the proposer "modes".

    Attributes
    ----------
    neighbor_counts : tuple of int
        Numbers of neighbours k from which densities are estimated.
    large_count : int
        A larger k is used only with at least `points_per_large_count` * k points.
    points_per_large_count : int
    points_per_count : float
        Every k is used only with more than `points_per_count` * k points.
    standard_errors : tuple of float
        Prominence thresholds, in standard errors 2 / sqrt(k) of the log density.
    n_edges : int
        Number of nearest neighbours of each point that become edges of the graph on which modes merge.
    many_points : int
        With at least this many points, k below `least_count` is left out, because its density has very many modes.
    least_count : int
    """

    neighbor_counts: tuple[int, ...] = (3, 4, 6, 8, 12, 16, 24, 36, 48)
    large_count: int = 24
    points_per_large_count: int = 40
    points_per_count: float = 2.5
    standard_errors: tuple[float, ...] = (1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 6.0)
    n_edges: int = 8
    many_points: int = 20_000
    least_count: int = 6


@dataclass(frozen=True)
class CommunitiesConfig:
    """Settings of the proposer "communities".

    Attributes
    ----------
    neighbor_counts : tuple of int
        Numbers of neighbours k from which graphs of shared neighbours are built.
    points_per_count : int
        A graph is built only with more than `points_per_count` * k points.
    resolutions : tuple of float
        Resolutions of the modularity, from fine to coarse. Each run starts from the communities of the run before.
    max_sweeps : int
        Upper bound on passes over the nodes at each level of the Louvain method.
    max_levels : int
        Upper bound on the levels of the Louvain method.
    """

    neighbor_counts: tuple[int, ...] = (7, 14, 28)
    points_per_count: int = 4
    resolutions: tuple[float, ...] = (16.0, 8.0, 4.0, 2.0, 1.0, 0.5, 0.25)
    max_sweeps: int = 20
    max_levels: int = 20


@dataclass(frozen=True)
class SpanningTreeConfig:
    """Settings of the proposer "spanning_tree".

    Attributes
    ----------
    core_counts : tuple of int
        Numbers k: the core distance of a point is the distance to its k-th neighbour.
    n_edges : int
        Number of nearest neighbours of each point that become edges of the graph which the tree spans.
    least_sizes : tuple of int
        Smallest weights of a cluster; each gives further proposals.
    least_shares : tuple of int
        Further smallest weights of a cluster: the total weight divided by each of these numbers.
    n_fill : int
        Number of neighbours from which a point outside of all clusters takes its label.
    """

    core_counts: tuple[int, ...] = (4, 10)
    n_edges: int = 24
    least_sizes: tuple[int, ...] = (5, 10, 20, 40)
    least_shares: tuple[int, ...] = (50, 20)
    n_fill: int = 15


@dataclass(frozen=True)
class CentersConfig:
    """Settings of the proposer "centers".

    Attributes
    ----------
    n_centers : tuple of int
        Numbers of clusters.
    max_points : int
        Ward's tree is built from a random sample of this size.
    min_points_per_center : int
        Smallest number of points of the sample for each cluster.
    max_steps : int
        Upper bound on the steps of k-means.
    """

    n_centers: tuple[int, ...] = (
        2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 17, 20, 25, 30, 40, 50, 65, 80, 100, 130, 170,
    )  # fmt: skip
    max_points: int = 800
    min_points_per_center: int = 3
    max_steps: int = 12


@dataclass(frozen=True)
class MixtureConfig:
    """Settings of the proposer "mixture".

    Attributes
    ----------
    n_components : tuple of int
        Numbers of components.
    max_points : int
        Mixtures are fitted to a random sample of this size.
    points_per_parameter : int
        Smallest number of points of the sample for each parameter of a mixture.
    patience : int
        The search over increasing numbers of components ends after this many successive mixtures without a better
        Bayesian information criterion.
    max_steps : int
        Upper bound on the steps of expectation maximization.
    tol : float
        A fit ends when the mean log likelihood improves by less than this.
    """

    n_components: tuple[int, ...] = (2, 3, 4, 5, 6, 7, 8, 10, 12, 15, 20, 30)
    max_points: int = 500
    points_per_parameter: int = 2
    patience: int = 2
    max_steps: int = 30
    tol: float = 1e-3


@dataclass(frozen=True)
class MeanShiftConfig:
    """Settings of the proposer "mean_shift".

    Attributes
    ----------
    max_points : int
        Chains run on a random sample of this size.
    n_bandwidths : int
        Number of bandwidths; each is the median distance to the k-th neighbour, for some k.
    least_share, largest_share : float
        k for the smallest and for the largest bandwidth, as a share of the number of points.
    max_sweeps : int
        Upper bound on the sweeps of a chain.
    max_features : int
        Data with more features are clustered in their principal components.
    radius : float
        Points that end closer than this share of the bandwidth form a cluster.
    """

    max_points: int = 300
    n_bandwidths: int = 7
    least_share: float = 0.01
    largest_share: float = 0.6
    max_sweeps: int = 30
    max_features: int = 32
    radius: float = 0.25


@dataclass(frozen=True)
class RefinementsConfig:
    """Settings of refined candidates.

    Attributes
    ----------
    absorbed : tuple of str
        Proposers whose candidates get a variant without small clusters.
    least_weight, least_share : float
        A cluster is small if it is below this weight, or below this share of the total weight.
    many_points : int
        With at least this many points, the variant is left out if most of the weight is in small clusters.
    n_absorbing : int
        Number of neighbours from which a point of a small cluster takes its label.
    max_refined : int
        Upper bound on the number of candidates that are refined to Gaussian mixtures.
    max_points : int
        These mixtures are fitted to a random sample of this size.
    max_components : int
        Candidates with more clusters are not refined to mixtures.
    not_refined : tuple of str
        Proposers whose candidates are not refined to mixtures.
    max_steps : int
        Upper bound on the steps of expectation maximization.
    max_directions : int
        Candidates with more clusters are not refined by spherical k-means.
    max_spherical_steps : int
        Upper bound on the steps of spherical k-means.
    """

    absorbed: tuple[str, ...] = ("modes", "communities", "spanning_tree")
    least_weight: float = 4.0
    least_share: float = 0.01
    many_points: int = 20_000
    n_absorbing: int = 15
    max_refined: int = 12
    max_points: int = 500
    max_components: int = 30
    not_refined: tuple[str, ...] = ("centers", "mixture")
    max_steps: int = 20
    max_directions: int = 300
    max_spherical_steps: int = 6


@dataclass(frozen=True)
class PoolConfig:
    """Settings of the pool of candidates.

    Attributes
    ----------
    same_agreement : float
        Candidates with at least this adjusted Rand index are merged.
    compared_points : int
        Number of points on which candidates are compared.
    rare_from : int
        With at least this many points, candidates are also compared on points of small clusters, so that a candidate
        with a rare cluster is not merged with one without it.
    rare_points : int
        Number of points of small clusters that are compared.
    rare_share : float
        Clusters with a smaller share of the points are small.
    rare_size : int
        Clusters with fewer points are ignored in this comparison.
    rare_agreement : float
        Candidates are merged only if their adjusted Rand index on the points of small clusters is at least this large.
    max_clusters_per_point : float
        Candidates with a larger number of clusters per point are dropped.
    max_share : float
        Candidates are dropped if one cluster has at least this share of the weight.
    """

    same_agreement: float = 0.97
    compared_points: int = 500
    rare_from: int = 10_000
    rare_points: int = 300
    rare_share: float = 0.01
    rare_size: int = 10
    rare_agreement: float = 0.95
    max_clusters_per_point: float = 0.5
    max_share: float = 0.98


@dataclass(frozen=True)
class SubsamplesConfig:
    """Settings of random subsamples to which proposers are applied again.

    Attributes
    ----------
    n_subsamples : int
    share : float
        Share of the points of the base sample in a subsample.
    n_neighbors : int
        Upper bound on the number of neighbours of each point in a subsample.
    compared_points : int
        Number of points on which partitions are compared.
    sample_share : float
        Factor by which the sample sizes of proposers that fit a sample are multiplied.
    """

    n_subsamples: int = 2
    share: float = 0.7
    n_neighbors: int = 40
    compared_points: int = 400
    sample_share: float = 0.6


@dataclass(frozen=True)
class ReproducibilityConfig(SubsamplesConfig):
    """Settings of the subsamples that measure the reproducibility of candidates.

    Attributes
    ----------
    proposers : tuple of str
        The proposers that are applied to the subsamples.
    """

    proposers: tuple[str, ...] = ("modes", "communities", "spanning_tree", "centers", "mixture")


@dataclass(frozen=True)
class VotesConfig(SubsamplesConfig):
    """Settings of the subsamples from which memberships and confidence are computed.

    Attributes
    ----------
    min_votes : int
        After an interruption, memberships need at least this many subsamples.
    """

    n_subsamples: int = 10
    min_votes: int = 4


@dataclass(frozen=True)
class RareConfig:
    """Settings of the search for rare clusters.

    Attributes
    ----------
    sampled : float
        A cluster is rare if a base sample has fewer of its points than this, on average.
    min_points : int
        Smallest number of points of a rare cluster.
    n_neighbors : int
        Number of neighbours from which the density is estimated; half as many in a random half of the points.
    n_halves : int
        Number of random halves of the points in which a rare cluster has to be found again.
    half : SubsamplesConfig
        How a half is drawn.
    least_overlap : float
        A rare cluster must have at least this share of its points in one cluster of the partition, and at least this
        Jaccard index with a rare cluster of each half.
    """

    sampled: float = 10.0
    min_points: int = 100
    n_neighbors: int = 24
    n_halves: int = 3
    half: SubsamplesConfig = SubsamplesConfig(share=0.5, n_neighbors=24)
    least_overlap: float = 0.5


@dataclass(frozen=True)
class FeaturesConfig:
    """Settings of the features of candidates.

    Attributes
    ----------
    graph_points : int
        Number of points over which shares of neighbours are averaged.
    edge_points : int
        With at least twice this many points, densities and edges of about `edge_points` points are used.
    geometry_points : int
        Number of points from which geometric features and Gaussians are estimated.
    silhouette_points : int
        Number of points from which silhouettes are computed.
    max_gaussians : int
        Candidates with more clusters have no Gaussian features.
    max_separated : int
        Separation is measured for at most this many clusters, the largest ones.
    """

    graph_points: int = 4800
    edge_points: int = 100_000
    geometry_points: int = 1200
    silhouette_points: int = 300
    max_gaussians: int = 60
    max_separated: int = 40


@dataclass(frozen=True)
class SelectionConfig:
    """Settings of `ModeSeek`'s selection.

    Attributes
    ----------
    seed : int
        Seed of all random samples inside the selection, so that labels depend on the data alone.
    proposers : tuple of str
        Names of the proposers in `PROPOSERS`.
    same_agreement : float
        Partitions with at least this adjusted Rand index are considered the same in `alternatives_`.
    max_alternatives : int
        Number of different partitions that are kept.
    base_points : int
        Subsamples are drawn from a random sample of this size, or from all points if there are fewer.
    knowledge_prior : float
        Number of constraints (pairs of points) that have the same weight in the choice as the expected agreement.
    data, modes, communities, spanning_tree, centers, mixture, mean_shift, refinements, pool, reproducibility, features
        Settings of the parts.
    approximate : ApproximateConfig
    votes : VotesConfig
    rare : RareConfig
    """

    seed: int = 0
    proposers: tuple[str, ...] = ("modes", "communities", "spanning_tree", "centers", "mixture", "mean_shift")
    same_agreement: float = 0.9
    max_alternatives: int = 5
    base_points: int = 3000
    knowledge_prior: float = 20.0
    data: DataConfig = DataConfig()
    approximate: ApproximateConfig = ApproximateConfig()
    modes: ModesConfig = ModesConfig()
    communities: CommunitiesConfig = CommunitiesConfig()
    spanning_tree: SpanningTreeConfig = SpanningTreeConfig()
    centers: CentersConfig = CentersConfig()
    mixture: MixtureConfig = MixtureConfig()
    mean_shift: MeanShiftConfig = MeanShiftConfig()
    refinements: RefinementsConfig = RefinementsConfig()
    pool: PoolConfig = PoolConfig()
    reproducibility: ReproducibilityConfig = ReproducibilityConfig()
    features: FeaturesConfig = FeaturesConfig()
    votes: VotesConfig = VotesConfig()
    rare: RareConfig = RareConfig()


DEFAULT = SelectionConfig()
