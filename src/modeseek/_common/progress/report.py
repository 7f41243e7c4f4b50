"""What a line of progress says, and how much of it fits."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["Report", "clock", "count", "fitted", "plural"]

# characters of the bar, at most and at least
BAR, NARROW = 16, 6
FULL, EMPTY = "━", "─"


class Report(NamedTuple):
    """What there is to say.

    Attributes
    ----------
    title : str
    facts : tuple of str
        From the most important to the least.
    share : float, optional
        How much is done, from 0 to 1; None where nobody knows.
    left : str
        The time left, in words; "" where nobody knows.
    """

    title: str
    facts: tuple[str, ...] = ()
    share: float | None = None
    left: str = ""

    @property
    def text(self) -> str:
        """Title and facts."""
        return f"{self.title}: {', '.join(self.facts)}" if self.facts else self.title


def fitted(report: Report, seconds: float, width: int) -> str:
    """Return a line of at most so many characters: the bar gives way first, then facts, the least important first.

    Examples
    --------
    >>> report = Report("DSMS", ("120k updates", "24 sweeps"), 0.25, "at most 0:30 left")
    >>> fitted(report, 10.0, 80)
    'DSMS: 120k updates, 24 sweeps  ━━━━────────────  0:10  at most 0:30 left'
    >>> fitted(report, 10.0, 65)
    'DSMS: 120k updates, 24 sweeps  ━━───────  0:10  at most 0:30 left'
    >>> fitted(report, 10.0, 60)
    'DSMS: 120k updates, 24 sweeps  0:10  at most 0:30 left'
    >>> fitted(report, 10.0, 48)
    'DSMS: 120k updates  0:10  at most 0:30 left'
    """
    rest = "  ".join(part for part in (clock(seconds), report.left) if part)
    room = min(BAR, width - len(f"{report.text}    {rest}"))
    if report.share is not None and room >= NARROW:
        filled = round(room * min(max(report.share, 0.0), 1.0))
        return f"{report.text}  {FULL * filled}{EMPTY * (room - filled)}  {rest}"
    facts = report.facts
    while len(line := f"{report._replace(facts=facts).text}  {rest}") > width and len(facts) > 1:
        facts = facts[:-1]
    return line[:width]


def clock(seconds: float) -> str:
    """Return a time as people read it.

    Examples
    --------
    >>> clock(75), clock(7384)
    ('1:15', '2:03:04')
    """
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


def plural(n: int, word: str) -> str:
    """Return a number with what is counted.

    Examples
    --------
    >>> plural(1, "sweep"), plural(2, "sweep")
    ('1 sweep', '2 sweeps')
    """
    return f"{count(n)} {word}{'' if n == 1 else 's'}"


def count(n: int) -> str:
    """Return a whole number, shortened where it is long.

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
