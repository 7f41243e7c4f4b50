"""Proposers of partitions. A new proposer is a module in this package and an entry in `PROPOSERS`."""

from modeseek.selection.proposers.base import Proposal, Proposer
from modeseek.selection.proposers.centers import Centers
from modeseek.selection.proposers.communities import Communities
from modeseek.selection.proposers.mean_shift import MeanShiftProposer
from modeseek.selection.proposers.mixture import Mixtures
from modeseek.selection.proposers.modes import Modes
from modeseek.selection.proposers.spanning_tree import SpanningTree

__all__ = ["PROPOSERS", "Proposal", "Proposer"]

PROPOSERS: dict[str, type[Proposer]] = {
    each.name: each for each in (Modes, Communities, SpanningTree, Centers, Mixtures, MeanShiftProposer)
}
