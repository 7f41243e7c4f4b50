"""`engine="cuda"`: the same sums on an NVIDIA GPU, and many chains at once.

Importing this imports neither Numba nor CUDA. Kernels are compiled from `modeseek.meanshift.kernels.formulas` and
`modeseek.meanshift.bandwidth.formulas`, the text that NumPy runs, and run on Numba's simulator where there is no device
(`NUMBA_ENABLE_CUDASIM=1`): slowly, for tests.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING

from modeseek._common.types import Array, Geometry
from modeseek.meanshift.bandwidth import encode_policy
from modeseek.meanshift.engines.cuda.chain_batcher import ChainBatcher, in_force
from modeseek.meanshift.types import ChainEnd, ChainJob, ProfileLike

if TYPE_CHECKING:
    from modeseek.meanshift.engines.cuda.workspace import CudaWorkspace

__all__ = ["ChainBatcher", "CudaEngine"]

# below so many chains, or above so many points in each, "auto" stays with the processor
FEWEST, MOST_POINTS = 64, 10_000
# a chain's sweeps, what a core does, and what it does not need above some thousand points: all roughly
SWEEPS, PAIRS_PER_SECOND, SECONDS_PER_UPDATE = 40, 3e9, 5e-7
# seconds of all cores that are worth the device's
WORTH = 60.0


class CudaEngine:
    """All pairs on an NVIDIA GPU; by cells where many points climb in the plane or in space."""

    name = "cuda"

    def refusal(self, profile: ProfileLike, dimensions: int) -> str | None:
        """Return why it cannot be used; None where there is a device and the profile is one that ships."""
        if profile.code is None:
            return f"profile {profile.name!r} is one's own, which is not compiled for the GPU"
        return missing()

    def open(
        self,
        points: Array,
        weights: Array,
        profile: ProfileLike,
        geometry: Geometry,
        n_jobs: int | None = None,
    ) -> CudaWorkspace:
        """Return a workspace in the device's memory."""
        from modeseek.meanshift.engines.cuda.workspace import CudaWorkspace

        return CudaWorkspace(points, weights, profile, geometry)

    def pays(self, profile: ProfileLike, points: Array, chains: int) -> bool:
        """Guess whether that many chains would keep the processor busy for so long that the device is worth waking.

        It takes some ten seconds to compile for it, in each process. In more than three dimensions, and for many
        points, where the processor has better than all pairs, it is left to those who ask for it.
        """
        n, d = points.shape
        if chains < FEWEST or d > 3 or n > MOST_POINTS:
            return False
        seconds = chains * SWEEPS * n * min(n / PAIRS_PER_SECOND, SECONDS_PER_UPDATE) / (os.cpu_count() or 1)
        return seconds > WORTH and self.refusal(profile, d) is None

    def takes(self, jobs: Sequence[ChainJob]) -> bool:
        """Tell whether chains can run together: drawn by policies that ship, one point at a time, by one rule."""
        first = jobs[0]
        return all(
            encode_policy(each.plan.policy) is not None
            and each.plan.batch == 1
            and each.plan.order == first.plan.order
            and each.points.shape[1] == first.points.shape[1]
            and each.points.dtype == first.points.dtype
            for each in jobs
        )

    def run_many(
        self,
        jobs: Sequence[ChainJob],
        profile: ProfileLike,
        geometry: Geometry,
        watch: Callable[[int], None] | None = None,
    ) -> list[ChainEnd]:
        """Run chains to their ends, a block of threads for each, without a word to the host in between.

        In a `ChainBatcher`, together with those of other threads; then nobody is told how many have ended.
        """
        from modeseek.meanshift.engines.cuda.launch import run_many

        gathering = in_force.get()
        if gathering is None:
            return run_many(jobs, profile, geometry, watch)
        kind = (profile.code, geometry, jobs[0].plan.order, jobs[0].points.shape[1], jobs[0].points.dtype)
        return gathering.run(kind, lambda several: run_many(several, profile, geometry), jobs)


@cache
def missing() -> str | None:
    """Return what keeps the device from being used, and what to do; None if nothing does."""
    if find_spec("numba_cuda") is None:
        return 'it needs Numba for CUDA, which is not installed: pip install "modeseek[cuda]"'
    if os.environ.get("NUMBA_ENABLE_CUDASIM") == "1":
        return None
    from numba import cuda

    try:
        if cuda.is_available():
            return None
        reason = "no NVIDIA GPU was found"
    except Exception as error:  # whatever a driver, or half of one, comes up with
        reason = f"the GPU cannot be used ({str(error).strip().splitlines()[0]})"
    return f"{reason}; `python -m numba -s` says what is seen of it"
