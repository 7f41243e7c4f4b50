"""Constants of the speaker search that are not parameters of `diarize`."""

from dataclasses import dataclass


@dataclass(frozen=True)
class DiarizationConfig:
    """Constants that shape the result of the speaker search.

    Attributes
    ----------
    max_clustered : int
        Largest number of windows that ModeSeek clusters. If there are more, it clusters every m-th window.
    max_linkage_windows : int
        Largest number of windows that average linkage clusters. The distances between all pairs are stored.
    min_linkage_windows : int
        With fewer windows, the result is that of ModeSeek.
    linkage_subsamples : int
        Number of random subsamples that measure the stability and the confidence.
    linkage_subsample_fraction : float
        Fraction of the windows in each subsample.
    max_tested_windows : int
        With fewer windows, a first test for a single speaker uses the partitions of average linkage only.
    partition_counts : int
        How many different numbers of clusters average linkage is cut into.
    max_partition_share : float
        Largest number of clusters that average linkage is cut into, as a share of the number of windows. Clusters of
        one window are joined with others after the cut.
    small_share : float
        In some partitions, clusters below this share of the mean size are joined with others.
    partition_moves : int
        How many times windows move to the nearest mean direction.
    rows_per_component, max_components : int
        The refinement uses one principal component for every `rows_per_component` windows, and at most
        `max_components`.
    refinements : int
        How many times windows are whitened within the clusters and clustered again.
    refinement_gain : float
        Difference of the logarithm of the evidence, per window, that a refined partition needs.
    choice_sharpness : float
        The chosen candidate has the largest mean agreement with all candidates; in this mean, a candidate has a weight
        proportional to exp(choice_sharpness * predicted agreement).
    unclustered_confidence : float
        Factor on the confidence of windows that were too short to be clustered, and of windows whose nearest clustered
        window has another speaker.
    mean_turn : float
        Prior of the smoothing in time: mean length of a turn in seconds.
    max_concentration : float
        Largest factor that turns a cosine into a log-likelihood.

    Examples
    --------
    >>> from modeseek.diarization import SpeakerSearch
    >>> SpeakerSearch(config=DiarizationConfig(min_linkage_windows=10)).config.min_linkage_windows
    10
    """

    max_clustered: int = 20_000
    max_linkage_windows: int = 1_000
    min_linkage_windows: int = 6
    linkage_subsamples: int = 8
    linkage_subsample_fraction: float = 0.7
    max_tested_windows: int = 150
    partition_counts: int = 24
    max_partition_share: float = 0.6
    small_share: float = 0.25
    partition_moves: int = 2
    rows_per_component: int = 5
    max_components: int = 100
    refinements: int = 4
    refinement_gain: float = 0.3
    choice_sharpness: float = 10.0
    unclustered_confidence: float = 0.5
    mean_turn: float = 2.0
    max_concentration: float = 200.0


DEFAULT = DiarizationConfig()
