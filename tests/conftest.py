"""Hypothesis settings and inputs of all tests."""

from __future__ import annotations

import os
import signal
import threading
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

# compiled code makes the first example slow: no deadline. The same examples on every CI run: red means the change.
settings.register_profile(
    "modeseek",
    deadline=None,
    max_examples=20,
    derandomize=bool(os.environ.get("CI")),
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("modeseek")

# Processes that tests start import the sources in src/ as well, not an installed copy that compiles its own kernels.
SOURCES = str(Path(__file__).resolve().parents[1] / "src")
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [SOURCES, os.environ.get("PYTHONPATH")]))

# nohup and background jobs of a shell start the tests with SIGINT ignored, and processes that tests start inherit that
if threading.current_thread() is threading.main_thread():
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(12345)
