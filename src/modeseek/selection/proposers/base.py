"""Proposals, and the interface of proposers."""

from __future__ import annotations

from typing import ClassVar, NamedTuple, Protocol

import numpy as np

from modeseek._common.types import IntArray
from modeseek.selection.config import SelectionConfig
from modeseek.selection.data import SelectionData

# how a candidate was made from a proposal
AS_PROPOSED, ABSORBED, REFINED, SPHERICAL = range(4)


class Proposal(NamedTuple):
    """A partition that a proposer proposes.

    Attributes
    ----------
    proposer : str
        Name of the proposer.
    labels : (n,) array of int32
        Cluster of each point, from 0.
    setting : tuple of float
        Two parameters of the proposer.
    bic_gain : float
        For mixtures: improvement of the Bayesian information criterion over a single Gaussian, per point.
    variant : int
        `AS_PROPOSED`; `ABSORBED` if small clusters were absorbed; `REFINED` if refined by expectation maximization;
        `SPHERICAL` if refined by spherical k-means.
    """

    proposer: str
    labels: IntArray
    setting: tuple[float, float] = (0.0, 0.0)
    bic_gain: float = np.nan
    variant: int = AS_PROPOSED


class Proposer(Protocol):
    """Proposes partitions of data.

    Attributes
    ----------
    name : str
        Key of the proposer in `PROPOSERS`.
    needs_coordinates : bool
        False if the proposer uses only neighbours, distances and weights.
    """

    name: ClassVar[str]
    needs_coordinates: ClassVar[bool]

    def __init__(self, config: SelectionConfig) -> None: ...

    def propose(self, data: SelectionData, rng: np.random.Generator, sample_share: float = 1.0) -> list[Proposal]:
        """Return partitions of the data.

        Parameters
        ----------
        data : SelectionData
        rng : Generator
            Draws random samples.
        sample_share : float
            Factor by which the sizes of these samples are multiplied, for faster proposals.
        """
        ...
