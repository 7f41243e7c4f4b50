"""Helpers of the explorer tests."""

import time

from modeseek.explorer import AnimatedRun, PreparedData, load_example
from waiting import PATIENCE

MIXTURE = "the paper's mixture (150 points)"
DSMS = "doubly stochastic mean shift"
SMS = "stochastic mean shift"
BMS = "blurring mean shift"
MS = "mean shift"
MODE_SEEK = "ModeSeek (no bandwidth)"
RANGE = {"h_min": 0.2, "h_inf": 0.6, "h_max": 1.6}


def mixture(**options):
    """Return the data of the first example."""
    dataset = load_example(MIXTURE)
    return PreparedData.select(dataset, dataset.default_columns, standardize=False, **options)


def finished(data, settings):
    """Return a run that has ended."""
    run = AnimatedRun(data, settings)
    for _ in range(100_000):
        run.advance()
        if run.result is not None:
            return run
    raise AssertionError("the run did not end")


def wait_until(condition):
    """Wait until a condition holds, at most `PATIENCE` seconds."""
    limit = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < limit
        time.sleep(0.002)
