"""Communities of a graph of shared neighbours."""

from modeseek.selection.communities.louvain import nested_communities, shared_neighbor_graph

__all__ = ["nested_communities", "shared_neighbor_graph"]
