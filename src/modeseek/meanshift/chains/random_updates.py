"""Sweeps of single-point updates with random draws, for `stochastic` and `doubly_stochastic`."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from modeseek.meanshift.bandwidth import DrawPlan, LocalFactor, encode_policy
from modeseek.meanshift.bandwidth.draws import FROZEN_RTOL
from modeseek.meanshift.chains.chain import Chain, PartSize, ReusedWorkspace, Swept
from modeseek.meanshift.chains.problem import Problem
from modeseek.meanshift.types import BandwidthPolicy, ChainState, Draws, EndTest, SweepInfo, SweepsInfo


@dataclass(frozen=True, eq=False)
class RandomUpdates:
    """The methods of a `Chain` whose points move one by one, or in batches.

    Attributes
    ----------
    problem : Problem
    policy : BandwidthPolicy
    plan : DrawPlan
    local_factor : LocalFactor or None
    scales : tuple of float
        The smallest and the largest factor on the bandwidth.
    workspace : ReusedWorkspace
    """

    problem: Problem
    policy: BandwidthPolicy
    plan: DrawPlan
    local_factor: LocalFactor | None
    scales: tuple[float, float]
    workspace: ReusedWorkspace

    def chain(self, name: str) -> Chain:
        """Return the chain."""
        factor = self.local_factor
        # a user-defined policy is checked after each sweep
        skips = self.plan.batch == 1 and factor is None and encode_policy(self.policy) is not None
        return Chain(
            name,
            self.problem,
            self.policy.h_min * self.scales[0],
            self._init,
            self._sweep,
            self._upper,
            self._frozen,
            plan=self.plan,
            parameters=None if factor is None else {"low": factor.low, "high": factor.high},
            parts=self._parts,
            skip=self._skip if skips else None,
        )

    def _init(self) -> ChainState:
        return ChainState.initial(self.problem.points, self.policy.h_0)

    def _parts(self, state: ChainState, size: PartSize) -> Iterator[Swept]:
        plan, problem = self.plan, self.problem
        draws, path = plan.sweep(state.k // plan.updates, state.h)
        done, largest = 0, 0.0
        while done < plan.steps:
            rows = slice(done, done + size())
            workspace = self.workspace.at(state.points)
            indices, bandwidths = draws.indices[rows], path[rows]
            part = Draws(indices, problem.reach(draws.bandwidths[rows]))
            if self.local_factor is None:
                lengths = workspace.shift_each(part)
            else:
                lengths = self.local_factor.shift_each(workspace, part, problem.weights, problem.profile)
            if indices.ndim == 2:  # -1 pads the last batch
                indices, lengths = indices[indices >= 0], lengths[indices >= 0]
            last_shift = state.last_shift.copy()
            last_shift[indices] = lengths  # a point drawn twice keeps its last shift
            done, largest = rows.stop, max(largest, float(lengths.max()))
            state = ChainState(self.workspace.leave(), float(bandwidths[-1]), state.k + len(indices), last_shift)
            yield state, SweepInfo(bandwidths, largest, int(done >= plan.steps))

    def _sweep(self, state: ChainState) -> Swept:
        return next(self._parts(state, lambda: self.plan.steps))

    def _skip(self, state: ChainState, test: EndTest) -> tuple[ChainState, SweepsInfo] | None:
        most = self.workspace.opened().most_sweeps
        if not most:
            return None
        test = test._replace(due=test.due[: most + 1])
        steps, last_shift = self.plan.steps, state.last_shift.copy()
        code = self.plan.encoded(state.k // steps * steps, (len(test.due) - 1) * steps, self.problem.reach(1.0))
        info = self.workspace.at(state.points).shift_sweeps(code, state.h, last_shift, test)
        drawn, points = info.bandwidths, self.workspace.leave()
        return ChainState(points, float(drawn[-1]) if len(drawn) else state.h, state.k + len(drawn), last_shift), info

    def _draws_done(self, state: ChainState) -> int:
        return state.k // self.plan.updates * self.plan.steps

    def _upper(self, state: ChainState) -> float:
        return self.problem.reach(self.plan.upper(self._draws_done(state), state.h) * self.scales[1])

    def _frozen(self, state: ChainState) -> bool:
        if np.isinf(self._upper(state)):
            return True
        k, uniforms = self._draws_done(state), (0.0, 1.0 - 2.0**-53)
        ends = [self.policy.draw(np.array([u]), state.h, k)[0] for u in uniforms]
        return bool(np.allclose(ends, state.h, rtol=FROZEN_RTOL, atol=0.0))
