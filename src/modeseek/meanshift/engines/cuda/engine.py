"""The CUDA engine: sums over all pairs on an NVIDIA GPU, and many chains in one launch.

Importing this module imports neither Numba nor CUDA. Kernels are compiled from the same source as the NumPy versions,
`modeseek.meanshift.kernels.formulas` and `modeseek.meanshift.bandwidth.formulas`. Without a GPU they run on Numba's
simulator if `NUMBA_ENABLE_CUDASIM=1` is set; this is slow and meant for tests.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING

from modeseek._common.types import Array, Geometry
from modeseek.meanshift.bandwidth import encode_policy
from modeseek.meanshift.engines.cuda.config import DEFAULT, CudaConfig
from modeseek.meanshift.types import ChainEnd, ChainJob, ProfileLike

if TYPE_CHECKING:
    from modeseek.meanshift.engines.cuda.workspace import CudaWorkspace


class CudaEngine:
    """Sums over all pairs on an NVIDIA GPU, or over cells of a grid for many climbers in up to three dimensions.

    Parameters
    ----------
    config : CudaConfig, optional
    """

    name = "cuda"

    def __init__(self, config: CudaConfig = DEFAULT) -> None:
        self._config = config

    def refusal(self, profile: ProfileLike, dimensions: int) -> str | None:
        """Return why this engine cannot be used, or None if there is a GPU and the profile is built in."""
        if profile.code is None:
            return f"profile {profile.name!r} is a custom profile, which is not compiled for the GPU"
        return why_unavailable()

    def open(
        self, points: Array, weights: Array, profile: ProfileLike, geometry: Geometry, n_jobs: int | None = None
    ) -> CudaWorkspace:
        """Return a workspace in the memory of the device."""
        from modeseek.meanshift.engines.cuda.workspace import CudaWorkspace

        return CudaWorkspace(points, weights, profile, geometry, self._config)

    def pays(self, profile: ProfileLike, points: Array, chains: int) -> bool:
        """Estimate whether the chains would take the CPU so long that compiling for the GPU pays.

        Compilation takes about ten seconds in each process. In more than three dimensions, and for many points, the
        CPU engines avoid most pairs, so the GPU is used only on request.
        """
        (n, d), config = points.shape, self._config
        if chains < config.min_chains or d > 3 or n > config.max_points:
            return False
        per_update = min(n / config.pairs_per_second, config.seconds_per_update)
        seconds = chains * config.sweeps_per_chain * n * per_update / (os.cpu_count() or 1)
        return seconds > config.min_cpu_seconds and self.refusal(profile, d) is None

    def can_run(self, jobs: Sequence[ChainJob]) -> bool:
        """Return whether chains can run together: built-in policies, no batches, equal order, dtype and dimension."""
        first = jobs[0]
        return all(
            encode_policy(job.plan.policy) is not None
            and job.plan.batch == 1
            and job.plan.order == first.plan.order
            and job.points.shape[1] == first.points.shape[1]
            and job.points.dtype == first.points.dtype
            for job in jobs
        )

    def run_to_end(
        self,
        jobs: Sequence[ChainJob],
        profile: ProfileLike,
        geometry: Geometry,
        watch: Callable[[int], None] | None = None,
    ) -> list[ChainEnd]:
        """Run chains to their ends, together; each chain has one block of threads."""
        from modeseek.meanshift.engines.cuda.launch import run_many

        return run_many(jobs, profile, geometry, watch)


@cache
def why_unavailable() -> str | None:
    """Return why the GPU cannot be used and what to do, or None."""
    if find_spec("numba_cuda") is None:
        return 'it requires numba-cuda, which is not installed: pip install "modeseek[cuda]"'
    if os.environ.get("NUMBA_ENABLE_CUDASIM") == "1":
        return None
    from numba import cuda

    try:
        if cuda.is_available():
            return None
        reason = "no NVIDIA GPU was found"
    except Exception as error:  # a broken driver can raise anything
        reason = f"the GPU cannot be used ({str(error).strip().splitlines()[0]})"
    return f"{reason}; run `python -m numba -s` for details"
