"""Turns made from windows."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from modeseek.diarization import Turn
from modeseek.diarization.turns import make_turns, trim_windows

core = pytest.importorskip("pyannote.core")


def test_windows_are_cut_in_the_middle_of_their_overlap():
    times = np.array([[2.0, 3.5], [0.0, 1.5], [1.0, 2.5]])  # in any order
    assert trim_windows(times).tolist() == [[2.25, 3.5], [0.0, 1.25], [1.25, 2.25]]
    assert trim_windows(times, "keep") is times


@given(st.lists(st.tuples(st.floats(0.05, 3), st.booleans()), min_size=1, max_size=20), st.floats(0.5, 3))
@settings(max_examples=50, deadline=None)
def test_trimmed_windows_cover_the_same_time_without_overlap(steps, length):
    """The union of the slices is the union of the windows, and slices do not overlap."""
    starts = np.cumsum([step for step, _ in steps])
    times = np.column_stack([starts, starts + length])
    slices = trim_windows(times)
    assert (slices[1:, 0] >= slices[:-1, 1] - 1e-9).all()
    union = core.Timeline([core.Segment(*pair) for pair in times.tolist()]).support().duration()
    assert np.isclose((slices[:, 1] - slices[:, 0]).sum(), union)
    turns = make_turns(slices, np.array([int(who) for _, who in steps]), np.ones(len(steps)), ["a", "b"])
    assert np.isclose(sum(turn.end - turn.start for turn in turns), union)


def test_turns_may_overlap_if_overlapping_is_keep():
    times = np.array([[0.0, 4.0], [1.0, 2.0]])
    with pytest.raises(ValueError, match=r"segments\[1\] lies within segments\[0\].*overlapping=\"keep\""):
        trim_windows(times)
    assert len(make_turns(trim_windows(times, "keep"), np.array([0, 1]), np.ones(2), ["a", "b"])) == 2


def test_overlaps_count_once_in_the_confidence():
    turns = make_turns(np.array([[0.0, 2.0], [1.0, 3.0]]), np.array([0, 0]), np.array([1.0, 0.4]), ["a"])
    assert turns == [Turn(0.0, 3.0, "a", pytest.approx((2.0 + 0.4) / 3))]
