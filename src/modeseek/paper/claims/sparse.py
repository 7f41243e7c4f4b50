"""Claims about clusters with few points."""

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np

from modeseek._common.types import Array
from modeseek.paper.claims.base import (
    AS_IN_PAPER,
    LIMITS,
    MS_NEAREST,
    SMS_SEARCHED,
    SPREADS,
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
    readings,
    sizes_of,
    sms_lines,
    span,
    values_at,
)
from modeseek.paper.contenders import FIXED, POLICIES
from modeseek.paper.intervals import Interval
from modeseek.paper.steps import ENDS, UNITS

FEW = range(1, LIMITS.few + 1)
MANY = range(LIMITS.many + 1, 10**9)
ALL = range(1, 10**9)


def _by_size(measured: Measured, name: str, measure: str = "n_clusters", sizes: range = ALL) -> dict[int, Array]:
    """Return a measure of a contender in all runs, for each N in `sizes`; MS, BMS and SMS at the paper's bandwidth."""
    rows = measured["sparse"].where(**({"line": name, "h": H} if name in FIXED else {"line": name}))
    return {n: values_at(rows, measure, n_per_cluster=n) for n in sizes_of(rows) if n in sizes}


def _baselines(reading: Reading, names: Sequence[str] = FIXED) -> list[str]:
    """Return the names of MS, BMS and SMS; that of MS depends on the rule for its modes in the reading."""
    return [str(reading.get("ms", name)) if name == "MS" else name for name in names]


def _far_closer(measured: Measured, reading: Reading, names: Sequence[str], factor: float) -> Finding:
    own, worst = _by_size(measured, dsms(reading)), {}
    for name in _baselines(reading, names):
        other = _by_size(measured, name)
        ratios = [np.abs(own[n] - TRUE).mean() / max(np.abs(other[n] - TRUE).mean(), 1e-12) for n in own]
        worst[name] = float(max(ratios))
    parts = [f"{ratio:.2f} of that of {name}" for name, ratio in worst.items()]
    text = f"DSMS's mean distance from {TRUE} clusters is at most {' and '.join(parts)}, over all N"
    return Finding(max(worst.values()) < factor, text)


def _surplus(measured: Measured, name: str, other: str, sizes: range) -> list[Interval]:
    """Return how many more clusters `name` finds than `other`, with intervals, for each N in `sizes`."""
    first, second = (_by_size(measured, each, sizes=sizes) for each in (name, other))
    return [paired(first[n], second[n]) for n in first]


def _distinct_when_sparse(measured: Measured, reading: Reading) -> Finding:
    more = {name: _surplus(measured, name, dsms(reading), FEW) for name in _baselines(reading)}
    sizes = list(_by_size(measured, dsms(reading), sizes=FEW))
    text = "; ".join(f"{name} finds {span([gap.center for gap in each])} clusters more" for name, each in more.items())
    return Finding(all(gap.low > 0 for each in more.values() for gap in each), f"N = {sizes[0]} to {sizes[-1]}: {text}")


def _closes_with_size(measured: Measured, reading: Reading) -> Finding:
    means = {
        name: [np.mean([gap.center for gap in _surplus(measured, name, dsms(reading), n)]) for n in (FEW, MANY)]
        for name in _baselines(reading)
    }
    parts = [f"{name} {before:.1f} then {after:.1f}" for name, (before, after) in means.items()]
    text = f"clusters more than DSMS, mean over N <= {LIMITS.few} and over N > {LIMITS.many}: {', '.join(parts)}"
    return Finding(all(after < before for before, after in means.values()), text)


def _more_pieces_when_fewer(measured: Measured, reading: Reading) -> Finding:
    means = {name: _means(_by_size(measured, name)) for name in _baselines(reading, ("MS", "BMS"))}
    holds = all(max(each, key=lambda n: each[n]) == min(each) for each in means.values())
    return Finding(holds, "; ".join(f"{name} {_text(each)}" for name, each in means.items()))


def _sms_more_robust(measured: Measured, reading: Reading) -> Finding:
    sizes = list(_by_size(measured, "SMS", sizes=FEW))
    more = {name: _surplus(measured, "SMS", name, FEW) for name in _baselines(reading, ("MS", "BMS"))}
    robust = all(gap.high < 0 for each in more.values() for gap in each)
    counts = list(_means(_by_size(measured, "SMS", sizes=FEW)).values())
    parts = [f"than {name} {span([gap.center for gap in each])}" for name, each in more.items()]
    text = (
        f"more robust: {'yes' if robust else 'no'}, clusters that SMS finds more at N = {sizes[0]} to {sizes[-1]}: "
        f"{', '.join(parts)}; same limitation: {'yes' if min(counts) > 2 * TRUE else 'no'}, SMS finds {span(counts)}"
    )
    return Finding(robust and min(counts) > 2 * TRUE, text)


