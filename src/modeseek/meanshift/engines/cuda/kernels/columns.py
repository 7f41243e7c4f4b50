"""Kernels that copy points between rows and the columns of the state on the device."""

from numba import cuda

from modeseek.meanshift.engines.cuda.kernels.block import kernel_of


@kernel_of(64)
def arrange(rows, order, empty, out):  # type: ignore[no-untyped-def]
    """Set column k of `out` to row `order[k]`, padded by zeros, and the columns beyond these to `empty`."""
    k, c = cuda.grid(2)
    if k < len(order) and c < out.shape[0]:
        out[c, k] = rows[order[k], c] if c < rows.shape[1] else 0.0
    elif k < out.shape[1] and c < out.shape[0]:
        out[c, k] = empty


@kernel_of(64)
def from_columns(x, columns, rows):  # type: ignore[no-untyped-def]
    """Copy the given columns of x to the rows of an array."""
    k, c = cuda.grid(2)
    if k < len(columns) and c < rows.shape[1]:
        rows[k, c] = x[c, columns[k]]


@kernel_of(64)
def to_columns(x, columns, rows):  # type: ignore[no-untyped-def]
    """Copy the rows of an array to the given columns of x."""
    k, c = cuda.grid(2)
    if k < len(columns) and c < rows.shape[1]:
        x[c, columns[k]] = rows[k, c]
