"""The one exception for data files, and the hint that goes with it."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

__all__ = ["DataError", "nearest"]


class DataError(ValueError):
    """A data file that cannot be used as asked; the message names the file, the place and the remedy.

    Examples
    --------
    >>> issubclass(DataError, ValueError)
    True
    """


def nearest(name: str, names: Iterable[str]) -> str:
    """Return a hint with the name most like `name`, or an empty string.

    Examples
    --------
    >>> nearest("bill_lenght", ["bill_length", "species"])
    " Did you mean 'bill_length'?"
    >>> nearest("x", [])
    ''
    """
    # by lower case: SPECIES and species are the likeliest slip, and difflib sees no letter in common
    spellings = {each.lower(): each for each in names}
    near = difflib.get_close_matches(name.lower(), list(spellings), n=1, cutoff=0.5)
    return f" Did you mean '{spellings[near[0]]}'?" if near else ""
