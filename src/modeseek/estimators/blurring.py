"""BlurringMeanShift: all points move at once."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass

from modeseek._common.points import Points
from modeseek._common.types import Watcher
from modeseek.estimators.chain_clusterer import ChainClusterer
from modeseek.estimators.result import FitData, FitSettings
from modeseek.meanshift.bandwidth import Constant
from modeseek.meanshift.chains import Chain, Stopping, blurring

__all__ = ["BlurringMeanShift"]


@dataclass(eq=False, repr=False)
class BlurringMeanShift(ChainClusterer):
    """Blurring mean shift (BMS): all points move at once, against each other, until nothing can change.

    Parameters
    ----------
    bandwidth : float, optional
        Radius h of the kernel. None: chosen from the data, see docs/choosing-the-range.md.
    profile : {"biweight", "triweight", "quadweight", "flat", "gaussian"} or Profile, default="biweight"
        Shape of the kernel; the last two are outside the theorems.
    metric : {"euclidean", "cosine"}, default="euclidean"
        Under "cosine" rows are scaled to unit length and points stay on the sphere.
    tol : float, default=1e-6
        A shift up to tol * bandwidth counts as none.
    tau : float, optional
        Points closer than this at the end share a cluster; below bandwidth / 2. None: bandwidth / 4.
    max_updates : int, optional
        Limit on single-point updates, looked at after each sweep of n. None: max(10^7, 200 n).
    max_time : float, optional
        Limit on seconds of a run, kept to within a fraction of one; a sweep that it cuts short does not count.
    min_cluster_size : int, default=1
        Clusters lighter than this become noise, label -1.
    sketch : {"auto", "grid", "sample"} or None, default="auto"
        Whether to run on weighted points that stand for many rows: cells of a grid with the mean of their rows, or a
        sample. "auto" does so above 50,000 rows and says so in a warning; None takes every row. See docs/scale.md.
    resolution : float, default=1/16
        How wide cells of the grid may be, over the smallest bandwidth.
    engine : {"auto", "brute", "moment_tree", "neighbor_lists", "cuda", "reference"}, default="auto"
        All are exact; they differ in speed, and `engine_` tells which was taken. See docs/engines.md.
    n_jobs : int, optional
        Threads. Labels do not depend on it.
    verbose : int, default=0
        1 shows progress on a terminal.
    callbacks : sequence of callables, optional
        Each is called as f(state, info) after every sweep.
    record : "all", name, sequence of names or Record, optional
        What to keep of the run in `trace_` besides the bandwidth path and the largest shifts, after every sweep:
        "clumps", "diameter", "gap", "objective" (costs n^2 each time), "snapshots" (the points, as rows of X).
        Pictures of a run need it, see `modeseek.plots`; `Record` also says how often.
    checkpoint : str or path-like, optional
        A file for how far the run has come, saved now and then and at the end. The same fit goes on from it, and gives
        bit for bit what it gives in one piece; other data or settings are refused. See docs/how-to-checkpoints.md.
    checkpoint_every : float, default=60
        Seconds between two saves.

    Attributes
    ----------
    labels_, cluster_centers_, n_clusters_, points_, outcome_, partition_, n_updates_, engine_, trace_
        As in `DoublyStochasticMeanShift`.
    sketch_ : SketchPoints
        If the fit ran on a sketch: its points, their weights and the width of its cells.
    bandwidth_ : float
        The bandwidth in force.

    Examples
    --------
    >>> from modeseek import BlurringMeanShift
    >>> BlurringMeanShift(1.0).fit_predict([[0.0], [0.1], [5.0]])
    array([0, 0, 1])
    """

    bandwidth: float | None = None
    _: KW_ONLY
    tau: float | None = None
    max_updates: int | None = None
    max_time: float | None = None

    def _choose_settings(self, sample: Points, watch: Watcher | None) -> FitSettings:
        h = self._single_bandwidth(self.bandwidth, sample, watch)
        return FitSettings(bandwidth=h, policy=Constant(h))

    def _make_chain(self, data: FitData) -> tuple[Chain, Stopping]:
        h = data.settings.smallest_bandwidth
        assert h is not None
        chain = blurring(self._problem(data.points, h), h)
        return chain, self._stopping(chain, self.tau, self.max_updates, self.max_time)
