"""What to try next: the hint of an error that met an unknown name, and the warning that advises."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

__all__ = ["AdviceWarning", "CheckpointWarning", "ScaleWarning", "did_you_mean"]


class AdviceWarning(UserWarning):
    """A result that is right as asked, but hardly what was wanted; the message says why and what to try.

    `warnings.simplefilter("ignore", AdviceWarning)` silences them.
    """


class ScaleWarning(AdviceWarning):
    """One column varies so much more than the others that it alone decides."""


class CheckpointWarning(UserWarning):
    """A run goes on from a checkpoint, or one could not be saved."""


def did_you_mean(name: object, names: Iterable[str]) -> str:
    """Return a hint with the valid name most like `name`, or an empty string.

    Examples
    --------
    >>> did_you_mean("biwieght", ["biweight", "flat"])
    " Did you mean 'biweight'?"
    >>> did_you_mean("x", [])
    ''
    """
    # by lower case: SPECIES and species are the likeliest slip, and difflib sees no letter in common
    spellings = {each.lower(): each for each in names}
    near = difflib.get_close_matches(str(name).lower(), list(spellings), n=1, cutoff=0.5)
    return f" Did you mean '{spellings[near[0]]}'?" if near else ""
