"""The compiled loop of `thinning`."""

from __future__ import annotations

import numpy as np

from modeseek._common.jit import cached

__all__ = ["left_over"]


def _left_over(indices, distances, rows, place, most):  # type: ignore[no-untyped-def]
    """Return the neighbours that are left of each row, by their new places; a list that runs out repeats its last."""
    m, k = len(rows), indices.shape[1]
    new_indices, new_distances = np.empty((m, most), dtype=np.int64), np.empty((m, most))
    for r in range(m):
        count = 0
        for j in range(k):
            new = place[indices[rows[r], j]]
            if new >= 0:
                new_indices[r, count], new_distances[r, count] = new, distances[rows[r], j]
                count += 1
                if count == most:
                    break
        if count == 0:  # nobody is left that it knew: it stands alone, as far off as its list went
            new_indices[r, 0], new_distances[r, 0] = r, distances[rows[r], k - 1]
            count = 1
        for j in range(count, most):
            new_indices[r, j], new_distances[r, j] = new_indices[r, count - 1], new_distances[r, count - 1]
    return new_indices, new_distances


left_over = cached(_left_over)
