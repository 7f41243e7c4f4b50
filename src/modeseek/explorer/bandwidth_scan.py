"""A scan over bandwidths: the number of clusters at each, computed on its own thread."""

import threading
import warnings
from typing import NamedTuple

import numpy as np

from modeseek._common.types import Array, IntArray
from modeseek._common.validation import check_number
from modeseek.explorer.prepared_data import PreparedData
from modeseek.explorer.run_settings import RunSettings
from modeseek.metrics import rand_agreement
from modeseek.selection.bandwidths import Range


class ScanRow(NamedTuple):
    """Result at one bandwidth.

    Attributes
    ----------
    h : float
        The bandwidth, or h_max for an algorithm with a range of bandwidths.
    clusters : int
    largest : float
        Share of the rows in the largest cluster.
    agreement : float
        Adjusted Rand index with known groups; nan if there are none.
    """

    h: float
    clusters: int
    largest: float
    agreement: float


class BandwidthScan:
    """Fits an estimator at each bandwidth of a grid, the largest first, on a thread that starts at once.

    Parameters
    ----------
    data : PreparedData
    settings : RunSettings
        Algorithm and other parameters; the bandwidths in it are ignored.
    low, high : float or None
        Ends of the grid; None for a multiple of the automatic bandwidth.
    count : int
        Number of bandwidths.
    groups : (n,) integer array or None
        Known groups.

    Attributes
    ----------
    rows : list of ScanRow
        Results so far. Each new result replaces the list, so other threads can read it safely.
    grid : array
        The bandwidths; empty until the automatic bandwidth is known.
    base : Range or None
        The automatic range. For an algorithm with a range of bandwidths, the scan uses multiples of this range.
    failure : str
        Error message, if a fit failed.
    ended : bool
    """

    def __init__(
        self,
        data: PreparedData,
        settings: RunSettings,
        low: float | None,
        high: float | None,
        count: int,
        groups: IntArray | None = None,
    ):
        if not settings.moves:
            raise ValueError("algorithm: ModeSeek has no bandwidth to scan: choose a mean shift for run A.")
        for name, end in (("from", low), ("to", high)):
            if end is not None:
                check_number(name, end)
        if low is not None and high is not None and low >= high:
            raise ValueError(f"'from' must be below 'to'; got {low:g} and {high:g}: swap them.")
        self.data, self.settings, self.groups = data, settings, groups
        self.rows: list[ScanRow] = []
        self.grid: Array = np.empty(0)
        self.base: Range | None = None
        self.failure, self.ended = "", False
        self._ends, self._count, self._cancelled = (low, high), count, False
        threading.Thread(target=self._work, daemon=True, name="modeseek-scan").start()

    def cancel(self) -> None:
        """Stop after the current sweep; the results so far are kept."""
        self._cancelled = True

    @property
    def sampled(self) -> bool:
        """Whether only a sample of the rows is clustered."""
        return len(self.data.X) > self.data.config.max_scan_rows

    def _work(self) -> None:
        try:
            X, groups = self.data.X, self.groups
            if self.sampled:
                rows = np.random.default_rng(3).choice(len(X), self.data.config.max_scan_rows, replace=False)
                X, groups = X[rows], None if groups is None else groups[rows]
            model = self.settings.make_estimator()
            self.base = self.data.automatic_range(model)
            self.grid = self._make_grid(self.base.h_max)
            for h in self.grid.tolist():
                self.rows = [*self.rows, self._fit(X, groups, h, self.base)]
        except KeyboardInterrupt:
            pass  # the scan was cancelled
        except (ValueError, TypeError, MemoryError) as error:
            self.failure = str(error)
        finally:
            self.ended = True

    def _make_grid(self, automatic: float) -> Array:
        low, high = self._ends
        if high is None:
            high = max(self.data.config.scan_high * automatic, 2 * (low or 0.0))
        if low is None:
            low = min(self.data.config.scan_low * automatic, high / 2)
        # rounded to the three digits that the page shows
        return np.array([float(f"{h:.3g}") for h in np.geomspace(high, low, self._count)])

    def _fit(self, X: Array, groups: IntArray | None, h: float, base: Range) -> ScanRow:
        self._check_cancelled()
        model = self.settings.with_bandwidth(h, base).make_estimator().set_params(callbacks=[self._check_cancelled])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = model.fit(X).result_
        agreement = np.nan if groups is None else rand_agreement(groups, result.labels)
        return ScanRow(h, result.n_clusters, float(result.sizes.max(initial=0)) / result.n_rows, agreement)

    def _check_cancelled(self, *_: object) -> None:
        if self._cancelled:
            raise KeyboardInterrupt
