import tracemalloc

import numpy as np
from numpy.testing import assert_array_equal

from modeseek._common.frame import frame_of


def test_many_tied_columns_need_little_memory():
    """All orders of twelve tied columns were stored at once: 479 million."""
    rows = np.concatenate([np.eye(12), -np.eye(12)])
    tracemalloc.start()
    try:
        frame = frame_of(rows, np.ones(24))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 10e6
    assert_array_equal(np.sort(frame.columns), np.arange(12))
    assert_array_equal(frame.undo(frame.apply(rows)), rows)
