"""Numbers with nouns and names of files, for messages and labels."""


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
