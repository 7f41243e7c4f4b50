"""StochasticMeanShift: a random point moves at a fixed bandwidth."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from modeseek._common.points import Points
from modeseek._common.types import Watcher
from modeseek._common.validation import seed_of
from modeseek.estimators.random_chains import RandomChainClusterer
from modeseek.estimators.result import FitData, FitSettings
from modeseek.meanshift.bandwidth import Constant
from modeseek.meanshift.chains import Chain, stochastic

__all__ = ["StochasticMeanShift"]


@dataclass(eq=False, repr=False)
class StochasticMeanShift(RandomChainClusterer):
    """Stochastic mean shift (SMS): a random point moves at a fixed bandwidth, until nothing can change.

    Parameters
    ----------
    bandwidth : float, optional
        Radius h of the kernel. None: chosen from the data, see docs/choosing-the-range.md.
    profile : {"biweight", "triweight", "quadweight", "flat", "gaussian"} or Profile, default="biweight"
        Shape of the kernel; the last two are outside the theorems.
    metric : {"euclidean", "cosine"}, default="euclidean"
        Under "cosine" rows are scaled to unit length and points stay on the sphere.
    order : {"random", "reshuffled", "even"}, default="random"
        Draw every point anew (the paper), or visit all in a new random order each sweep.
    batch_size : int, default=1
        How many distinct points move at once; n_samples of them is blurring mean shift.
    local_scale : bool, default=False
        Multiply h by a factor of the moving point: its distance to near neighbours over the median one.
    tol : float, default=1e-6
        A shift up to tol * bandwidth counts as none.
    tau : float, optional
        Points closer than this at the end share a cluster; below bandwidth / 2. None: bandwidth / 4.
    max_updates : int, optional
        Limit on single-point updates, looked at after each sweep of about n. None: max(10^7, 200 n).
    max_time : float, optional
        Limit on seconds of a run, kept to within a fraction of one; a sweep that it cuts short does not count.
    n_chains : "auto" or int, default="auto"
        How many independent chains run; "auto" is one. With more, `labels_` is what they agree on: groups of points
        that go together in more than half of the chains (see docs/consensus.md). Chain 0 is the one that "auto"
        runs. Limits hold for each chain. After Ctrl-C those count that had ended, or else those that had begun.
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
        Threads for chains, batches, neighbour searches and `predict`. Labels do not depend on it.
    random_state : int, RandomState, Generator or None
        Seed of the draws.
    verbose : int, default=0
        1 shows progress on a terminal.
    callbacks : sequence of callables, optional
        Each is called as f(state, info) after every sweep.
    record : "all", name, sequence of names or Record, optional
        What to keep of the run in `trace_` besides the bandwidth path and the largest shifts, after every sweep:
        "clumps", "diameter", "gap", "objective" (costs n^2 each time), "snapshots" (the points, as rows of X). With
        several chains the first one records.
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
    memberships_, confidence_, cluster_stability_, stability_, chain_labels_
        With several chains, as there.
    sketch_ : SketchPoints
        If the fit ran on a sketch: its points, their weights and the width of its cells.
    bandwidth_ : float
        The bandwidth in force.

    Examples
    --------
    >>> from modeseek import StochasticMeanShift
    >>> StochasticMeanShift(1.0, random_state=0).fit_predict([[0.0], [0.1], [5.0]])
    array([0, 0, 1])
    """

    bandwidth: float | None = None

    def _choose_settings(self, sample: Points, watch: Watcher | None) -> FitSettings:
        h = self._single_bandwidth(self.bandwidth, sample, watch)
        return FitSettings(bandwidth=h, policy=Constant(h), single_updates=self._single_updates())

    def _chain_maker(self, data: FitData) -> Callable[..., Chain]:
        h = data.settings.bandwidth
        assert h is not None
        return partial(
            stochastic,
            self._problem(data.points, h),
            h,
            seed=seed_of(self.random_state),
            order=self._order(data),
            batch_size=self.batch_size,
            scales=self._scales(data.points),
        )
