"""Engines compute the mean shift of points. All are exact and differ only in speed."""

from modeseek._common.types import Array
from modeseek._common.validation import check_choice
from modeseek.meanshift.engines.brute import BruteEngine
from modeseek.meanshift.engines.cuda import CudaEngine
from modeseek.meanshift.engines.moment_tree import MomentTreeEngine
from modeseek.meanshift.engines.neighbor_lists import NeighborListsEngine
from modeseek.meanshift.engines.reference import ReferenceEngine
from modeseek.meanshift.types import Engine, ProfileLike

CUDA = CudaEngine()
# Engines that "auto" prefers to `brute` if they are faster, in this order.
SPECIALIZED: tuple[MomentTreeEngine | NeighborListsEngine, ...] = (MomentTreeEngine(), NeighborListsEngine())
ENGINES: dict[str, Engine] = {engine.name: engine for engine in (ReferenceEngine(), BruteEngine(), *SPECIALIZED, CUDA)}


def choose(
    engine: str,
    profile: ProfileLike,
    points: Array,
    h: float | None = None,
    *,
    chains: int = 1,
    one_by_one: bool = False,
) -> Engine:
    """Return the engine with a name; "auto" chooses the one that should be the fastest.

    Parameters
    ----------
    engine : str
        A key of `ENGINES`, or "auto".
    profile : Profile
        For a custom profile "auto" chooses `reference`, because the functions of the profile may not compile.
    points : (n, d) array
        The initial state.
    h : float, optional
        The largest bandwidth. In high dimension, the choice depends on the share of pairs of points within h.
    chains : int
        Number of independent chains. For thousands of chains "auto" chooses the GPU, if there is one.
    one_by_one : bool
        Whether points move one at a time, for which "auto" chooses `neighbor_lists` less often.

    Raises
    ------
    ValueError
        If the engine is unknown, or if it does not support the profile or the dimension.

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
        able = [special for special in SPECIALIZED if special.refusal(profile, d) is None]
        return next((special for special in able if special.pays(profile, points, h, one_by_one)), ENGINES["brute"])
    reason = ENGINES[engine].refusal(profile, d)
    if reason is not None:
        raise ValueError(f"engine={engine!r} cannot be used here: {reason}. Use engine='auto'.")
    return ENGINES[engine]
