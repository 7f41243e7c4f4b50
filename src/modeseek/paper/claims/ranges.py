"""Claims about the bandwidth range."""

from functools import partial
from itertools import pairwise

import numpy as np

from modeseek._common.types import Array
from modeseek.paper.claims.base import (
    LIMITS,
    TRUE,
    Claim,
    Finding,
    H,
    Measured,
    Reading,
    by_policy_and_spread,
    claim,
    dsms,
    paired,
    sizes_of,
    span,
    values_at,
)
from modeseek.paper.intervals import LEVEL, Interval


def _changes(measured: Measured, reading: Reading, measure: str, level: float = LEVEL) -> dict[float, Interval]:
    """Return, for each width above 0, how much a measure of DSMS differs from SMS at its best bandwidth, paired by run.

    The measure "smaller" is the smaller of ACP and ALP.
    """
    rows = measured["range"].where(line=dsms(reading))

    def values(width: float) -> Array:
        if measure != "smaller":
            return values_at(rows, measure, width=width)
        return np.minimum(values_at(rows, "acp", width=width), values_at(rows, "alp", width=width))

    widths = rows.sorted("width")[1:]  # without width 0, which is SMS
    return {width: paired(values(width), values(0.0), level) for width in widths}


def _change_within(
    measured: Measured,
    reading: Reading,
    measure: str = "k",
    above: float = -np.inf,
    below: float = np.inf,
    at: int = -1,
    digits: int = 2,
) -> Finding:
    """Test whether the interval of a change (`_changes`) lies between two bounds; `at` is the index of the width."""
    width, change = list(_changes(measured, reading, measure).items())[at]
    text = f"{measure.upper()} changes by {change.text(digits)} at width {width:g}"
    return Finding(bool(change.low > above and change.high < below), text)


def _some_range_better(measured: Measured, reading: Reading, measure: str = "k") -> Finding:
    n_widths = len(_changes(measured, reading, measure))
    changes = _changes(measured, reading, measure, 1 - (1 - LEVEL) / n_widths)
    width, best = max(changes.items(), key=lambda item: item[1].low)
    text = f"the best is {best.text(3)} at width {width:g} (interval widened for {n_widths} widths)"
    return Finding(best.low > 0, text)


def _width_matters(measured: Measured, reading: Reading) -> Finding:
    rows = measured["range"].where(line=dsms(reading))
    widths = rows.sorted("width")[1:]  # without width 0, which is SMS
    gap = paired(values_at(rows, "k", width=widths[-1]), values_at(rows, "k", width=widths[0]))
    return Finding(
        bool(gap.high < -LIMITS.drop or gap.low > LIMITS.drop),
        f"K at width {widths[-1]:g} less K at width {widths[0]:g} is {gap.text()}",
    )


def _crossing_is_stable(measured: Measured, reading: Reading) -> Finding:
    """Find the widths between which the curves of mean ACP and ALP cross, and compare K there with K of SMS."""
    rows = measured["range"].where(line=dsms(reading))
    widths = rows.sorted("width")
    acp, alp, k = (np.array([rows.where(width=w)[name].mean() for w in widths]) for name in ("acp", "alp", "k"))
    stable = next((w for w, later in pairwise(widths) if abs(k[widths.index(later)] - k[0]) > LIMITS.alike), widths[-1])
    text = f"K stays within {LIMITS.alike:g} of SMS at its best up to width {stable:g}"
    crossings = [number for number in range(1, len(widths)) if (acp > alp)[number] != (acp > alp)[0]]
    if not crossings:
        above = "above" if acp[0] > alp[0] else "below"
        return Finding(False, f"ACP is {above} ALP at every width, so they do not cross; {text}")
    at = crossings[0]
    return Finding(
        widths[at] <= stable, f"ACP and ALP cross between the widths {widths[at - 1]:g} and {widths[at]:g}; {text}"
    )


def _mean_counts(measured: Measured, name: str) -> dict[float, Array]:
    """Return the mean numbers of clusters for all N, as an array for each value of the parameter that varies."""
    rows = measured["sweep"].where(line=name)
    return {
        h: np.array([rows.where(h=h, n_per_cluster=n)["n_clusters"].mean() for n in sizes_of(rows)])
        for h in rows.sorted("h")
    }


def _wide_merges_narrow_splits(measured: Measured, reading: Reading) -> Finding:
    counts = _mean_counts(measured, f"{dsms(reading)} over h_max")
    narrow, wide = counts[min(counts)], counts[max(counts)]
    return Finding(
        bool((narrow > 2 * TRUE).all() and (wide < TRUE - 0.5).all()),
        f"clusters {span(narrow.tolist())} at h_max = {min(counts):g} and {span(wide.tolist())} at "
        f"{max(counts):g}, over all N",
    )


