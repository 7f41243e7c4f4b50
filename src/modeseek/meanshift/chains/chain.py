"""The protocol of the algorithms: a `Chain`, and the workspace that its sweeps reuse."""

from collections.abc import Callable, Iterator
from typing import NamedTuple, TypeAlias

from modeseek._common.types import Array
from modeseek.meanshift.bandwidth import DrawPlan
from modeseek.meanshift.chains.problem import Problem
from modeseek.meanshift.types import ChainState, EndTest, SweepInfo, SweepsInfo, Workspace

# the state after a sweep, or a part of one, and what happened in it
Swept: TypeAlias = tuple[ChainState, SweepInfo]
# returns the number of draws in the next part of a sweep
PartSize: TypeAlias = Callable[[], int]


def _always(state: ChainState) -> bool:
    return True


class Chain(NamedTuple):
    """An algorithm on a problem: the initial state and the step from one state to the next.

    Attributes
    ----------
    name : str
        Name of the algorithm, for messages and checkpoints.
    problem : Problem
    h_min : float
        Smallest bandwidth that can be drawn, including the local scale.
    init : callable
        () -> ChainState before the first update.
    sweep : callable
        ChainState -> (ChainState, SweepInfo) after about n updates. A pure function of the state.
    upper : callable or None
        ChainState -> upper bound of all later bandwidths, including the local scale. None where points move
        against fixed data, so that nothing can be certified.
    frozen : callable
        ChainState -> whether small shifts may end the run, because the next draw changes the bandwidth by less than
        1e-5 of its value or because `upper` is infinite.
    arrived : callable, optional
        ChainState -> boolean array of the queries that have reached their modes. Only where data stay fixed.
    plan : DrawPlan, optional
        The random draws, if there are any. An engine that runs whole chains needs nothing else.
    parameters : dict, optional
        Further numbers that define the chain, by name. A checkpoint compares them.
    parts : callable, optional
        (ChainState, PartSize) -> iterator of (ChainState, SweepInfo): one sweep in several parts, for displays. The
        last state is the one that `sweep` returns. Each info has the bandwidths of its part only.
    skip : callable, optional
        (ChainState, EndTest) -> the state after several sweeps, up to one after which the run may end; None if the
        engine cannot apply several at once. The states are those of `sweep`.
    """

    name: str
    problem: Problem
    h_min: float
    init: Callable[[], ChainState]
    sweep: Callable[[ChainState], Swept]
    upper: Callable[[ChainState], float] | None
    frozen: Callable[[ChainState], bool] = _always
    arrived: Callable[[ChainState], Array] | None = None
    plan: DrawPlan | None = None
    parameters: dict[str, float] | None = None
    parts: Callable[[ChainState, PartSize], Iterator[Swept]] | None = None
    skip: Callable[[ChainState, EndTest], tuple[ChainState, SweepsInfo] | None] | None = None


class ReusedWorkspace:
    """One workspace for all sweeps of a chain; the state is loaded only if the workspace does not hold it already."""

    def __init__(self, problem: Problem):
        self._problem = problem
        self._workspace: Workspace | None = None
        self._points: Array | None = None

    def opened(self) -> Workspace:
        if self._workspace is None:
            # opened with the initial state even if a run is resumed, because engines choose their data structures from
            # it
            self._workspace, self._points = self._problem.open(), self._problem.points
        return self._workspace

    def at(self, points: Array) -> Workspace:
        workspace = self.opened()
        if points is not self._points:
            workspace.load(points)
        self._points = None  # an interrupted sweep leaves the workspace in an unknown state
        return workspace

    def leave(self) -> Array:
        assert self._workspace is not None
        self._points = self._workspace.points
        return self._points
