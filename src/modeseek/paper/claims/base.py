"""What a claim is, and how rows decide it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import NamedTuple, TypeAlias

import numpy as np

from modeseek._common.types import Array
from modeseek.paper.intervals import LEVEL, Interval, mean_interval
from modeseek.paper.lines import POLICIES
from modeseek.paper.rows import Rows, Value

__all__ = [
    "BOTH",
    "EACH_SPREAD",
    "SPREADS",
    "Claim",
    "Finding",
    "Findings",
    "H",
    "Measured",
    "Reading",
    "dsms",
    "inside",
    "judge",
    "paired",
    "reading_name",
    "readings",
    "sizes_of",
    "span",
    "values_at",
]

Measured: TypeAlias = Mapping[str, Rows]
Reading: TypeAlias = Mapping[str, Value]
SPREADS = ("std", "variance")
H = 0.6  # the paper's bandwidth of MS, BMS and SMS


class Finding(NamedTuple):
    """What the rows say of a claim under one reading: whether it holds, and the figures."""

    holds: bool
    figures: str


@dataclass(frozen=True)
class Claim:
    """One claim of the paper.

    Attributes
    ----------
    text : str
        The claim, in our words.
    where : str
        Where the paper makes it.
    test : str
        What must be true of the rows for it to hold.
    needs : tuple of str
        The experiments that decide it.
    readings : tuple of mappings
        What the paper leaves open: the claim is tested under each.
    check : callable
        (rows of the experiments, reading) -> Finding.
    """

    text: str
    where: str
    test: str
    needs: tuple[str, ...]
    readings: tuple[Reading, ...]
    check: Callable[[Measured, Reading], Finding]


@dataclass(frozen=True)
class Findings:
    """A claim and what was found under each reading."""

    claim: Claim
    found: tuple[tuple[Reading, Finding], ...]

    @property
    def verdict(self) -> str:
        """Return "holds", "holds only under" or "does not hold"."""
        return {"good": "holds", "partly": "holds only under", "bad": "does not hold"}[self.kind]

    @property
    def under(self) -> str:
        """Return the readings that it holds under, where it holds under some only."""
        return _shortest(self._good, self.claim.readings) if self.kind == "partly" else ""

    @property
    def kind(self) -> str:
        """Return "good", "partly" or "bad"."""
        return "good" if len(self._good) == len(self.found) else "partly" if self._good else "bad"

    @property
    def _good(self) -> list[Reading]:
        return [reading for reading, finding in self.found if finding.holds]


def readings(**open_points: Sequence[Value]) -> tuple[Reading, ...]:
    """Return every combination of what the paper leaves open.

    Examples
    --------
    >>> readings(policy=["shrinking", "walk"], spread=["std"])
    ({'policy': 'shrinking', 'spread': 'std'}, {'policy': 'walk', 'spread': 'std'})
    """
    return tuple(dict(zip(open_points, each, strict=True)) for each in product(*open_points.values()))


def judge(claim: Claim, measured: Measured) -> Findings | None:
    """Test a claim under each reading; None where an experiment that it needs was not run."""
    if any(name not in measured for name in claim.needs):
        return None
    return Findings(claim, tuple((reading, claim.check(measured, reading)) for reading in claim.readings))


def reading_name(reading: Reading) -> str:
    """Return a reading in words.

    Examples
    --------
    >>> reading_name({"policy": "walk", "spread": "variance"})
    'walk, 0.65 as variance'
    """
    words = {
        "std": "0.65 as standard deviation",
        "variance": "0.65 as variance",
        "middle": "h_inf in the middle",
        "paper": "h_inf 2/7 up",
    }
    return ", ".join(words.get(str(value), str(value)) for value in reading.values())


def values_at(rows: Rows, measure: str, **conditions: Value) -> Array:
    """Return a measure of the runs that meet the conditions, in the order of the runs."""
    chosen = rows.where(**conditions)
    return chosen[measure][np.argsort(chosen["run"], kind="stable")]


def paired(first: Array, second: Array, level: float = LEVEL) -> Interval:
    """Return the mean of the differences of paired runs, with its interval."""
    return mean_interval(first - second, level)


def _shortest(good: Sequence[Reading], every: Sequence[Reading]) -> str:
    """Name readings by as few parts as say it all: "shrinking" for all readings with shrinking."""
    parts = list(every[0])
    groups: dict[str, set[int]] = {}
    for n_parts in range(1, len(parts) + 1):
        for some in combinations(parts, n_parts):
            for reading in good:
                group = {part: reading[part] for part in some}
                covered = [number for number, each in enumerate(every) if group.items() <= each.items()]
                if all(every[number] in good for number in covered):
                    groups.setdefault(reading_name(group), set(covered))
    names, left = [], {number for number, each in enumerate(every) if each in good}
    while left:
        # the group that says most; of equals the first, which has the fewest parts
        name = max(groups, key=lambda each: len(groups[each] & left))
        names.append(name)
        left -= groups[name]
    return "; ".join(names)


BOTH = readings(policy=POLICIES, spread=SPREADS)
EACH_SPREAD = readings(spread=SPREADS)


def inside(measured: Measured, experiment: str, reading: Reading, *parts: str) -> Rows:
    """Return the rows of an experiment that belong to some parts of a reading."""
    return measured[experiment].where(**{part: reading[part] for part in parts})


def dsms(reading: Reading) -> str:
    """Return the line of DSMS under a reading."""
    return f"DSMS {reading['policy']}"


def sizes_of(rows: Rows) -> list[int]:
    """Return the numbers of points in each cluster, rising."""
    return sorted(int(n) for n in rows.distinct("n_per_cluster"))  # type: ignore[arg-type]


def span(values: Sequence[float], digits: int = 1) -> str:
    """Return the smallest and the largest of some values.

    Examples
    --------
    >>> span([3.0, 1.25, 2.0])
    '1.2 to 3.0'
    """
    return f"{min(values):.{digits}f} to {max(values):.{digits}f}"
