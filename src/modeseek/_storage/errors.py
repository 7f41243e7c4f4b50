"""The one exception for data files."""

from __future__ import annotations

__all__ = ["DataError"]


class DataError(ValueError):
    """A data file that cannot be used as asked; the message names the file, the place and the remedy.

    Examples
    --------
    >>> issubclass(DataError, ValueError)
    True
    """
