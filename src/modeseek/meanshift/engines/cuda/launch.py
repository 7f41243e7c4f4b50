"""Run many chains on the device: copy tables to the device, launch one kernel, copy results back."""

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numba import cuda

from modeseek._common.types import Array, Geometry
from modeseek.meanshift.bandwidth import encode_policy
from modeseek.meanshift.certificate import ROUNDING_ULPS
from modeseek.meanshift.engines.cuda.kernels.block import SIMULATED, multiprocessors
from modeseek.meanshift.engines.cuda.kernels.chain_draws import round_keys
from modeseek.meanshift.engines.cuda.kernels.chain_end import OUTCOMES
from modeseek.meanshift.engines.cuda.kernels.chains import (
    ENDED,
    Chains,
    ChainScratch,
    Problems,
    Results,
    chains_kernel,
)
from modeseek.meanshift.engines.cuda.kernels.single_shift import MAX_LOW, KernelSpec, stride_of
from modeseek.meanshift.types import ChainEnd, ChainJob, ChainState, ProfileLike

# Number of warps that a multiprocessor should have, and largest number of threads per block.
WARPS_PER_MULTIPROCESSOR = 16
MAX_THREADS = 512
# Bytes of shared memory that a block uses in addition to its state, and that it may use without a kernel attribute.
OTHER_SHARED = 24 * MAX_THREADS + 1024
FREE_SHARED = 48 * 1024
# Number of sweeps whose longest move is stored: in total, and at least and at most per chain.
KEPT_SHIFTS = 1 << 22
MIN_KEPT_SHIFTS = 64
MAX_KEPT_SHIFTS = 1 << 16
# Share of the free memory that states may take.
MEMORY_SHARE = 0.6
# Seconds between two checks whether the device has finished, at first and at most, and between two progress reports.
FIRST_PAUSE = 1e-4
MAX_PAUSE = 0.01
REPORT_INTERVAL = 0.2


def run_many(
    jobs: Sequence[ChainJob], profile: ProfileLike, geometry: Geometry, watch: Callable[[int], None] | None = None
) -> list[ChainEnd]:
    """Run chains to their ends; their points have one dimension and precision. Ctrl-C stops each after its sweep.

    Parameters
    ----------
    jobs : sequence of ChainJob
    profile : Profile
    geometry : Geometry
    watch : callable, optional
        Called with the number of chains that have ended.
    """
    done: list[ChainEnd] = []
    for some in _that_fit(jobs):
        launch = _Launch(some, profile, geometry)
        launch.run(len(done), watch)
        done += launch.ends()
        if launch.interrupted:
            break
    for job in jobs[len(done) :]:  # chains that had not started when Ctrl-C was pressed
        state = ChainState(job.points, job.plan.policy.h_0, 0, np.full(len(job.points), np.inf))
        done.append(ChainEnd(state, 0, "INTERRUPTED", np.empty(0)))
    return done


def _that_fit(jobs: Sequence[ChainJob]) -> Iterator[Sequence[ChainJob]]:
    """Divide the chains into as few launches as the memory of the device allows."""
    if SIMULATED:
        yield jobs
        return
    available = MEMORY_SHARE * cuda.current_context().get_memory_info().free
    begin, taken = 0, 0.0
    for number, job in enumerate(jobs):
        n, d = job.points.shape
        # states are padded, at most to twice their size or by a few thousand points
        need = (n + 4096.0) * d * 2 * job.points.itemsize + 8.0 * n
        if number > begin and taken + need > available:
            yield jobs[begin:number]
            begin, taken = number, 0.0
        taken += need
    yield jobs[begin:]


