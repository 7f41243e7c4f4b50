"""Tests of code from Numba's cache: the process that compiles it and those that load it get the same bits."""

from __future__ import annotations

import os
import subprocess
import sys
import zlib

import numpy as np
import pytest

from modeseek.meanshift.bandwidth import Shrinking
from modeseek.meanshift.chains import Stopping, doubly_stochastic, make_problem, run
from modeseek.meanshift.engines import ENGINES
from modeseek.meanshift.kernels.profiles import PROFILES

# dimensions for which an engine has different code
DIMENSIONS = {"brute": (2, 5), "neighbor_lists": (2, 40), "moment_tree": (2, 3)}
# profiles for which their code differs most; the moment tree has polynomial weights only
PROFILES_OF = {"moment_tree": ("biweight", "quadweight")}
OTHER_PROFILES = ("quadweight", "gaussian")


def answers(engine):
    """Return one line with checksums for each profile, dimension and precision."""
    lines = []
    for d in DIMENSIONS[engine]:
        for profile in PROFILES_OF.get(engine, OTHER_PROFILES):
            for dtype in (np.float64, np.float32) if profile == "quadweight" else (np.float64,):
                points = np.random.default_rng(d).normal(size=(300, d)).astype(dtype)
                points[::3] += 3.0
                problem = make_problem(points, profile=profile, engine=engine)
                h = 1.5 * d**0.5
                end = run(doubly_stochastic(problem, Shrinking(h / 2, 2 * h, h), seed=0), Stopping(h / 9, max_sweeps=3))
                shifted = (
                    ENGINES[engine].open(points, np.ones(300), PROFILES[profile], problem.geometry).shift_all(points, h)
                )
                sums = (zlib.crc32(values.tobytes()) for values in (end.state.points, shifted))
                lines.append(f"{profile} {d} {points.dtype}: {' '.join(map(str, sums))}")
    return "\n".join(lines)


@pytest.mark.slow
@pytest.mark.parametrize("engine", DIMENSIONS)
def test_loaded_code_gives_the_bits_of_compiled_code(engine, tmp_path):
    """Functions that were not inlined were optimised once in the process that compiled them, and twice in others."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}

    def in_a_process():
        command = [sys.executable, __file__, engine]
        return subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stdout.splitlines()

    compiled, loaded = in_a_process(), in_a_process()
    assert len(compiled) == len(set(compiled)) == 6
    assert loaded == compiled


if __name__ == "__main__":
    print(answers(sys.argv[1]))
