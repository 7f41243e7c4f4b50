"""Check that the engines do not need more kernel evaluations per update than before; it measures no times.

Run it as

    python benchmarks/operations.py [--update]

Seeds and sizes are fixed, so counts differ between machines by rounding at most. They may be up to 10 % above those
committed in `operations.json`; beyond that the check fails and lists the cases. `--update` writes new counts: use it
for a new or improved engine, and give the reason in the commit if a count has increased.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from contestants import DATA, SEED, UNIT_RANGE, blobs, unit_vectors
from counting import Counted, count
from modeseek._common.points import canonical_points
from modeseek._common.types import Geometry
from modeseek.datasets import paper_mixture
from modeseek.meanshift.bandwidth import Shrinking
from modeseek.meanshift.chains import Problem, Stopping, doubly_stochastic
from modeseek.meanshift.engines import ENGINES
from modeseek.meanshift.kernels.profiles import BIWEIGHT, QUADWEIGHT, Profile
from modeseek.meanshift.types import Engine

BOUNDS = Path(__file__).with_name("operations.json")
MARGIN = 0.10
# sweeps counted: the first ones, while points are spread out, and those when most have collapsed
SWEEPS = 24


class Case(NamedTuple):
    """A run that gives evaluations per update, and the requirements on the engine."""

    run: Callable[[Counted], float | None]
    profile: Profile
    dimensions: int


def _case(rows, h_min, h_max, h_inf, profile=BIWEIGHT, metric="euclidean"):  # type: ignore[no-untyped-def]
    points = canonical_points(rows, np.ones(len(rows)), Geometry(metric))

    def run(engine: Counted) -> float | None:
        setting = Problem(points.values, points.weights, engine, profile, points.geometry)
        chain = doubly_stochastic(setting, Shrinking(h_min, h_max, h_inf), seed=SEED)
        return count(chain, engine, Stopping(h_min / 4, rule="shifts", max_sweeps=SWEEPS)).per_update

    return Case(run, profile, points.values.shape[1])


def cases() -> dict[str, Case]:
    """Return the cases by name."""
    plane, sixteen = DATA["2-D"], DATA["16-D"]
    return {
        "blobs, 2-D, n = 4000": _case(blobs(plane, 4000)[0], plane.h_min, plane.h_max, plane.h_inf),
        "blobs, 2-D, n = 4000, quadweight": _case(
            blobs(plane, 4000)[0], plane.h_min, plane.h_max, plane.h_inf, QUADWEIGHT
        ),
        "paper's mixture, n = 3000": _case(paper_mixture(1000, random_state=SEED)[0], 0.2, 1.6, 0.6),
        "blobs, 16-D, n = 1000": _case(blobs(sixteen, 1000)[0], sixteen.h_min, sixteen.h_max, sixteen.h_inf),
        "unit vectors, 64-D, n = 500": _case(unit_vectors(500, 64, 10)[0], *UNIT_RANGE, metric="cosine"),
    }


def counting_engines() -> list[Engine]:
    """Return the engines whose workspaces count."""
    two = np.array([[0.0, 0.0], [1.0, 0.0]])
    able = [engine for engine in ENGINES.values() if engine.refusal(BIWEIGHT, 2) is None]
    return [e for e in able if hasattr(e.open(two, np.ones(2), BIWEIGHT, Geometry(), None), "evaluations")]


def counts() -> dict[str, dict[str, float]]:
    """Return evaluations per update by case and engine; engines that do not support a dimension are left out."""
    found: dict[str, dict[str, float]] = {}
    engines = counting_engines()
    for name, case in cases().items():
        found[name] = {}
        for engine in engines:
            if engine.refusal(case.profile, case.dimensions) is None:
                per_update = case.run(Counted(engine))
                if per_update is not None:
                    found[name][engine.name] = round(per_update, 2)
    return found


def grown(found: dict[str, dict[str, float]], bounds: dict[str, dict[str, float]]) -> list[str]:
    """Return a line for each count above its bound, and for each count without a bound or bound without a count."""
    lines = []
    for case in dict.fromkeys([*found, *bounds]):
        now, then = found.get(case, {}), bounds.get(case, {})
        for engine in dict.fromkeys([*now, *then]):
            what = f"{engine}, {case}"
            if engine not in then:
                lines.append(f"{what}: counted {now[engine]:g}, but operations.json has no figure: run with --update")
            elif engine not in now:
                lines.append(f"{what}: operations.json has {then[engine]:g}, but nothing was counted")
            elif now[engine] > then[engine] * (1 + MARGIN):
                more = now[engine] / then[engine] - 1
                lines.append(
                    f"{what}: {now[engine]:g} evaluations per update, {more:.0%} more than the {then[engine]:g} "
                    f"committed ({MARGIN:.0%} are allowed)"
                )
    return lines


def main() -> int:
    """Count, print and compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--update", action="store_true", help="write operations.json instead of comparing")
    arguments = parser.parse_args()
    found = counts()
    for case, engines in found.items():
        for engine, per_update in engines.items():
            print(f"{case:<34} {engine:<12} {per_update:>10.2f} evaluations per update")
    if not any(found.values()):
        print("no engine here counts its evaluations")
    if arguments.update:
        BOUNDS.write_text(json.dumps(found, indent=2) + "\n")
        return 0
    lines = grown(found, json.loads(BOUNDS.read_text()))
    print("\n".join(lines) or "nothing grew")
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