class _Launch:
    """One launch of the kernel."""

    def __init__(self, jobs: Sequence[ChainJob], profile: ProfileLike, geometry: Geometry):
        assert profile.code is not None
        self._jobs, self.interrupted = jobs, False
        self._n = np.array([len(job.points) for job in jobs])
        self._d, self._dtype = jobs[0].points.shape[1], jobs[0].points.dtype
        weighted, single = any(np.ptp(job.weights) > 0 for job in jobs), self._dtype == np.float32
        dim = self._d if self._d <= MAX_LOW else 0
        limit = FREE_SHARED
        if not SIMULATED:
            limit = int(cuda.get_current_device().MAX_SHARED_MEMORY_PER_BLOCK_OPTIN) - OTHER_SHARED
        n_bytes = self._d * self._dtype.itemsize
        threads = _threads(int(self._n.max()), n_bytes, len(jobs), limit)
        spec = KernelSpec(profile.code, dim, weighted, geometry.spherical, single, threads)
        self._strides = np.array([stride_of(n, spec) for n in self._n])
        state_bytes = int(self._strides.max()) * n_bytes
        self._spec = spec._replace(shared=state_bytes <= limit)
        self._shared_bytes = state_bytes if self._spec.shared else 0
        resident = max(1, min(2048 // threads // 2, (limit + OTHER_SHARED) // (self._shared_bytes + 2048)))
        self._blocks = min(len(jobs), resident * multiprocessors())
        self._last_at = np.cumsum(self._n) - self._n
        self._state_at = (np.cumsum(self._strides) - self._strides) * self._d
        problems, chains = self._tables(weighted)
        reshuffled = int(jobs[0].plan.order == "reshuffled")
        self._results = self._make_results()
        self._flags = cuda.to_device(np.zeros(2, dtype=np.int32))
        queue = cuda.to_device(np.zeros(1, dtype=np.int32))
        scratch = self._make_scratch(reshuffled)
        self._arguments = self._d, reshuffled, problems, chains, self._results, scratch, queue, self._flags

    def _tables(self, weighted: bool) -> tuple[Problems, Chains]:
        """Copy the problems, each of which several chains may share, and the chains to the device."""
        jobs, put = self._jobs, cuda.to_device
        problems: dict[int, ChainJob] = {}
        for job in jobs:
            problems.setdefault(id(job.points), job)
        sizes = [len(job.points) for job in problems.values()]
        starts = dict(zip(problems, np.cumsum(sizes) - sizes, strict=True))
        plans, nothing = [job.plan for job in problems.values()], np.empty(0)
        points = np.concatenate([job.points.T.ravel() for job in problems.values()])
        weights = np.concatenate([job.weights for job in problems.values()]) if weighted else nothing
        drawn = [np.ones(len(plan.weights)) if plan.order == "even" else plan.weights for plan in plans]
        even = all((each == 1.0).all() for each in drawn)
        cumulative = nothing if even else np.concatenate([np.cumsum(each) for each in drawn])
        scaled = any(plan.local_scales is not None for plan in plans)
        local_scales = np.concatenate([_local_scales(job) for job in problems.values()]) if scaled else nothing
        # the order of the fields of `Ending`; None becomes NaN
        endings = np.array([job.ending for job in jobs], dtype=np.float64)
        columns = (
            np.array([starts[id(job.points)] for job in jobs]),
            self._n,
            self._last_at,
            self._state_at,
            np.stack([round_keys(job.plan.seed, job.plan.chain) for job in jobs]),
            np.array([encode_policy(job.plan.policy) for job in jobs], dtype=np.float64),
            *np.ascontiguousarray(endings.T),
            np.full(len(jobs), ROUNDING_ULPS * float(np.finfo(self._dtype).eps)),
            np.array([float(_local_scales(job).max()) for job in jobs]),
        )
        on_device = Problems(put(points), put(weights.astype(self._dtype)), put(cumulative), put(local_scales))
        return on_device, Chains._make(map(put, columns))

    def _make_results(self) -> Results:
        count, array = len(self._jobs), cuda.device_array
        kept = int(np.clip(KEPT_SHIFTS // count, MIN_KEPT_SHIFTS, MAX_KEPT_SHIFTS))
        return Results(
            states=array(int(self._strides.sum()) * self._d, self._dtype),
            last_shift=array(int(self._n.sum()), np.float64),
            h=array(count, np.float64),
            updates=array(count, np.int64),
            sweeps=array(count, np.int64),
            outcome=array(count, np.int32),
            max_shifts=array((count, kept), np.float64),
        )

    def _make_scratch(self, reshuffled: int) -> ChainScratch:
        largest, blocks, array = int(self._n.max()), self._blocks, cuda.device_array
        return ChainScratch(
            weights=array((blocks, 1 if self._spec.dim else largest), self._dtype),
            new=array((blocks, self._d), np.float64),
            uniforms=array((blocks, largest if reshuffled else 1), np.float64),
            order=array((blocks, largest if reshuffled else 1), np.int32),
        )

    def run(self, before: int, watch: Callable[[int], None] | None) -> None:
        """Launch the kernel and wait; Ctrl-C stops each chain after its current sweep.

        `before` is the number of chains that have ended in earlier launches.
        """
        kernel = chains_kernel(self._spec)
        if SIMULATED:
            kernel[self._blocks, self._spec.threads, 0, self._shared_bytes](*self._arguments)
            return
        kernel = kernel.specialize(*self._arguments)
        _allow_shared(kernel, self._shared_bytes)
        cuda.synchronize()  # until the default stream has copied all arguments
        work, beside, end = cuda.stream(), cuda.stream(), cuda.event()
        kernel[self._blocks, self._spec.threads, work, self._shared_bytes](*self._arguments)
        end.record(work)
        try:
            self._wait(end, beside, before, watch)
        except KeyboardInterrupt:
            self.interrupted = True
            self._flags.copy_to_device(np.array([1, 0], dtype=np.int32), stream=beside)
        work.synchronize()

    def _wait(self, end: Any, beside: Any, before: int, watch: Callable[[int], None] | None) -> None:
        reported, pause = time.perf_counter(), FIRST_PAUSE
        while not end.query():
            time.sleep(pause)
            pause = min(1.005 * pause, MAX_PAUSE)
            if watch is not None and time.perf_counter() - reported > REPORT_INTERVAL:
                flags = self._flags.copy_to_host(stream=beside)
                beside.synchronize()
                watch(before + int(flags[ENDED]))
                reported = time.perf_counter()

    def ends(self) -> list[ChainEnd]:
        """Copy the results to the host."""
        results = Results(*(each.copy_to_host() for each in self._results))
        found = []
        for number, job in enumerate(self._jobs):
            n, stride, at = self._n[number], self._strides[number], self._state_at[number]
            sweeps = int(results.sweeps[number])
            points = results.states[at : at + stride * self._d].reshape(self._d, stride)[:, :n].T
            last_shift = results.last_shift[self._last_at[number] : self._last_at[number] + n].copy()
            state = ChainState(
                np.ascontiguousarray(points) if sweeps else job.points,
                float(results.h[number]),
                int(results.updates[number]),
                last_shift,
            )
            outcome = OUTCOMES[results.outcome[number]]
            found.append(ChainEnd(state, sweeps, outcome, results.max_shifts[number, :sweeps].copy()))
        return found


def _threads(n: int, n_bytes: int, chains: int, limit: int) -> int:
    """Return the number of threads per chain: enough to fill the device, but not more than the points keep busy."""
    if SIMULATED:
        return 8
    resident = max(1, limit // (n * n_bytes)) if n * n_bytes <= limit else WARPS_PER_MULTIPROCESSOR
    per_multiprocessor = min(resident, -(-chains // multiprocessors()))
    threads = 32
    while threads < min(MAX_THREADS, n / 4) and threads * per_multiprocessor < 32 * WARPS_PER_MULTIPROCESSOR:
        threads *= 2
    return threads


def _local_scales(job: ChainJob) -> Array:
    return np.ones(len(job.points)) if job.plan.local_scales is None else job.plan.local_scales


def _allow_shared(kernel: Any, size: int) -> None:
    """Let the blocks of a kernel use more shared memory than the default limit."""
    if size <= FREE_SHARED:
        return
    from cuda.bindings.driver import CUfunction_attribute  # type: ignore[import-untyped,unused-ignore]
    from numba.cuda.cudadrv.driver import driver

    attribute = CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
    for compiled in kernel.overloads.values():
        function = compiled._codelibrary.get_cufunc()
        driver.cuKernelSetAttribute(attribute, size, function.handle, function.device.id)
