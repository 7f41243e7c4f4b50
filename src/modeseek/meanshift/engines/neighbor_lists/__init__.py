"""`engine="neighbor_lists"`: sums over lists of near points; for high dimension and small bandwidths."""

from modeseek.meanshift.engines.neighbor_lists.engine import NeighborListsEngine
