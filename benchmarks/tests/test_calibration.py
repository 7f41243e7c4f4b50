"""The calibration script counts the rows that keep their cluster."""

from __future__ import annotations

import runpy
from pathlib import Path

import numpy as np
import pytest


@pytest.fixture
def script(monkeypatch):
    path = Path(__file__).resolve().parents[2] / "benchmarks" / "calibration.py"
    monkeypatch.syspath_prepend(str(path.parent))  # scripts import each other
    return runpy.run_path(str(path))


def test_rows_that_keep_their_cluster_are_counted(script):
    labels, confidence = np.array([0, 0, 0, 1, 1]), np.array([1.0, 1.0, 0.55, 1.0, 1.0])
    everyone = np.arange(5)
    votes = [(everyone, np.array([7, 7, 2, 2, 2])), (everyone, labels), (np.array([0, 2]), np.array([0, 0]))]
    lines = script["reliability"](labels, confidence, votes)
    assert [(line["low"], line["count"]) for line in lines] == [(0.5, 3), (0.99, 9)]
    assert [line["kept"] for line in lines] == pytest.approx([2 / 3, 1.0])
    rows = [{"set": "a", "draw": "0", **line} for line in lines]
    assert script["error"](script["pooled"](rows)) == pytest.approx(3 / 12 * (2 / 3 - 0.55))
