"""Compilation on several cores: the first run of `modeseek cluster`, and `modeseek warm-up`."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import nullcontext

import joblib
import pytest

from commands import data as data
from commands import run
from first_call import called_functions
from modeseek._common import jit
from modeseek.cli import compiling, warm_up
from waiting import PATIENCE


def listed():
    return compiling.FUNCTIONS.read_text().splitlines()


def test_the_list_is_what_a_small_table_needs():
    """If not, run `python benchmarks/first_call.py --functions`."""
    assert listed() == called_functions()


@pytest.fixture
def started(monkeypatch):
    """Collect the statements of helpers instead of running them, on two cores and with an empty cache."""
    statements = []
    monkeypatch.setattr(compiling, "helper_processes", lambda codes: statements.extend(codes) or nullcontext())
    monkeypatch.setattr(joblib, "cpu_count", lambda: 2)
    monkeypatch.setattr(jit.CompiledFunction, "stored", False)
    return statements


@pytest.mark.parametrize(("cores", "helpers"), [(2, 1), (3, 2), (64, 2)])
def test_helpers_compile_the_last_functions_first(cores, helpers, started, monkeypatch):
    monkeypatch.setattr(joblib, "cpu_count", lambda: cores)
    with compiling.compiling_helpers():
        parts = [listed()[::-1][each::helpers] for each in range(helpers)]
    assert started == [f"from modeseek._common.jit import compile_listed; compile_listed({part!r})" for part in parts]


def test_the_command_has_helpers(started, data):
    assert run("cluster", data, "--ignore", "name")[0] == 0
    assert len(started) == 1


@pytest.mark.parametrize("options", [("--jobs", "1"), ("--algorithm", "ms")])
def test_no_helper_for_one_core_or_other_algorithms(options, started, data):
    assert run("cluster", data, "--ignore", "name", *options)[0] == 0
    assert started == []


def test_no_helper_on_one_core(started, monkeypatch):
    monkeypatch.setattr(joblib, "cpu_count", lambda: 1)
    with compiling.compiling_helpers():
        assert started == []


def test_no_helper_for_stored_functions(started, monkeypatch):
    monkeypatch.setattr(jit.CompiledFunction, "stored", True)
    with compiling.compiling_helpers():
        assert started == []


@pytest.mark.parametrize("cores", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_warm_up_fits_all_estimators(cores, monkeypatch):
    monkeypatch.setattr(warm_up, "cpu_count", lambda: cores)
    status, out, err = run("warm-up")
    assert (status, err) == (0, "")
    assert out.startswith("compiled in ")


@pytest.mark.slow
@pytest.mark.skipif(joblib.cpu_count() < 2, reason="needs two cores")
def test_the_first_run_is_like_the_second(data, tmp_path):
    command = [sys.executable, "-m", "modeseek", "cluster", str(data), "--ignore", "name", "-q", "-o", "-"]
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    first, second = (
        subprocess.run(command, env=environment, capture_output=True, text=True, timeout=PATIENCE) for _ in range(2)
    )
    assert (first.returncode, first.stdout, first.stderr) == (0, second.stdout, second.stderr) == (0, first.stdout, "")
