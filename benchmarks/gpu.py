"""Compare the GPU engine with all cores: many chains, climbs of many points, blurring in many dimensions.

Run it as

    python benchmarks/gpu.py [--quick] [--out FILE.csv] [--report docs/benchmarks.md]

It needs a device. Kernels are compiled before they are timed. Times of chains and climbs are those of the public call,
including transfers, unless a row says `device`. The ceiling is measured with operations on numbers in registers. A pair
of points in the plane takes nine of them (two differences, a product and a fused sum for the distance, one for the
weight, a comparison, a sum and two fused ones); in d dimensions, two for each coordinate, and as many again where the
weight is not 0.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from numba import cuda, float32, float64, uint32
from sklearn.datasets import make_blobs

from common import machine, parser_of, read_csv, replace_section, table, write_csv
from modeseek import MeanShift
from modeseek._common.types import Geometry, IntArray
from modeseek.meanshift.bandwidth import Shrinking
from modeseek.meanshift.chains import ChainResult, Stopping, doubly_stochastic, make_problem, partition
from modeseek.meanshift.engines import ENGINES
from modeseek.meanshift.engines.cuda.kernels.block import kernel_of, multiprocessors
from modeseek.meanshift.ensemble import run_chains
from modeseek.meanshift.kernels.profiles import BIWEIGHT

# the paper's range
POLICY = Shrinking(0.2, 1.6, 0.6)
TAU = 0.05
REPEATS = 3
OPERATIONS_PER_PAIR = 9
STEPS, INSIDE = 1 << 12, 16


def ceiling(kind: Any) -> float:
    """Return the fused operations per second of all threads, in groups of eight independent operations."""

    @kernel_of(64)
    def kernel(out, a):  # type: ignore[no-untyped-def]
        x0 = x1 = x2 = x3 = x4 = x5 = x6 = x7 = kind(cuda.threadIdx.x)
        b, step = kind(a), uint32(0)
        while step < uint32(STEPS):
            for _ in range(INSIDE):
                x0, x1, x2, x3 = x0 * b + b, x1 * b + b, x2 * b + b, x3 * b + b
                x4, x5, x6, x7 = x4 * b + b, x5 * b + b, x6 * b + b, x7 * b + b
            step = uint32(step + uint32(1))
        out[cuda.grid(1)] = x0 + x1 + x2 + x3 + x4 + x5 + x6 + x7

    blocks = 16 * multiprocessors()
    out = cuda.device_array(blocks * 256, np.float64)

    def work() -> None:
        kernel[blocks, 256](out, 0.5)
        cuda.synchronize()

    return blocks * 256 * STEPS * INSIDE * 8 / timed(work)[0]


def timed(work: Callable[[], Any], repeats: int = REPEATS) -> tuple[float, Any]:
    """Return the median of some times, after one that compiles, and the last result."""
    work()
    times = []
    for _ in range(repeats):
        seconds, found = once(work)
        times.append(seconds)
    return median(times), found


def once(work: Callable[[], Any]) -> tuple[float, Any]:
    """Return the time of one run, and its result."""
    start = time.perf_counter()
    found = work()
    return time.perf_counter() - start, found


def chains_of_engine(
    points: np.ndarray, engine: str, numbers: Sequence[int], stopping: Stopping
) -> tuple[list[Any], list[ChainResult]]:
    """Run chains of these numbers on an engine."""
    given = make_problem(points, engine=engine)
    chains = [doubly_stochastic(given, POLICY, seed=0, chain=number) for number in numbers]
    return chains, run_chains(chains, stopping)


def labels_of(points: np.ndarray, engine: str, numbers: Sequence[int], stopping: Stopping) -> list[IntArray]:
    """Return the labels of these chains."""
    chains, results = chains_of_engine(points, engine, numbers, stopping)
    return [partition(each, result, TAU).labels for each, result in zip(chains, results, strict=True)]


def by_all_cores(points: np.ndarray, count: int, stopping: Stopping) -> tuple[float, list[IntArray]]:
    """Return the time of chains on all cores, one process each, and their labels."""
    shares = np.array_split(np.arange(count), effective_n_jobs(-1))
    with Parallel(-1) as pool:
        pool(delayed(labels_of)(points, "auto", share[:1].tolist(), stopping) for share in shares)  # compiles
        start = time.perf_counter()
        found = pool(delayed(labels_of)(points, "auto", share.tolist(), stopping) for share in shares)
        return time.perf_counter() - start, [labels for some in found for labels in some]


def timed_chains(work: Callable[[], Any], repeats: int) -> tuple[float, float, Any]:
    """Return the median times of the kernel that runs chains, the launch and the wait for it, and of the whole call."""
    from modeseek.meanshift.engines.cuda import launch

    times, run = [], launch._Launch.run

    def watched(self: Any, *arguments: Any) -> None:
        cuda.synchronize()
        seconds, _ = once(partial(run, self, *arguments))
        times.append(seconds)

    launch._Launch.run = watched  # type: ignore[method-assign]
    try:
        whole, found = timed(work, repeats)
    finally:
        launch._Launch.run = run  # type: ignore[method-assign]
    return median(times[1:]), whole, found


def same_labels(device: tuple[list[Any], list[ChainResult]], others: list[IntArray]) -> str:
    """Return how many chains have the same labels on both."""
    pairs = [(partition(a, b, TAU).labels, labels) for a, b, labels in zip(*device, others, strict=False)]
    return f"{sum(bool((a == b).all()) for a, b in pairs)} of {len(pairs)}"


def many_chains(quick: bool, ceilings: dict[str, float]) -> Iterator[dict[str, Any]]:
    """Measure thousands of chains of the paper's size, for 40 sweeps and to their ends, and of larger chains."""
    fixed, settle = Stopping(TAU, rule="shifts", threshold=0.0, max_sweeps=40), Stopping(TAU)
    small, _ = make_blobs(600, centers=6, center_box=(-5, 5), cluster_std=0.5, random_state=0)
    large, _ = make_blobs(10_000, centers=12, center_box=(-5, 5), cluster_std=0.5, random_state=0)
    count, some, long, few = (132, 33, 33, 8) if quick else (2112, 528, 1000, 64)
    for x, stopping, name, whole, part in (
        (small, fixed, "40 sweeps, float64", count, some),
        (small.astype(np.float32), fixed, "40 sweeps, float32", count, some),
        (small, settle, "to the certificate, float64", count, some),
        (large, settle, "to the certificate, float64", long, few),
    ):
        kernel, seconds, found = timed_chains(
            partial(chains_of_engine, x, "cuda", range(whole), stopping), 1 if x is large else REPEATS
        )
        pairs = sum(result.sweeps for result in found[1]) * float(len(x)) ** 2
        row = row_of(f"{whole:,} chains, n = {len(x):,}, d = 2, {name}", kernel, seconds)
        share = OPERATIONS_PER_PAIR * pairs / kernel / ceilings[str(x.dtype)]
        took, others = by_all_cores(x, part, stopping)
        row |= {"pairs_per_second": pairs / kernel, "share": share, "cores": took * whole / part}
        row |= {"same": same_labels(found, others), "scaled": f"{part} chains"}
        yield row


