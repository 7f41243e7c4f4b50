"""Claims about the bandwidth range."""

from functools import partial

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
    paired,
    readings,
    sizes_of,
    span,
    values_at,
)
from modeseek.paper.contenders import POLICIES
from modeseek.paper.intervals import LEVEL, Interval

TRUE = 3
# differences of K below this count as no difference
ALIKE = 0.02


def _changes(measured: Measured, reading: Reading, measure: str, level: float = LEVEL) -> dict[float, Interval]:
    """Return the change of a measure from SMS at its best bandwidth, on the same data, for each width above 0."""
    rows = measured["range"].where(line=dsms(reading))
    start = values_at(rows, measure, width=0.0)
    widths = sorted(float(width) for width in rows.distinct("width") if width)
    return {width: paired(values_at(rows, measure, width=width), start, level) for width in widths}


def _change_within(
    measured: Measured,
    reading: Reading,
    measure: str = "k",
    above: float = -np.inf,
    below: float = np.inf,
    at: int = -1,
    digits: int = 2,
) -> Finding:
    """Test whether the interval of the change lies between two bounds; `at` is the index of the width."""
    width, change = list(_changes(measured, reading, measure).items())[at]
    text = f"{measure.upper()} changes by {change.text(digits)} at width {width:g}"
    return Finding(bool(change.low > above and change.high < below), text)


def _some_range_better(measured: Measured, reading: Reading) -> Finding:
    n_widths = len(_changes(measured, reading, "k"))
    changes = _changes(measured, reading, "k", 1 - (1 - LEVEL) / n_widths)
    width, best = max(changes.items(), key=lambda item: item[1].low)
    text = f"the best is {best.text(3)} at width {width:g} (interval widened for {n_widths} widths)"
    return Finding(best.low > 0, text)


def _k_is_stable_at_first(measured: Measured, reading: Reading) -> Finding:
    stable = 0.0
    for width, change in _changes(measured, reading, "k").items():
        if change.center < -ALIKE:
            break
        stable = width
    return Finding(stable >= 0.4, f"K stays within {ALIKE:g} of SMS at its best up to width {stable:g}")


def _mean_counts(measured: Measured, name: str) -> dict[float, Array]:
    """Return the mean number of clusters at each value of the parameter that varies, as an array over N."""
    rows = measured["sweep"].where(line=name)
    return {
        float(h): np.array([rows.where(h=h, n_per_cluster=n)["n_clusters"].mean() for n in sizes_of(rows)])  # type: ignore[arg-type]
        for h in rows.distinct("h")
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
    """Compare how much the count of DSMS varies with a parameter and that of SMS with h, over the same values."""
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
    high = max(float(h) for h in rows.distinct("h"))  # type: ignore[arg-type]
    gaps = [
        paired(values_at(rows, "offset", n_per_cluster=n, h=0.2), values_at(rows, "offset", n_per_cluster=n, h=high))
        for n in sizes_of(rows)
    ]
    text = "; ".join(f"{gap.text(3)} at N = {n}" for gap, n in zip(gaps, sizes_of(rows), strict=True))
    return Finding(
        all(gap.high < 0 for gap in gaps),
        f"mean distance of a cluster's centre from the mean of its class, at h_min = 0.2 less at {high:g}: {text}",
    )


claim = partial(Claim, section="4.3, Influence of the bandwidth range")
range_claim = partial(
    claim, needs=("range",), readings=readings(policy=POLICIES, spread=SPREADS, place=("middle", "paper"))
)
sweep_claim = partial(claim, needs=("sweep",), readings=BOTH)
CLAIMS: tuple[Claim, ...] = (
    sweep_claim(
        "smaller bandwidth samples refine the mode localization",
        "At every N, the centres of the main clusters are closer to the means of their classes at h_min = 0.2 than at "
        "h_min = h_inf = 0.6 (paired, the whole interval).",
        _small_h_refines,
        section="4.1, Performance on Underrepresented Clusters",
    ),
    range_claim(
        "too low a bandwidth range h_max - h_min hardly makes any difference with the SMS",
        f"At the narrowest range, the interval of the change in K is within -{ALIKE:g} and {ALIKE:g}.",
        partial(_change_within, above=-ALIKE, below=ALIKE, at=0, digits=3),
    ),
    range_claim(
        "we observe a significant drop in performance as the bandwidth range increases",
        "At the widest range, the whole interval of the change in K is below -0.05.",
        partial(_change_within, below=-0.05),
    ),
    range_claim(
        "experiments indicate the existence of a range of radii so that better clustering performance than SMS can be "
        "attained",
        "At some width the whole interval of the change in K is above 0, corrected for the number of widths.",
        _some_range_better,
    ),
    range_claim(
        "the ADP (which serves as a proxy for completeness or label recall) increases",
        "At the widest range, the whole interval of the change in ALP (the paper's ADP) is above 0.",
        partial(_change_within, measure="alp", above=0.0),
    ),
    range_claim(
        "excessive merging inevitably corrupts the clusters with points from neighboring classes, leading to a "
        "degradation in ACP",
        "At the widest range, the whole interval of the change in ACP is below 0.",
        partial(_change_within, measure="acp", below=0.0),
    ),
    range_claim(
        "The crossing point of these opposing trends explains the stability region observed in the evolution of K",
        f"K stays within {ALIKE:g} of its value for SMS up to a width of at least 0.4.",
        _k_is_stable_at_first,
    ),
    sweep_claim(
        "drawing larger h_k's facilitates the merging of fragmented components but risks over-smoothing (merging "
        "distinct clusters)",
        "At every N, more than six clusters at the smallest h_max of the sweep and fewer than 2.5 at the largest.",
        _wide_merges_narrow_splits,
    ),
    sweep_claim(
        "drawing low bandwidth values tends to restrict the algorithm's ability to bridge low-density regions, "
        "potentially leading to over-segmentation",
        "At every N, the mean count at the smallest h_min of the sweep is more than 1.1 times that at h_min = 0.2.",
        _low_h_min_splits,
        about="“h_min should not be too low”",
    ),
)
BEYOND: tuple[Claim, ...] = (
    sweep_claim(
        "DSMS depends less on h_inf than SMS on its bandwidth.",
        "At every N, the mean count changes over h_inf by less than half the factor of SMS over the same values of h.",
        partial(_less_sensitive, parameter="h_inf"),
        section="",
    ),
    sweep_claim(
        "DSMS depends less on h_max than SMS on its bandwidth.",
        "At every N, the mean count changes over h_max by less than half the factor of SMS over the same values of h.",
        partial(_less_sensitive, parameter="h_max"),
        section="",
    ),
)
