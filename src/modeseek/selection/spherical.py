"""Spherical k-means, which refines partitions under `metric="cosine"`."""

from __future__ import annotations

import numpy as np

from modeseek._common.types import Array, IntArray

__all__ = ["SphericalKMeans"]

# products that are computed at a time
BLOCK_SIZE = 1 << 22


class SphericalKMeans:
    """Assigns unit vectors to the nearest mean direction of a cluster until nothing changes.

    Parameters
    ----------
    points : (n, d) array
        Unit vectors.
    max_steps : int
        Upper bound on the steps.
    """

    def __init__(self, points: Array, max_steps: int):
        self._points, self._max_steps = points.astype(np.float64), max_steps
        self._mean = self._points.mean(axis=0)

    def __call__(self, labels: IntArray, rows: IntArray) -> IntArray:
        """Return refined labels of the points `rows`, numbered without gaps."""
        x = self._points[rows]
        # relative to the mean: cosines of nearly equal directions are all 1 after rounding
        centered = x - self._mean
        for _ in range(self._max_steps):
            labels = np.unique(labels, return_inverse=True)[1]
            sums = np.zeros((int(labels.max()) + 1, x.shape[1]))
            np.add.at(sums, labels, x)
            directions = sums / np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-12) - self._mean
            half = np.square(directions).sum(axis=1) / 2
            step = max(1, BLOCK_SIZE // len(directions))
            parts = [(centered[i : i + step] @ directions.T - half).argmax(axis=1) for i in range(0, len(x), step)]
            new = np.concatenate(parts)
            if (new == labels).all():
                break
            labels = new
        return np.unique(labels, return_inverse=True)[1]