def climbs(quick: bool) -> Iterator[dict[str, Any]]:
    """Measure mean shift of many points in the plane."""
    n = 50_000 if quick else 1_000_000
    points, _ = make_blobs(n, centers=20, center_box=(-8, 8), cluster_std=0.5, random_state=0)
    MeanShift(0.5, n_jobs=-1).fit(points[:5000])  # compiles for the processor
    for profile in ("biweight", "flat"):
        tol = 1e-3 if profile == "flat" else 1e-4
        workspace = ENGINES["cuda"].open(
            points, np.ones(n), make_problem(points[:1], profile=profile).profile, Geometry()
        )
        workspace.climb(points[:100], 0.5, tol, 300)
        seconds, found = timed(partial(workspace.climb, points, 0.5, tol, 300), 1)
        row = row_of(f"MS, {profile}, n = {n:,}, d = 2, every point climbs", seconds, None)
        row["same"] = f"{found.steps.mean():.0f} steps a point"
        model = MeanShift(0.5, profile=profile, engine="cuda")
        row["seconds"], device = once(partial(model.fit_predict, points))
        if profile == "biweight":
            row["cores"], other = once(partial(MeanShift(0.5, n_jobs=-1).fit_predict, points))
            row["same"] += f"; {100 * np.mean(device == other):.3f} % of labels"
        yield row


