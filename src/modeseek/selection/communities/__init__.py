"""Communities of a graph of neighbours."""

from modeseek.selection.communities.louvain import Graph, graph_of, louvain, modularity, neighbour_graph

__all__ = ["Graph", "graph_of", "louvain", "modularity", "neighbour_graph"]
