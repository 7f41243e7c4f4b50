"""Points on the device: by coordinate, in an order; some of them in and out."""

from __future__ import annotations

from functools import cache
from typing import Any

from numba import cuda

from modeseek.meanshift.engines.cuda.kernels.device import kernel_of

__all__ = ["arrange_kernel", "place_kernel", "take_kernel", "zero_kernel"]


@cache
def arrange_kernel() -> Any:
    """Return the kernel that lays rows out by coordinate: (rows, order, empty, out), column k from row order[k]."""

    @kernel_of(64)
    def kernel(rows, order, empty, out):  # type: ignore[no-untyped-def]
        k, c = cuda.grid(2)
        if k < out.shape[1] and c < out.shape[0]:
            out[c, k] = rows[order[k], c] if k < len(order) and c < rows.shape[1] else empty

    return kernel


@cache
def take_kernel() -> Any:
    """Return the kernel that copies columns of x to rows: (x, columns, rows)."""

    @kernel_of(64)
    def kernel(x, columns, rows):  # type: ignore[no-untyped-def]
        k, c = cuda.grid(2)
        if k < len(columns) and c < rows.shape[1]:
            rows[k, c] = x[c, columns[k]]

    return kernel


@cache
def place_kernel() -> Any:
    """Return the kernel that copies rows to columns of x: (x, columns, rows)."""

    @kernel_of(64)
    def kernel(x, columns, rows):  # type: ignore[no-untyped-def]
        k, c = cuda.grid(2)
        if k < len(columns) and c < rows.shape[1]:
            x[c, columns[k]] = rows[k, c]

    return kernel


@cache
def zero_kernel() -> Any:
    """Return the kernel that sets an array of three dimensions to 0."""

    @kernel_of(64)
    def kernel(out):  # type: ignore[no-untyped-def]
        k, c = cuda.grid(2)
        if k < out.shape[2] and c < out.shape[1]:
            for split in range(out.shape[0]):
                out[split, c, k] = 0.0

    return kernel
