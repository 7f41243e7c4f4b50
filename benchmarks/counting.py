"""Kernel evaluations of an engine, counted by the engine itself."""

from __future__ import annotations

from typing import Any, NamedTuple

from modeseek._common.types import Array, Geometry
from modeseek.meanshift.chains import Chain, Stopping, run
from modeseek.meanshift.types import Engine, ProfileLike, Workspace


class Counted:
    """An engine that remembers the workspaces it opened, so that their `evaluations` can be read."""

    def __init__(self, engine: Engine):
        self._engine = engine
        self._opened: list[Any] = []
        self.name = engine.name

    def open(
        self, points: Array, weights: Array, profile: ProfileLike, geometry: Geometry, n_jobs: int | None = None
    ) -> Workspace:
        """Open the engine's workspace."""
        workspace = self._engine.open(points, weights, profile, geometry, n_jobs)
        self._opened.append(workspace)
        return workspace

    @property
    def evaluations(self) -> int | None:
        """Evaluations of all workspaces; None if the engine does not count."""
        counts = [getattr(workspace, "evaluations", None) for workspace in self._opened]
        return None if not counts or None in counts else sum(counts)


class Count(NamedTuple):
    """Cost of a run: evaluations per update (None if the engine does not count), updates and sweeps."""

    per_update: float | None
    updates: int
    sweeps: int


def count(chain: Chain, engine: Counted, stopping: Stopping) -> Count:
    """Run a chain on a counted engine."""
    result = run(chain, stopping)
    total = engine.evaluations
    return Count(None if total is None else total / result.state.k, result.state.k, result.sweeps)
