"""A claim of the paper, and how the rows of the experiments decide it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import NamedTuple, TypeAlias

import numpy as np

from modeseek._common.types import Array
from modeseek.paper.contenders import POLICIES
from modeseek.paper.intervals import LEVEL, Interval, mean_interval
from modeseek.paper.rows import Rows, Value

Measured: TypeAlias = Mapping[str, Rows]
Reading: TypeAlias = Mapping[str, Value]
SPREADS = ("std", "variance")
H = 0.6  # the paper's bandwidth of MS, BMS and SMS
MS_NEAREST = "MS, modes within h"


class Finding(NamedTuple):
    """Result of the test of a claim under one reading: whether it holds, and the numbers behind it."""

    holds: bool
    figures: str


@dataclass(frozen=True)
class Claim:
    """One claim of the paper.

    Attributes
    ----------
    quote : str
        The claim in the words of the paper.
    test : str
        The condition on the rows under which it holds.
    check : callable
        (rows of the experiments, reading) -> Finding. The rows are those of the reading.
    section : str
        Section of the paper; empty for a statement that is not in the paper.
    needs : tuple of str
        The experiments that decide it.
    readings : tuple of mappings
        Interpretations of what the paper leaves open: the claim is tested under each.
    about : str
        Which part of the quotation, or which figure, the test is about.
    """

    quote: str
    test: str
    check: Callable[[Measured, Reading], Finding]
    section: str
    needs: tuple[str, ...]
    readings: tuple[Reading, ...]
    about: str = ""

    @property
    def title(self) -> str:
        """Return the claim as a heading: in quotation marks if it is in the paper."""
        quoted = f"“{self.quote}”" if self.section else self.quote
        return f"{quoted} ({self.about})" if self.about else quoted


@dataclass(frozen=True)
class Findings:
    """A claim and its finding under each reading."""

    claim: Claim
    found: tuple[tuple[Reading, Finding], ...]

    @property
    def verdict(self) -> str:
        """Return "holds", "holds only under" or "does not hold"."""
        return {"good": "holds", "partly": "holds only under", "bad": "does not hold"}[self.kind]

    @property
    def under(self) -> str:
        """Return the readings under which the claim holds, if it holds under some only."""
        return _shortest(self._good, self.claim.readings) if self.kind == "partly" else ""

    @property
    def kind(self) -> str:
        """Return "good", "partly" or "bad"."""
        return "good" if len(self._good) == len(self.found) else "partly" if self._good else "bad"

    @property
    def _good(self) -> list[Reading]:
        return [reading for reading, finding in self.found if finding.holds]


def readings(**open_points: Sequence[Value]) -> tuple[Reading, ...]:
    """Return every combination of the values of what the paper leaves open.

    Examples
    --------
    >>> readings(policy=["shrinking", "walk"], spread=["std"])
    ({'policy': 'shrinking', 'spread': 'std'}, {'policy': 'walk', 'spread': 'std'})
    """
    return tuple(dict(zip(open_points, each, strict=True)) for each in product(*open_points.values()))


BOTH = readings(policy=POLICIES, spread=SPREADS)
# the paper does not say how the modes of MS become clusters
EACH_MS = readings(policy=POLICIES, spread=SPREADS, ms=("MS", MS_NEAREST))
SPREAD_AND_MS = readings(spread=SPREADS, ms=("MS", MS_NEAREST))


def judge(claim: Claim, measured: Measured) -> Findings | None:
    """Test a claim under each reading; return None if an experiment that it needs was not run."""
    if any(name not in measured for name in claim.needs):
        return None
    found = []
    for reading in claim.readings:
        rows = {name: _rows_of(measured[name], reading) for name in claim.needs}
        found.append((reading, claim.check(rows, reading)))
    return Findings(claim, tuple(found))


def _rows_of(rows: Rows, reading: Reading) -> Rows:
    return rows.where(**{name: value for name, value in reading.items() if name in rows.columns})


def reading_name(reading: Reading) -> str:
    """Return a description of a reading.

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
        "graded": "graded sizes",
        "one small": "one small cluster",
        2.0: "centres 2 apart",
        4.0: "centres 4 apart",
        "MS": "MS with modes at h / 4",
        MS_NEAREST: "MS with modes within h",
        "0.6": "SMS at h = 0.6",
        "searched": "SMS at the best of four h",
    }
    return ", ".join(words.get(value, str(value)) for value in reading.values())


def values_at(rows: Rows, measure: str, **conditions: Value) -> Array:
    """Return a measure in the rows that meet the conditions, in the order of the runs."""
    chosen = rows.where(**conditions)
    return chosen[measure][np.argsort(chosen["run"], kind="stable")]


def paired(first: Array, second: Array, level: float = LEVEL) -> Interval:
    """Return the mean of the differences of paired runs, with its interval."""
    return mean_interval(first - second, level)


def _shortest(good: Sequence[Reading], every: Sequence[Reading]) -> str:
    """Describe a set of readings with few words: "shrinking" stands for all readings with shrinking."""
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
        # greedy cover; among equals the first group, which has the fewest parts
        name = max(groups, key=lambda each: len(groups[each] & left))
        names.append(name)
        left -= groups[name]
    return "; ".join(names)


def dsms(reading: Reading) -> str:
    """Return the name of DSMS under a reading."""
    return f"DSMS {reading['policy']}"


def sizes_of(rows: Rows) -> list[int]:
    """Return the numbers of points in each cluster, in increasing order."""
    return sorted(int(n) for n in rows.distinct("n_per_cluster"))  # type: ignore[arg-type]


def span(values: Sequence[float], digits: int = 1) -> str:
    """Return the smallest and the largest value as text.

    Examples
    --------
    >>> span([3.0, 1.25, 2.0])
    '1.2 to 3.0'
    """
    return f"{min(values):.{digits}f} to {max(values):.{digits}f}"
