"""The compiled loop of `data`; it allocates no arrays."""

from __future__ import annotations

from modeseek._common.jit import cached_loop


@cached_loop
def keep_loop(indices, distances, rows, place, new_indices, new_distances):  # type: ignore[no-untyped-def]
    """Write the first neighbours of `rows` that are in a subsample; `place` has each point's index in it, or -1."""
    k, width = indices.shape[1], new_indices.shape[1]
    for r in range(len(rows)):
        # this entry stays if no neighbour is in the subsample
        new_indices[r, 0], new_distances[r, 0] = r, distances[rows[r], k - 1]
        count = 0
        for j in range(k):
            new = place[indices[rows[r], j]]
            if new >= 0:
                new_indices[r, count], new_distances[r, count] = new, distances[rows[r], j]
                count += 1
                if count == width:
                    break
        if count == 0:
            count = 1
        for j in range(count, width):
            new_indices[r, j], new_distances[r, j] = new_indices[r, count - 1], new_distances[r, count - 1]
