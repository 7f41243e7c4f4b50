"""Many chains on the device: tables up, one launch, results down."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numba import cuda

from modeseek._common.types import Array, Geometry
from modeseek.meanshift.bandwidth import DrawPlan, encode_policy
from modeseek.meanshift.engines.cuda.kernels import chains as tables
from modeseek.meanshift.engines.cuda.kernels.chains import chains_kernel, stride_of
from modeseek.meanshift.engines.cuda.kernels.device import SIMULATED, multiprocessors, round_keys
from modeseek.meanshift.engines.cuda.kernels.single_shift import LOW, Shape
from modeseek.meanshift.types import ChainEnd, ChainJob, ChainState, ProfileLike

__all__ = ["run_many"]

# warps that a multiprocessor is to have, and the most threads of a block
WARPS, MOST_THREADS = 16, 512
# what a block has of its multiprocessor's memory besides its state, at most, and what it gets without asking
BESIDES, UNASKED = 24 * MOST_THREADS + 1024, 48 * 1024
# largest shifts that are kept: of all sweeps, and of one chain at least and at most
KEPT, KEPT_LEAST, KEPT_MOST = 1 << 22, 64, 1 << 16
# share of the free memory that states may take
SHARE = 0.6
# seconds between looks at the device, at first and later, and between reports
SHORT, PAUSE, REPORT = 1e-4, 0.01, 0.2


def run_many(
    jobs: Sequence[ChainJob], profile: ProfileLike, geometry: Geometry, watch: Callable[[int], None] | None = None
) -> list[ChainEnd]:
    """Run chains of one profile and space, of points of one dimension and precision, to their ends.

    Ctrl-C ends all of them after the sweep they are in.

    Parameters
    ----------
    jobs : sequence of ChainJob
    profile : Profile
    geometry : Geometry
    watch : callable, optional
        Told how many have ended.
    """
    done: list[ChainEnd] = []
    for some in _that_fit(jobs):
        launch = _Launch(some, profile, geometry)
        launch.run(len(done), watch)
        done += launch.ends()
        if launch.interrupted:
            # those that have not begun are where they start
            left = jobs[len(done) :]
            return done + [ChainEnd(_start(each), 0, "INTERRUPTED", np.empty(0)) for each in left]
    return done


def _start(job: ChainJob) -> ChainState:
    n = len(job.points)
    return ChainState(job.points, job.plan.policy.h_0, 0, np.full(n, np.inf))


def _that_fit(jobs: Sequence[ChainJob]) -> Iterator[Sequence[ChainJob]]:
    """Cut many chains into as few runs as the device's memory allows."""
    if SIMULATED:
        yield jobs
        return
    room = SHARE * cuda.current_context().get_memory_info().free
    begin, taken = 0, 0.0
    for number, each in enumerate(jobs):
        # states are filled up, at most to twice their size or to a few thousand points
        need = (each.points.size + 4096.0 * each.points.shape[1]) * 2 * each.points.itemsize + 8.0 * len(each.points)
        if number > begin and taken + need > room:
            yield jobs[begin:number]
            begin, taken = number, 0.0
        taken += need
    yield jobs[begin:]


class _Problem(NamedTuple):
    """Points that several chains share, and where they begin among those of all problems."""

    at: int
    job: ChainJob


