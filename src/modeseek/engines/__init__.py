"""Engines: they apply draws to a state. All of them are exact; they differ in speed only."""

from __future__ import annotations

from modeseek.engines.brute import BruteEngine
from modeseek.engines.candidates import CandidatesEngine
from modeseek.engines.reference import ReferenceEngine
from modeseek.types import Engine, ProfileLike
from modeseek.validation import check_choice

__all__ = ["ENGINES", "BruteEngine", "CandidatesEngine", "ReferenceEngine", "choose"]

ENGINES: dict[str, Engine] = {"reference": ReferenceEngine(), "brute": BruteEngine(), "candidates": CandidatesEngine()}


def choose(engine: str, profile: ProfileLike) -> Engine:
    """Return the engine of a name; "auto" takes `brute`, or `reference` for a user's own profile.

    A user's own functions need not compile, so nobody has to know about compilers to try one.

    Examples
    --------
    >>> from modeseek.profiles import BIWEIGHT
    >>> choose("auto", BIWEIGHT).name
    'brute'
    """
    check_choice("engine", engine, ["auto", *ENGINES])
    if engine == "auto":
        engine = "brute" if profile.code is not None else "reference"
    return ENGINES[engine]
