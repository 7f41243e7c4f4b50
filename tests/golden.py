"""A dozen small cases whose answers are kept in golden.json, and how an answer is told.

Labels, the outcome and the number of updates must be the same to the last bit, so a hash of them is kept. Centres are
sums, which engines round in their own order: they are kept as numbers, and compared to within `TOLERANCE` times the
largest of them. `python tests/golden.py` recomputes the file by the engine `reference`.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy as np

FILE = Path(__file__).with_name("golden.json")
TOLERANCE = 1e-12

CASES = {
    "shrinking": ("DoublyStochasticMeanShift", "plane", {"h_min": 0.3, "h_max": 1.6, "h_inf": 0.8}),
    "walk": ("DoublyStochasticMeanShift", "plane", {"h_min": 0.3, "h_max": 1.6, "h_inf": 0.8, "policy": "walk"}),
    "uniform": (
        "DoublyStochasticMeanShift",
        "solid",
        {"h_min": 0.5, "h_max": 1.6, "h_inf": 0.8, "policy": "uniform", "max_updates": 2000},
    ),
    "range from the data": ("DoublyStochasticMeanShift", "plane", {}),
    "stochastic": ("StochasticMeanShift", "plane", {"bandwidth": 0.8}),
    "reshuffled": ("StochasticMeanShift", "solid", {"bandwidth": 1.0, "order": "reshuffled"}),
    "batches": ("StochasticMeanShift", "plane", {"bandwidth": 0.8, "batch_size": 8}),
    "weights": ("StochasticMeanShift", "plane", {"bandwidth": 0.7}),
    "directions": ("StochasticMeanShift", "high", {"bandwidth": 0.5, "metric": "cosine"}),
    "gaussian": ("BlurringMeanShift", "plane", {"bandwidth": 0.5, "profile": "gaussian", "max_updates": 2000}),
    "blurring": ("BlurringMeanShift", "high", {"bandwidth": 4.0}),
    "mean shift": ("MeanShift", "solid", {"bandwidth": 1.2}),
    "flat mean shift": ("MeanShift", "plane", {"bandwidth": 1.2, "profile": "flat"}),
    "five chains": ("DoublyStochasticMeanShift", "plane", {"h_min": 0.3, "h_max": 1.6, "h_inf": 0.8, "n_chains": 5}),
    "nothing to set": ("ModeSeek", "plane", {}),
}
# where each try costs a process
QUICK = ("shrinking", "batches", "mean shift", "nothing to set")
DIMENSIONS = {"plane": 2, "solid": 3, "high": 12}


def data(name):
    """Return points in four groups, and weights; made of a generator that NumPy keeps as it is."""
    d = DIMENSIONS[name]
    words = np.random.Philox(key=d).random_raw(120 * (d + 1)) >> np.uint64(11)
    u = (words * 2.0**-53).reshape(120, d + 1)
    group, j = np.arange(4)[:, None], np.arange(d)
    centres = 3.0 * ((group >> (j % 2)) & 1) - 1.5 + (j % 3) * 0.4 * group
    return centres[np.arange(120) % 4] + (u[:, :d] - 0.5) * 1.4, 1.0 + np.floor(3 * u[:, d])


def answer(case, engine=None, n_jobs=None):
    """Fit a case and tell what came out."""
    import modeseek

    cls, points, options = CASES[case]
    X, weights = data(points)
    model = getattr(modeseek, cls)(n_jobs=n_jobs, **options)
    if "random_state" in model.get_params():
        model.set_params(random_state=5)
    if engine is not None and cls != "ModeSeek":
        model.set_params(engine=engine)
    model.fit(X, sample_weight=weights if case == "weights" else None)
    told = np.asarray(model.labels_, dtype="<i8").tobytes()

    result = model.result_
    # kept answers of ModeSeek, which runs no chain, have no outcome and no updates
    ended = ["", 0] if result.n_updates is None else [result.outcome.name, result.n_updates]
    return {
        "hash": hashlib.sha256(told + json.dumps(ended).encode()).hexdigest()[:16],
        "ended": ended,
        "n_clusters": int(model.n_clusters_),
        "centres": np.asarray(model.cluster_centers_, dtype=np.float64).tolist(),
    }


def engines(case):
    """Return the exact engines that take a case, `reference` first."""
    from modeseek.meanshift.engines import ENGINES
    from modeseek.meanshift.kernels.profiles import get_profile

    cls, points, options = CASES[case]
    if cls == "ModeSeek":
        return [None]
    profile = get_profile(options.get("profile", "biweight"))
    names = [name for name in ENGINES if name != "cuda"]
    return [name for name in names if ENGINES[name].refusal(profile, DIMENSIONS[points]) is None]


def differences(got, kept):
    """Return in what an answer differs from the one that is kept."""
    found = [name for name in ("hash", "ended", "n_clusters") if got[name] != kept[name]]
    a, b = np.array(got["centres"]), np.array(kept["centres"])
    if a.shape != b.shape or np.abs(a - b).max() > TOLERANCE * np.abs(b).max():
        found.append("centres")
    return found


def answers(engine=None, n_jobs=None, cases=tuple(CASES)):
    """Return in what cases differ from what is kept; nothing where all are as they were."""
    golden = json.loads(FILE.read_text())
    found = {}
    for case in cases:
        if engine is None or engine in engines(case):
            wrong = differences(answer(case, engine, n_jobs), golden[case])
            if wrong:
                found[case] = wrong
    return found


if __name__ == "__main__":
    kept = {case: answer(case, engines(case)[0]) for case in CASES}
    FILE.write_text(json.dumps(kept, indent=1) + "\n")
    print({case: (each["n_clusters"], *each["ended"]) for case, each in kept.items()})
