"""Communities of a graph of shared neighbours."""

from modeseek.selection.communities.louvain import louvain, shared_neighbor_graph

__all__ = ["louvain", "shared_neighbor_graph"]
