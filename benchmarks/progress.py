"""Measure what showing progress costs: drawing the line, and the callback after each sweep.

Run it as

    python benchmarks/progress.py

Times are processor times of the thread that draws or sweeps, so that what else the machine does hardly matters. Whole
fits, with and without a line, differ by less than they differ from one time to the next.
"""

from __future__ import annotations

import io
import os
import sys
import time

import numpy as np

from common import machine
from modeseek._common.progress.line import SHARE, Line
from modeseek._common.progress.screens import TERMINAL_TICK, screen_for
from modeseek.meanshift.chains import Stopping, make_problem, stochastic

DRAWINGS, SWEEPS = 500, 200_000


class Screen(io.StringIO):
    """A text buffer that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def drawing(line: Line) -> float:
    """Return the seconds that drawing the line takes."""
    shown, sys.stderr = sys.stderr, Screen()
    os.environ["TERM"] = "xterm"
    try:
        screen = screen_for(line.now)
        screen._open()
        start = time.thread_time()
        for _ in range(DRAWINGS):
            screen._live.refresh()
        took = time.thread_time() - start
        screen.close()
    finally:
        sys.stderr = shown
    return took / DRAWINGS


def sweeping(line: Line) -> float:
    """Return the seconds that the callback takes after a sweep, most of which it has nothing to do."""
    chain = stochastic(make_problem(np.random.default_rng(0).normal(size=(1000, 2))), 0.5, seed=0)
    follow = line.follow(chain, Stopping(0.1))
    state, info = chain.sweep(chain.init())
    start = time.thread_time()
    for _ in range(SWEEPS):
        follow(state, info)
    return (time.thread_time() - start) / SWEEPS


def main() -> None:
    line = Line("DSMS")
    line.say(("1.2M updates", "37 clumps", "h 0.431", "24 sweeps"), 0.25, "at most 0:40 left")
    print(machine())
    sweep, draw = sweeping(line), drawing(line)
    print(f"after a sweep   {1e6 * sweep:.2f} microseconds, clumps included")
    print(
        f"to draw a line  {1e3 * draw:.2f} ms, {1 / TERMINAL_TICK:.0f} a second: {draw / TERMINAL_TICK:.2%} of a core"
    )
    print(f"to count clumps {SHARE:.0%} of the time, at most")


if __name__ == "__main__":
    main()