def _means(values: Mapping[int, Array]) -> dict[int, float]:
    return {n: each.mean() for n, each in values.items()}


def _text(means: Mapping[int, float]) -> str:
    return ", ".join(f"{mean:.1f} at N = {n}" for n, mean in means.items())


def _stable_count(measured: Measured, reading: Reading) -> Finding:
    means = _means(_by_size(measured, dsms(reading)))
    factor = max(means.values()) / min(means.values())
    return Finding(factor < LIMITS.stable, f"mean clusters {_text(means)}: a factor of {factor:.2f}")


def _stochasticity_alone(measured: Measured, reading: Reading) -> Finding:
    """Count the clusters of SMS at h = 0.6, or at the h whose count is best on the first half of the runs."""
    counts = {}
    for n in [n for n in sizes_of(measured["sparse"]) if n in FEW]:
        rows = measured["sparse"].where(n_per_cluster=n)
        if reading["sms"] == AS_IN_PAPER:
            counts[n] = rows.where(line="SMS", h=H)["n_clusters"].mean()
        else:
            search, fresh = rows.halves()
            away = [np.abs(search.where(**each)["n_clusters"] - TRUE).mean() for each in sms_lines(rows)]
            counts[n] = fresh.where(**sms_lines(rows)[int(np.argmin(away))])["n_clusters"].mean()
    return Finding(min(counts.values()) > 2 * TRUE, f"mean clusters of SMS: {_text(counts)}")


def _fewer_left_over(measured: Measured, reading: Reading) -> Finding:
    own, *others = (
        list(_means(_by_size(measured, name, "n_singletons")).values())
        for name in (dsms(reading), *_baselines(reading))
    )
    holds = all(mine < theirs for other in others for mine, theirs in zip(own, other, strict=True))
    text = ", ".join(f"{name} {span(other)}" for name, other in zip(_baselines(reading), others, strict=True))
    return Finding(holds, f"clusters of one point: DSMS {span(own)}, {text}, over all N")


def _more_steps(measured: Measured, reading: Reading) -> Finding:
    """Compare the medians of SMS and DSMS with those of MS or BMS for each spread and N, in the reading's unit."""
    rows, unit = measured["steps"], str(reading["unit"])

    def medians(line: str) -> list[float]:
        mine = rows.where(line=line)
        cells = [mine.where(spread=spread, n=n) for spread in rows.distinct("spread") for n in rows.distinct("n")]
        return [float(np.median(each[unit])) for each in cells]

    names = ("SMS", f"DSMS {reading['random']}", str(reading["baseline"]).removeprefix("against "))
    *slow, fast = (medians(name) for name in names)
    text = ", ".join(f"{name} {span(each, 0)}" for name, each in zip(names, (*slow, fast), strict=True))
    return Finding(all(own > other for each in slow for own, other in zip(each, fast, strict=True)), f"medians: {text}")


# the paper does not say how the modes of MS become clusters
EACH_MS = by_policy_and_spread(ms=("MS", MS_NEAREST))
SPREAD_AND_MS = readings(spread=SPREADS, ms=("MS", MS_NEAREST))
SMS_OR_SEARCHED = readings(spread=SPREADS, sms=(AS_IN_PAPER, SMS_SEARCHED))
STEPS = readings(baseline=("against MS", "against BMS"), random=POLICIES, unit=UNITS, end=ENDS)
sparse_claim = partial(claim, needs=["sparse"])
CLAIMS: tuple[Claim, ...] = (
    sparse_claim("outperforms-sms-and-ms", partial(_far_closer, names=("SMS", "MS"), factor=0.5), readings=EACH_MS),
    sparse_claim("better-than-bms", partial(_far_closer, names=("BMS",), factor=1.0)),
    sparse_claim("distinct-when-sparse", _distinct_when_sparse, readings=EACH_MS),
    sparse_claim("gap-closes-with-size", _closes_with_size, readings=EACH_MS),
    sparse_claim("ms-and-bms-over-segment", _more_pieces_when_fewer, readings=SPREAD_AND_MS),
    sparse_claim("sms-more-robust", _sms_more_robust, readings=SPREAD_AND_MS),
    sparse_claim("stable-count", _stable_count),
    sparse_claim("regroups-outliers", _fewer_left_over, readings=EACH_MS),
    sparse_claim("stochasticity-alone", _stochasticity_alone, readings=SMS_OR_SEARCHED),
    claim("more-steps", _more_steps, ["steps"], STEPS),
)
