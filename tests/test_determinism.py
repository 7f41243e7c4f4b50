"""The same seed gives the same answer: on any exact engine, thread, process or day; golden.json has it."""

from __future__ import annotations

import json
import multiprocessing
import os
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest
from joblib import Parallel, delayed

import golden
from modeseek import DoublyStochasticMeanShift

KEPT = json.loads(golden.FILE.read_text())
SAME: dict = {}


@pytest.mark.parametrize("case", golden.CASES)
def test_every_exact_engine_gives_what_is_kept(case):
    for engine in golden.engines(case):
        assert golden.differences(golden.answer(case, engine), KEPT[case]) == [], engine


def test_another_answer_would_be_seen():
    got = golden.answer("shrinking", "reference")
    assert golden.differences({**got, "hash": "0" * 16}, KEPT["shrinking"]) == ["hash"]
    moved = [[got["centres"][0][0] + 1e-11, *got["centres"][0][1:]], *got["centres"][1:]]
    assert golden.differences({**got, "centres": moved}, KEPT["shrinking"]) == ["centres"]
    assert len({each["hash"] for each in KEPT.values()}) == len(golden.CASES) - 1  # two policies end alike


@pytest.mark.parametrize("n_jobs", [1, 2, 4])
def test_any_number_of_jobs(n_jobs):
    assert golden.answers(n_jobs=n_jobs) == SAME


def test_many_fits_in_many_threads():
    with ThreadPoolExecutor(8) as pool:
        jobs = [pool.submit(golden.answers, n_jobs=1 + number % 2, cases=golden.QUICK) for number in range(24)]
        assert [job.result() for job in jobs] == [SAME] * 24


def test_the_first_fits_of_a_process_may_come_all_at_once():
    """Where kernels are not yet compiled or loaded."""
    code = (
        "import golden\nfrom concurrent.futures import ThreadPoolExecutor\n"
        "with ThreadPoolExecutor(8) as pool:\n"
        "    print(list(pool.map(lambda _: golden.answers(cases=golden.QUICK), range(8))))"
    )
    assert _python(code) == f"{[SAME] * 8}\n"


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_processes_however_they_are_started(method):
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"there is no {method} here")
    # a parent that has used threads, which a forked child does not inherit
    DoublyStochasticMeanShift(n_chains=2, n_jobs=2, random_state=0).fit(golden.data("plane")[0])
    context = multiprocessing.get_context(method)
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        assert pool.submit(partial(golden.answers, n_jobs=2)).result(timeout=200) == SAME


def _inside(backend):
    with_threads = Parallel(2, backend="threading")(
        delayed(golden.answers)(n_jobs=2, cases=golden.QUICK) for _ in range(2)
    )
    return [*with_threads, *Parallel(2, backend=backend)(delayed(golden.answers)(cases=golden.QUICK) for _ in range(2))]


@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_joblib_inside_joblib(backend):
    found = Parallel(2, backend=backend)(delayed(_inside)(backend) for _ in range(2))
    assert found == [[SAME] * 4] * 2


@pytest.mark.parametrize("layer", ["workqueue", "tbb"])
def test_threading_layers_of_numba_are_not_used(layer):
    """Not even started, so that none can be missing, or in the way: threads are Python's own."""
    code = (
        "import golden, numba\nfrom concurrent.futures import ThreadPoolExecutor\n"
        "with ThreadPoolExecutor(4) as pool:\n"
        "    print(list(pool.map(lambda _: golden.answers(cases=golden.QUICK), range(4))))\n"
        "try:\n    print(numba.threading_layer())\nexcept ValueError as error:\n    print('none')"
    )
    assert _python(code, NUMBA_THREADING_LAYER=layer) == f"{[SAME] * 4}\nnone\n"


@pytest.mark.parametrize("threads", ["1", "3"])
def test_threads_of_linear_algebra_change_nothing(threads):
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    code = "import golden; print(golden.answers(cases=golden.QUICK))"
    assert _python(code, **dict.fromkeys(names, threads), PYTHONHASHSEED=threads) == f"{SAME}\n"


def _python(code, **environment):
    here = Path(__file__).parent
    paths = os.pathsep.join([str(here), str(here.parent / "src"), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, "PYTHONPATH": paths, **environment},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
