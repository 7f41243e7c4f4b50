"""Types of the mean-shift core: named tuples and protocols."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol, TypeAlias, runtime_checkable

import numpy as np

from modeseek._common.types import Array, Geometry, IntArray

__all__ = [
    "BandwidthPolicy",
    "Callback",
    "ChainEnd",
    "ChainJob",
    "ChainState",
    "ClimbingWorkspace",
    "Draws",
    "Ending",
    "Engine",
    "ProfileLike",
    "SweepInfo",
    "Workspace",
]


class Draws(NamedTuple):
    """What chance decided, for a block of updates.

    Attributes
    ----------
    indices : (m,) or (m, b) integer array
        The point of each update. In a 2-D block a row holds the points that move at once; -1 pads a short row.
    bandwidths : (m,) or (m, b) array
        The bandwidth of each update, per-point scale included.
    """

    indices: IntArray
    bandwidths: Array


class ChainState(NamedTuple):
    """What the next step needs, nothing more.

    Attributes
    ----------
    points : (n, d) array
        The state X^(k); never written to once it is here.
    h : float
        The bandwidth h_k of the policy, before any per-point scale.
    k : int
        Single-point updates done.
    last_shift : (n,) array
        Length of each point's last move; +inf until it was first chosen.
    """

    points: Array
    h: float
    k: int
    last_shift: Array

    @classmethod
    def initial(cls, points: Array, h: float) -> ChainState:
        """Return the state before the first update."""
        return cls(points, float(h), 0, np.full(len(points), np.inf))


class SweepInfo(NamedTuple):
    """What happened in a sweep; reported, never fed back.

    Attributes
    ----------
    bandwidths : (m,) array
        The policy's draws h_{k+1}, ... in order, before any per-point scale.
    largest_shift : float
        The longest move of the sweep.
    sweeps : int
        Number of sweeps that ended: 1, or more where an engine does several at once, or 0 within a sweep.
    """

    bandwidths: Array
    largest_shift: float
    sweeps: int = 1


class Ending(NamedTuple):
    """When a chain ends, for an engine that runs it to its end; see `modeseek.meanshift.chains.Stopping`.

    Attributes
    ----------
    tau, threshold, fraction : float
    by_certificate : bool
    max_updates : int
    max_sweeps : int, optional
    """

    tau: float
    threshold: float
    fraction: float
    by_certificate: bool
    max_updates: int
    max_sweeps: int | None


class ChainJob(NamedTuple):
    """A chain that is to be run to its end by an engine.

    Attributes
    ----------
    points : (n, d) array
        Where it starts.
    weights : (n,) array
    plan : DrawPlan
        Its draws, as `modeseek.meanshift.bandwidth` makes them.
    ending : Ending
    """

    points: Array
    weights: Array
    plan: Any
    ending: Ending


class ChainEnd(NamedTuple):
    """What such a chain leaves behind.

    Attributes
    ----------
    state : ChainState
    sweeps : int
    outcome : str
        A name in `modeseek.meanshift.chains.Outcome`.
    shifts : array
        The longest move of each sweep; of very long runs, of the first sweeps.
    """

    state: ChainState
    sweeps: int
    outcome: str
    shifts: Array


Callback: TypeAlias = Callable[[ChainState, SweepInfo], None]


class ProfileLike(Protocol):
    """What an engine asks of a profile; `modeseek.meanshift.kernels.profiles.Profile` is the one that ships."""

    @property
    def name(self) -> str:
        """The profile's name."""

    @property
    def code(self) -> int | None:
        """Number of its compiled branch; None for a user's own functions."""

    @property
    def k(self) -> Callable[[Array], Array]:
        """The profile t -> k(t)."""

    @property
    def weight(self) -> Callable[[Array], Array]:
        """The weight t -> G(t) = -k'(t)."""


@runtime_checkable
class BandwidthPolicy(Protocol):
    """How the bandwidth of the next update is drawn.

    `h_0` is where the policy starts and `h_min` the smallest bandwidth that it can draw.
    """

    @property
    def h_0(self) -> float:
        """The bandwidth before the first draw."""

    @property
    def h_min(self) -> float:
        """The smallest bandwidth that can be drawn."""

    def draw(self, uniforms: Array, h: float, k: int) -> Array:
        """Return h_{k+1}, h_{k+2}, ... from uniforms on [0, 1), one each, given h_k = h."""

    def upper(self, h: float, k: int) -> float:
        """Return the largest bandwidth still to come after k draws, given h_k = h; inf if nobody knows."""


class Workspace(Protocol):
    """An engine at work on one state."""

    @property
    def points(self) -> Array:
        """The current state as a new (n, d) array."""

    def load(self, points: Array) -> None:
        """Replace the state."""

    def shift_each(self, draws: Draws) -> Array:
        """Apply the draws in order; return the length of each shift, shaped as `draws.indices`."""

    def shift_all(self, queries: Array, h: Array | float) -> Array:
        """Return S_h(x) for every query x against the current state, which stays as it is."""


@runtime_checkable
class ClimbingWorkspace(Protocol):
    """A workspace that can take climbers to their ends by itself."""

    @property
    def climbs(self) -> bool:
        """Whether it can, for these points."""

    def climb(self, queries: Array, h: float, tol: float, most: int) -> tuple[Array, Array, IntArray]:
        """Return where climbers end, the lengths of their last steps, and how many they took, at most so many."""


class Engine(Protocol):
    """Something that can apply draws to a state."""

    @property
    def name(self) -> str:
        """The engine's name."""

    def refusal(self, profile: ProfileLike, dimensions: int) -> str | None:
        """Return why it cannot be used with a profile in so many dimensions; None where it can."""

    def open(
        self, points: Array, weights: Array, profile: ProfileLike, geometry: Geometry, n_jobs: int | None
    ) -> Workspace:
        """Return a workspace that may keep cells, lists or device memory between blocks."""
