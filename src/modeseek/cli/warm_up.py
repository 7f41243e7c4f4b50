"""The command `modeseek warm-up`."""

import time

import numpy as np

from modeseek import (
    BlurringMeanShift,
    DoublyStochasticMeanShift,
    MeanShift,
    ModeSeek,
    StochasticMeanShift,
)
from modeseek.cli.options import WarmUpOptions

# engines differ between few and many features
DIMENSIONS = (2, 16)


def run(options: WarmUpOptions) -> None:
    """Fit each estimator to small data."""
    start = time.monotonic()
    for d in DIMENSIONS:
        points = np.random.default_rng(d).normal(size=(300, d))
        points[:150] += 8.0
        for estimator in (
            ModeSeek(),
            MeanShift(),
            BlurringMeanShift(),
            StochasticMeanShift(random_state=0),
            DoublyStochasticMeanShift(random_state=0),
        ):
            estimator.fit(points)
    print(f"compiled in {time.monotonic() - start:.0f} s")