class _Launch:
    """One run of the kernel."""

    def __init__(self, jobs: Sequence[ChainJob], profile: ProfileLike, geometry: Geometry):
        assert profile.code is not None
        self._jobs, self.interrupted = jobs, False
        self._d = jobs[0].points.shape[1]
        problems = self._problems()
        self._dtype = jobs[0].points.dtype
        largest = max(len(each.points) for each in jobs)
        weighted = any(np.ptp(each.job.weights) > 0 for each in problems.values())
        limit = UNASKED if SIMULATED else int(cuda.get_current_device().MAX_SHARED_MEMORY_PER_BLOCK_OPTIN) - BESIDES
        self._shape = _shape(
            Shape(
                profile.code,
                self._d if self._d <= LOW else 0,
                bool(weighted),
                geometry.spherical,
                self._dtype == np.float32,
                1,
                False,
            ),
            largest,
            self._d,
            len(jobs),
            limit,
        )
        self._strides = [stride_of(len(each.points), self._shape) for each in jobs]
        self._dynamic = max(self._strides) * self._d * self._dtype.itemsize if self._shape.shared else 0
        resident = max(1, min(2048 // self._shape.threads // 2, (limit + BESIDES) // (self._dynamic + 2048)))
        self._blocks = min(len(jobs), resident * multiprocessors())
        self._make_tables(problems, weighted, largest)

    def _problems(self) -> dict[int, _Problem]:
        problems: dict[int, _Problem] = {}
        at = 0
        for each in self._jobs:
            if id(each.points) not in problems:
                problems[id(each.points)] = _Problem(at, each)
                at += len(each.points)
        return problems

    def _make_tables(self, problems: dict[int, _Problem], weighted: bool, largest: int) -> None:
        jobs, put = self._jobs, cuda.to_device
        each_problem = [problem.job for problem in problems.values()]
        plans = [each.plan for each in each_problem]
        points = np.concatenate([each.points.T.ravel() for each in each_problem])
        none = np.empty(0)
        weights = np.concatenate([each.weights for each in each_problem]) if weighted else none
        even = all(plan.order == "even" or (plan.weights == 1.0).all() for plan in plans)
        ladder = none if even else np.concatenate([_ladder(plan) for plan in plans])
        scaled = any(plan.scales is not None for plan in plans)
        scales = np.concatenate([_scales(plan) for plan in plans]) if scaled else none
        n = np.array([len(each.points) for each in jobs])
        strides = np.array(self._strides)
        at = [problems[id(each.points)].at for each in jobs]
        self._last_at, self._state_at = np.cumsum(n) - n, (np.cumsum(strides) - strides) * self._d
        places = np.column_stack([at, self._last_at, self._state_at, n]).astype(np.int64)
        rules = np.array([_rule(each) for each in jobs])
        keys = np.stack([round_keys(each.plan.seed, each.plan.chain) for each in jobs])
        recipes = np.array([encode_policy(each.plan.policy) for each in jobs], dtype=np.float64)
        self._order = int(plans[0].order == "reshuffled")
        self._inputs = (
            self._d,
            self._order,
            put(points),
            put(weights.astype(self._dtype)),
            put(ladder),
            put(scales),
            put(places),
            put(keys),
            put(recipes),
            put(rules),
            put(np.zeros(1, dtype=np.int32)),
        )
        self._flags = put(np.zeros(len(tables.FLAGS), dtype=np.int32))
        self._outputs = (
            cuda.device_array(int(strides.sum()) * self._d, self._dtype),
            cuda.device_array(int(n.sum()), np.float64),
            cuda.device_array((len(jobs), len(tables.ENDS)), np.float64),
            cuda.device_array((len(jobs), int(np.clip(KEPT // len(jobs), KEPT_LEAST, KEPT_MOST))), np.float64),
        )
        high, shuffled = (1 if self._shape.dim else largest), (largest if self._order else 1)
        self._rooms = (
            cuda.device_array((self._blocks, high), self._dtype),
            cuda.device_array((self._blocks, self._d), np.float64),
            cuda.device_array((self._blocks, shuffled), np.float64),
            cuda.device_array((self._blocks, shuffled), np.int32),
        )

    def run(self, before: int, watch: Callable[[int], None] | None) -> None:
        """Launch, and wait; Ctrl-C tells the device to stop. So many chains have ended before."""
        arguments = (*self._inputs, self._flags, *self._outputs, *self._rooms)
        kernel = chains_kernel(self._shape)
        if SIMULATED:
            kernel[self._blocks, self._shape.threads, 0, self._dynamic](*arguments)
            return
        kernel = kernel.specialize(*arguments)
        _allow(kernel, self._dynamic)
        cuda.synchronize()  # what went up by the default stream is there
        work, beside, end = cuda.stream(), cuda.stream(), cuda.event()
        kernel[self._blocks, self._shape.threads, work, self._dynamic](*arguments)
        end.record(work)
        try:
            self._wait(end, beside, before, watch)
        except KeyboardInterrupt:
            self.interrupted = True
            self._flags.copy_to_device(np.array([1, 0], dtype=np.int32), stream=beside)
        work.synchronize()

    def _wait(self, end: Any, beside: Any, before: int, watch: Callable[[int], None] | None) -> None:
        told, pause = time.perf_counter(), SHORT
        while not end.query():
            time.sleep(pause)
            pause = min(1.005 * pause, PAUSE)
            if watch is not None and time.perf_counter() - told > REPORT:
                flags = self._flags.copy_to_host(stream=beside)
                beside.synchronize()
                watch(before + int(flags[tables.ENDED]))
                told = time.perf_counter()

    def ends(self) -> list[ChainEnd]:
        """Bring the results home."""
        states, last, ends, shifts = (each.copy_to_host() for each in self._outputs)
        found = []
        for number, each in enumerate(self._jobs):
            n, stride = len(each.points), self._strides[number]
            at = self._state_at[number]
            points = np.ascontiguousarray(states[at : at + stride * self._d].reshape(self._d, stride)[:, :n].T)
            end = ends[number]
            sweeps, outcome = int(end[tables.SWEEPS]), OUTCOMES[int(end[tables.OUTCOME])]
            state = ChainState(
                points if sweeps else each.points,
                float(end[tables.H]),
                int(end[tables.UPDATES]),
                last[self._last_at[number] : self._last_at[number] + n].copy(),
            )
            found.append(ChainEnd(state, sweeps, outcome, shifts[number, :sweeps].copy()))
        return found


# names in `modeseek.meanshift.chains.Outcome`, by the kernel's numbers
OUTCOMES = ("CERTIFIED", "SMALL_SHIFTS", "UPDATE_LIMIT", "INTERRUPTED")


def _shape(shape: Shape, n: int, d: int, chains: int, limit: int) -> Shape:
    """Choose threads for a chain: enough to fill the device, no more than its points keep busy."""
    size = 4 if shape.single else 8
    fits = n * d * size <= limit
    resident = max(1, limit // (n * d * size)) if fits else WARPS
    share = min(resident, -(-chains // multiprocessors()))
    threads = 8 if SIMULATED else 32
    while not SIMULATED and threads < MOST_THREADS and threads * share < 32 * WARPS and 4 * threads < n:
        threads *= 2
    shape = shape._replace(threads=threads)
    return shape._replace(shared=stride_of(n, shape) * d * size <= limit)


def _rule(job: ChainJob) -> list[float]:
    ending, plan = job.ending, job.plan
    return [
        ending.tau,
        ending.threshold,
        ending.fraction,
        float(ending.by_certificate),
        float(ending.max_updates),
        np.inf if ending.max_sweeps is None else float(ending.max_sweeps),
        16 * float(np.finfo(job.points.dtype).eps),
        1.0 if plan.scales is None else float(plan.scales.max()),
    ]


def _ladder(plan: DrawPlan) -> Array:
    return np.cumsum(np.ones(len(plan.weights)) if plan.order == "even" else plan.weights)


def _scales(plan: DrawPlan) -> Array:
    return np.ones(len(plan.weights)) if plan.scales is None else plan.scales


def _allow(kernel: Any, size: int) -> None:
    """Let a kernel's blocks have so many bytes of their multiprocessor's own memory."""
    if size <= UNASKED:
        return
    from cuda.bindings.driver import CUfunction_attribute  # type: ignore[import-untyped,unused-ignore]
    from numba.cuda.cudadrv.driver import driver

    for compiled in kernel.overloads.values():
        function = compiled._codelibrary.get_cufunc()
        driver.cuKernelSetAttribute(
            CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
            size,
            function.handle,
            function.device.id,
        )
