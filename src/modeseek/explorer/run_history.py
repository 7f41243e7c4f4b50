"""The history of a run, in bounded memory: the drawn bandwidths, the objective and the number of clumps."""

from typing import Any

import numpy as np

from modeseek._common.types import Array
from modeseek.meanshift.chains import Chain
from modeseek.meanshift.objective import density, objective

# number of bandwidths that are kept for each frame
BANDWIDTHS_PER_FRAME = 6


class RunHistory:
    """Series for the line figures. If a series exceeds `max_length`, every second entry is dropped.

    Attributes
    ----------
    bandwidths : list of (sweep, h)
    levels : list of (sweep, objective relative to its maximum, number of clumps)
    version : int
        Increases with each entry.

    Examples
    --------
    >>> history = RunHistory()
    >>> history.add_bandwidths(0, 1, np.array([0.5, 1.0]))
    >>> history.bandwidths
    [(0.5, 0.5), (1.0, 1.0)]
    """

    def __init__(self, max_length: int = 4000) -> None:
        self.bandwidths: list[tuple[float, float]] = []
        self.levels: list[tuple[float, float, int]] = []
        self.version = 0
        self._max_length = max_length

    def add_bandwidths(self, begin: float, end: float, bandwidths: Array) -> None:
        """Add some of the bandwidths that were drawn between the times `begin` and `end`, which count sweeps."""
        chosen = np.unique(np.linspace(0, len(bandwidths) - 1, BANDWIDTHS_PER_FRAME).round().astype(int))
        times = begin + (chosen + 1) / len(bandwidths) * (end - begin)
        drawn = zip(times.tolist(), bandwidths[chosen].tolist(), strict=True)
        self.bandwidths = self._bounded([*self.bandwidths, *drawn])
        self.version += 1

    def add_level(self, sweep: float, level: float, clumps: int) -> None:
        """Add the relative objective and the number of clumps after a sweep."""
        self.levels = self._bounded([*self.levels, (float(sweep), level, clumps)])
        self.version += 1

    def _bounded(self, entries: list[Any]) -> list[Any]:
        return entries if len(entries) <= self._max_length else [*entries[:-1:2], entries[-1]]


def relative_objective(points: Array, chain: Chain, h: float, max_points: int) -> float:
    """Return L_h relative to its maximum, which is reached if all points coincide.

    For mean shift, whose data do not move, this is the mean density at the moving points relative to its maximum.

    Parameters
    ----------
    points : (n, d) array
        State of the chain.
    chain : Chain
    h : float
    max_points : int
        If there are more points, a random sample of this size is used.
    """
    problem, rows = chain.problem, np.arange(len(points))
    if len(rows) > max_points:
        rows = np.random.default_rng(2).choice(len(rows), max_points, replace=False)
    weights, profile = problem.weights[rows], problem.profile
    peak = float(profile.k(np.zeros(1))[0])
    if chain.upper is None:  # the data do not move
        values = density(points[rows], problem.points[rows], h, profile=profile, weights=weights)
        return float(np.average(values * h ** points.shape[1], weights=weights) / peak)
    total = float(weights.sum())
    return objective(points[rows], h, profile=profile, weights=weights) / (total * (total + 1) / 2 * peak)
