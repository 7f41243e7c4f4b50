"""The method behind `ModeSeek`, and automatic bandwidths."""

from modeseek.selection.candidates import Candidate, ClusterBounds, Selection, merge_clusters
from modeseek.selection.knn_graph import KnnGraph, build_knn_graph
from modeseek.selection.rules_config import DEFAULT, SelectionConfig
from modeseek.selection.select import select_partition

__all__ = [
    "DEFAULT",
    "Candidate",
    "ClusterBounds",
    "KnnGraph",
    "Selection",
    "SelectionConfig",
    "build_knn_graph",
    "merge_clusters",
    "select_partition",
]
