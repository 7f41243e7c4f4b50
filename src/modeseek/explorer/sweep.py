"""A sweep of bandwidths: how many clusters an algorithm finds at each, on a thread of its own."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from modeseek._common.types import Array, IntArray
from modeseek._common.validation import check_number
from modeseek.explorer.data import Subject
from modeseek.explorer.making import make
from modeseek.explorer.settings import Settings, estimator_of
from modeseek.metrics import rand_agreement
from modeseek.selection.bandwidths import Range

__all__ = ["MOST_ROWS", "Sweep", "SweepRow", "settings_at"]

# a sweep fits many times: larger data are sampled
MOST_ROWS = 5_000
# from the automatic bandwidth, down and up
FACTORS = (1 / 4, 3.0)


class SweepRow(NamedTuple):
    """One bandwidth of the grid.

    Attributes
    ----------
    h : float
        The bandwidth; of a range its upper end.
    clusters : int
    biggest : float
        Share of the rows in the largest cluster.
    agreement : float
        Adjusted Rand index with known groups; nan where there are none.
    """

    h: float
    clusters: int
    biggest: float
    agreement: float


def settings_at(settings: Settings, h: float, base: Range) -> Settings:
    """Return settings with the bandwidth h; a range keeps its ratios and ends at h.

    Examples
    --------
    >>> settings_at(Settings("dsms"), 2.0, Range(0.5, 0.75, 1.0)).h_min
    1.0
    """
    if settings.algorithm != "dsms":
        return replace(settings, bandwidth=h)
    share = h / base.h_max
    return replace(settings, h_min=_round(base.h_min * share), h_inf=_round(base.h_inf * share), h_max=h)


class Sweep:
    """Fits an estimator at each bandwidth of a grid, from the widest on.

    Parameters
    ----------
    subject : Subject
    settings : Settings
        Algorithm, profile, metric and so on; the bandwidth is what varies.
    low, high : float or None
        Ends of the grid; None: from the data.
    count : int
    truth : (n,) integer array or None
        Known groups.
    done : callable
        Called without arguments after each fit and at the end, on the thread.

    Attributes
    ----------
    rows : list of SweepRow
    grid : array
        Empty until the ends are known.
    failure : str
    """

    def __init__(
        self,
        subject: Subject,
        settings: Settings,
        low: float | None,
        high: float | None,
        count: int,
        truth: IntArray | None = None,
        done: Callable[[], None] = lambda: None,
    ):
        if settings.algorithm == "modeseek":
            raise ValueError("algorithm: ModeSeek has no bandwidth to vary; choose dsms, sms, bms or ms for run A.")
        for name, end in (("from", low), ("to", high)):
            if end is not None:
                check_number(name, end)
        if low is not None and high is not None and low >= high:
            raise ValueError(f"from must be below to; got {low:g} and {high:g}: swap them.")
        self.subject, self.settings, self.truth = subject, settings, truth
        self.rows: list[SweepRow] = []
        self.grid: Array = np.empty(0)
        self.base: Range | None = None
        self.failure = ""
        self.ended = False
        self._ends, self._count, self._done = (low, high), count, done
        self._cancelled = False
        self._thread = threading.Thread(target=self._work, daemon=True, name="modeseek-sweep")

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def cancel(self) -> None:
        """Give up; what was found stays."""
        self._cancelled = True

    def wait(self) -> None:
        """Wait for the end."""
        self._thread.join()

    @property
    def sampled(self) -> bool:
        """Whether only a sample of the rows is clustered."""
        return len(self.subject.X) > MOST_ROWS

    def _work(self) -> None:
        try:
            X, truth = self.subject.X, self.truth
            if self.sampled:
                rows = np.random.default_rng(3).choice(len(X), MOST_ROWS, replace=False)
                X, truth = X[rows], None if truth is None else truth[rows]
            plain = replace(self.settings, h_min=None, h_inf=None, h_max=None, bandwidth=None)
            self.base = make(self.subject, plain).h
            low, high = (
                self.base.h_max * factor if end is None else end
                for end, factor in zip(self._ends, FACTORS, strict=True)
            )
            # an end that was given moves the other one if it has to
            low, high = min(low, high / 2) if self._ends[0] is None else low, max(high, 2 * low)
            self.grid = np.array([_round(h) for h in np.geomspace(high, low, self._count)])
            for h in self.grid.tolist():
                if self._cancelled:
                    break
                self._fit(X, truth, h)
                self._done()
        except KeyboardInterrupt:
            pass  # `_look` gave up a fit
        except (ValueError, TypeError, MemoryError) as error:
            self.failure = str(error)
        finally:
            self.ended = True
            self._done()

    def _fit(self, X: Array, truth: IntArray | None, h: float) -> None:
        assert self.base is not None
        model = estimator_of(settings_at(self.settings, h, self.base)).set_params(callbacks=[self._look])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(X)
        labels = np.asarray(model.labels_)
        biggest = float(np.bincount(labels[labels >= 0]).max(initial=0)) / len(labels)
        agreement = np.nan if truth is None else rand_agreement(truth, labels)
        self.rows = [*self.rows, SweepRow(h, model.n_clusters_, biggest, agreement)]

    def _look(self, *_: object) -> None:
        if self._cancelled:
            raise KeyboardInterrupt


def _round(h: float) -> float:
    """Return h with three digits: what a field shows is what is used."""
    return float(f"{h:.3g}")
