"""Spelling suggestions for error messages, and the warning classes."""

import difflib
from collections.abc import Iterable

# a name is suggested if it is at least this similar (ratio of difflib)
LEAST_SIMILARITY = 0.6


class AdviceWarning(UserWarning):
    """The result is valid, but probably not what you intended; the message states why and what to try.

    `warnings.simplefilter("ignore", AdviceWarning)` silences these warnings.
    """


class ScaleWarning(AdviceWarning):
    """The variance of one column is so much larger than all others that this column alone determines the clusters."""


class CheckpointWarning(UserWarning):
    """A run resumes from a checkpoint, or a checkpoint could not be saved."""


def did_you_mean(name: object, names: Iterable[str]) -> str:
    """Return " Did you mean '...'?" with the most similar of the valid names, or an empty string.

    Examples
    --------
    >>> did_you_mean("biwieght", ["biweight", "flat"])
    " Did you mean 'biweight'?"
    >>> did_you_mean("x", [])
    ''
    """
    # compared in lower case: difflib finds nothing in common between SPECIES and species
    spellings = {each.lower(): each for each in names}
    near = difflib.get_close_matches(str(name).lower(), list(spellings), n=1, cutoff=LEAST_SIMILARITY)
    return f" Did you mean '{spellings[near[0]]}'?" if near else ""
