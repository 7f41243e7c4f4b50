"""Numbers with nouns, for messages and labels."""


def counted(n: int, noun: str) -> str:
    """Return a number and a noun, in the plural unless the number is 1.

    Examples
    --------
    >>> counted(1, "row"), counted(12_345, "row")
    ('1 row', '12,345 rows')
    """
    return f"{n:,} {noun}{'' if n == 1 else 's'}"
