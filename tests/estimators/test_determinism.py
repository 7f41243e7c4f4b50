"""The same seed gives the same answer on every exact engine, thread, process and platform: that in golden.json."""

from __future__ import annotations

import json
import multiprocessing
import os
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from joblib import Parallel, delayed

import golden
from modeseek import BlurringMeanShift, DoublyStochasticMeanShift, MeanShift
from waiting import PATIENCE

KEPT = json.loads(golden.FILE.read_text())
SAME: dict = {}
CASE = golden.CASES["shrinking"][2]
LARGE = ("brute", "neighbor_lists", "moment_tree")


# the Gaussian profile has kernels of its own, which take seconds to compile
@pytest.mark.parametrize(
    "case", [pytest.param(case, marks=pytest.mark.slow) if case == "gaussian" else case for case in golden.CASES]
)
def test_kept_answers(case):
    assert golden.differences(golden.answer(case), KEPT[case]) == []


@pytest.mark.slow
@pytest.mark.parametrize("case", golden.CASES)
def test_kept_answers_by_every_exact_engine(case):
    for engine in golden.engines(case):
        assert golden.differences(golden.answer(case, engine), KEPT[case]) == [], engine


def test_the_comparison_finds_another_answer():
    got = golden.answer("shrinking", "reference")
    assert golden.differences({**got, "hash": "0" * 16}, KEPT["shrinking"]) == ["hash"]
    moved = [[got["centres"][0][0] + 10 * golden.TOLERANCE, *got["centres"][0][1:]], *got["centres"][1:]]
    assert golden.differences({**got, "centres": moved}, KEPT["shrinking"]) == ["centres"]
    # two policies give the same labels
    assert len({KEPT[case]["hash"] for case in golden.CHAINS}) == len(golden.CHAINS) - 1


def test_the_comparison_finds_another_selection():
    got = golden.answer("mixture")
    assert golden.differences(got, KEPT["mixture"]) == []
    stability = got["stability"] + 10 * golden.TOLERANCE
    assert golden.differences({**got, "stability": stability}, KEPT["mixture"]) == ["stability"]
    assert golden.differences({**got, "chosen": "modes"}, KEPT["mixture"]) == ["chosen"]
    assert golden.differences({**got, "new": 1}, KEPT["mixture"]) == ["new"]


@pytest.mark.parametrize("chosen", golden.CHOSEN)
def test_clear_cases_are_chosen_as_expected(chosen):
    for case in golden.CHOSEN[chosen]:
        assert KEPT[case]["chosen"] == chosen, case


@pytest.mark.parametrize("n_jobs", [2, pytest.param(4, marks=pytest.mark.slow)])
def test_any_number_of_jobs(n_jobs):
    assert golden.answers(n_jobs=n_jobs) == SAME


