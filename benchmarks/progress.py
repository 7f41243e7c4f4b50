"""Measure the cost of progress: drawing the line, and the callback after each sweep.

Run it as

    python benchmarks/progress.py

Times are processor times of the thread that draws or sweeps, so that other load on the machine has little influence.
"""

from __future__ import annotations

import io
import time

import numpy as np
from rich.console import Console

from common import machine
from modeseek._common.progress import display
from modeseek._common.types import Stage
from modeseek.meanshift.chains import Stopping, make_problem, stochastic
from modeseek.meanshift.chains.progress import CLUMP_COUNT_SHARE, ChainProgress

DRAWINGS, SWEEPS = 500, 200_000


def drawing(line: display.ProgressLine) -> float:
    """Return the seconds that drawing the line takes."""
    console = Console(file=io.StringIO(), force_terminal=True, width=120)
    with display._terminal(line, console) as draw:
        start = time.thread_time()
        for _ in range(DRAWINGS):
            draw()
        return (time.thread_time() - start) / DRAWINGS


def sweeping(line: display.ProgressLine) -> float:
    """Return the seconds that the callback takes after a sweep; it reports ten times a second only."""
    chain = stochastic(make_problem(np.random.default_rng(0).normal(size=(1000, 2))), 0.5, seed=0)
    callback = ChainProgress(line, chain, Stopping(0.1))
    state, info = chain.sweep(chain.init())
    start = time.thread_time()
    for _ in range(SWEEPS):
        callback(state, info)
    return (time.thread_time() - start) / SWEEPS


def main() -> None:
    line = display.ProgressLine("DSMS")
    line(Stage("", 1_200_000, 9_000_000, "updates", True, ("37 clumps", "h 0.431", "24 sweeps"), 40.0))
    print(machine())
    sweep, draw = sweeping(line), drawing(line)
    print(f"after a sweep   {1e6 * sweep:.2f} microseconds, counting clumps included")
    print(f"to draw a line  {1e3 * draw:.2f} ms, {1 / display.TICK:.0f} a second: {draw / display.TICK:.2%} of a core")
    print(f"to count clumps {CLUMP_COUNT_SHARE:.0%} of the time, at most")


if __name__ == "__main__":
    main()
