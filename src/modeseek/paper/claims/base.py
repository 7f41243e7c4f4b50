"""Claims of the paper, and their tests on the rows of the experiments.

A reading is an interpretation of what the paper leaves open, such as {"policy": "walk", "spread": "std"}. Each claim is
tested under several readings.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations, product
from typing import NamedTuple, TypeAlias

import numpy as np

from modeseek._common.types import Array
from modeseek.paper.contenders import POLICIES
from modeseek.paper.experiment import SPREADS, report_texts
from modeseek.paper.intervals import LEVEL, Interval, mean_interval
from modeseek.paper.rows import Rows, Value

Measured: TypeAlias = Mapping[str, Rows]
Reading: TypeAlias = Mapping[str, Value]
TRUE = 3  # number of components of the mixture
H = 0.6  # the paper's bandwidth of MS, BMS and SMS
MS_NEAREST = "MS, modes within h"
# SMS at the paper's bandwidth; SMS at the best of several bandwidths; the same with DSMS on the best of several ranges
AS_IN_PAPER, SMS_SEARCHED, BOTH_SEARCHED = "0.6", "searched", "both searched"


@dataclass(frozen=True)
class Limits:
    """Limits of the tests; `claims.toml` refers to them by their names in braces.

    Attributes
    ----------
    alike : float
        Smaller differences of K and ARI count as no difference.
    drop : float
        Larger changes of K count as a drop, or a gain.
    resilient : float
        DSMS is resilient to outliers if they lower its ARI by less than this.
    stable : float
        A count is stable if it changes by less than this factor.
    few, many : int
        Numbers of points in each cluster: up to `few` points are few, and more than `many` points are many.
    small_gradient : float
        Smaller norms of the gradient count as 0.
    covered : float
        Share of the bandwidth range that counts as nearly the whole range.
    """

    alike: float = 0.02
    drop: float = 0.05
    resilient: float = 0.05
    stable: float = 1.5
    few: int = 50
    many: int = 100
    small_gradient: float = 1e-6
    covered: float = 0.8


LIMITS = Limits()


class Finding(NamedTuple):
    """Result of the test of a claim under one reading: whether it holds, and the numbers behind it.

    Attributes
    ----------
    holds : bool
        Whether the claim is shown to hold.
    figures : str
        The measured numbers, as text.
    undecided : bool
        Whether the runs show neither that the claim holds nor that it does not hold.
    """

    holds: bool
    figures: str
    undecided: bool = False


Check: TypeAlias = Callable[[Measured, Reading], Finding]


@dataclass(frozen=True)
class Claim:
    """One claim of the paper.

    Attributes
    ----------
    quote : str
        The claim in the words of the paper.
    test : str
        The condition under which the claim holds, in words.
    check : callable
        Function of the rows of each experiment, selected by a reading, and of this reading; it returns a `Finding`.
    section : str
        Section of the paper; empty for a statement that is not in the paper.
    needs : tuple of str
        Names of the experiments whose rows the test uses.
    readings : tuple of mappings
        The readings under which the claim is tested.
    about : str
        Which part of the quotation, or which figure, the test is about.
    """

    quote: str
    test: str
    check: Check
    section: str
    needs: tuple[str, ...]
    readings: tuple[Reading, ...]
    about: str = ""

    @property
    def title(self) -> str:
        """The claim as a heading, in quotation marks if it is in the paper."""
        quoted = f"“{self.quote}”" if self.section else self.quote
        return f"{quoted} ({self.about})" if self.about else quoted


@dataclass(frozen=True)
class Findings:
    """A claim and its finding under each reading."""

    claim: Claim
    found: tuple[tuple[Reading, Finding], ...]

    @property
    def verdict(self) -> str:
        """The result in words: "holds", "holds only under", "does not hold" or "undecided"."""
        if self.kind == "bad" and any(finding.undecided for _, finding in self.found):
            return "undecided"
        return {"good": "holds", "partly": "holds only under", "bad": "does not hold"}[self.kind]

    @property
    def under(self) -> str:
        """The readings under which the claim holds, in words; "" if it holds under all or none."""
        return _shortest(self._good, [reading for reading, _ in self.found]) if self.kind == "partly" else ""

    @property
    def kind(self) -> str:
        """Whether the claim holds under all readings ("good"), some ("partly") or none ("bad")."""
        return "good" if len(self._good) == len(self.found) else "partly" if self._good else "bad"

    @property
    def _good(self) -> list[Reading]:
        return [reading for reading, finding in self.found if finding.holds]


def readings(**open_points: Iterable[Value]) -> tuple[Reading, ...]:
    """Return every combination of the values of the given open points (what the paper leaves open), as readings.

    Examples
    --------
    >>> readings(policy=["shrinking", "walk"], spread=["std"])
    ({'policy': 'shrinking', 'spread': 'std'}, {'policy': 'walk', 'spread': 'std'})
    """
    return tuple(dict(zip(open_points, each, strict=True)) for each in product(*open_points.values()))


def by_policy_and_spread(**open_points: Iterable[Value]) -> tuple[Reading, ...]:
    """Return the readings for both policies, both spreads and the values of further open points."""
    return readings(policy=POLICIES, spread=SPREADS, **open_points)


BOTH = by_policy_and_spread()


def claim(name: str, check: Check, needs: Sequence[str], readings: tuple[Reading, ...] = BOTH) -> Claim:
    """Return the claim whose section, quotation and test are in `claims.toml` under this name."""
    texts = report_texts("claims.toml")[name]
    return Claim(
        texts["quote"],
        texts["test"].format(**asdict(LIMITS)),
        check,
        texts.get("section", ""),
        tuple(needs),
        readings,
        texts.get("about", ""),
    )


def judge(claim: Claim, measured: Measured) -> Findings | None:
    """Test a claim under each reading that has rows; return None if an experiment that it needs was not run."""
    if any(name not in measured for name in claim.needs):
        return None
    found = []
    for reading in claim.readings:
        rows = {name: _rows_of(measured[name], reading) for name in claim.needs}
        if all(len(each) for each in rows.values()):
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
    names = report_texts("claims.toml")["readings"]
    return ", ".join(names.get(str(value), str(value)) for value in reading.values())


def values_at(rows: Rows, measure: str, **conditions: Value) -> Array:
    """Return the values of a measure in the rows that meet the conditions, in the order of the runs."""
    chosen = rows.where(**conditions)
    return chosen[measure][np.argsort(chosen["run"], kind="stable")]


def paired(first: Array, second: Array, level: float = LEVEL) -> Interval:
    """Return the mean of the differences `first` - `second` of paired runs, with its interval."""
    return mean_interval(first - second, level)


def _shortest(good: Sequence[Reading], every: Sequence[Reading]) -> str:
    """Describe the readings `good` in few words: "shrinking", for example, if they are all readings with shrinking."""
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
        # greedy cover; if several groups cover equally many readings, the first has the fewest parts
        name = max(groups, key=lambda each: len(groups[each] & left))
        names.append(name)
        left -= groups[name]
    return "; ".join(names)


def dsms(reading: Reading) -> str:
    """Return the name of DSMS under a reading."""
    return f"DSMS {reading['policy']}"


def sms_lines(rows: Rows) -> list[Mapping[str, Value]]:
    """Return the conditions that select SMS at each of its bandwidths."""
    return [{"line": "SMS", "h": h} for h in rows.where(line="SMS").distinct("h")]


def searched(rows: Rows, reading: Reading, measure: str) -> tuple[Array, Array]:
    """Return the values of a measure for DSMS and for SMS in paired runs; `reading["sms"]` says what is searched.

    A search takes the bandwidth of SMS (and the range of DSMS) with the best mean on the first half of the runs. The
    values are then those of the second half; without a search, they are those of all runs.
    """
    ranges: list[Mapping[str, Value]] = [
        {"line": line} for line in rows.distinct("line") if str(line).startswith(dsms(reading))
    ]
    search, fresh = rows.halves() if reading["sms"] != AS_IN_PAPER else (rows, rows)

    def best(candidates: list[Mapping[str, Value]]) -> Mapping[str, Value]:
        return max(candidates, key=lambda where: float(search.where(**where)[measure].mean()))

    own = best(ranges) if reading["sms"] == BOTH_SEARCHED else {"line": dsms(reading)}
    other = {"line": "SMS", "h": H} if reading["sms"] == AS_IN_PAPER else best(sms_lines(rows))
    return values_at(fresh, measure, **own), values_at(fresh, measure, **other)


def sizes_of(rows: Rows) -> list[int]:
    """Return the numbers of points in each cluster, in increasing order."""
    return [int(n) for n in rows.sorted("n_per_cluster")]


def span(values: Sequence[float], digits: int = 1) -> str:
    """Return the smallest and the largest value as text.

    Examples
    --------
    >>> span([3.0, 1.25, 2.0])
    '1.2 to 3.0'
    """
    return f"{min(values):.{digits}f} to {max(values):.{digits}f}"
