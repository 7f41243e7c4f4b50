"""The check of operation counts notices what it is there to notice."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "benchmarks" / "operations.py"


@pytest.fixture
def grown(monkeypatch):
    monkeypatch.syspath_prepend(str(SCRIPT.parent))  # it imports its neighbours, as a script does
    return runpy.run_path(str(SCRIPT))["grown"]


def test_a_count_within_the_margin_passes(grown):
    assert grown({"case": {"brute": 109.0}}, {"case": {"brute": 100.0}}) == []


def test_a_count_beyond_the_margin_is_named(grown):
    (line,) = grown({"case": {"brute": 111.0, "moment_tree": 5.0}}, {"case": {"brute": 100.0, "moment_tree": 5.0}})
    assert line.startswith("brute, case: 111 evaluations per update, 11% more")


@pytest.mark.parametrize(
    ("found", "bounds", "says"),
    [
        ({"case": {"new": 7.0}}, {}, "run with --update"),
        ({"case": {}}, {"case": {"gone": 7.0}}, "nothing was counted"),
    ],
)
def test_a_figure_without_its_other_half_is_named(grown, found, bounds, says):
    (line,) = grown(found, bounds)
    assert line.endswith(says)
