"""Small fits whose answers are kept in golden.json, so that a change of any of them is seen.

Labels, the outcome and the number of updates must not change at all, so a hash of them is kept. Other numbers (centres,
stabilities, scores) are compared to within `TOLERANCE`, because engines and BLAS libraries sum in different orders.

`python tests/golden.py` recomputes the whole file; `python tests/golden.py --texts` recomputes only the messages, and
fails if anything else differs.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
from pathlib import Path

import numpy as np

FILE = Path(__file__).with_name("golden.json")
TOLERANCE = 1e-12
# expected agreements of two BLAS kernels differ by up to 1e-10; `TIE` in selection/choice.py counts these as equal
TOLERANCES = {"expected_agreement": 1e-9}
# names in the public API that may change while the answers stay the same
SKETCH, VIEW = "sketch", "proposer"

RANGE = {"h_min": 0.3, "h_max": 1.6, "h_inf": 0.8}
CHAINS = {
    "shrinking": ("DoublyStochasticMeanShift", "plane", RANGE),
    "walk": ("DoublyStochasticMeanShift", "plane", {**RANGE, "policy": "walk"}),
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
    "five chains": ("DoublyStochasticMeanShift", "plane", {**RANGE, "n_chains": 5}),
}
GRID = {SKETCH: "grid", "resolution": 0.25}
SKETCHES = {
    "grid: shrinking": ("DoublyStochasticMeanShift", "large plane", {**RANGE, **GRID}),
    "grid: stochastic": ("StochasticMeanShift", "large plane", {"bandwidth": 1.0, **GRID}),
    "grid: blurring": ("BlurringMeanShift", "large plane", {"bandwidth": 1.0, **GRID}),
    "grid: mean shift": ("MeanShift", "large plane", {"bandwidth": 1.2, **GRID}),
    "grid: directions": ("StochasticMeanShift", "large plane", {"bandwidth": 0.3, "metric": "cosine", **GRID}),
    "grid: partial_fit": ("DoublyStochasticMeanShift", "large plane", {**RANGE, **GRID}),
    "sample: partial_fit": ("ModeSeek", "overlap", {SKETCH: "sample"}),
    "sample: all rows": ("ModeSeek", "wide", {SKETCH: "sample"}),
    "sample: some rows": ("DoublyStochasticMeanShift", "many rows", {**RANGE, SKETCH: "sample"}),
}
MODE_SEEK = {
    "nothing to set": ("ModeSeek", "plane", {}),
    "modes": ("ModeSeek", "arcs", {}),
    "communities": ("ModeSeek", "wide", {}),
    "mixture": ("ModeSeek", "overlap", {}),
    "mixture of few rows": ("ModeSeek", "few", {}),
    "40 features": ("ModeSeek", "40 features", {}),
    "cosine": ("ModeSeek", "wide", {"metric": "cosine"}),
    "cosine in the plane": ("ModeSeek", "plane", {"metric": "cosine"}),
    "weighted modes": ("ModeSeek", "arcs", {}),
    "weighted communities": ("ModeSeek", "wide", {}),
    "weighted mixture": ("ModeSeek", "overlap", {}),
    "one cluster in 2-D": ("ModeSeek", "null", {}),
    "one cluster in 16-D": ("ModeSeek", "wide null", {}),
    "noise": ("ModeSeek", "uneven", {"min_cluster_size": 10}),
    "n_clusters, merged": ("ModeSeek", "plane", {"n_clusters": 2}),
    "n_clusters, split": ("ModeSeek", "plane", {"n_clusters": 7}),
    "min_clusters": ("ModeSeek", "plane", {"min_clusters": 6}),
    "min_clusters, not reached": ("ModeSeek", "plane", {"min_clusters": 60}),
    "max_clusters": ("ModeSeek", "wide", {"max_clusters": 3}),
    "min and max": ("ModeSeek", "null", {"min_clusters": 2, "max_clusters": 5}),
    "3,600 rows in 2-D": ("ModeSeek", "large plane", {}),
    "2,400 rows in 16-D": ("ModeSeek", "large wide", {}),
}
CASES = CHAINS | MODE_SEEK | SKETCHES
WEIGHTED = ("weights", "weighted modes", "weighted communities", "weighted mixture")
IN_BATCHES = ("grid: partial_fit", "sample: partial_fit")
# for tests that repeat a fit in many processes
QUICK = ("shrinking", "batches", "mean shift", "nothing to set")
# for tests that repeat all fits
SLOW = ("3,600 rows in 2-D", "2,400 rows in 16-D", "sample: some rows")
SMALL = tuple(case for case in CASES if case not in SLOW)
# what is chosen for some of the data sets, whatever the model of the choice was trained on
CHOSEN = {"modes": ("nothing to set", "modes"), "one cluster": ("one cluster in 2-D", "one cluster in 16-D")}
DIMENSIONS = {"plane": 2, "solid": 3, "high": 12}


def uniforms(key, *shape):
    """Return uniform numbers, made from raw words of a generator that NumPy guarantees not to change."""
    words = np.random.Philox(key=key).random_raw(int(np.prod(shape))) >> np.uint64(11)
    return (words * 2.0**-53).reshape(shape)


def normals(key, n, d):
    """Return sums of 12 uniforms: nearly normal, without logarithms that CPUs round differently."""
    return uniforms(key, 12, n, d).sum(axis=0) - 6.0


def data(name):
    """Return points, and weights of 1, 2 or 3."""
    if name in DIMENSIONS:
        return _four_groups(DIMENSIONS[name])
    X = _points(name)
    return X, 1.0 + np.floor(3 * uniforms(99, len(X)))


def _four_groups(d):
    u = uniforms(d, 120, d + 1)
    group, j = np.arange(4)[:, None], np.arange(d)
    centres = 3.0 * ((group >> (j % 2)) & 1) - 1.5 + (j % 3) * 0.4 * group
    return centres[np.arange(120) % 4] + (u[:, :d] - 0.5) * 1.4, 1.0 + np.floor(3 * u[:, d])


def _points(name):
    match name:
        case "arcs":
            (u, v), radius = uniforms(9, 200, 2).T, 1.0 + 2.0 * (np.arange(200) % 2)
            t = 3.0 * u - 1.5
            return (radius * (1.0 + 0.1 * v) / (1.0 + t * t) * np.stack([1.0 - t * t, 2.0 * t])).T
        case "overlap":
            return normals(7, 200, 2) + np.outer(np.arange(200) % 2, [3.2, 0.0])
        case "few":
            return normals(1, 40, 2) + np.outer(np.arange(40) % 2, [3.5, 0.0])
        case "wide" | "40 features" | "large wide":
            n, d = {"wide": (160, 16), "40 features": (160, 40), "large wide": (2400, 16)}[name]
            return normals(4, n, d) + 3.0 * np.eye(d)[np.arange(n) % 4]
        case "null":
            return normals(1, 200, 2)
        case "wide null":
            return normals(5, 160, 16)
        case "uneven":
            return _four_groups(2)[0][(np.arange(120) % 4 < 3) | (np.arange(120) < 32)]
        case "large plane":
            return np.tile(_four_groups(2)[0], (30, 1)) + 0.1 * normals(2, 3600, 2)
        case "many rows":
            return np.tile(_four_groups(2)[0], (180, 1)) + 0.3 * normals(3, 21_600, 2)
    raise KeyError(name)


def digest(values, dtype):
    """Return a hash of an array."""
    return hashlib.sha256(np.ascontiguousarray(values, dtype=dtype).tobytes()).hexdigest()[:16]


def answer(case, engine=None, n_jobs=None):
    """Fit a case and return what is kept of it."""
    import modeseek

    cls, points, options = CASES[case]
    X, weights = data(points)
    model = getattr(modeseek, cls)(n_jobs=n_jobs, **options)
    if "random_state" in model.get_params():
        model.set_params(random_state=5)
    if engine is not None and cls != "ModeSeek":
        model.set_params(engine=engine)
    if case in IN_BATCHES:
        for rows in np.array_split(X, 4):
            model.partial_fit(rows)
        model.finalize()
    else:
        model.fit(X, sample_weight=weights if case in WEIGHTED else None)
    told = np.asarray(model.labels_, dtype="<i8").tobytes()

    result = model.result_
    # kept answers of ModeSeek, which runs no chain, have no outcome and no updates
    ended = ["", 0] if result.n_updates is None else [result.outcome.name, result.n_updates]
    found = {
        "hash": hashlib.sha256(told + json.dumps(ended).encode()).hexdigest()[:16],
        "ended": ended,
        "n_clusters": int(model.n_clusters_),
        "n_noise": int((model.labels_ < 0).sum()),
        "predicted": digest(model.predict(X + 0.25), "<i8"),
        "centres": np.asarray(model.cluster_centers_, dtype=np.float64).tolist(),
    }
    return found | _confidence(model) | _sketch(model) | (_choice(model) if cls == "ModeSeek" else {})


def _confidence(model):
    if not hasattr(model, "confidence_"):
        return {}
    return {
        "confidence": digest(np.round(model.confidence_, 10), "<f8"),
        "mean_confidence": float(np.mean(model.confidence_)),
        "cluster_stability": np.asarray(model.cluster_stability_, dtype=float).tolist(),
        "stability": float(model.stability_),
    }


def _sketch(model):
    sketch = getattr(model, f"{SKETCH}_", None)
    if sketch is None:
        return {}
    return {"sketch": {"n_points": len(sketch.points), "weights": digest(sketch.weights, "<f8")}}


def _choice(model):
    """Return what was chosen; how the other candidates rank depends on the last bits of sums."""
    best = model.alternatives_[0]
    return {
        "chosen": getattr(best, VIEW) if model.n_clusters_ > 1 else "one cluster",
        "tree": digest(model.tree_.clusters(3), "<i8"),
        "message": model.message_.split(";")[0],
    }


def engines(case):
    """Return the exact engines that take a case, `reference` first."""
    from modeseek.meanshift.engines import ENGINES
    from modeseek.meanshift.kernels.profiles import get_profile

    cls, points, options = CASES[case]
    if cls == "ModeSeek":
        return [None]
    if case in SLOW:
        return ["auto"]
    profile = get_profile(options.get("profile", "biweight"))
    names = [name for name in ENGINES if name != "cuda"]
    d = data(points)[0].shape[1]
    return [name for name in names if ENGINES[name].refusal(profile, d) is None]


def same(got, kept, tolerance=TOLERANCE):
    """Return whether two JSON values are equal, numbers that are not whole to within a tolerance."""
    if isinstance(kept, dict):
        if not isinstance(got, dict) or got.keys() != kept.keys():
            return False
        return all(same(got[name], kept[name], TOLERANCES.get(name, tolerance)) for name in kept)
    if isinstance(kept, list):
        if not isinstance(got, list) or len(got) != len(kept):
            return False
        return all(same(one, other, tolerance) for one, other in zip(got, kept, strict=True))
    if isinstance(kept, float):
        return isinstance(got, float) and abs(got - kept) <= tolerance * max(1.0, abs(kept))
    return got == kept


def differences(got, kept):
    """Return the names of the values that differ from those that are kept."""
    return [name for name in {**kept, **got} if not same(got.get(name), kept.get(name))]


def answers(engine=None, n_jobs=None, cases=SMALL):
    """Return the differences of each case that differs from what is kept; {} if there are none."""
    golden = json.loads(FILE.read_text())
    found = {}
    for case in cases:
        if engine is None or engine in engines(case):
            wrong = differences(answer(case, engine, n_jobs), golden[case])
            if wrong:
                found[case] = wrong
    return found


def write(file, entries):
    """Write a JSON object with one entry per line, in one step: a reader never sees half of it."""
    lines = (f"{json.dumps(name)}: {json.dumps(entry)}" for name, entry in entries.items())
    draft = file.with_suffix(".draft")
    draft.write_text("{\n" + ",\n".join(lines) + "\n}\n")
    os.replace(draft, file)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--texts", action="store_true", help="recompute only the messages")
    texts_only = parser.parse_args().texts
    found = {case: answer(case, engines(case)[0]) for case in CASES}
    if texts_only:
        kept = json.loads(FILE.read_text())
        wrong = {case: differences(found[case], kept[case]) for case in CASES}
        wrong = {case: names for case, names in wrong.items() if set(names) - {"message"}}
        if wrong:
            raise SystemExit(f"more than messages differ, nothing was written: {wrong}")
        for case in (case for case in CASES if "message" in found[case]):
            kept[case]["message"] = found[case]["message"]
        found = kept
    write(FILE, found)
    print({case: (each["n_clusters"], each.get("chosen", each["ended"])) for case, each in found.items()})


if __name__ == "__main__":
    main()
