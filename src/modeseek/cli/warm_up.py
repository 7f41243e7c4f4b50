"""The command `modeseek warm-up`."""

import time
from typing import Any

import numpy as np
from joblib import cpu_count

from modeseek import MeanShift, ModeSeek, StochasticMeanShift
from modeseek._common.helper_processes import helper_processes
from modeseek.cli.options import WarmUpOptions
from modeseek.estimators import ESTIMATORS

# numbers of features: low and high dimensions use different engines
DIMENSIONS = (2, 16)
# groups of estimators and dimensions, to compile in parallel: different groups need different functions. The mean
# shifts have a bandwidth, because the automatic bandwidth would need the functions of ModeSeek
GROUPS: tuple[tuple[tuple[Any, int], ...], ...] = (
    ((StochasticMeanShift(2.0), 2),),
    ((ModeSeek(), 2), (MeanShift(2.0), 2), (MeanShift(8.0), 16)),
    ((StochasticMeanShift(8.0), 16),),
)


def run(options: WarmUpOptions) -> None:
    """Compile by fits to small data: groups of estimators on several cores, then each estimator in this process."""
    start = time.monotonic()
    workers = min(cpu_count(), len(GROUPS))
    codes = [f"from {__name__} import fit_groups; fit_groups({each}, {workers})" for each in range(1, workers)]
    with helper_processes(codes) as processes:
        if processes:
            fit_groups(0, workers)
        for process in processes:
            process.wait()
    for d in DIMENSIONS:
        for kind in ESTIMATORS.values():
            _fit(kind(), d)
    print(f"compiled in {time.monotonic() - start:.0f} s")


def fit_groups(first: int, step: int) -> None:
    """Fit every `step`-th group of estimators, beginning with number `first`."""
    for group in GROUPS[first::step]:
        for estimator, d in group:
            _fit(estimator, d)


def _fit(estimator: Any, d: int) -> None:
    points = np.random.default_rng(d).normal(size=(300, d))
    points[:150] += 8.0
    if "random_state" in estimator.get_params():
        estimator.set_params(random_state=0)
    estimator.fit(points)