def blurs(quick: bool, ceilings: dict[str, float]) -> Iterator[dict[str, Any]]:
    """Measure one sweep of blurring, and a batch, in 64 dimensions: fifty clusters, and one, where all are in reach."""
    n, d, some = (10_000, 64, 500) if quick else (100_000, 64, 2000)
    rng = np.random.default_rng(0)
    for clusters in (50, 1):
        groups = "1 cluster" if clusters == 1 else f"{clusters} clusters"
        centers = rng.uniform(-2, 2, size=(clusters, d))
        points = centers[rng.integers(clusters, size=n)] + 0.3 * rng.normal(size=(n, d))
        for dtype in ("float64", "float32"):
            x = points.astype(dtype)
            device = ENGINES["cuda"].open(x, np.ones(n), BIWEIGHT, Geometry())
            processor = ENGINES["brute"].open(x, np.ones(n), BIWEIGHT, Geometry(), -1)
            for m, name in ((n, "BMS, a sweep"), (1000, "SMS, a batch of 1,000")):
                seconds, found = timed(partial(device.shift_all, x[:m], 3.0))
                row = row_of(f"{name}, n = {n:,}, d = {d}, {groups}, {dtype}", None, seconds)
                part = min(m, some)
                processor.shift_all(x[:64], 3.0)
                took, other = once(partial(processor.shift_all, x[:part], 3.0))
                row |= {
                    "cores": took * m / part,
                    "scaled": f"{part} of {m} points" if part < m else "",
                }
                row["same"] = f"within {np.abs(found[:part] - other).max():.0e}"
                row["pairs_per_second"] = m * n / seconds
                if clusters == 1:
                    row["share"] = 4 * d * m * n / seconds / ceilings[dtype]
                yield row


def device_name() -> str:
    """Return the name of the device."""
    name = cuda.get_current_device().name
    return name.decode() if isinstance(name, bytes) else name


def row_of(work: str, device: float | None, seconds: float | None) -> dict[str, Any]:
    """Return a row with times only."""
    names = ("pairs_per_second", "share", "cores", "same", "scaled")
    return {"work": work, "device": device, "seconds": seconds} | dict.fromkeys(names)


def shown(rows: list[dict[str, Any]], about: str) -> str:
    """Return the table and the description of the machine."""

    def text(value: Any, form: str) -> str:
        return format(float(value), form) if value not in (None, "") else ""

    body = []
    for row in rows:
        seconds = row["seconds"] or row["device"]
        ratio = float(row["cores"]) / float(seconds) if row["cores"] not in (None, "") else None
        rate = float(row["pairs_per_second"]) / 1e9 if row["pairs_per_second"] not in (None, "") else None
        share = 100 * float(row["share"]) if row["share"] not in (None, "") else None
        cores = text(row["cores"], ".3g") + ("*" if row["scaled"] else "")
        body.append(
            [
                row["work"],
                text(row["device"], ".3g"),
                text(row["seconds"], ".3g"),
                text(rate, ".3g"),
                text(share, ".0f"),
                cores,
                text(ratio, ".3g"),
                row["same"] or "",
            ]
        )
    head = ["work", "device s", "call s", "10^9 pairs/s", "% of ceiling", "all cores s", "times as fast", "the same"]
    return f"{table(head, body)}\n\n{about} * from a part of the work."


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--table", action="store_true", help="show what the CSV file of --out has, measure nothing")
    parser.add_argument("--report", type=Path, help="replace the section of this page")
    given = parser.parse_args()
    if given.table:
        rows: list[dict[str, Any]] = [dict(row) for row in read_csv(given.out)]
    else:
        ceilings = {"float64": ceiling(float64), "float32": ceiling(float32)}
        about = (
            f"{device_name()}: {ceilings['float64'] / 1e12:.1f} x 10^12 fused operations per second in float64, "
            f"{ceilings['float32'] / 1e12:.1f} in float32. CPU: {machine()}."
        )
        print(about, flush=True)
        rows = []
        quick = given.quick
        for row in chain(many_chains(quick, ceilings), climbs(quick), blurs(quick, ceilings)):
            print({name: value for name, value in row.items() if value is not None}, flush=True)
            rows.append({**row, "about": about})
            if given.out:
                write_csv(given.out, rows)
    text = shown(rows, str(rows[0]["about"]))
    print(text)
    if given.report:
        replace_section(given.report, "gpu", text)


if __name__ == "__main__":
    main()
