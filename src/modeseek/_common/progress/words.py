"""Numbers, durations and stages as short text."""

from modeseek._common.types import Stage


def describe(stage: Stage) -> str:
    """Return the text of a stage: its name, what is counted, and details.

    Examples
    --------
    >>> describe(Stage("choosing the range", 2, 9, "bandwidths", at_most=True))
    'choosing the range, 2 of at most 9 bandwidths'
    >>> describe(Stage("", 123_456, unit="updates", details=("5 clumps", "h 0.6")))
    '123k updates, 5 clumps, h 0.6'
    """
    parts = [stage.name] if stage.name else []
    if stage.total is not None:
        parts.append(f"{count(stage.done)} of {'at most ' if stage.at_most else ''}{count(stage.total)} {stage.unit}")
    elif stage.unit:
        parts.append(f"{count(stage.done)} {stage.unit}")
    return ", ".join((*parts, *stage.details)).rstrip()


def clock(seconds: float) -> str:
    """Return a duration as hours, minutes and seconds.

    Examples
    --------
    >>> clock(75), clock(7384)
    ('1:15', '2:03:04')
    """
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


def plural(n: int, word: str) -> str:
    """Return a number and a noun.

    Examples
    --------
    >>> plural(1, "sweep"), plural(2, "sweep")
    ('1 sweep', '2 sweeps')
    """
    return f"{count(n)} {word}{'' if n == 1 else 's'}"


def count(n: int) -> str:
    """Return an integer, rounded down to thousands or millions if it is large.

    Examples
    --------
    >>> count(9999), count(123_456), count(12_345_678), count(10**7)
    ('9,999', '123k', '12.3M', '10M')
    """
    if n < 10_000:
        return f"{n:,}"
    if n < 1_000_000:
        return f"{n // 1000}k"
    return f"{n / 1e6:.1f}".removesuffix(".0") + "M" if n < 100_000_000 else f"{n // 1_000_000:,}M"
