"""The compiled loop of `data`."""

from __future__ import annotations

import numpy as np

from modeseek._common.jit import cached


@cached
def keep_neighbors(indices, distances, rows, place, width):  # type: ignore[no-untyped-def]
    """Return indices and distances of the first `width` neighbours of `rows` that are in the subsample.

    `place` holds the index of each point in the subsample, or -1. If fewer neighbours are left, the last is repeated.
    """
    m, k = len(rows), indices.shape[1]
    new_indices, new_distances = np.empty((m, width), dtype=np.int32), np.empty((m, width))
    for r in range(m):
        count = 0
        for j in range(k):
            new = place[indices[rows[r], j]]
            if new >= 0:
                new_indices[r, count], new_distances[r, count] = new, distances[rows[r], j]
                count += 1
                if count == width:
                    break
        if count == 0:  # no neighbour is left: the point becomes its own, at the largest known distance
            new_indices[r, 0], new_distances[r, 0] = r, distances[rows[r], k - 1]
            count = 1
        for j in range(count, width):
            new_indices[r, j], new_distances[r, j] = new_indices[r, count - 1], new_distances[r, count - 1]
    return new_indices, new_distances
