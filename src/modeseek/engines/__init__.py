"""Engines: they apply draws to a state. All of them are exact; they differ in speed only."""

from __future__ import annotations

from modeseek.engines.brute import BruteEngine
from modeseek.engines.moments import MomentsEngine
from modeseek.engines.reference import ReferenceEngine
from modeseek.types import Array, Engine, ProfileLike
from modeseek.validation import check_choice

__all__ = ["ENGINES", "BruteEngine", "MomentsEngine", "ReferenceEngine", "choose"]

MOMENTS = MomentsEngine()
ENGINES: dict[str, Engine] = {engine.name: engine for engine in (ReferenceEngine(), BruteEngine(), MOMENTS)}


def choose(engine: str, profile: ProfileLike, points: Array) -> Engine:
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

    Examples
    --------
    >>> import numpy as np
    >>> from modeseek.profiles import BIWEIGHT
    >>> choose("auto", BIWEIGHT, np.zeros((50, 2))).name, choose("auto", BIWEIGHT, np.zeros((5000, 2))).name
    ('brute', 'moments')
    """
    check_choice("engine", engine, ["auto", *ENGINES])
    n, d = points.shape
    if engine == "auto":
        if profile.code is None:
            engine = "reference"
        elif MOMENTS.refusal(profile, d) is None and n >= MOMENTS.pays_from(profile, d):
            engine = "moments"
        else:
            engine = "brute"
    reason = ENGINES[engine].refusal(profile, d)
    if reason is not None:
        raise ValueError(f"engine={engine!r} cannot be used here: {reason}. Use engine='auto'.")
    return ENGINES[engine]
