"""What the paper says of the bandwidth range."""

from __future__ import annotations

import numpy as np

from modeseek._common.types import Array
from modeseek.paper.claims.base import (
    BOTH,
    SPREADS,
    Claim,
    Finding,
    Measured,
    Reading,
    dsms,
    inside,
    paired,
    readings,
    sizes_of,
    span,
    values_at,
)
from modeseek.paper.intervals import LEVEL, Interval
from modeseek.paper.lines import POLICIES
from modeseek.paper.rows import Rows

__all__ = ["CLAIMS"]

WHERE = "influence of the bandwidth range"
TRUE = 3
ALIKE = 0.02
EACH_RANGE = readings(policy=POLICIES, spread=SPREADS, place=("middle", "paper"))


def _widths(rows: Rows) -> list[float]:
    return sorted(float(width) for width in rows.distinct("width"))  # type: ignore[arg-type]


def _change(measured: Measured, reading: Reading, measure: str, level: float = LEVEL) -> dict[float, Interval]:
    """Return the change of a measure from SMS at its best, on the same data, at each width above 0."""
    rows = inside(measured, "range", reading, "spread", "place").where(line=dsms(reading))
    start = values_at(rows, measure, width=0.0)
    return {width: paired(values_at(rows, measure, width=width), start, level) for width in _widths(rows) if width > 0}


def _hardly_differs(measured: Measured, reading: Reading) -> Finding:
    width, change = next(iter(_change(measured, reading, "k").items()))
    return Finding(change.low > -ALIKE and change.high < ALIKE, f"K changes by {change.text(3)} at width {width:g}")


def _k_drops(measured: Measured, reading: Reading) -> Finding:
    width, change = list(_change(measured, reading, "k").items())[-1]
    return Finding(change.high < -0.05, f"K changes by {change.text()} at width {width:g}")


def _some_range_better(measured: Measured, reading: Reading) -> Finding:
    n_widths = len(_change(measured, reading, "k"))
    changes = _change(measured, reading, "k", 1 - (1 - LEVEL) / n_widths)
    width, best = max(changes.items(), key=lambda item: item[1].low)
    return Finding(
        best.low > 0, f"the best is {best.text(3)} at width {width:g} (interval widened for {n_widths} widths)"
    )


def _alp_rises(measured: Measured, reading: Reading) -> Finding:
    width, change = list(_change(measured, reading, "alp").items())[-1]
    return Finding(change.low > 0, f"ALP changes by {change.text()} at width {width:g}")


def _acp_falls(measured: Measured, reading: Reading) -> Finding:
    width, change = list(_change(measured, reading, "acp").items())[-1]
    return Finding(change.high < 0, f"ACP changes by {change.text()} at width {width:g}")


def _k_is_stable_at_first(measured: Measured, reading: Reading) -> Finding:
    stable = 0.0
    for width, change in _change(measured, reading, "k").items():
        if change.center < -ALIKE:
            break
        stable = width
    return Finding(stable >= 0.4, f"K stays within {ALIKE:g} of SMS at its best up to width {stable:g}")


def _turned(measured: Measured, reading: Reading, line: str, measure: str) -> dict[float, Array]:
    """Return the mean of a measure at each value of the number turned, an entry for each N."""
    rows = inside(measured, "sweep", reading, "spread").where(line=line)
    return {
        float(h): np.array([values_at(rows, measure, h=h, n_per_cluster=n).mean() for n in sizes_of(rows)])  # type: ignore[arg-type]
        for h in rows.distinct("h")
    }


def _wide_merges_narrow_splits(measured: Measured, reading: Reading) -> Finding:
    counts = _turned(measured, reading, f"{dsms(reading)} over h_max", "n_clusters")
    narrow, wide = counts[min(counts)], counts[max(counts)]
    return Finding(
        bool((narrow > 2 * TRUE).all() and (wide < TRUE - 0.5).all()),
        f"clusters {span(narrow.tolist())} at h_max = {min(counts):g} and {span(wide.tolist())} at "
        f"{max(counts):g}, over all N",
    )


def _turns_less(measured: Measured, reading: Reading, turned: str) -> Finding:
    """Compare how far the count moves as h_inf or h_max is turned with that of SMS over the same numbers."""
    own = _turned(measured, reading, f"{dsms(reading)} over {turned}", "n_clusters")
    other = _turned(measured, reading, "SMS", "n_clusters")
    shared = [h for h in own if h in other]
    factors = []
    for counts in (own, other):
        means = np.array([counts[h] for h in shared])
        factors.append(means.max(axis=0) / means.min(axis=0))
    return Finding(
        bool((factors[0] < factors[1] / 2).all()),
        f"from {min(shared):g} to {max(shared):g} the mean count of DSMS over {turned} changes by a factor of "
        f"{span(factors[0].tolist())}, that of SMS over h by a factor of {span(factors[1].tolist())}, over all N",
    )


def _less_sensitive(measured: Measured, reading: Reading) -> Finding:
    return _turns_less(measured, reading, "h_inf")


def _less_sensitive_to_range(measured: Measured, reading: Reading) -> Finding:
    return _turns_less(measured, reading, "h_max")


CLAIMS: tuple[Claim, ...] = (
    Claim(
        "On a narrow range DSMS hardly differs from SMS.",
        WHERE,
        f"At the narrowest range, the interval of the change in K is within -{ALIKE:g} and {ALIKE:g}.",
        ("range",),
        EACH_RANGE,
        _hardly_differs,
    ),
    Claim(
        "K falls markedly as the range widens.",
        WHERE,
        "At the widest range, the whole interval of the change in K is below -0.05.",
        ("range",),
        EACH_RANGE,
        _k_drops,
    ),
    Claim(
        "Some range gives better clusters than SMS at its best bandwidth.",
        WHERE,
        "At some width the whole interval of the change in K is above 0, corrected for the number of widths.",
        ("range",),
        EACH_RANGE,
        _some_range_better,
    ),
    Claim(
        "ALP rises with the range, as groups of one class merge.",
        WHERE,
        "At the widest range, the whole interval of the change in ALP is above 0.",
        ("range",),
        EACH_RANGE,
        _alp_rises,
    ),
    Claim(
        "ACP falls with the range, as classes merge.",
        WHERE,
        "At the widest range, the whole interval of the change in ACP is below 0.",
        ("range",),
        EACH_RANGE,
        _acp_falls,
    ),
    Claim(
        "The two trends together leave a region of ranges in which K is stable.",
        WHERE,
        f"K stays within {ALIKE:g} of its value for SMS up to a width of at least 0.4.",
        ("range",),
        EACH_RANGE,
        _k_is_stable_at_first,
    ),
    Claim(
        "A large h_max merges distinct clusters, a small one breaks them up.",
        WHERE,
        "At every N, more than six clusters at the smallest h_max of the sweep and fewer than 2.5 at the largest.",
        ("sweep",),
        BOTH,
        _wide_merges_narrow_splits,
    ),
    Claim(
        "DSMS depends less on h_inf than SMS on its bandwidth.",
        "abstract",
        "At every N, the mean count changes over h_inf by less than half the factor of SMS over the same values of h.",
        ("sweep",),
        BOTH,
        _less_sensitive,
    ),
    Claim(
        "DSMS depends less on h_max than SMS on its bandwidth.",
        "abstract",
        "At every N, the mean count changes over h_max by less than half the factor of SMS over the same values of h.",
        ("sweep",),
        BOTH,
        _less_sensitive_to_range,
    ),
)
