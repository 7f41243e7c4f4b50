"""The measurements behind `targets.py`, one in each process: `python benchmarks/target_jobs.py --job JSON`."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from typing import Any

import numpy as np

from common import measured
from contestants import BY_NAME, DATA, SEED, UNIT_RANGE, blobs, unit_vectors

# seconds for all runs of a job, and for one run
PATIENCE = 150.0
LIMIT = 240.0
WARM_UP = 300


def job_fit(method: str, data: str, n: int, repeats: int) -> dict[str, Any]:
    """Fit a method on blobs."""
    from sklearn.metrics import adjusted_rand_score

    contestant, facts = BY_NAME[method], DATA[data]
    contestant.fit(blobs(facts, WARM_UP)[0], facts)
    X, y = blobs(facts, n)
    figures, fitted = measured(lambda: contestant.fit(X, facts), repeats, PATIENCE, LIMIT)
    figures["ari"] = float(adjusted_rand_score(y, fitted.labels))
    figures["note"] = fitted.note
    if fitted.model is not None:
        figures["centres"] = np.asarray(fitted.model.cluster_centers_).tolist()
        figures["updates"] = int(getattr(fitted.model, "n_updates_", 0))
    return figures


def job_chosen_range(n: int, given: bool, repeats: int) -> dict[str, Any]:
    """Fit DSMS in the plane without a range, or at the range that it chooses."""
    from modeseek import DoublyStochasticMeanShift

    X = blobs(DATA["2-D"], n)[0]
    model = DoublyStochasticMeanShift(random_state=SEED).fit(X)
    if given:
        model = DoublyStochasticMeanShift(model.h_min_, model.h_max_, model.h_inf_, random_state=SEED)
    figures, _ = measured(lambda: model.fit(X), repeats, PATIENCE, LIMIT)
    return {**figures, "note": model.engine_}


def job_evaluations(n: int) -> dict[str, Any]:
    """Count the evaluations of a whole run of DSMS in the plane."""
    from counting import Counted, count
    from modeseek._common.points import canonical_points
    from modeseek._common.types import Geometry
    from modeseek.meanshift.bandwidth import Shrinking
    from modeseek.meanshift.chains import Problem, Stopping, doubly_stochastic
    from modeseek.meanshift.engines import ENGINES
    from modeseek.meanshift.kernels.profiles import BIWEIGHT

    name = next(name for name in ("moment_tree", "neighbor_lists", "brute") if name in ENGINES)
    data = DATA["2-D"]
    points = canonical_points(blobs(data, n)[0], np.ones(n), Geometry())
    engine = Counted(ENGINES[name])
    engine.open(points.values[:2].copy(), points.weights[:2].copy(), BIWEIGHT, Geometry())
    if engine.evaluations is None:
        raise SystemExit(f"engine {name!r} does not count its evaluations")
    setting = Problem(points.values, points.weights, engine=engine)
    chain = doubly_stochastic(setting, Shrinking(data.h_min, data.h_max, data.h_inf), seed=SEED)
    counted = count(chain, engine, Stopping(data.h_min / 4))
    return {"per_update": counted.per_update, "sweeps": counted.sweeps, "note": name}


def job_unit_vectors(engine: str, n: int, d: int, repeats: int) -> dict[str, Any]:
    """Fit DSMS under cosine with a named engine."""
    from sklearn.metrics import adjusted_rand_score

    from modeseek import DoublyStochasticMeanShift
    from modeseek.meanshift.engines import ENGINES

    if engine not in ENGINES:
        raise SystemExit(f"no engine {engine!r} here")
    X, y = unit_vectors(n, d, 20)
    model = DoublyStochasticMeanShift(*UNIT_RANGE, metric="cosine", engine=engine, random_state=SEED)
    model.fit(X[:WARM_UP])
    figures, fitted = measured(lambda: model.fit(X).labels_, repeats, PATIENCE, LIMIT)
    return {**figures, "ari": float(adjusted_rand_score(y, fitted)), "note": model.engine_}


def job_equal_rows(estimator: str, n: int, distinct: int, repeats: int) -> dict[str, Any]:
    """Fit data with few distinct rows, each repeated equally often."""
    contestant, data = BY_NAME[estimator], DATA["2-D"]
    contestant.fit(blobs(data, WARM_UP)[0], data)
    contestant.fit(np.ones((10, 2)), data)
    X = np.repeat(blobs(data, distinct)[0], n // distinct, axis=0)
    figures, fitted = measured(lambda: contestant.fit(X, data), repeats, PATIENCE, LIMIT)
    return {**figures, "note": fitted.note}


JOBS: dict[str, Callable[..., dict[str, Any]]] = {
    "fit": job_fit,
    "chosen range": job_chosen_range,
    "evaluations": job_evaluations,
    "unit vectors": job_unit_vectors,
    "equal rows": job_equal_rows,
}


def main() -> None:
    """Run one job and print its result."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--job", required=True, type=json.loads)
    job = parser.parse_args().job
    print(json.dumps(JOBS[job.pop("job")](**job)))


if __name__ == "__main__":
    main()
