"""Communities of a graph of shared neighbours."""

from modeseek.selection.communities.louvain import louvain, nested_communities, shared_neighbor_graph

__all__ = ["louvain", "nested_communities", "shared_neighbor_graph"]
