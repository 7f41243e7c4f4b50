"""Shared by all tests: hypothesis settings and inputs, ugly ones first."""

from __future__ import annotations

import os

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

# compiled code makes the first example slow: no deadline. The same examples on every CI run: red means the change.
settings.register_profile(
    "modeseek",
    deadline=None,
    max_examples=60,
    derandomize=bool(os.environ.get("CI")),
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("modeseek")


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(12345)
