"""What a run leaves on the way: bandwidths drawn, L_h and the number of clumps, in bounded memory."""

from __future__ import annotations

from typing import Any

import numpy as np

from modeseek._common.types import Array
from modeseek.meanshift.chains import Problem
from modeseek.meanshift.objective import density, objective

__all__ = ["OBJECTIVE_POINTS", "History", "sampled_objective"]

# above this many points L_h is that of a sample
OBJECTIVE_POINTS = 600
# draws kept of a piece of a sweep
OF_A_PIECE = 6
MOST = 4000


class History:
    """Lists to draw lines from; when they grow long, every second entry goes.

    Attributes
    ----------
    drawn : list of (sweep, h)
    levels : list of (sweep, share of the largest L_h, clumps)
    version : int
        Grows with each entry.

    Examples
    --------
    >>> history = History()
    >>> history.bandwidths(0, 1, np.array([0.5, 1.0]))
    >>> history.drawn
    [(0.5, 0.5), (1.0, 1.0)]
    """

    def __init__(self) -> None:
        self.drawn: list[tuple[float, float]] = []
        self.levels: list[tuple[float, float, int]] = []
        self.version = 0

    def bandwidths(self, begin: float, end: float, path: Array) -> None:
        """Keep some of the bandwidths drawn between two moments, counted in sweeps."""
        chosen = np.unique(np.linspace(0, len(path) - 1, OF_A_PIECE).round().astype(int))
        when = begin + (chosen + 1) / len(path) * (end - begin)
        self.drawn = _bounded([*self.drawn, *zip(when.tolist(), path[chosen].tolist(), strict=True)])
        self.version += 1

    def level(self, sweep: float, level: float, clumps: int) -> None:
        """Keep L_h and the number of clumps after a sweep."""
        self.levels = _bounded([*self.levels, (float(sweep), level, clumps)])
        self.version += 1


def _bounded(entries: list[Any]) -> list[Any]:
    return entries if len(entries) <= MOST else [*entries[:-1:2], entries[-1]]


def sampled_objective(points: Array, problem: Problem, h: float, data: Array | None) -> float:
    """Return L_h as a share of the largest that it can be, all points at one place; of a sample where they are many.

    Where data never move, what climbs is the density at the climbers: its mean, as a share of the largest possible.

    Examples
    --------
    >>> state = np.zeros((3, 1))
    >>> sampled_objective(state, Problem(state, np.ones(3)), 1.0, None)
    1.0
    """
    n = len(points)
    rows = np.arange(n)
    if n > OBJECTIVE_POINTS:
        rows = np.random.default_rng(2).choice(n, OBJECTIVE_POINTS, replace=False)
    weights, profile = problem.weights[rows], problem.profile
    if data is not None:
        values = density(points[rows], data[rows], h, profile=profile, weights=weights) * h ** points.shape[1]
        return float(np.average(values, weights=weights) / profile.k(np.zeros(1))[0])
    total = float(weights.sum())
    largest = total * (total + 1) / 2 * float(profile.k(np.zeros(1))[0])
    return objective(points[rows], h, profile=profile, weights=weights) / largest
