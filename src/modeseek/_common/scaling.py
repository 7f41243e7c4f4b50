"""Mean and spread of features, and features that dominate the others."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from modeseek._common.storable import storable
from modeseek._common.types import Array

# rows are summed in blocks of this size, counted from the first row, so that chunk sizes do not change the rounding
SUMMED_ROWS = 1 << 13
# a column with a larger share of the variance dominates the others
DOMINANT_SHARE = 0.999


@storable()
class Moments(NamedTuple):
    """Mean, standard deviation and range of rows that arrive in chunks; exactly equal for all chunk sizes.

    Attributes
    ----------
    n : int
        Number of rows summed so far.
    mean, std, low, high : (d,) array
        Mean, standard deviation, minimum and maximum of these rows.
    rest : (r, d) array
        Rows that do not fill a block of `SUMMED_ROWS` yet.
    """

    n: int
    mean: Array
    std: Array
    low: Array
    high: Array
    rest: Array

    @classmethod
    def empty(cls, d: int) -> Moments:
        """Return the moments of no rows."""
        return cls(0, np.zeros(d), np.zeros(d), np.full(d, np.inf), np.full(d, -np.inf), np.empty((0, d)))

    def add(self, rows: Array) -> Moments:
        """Return the moments after rows are added.

        Examples
        --------
        >>> rows = np.random.default_rng(0).normal(size=(20_000, 2))
        >>> one, two = Moments.empty(2).add(rows), Moments.empty(2).add(rows[:7]).add(rows[7:])
        >>> bool((np.array(one.scaling()) == two.scaling()).all())
        True
        """
        moments, at = self, 0
        if len(self.rest):
            at = min(len(rows), SUMMED_ROWS - len(self.rest))
            moments = self._replace(rest=np.concatenate([self.rest, rows[:at]]))
            if len(moments.rest) == SUMMED_ROWS:
                moments = moments._with_rest()
        while len(rows) - at >= SUMMED_ROWS:
            moments = moments._replace(rest=rows[at : at + SUMMED_ROWS])._with_rest()
            at += SUMMED_ROWS
        return moments._replace(rest=np.array(rows[at:])) if at < len(rows) else moments

    def scaling(self) -> tuple[Array, Array]:
        """Return shift and factor of the map to mean 0 and standard deviation 1; constant features are only shifted."""
        whole = self._with_rest() if len(self.rest) else self
        # recognised by its range, because rounding gives a constant feature a tiny standard deviation
        constant = whole.low == whole.high
        return np.where(constant, whole.low, whole.mean), np.where(constant | (whole.std == 0), 1.0, whole.std)

    def _with_rest(self) -> Moments:
        rows, n = np.ascontiguousarray(self.rest), self.n + len(self.rest)
        # divided by the largest entry, because squares of huge numbers would overflow
        size = np.maximum(np.abs(rows).max(axis=0), np.finfo(np.float64).tiny)
        mean, std = (rows / size).mean(axis=0) * size, (rows / size).std(axis=0) * size
        before, now = self.n / n, len(rows) / n
        between = np.sqrt(before * now)
        if self.n:
            std = np.hypot(
                np.hypot(self.std * np.sqrt(before), std * np.sqrt(now)), mean * between - self.mean * between
            )
            mean = self.mean * before + mean * now
        low, high = np.minimum(self.low, rows.min(axis=0)), np.maximum(self.high, rows.max(axis=0))
        return Moments(n, mean, std, low, high, rows[:0])


def dominant(X: Array) -> tuple[int, float] | None:
    """Return the column with nearly all of the variance, and the ratio of its standard deviation to the next largest.

    Returns None if no column has more than 99.9 % of the variance, or if all other columns are constant.

    Examples
    --------
    >>> column, ratio = dominant(np.array([[1.0, 20_000.0], [2.0, 50_000.0], [3.0, 10_000.0]]))
    >>> column, round(ratio)
    (1, 20817)
    >>> dominant(np.array([[1.0, 5.0], [2.0, 7.0]])) is None
    True
    """
    if X.shape[1] < 2 or len(X) < 2:
        return None
    low, high = X.min(axis=0).astype(np.float64), X.max(axis=0).astype(np.float64)
    # divided by the largest range, because squares of huge numbers would overflow
    size = max(float(np.max(high - low)), np.finfo(np.float64).tiny)
    std = ((X - low) / size).std(axis=0)
    column = int(np.argmax(std))
    next_largest = float(np.max(np.delete(std, column)))
    if next_largest == 0 or std[column] ** 2 <= DOMINANT_SHARE * np.square(std).sum():
        return None
    return column, float(std[column] / next_largest)
