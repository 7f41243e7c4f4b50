"""Types of the mean-shift packages: named tuples and protocols."""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from typing import Any, NamedTuple, Protocol, TypeAlias, runtime_checkable

import numpy as np

from modeseek._common.storable import storable
from modeseek._common.types import Array, Geometry, IntArray


class Draws(NamedTuple):
    """The random draws of a block of updates.

    Attributes
    ----------
    indices : (m,) or (m, b) integer array
        Index of the point that each update moves. In a 2-D block, the points of a row move at once; -1 pads a short
        row.
    bandwidths : (m,) or (m, b) array
        The bandwidth of each update, multiplied by the local scale of the point if there is one.
    """

    indices: IntArray
    bandwidths: Array


@storable()
class ChainState(NamedTuple):
    """The state of a chain: everything that the next step depends on.

    Attributes
    ----------
    points : (n, d) array
        The points X^(k). This array is never modified.
    h : float
        The bandwidth h_k of the policy, before any local scale.
    k : int
        Number of single-point updates so far.
    last_shift : (n,) array
        Length of each point's last move; inf for a point that has not been drawn yet.
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
    """What happened in a sweep. It is reported, and the next step does not depend on it.

    Attributes
    ----------
    bandwidths : (m,) array
        The policy's draws h_{k+1}, ... in order, before any local scale.
    largest_shift : float
        Length of the longest move.
    sweeps : int
        Number of completed sweeps: usually 1; more if an engine applies several at once, 0 if a sweep is incomplete.
    """

    bandwidths: Array
    largest_shift: float
    sweeps: int = 1


class SweepsEnd(IntEnum):
    """What an engine that applies several sweeps at once found after the last sweep."""

    CONTINUE = 0  # the stopping rule is not fulfilled
    CHECK = 1  # the stopping rule has to be checked
    CERTIFIED = 2  # the partition is certified


class SweepsInfo(NamedTuple):
    """What happened in several sweeps that were applied at once.

    Attributes
    ----------
    bandwidths : (m,) array
        The policy's draws of all sweeps.
    largest_shifts : array
        Length of the longest move of each sweep.
    end : SweepsEnd
        What was found after the last sweep. The stopping rule is not fulfilled after any earlier sweep.
    """

    bandwidths: Array
    largest_shifts: Array
    end: SweepsEnd


class EndTest(NamedTuple):
    """A necessary condition of the stopping rule, for an engine that applies several sweeps at once.

    Attributes
    ----------
    threshold, fraction, by_certificate, tau
        As in `Ending`.
    now : bool
        Whether the run may end before the first sweep.
    due : boolean array
        Flags: whether the certificate is checked before the first sweep, and after each sweep.
    """

    threshold: float
    fraction: float
    by_certificate: bool
    tau: float
    now: bool
    due: Array


class Ending(NamedTuple):
    """The stopping rule as numbers, for an engine that runs whole chains; see `modeseek.meanshift.chains.Stopping`.

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
    """A chain that an engine is to run to its end.

    Attributes
    ----------
    points : (n, d) array
        The initial state.
    weights : (n,) array
    plan : DrawPlan
        The draws, from `modeseek.meanshift.bandwidth`.
    ending : Ending
    """

    points: Array
    weights: Array
    plan: Any
    ending: Ending


class ChainEnd(NamedTuple):
    """The result of a `ChainJob`.

    Attributes
    ----------
    state : ChainState
    sweeps : int
    outcome : str
        Name of a member of `modeseek.meanshift.chains.Outcome`.
    shifts : array
        Length of the longest move of each sweep; in very long runs, of the first sweeps only.
    """

    state: ChainState
    sweeps: int
    outcome: str
    shifts: Array


Callback: TypeAlias = Callable[[ChainState, SweepInfo], None]


class ProfileLike(Protocol):
    """A kernel profile as engines use it; implemented by `modeseek.meanshift.kernels.profiles.Profile`."""

    @property
    def name(self) -> str:
        """Name of the profile."""

    @property
    def code(self) -> int | None:
        """Number by which compiled code selects the profile; None for a user-defined profile."""

    @property
    def k(self) -> Callable[[Array], Array]:
        """The profile t -> k(t)."""

    @property
    def weight(self) -> Callable[[Array], Array]:
        """The weight t -> G(t) = -k'(t)."""


@runtime_checkable
class BandwidthPolicy(Protocol):
    """The distribution of the bandwidths.

    Examples
    --------
    >>> from modeseek.meanshift.bandwidth import Shrinking
    >>> policy = Shrinking(0.2, 1.6, 0.6)
    >>> isinstance(policy, BandwidthPolicy), policy.h_0, policy.h_min
    (True, 0.6, 0.2)
    """

    @property
    def h_0(self) -> float:
        """The bandwidth before the first draw."""

    @property
    def h_min(self) -> float:
        """The smallest bandwidth that can be drawn."""

    def draw(self, uniforms: Array, h: float, k: int) -> Array:
        """Return the bandwidths h_{k+1}, h_{k+2}, ..., one for each uniform number on [0, 1), given h_k = h."""

    def upper(self, h: float, k: int) -> float:
        """Return an upper bound of all bandwidths after h_k = h; inf if unknown."""


class Workspace(Protocol):
    """The data structures of an engine for one state."""

    @property
    def points(self) -> Array:
        """The current state as a new (n, d) array."""

    def load(self, points: Array) -> None:
        """Replace the state."""

    def shift_each(self, draws: Draws) -> Array:
        """Apply the draws in order; return the length of each shift, with the shape of `draws.indices`."""

    def shift_all(self, queries: Array, h: Array | float) -> Array:
        """Return the shifted position S_h(x) of every query x, from the current state, which does not change."""

    @property
    def most_sweeps(self) -> int:
        """Largest number of sweeps for `shift_sweeps`; 0 if the engine does not draw by itself."""

    def shift_sweeps(self, code: Any, h: float, last_shift: Array, test: EndTest) -> SweepsInfo:
        """Apply sweeps, with the draws of a `DrawCode`, until the stopping rule may be fulfilled; update `last_shift`.

        h is the bandwidth of the policy before the first draw. The whole call runs without the GIL.
        """


@runtime_checkable
class ClimbingWorkspace(Protocol):
    """A workspace that can move queries all the way to their modes in one call."""

    @property
    def climbs(self) -> bool:
        """Whether `climb` can be used for the points of this workspace."""

    def climb(self, queries: Array, h: float, tol: float, most: int) -> tuple[Array, Array, IntArray]:
        """Return the final positions of the queries, the lengths of their last steps and their numbers of steps.

        A query stops after a step of length tol * h or less, or after `most` steps.
        """


class Engine(Protocol):
    """An implementation of the mean-shift operator.

    Examples
    --------
    >>> from modeseek.meanshift.chains import make_problem
    >>> problem = make_problem([[0.0], [1.0], [5.0]], engine="brute")
    >>> problem.engine.name
    'brute'
    >>> problem.open().shift_all(np.array([[0.5]]), 2.0)
    array([[0.5]])
    """

    @property
    def name(self) -> str:
        """Name of the engine."""

    def refusal(self, profile: ProfileLike, dimensions: int) -> str | None:
        """Return why the engine cannot be used with a profile in this many dimensions, or None if it can."""
        return None

    def open(
        self, points: Array, weights: Array, profile: ProfileLike, geometry: Geometry, n_jobs: int | None
    ) -> Workspace:
        """Return a workspace. It may keep data structures between calls."""
