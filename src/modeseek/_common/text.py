"""Text for messages and labels: counts with nouns, values with significant digits, lists and names."""

from collections.abc import Callable, Sequence
from math import floor, isfinite, log10
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


def listed(names: Sequence[str], most: int = 12) -> str:
    """Return names separated by commas; of more than `most` names, the first ones and the number of the others.

    Examples
    --------
    >>> listed(["a", "b", "c"], 2)
    'a, b and 1 more'
    """
    rest = len(names) - most
    return ", ".join(names[:most]) + (f" and {rest:,} more" if rest > 0 else "")


def format_value(value: float, spread: float) -> str:
    """Return a value of a feature with the digits that are significant given the feature's standard deviation.

    Examples
    --------
    >>> format_value(5076.016, 801.9), format_value(47.5, 5.4), format_value(2007.853, 0.8), format_value(1999.0, 4.5)
    ('5076', '47.5', '2007.85', '1999')
    >>> format_value(29_601_212.0, 1.06e8), format_value(1.5e15, 2e14), format_value(0.0, 0.0)
    ('30,000,000', '1.5e+15', '0')
    """
    # years have no separator
    comma = "," if abs(value) >= 1e4 else ""
    if spread <= 0 or not isfinite(spread):
        return f"{value:{comma}.6g}"
    decimals = 1 - floor(log10(spread))
    if abs(value) < 1e12 and decimals <= 6:
        decimals = max(0, decimals) if abs(value) < 1e7 else decimals
        if abs(value - round(value)) < 1e-9 * max(1.0, abs(value)):  # the mean of equal integers, such as years
            decimals = min(0, decimals)
        return f"{round(value, decimals) + 0.0:{comma}.{max(0, decimals)}f}"
    digits = 2 if value == 0 else max(3, 2 + floor(log10(abs(value))) - floor(log10(spread)))
    return f"{value:.{min(digits, 15)}g}"


def printable(name: str) -> str:
    r"""Return the name of a file with a replacement character for each byte that is not UTF-8.

    Python represents such bytes by characters that can be neither encoded nor drawn.

    Examples
    --------
    >>> printable("birds-\udcff.csv"), printable("Vögel.csv")
    ('birds-�.csv', 'Vögel.csv')
    """
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
