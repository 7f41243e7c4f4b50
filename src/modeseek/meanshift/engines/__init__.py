"""Engines: they apply draws to a state. All of them are exact; they differ in speed only."""

from __future__ import annotations

from modeseek._common.types import Array
from modeseek._common.validation import check_choice
from modeseek.meanshift.engines.brute import BruteEngine
from modeseek.meanshift.engines.cuda import ChainBatcher, CudaEngine
from modeseek.meanshift.engines.moment_tree import MomentTreeEngine
from modeseek.meanshift.engines.neighbor_lists import NeighborListsEngine
from modeseek.meanshift.engines.reference import ReferenceEngine
from modeseek.meanshift.types import Engine, ProfileLike

__all__ = [
    "ENGINES",
    "BruteEngine",
    "ChainBatcher",
    "CudaEngine",
    "MomentTreeEngine",
    "NeighborListsEngine",
    "ReferenceEngine",
    "choose",
]

CUDA = CudaEngine()
ENGINES: dict[str, Engine] = {
    engine.name: engine
    for engine in (ReferenceEngine(), BruteEngine(), MomentTreeEngine(), NeighborListsEngine(), CUDA)
}
# what "auto" tries, from the most special on; `brute` takes what is left
SPECIAL: tuple[MomentTreeEngine | NeighborListsEngine, ...] = (MomentTreeEngine(), NeighborListsEngine())


def choose(engine: str, profile: ProfileLike, points: Array, h: float | None = None, *, chains: int = 1) -> Engine:
    """Return the engine of a name, if it can do the work; "auto" takes the one that should be the fastest.

    Parameters
    ----------
    engine : str
        A name in `ENGINES`, or "auto".
    profile : Profile
        A user's own functions need not compile, so "auto" takes `reference` for them: nobody has to know about
        compilers to try one.
    points : (n, d) array
        The state at the start.
    h : float, optional
        The largest bandwidth to come. How many points it reaches decides in high dimension.
    chains : int
        How many independent chains there are to run: thousands of them are work for a GPU, if there is one.

    Examples
    --------
    >>> import numpy as np
    >>> from modeseek.meanshift.kernels.profiles import BIWEIGHT
    >>> [choose("auto", BIWEIGHT, np.zeros(shape), 1.0).name for shape in ((50, 2), (5000, 2), (5000, 200))]
    ['brute', 'moment_tree', 'neighbor_lists']
    """
    check_choice("engine", engine, ["auto", *ENGINES])
    d = points.shape[1]
    if engine == "auto":
        if profile.code is None:
            return ENGINES["reference"]
        if CUDA.pays(profile, points, chains):
            return CUDA
        able = (special for special in SPECIAL if special.refusal(profile, d) is None)
        return next((special for special in able if special.pays(profile, points, h)), ENGINES["brute"])
    reason = ENGINES[engine].refusal(profile, d)
    if reason is not None:
        raise ValueError(f"engine={engine!r} cannot be used here: {reason}. Use engine='auto'.")
    return ENGINES[engine]