def _less_sensitive(measured: Measured, reading: Reading, parameter: str) -> Finding:
    """Compare how much the number of clusters varies with a parameter of DSMS, and with the same values of h of SMS."""
    own, other = (_mean_counts(measured, name) for name in (f"{dsms(reading)} over {parameter}", "SMS"))
    shared = [h for h in own if h in other]
    means = [np.array([counts[h] for h in shared]) for counts in (own, other)]
    factors = [each.max(axis=0) / each.min(axis=0) for each in means]
    return Finding(
        bool((factors[0] < factors[1] / 2).all()),
        f"from {min(shared):g} to {max(shared):g} the mean count of DSMS over {parameter} changes by a factor of "
        f"{span(factors[0].tolist())}, that of SMS over h by a factor of {span(factors[1].tolist())}, over all N",
    )


def _low_h_min_splits(measured: Measured, reading: Reading) -> Finding:
    counts = _mean_counts(measured, f"{dsms(reading)} over h_min")
    low, paper = counts[min(counts)], counts[0.2]
    return Finding(
        bool((low > 1.1 * paper).all()),
        f"mean clusters {span(low.tolist())} at h_min = {min(counts):g}, {span(paper.tolist())} at the paper's 0.2 and "
        f"{span(counts[max(counts)].tolist())} at {max(counts):g}, over all N",
    )


def _small_h_refines(measured: Measured, reading: Reading) -> Finding:
    rows = measured["sweep"].where(line=f"{dsms(reading)} over h_min")
    # a walk that starts at h_min stays there, so for the walk the largest h_min is below h_inf
    high = max(h for h in rows.sorted("h") if h < H or reading["policy"] != "walk")
    gap = paired(values_at(rows, "offset", h=0.2), values_at(rows, "offset", h=high))
    return Finding(
        bool(gap.high < 0),
        "mean distance of a cluster's centre from the mean of its class, at h_min = 0.2 less that at "
        f"{high:g}: {gap.text(3)}",
    )


def _large_h_traverses(measured: Measured, reading: Reading) -> Finding:
    rows = measured["sweep"]
    own = rows.where(line=f"{dsms(reading)} over h_max")
    low = own.sorted("h")[0]
    parts, holds = [], True
    for n in sizes_of(rows):
        wide = values_at(own, "n_clusters", n_per_cluster=n, h=1.6)
        gaps = [
            paired(wide, values_at(own, "n_clusters", n_per_cluster=n, h=low)),
            paired(wide, values_at(rows, "n_clusters", line="SMS", n_per_cluster=n, h=H)),
        ]
        holds &= all(gap.high < 0 for gap in gaps)
        parts.append(f"{gaps[0].text(1)} and {gaps[1].text(1)} at N = {n}")
    text = "; ".join(parts)
    return Finding(
        bool(holds), f"clusters at h_max = 1.6 less those at {low:g}, and less those of SMS at {H:g}: {text}"
    )


PLACES = by_policy_and_spread(place=("middle", "paper"))
range_claim = partial(claim, needs=["range"], readings=PLACES)
sweep_claim = partial(claim, needs=["sweep"])
CLAIMS: tuple[Claim, ...] = (
    sweep_claim(
        "small-h-refines",
        _small_h_refines,
        readings=by_policy_and_spread(n_per_cluster=(10, 50, 200)),
    ),
    sweep_claim("large-h-traverses", _large_h_traverses),
    range_claim("width-matters", _width_matters),
    range_claim(
        "narrow-range-is-sms", partial(_change_within, above=-LIMITS.alike, below=LIMITS.alike, at=0, digits=3)
    ),
    range_claim("wide-range-drops", partial(_change_within, below=-LIMITS.drop)),
    range_claim("some-range-better", _some_range_better),
    range_claim("adp-increases", partial(_change_within, measure="alp", above=0.0)),
    range_claim("acp-decreases", partial(_change_within, measure="acp", below=0.0)),
    range_claim("crossing-is-stable", _crossing_is_stable),
    range_claim("better-balance", partial(_some_range_better, measure="smaller")),
    sweep_claim("large-h-merges", _wide_merges_narrow_splits),
    sweep_claim("low-h-min-splits", _low_h_min_splits),
)
BEYOND: tuple[Claim, ...] = tuple(
    sweep_claim(f"less-sensitive-to-{name}", partial(_less_sensitive, parameter=parameter))
    for name, parameter in (("h-inf", "h_inf"), ("h-max", "h_max"))
)
