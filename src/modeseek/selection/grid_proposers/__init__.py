"""Proposers: each proposes partitions of a nearest-neighbour graph. A new one is a file here and an entry below."""

from modeseek.selection.grid_proposers.base import GridProposer, Proposer
from modeseek.selection.grid_proposers.communities import Communities
from modeseek.selection.grid_proposers.mixture import MixtureProposer
from modeseek.selection.grid_proposers.modes import Modes

__all__ = ["PROPOSERS", "Communities", "GridProposer", "MixtureProposer", "Modes", "Proposer"]

PROPOSERS: dict[str, type[Proposer]] = {each.name: each for each in (Communities, Modes, MixtureProposer)}
