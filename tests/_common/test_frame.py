from __future__ import annotations

import math

import numpy as np
from numpy.testing import assert_array_equal

from modeseek._common.frame import MAX_FRAMES, frame_of
from modeseek._common.points import canonical_points
from modeseek._common.types import Geometry


def test_many_tied_columns_take_little_memory():
    """The columns of one-hot rows can be exchanged in 40! ways, of which few are compared."""
    rows = np.eye(40)
    frame = frame_of(rows - 0.5, np.ones(40))
    assert_array_equal(np.sort(frame.columns), np.arange(40))
    points = canonical_points(rows, np.ones(40), Geometry())
    assert_array_equal(points.to_data(points.values)[points.inverse], rows)


def test_few_tied_columns_have_one_frame():
    """As many orders as are compared: the order of columns has no effect."""
    assert math.factorial(4) <= MAX_FRAMES
    rows = np.eye(4) + 0.25 * np.roll(np.eye(4), 1, axis=1) - 0.5
    swapped = rows[:, [1, 0, 2, 3]]
    assert (np.unique(swapped, axis=0) != np.unique(rows, axis=0)).any()
    found = [frame_of(each, np.ones(4)).apply(each) for each in (rows, swapped)]
    assert_array_equal(np.unique(found[0], axis=0), np.unique(found[1], axis=0))