@pytest.mark.parametrize(
    ("cls", "options"),
    [
        (DoublyStochasticMeanShift, {**CASE, "n_chains": 4, "max_updates": 9000, "random_state": 5}),
        *((BlurringMeanShift, {"bandwidth": 0.6, "engine": name, "max_updates": 9000}) for name in LARGE),
        *((MeanShift, {"bandwidth": 0.6, "engine": name, "max_iter": 5}) for name in LARGE),
    ],
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_any_number_of_jobs_with_work_for_all(cls, options):
    """The cases above are small and use at most two threads."""
    X = np.concatenate([golden.data("plane")[0] + 0.01 * shift for shift in range(25)])
    assert len(X) == 3000
    found = set()
    for n_jobs in (1, 2, 4):
        model = cls(n_jobs=n_jobs, **options).fit(X)
        found.add((model.labels_.tobytes(), model.cluster_centers_.tobytes()))
    assert len(found) == 1


def test_many_fits_in_many_threads():
    with ThreadPoolExecutor(8) as pool:
        jobs = [pool.submit(golden.answers, n_jobs=1 + number % 2, cases=golden.QUICK) for number in range(12)]
        assert [job.result() for job in jobs] == [SAME] * 12


@pytest.mark.slow
def test_the_first_fits_of_a_process_may_be_concurrent():
    """Kernels are compiled or loaded by several threads at once."""
    code = (
        "import golden\nfrom concurrent.futures import ThreadPoolExecutor\n"
        "with ThreadPoolExecutor(8) as pool:\n"
        "    print(list(pool.map(lambda _: golden.answers(cases=golden.QUICK), range(8))))"
    )
    assert _python(code) == f"{[SAME] * 8}\n"


@pytest.mark.slow
@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_processes_of_every_start_method(method):
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"there is no {method} here")
    # a parent that has used threads, which a forked child does not inherit
    DoublyStochasticMeanShift(n_chains=2, n_jobs=2, random_state=0).fit(golden.data("plane")[0])
    context = multiprocessing.get_context(method)
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        assert pool.submit(partial(golden.answers, n_jobs=2)).result(timeout=PATIENCE) == SAME


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="nothing is forked here")
def test_a_forked_child_finds_neighbours_in_many_dimensions():
    """A forked child deadlocked in OpenMP, whose threads its parent had used through scikit-learn."""
    code = """
import os, signal, numpy as np
from modeseek import ModeSeek
X = np.random.default_rng(0).normal(size=(1500, 16)) + 6 * (np.arange(1500)[:, None] % 3)
labels = ModeSeek(random_state=0).fit(X).labels_
child = os.fork()
if child == 0:
    signal.alarm(600)
    os._exit(int((ModeSeek(random_state=0).fit(X).labels_ != labels).any()))
print(os.waitpid(child, 0)[1])
"""
    assert _python(code, OMP_NUM_THREADS="2") == "0\n"


def _inside(backend):
    with_threads = Parallel(2, backend="threading")(
        delayed(golden.answers)(n_jobs=2, cases=golden.QUICK) for _ in range(2)
    )
    return [*with_threads, *Parallel(2, backend=backend)(delayed(golden.answers)(cases=golden.QUICK) for _ in range(2))]


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_joblib_inside_joblib(backend):
    found = Parallel(2, backend=backend)(delayed(_inside)(backend) for _ in range(2))
    assert found == [[SAME] * 4] * 2


LAYERS = """
import golden, numba
from concurrent.futures import ThreadPoolExecutor

def layer():
    try:
        return numba.threading_layer()
    except ValueError:
        return "none"

@numba.njit(parallel=True)
def theirs(n):
    total = 0
    for i in numba.prange(n):
        total += i
    return total

with ThreadPoolExecutor(4) as pool:
    print(list(pool.map(lambda _: golden.answers(cases=golden.QUICK), range(4))), layer())
    try:
        started = theirs(1000) == 499500 and layer()
    except ValueError:
        started = "none"
    print(list(pool.map(lambda _: golden.answers(cases=golden.QUICK), range(4))), started)
"""


@pytest.mark.slow
@pytest.mark.parametrize("layer", ["omp", "workqueue", "tbb"])
def test_threading_layers_of_numba_are_not_used(layer):
    """modeseek uses Python threads. It works with every layer, and with code that starts one."""
    first, second = _python(LAYERS, NUMBA_THREADING_LAYER=layer).splitlines()
    assert first == f"{[SAME] * 4} none"
    assert second in (f"{[SAME] * 4} {layer}", f"{[SAME] * 4} none")  # none, where this Numba has no such layer
    assert layer != "workqueue" or second.endswith(layer)  # which all have


@pytest.mark.slow
@pytest.mark.parametrize("threads", ["1", "3"])
def test_threads_of_linear_algebra_change_nothing(threads):
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    code = "import golden; print(golden.answers(cases=golden.QUICK))"
    assert _python(code, **dict.fromkeys(names, threads), PYTHONHASHSEED=threads) == f"{SAME}\n"


def _python(code, **environment):
    here = Path(__file__).parents[1]
    paths = os.pathsep.join([str(here), str(here.parent / "src"), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        env={**os.environ, "PYTHONPATH": paths, **environment},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
