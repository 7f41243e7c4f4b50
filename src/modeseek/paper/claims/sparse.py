"""Claims about few points in each cluster."""

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np

from modeseek._common.types import Array
from modeseek.paper.claims.base import (
    BOTH,
    EACH_SPREAD,
    Claim,
    Finding,
    H,
    Measured,
    Reading,
    dsms,
    paired,
    sizes_of,
    span,
    values_at,
)
from modeseek.paper.contenders import FIXED
from modeseek.paper.intervals import Interval

TRUE = 3
# sizes N up to the first count as few points, sizes above the second as many
SPARSE_TO = 50
PLENTY_FROM = 100
FEW = range(1, SPARSE_TO + 1)
MANY = range(PLENTY_FROM + 1, 10**9)
ALL = range(1, 10**9)


def _by_size(measured: Measured, name: str, measure: str = "n_clusters", sizes: range = ALL) -> dict[int, Array]:
    """Return a measure of a contender in all runs, for each N in `sizes`; MS, BMS and SMS at the paper's bandwidth."""
    rows = measured["sparse"].where(**({"line": name, "h": H} if name in FIXED else {"line": name}))
    return {n: values_at(rows, measure, n_per_cluster=n) for n in sizes_of(rows) if n in sizes}


def _far_closer(measured: Measured, reading: Reading, names: Sequence[str], factor: float) -> Finding:
    own, worst = _by_size(measured, dsms(reading)), {}
    for name in names:
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
    more = {name: _surplus(measured, name, dsms(reading), FEW) for name in FIXED}
    sizes = list(_by_size(measured, dsms(reading), sizes=FEW))
    text = "; ".join(f"{name} finds {span([gap.center for gap in each])} clusters more" for name, each in more.items())
    return Finding(all(gap.low > 0 for each in more.values() for gap in each), f"N = {sizes[0]} to {sizes[-1]}: {text}")


def _closes_with_size(measured: Measured, reading: Reading) -> Finding:
    means = {
        name: [np.mean([gap.center for gap in _surplus(measured, name, dsms(reading), n)]) for n in (FEW, MANY)]
        for name in FIXED
    }
    parts = [f"{name} {before:.1f} then {after:.1f}" for name, (before, after) in means.items()]
    text = f"clusters more than DSMS, mean over N <= {SPARSE_TO} and over N > {PLENTY_FROM}: {', '.join(parts)}"
    return Finding(all(after < before for before, after in means.values()), text)


def _more_pieces_when_fewer(measured: Measured, reading: Reading) -> Finding:
    means = {name: _means(_by_size(measured, name)) for name in ("MS", "BMS")}
    holds = all(max(each, key=lambda n: each[n]) == min(each) for each in means.values())
    return Finding(holds, "; ".join(f"{name} {_text(each)}" for name, each in means.items()))


def _sms_more_robust(measured: Measured, reading: Reading) -> Finding:
    sizes = list(_by_size(measured, "SMS", sizes=FEW))
    more = {name: _surplus(measured, "SMS", name, FEW) for name in ("MS", "BMS")}
    parts = [f"than {name} {span([gap.center for gap in each])}" for name, each in more.items()]
    text = f"clusters that SMS finds more at N = {sizes[0]} to {sizes[-1]}: {', '.join(parts)}"
    return Finding(all(gap.high < 0 for each in more.values() for gap in each), text)


def _means(values: Mapping[int, Array]) -> dict[int, float]:
    return {n: each.mean() for n, each in values.items()}


def _text(means: Mapping[int, float]) -> str:
    return ", ".join(f"{mean:.1f} at N = {n}" for n, mean in means.items())


def _stable_count(measured: Measured, reading: Reading) -> Finding:
    means = _means(_by_size(measured, dsms(reading)))
    return Finding(all(3.0 <= mean <= 6.5 for mean in means.values()), f"mean clusters {_text(means)}")


def _fewer_left_over(measured: Measured, reading: Reading) -> Finding:
    own, other = (list(_means(_by_size(measured, name, "n_singletons")).values()) for name in (dsms(reading), "SMS"))
    holds = all(mine < theirs for mine, theirs in zip(own, other, strict=True))
    return Finding(holds, f"clusters of one point: DSMS {span(own)}, SMS {span(other)}, over all N")


claim = partial(Claim, where="performance on underrepresented clusters", needs=("sparse",), readings=BOTH)
CLAIMS: tuple[Claim, ...] = (
    claim(
        "DSMS estimates the number of clusters far better than SMS and MS.",
        "At every N, DSMS's mean distance from three clusters is less than half that of SMS and of MS at h = 0.6.",
        partial(_far_closer, names=("SMS", "MS"), factor=0.5),
    ),
    claim(
        "DSMS estimates the number of clusters better than BMS.",
        "At every N, DSMS's mean distance from three clusters is less than that of BMS at h = 0.6.",
        partial(_far_closer, names=("BMS",), factor=1.0),
    ),
    claim(
        "With 10 to 50 points in each cluster the others find distinctly more clusters than DSMS.",
        f"At every N up to {SPARSE_TO}, the interval of the paired difference is above 0 for MS, BMS and SMS.",
        _distinct_when_sparse,
    ),
    claim(
        "With more than 100 points in each cluster the difference is smaller.",
        f"For MS, BMS and SMS, the mean surplus over DSMS is smaller over N > {PLENTY_FROM} than over "
        f"N <= {SPARSE_TO}.",
        _closes_with_size,
    ),
    claim(
        "MS and BMS break data into more clusters as points become fewer.",
        "For both, the mean count is largest at the smallest N.",
        _more_pieces_when_fewer,
        readings=EACH_SPREAD,
    ),
    claim(
        "SMS is more robust to local noise than MS and BMS, though it breaks data up too.",
        f"SMS finds fewer clusters than MS and BMS at every N up to {SPARSE_TO} (paired, the whole interval).",
        _sms_more_robust,
        readings=EACH_SPREAD,
    ),
    claim(
        "DSMS's count is stable over the whole range of N.",
        "The mean count is between 3 and 6.5 at every N.",
        _stable_count,
    ),
    claim(
        "A random bandwidth gathers points that others leave alone as outliers.",
        "DSMS has fewer clusters of one point than SMS at h = 0.6, at every N.",
        _fewer_left_over,
    ),
)
