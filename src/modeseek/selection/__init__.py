"""The method behind `ModeSeek`, and automatic bandwidths."""

from modeseek.selection.candidates import Candidate, ClusterBounds, Selection, merge_clusters
from modeseek.selection.config import DEFAULT, SelectionConfig
from modeseek.selection.data import SelectionData, Subset, base_sample, prepare_data
from modeseek.selection.features import FEATURES, candidate_features
from modeseek.selection.pool import Pool, build_pool
from modeseek.selection.select import select_partition

__all__ = [
    "DEFAULT",
    "FEATURES",
    "Candidate",
    "ClusterBounds",
    "Pool",
    "Selection",
    "SelectionConfig",
    "SelectionData",
    "Subset",
    "base_sample",
    "build_pool",
    "candidate_features",
    "merge_clusters",
    "prepare_data",
    "select_partition",
]
