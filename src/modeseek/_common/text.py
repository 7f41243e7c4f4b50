"""Numbers with nouns, names of files and names of settings, for messages and labels."""

from collections.abc import Callable
from typing import TypeAlias

# how a text names a parameter and its value, which may be None
NameSetting: TypeAlias = Callable[[str, object], str]


def python_setting(name: str, value: object) -> str:
    """Return a setting as a Python argument, in Markdown.

    Examples
    --------
    >>> python_setting("scale", "log"), python_setting("columns", None)
    ("`scale='log'`", '`columns`')
    """
    return f"`{name}`" if value is None else f"`{name}={value!r}`"


def counted(n: int, noun: str) -> str:
    """Return a number and a noun, in the plural unless the number is 1.

    Examples
    --------
    >>> counted(1, "row"), counted(12_345, "row")
    ('1 row', '12,345 rows')
    """
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def printable(name: str) -> str:
    r"""Return the name of a file with a replacement character for each byte that is not UTF-8.

    Python represents such bytes by characters that can be neither encoded nor drawn.

    Examples
    --------
    >>> printable("birds-\udcff.csv"), printable("Vögel.csv")
    ('birds-�.csv', 'Vögel.csv')
    """
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
